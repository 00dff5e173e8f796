#include "meshfuse/communication/reduction.h"

#include <limits>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "meshfuse/base/error.h"

namespace meshfuse {
namespace {

// What a backend that knows only sums, products and orders of plain numbers makes of two ranks' wire tensors; its maximum
// and minimum lose a NaN on the right.
at::Tensor reduceOnWire(const at::Tensor& a, const at::Tensor& b, ReduceKind kind) {
  switch (wireKind(kind)) {
    case ReduceKind::Sum:
    case ReduceKind::Avg:
      return a.add(b);
    case ReduceKind::Product:
      return a.mul(b);
    case ReduceKind::Max:
      return at::where(a.lt(b), b, a);
    case ReduceKind::Min:
      return at::where(b.lt(a), b, a);
  }
  return {};
}

at::Tensor viaWire(const at::Tensor& a, const at::Tensor& b, ReduceKind kind) {
  return fromWire(reduceOnWire(toWire(a, kind), toWire(b, kind), kind), a.scalar_type(), kind, 2);
}

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(Reduction, OrdersOfFloatsKeepNanWhereverItStands) {
  const std::vector<double> specials{0.0,   -0.0, 1.0,    -1.0,  2.5,   -2.5,
                                     1e-40, kInf, -1e-40, -kInf, 65504, kNan};
  for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16}) {
    const at::Tensor column = at::tensor(specials, at::kDouble).to(type);
    const int64_t count = column.numel();
    const at::Tensor a = column.unsqueeze(1).expand({count, count}).contiguous();
    const at::Tensor b = a.t();
    for (const bool negative : {false, true}) {
      const at::Tensor signedB = negative ? b.neg() : b;
      EXPECT_TRUE(at::allclose(viaWire(a, signedB, ReduceKind::Max), at::maximum(a, signedB), 0, 0,
                               /*equal_nan=*/true))
          << type;
      EXPECT_TRUE(at::allclose(viaWire(a, signedB, ReduceKind::Min), at::minimum(a, signedB), 0, 0,
                               /*equal_nan=*/true))
          << type;
    }
  }
}

TEST(Reduction, AveragesOfHalfTypesDontOverflow) {
  const at::Tensor big = at::full({3}, 65504.0, at::kHalf);
  EXPECT_TRUE(at::equal(viaWire(big, big, ReduceKind::Avg), big));
}

TEST(Reduction, ComplexNumbersAreSummedAsPairs) {
  const at::Tensor a = at::randn({2, 3}, at::kComplexDouble);
  const at::Tensor b = at::randn({2, 3}, at::kComplexDouble);
  EXPECT_TRUE(at::equal(viaWire(a, b.conj(), ReduceKind::Sum), a + b.conj()));
  EXPECT_TRUE(at::allclose(viaWire(a, b, ReduceKind::Avg), (a + b) / 2));
}

TEST(Reduction, BoolsAreReducedAsBytes) {
  const at::Tensor a = at::tensor({0, 0, 1, 1}, at::kInt).to(at::kBool);
  const at::Tensor b = at::tensor({0, 1, 0, 1}, at::kInt).to(at::kBool);
  EXPECT_TRUE(at::equal(viaWire(a, b, ReduceKind::Max), a | b));
  EXPECT_TRUE(at::equal(viaWire(a, b, ReduceKind::Min), a & b));
  EXPECT_TRUE(at::equal(viaWire(a, b, ReduceKind::Product), a & b));
}

TEST(Reduction, TheInputIsNeitherWrittenNorShared) {
  for (const ReduceKind kind :
       {ReduceKind::Sum, ReduceKind::Avg, ReduceKind::Max, ReduceKind::Min, ReduceKind::Product}) {
    for (const at::ScalarType type : {at::kFloat, at::kHalf}) {
      const at::Tensor input = at::ones({4}, type);
      toWire(input, kind).fill_(7);
      EXPECT_TRUE(at::equal(input, at::ones({4}, type)));
    }
  }
}

TEST(Reduction, StridedInputsGiveContiguousWires) {
  const at::Tensor input = at::arange(12, at::kFloat).view({3, 4}).t();
  for (const ReduceKind kind : {ReduceKind::Sum, ReduceKind::Max}) {
    EXPECT_TRUE(toWire(input, kind).is_contiguous());
    EXPECT_TRUE(
        at::equal(viaWire(input, input, kind), kind == ReduceKind::Sum ? input * 2 : input));
  }
}

std::string refusal(at::ScalarType type, ReduceKind kind) {
  try {
    checkReducible([] { return std::string("all_reduce"); }, type, kind);
  } catch (const UserError& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Value);
    return error.what();
  }
  return {};
}

TEST(Reduction, TakesExactlyTheTypesItCanDoRight) {
  using enum ReduceKind;
  struct Row {
    at::ScalarType type;
    std::vector<ReduceKind> taken;
  };
  const std::vector<Row> rows{{at::kFloat, {Sum, Avg, Max, Min, Product}},
                              {at::kDouble, {Sum, Avg, Max, Min, Product}},
                              {at::kHalf, {Sum, Avg, Max, Min, Product}},
                              {at::kBFloat16, {Sum, Avg, Max, Min, Product}},
                              {at::kByte, {Sum, Max, Min, Product}},
                              {at::kChar, {Sum, Max, Min, Product}},
                              {at::kInt, {Sum, Max, Min, Product}},
                              {at::kLong, {Sum, Max, Min, Product}},
                              {at::kComplexFloat, {Sum, Avg}},
                              {at::kComplexDouble, {Sum, Avg}},
                              {at::kBool, {Max, Min, Product}},
                              {at::kShort, {}},
                              {at::kFloat8_e4m3fn, {}}};
  for (const Row& row : rows) {
    for (const ReduceKind kind : {Sum, Avg, Max, Min, Product}) {
      const bool taken = std::ranges::find(row.taken, kind) != row.taken.end();
      EXPECT_EQ(refusal(row.type, kind).empty(), taken) << row.type << " " << nameOf(kind);
    }
  }
}

TEST(Reduction, RefusalsNameTypeAndKind) {
  EXPECT_EQ(refusal(at::kInt, ReduceKind::Avg),
            "all_reduce: a reduction over ranks is one that backends do, or that can be put to "
            "them exactly: "
            "avg of Int is neither; cast the tensor before the operation that leaves it partial, "
            "or keep it "
            "replicated");
  EXPECT_EQ(refusal(at::kShort, ReduceKind::Sum),
            "all_reduce: a reduction over ranks is one that backends do, or that can be put to "
            "them exactly: "
            "sum of Short is neither; cast the tensor to float32, int32 or another type that "
            "backends reduce "
            "before the operation that leaves it partial");
}

}  // namespace
}  // namespace meshfuse
