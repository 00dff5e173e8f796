// Calls that write into their inputs: what is read, written, given back and counted, and what is refused before anything is done.
#include "meshfuse/runtime/input_writes.h"

#include <c10/core/GradMode.h>
#include <c10/core/InferenceMode.h>

#include "runtime/sample_fusions.h"

namespace meshfuse::testing {
namespace {

/// tv2 = add(tv0, tv1) is written into tv0; tv3 = mul(tv0, tv1) is returned.
Fusion updateFusion() {
  Fusion fusion;
  const ValId a = addInput(fusion, {-1, -1});
  const ValId b = addInput(fusion, {-1, -1});
  fusion.addWrite(call(fusion, "add", {a, b}), a);
  fusion.addOutput(call(fusion, "mul", {a, b}));
  return fusion;
}

TEST(InputWrites, AllReadsSeeTheInputsFromBeforeTheCall) {
  FusionExecutor executor(updateFusion());
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{3, 4}, {3, 4}, {0, 4}, {1, 1}}) {
    const at::Tensor a = at::rand(sizes);
    const at::Tensor b = at::rand(sizes);
    const at::Tensor sum = a + b;
    const at::Tensor product = a * b;
    const at::Tensor before = b.clone();
    const int64_t version = a._version();
    KernelArgumentHolder results = executor.execute(KernelArgumentHolder(a, b));
    ASSERT_EQ(results.size(), 1U);
    EXPECT_TRUE(at::equal(results[0].asTensor(), product));
    EXPECT_TRUE(at::equal(a, sum));
    EXPECT_TRUE(at::equal(b, before));
    EXPECT_EQ(a._version(), version + 1);
  }
  EXPECT_FALSE(executor.lastWasCopy());
  EXPECT_NE(executor.explain().find("output tv2 into tv0\noutput tv3\n"), std::string::npos);
}

TEST(InputWrites, InputsSwapThroughViewsAndStrides) {
  Fusion fusion;
  const ValId a = addInput(fusion, {-1, -1});
  const ValId b = addInput(fusion, {-1, -1});
  fusion.addWrite(call(fusion, "permute", {b, Ints{1, 0}}), a);
  fusion.addWrite(call(fusion, "permute", {a, Ints{1, 0}}), b);
  FusionExecutor executor(std::move(fusion));
  const at::Tensor base = at::rand({4, 4});
  const at::Tensor first = at::rand({4, 4});
  const at::Tensor wantedFirst = base.t().clone();
  const at::Tensor wantedBase = first.t().clone();
  executor.execute(KernelArgumentHolder(first, base));
  EXPECT_TRUE(at::equal(first, wantedFirst));
  EXPECT_TRUE(at::equal(base, wantedBase));
  // Into strided memory; what lies between stays.
  const at::Tensor wide = at::zeros({4, 8});
  executor.execute(KernelArgumentHolder(wide.slice(1, 0, 8, 2), first));
  EXPECT_TRUE(at::equal(wide.slice(1, 0, 8, 2), wantedFirst.t()));
  EXPECT_TRUE(at::equal(wide.slice(1, 1, 8, 2), at::zeros({4, 4})));
}

TEST(InputWrites, ViewsOfAWrittenInputKeepTheOldValue) {
  Fusion fusion;
  const ValId a = addInput(fusion, {-1, -1});
  const ValId b = addInput(fusion, {-1, -1});
  fusion.addOutput(call(fusion, "permute", {b, Ints{1, 0}}));
  fusion.addWrite(call(fusion, "neg", {a}), a);
  fusion.addOutput(a);
  FusionExecutor executor(std::move(fusion));
  const at::Tensor x = at::rand({3, 3});
  const at::Tensor before = x.clone();
  // Another input that is the same memory is read as it was, too.
  KernelArgumentHolder results = executor.execute(KernelArgumentHolder(x, x));
  EXPECT_TRUE(at::equal(results[0].asTensor(), before.t()));
  EXPECT_TRUE(results[1].asTensor().is_same(x));
  EXPECT_TRUE(at::equal(x, -before));
}

TEST(InputWrites, AValueThatIsReturnedIsTheInputItWasWrittenInto) {
  Fusion fusion;
  const ValId a = addInput(fusion, {-1});
  const ValId first = call(fusion, "sin", {a});
  const ValId second = call(fusion, "cos", {first});
  fusion.addWrite(first, a);
  fusion.addWrite(second, a);
  fusion.addOutput(first);
  fusion.addOutput(second);
  FusionExecutor executor(std::move(fusion));
  const at::Tensor x = at::rand({5});
  const int64_t version = x._version();
  const at::Tensor sine = x.sin();
  KernelArgumentHolder results = executor.execute(KernelArgumentHolder(x));
  EXPECT_TRUE(at::equal(results[0].asTensor(), sine));
  EXPECT_NE(results[0].asTensor().data_ptr(), x.data_ptr());
  EXPECT_TRUE(results[1].asTensor().is_same(x));
  EXPECT_TRUE(at::equal(x, sine.cos()));
  EXPECT_EQ(x._version(), version + 1);
}

/// Runs updateFusion() on `a` and `b`, which it must refuse; checks that it changed neither.
std::string refusalOf(FusionExecutor& executor, const at::Tensor& a, const at::Tensor& b) {
  const at::Tensor beforeA = a.detach().clone();
  const at::Tensor beforeB = b.detach().clone();
  const std::string text = runtimeErrorOf([&] { executor.execute(KernelArgumentHolder(a, b)); });
  EXPECT_TRUE(at::equal(a.detach(), beforeA) && at::equal(b.detach(), beforeB));
  return text;
}

