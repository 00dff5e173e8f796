// The errors of arguments that do not fit, word for word, and that the executor works afterwards.
#include "meshfuse/runtime/input_checks.h"

#include "runtime/sample_fusions.h"

namespace meshfuse::testing {
namespace {

const std::string kStart = "execute: arguments must match the definition's inputs: ";

/// The error of a call; then checks that a good call still works.
std::string errorOfCall(const Fusion& fusion, const KernelArgumentHolder& bad,
                        const KernelArgumentHolder& good) {
  FusionExecutor executor(fusion);
  std::string text = runtimeErrorOf([&] { executor.execute(bad); });
  EXPECT_EQ(runtimeErrorOf([&] { executor.execute(bad); }), text) << "the second time as the first";
  EXPECT_EQ(executor.execute(good).size(), fusion.outputs().size());
  EXPECT_EQ(runtimeErrorOf([&] { executor.execute(bad); }), text) << "after a good call";
  return text;
}

TEST(InputChecks, Dtype) {
  EXPECT_EQ(errorOfCall(copyFusion(), KernelArgumentHolder(at::ones({2, 2}, at::kDouble)),
                        KernelArgumentHolder(at::ones({2, 2}))),
            kStart +
                "Expected input 0, tv0, to be bound to a tensor of dtype float, but got a tensor "
                "of dtype double; "
                "convert it with .to(torch.float32), or define the input with the tensor's dtype");
  EXPECT_EQ(
      errorOfCall(copyFusion(PrimType::BFloat16), KernelArgumentHolder(at::ones({2, 2}, at::kChar)),
                  KernelArgumentHolder(at::ones({2, 2}, at::kBFloat16))),
      kStart +
          "Expected input 0, tv0, to be bound to a tensor of dtype __bfloat, but got a tensor of "
          "dtype Char; "
          "convert it with .to(torch.bfloat16), or define the input with the tensor's dtype");
}

TEST(InputChecks, Rank) {
  EXPECT_EQ(errorOfCall(copyFusion(), KernelArgumentHolder(at::ones({2})),
                        KernelArgumentHolder(at::ones({2, 2}))),
            kStart +
                "Expected input 0, tv0, to be bound to a tensor of rank 2, but got a tensor of "
                "rank 1 and sizes [2]; "
                "pass a tensor of the declared rank, or define the input with this one");
}

TEST(InputChecks, StaticExtent) {
  Fusion fusion;
  fusion.addOutput(call(fusion, "set", {addInput(fusion, {4, -1})}));
  EXPECT_EQ(errorOfCall(fusion, KernelArgumentHolder(at::ones({5, 2})),
                        KernelArgumentHolder(at::ones({4, 2}))),
            kStart +
                "Expected input 0, tv0, dimension 0 of Float[4, i0] to have size 4, but got a "
                "tensor of sizes [5, 2]; "
                "pass the declared size, or define the dimension as -1");
}

TEST(InputChecks, Broadcast) {
  Fusion fusion;
  fusion.addOutput(call(fusion, "set", {addInput(fusion, {-1, 1})}));
  EXPECT_EQ(errorOfCall(fusion, KernelArgumentHolder(at::ones({5, 2})),
                        KernelArgumentHolder(at::ones({5, 1}))),
            kStart +
                "Expected input 0, tv0, dimension 1 of Float[i0, b1] to be a broadcast of size 1, "
                "but got a tensor of "
                "sizes [5, 2]; pass size 1 there, or define the dimension as -1");
}

TEST(InputChecks, ExpandedBroadcast) {
  Fusion fusion;
  const std::vector<int64_t> shape{-1, 3};
  const ValId a = fusion.addInputTensor(PrimType::Float, shape, {true, std::nullopt});
  fusion.addOutput(call(fusion, "set", {a}));
  const std::string text = errorOfCall(fusion, KernelArgumentHolder(at::ones({5, 3})),
                                       KernelArgumentHolder(at::ones({5, 1}).expand({5, 3})));
  EXPECT_NE(
      text.find(
          "to be an expanded broadcast of stride 0, but got stride 1; pass tensor.expand(...)"),
      std::string::npos)
      << text;
}

TEST(InputChecks, Contiguity) {
  Fusion fusion;
  fusion.addOutput(call(fusion, "set", {addInput(fusion, {-1, -1}, PrimType::Float, true)}));
  EXPECT_EQ(errorOfCall(fusion, KernelArgumentHolder(at::ones({3, 4}).t()),
                        KernelArgumentHolder(at::ones({4, 3}))),
            kStart +
                "Expected input 0, tv0, to be contiguous in dimension 1: stride mismatch with "
                "contiguity info, strides "
                "[1, 4] of sizes [4, 3] have 4 where contiguity needs 1; pass tensor.contiguous(), "
                "or define the "
                "input with contiguity=False there");
  // Size-1 dimensions and empty tensors are exempt.
  FusionExecutor executor(fusion);
  EXPECT_EQ(executor.execute(KernelArgumentHolder(at::empty_strided({1, 3}, {17, 1}))).size(), 1U);
  EXPECT_EQ(executor.execute(KernelArgumentHolder(at::empty_strided({0, 3}, {1, 5}))).size(), 1U);
}

TEST(InputChecks, ContiguityFollowsTheStrideOrder) {
  Fusion fusion;
  const std::vector<int64_t> shape{-1, -1};
  const ValId a =
      fusion.addInputTensor(PrimType::Float, shape, {true, true}, {0, 1});  // column-major
  fusion.addOutput(call(fusion, "neg", {a}));
  const std::string text = errorOfCall(fusion, KernelArgumentHolder(at::ones({3, 4})),
                                       KernelArgumentHolder(at::ones({4, 3}).t()));
  EXPECT_NE(text.find("to be contiguous in dimension 0: stride mismatch with contiguity info"),
            std::string::npos)
      << text;
}

TEST(InputChecks, TensorAndNumber) {
  EXPECT_EQ(
      errorOfCall(copyFusion(), KernelArgumentHolder(2.5), KernelArgumentHolder(at::ones({2, 2}))),
      kStart +
          "Expected input 0, tv0, to be an at::Tensor but got scalar 2.5; pass a tensor of "
          "Float[i0, i1]");
  EXPECT_EQ(
      errorOfCall(shiftFusion(), KernelArgumentHolder(at::ones({2, 2}), at::ones({2, 2})),
                  KernelArgumentHolder(at::ones({2, 2}), 1.0)),
      kStart +
          "Expected input 1, c0, to be a scalar but got float tensor of rank 2; pass a number");
  EXPECT_EQ(errorOfCall(shiftFusion(), KernelArgumentHolder(at::ones({2, 2}), at::ones({})),
                        KernelArgumentHolder(at::ones({2, 2}), 1.0)),
            kStart +
                "Expected input 1, c0, to be a scalar but got float tensor of rank 0; pass "
                "tensor.item()");
}

TEST(InputChecks, KindOfNumber) {
  const at::Tensor a = at::ones({2, 2});
  EXPECT_EQ(errorOfCall(shiftFusion(), KernelArgumentHolder(a, 3), KernelArgumentHolder(a, 3.0)),
            kStart +
                "for input 1, c0, Scalar value 3 is not compatible with the expected data type: "
                "double.; pass a float");
  EXPECT_EQ(errorOfCall(shiftFusion(PrimType::Float, PrimType::Int), KernelArgumentHolder(a, true),
                        KernelArgumentHolder(a, 3)),
            kStart +
                "for input 1, c0, Scalar value True is not compatible with the expected data type: "
                "int64_t.; pass an int");
}

TEST(InputChecks, Count) {
  const at::Tensor a = at::ones({2, 2});
  EXPECT_EQ(errorOfCall(sumFusion(), KernelArgumentHolder(a), KernelArgumentHolder(a, a)),
            kStart +
                "got 1 argument, the definition has 2 inputs (tv0, tv1); pass one argument for "
                "each input, in "
                "definition order");
  EXPECT_EQ(errorOfCall(copyFusion(), KernelArgumentHolder(a, a), KernelArgumentHolder(a)),
            kStart +
                "got 2 arguments, the definition has 1 input (tv0); pass one argument for each "
                "input, in definition "
                "order");
}

TEST(InputChecks, Devices) {
  const at::Tensor a = at::ones({2, 2});
  EXPECT_EQ(errorOfCall(sumFusion(), KernelArgumentHolder(a, at::ones({2, 2}, at::kMeta)),
                        KernelArgumentHolder(a, a)),
            "execute: tensors must be on one device (0-dim CPU tensors may be beside any): input "
            "0, tv0, is on cpu, input "
            "1, tv1, is on meta; move them to one device with .to(device)");
}

TEST(InputChecks, SizesBetweenInputs) {
  const std::string text =
      errorOfCall(sumFusion(), KernelArgumentHolder(at::ones({2, 2}), at::ones({2, 3})),
                  KernelArgumentHolder(at::ones({2, 2}), at::ones({2, 2})));
  EXPECT_NE(text.find("add: "), std::string::npos) << text;
}

ShardingId shardingOver(DeviceMesh mesh, Placement placement) {
  return intern(makeSharding(std::move(mesh), MeshDevice::Cpu, {placement}));
}

TEST(InputChecks, PlainBesideDistributed) {
  const DistributedTensor whole(at::ones({2, 2}),
                                shardingOver(DeviceMesh::fromCount(2), Placement::replicate()));
  EXPECT_EQ(errorOfCall(sumFusion(), KernelArgumentHolder(whole, at::ones({2, 2})),
                        KernelArgumentHolder(whole, whole)),
            "execute: distributed and plain tensors cannot be mixed in one call: input 0, tv0, is "
            "distributed as "
            "DeviceMesh{0 1} cpu (R), input 1, tv1, is a plain tensor of sizes [2, 2]; make the "
            "plain one a DTensor "
            "(DTensor.from_local(tensor, mesh, [Replicate(), ...]) or distribute_tensor), pass a "
            "Python number for a 0-dim "
            "tensor, or pass local tensors only");
}

TEST(InputChecks, OneMesh) {
  const DistributedTensor a(at::ones({2, 2}),
                            shardingOver(DeviceMesh::fromCount(2), Placement::replicate()));
  const DistributedTensor b(at::ones({2, 2}),
                            shardingOver(DeviceMesh::fromRanks({1, 0}), Placement::replicate()));
  EXPECT_EQ(errorOfCall(sumFusion(), KernelArgumentHolder(a, b), KernelArgumentHolder(a, a)),
            "execute: distributed tensors must lie over one mesh: input 0, tv0, is on DeviceMesh{0 "
            "1} cpu (R), input 1, "
            "tv1, is on DeviceMesh{1 0} cpu (R); redistribute them onto one mesh first");
}

}  // namespace
}  // namespace meshfuse::testing
