// Binding and asking: section C of the value checklist, where it applies without kernels.
#include "meshfuse/evaluator/expression_evaluator.h"

#include <limits>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "meshfuse/base/error.h"
#include "meshfuse/ops/op_info.h"
#include "meshfuse/values/comparison.h"
#include "meshfuse/values/packed_floats.h"

namespace meshfuse {
namespace {

template <class F>
std::string errorOf(F&& f) {
  try {
    f();
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

class Evaluator : public ::testing::Test {
 protected:
  ValId tensor(std::vector<int64_t> shape, PrimType dtype = PrimType::Float) {
    Contiguity contiguity;
    for (int64_t size : shape) {
      contiguity.push_back(size == 1 ? std::nullopt : std::optional(false));
    }
    return fusion.addInputTensor(dtype, shape, contiguity);
  }
  ValId call(std::string_view op, std::vector<Arg> args) {
    return addCall(fusion, *findOp(op), std::move(args))[0];
  }

  Fusion fusion;
};

TEST_F(Evaluator, C1_ConstantsNeedNoBindingAndFreshEvaluatorsKnowNothing) {
  const ValId constant = fusion.addScalar(PrimType::Int, Scalar(7));
  const ValId x = tensor({-1});
  ExpressionEvaluator first(fusion);
  EXPECT_EQ(first.evaluate(constant).as<int64_t>(), 7);
  first.bind(x, at::ones({2}));
  EXPECT_TRUE(first.isKnown(x));
  EXPECT_FALSE(ExpressionEvaluator(fusion).isKnown(x));
}

TEST_F(Evaluator, C2_WhatCannotBeComputedYetIsNull) {
  const ValId x = tensor({-1});
  const ValId y = call("neg", {x});
  ExpressionEvaluator evaluator(fusion);
  EXPECT_TRUE(evaluator.evaluate(y).isNull());
  evaluator.bind(x, at::ones({2}));
  EXPECT_TRUE(at::equal(evaluator.evaluate(y).asTensor(), -at::ones({2})));
}

TEST_F(Evaluator, C3_ConstantsKeepTheirValueAndNullBindsNothing) {
  const ValId constant = fusion.addScalar(PrimType::Int, Scalar(7));
  ExpressionEvaluator evaluator(fusion);
  evaluator.bind(constant, 7);
  EXPECT_TRUE(contains(errorOf([&] { evaluator.bind(constant, 8); }),
                       "a constant is bound to its own value only"));
  EXPECT_TRUE(contains(errorOf([&] { evaluator.bind(constant, PolymorphicValue()); }),
                       "a value is bound to something"));
}

TEST_F(Evaluator, C4_OnlyAMutableEvaluatorRemembers) {
  const ValId x = tensor({-1});
  const ValId y = call("exp", {x});
  const ValId z = call("neg", {y});
  ExpressionEvaluator evaluator(fusion);
  evaluator.bind(x, at::ones({2}));
  EXPECT_TRUE(std::as_const(evaluator).evaluate(z).hasValue());
  EXPECT_FALSE(evaluator.isKnown(y));
  evaluator.evaluate(z);
  EXPECT_TRUE(evaluator.isKnown(y));
  EXPECT_TRUE(evaluator.isKnown(z));
}

TEST_F(Evaluator, C5_CheckedBindingMustAgreeWithWhatFollows) {
  const ValId a = fusion.addInputScalar(PrimType::Int);
  const ValId b = call("add", {a, Scalar(1)});
  ExpressionEvaluator evaluator(fusion);
  evaluator.bind(a, 2);
  evaluator.bindAndCheck(b, 3);
  EXPECT_TRUE(
      contains(errorOf([&] { evaluator.bindAndCheck(b, 4); }), "Tried to bind to a value: "));
}

TEST_F(Evaluator, C9_OperationsRunEagerlyOnBoundTensors) {
  const ValId x = tensor({-1, -1});
  const ValId y = tensor({-1, -1});
  const ValId sum = call("add", {x, y});
  const ValId mean = call("div", {call("sum", {sum, Ints{1}, Scalar(true)}), Scalar(3.0)});
  const ValId chosen = call("where", {call("gt", {x, Scalar(0.0)}), x, call("neg", {mean})});
  ExpressionEvaluator evaluator(fusion);
  const at::Tensor a = at::randn({2, 3});
  const at::Tensor b = at::randn({2, 3});
  evaluator.bind(x, a);
  evaluator.bind(y, b);
  const at::Tensor expected = at::where(a > 0, a, -((a + b).sum(1, true) / 3));
  EXPECT_TRUE(at::allclose(evaluator.evaluate(chosen).asTensor(), expected));
}

TEST_F(Evaluator, C11_BindingATensorBindsItsExtentsAndChecksIt) {
  const ValId x = tensor({-1, 4});
  const ValId c = fusion.addInputScalar(PrimType::Double);
  ExpressionEvaluator evaluator(fusion);
  const IntExpr extent = fusion.val(x).tensor().domain[0].extent;
  EXPECT_EQ(evaluator.evaluate(extent), std::nullopt);
  evaluator.bind(x, at::ones({5, 4}));
  EXPECT_EQ(evaluator.evaluate(extent * 2 + 1), 11);
  EXPECT_TRUE(contains(errorOf([&] { evaluator.bind(x, at::ones({4})); }),
                       "a tensor of rank 2: tv0 got a tensor of rank 1"));
  EXPECT_TRUE(contains(errorOf([&] { evaluator.bind(x, at::ones({5, 4}, at::kDouble)); }),
                       "a tensor of dtype float"));
  EXPECT_TRUE(contains(errorOf([&] { evaluator.bind(x, at::ones({5, 3})); }),
                       "Expected size 4 in dimension 1"));
  EXPECT_TRUE(
      contains(errorOf([&] { evaluator.bind(x, 1.0); }), "Expected to be bound to a tensor"));
  EXPECT_TRUE(contains(errorOf([&] { evaluator.bind(c, at::ones({})); }),
                       "Expected to be bound to a scalar"));
}

TEST_F(Evaluator, C11_AnIndexTensorTakesBothIntegerWidths) {
  const ValId x = tensor({-1}, PrimType::Index);
  ExpressionEvaluator evaluator(fusion);
  evaluator.bind(x, at::zeros({2}, at::kInt));
  evaluator.bind(x, at::zeros({2}, at::kLong));
  EXPECT_TRUE(
      contains(errorOf([&] { evaluator.bind(x, at::zeros({2})); }), "got a tensor of dtype Float"));
}

TEST_F(Evaluator, C12_AnExpandedDimensionNeedsStrideZeroOrSizeOne) {
  const ValId x =
      fusion.addInputTensor(PrimType::Float, std::vector<int64_t>{3, 4}, {std::nullopt, true});
  ExpressionEvaluator evaluator(fusion);
  evaluator.bind(x, at::ones({1, 4}).expand({3, 4}));
  EXPECT_TRUE(contains(errorOf([&] { evaluator.bind(x, at::ones({3, 4})); }),
                       "an expanded dimension has stride 0"));
  const ValId b = tensor({1, 4});
  evaluator.bind(b, at::ones({1, 4}));
  EXPECT_TRUE(contains(errorOf([&] { evaluator.bind(b, at::ones({3, 4})); }),
                       "Expected size 1 in dimension 0"));
}

TEST_F(Evaluator, C15_PermuteAndReshapeStayOnTheSameMemory) {
  const ValId x = tensor({-1, -1});
  const ValId y = call("permute", {call("reshape", {x, Ints{2, 3, 4}}), Ints{1, 0, 2}});
  const ValId wide = call("broadcast_in_dim", {x, Ints{5, 6, 4}, Ints{1, 2}});
  const at::Tensor a = at::randn({6, 4});
  ExpressionEvaluator evaluator(fusion);
  evaluator.bind(x, a);
  const at::Tensor permuted = evaluator.evaluate(y).asTensor();
  EXPECT_EQ(permuted.data_ptr(), a.data_ptr());
  EXPECT_EQ(permuted.strides(), (std::vector<int64_t>{4, 12, 1}));
  EXPECT_EQ(evaluator.evaluate(wide).asTensor().stride(0), 0);
  EXPECT_EQ(evaluator.evaluate(wide).asTensor().data_ptr(), a.data_ptr());
}

TEST_F(Evaluator, C16_MetaTensorsGiveTheDtypeAndSizesOfTheRealRun) {
  for (const OpInfo* op : allOps()) {
    if (op->extent != nullptr) {
      continue;  // its result is a scalar
    }
    for (const OpSample& sample : op->samples(*op)) {
      Fusion program;
      std::vector<ValId> inputs;
      for (size_t i = 0; i < sample.tensors.size(); ++i) {
        Contiguity contiguity;
        for (int64_t size : sample.tensors[i].sizes) {
          contiguity.push_back(size == 1 ? std::nullopt : std::optional(true));
        }
        inputs.push_back(
            program.addInputTensor(sample.tensors[i].dtype, sample.tensors[i].sizes, contiguity));
      }
      const std::vector<ValId> outputs = addCall(program, *op, sampleArgs(*op, sample, inputs));
      ExpressionEvaluator real(program);
      ExpressionEvaluator meta(program);
      for (size_t i = 0; i < inputs.size(); ++i) {
        const at::ScalarType dtype = heldDtype(program.val(inputs[i]).dtype());
        const at::Tensor numbers =
            sample.tensors[i].values.empty()
                ? at::ones(sample.tensors[i].sizes, at::kDouble)
                : at::tensor(sample.tensors[i].values).view(sample.tensors[i].sizes);
        real.bind(inputs[i], numbers.to(dtype));
        meta.bind(inputs[i],
                  at::empty(sample.tensors[i].sizes, at::TensorOptions(dtype).device(at::kMeta)));
      }
      for (ValId output : outputs) {
        const at::Tensor expected = real.evaluate(output).asTensor();
        const at::Tensor got = meta.evaluate(output).asTensor();
        EXPECT_EQ(got.is_meta(), !inputs.empty()) << op->name;
        EXPECT_EQ(got.scalar_type(), expected.scalar_type()) << op->name;
        EXPECT_EQ(got.sizes(), expected.sizes()) << op->name;
        EXPECT_EQ(got.strides(), expected.strides()) << op->name;
      }
    }
  }
}

TEST_F(Evaluator, NumbersKnownAtRunTimeFollowTheSameRules) {
  const ValId a = fusion.addInputScalar(PrimType::Int);
  const ValId b = fusion.addInputScalar(PrimType::Double);
  const ValId quotient = call("div", {a, Scalar(2)});
  const ValId mixed = call("mul", {a, b});
  const ValId isLess = call("lt", {a, b});
  const ValId x = tensor({-1});
  const ValId scaled = call("mul", {x, mixed});
  ExpressionEvaluator evaluator(fusion);
  evaluator.bind(a, -7);
  evaluator.bind(b, 0.5);
  evaluator.bind(x, at::ones({2}));
  EXPECT_EQ(evaluator.evaluate(quotient).as<int64_t>(), -3);
  EXPECT_EQ(evaluator.evaluate(mixed).as<double>(), -3.5);
  EXPECT_TRUE(evaluator.evaluate(isLess).as<bool>());
  EXPECT_TRUE(at::equal(evaluator.evaluate(scaled).asTensor(), at::full({2}, -3.5F)));
}

TEST_F(Evaluator, ComplexNumbersAreSelectedThoughNumbersCannotBeFolded) {
  const ValId c = call("where", {Scalar(true), Scalar(std::complex<double>(1, 2)), Scalar(0.5)});
  ExpressionEvaluator evaluator(fusion);
  EXPECT_EQ(evaluator.evaluate(c).as<std::complex<double>>(), std::complex<double>(1, 2));
}

TEST_F(Evaluator, IntegerDivisionTruncatesWrapsAndRefusesZero) {
  const ValId x = tensor({-1}, PrimType::Int);
  const ValId y = tensor({-1}, PrimType::Int);
  const ValId quotient = call("div", {x, y});
  const int64_t lowest = std::numeric_limits<int64_t>::lowest();
  ExpressionEvaluator evaluator(fusion);
  evaluator.bind(x, at::tensor({lowest, int64_t{-7}, int64_t{7}}));
  evaluator.bind(y, at::tensor({int64_t{-1}, int64_t{2}, int64_t{-2}}));
  EXPECT_TRUE(at::equal(std::as_const(evaluator).evaluate(quotient).asTensor(),
                        at::tensor({lowest, int64_t{-3}, int64_t{-3}})));
  evaluator.bind(y, at::zeros({3}, at::kLong));
  EXPECT_TRUE(
      contains(errorOf([&] { std::as_const(evaluator).evaluate(quotient); }),
               "div: the divisor of an integer division is not zero: got a divisor with zeros "
               "(ZeroDivisionError); divide by non-zero numbers"));
}

TEST_F(Evaluator, MaxOverNothingIsItsIdentity) {
  const ValId x = tensor({0, 3});
  const ValId largest = call("max", {x, Ints{0}});
  ExpressionEvaluator evaluator(fusion);
  evaluator.bind(x, at::empty({0, 3}));
  EXPECT_TRUE(at::equal(evaluator.evaluate(largest).asTensor(),
                        at::full({3}, -std::numeric_limits<float>::infinity())));
}

}  // namespace
}  // namespace meshfuse
