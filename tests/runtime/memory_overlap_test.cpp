// Which strided tensors share memory: against sets of addresses.
#include "meshfuse/runtime/memory_overlap.h"

#include <random>
#include <set>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace meshfuse {
namespace {

/// The addresses of all bytes, once an element.
std::multiset<const char*> bytesOf(const at::Tensor& tensor) {
  std::multiset<const char*> bytes;
  std::vector<int64_t> index(static_cast<size_t>(tensor.dim()), 0);
  for (int64_t count = 0; count < tensor.numel(); ++count) {
    int64_t rest = count;
    int64_t offset = 0;
    for (int64_t dim = tensor.dim(); dim-- > 0;) {
      offset += rest % tensor.size(dim) * tensor.stride(dim);
      rest /= tensor.size(dim);
    }
    const auto* first = static_cast<const char*>(tensor.const_data_ptr());
    for (int64_t byte = 0; byte < static_cast<int64_t>(tensor.element_size()); ++byte) {
      bytes.insert(first + offset * static_cast<int64_t>(tensor.element_size()) + byte);
    }
  }
  return bytes;
}

bool anyTwice(const std::multiset<const char*>& bytes) {
  return std::set<const char*>(bytes.begin(), bytes.end()).size() != bytes.size();
}

bool anyShared(const at::Tensor& a, const at::Tensor& b) {
  const std::multiset<const char*> first = bytesOf(a);
  for (const char* byte : bytesOf(b)) {
    if (first.contains(byte)) {
      return true;
    }
  }
  return false;
}

bool share(const at::Tensor& a, const at::Tensor& b) {
  return shareMemory(*a.unsafeGetTensorImpl(), *b.unsafeGetTensorImpl());
}

/// Random sizes, strides, offsets and element types on one storage.
class Views {
 public:
  at::Tensor draw() {
    const int64_t rank = upTo(3);
    std::vector<int64_t> sizes;
    std::vector<int64_t> strides;
    int64_t span = 1;
    for (int64_t dim = 0; dim < rank; ++dim) {
      sizes.push_back(upTo(12) == 0 ? 0 : 1 + upTo(3));
      strides.push_back(upTo(9));
      span += std::max<int64_t>(sizes.back() - 1, 0) * strides.back();
    }
    const at::Tensor base = upTo(1) == 0 ? memory_ : memory_.view(at::kShort);
    return base.as_strided(sizes, strides, upTo(base.numel() - span));
  }

 private:
  int64_t upTo(int64_t most) { return std::uniform_int_distribution<int64_t>(0, most)(generator_); }

  std::mt19937_64 generator_{7};
  at::Tensor memory_ = at::zeros({120}, at::kInt);
};

TEST(MemoryOverlap, AgreesWithTheSetsOfAddresses) {
  Views views;
  int64_t shared = 0;
  int64_t twice = 0;
  for (int i = 0; i < 3000; ++i) {
    const at::Tensor a = views.draw();
    const at::Tensor b = views.draw();
    const bool isShared = anyShared(a, b);
    EXPECT_EQ(share(a, b), isShared) << a.sizes() << a.strides() << b.sizes() << b.strides();
    EXPECT_EQ(share(b, a), isShared);
    EXPECT_TRUE(!isShared || mayShareMemory(*a.unsafeGetTensorImpl(), *b.unsafeGetTensorImpl()));
    const bool isTwice = anyTwice(bytesOf(a));
    EXPECT_EQ(overlapsItself(a.sizes(), a.strides()), isTwice) << a.sizes() << a.strides();
    shared += isShared ? 1 : 0;
    twice += isTwice ? 1 : 0;
  }
  EXPECT_GT(shared, 100);
  EXPECT_GT(twice, 100);
}

TEST(MemoryOverlap, SlicesOfLargeTensorsAreToldApart) {
  const at::Tensor base = at::zeros({64, 128, 96}).permute({2, 0, 1});
  EXPECT_FALSE(share(base.slice(0, 0, 48), base.slice(0, 48, 96)));
  EXPECT_FALSE(share(base.slice(2, 0, 128, 2), base.slice(2, 1, 128, 2)));
  EXPECT_TRUE(share(base.slice(2, 0, 128, 2), base.slice(2, 0, 128, 3)));
  EXPECT_TRUE(share(base.slice(1, 0, 33), base.slice(1, 32, 64)));
  EXPECT_FALSE(overlapsItself(base.sizes(), base.strides()));
  EXPECT_TRUE(overlapsItself(at::zeros({64, 1}).expand({64, 2}).sizes(), {1, 0}));
}

TEST(MemoryOverlap, TensorsWithoutMemoryShareNone) {
  const at::Tensor base = at::zeros({4, 4});
  EXPECT_FALSE(share(base.slice(0, 0, 0), base));
  const at::Tensor meta = at::zeros({4}, at::device(at::kMeta));
  EXPECT_FALSE(share(meta, meta));
}

}  // namespace
}  // namespace meshfuse