TEST(InputWrites, TensorsThatCannotTakeThemAreRefusedUntouched) {
  FusionExecutor executor(updateFusion());
  const at::Tensor b = at::rand({2, 3});
  EXPECT_EQ(refusalOf(executor, at::rand({1, 3}).expand({2, 3}), b),
            "execute: an input that is written has memory of its own for each element: input 0, "
            "tv0, has sizes [2, 3] and strides [0, 1], so that several elements lie at one "
            "address; pass tensor.clone(memory_format=torch.contiguous_format)");
  const at::Tensor windows = at::rand({4}).as_strided({2, 3}, {1, 1});
  EXPECT_NE(refusalOf(executor, windows, b).find("strides [1, 1]"), std::string::npos);
  const std::string way = "; call execute under torch.no_grad(), or pass tensor.detach()";
  const std::string rule =
      "execute: an input that is written takes no part in autograd, which could not follow the "
      "write: input 0, tv0, is written and ";
  const at::Tensor leaf = at::rand({2, 3}).requires_grad_();
  EXPECT_EQ(refusalOf(executor, leaf, b), rule + "is a leaf that requires grad" + way);
  EXPECT_EQ(refusalOf(executor, leaf * 2, b), rule + "requires grad" + way);
  at::Tensor inference;
  {
    const c10::InferenceMode mode;
    inference = at::rand({2, 3});
  }
  EXPECT_EQ(
      refusalOf(executor, inference, b),
      "execute: an inference tensor is written in inference mode only: input 0, tv0, is "
      "written and is an inference tensor; call execute under torch.inference_mode(), or pass "
      "tensor.clone()");
}

TEST(InputWrites, WhatAutogradAllowsIsWritten) {
  FusionExecutor executor(updateFusion());
  const at::Tensor b = at::ones({2, 3});
  const at::Tensor leaf = at::zeros({2, 3}).requires_grad_();
  const int64_t version = leaf._version();
  {
    const c10::NoGradGuard noGrad;
    executor.execute(KernelArgumentHolder(leaf, b));
  }
  EXPECT_TRUE(at::equal(leaf.detach(), b) && leaf.requires_grad() && leaf.is_leaf());
  EXPECT_EQ(leaf._version(), version + 1);
  const c10::InferenceMode mode;
  const at::Tensor inference = at::zeros({2, 3});
  executor.execute(KernelArgumentHolder(inference, b));
  EXPECT_TRUE(at::equal(inference, b));
}

TEST(InputWrites, WrittenInputsThatShareMemoryAreRefused) {
  Fusion fusion;
  const ValId a = addInput(fusion, {-1, -1});
  const ValId b = addInput(fusion, {-1, -1});
  fusion.addWrite(call(fusion, "neg", {a}), a);
  fusion.addWrite(call(fusion, "exp", {b}), b);
  FusionExecutor executor(std::move(fusion));
  const at::Tensor base = at::rand({4, 6});
  const std::string text = refusalOf(executor, base.slice(1, 0, 4), base.slice(1, 3, 6));
  EXPECT_EQ(text,
            "execute: inputs that are written share no memory with one another, so that no order "
            "matters: input 0, tv0, and input 1, tv1, are both written and share memory; pass a "
            "clone of one of them");
  // Parts that interleave and do not overlap are fine.
  const at::Tensor before = base.clone();
  executor.execute(KernelArgumentHolder(base.slice(1, 0, 3), base.slice(1, 3, 6)));
  EXPECT_TRUE(at::equal(base.slice(1, 0, 3), -before.slice(1, 0, 3)));
  EXPECT_TRUE(at::equal(base.slice(1, 3, 6), before.slice(1, 3, 6).exp()));
}

TEST(InputWrites, SizesThatDifferAtTheCallAreRefused) {
  Fusion fusion;
  const ValId a = addInput(fusion, {-1, -1});
  const ValId b = addInput(fusion, {-1, -1});
  fusion.addWrite(call(fusion, "neg", {b}), a);
  FusionExecutor executor(std::move(fusion));
  const at::Tensor a23 = at::rand({2, 3});
  EXPECT_EQ(refusalOf(executor, a23, at::rand({1, 3})),
            "add_output: a value has the sizes of the input it is written into: got 'tv2' of type "
            "Float[1, 3] for the input 'tv0' of type Float[2, 3]; bring it to these sizes first, "
            "with broadcast_in_dim, expand or reshape");
  const at::Tensor b23 = at::rand({2, 3});
  executor.execute(KernelArgumentHolder(a23, b23));
  EXPECT_TRUE(at::equal(a23, -b23));
}

TEST(InputWrites, AnErrorOnTheWayLeavesTheInputsAlone) {
  Fusion fusion;
  const ValId a = addInput(fusion, {-1}, PrimType::Int);
  const ValId b = addInput(fusion, {-1}, PrimType::Int);
  fusion.addWrite(call(fusion, "neg", {a}), a);
  fusion.addWrite(call(fusion, "div", {a, b}), b);
  FusionExecutor executor(std::move(fusion));
  const at::Tensor x = at::arange(1, 4);
  const at::Tensor y = at::zeros({3}, at::kLong);
  const int64_t version = x._version();
  EXPECT_ANY_THROW(executor.execute(KernelArgumentHolder(x, y)));
  EXPECT_TRUE(at::equal(x, at::arange(1, 4)) && at::equal(y, at::zeros({3}, at::kLong)));
  EXPECT_EQ(x._version(), version);
}

}  // namespace
}  // namespace meshfuse::testing
