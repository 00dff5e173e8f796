// Signatures: what tells two calls apart, and what a comparison costs.
#include "meshfuse/runtime/signature.h"

#include <cstdlib>
#include <new>

#include "runtime/sample_fusions.h"

namespace {

thread_local bool countAllocations = false;
thread_local int64_t allocations = 0;

}  // namespace

// Every allocation of this binary passes here; only those of a counting scope are counted. Inlined, malloc and free would look
// like a mismatch to the compiler.
[[gnu::noinline]] void* operator new(size_t size) {
  if (countAllocations) {
    ++allocations;
  }
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace meshfuse::testing {
namespace {

int64_t allocationsIn(const std::function<void()>& run) {
  allocations = 0;
  countAllocations = true;
  run();
  countAllocations = false;
  return allocations;
}

const std::vector<uint8_t> kNoValues(4, 0);

bool sameSignature(const std::vector<ArgView>& a, const std::vector<ArgView>& b,
                   const std::vector<uint8_t>& valueMatters = kNoValues,
                   const CallContext& contextOfB = {}) {
  const Signature signature(a, CallContext{}, valueMatters);
  const bool same = signature.matches(b, contextOfB, valueMatters);
  if (same) {
    EXPECT_EQ(signature.hash(), Signature::hashOf(b, contextOfB, valueMatters));
  }
  return same;
}

bool sameTensors(const at::Tensor& a, const at::Tensor& b) {
  return sameSignature({view(a)}, {view(b)});
}

TEST(Signature, OtherTensorOfTheSameKindMatches) {
  EXPECT_TRUE(sameTensors(at::ones({4, 4}), at::zeros({4, 4})));
  EXPECT_TRUE(sameTensors(at::ones({}), at::zeros({})));
  EXPECT_TRUE(sameTensors(at::ones({0, 3}), at::zeros({0, 3})));
}

TEST(Signature, EveryPropertyCounts) {
  const at::Tensor base = at::ones({4, 4});
  EXPECT_FALSE(sameTensors(base, at::ones({4, 5})));
  EXPECT_FALSE(sameTensors(base, at::ones({4, 4, 1})));
  EXPECT_FALSE(sameTensors(base, at::ones({16})));
  EXPECT_FALSE(sameTensors(base, at::ones({4, 4}).t()));
  EXPECT_FALSE(sameTensors(base, at::ones({4, 4}, at::kDouble)));
  EXPECT_FALSE(sameTensors(base, at::ones({4, 4}, at::kInt)));
  EXPECT_FALSE(sameTensors(base, at::ones({4, 4}, at::kMeta)));
  EXPECT_FALSE(sameTensors(base, at::ones({17}).slice(0, 1).view({4, 4}))) << "not 16-byte aligned";
  EXPECT_TRUE(sameTensors(base, at::ones({20}).slice(0, 4).view({4, 4})))
      << "16-byte aligned again";
}

TEST(Signature, KindOfANumberCountsItsValueOnlyWhereAShapeDependsOnIt) {
  const auto one = ArgView::of(int64_t{1});
  const auto two = ArgView::of(int64_t{2});
  EXPECT_TRUE(sameSignature({one}, {two}));
  EXPECT_FALSE(sameSignature({one}, {two}, {1}));
  EXPECT_TRUE(sameSignature({one}, {one}, {1}));
  EXPECT_FALSE(sameSignature({one}, {ArgView::of(1.0)}));
  EXPECT_FALSE(sameSignature({one}, {ArgView::of(true)}));
  EXPECT_FALSE(sameSignature({ArgView::of(1.0)}, {ArgView::of(std::complex<double>(1, 0))}));
}

TEST(Signature, CountAndOrderOfArgumentsCount) {
  const at::Tensor a = at::ones({4});
  const at::Tensor b = at::ones({5});
  EXPECT_FALSE(sameSignature({view(a)}, {view(a), view(a)}));
  EXPECT_FALSE(sameSignature({view(a), view(a)}, {view(a)}));
  EXPECT_FALSE(sameSignature({view(a), view(b)}, {view(b), view(a)}));
  EXPECT_FALSE(sameSignature({view(a)}, {}));
}

TEST(Signature, ShardingAndGlobalSizesCount) {
  const at::Tensor local = at::ones({3, 2});
  const ShardingId rows =
      intern(makeSharding(DeviceMesh::fromCount(2), MeshDevice::Cpu, {Placement::shard(0)}));
  const ShardingId whole =
      intern(makeSharding(DeviceMesh::fromCount(2), MeshDevice::Cpu, {Placement::replicate()}));
  const std::vector<int64_t> six{6, 2};
  const std::vector<int64_t> five{5, 2};
  const std::vector<int64_t> strides{2, 1};
  const auto distributed = [&](ShardingId sharding, const std::vector<int64_t>& sizes) {
    return ArgView::of(local.unsafeGetTensorImpl(), sharding, sizes.data(), strides.data());
  };
  EXPECT_TRUE(sameSignature({distributed(rows, six)}, {distributed(rows, six)}));
  EXPECT_FALSE(sameSignature({distributed(rows, six)}, {distributed(rows, five)}));
  EXPECT_FALSE(sameSignature({distributed(rows, six)}, {distributed(whole, six)}));
  EXPECT_FALSE(sameSignature({distributed(rows, six)}, {view(local)}));
  EXPECT_FALSE(sameSignature({view(local)}, {distributed(rows, six)}));
}

TEST(Signature, MeshBindingAndDispatchCount) {
  const at::Tensor a = at::ones({4});
  CallContext otherBinding;
  otherBinding.binding = 7;
  EXPECT_FALSE(sameSignature({view(a)}, {view(a)}, kNoValues, otherBinding));
  CallContext dispatchAll;
  dispatchAll.dispatchAll = true;
  EXPECT_FALSE(sameSignature({view(a)}, {view(a)}, kNoValues, dispatchAll));
}

TEST(Signature, ComparingAndHashingAllocateNothing) {
  const at::Tensor local = at::ones({3, 2});
  const ShardingId rows =
      intern(makeSharding(DeviceMesh::fromCount(2), MeshDevice::Cpu, {Placement::shard(0)}));
  const std::vector<int64_t> sizes{6, 2};
  const std::vector<int64_t> strides{2, 1};
  const at::Tensor plain = at::ones({4, 4});
  const std::vector<ArgView> args{
      view(plain), ArgView::of(1.5), ArgView::of(int64_t{3}),
      ArgView::of(local.unsafeGetTensorImpl(), rows, sizes.data(), strides.data())};
  const Signature signature(args, CallContext{}, kNoValues);
  bool same = false;
  EXPECT_EQ(allocationsIn([&] { same = signature.matches(args, CallContext{}, kNoValues); }), 0);
  EXPECT_TRUE(same);
  EXPECT_EQ(allocationsIn([&] { Signature::hashOf(args, CallContext{}, kNoValues); }), 0);
}

TEST(Signature, ACallThatHitsAllocatesOnlyItsResult) {
  FusionExecutor executor(copyFusion());
  const at::Tensor a = at::ones({16, 16});
  const std::vector<ArgView> args{view(a)};
  const auto run = [&] {
    CallResults results;
    executor.run(args, {}, results);
  };
  run();
  // StorageImpl, TensorImpl and its version counter; the data itself comes from the tensor allocator.
  EXPECT_LE(allocationsIn(run), 3);
}

}  // namespace
}  // namespace meshfuse::testing
