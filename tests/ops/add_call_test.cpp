// Calls: arguments completed and checked, shapes and dtypes inferred, numbers folded.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "meshfuse/base/error.h"
#include "meshfuse/ops/op_info.h"

namespace meshfuse {
namespace {

class AddCall : public ::testing::Test {
 protected:
  ValId tensor(std::vector<int64_t> shape, PrimType dtype = PrimType::Float) {
    Contiguity contiguity;
    for (int64_t size : shape) {
      contiguity.push_back(size == 1 ? std::nullopt : std::optional(true));
    }
    return fusion.addInputTensor(dtype, shape, contiguity);
  }

  std::vector<ValId> call(std::string_view op, std::vector<Arg> args) {
    return addCall(fusion, *findOp(op), std::move(args));
  }

  std::string typeOf(ValId id) { return toText(fusion.val(id).tensor()); }

  std::string errorOf(std::string_view op, std::vector<Arg> args) {
    try {
      call(op, std::move(args));
    } catch (const UserError& error) {
      return error.what();
    }
    return "no error";
  }

  /// The number a call of numbers folds to.
  Scalar folded(std::string_view op, std::vector<Arg> args) {
    return *fusion.val(call(op, std::move(args)).front()).scalar().constant;
  }

  Fusion fusion;
};

TEST_F(AddCall, BroadcastsDeclaredOnesRightAligned) {
  EXPECT_EQ(typeOf(call("add", {tensor({6, 4}), tensor({1, 4})})[0]), "Float[6, 4]");
  EXPECT_EQ(typeOf(call("add", {tensor({4}), tensor({6, 4})})[0]), "Float[6, 4]");
  EXPECT_EQ(typeOf(call("mul", {tensor({1, 4}), tensor({6, 1})})[0]), "Float[6, 4]");
}

TEST_F(AddCall, ConstantSizesWinOverSymbolicOnes) {
  EXPECT_EQ(typeOf(call("add", {tensor({-1, 4}), tensor({6, -1})})[0]), "Float[6, 4]");
}

TEST_F(AddCall, RefusesSizesThatDiffer) {
  EXPECT_EQ(errorOf("add", {tensor({6, 4}), tensor({6, 5})}),
            "add: operand sizes must agree (only sizes declared 1 stretch): dimension 1 of the "
            "result is 4 in one operand "
            "and 5 in another; make the sizes equal, or declare the dimension as 1 or use "
            "broadcast_in_dim");
}

TEST_F(AddCall, ComputesHalvesInFloat) {
  const ValId half = tensor({4}, PrimType::Half);
  EXPECT_EQ(fusion.val(call("add", {half, half})[0]).dtype(), PrimType::Float);
  EXPECT_EQ(fusion.val(call("relu", {half})[0]).dtype(), PrimType::Half);
  EXPECT_EQ(fusion.val(call("exp", {tensor({4}, PrimType::Int)})[0]).dtype(), PrimType::Float);
  EXPECT_EQ(fusion.val(call("add", {tensor({4}, PrimType::Int), Scalar(1.5)})[0]).dtype(),
            PrimType::Double);
  EXPECT_EQ(fusion.val(call("lt", {half, Scalar(1)})[0]).dtype(), PrimType::Bool);
}

TEST_F(AddCall, RefusesAConditionThatIsNotBool) {
  const ValId x = tensor({4});
  EXPECT_NE(errorOf("where", {x, x, x}).find("Condition should be of DataType Bool"),
            std::string::npos);
}

TEST_F(AddCall, FoldsNumbers) {
  EXPECT_TRUE(folded("add", {Scalar(2), Scalar(3)}).isSame(Scalar(5)));
  EXPECT_TRUE(folded("add", {Scalar(2), Scalar(0.5)}).isSame(Scalar(2.5)));
  EXPECT_TRUE(folded("div", {Scalar(-7), Scalar(2)}).isSame(Scalar(-3)));
  EXPECT_TRUE(folded("exp", {Scalar(1.0)}).isSame(Scalar(std::exp(1.0))));
  EXPECT_TRUE(folded("lt", {Scalar(1), Scalar(2)}).isSame(Scalar(true)));
  EXPECT_TRUE(folded("where", {Scalar(true), Scalar(3), Scalar(4)}).isSame(Scalar(3)));
  EXPECT_TRUE(folded("cast", {Scalar(2.9), PrimType::Int}).isSame(Scalar(2)));
  EXPECT_TRUE(folded("relu", {Scalar(std::nan(""))}).isSame(Scalar(std::nan(""))));
}

TEST_F(AddCall, FoldsClampInTheTypeOfItsFirstOperand) {
  EXPECT_TRUE(folded("clamp", {Scalar(5), Scalar(1), Scalar(3)}).isSame(Scalar(3)));
  EXPECT_TRUE(folded("clamp", {Scalar(5), Scalar(6.9), {}}).isSame(Scalar(6)));
  EXPECT_TRUE(folded("clamp", {Scalar(-5), {}, Scalar(1e30)}).isSame(Scalar(-5)));
  EXPECT_TRUE(folded("clamp", {Scalar(-0.5), Scalar(0), {}}).isSame(Scalar(0.0)));
  EXPECT_TRUE(folded("clamp", {Scalar(std::nan("")), Scalar(0), {}}).isSame(Scalar(std::nan(""))));
  EXPECT_TRUE(
      folded("clamp", {Scalar(0.5), {}, Scalar(std::nan(""))}).isSame(Scalar(std::nan(""))));
  EXPECT_TRUE(folded("clamp", {Scalar(true), {}, Scalar(-1)}).isSame(Scalar(false)));
  EXPECT_TRUE(folded("clamp", {Scalar(false), Scalar(-1.5), {}}).isSame(Scalar(false)));
  EXPECT_EQ(errorOf("clamp", {Scalar(1), Scalar(std::nan("")), {}}),
            "clamp: a bound of whole numbers or bools is not NaN: got NaN for elements of "
            "DataType.Int; pass "
            "None for no bound");
  const ValId c = fusion.addInputScalar(PrimType::Double);
  EXPECT_FALSE(fusion.val(call("clamp", {c, {}, Scalar(1)})[0]).scalar().constant.has_value());
}

TEST_F(AddCall, FoldingWrapsAndNeverTraps) {
  const int64_t lowest = std::numeric_limits<int64_t>::lowest();
  EXPECT_TRUE(folded("div", {Scalar(lowest), Scalar(-1)}).isSame(Scalar(lowest)));
  EXPECT_TRUE(folded("neg", {Scalar(lowest)}).isSame(Scalar(lowest)));
  EXPECT_TRUE(folded("mul", {Scalar(lowest), Scalar(2)}).isSame(Scalar(0)));
  EXPECT_EQ(errorOf("div", {Scalar(1), Scalar(0)}),
            "div: the divisor of an integer division is not zero: got a constant zero divisor "
            "(ZeroDivisionError); divide by a non-zero number");
  for (const std::string_view op : {"mod", "fmod", "remainder"}) {
    EXPECT_TRUE(errorOf(op, {Scalar(1), Scalar(0)}).starts_with(std::string(op) + ": the divisor"));
    EXPECT_TRUE(folded(op, {Scalar(lowest), Scalar(-1)}).isSame(Scalar(0)));
  }
}

TEST_F(AddCall, LeavesRunTimeNumbersToTheEvaluator) {
  const ValId c = fusion.addInputScalar(PrimType::Double);
  const ValId sum = call("add", {c, Scalar(1)})[0];
  EXPECT_FALSE(fusion.val(sum).isTensor());
  EXPECT_FALSE(fusion.val(sum).scalar().constant.has_value());
  EXPECT_EQ(fusion.val(sum).dtype(), PrimType::Double);
}

TEST_F(AddCall, NamesTheArgumentThatDoesNotFit) {
  EXPECT_NE(errorOf("sum", {Scalar(1)}).find("argument 'arg' is not a tensor of the definition"),
            std::string::npos);
  EXPECT_NE(errorOf("add", {tensor({2}), tensor({2}), tensor({2})}).find("too many arguments"),
            std::string::npos);
  EXPECT_NE(errorOf("permute", {tensor({2})}).find("argument 'dims' is not a list of integers"),
            std::string::npos);
}

TEST_F(AddCall, ReductionsCompleteTheirDims) {
  const ValId x = tensor({2, 3, 4});
  EXPECT_EQ(typeOf(call("sum", {x})[0]), "Float[]");
  EXPECT_EQ(typeOf(call("sum", {x, Ints{-1, 0}})[0]), "Float[3]");
  EXPECT_EQ(typeOf(call("max", {x, Ints{1}, Scalar(true)})[0]), "Float[2, b1, 4]");
  EXPECT_EQ(fusion.val(call("sum", {tensor({3}, PrimType::Int32)})[0]).dtype(), PrimType::Int);
  EXPECT_EQ(fusion.val(call("sum", {tensor({3}, PrimType::Half)})[0]).dtype(), PrimType::Half);
  EXPECT_NE(errorOf("sum", {x, Ints{0, -3}}).find("Reduction axes are not unique"),
            std::string::npos);
  EXPECT_NE(errorOf("sum", {x, Ints{3}}).find("Tried to access out of boundary index"),
            std::string::npos);
  EXPECT_NE(errorOf("sum", {x, Ints{}}).find("No reduction axis specified"), std::string::npos);
  EXPECT_NE(
      errorOf("max", {x, {}, {}, PrimType::Double}).find("the result has the operand's dtype"),
      std::string::npos);
  EXPECT_NE(errorOf("var_mean", {tensor({3}, PrimType::Half), Ints{0}}).find("upcast"),
            std::string::npos);
  EXPECT_NE(errorOf("var_mean", {x, Ints{0}, Scalar(-1)}).find("correction must not be negative"),
            std::string::npos);
}

TEST_F(AddCall, ShapeOpsFollowTheReference) {
  const ValId x = tensor({2, 3, 4});
  EXPECT_EQ(typeOf(call("permute", {x, Ints{-1, 0, 1}})[0]), "Float[4, 2, 3]");
  EXPECT_EQ(typeOf(call("reshape", {x, Ints{6, -1}})[0]), "Float[6, 4]");
  EXPECT_EQ(typeOf(call("broadcast_in_dim", {tensor({2}), Ints{2, 3}, Ints{0}})[0]),
            "Float[2, b3]");
  EXPECT_EQ(typeOf(call("broadcast_in_dim", {tensor({1}), Ints{2, 3}, Ints{1}})[0]),
            "Float[b2, b3]");
  EXPECT_EQ(typeOf(call("broadcast_in_dim",
                        {tensor({4, 6, 3, 1}), Ints{5, 4, 7, 6, 3, 6, 6}, Ints{1, 3, 4, 5}})[0]),
            "Float[b5, 4, b7, 6, 3, b6, b6]");
  EXPECT_NE(errorOf("permute", {x, Ints{0, 0, 1}}).find("duplicated dimension entries"),
            std::string::npos);
  EXPECT_NE(errorOf("permute", {x, Ints{0, 1, 3}}).find("dims argument is out of range"),
            std::string::npos);
  EXPECT_NE(errorOf("permute", {x, Ints{0, 1}}).find("same length as input"), std::string::npos);
  EXPECT_NE(errorOf("reshape", {x, Ints{-1, -1}}).find("A maximum of one value of -1"),
            std::string::npos);
  EXPECT_NE(errorOf("reshape", {x, Ints{5, 5}})
                .find("Total element counts across view operation must match"),
            std::string::npos);
  EXPECT_NE(errorOf("broadcast_in_dim", {tensor({2}), Ints{3, 3}, Ints{0}})
                .find("operand sizes must agree"),
            std::string::npos);
}

TEST_F(AddCall, ContractionsPairTheirDims) {
  EXPECT_EQ(typeOf(call("matmul", {tensor({4, 6}), tensor({6, 2})})[0]), "Float[4, 2]");
  EXPECT_EQ(typeOf(call("matmul", {tensor({5, 4, 6}), tensor({6})})[0]), "Float[5, 4]");
  EXPECT_EQ(typeOf(call("matmul", {tensor({6}), tensor({6})})[0]), "Float[]");
  EXPECT_EQ(typeOf(call("linear", {tensor({-1, 6}), tensor({8, 6}), tensor({8})})[0]),
            "Float[i0, 8]");
  EXPECT_NE(errorOf("matmul", {tensor({4, 6}), tensor({5, 2})}).find("the contracted dimension"),
            std::string::npos);
  EXPECT_NE(errorOf("matmul", {tensor({}), tensor({2})}).find("at least one dimension"),
            std::string::npos);
  EXPECT_NE(errorOf("linear", {tensor({4, 6}), tensor({8, 6}), tensor({7})}).find("the bias"),
            std::string::npos);
  EXPECT_NE(
      errorOf("matmul", {tensor({4, 6}), tensor({6, 2}, PrimType::Double)}).find("the same dtype"),
      std::string::npos);
}

}  // namespace
}  // namespace meshfuse
