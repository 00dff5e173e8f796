// Layout, indexing, attention and grouped products called from C++ give what ATen gives.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "meshfuse/frontend/fusion_definition.h"
#include "meshfuse/frontend/ops.h"

namespace meshfuse {
namespace {

KernelArgumentHolder argumentsOf(std::initializer_list<at::Tensor> tensors) {
  KernelArgumentHolder arguments;
  for (const at::Tensor& tensor : tensors) {
    arguments.push(tensor);
  }
  return arguments;
}

TEST(TypedCalls, Layouts) {
  FusionDefinition fd;
  const at::Tensor x = at::randn({2, 1, 3});
  const ValueHandle a = fd.fromPytorch(x);
  fd.addOutput(lang::broadcast(a, {1, 0, 0, 0}));
  fd.addOutput(lang::squeeze(a, {1}));
  fd.addOutput(lang::stride_order(a, {0, 1, 2}));
  const KernelArgumentHolder results = fd.execute(argumentsOf({x}));
  EXPECT_TRUE(at::equal(results[0].as<at::Tensor>(), x.unsqueeze(0)));
  EXPECT_TRUE(at::equal(results[1].as<at::Tensor>(), x.squeeze(1)));
  EXPECT_TRUE(at::equal(results[2].as<at::Tensor>(), x));
  EXPECT_EQ(results[2].as<at::Tensor>().stride(0), 1);
}

TEST(TypedCalls, Indexing) {
  FusionDefinition fd;
  const at::Tensor x = at::randn({4, 3});
  const at::Tensor rows = at::tensor({2, 0}, at::kLong);
  const at::Tensor positions = at::tensor({1, 0, 2}, at::kLong).reshape({1, 3});
  const ValueHandle a = fd.fromPytorch(x);
  const ValueHandle r = fd.fromPytorch(rows);
  const ValueHandle p = fd.fromPytorch(positions);
  const ValueHandle taken = lang::gather(a, p, 0);
  fd.addOutput(lang::index_select(a, r, 0));
  fd.addOutput(taken);
  fd.addOutput(lang::take_along_axis(a, p, 1));
  fd.addOutput(lang::scatter(a, p, taken, 1));
  fd.addOutput(lang::scatter(a, p, 2.5, 1));
  fd.addOutput(lang::embedding_fwd(r, a));
  fd.addOutput(lang::embedding_fwd(r, a, {}, /*maxNorm=*/Scalar(0.5), /*normType=*/Scalar(1.0)));
  fd.addOutput(lang::topk(a, fd.defineConstant(Scalar(2)), 0, true, /*sorted=*/true).first);
  fd.addOutput(lang::topk(a, 1, 1).second);
  fd.addOutput(lang::cumsum(a, 1, Scalar(2)));
  const KernelArgumentHolder results = fd.execute(argumentsOf({x, rows, positions}));
  const at::Tensor expected[] = {
      at::index_select(x, 0, rows),
      at::gather(x, 0, positions),
      at::take_along_dim(x, positions, 1),
      at::scatter(x, 1, positions, at::gather(x, 0, positions)),
      at::scatter(x, 1, positions, 2.5),
      at::embedding(x, rows),
      at::embedding(at::renorm(x, 1, 0, 0.5), rows),
      std::get<0>(at::topk(x, 2, 0)),
      std::get<1>(at::topk(x, 1, 1)),
      at::cumsum(x, 1) + 2,
  };
  for (size_t i = 0; i < results.size(); ++i) {
    EXPECT_TRUE(at::allclose(results[i].as<at::Tensor>(), expected[i], 1e-6, 1e-6)) << i;
  }
}

TEST(TypedCalls, AttentionWithItsGradients) {
  FusionDefinition fd;
  const at::Tensor x = at::randn({2, 3, 4, 8}, at::kDouble);
  const at::Tensor grad = at::randn({2, 3, 4, 8}, at::kDouble);
  const ValueHandle q = fd.fromPytorch(x);
  const ValueHandle g = fd.fromPytorch(grad);
  const auto forward =
      lang::sdpfa_fwd(q, q, q, std::nullopt, std::nullopt, 0, /*isCausal=*/true, 0.5);
  const auto backward = lang::sdpfa_bwd(g, q, q, q, forward[0], forward[1], 0, /*isCausal=*/true,
                                        forward[2], forward[3], 0.5);
  fd.addOutput(forward[0]);
  fd.addOutput(lang::add(lang::add(backward[0], backward[1]), backward[2]));
  const KernelArgumentHolder results = fd.execute(argumentsOf({x, grad}));
  const at::Tensor leaf = x.clone().requires_grad_();
  const at::Tensor expected =
      at::scaled_dot_product_attention(leaf, leaf, leaf, std::nullopt, 0, /*is_causal=*/true, 0.5);
  expected.backward(grad);
  EXPECT_TRUE(at::allclose(results[0].as<at::Tensor>(), expected, 1e-10, 1e-10));
  EXPECT_TRUE(at::allclose(results[1].as<at::Tensor>(), leaf.grad(), 1e-10, 1e-10));
}

TEST(TypedCalls, GroupedProducts) {
  FusionDefinition fd;
  const at::Tensor a = at::randn({5, 4});
  const at::Tensor b = at::randn({2, 4, 3});
  const at::Tensor offsets = at::tensor({2, 5}, at::kInt);
  const ValueHandle first = fd.fromPytorch(a);
  const ValueHandle second = fd.fromPytorch(b);
  fd.addOutput(lang::grouped_mm(first, second, fd.fromPytorch(offsets)));
  const KernelArgumentHolder results = fd.execute(argumentsOf({a, b, offsets}));
  const at::Tensor expected =
      at::cat({at::mm(a.narrow(0, 0, 2), b[0]), at::mm(a.narrow(0, 2, 3), b[1])});
  EXPECT_TRUE(at::allclose(results[0].as<at::Tensor>(), expected));
}

TEST(TypedCalls, ScaledProducts) {
  FusionDefinition fd;
  const at::Tensor a = at::randn({5, 4});
  const at::Tensor b = at::randn({4, 3});
  const at::Tensor rows = at::rand({5, 1});
  const at::Tensor columns = at::rand({1, 3});
  const at::Tensor offsets = at::tensor({4}, at::kInt);
  std::vector<ValueHandle> values;
  for (const at::Tensor& tensor : {a, b, rows, columns, offsets}) {
    values.push_back(fd.fromPytorch(tensor));
  }
  const auto grouped = [](const ValueHandle& scale) { return lang::broadcast(scale, {1, 0, 0}); };
  fd.addOutput(lang::scaled_mm(values[0], values[1], values[2], values[3], PrimType::Float));
  fd.addOutput(lang::grouped_mm(values[0], values[1], values[4], grouped(values[2]),
                                grouped(values[3]), PrimType::Float));
  const KernelArgumentHolder results = fd.execute(argumentsOf({a, b, rows, columns, offsets}));
  const at::Tensor expected = at::mm(a * rows, b * columns);
  EXPECT_TRUE(at::allclose(results[0].as<at::Tensor>(), expected, 1e-5, 1e-6));
  EXPECT_TRUE(at::allclose(results[1].as<at::Tensor>()[0], expected, 1e-5, 1e-6));
}

}  // namespace
}  // namespace meshfuse
