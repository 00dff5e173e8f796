// Random fusions before and after cleaning, both on the evaluator.
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ATen.h>

#include "meshfuse/evaluator/program.h"
#include "meshfuse/ir/print.h"
#include "meshfuse/ir/verify.h"
#include "meshfuse/scheduling/clean.h"
#include "runtime/sample_fusions.h"

namespace meshfuse::testing {
namespace {

constexpr int64_t kSize = 5;

/// Calls of few operations on few values, so that many are made twice, of float and whole square matrices.
class RandomFusion {
 public:
  explicit RandomFusion(uint64_t seed) : random_(seed) {
    for (const PrimType type : {PrimType::Float, PrimType::Float, PrimType::Int}) {
      vals_.push_back(addInput(fusion_, {kSize, kSize}, type));
    }
    vals_.push_back(call(fusion_, "full", {Ints{kSize, kSize}, Scalar(3), PrimType::Int}));
    for (int i = 0; i < 24; ++i) {
      vals_.push_back(step());
    }
    for (int i = 0; i < 4; ++i) {
      const ValId val = vals_[vals_.size() - 1 - below(12)];
      if (fusion_.val(val).definition != kNoExpr) {
        fusion_.addOutput(val);
      }
    }
  }

  const Fusion& fusion() const { return fusion_; }

 private:
  size_t below(size_t count) {
    return std::uniform_int_distribution<size_t>(0, count - 1)(random_);
  }
  ValId any() { return vals_[below(vals_.size())]; }
  PrimType anyType() {
    constexpr PrimType types[] = {PrimType::Float, PrimType::BFloat16, PrimType::Int,
                                  PrimType::Double};
    return types[below(4)];
  }

  ValId step() {
    constexpr const char* unary[] = {"neg", "abs", "set", "relu"};
    constexpr const char* binary[] = {"add", "mul", "sub", "div"};
    switch (below(9)) {
      case 0:
      case 1:
        return call(fusion_, unary[below(4)], {any()});
      case 2:
      case 3:
        return call(fusion_, binary[below(4)], {any(), any()});
      case 4:
        return call(fusion_, binary[below(3)], {any(), Scalar(static_cast<int64_t>(below(3)))});
      case 5:
      case 6:
        return call(fusion_, "cast", {any(), anyType()});
      case 7:
        return call(fusion_, "permute", {any(), below(2) == 0 ? Ints{0, 1} : Ints{1, 0}});
      default:
        return call(fusion_, "reshape", {any(), Ints{kSize, kSize}});
    }
  }

  std::mt19937_64 random_;
  Fusion fusion_;
  std::vector<ValId> vals_;
};

struct Outcome {
  std::vector<at::Tensor> results;
  std::string error;
};

Outcome evaluated(const Fusion& fusion, const std::vector<PolymorphicValue>& inputs) {
  Outcome outcome;
  try {
    const std::vector<std::vector<PolymorphicValue>> ranks{inputs};
    const auto results = Program(fusion, {0}).run(ranks, nullptr);
    for (const PolymorphicValue& value : results.front()) {
      outcome.results.push_back(value.asTensor());
    }
  } catch (const std::exception& error) {
    outcome.error = error.what();
  }
  return outcome;
}

/// The bytes of the elements in row-major order.
at::Tensor bits(const at::Tensor& tensor) { return tensor.contiguous().clone().view(at::kByte); }

void expectSame(const Outcome& got, const Outcome& want) {
  ASSERT_EQ(got.error, want.error);
  ASSERT_EQ(got.results.size(), want.results.size());
  for (size_t i = 0; i < want.results.size(); ++i) {
    EXPECT_EQ(got.results[i].scalar_type(), want.results[i].scalar_type());
    EXPECT_EQ(got.results[i].strides(), want.results[i].strides());
    EXPECT_TRUE(at::equal(bits(got.results[i]), bits(want.results[i])));
    for (size_t j = 0; j < i; ++j) {
      EXPECT_EQ(got.results[i].is_alias_of(got.results[j]),
                want.results[i].is_alias_of(want.results[j]));
    }
  }
}

TEST(Clean, NoBitNoStrideNoErrorAndNoAliasChanges) {
  at::manual_seed(0);
  size_t calls = 0;
  size_t left = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    const RandomFusion random(seed);
    const Fusion& fusion = random.fusion();
    const Fusion result = clean(fusion);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + print(fusion) + "\n" + print(result));
    ASSERT_EQ(violations(result), std::vector<std::string>());
    // Rows, columns, and every other element of a larger tensor.
    const std::vector<PolymorphicValue> inputs = {
        at::randn({kSize, kSize}),
        at::randn({2 * kSize, 2 * kSize}).slice(0, 0, 2 * kSize, 2).slice(1, 0, 2 * kSize, 2).t(),
        at::randint(-2, 3, {kSize, kSize}, at::kLong)};
    expectSame(evaluated(result, inputs), evaluated(fusion, inputs));
    calls += fusion.exprs().size();
    left += result.exprs().size();
  }
  EXPECT_LT(left, calls / 2);
}

}  // namespace
}  // namespace meshfuse::testing
