// Definitions from C++: the same rules as in Python.
#include "meshfuse/frontend/fusion_definition.h"

#include <thread>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "meshfuse/base/error.h"
#include "meshfuse/frontend/ops.h"
#include "meshfuse/ir/print.h"

namespace meshfuse {
namespace {

/// The text of the error that `call` throws, after checking its kind.
template <class Call>
std::string errorOf(ErrorKind kind, const Call& call) {
  try {
    call();
  } catch (const UserError& error) {
    EXPECT_EQ(static_cast<int>(error.kind()), static_cast<int>(kind)) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

KernelArgumentHolder argumentsOf(std::initializer_list<at::Tensor> tensors) {
  KernelArgumentHolder arguments;
  for (const at::Tensor& tensor : tensors) {
    arguments.push(tensor);
  }
  return arguments;
}

TEST(FusionDefinition, RunsALayerNormLikeAten) {
  FusionDefinition fd;
  const at::Tensor x = at::randn({4, 6}, at::kDouble);
  const ValueHandle a = fd.fromPytorch(x);
  const auto [variance, mean] = lang::var_mean(a, {1}, 0, true);
  fd.addOutput(lang::mul(lang::sub(a, mean), lang::rsqrt(lang::add(variance, 1e-5))));
  const KernelArgumentHolder results = fd.execute(argumentsOf({x}));
  ASSERT_EQ(results.size(), 1U);
  EXPECT_TRUE(at::allclose(results[0].as<at::Tensor>(), at::layer_norm(x, {6}), 1e-12, 1e-12));
}

TEST(FusionDefinition, WritesIntoInputs) {
  FusionDefinition fd;
  const ValueHandle a = fd.defineTensor({-1});
  const ValueHandle b = fd.defineTensor({-1});
  fd.addOutput(lang::add(a, b), a);
  const at::Tensor x = at::rand({4});
  const at::Tensor y = at::rand({4});
  const at::Tensor wanted = x + y;
  EXPECT_EQ(fd.execute(argumentsOf({x, y})).size(), 0U);
  EXPECT_TRUE(at::equal(x, wanted));
  FusionDefinition other;
  const ValueHandle c = other.defineTensor({-1});
  EXPECT_TRUE(contains(errorOf(ErrorKind::Runtime, [&] { other.addOutput(lang::neg(c), a); }),
                       "of another definition"));
  EXPECT_TRUE(contains(
      errorOf(ErrorKind::Type, [&] { other.addOutput(lang::neg(c), other.defineScalar()); }),
      "is a scalar"));
  EXPECT_TRUE(
      contains(errorOf(ErrorKind::NotImplemented, [&] { other.executor(); }), "Fusion is empty!"));
}

TEST(FusionDefinition, EveryOperationHasATypedFunction) {
  FusionDefinition fd;
  const ValueHandle a = fd.defineTensor({2, 3});
  const ValueHandle w = fd.defineTensor({4, 3});
  EXPECT_EQ(lang::permute(a, {1, 0}).toText(), "tv2: Float[3, 2]");
  EXPECT_EQ(lang::reshape(a, {-1}).toText(), "tv3: Float[6]");
  EXPECT_EQ(lang::broadcast_in_dim(a, {2, 5, 3}, {0, 2}).toText(), "tv4: Float[2, b5, 3]");
  EXPECT_EQ(lang::cast(a, PrimType::Half).toText(), "tv5: Half[2, 3]");
  EXPECT_EQ(lang::linear(a, w).toText(), "tv6: Float[2, 4]");
  EXPECT_EQ(lang::linear(a, w, fd.defineTensor({4})).toText(), "tv8: Float[2, 4]");
  EXPECT_EQ(lang::matmul(a, lang::permute(w, {1, 0})).toText(), "tv10: Float[2, 4]");
  EXPECT_EQ(lang::max(a, {0}).toText(), "tv11: Float[3]");
  EXPECT_EQ(lang::sum(a).toText(), "tv12: Float[]");
  EXPECT_EQ(lang::set(a).toText(), "tv13: Float[2, 3]");
  // Every folder's op.h declares its function: a name that is missing does not compile.
#define MESHFUSE_STRUCTURED_OP(name) using lang::name;
#include "meshfuse/ops/structured_ops.inc"
#undef MESHFUSE_STRUCTURED_OP
}

TEST(FusionDefinition, ReductionsScansAndSortsAreTyped) {
  FusionDefinition fd;
  const ValueHandle a = fd.defineTensor({2, 3});
  const auto typeOf = [](const ValueHandle& value) {
    const std::string text = value.toText();
    return text.substr(text.find(": ") + 2);
  };
  EXPECT_EQ(typeOf(lang::prod(a, {0}, true)), "Float[b1, 3]");
  EXPECT_EQ(typeOf(lang::prod(a, PrimType::Double)), "Double[]");
  EXPECT_EQ(typeOf(lang::min(a, {-1})), "Float[2]");
  EXPECT_EQ(typeOf(lang::min(a)), "Float[]");
  EXPECT_EQ(typeOf(lang::var(a, {1}, 0, true)), "Float[2, b1]");
  EXPECT_EQ(typeOf(lang::welford(a, {1}).count), "Int[2]");
  for (const ValueHandle& scan :
       {lang::cumsum(a, 0), lang::cumprod(a, 1), lang::cummax(a, -1), lang::cummin(a, -2)}) {
    EXPECT_EQ(typeOf(scan), "Float[2, 3]");
  }
  EXPECT_EQ(typeOf(lang::argsort(a, 1, true)), "Int[2, 3]");
  const auto [values, indices] = lang::topk(a, 2);
  EXPECT_EQ(typeOf(values), "Float[2, 2]");
  EXPECT_EQ(typeOf(indices), "Int[2, 2]");
  EXPECT_EQ(typeOf(lang::triu(a, 1)), "Float[2, 3]");
  EXPECT_EQ(typeOf(lang::clamp(a, 0.5, std::nullopt)), "Float[2, 3]");
}

TEST(FusionDefinition, NumbersKeepTheirKind) {
  FusionDefinition fd;
  const ValueHandle a = fd.defineTensor({2}, true, PrimType::Int);
  EXPECT_EQ(lang::add(a, 1).dtype(), PrimType::Int);
  EXPECT_EQ(lang::add(a, 0.5).dtype(), PrimType::Double);
  EXPECT_EQ(lang::add(1.0F, a).dtype(), PrimType::Double);
  EXPECT_EQ(lang::add(fd.defineTensor({2}, true, PrimType::Bool), true).dtype(), PrimType::Int);
  EXPECT_FALSE(lang::add(fd.defineScalar(), 2).isTensor());
}

TEST(FusionDefinition, FromPytorchTakesLayoutAndType) {
  FusionDefinition fd;
  fd.fromPytorch(at::empty({4, 3}, at::kBFloat16).t());
  fd.fromPytorch(at::empty({4, 1}), true);
  fd.fromPytorch(at::scalar_tensor(1.0));
  const std::string text = print(fd.fusion());
  EXPECT_TRUE(contains(text, "tv0: BFloat16[i0, i1] contiguity(t, t) stride_order(0, 1)\n"))
      << text;
  EXPECT_TRUE(contains(text, "tv1: Float[4, b1] contiguity(t, n)\n")) << text;
  EXPECT_TRUE(contains(text, "tv2: Float[] cpu") || contains(text, "tv2: Float[]")) << text;
  EXPECT_TRUE(
      contains(errorOf(ErrorKind::Value, [&] { fd.fromPytorch(at::ones({2}, at::kChar)); }),
               "from_pytorch: the language has no such element type: got a tensor of dtype Char"));
  EXPECT_TRUE(contains(errorOf(ErrorKind::Value, [&] { fd.fromPytorch(at::eye(2).to_sparse()); }),
                       "got a tensor of layout Sparse"));
  EXPECT_TRUE(contains(errorOf(ErrorKind::Value, [&] { fd.fromPytorch(at::Tensor()); }),
                       "an undefined tensor"));
}

TEST(FusionDefinition, RefusesValuesOfAnother) {
  FusionDefinition fd;
  FusionDefinition other;
  const ValueHandle own = fd.defineTensor({2});
  const ValueHandle foreign = other.defineTensor({2});
  const std::string found = "got tv0: Float[2] of another definition";
  EXPECT_TRUE(contains(errorOf(ErrorKind::Runtime, [&] { lang::add(own, foreign); }), found));
  EXPECT_TRUE(contains(errorOf(ErrorKind::Runtime, [&] { lang::matmul(own, foreign); }), found));
  EXPECT_TRUE(contains(errorOf(ErrorKind::Runtime, [&] { fd.addOutput(foreign); }), found));
  fd.addOutput(lang::add(own, own));
  EXPECT_EQ(fd.fusion().outputs().size(), 1U);
}

TEST(FusionDefinition, RefusesWhatIsNoCall) {
  FusionDefinition fd;
  const ValueHandle a = fd.defineTensor({2});
  EXPECT_TRUE(
      contains(errorOf(ErrorKind::Type, [&] { lang::add(1, 2); }), "all operands are numbers"));
  EXPECT_TRUE(
      contains(errorOf(ErrorKind::Value, [&] { a.call("nonsense", a); }), "no such operation"));
  EXPECT_TRUE(contains(errorOf(ErrorKind::Type, [&] { a.call("sum", 1.0); }),
                       "incompatible function arguments"));
  EXPECT_TRUE(contains(errorOf(ErrorKind::Runtime, [&] { fd.addOutput(fd.defineScalar()); }),
                       "Non-TensorView outputs are not supported: got the scalar c0: Double"));
  EXPECT_TRUE(contains(errorOf(ErrorKind::Runtime, [&] { fd.defineScalar(PrimType::Null); }),
                       "got DataType.Null"));
}

TEST(FusionDefinition, ExecutionNeedsOutputsAndClosesIt) {
  FusionDefinition fd;
  EXPECT_TRUE(
      contains(errorOf(ErrorKind::NotImplemented, [&] { fd.execute({}); }), "Fusion is empty!"));
  const ValueHandle a = fd.defineTensor({2});
  fd.addOutput(lang::neg(a));
  EXPECT_FALSE(fd.isClosed());
  EXPECT_TRUE(
      at::equal(fd.execute(argumentsOf({at::ones({2})}))[0].as<at::Tensor>(), -at::ones({2})));
  EXPECT_TRUE(fd.isClosed());
  const std::string closed = "an executed definition is closed";
  EXPECT_TRUE(contains(errorOf(ErrorKind::Runtime, [&] { fd.defineTensor({2}); }), closed));
  EXPECT_TRUE(contains(errorOf(ErrorKind::Runtime, [&] { fd.defineScalar(); }), closed));
  EXPECT_TRUE(contains(errorOf(ErrorKind::Runtime, [&] { fd.defineConstant(1); }), closed));
  EXPECT_TRUE(contains(errorOf(ErrorKind::Runtime, [&] { fd.addOutput(a); }), closed));
  EXPECT_TRUE(contains(errorOf(ErrorKind::Runtime, [&] { lang::exp(a); }), closed));
}

TEST(FusionDefinition, FirstExecutionsMayRace) {
  FusionDefinition fd;
  fd.addOutput(lang::add(fd.defineTensor({3}), 1.0));
  std::vector<std::thread> threads;
  std::vector<at::Tensor> results(8);
  for (size_t i = 0; i < results.size(); ++i) {
    threads.emplace_back([&, i] {
      results[i] = fd.execute(argumentsOf({at::full({3}, double(i))}))[0].as<at::Tensor>();
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (size_t i = 0; i < results.size(); ++i) {
    EXPECT_TRUE(at::equal(results[i], at::full({3}, double(i) + 1)));
  }
}

}  // namespace
}  // namespace meshfuse
