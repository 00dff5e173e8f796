// Every op sample under every legal placement of its inputs, on simulated meshes of 1, 2, 3 and (2, 2) ranks: the result equals
// the undistributed one, or the call is refused. Above 500 combinations a seeded sample is taken.
#include <algorithm>
#include <random>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "meshfuse/base/error.h"
#include "meshfuse/evaluator/program.h"
#include "meshfuse/evaluator/simulated_mesh.h"
#include "meshfuse/mesh/shard_arithmetic.h"
#include "meshfuse/ops/op_info.h"
#include "meshfuse/sharding/propagate.h"
#include "meshfuse/values/packed_floats.h"
#include "meshfuse/values/torch_types.h"

namespace meshfuse {
namespace {

constexpr size_t kMostCombinations = 500;
constexpr uint64_t kSeed = 20240607;

struct Case {
  std::string name;
  Fusion fusion;  // constant extents
  std::vector<at::Tensor> inputs;
};

at::Tensor makeTensor(const OpSample::Tensor& tensor, at::Generator& generator) {
  const auto draw = [&] {
    return at::rand(tensor.sizes, generator, at::kDouble) * (tensor.high - tensor.low) + tensor.low;
  };
  if (!tensor.values.empty()) {
    return at::tensor(tensor.values).view(tensor.sizes).to(torchDtype(tensor.dtype));
  }
  const at::Tensor uniform = draw();
  if (categoryOf(tensor.dtype) == TypeCategory::Complex) {
    return at::complex(uniform, draw()).to(torchDtype(tensor.dtype));
  }
  if (tensor.dtype == PrimType::Bool) {
    return at::gt(uniform, 0);
  }
  const bool isWhole = categoryOf(tensor.dtype) == TypeCategory::Integral;
  if (tensor.dtype == PrimType::Float4_e2m1fn) {
    return roundToFloat4(uniform);
  }
  return (isWhole ? at::floor(uniform) : uniform).to(torchDtype(tensor.dtype));
}

/// Sizes of 1 are declared broadcasts.
Contiguity contiguityOf(const std::vector<int64_t>& sizes) {
  Contiguity contiguity;
  for (int64_t size : sizes) {
    contiguity.push_back(size == 1 ? std::nullopt : std::optional(true));
  }
  return contiguity;
}

Case makeCase(const OpInfo& op, const OpSample& sample, at::Generator& generator) {
  Case result;
  std::vector<ValId> tensors;
  for (size_t i = 0; i < sample.tensors.size(); ++i) {
    const OpSample::Tensor& tensor = sample.tensors[i];
    tensors.push_back(
        result.fusion.addInputTensor(tensor.dtype, tensor.sizes, contiguityOf(tensor.sizes)));
    result.inputs.push_back(makeTensor(tensor, generator));
    result.name += toText(result.fusion.val(tensors.back()).tensor()) + " ";
  }
  for (ValId output : addCall(result.fusion, op, sampleArgs(op, sample, tensors))) {
    result.fusion.addOutput(output);
  }
  if (tensors.empty()) {
    // What makes tensors from nothing runs on the mesh of the tensors beside it.
    const std::vector<int64_t> sizes{6};
    const ValId other = result.fusion.addInputTensor(PrimType::Float, sizes, contiguityOf(sizes));
    result.inputs.push_back(makeTensor({PrimType::Float, sizes}, generator));
    result.fusion.addOutput(addCall(result.fusion, *findOp("neg"), {other}).front());
  }
  result.name = std::string(op.name) + " " + result.name;
  return result;
}

bool isReducible(TypeCategory category, ReduceKind kind) {
  switch (category) {
    case TypeCategory::Floating:
      return true;
    case TypeCategory::Complex:
      return kind == ReduceKind::Sum || kind == ReduceKind::Avg;
    case TypeCategory::Integral:
      return kind != ReduceKind::Avg;
    default:
      return kind == ReduceKind::Max || kind == ReduceKind::Min;
  }
}

std::vector<Placement> placementsOf(const TensorType& type) {
  std::vector<Placement> placements{Placement::replicate()};
  for (int64_t dim = 0; dim < type.rank(); ++dim) {
    placements.push_back(Placement::shard(dim));
  }
  const TypeCategory category = categoryOf(type.dtype);
  if (isReducedFloat(type.dtype) && bitsOf(type.dtype) <= 8) {
    return placements;  // torch adds no such elements up
  }
  for (ReduceKind kind :
       {ReduceKind::Sum, ReduceKind::Avg, ReduceKind::Max, ReduceKind::Min, ReduceKind::Product}) {
    if (isReducible(category, kind)) {
      placements.push_back(Placement::partial(kind));
    }
  }
  return placements;
}

/// All shardings of a tensor that torch can express: one placement an axis, one kind of partial value, and, on two axes that
/// shard one dimension, the order in which the inner axis cuts first.
std::vector<Sharding> shardingsOf(const TensorType& type, const DeviceMesh& mesh) {
  const std::vector<Placement> choices = placementsOf(type);
  std::vector<std::vector<Placement>> lists{{}};
  for (int64_t axis = 0; axis < mesh.ndim(); ++axis) {
    std::vector<std::vector<Placement>> longer;
    for (const auto& list : lists) {
      for (const Placement& choice : choices) {
        longer.push_back(list);
        longer.back().push_back(choice);
      }
    }
    lists = std::move(longer);
  }
  for (int64_t dim = 0; mesh.ndim() == 2 && dim < type.rank(); ++dim) {
    lists.push_back({Placement::stridedShard(dim, mesh.size(1)), Placement::shard(dim)});
  }
  std::vector<Sharding> shardings;
  for (const auto& list : lists) {
    std::vector<ReduceKind> kinds;
    for (const Placement& placement : list) {
      if (placement.isPartial()) {
        kinds.push_back(placement.reduce);
      }
    }
    if (std::ranges::all_of(kinds, [&](ReduceKind kind) { return kind == kinds.front(); })) {
      shardings.push_back(makeSharding(mesh, MeshDevice::Cpu, list));
    }
  }
  return shardings;
}

std::vector<int64_t> sizesOf(const at::Tensor& tensor) { return tensor.sizes().vec(); }

bool isPlainAndEven(const Sharding& sharding, const at::Tensor& tensor) {
  return isEven(sharding, sizesOf(tensor)) &&
         std::ranges::none_of(sharding.placements,
                              [](const Placement& p) { return p.isStridedShard(); });
}

/// The outputs come first, then the values that are written into inputs.
ValId resultAt(const Fusion& fusion, size_t index) {
  const size_t outputs = fusion.outputs().size();
  return index < outputs ? fusion.outputs()[index] : fusion.writes()[index - outputs].value;
}

struct Tally {
  size_t right = 0;
  size_t refused = 0;
};

/// Runs one combination; expects the undistributed outputs or a refusal that only uneven and strided shards may cause.
void check(const Case& test, const std::vector<Sharding>& shardings, const DeviceMesh& mesh,
           const std::vector<PolymorphicValue>& expected, Tally& tally) {
  std::string label = test.name + "on";
  std::vector<ShardingId> ids;
  bool mustRun = true;
  for (size_t i = 0; i < shardings.size(); ++i) {
    ids.push_back(intern(shardings[i]));
    label += " " + shardings[i].toText();
    mustRun = mustRun && isPlainAndEven(shardings[i], test.inputs[i]);
  }
  std::vector<int64_t> ranks(static_cast<size_t>(mesh.size()));
  std::vector<std::vector<PolymorphicValue>> inputs(ranks.size());
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    ranks[rank] = static_cast<int64_t>(rank);
  }
  for (size_t i = 0; i < shardings.size(); ++i) {
    const LocalTensors locals = shardOverRanks(test.inputs[i], shardings[i]);
    for (size_t rank = 0; rank < ranks.size(); ++rank) {
      inputs[rank].emplace_back(locals[rank]);
    }
  }
  try {
    const Program program(propagateShardings(test.fusion, ids), ranks);
    const Collectives collectives = simulatedCollectives(mesh);
    at::manual_seed(kSeed);
    const auto outputs = program.run(inputs, &collectives);
    for (size_t i = 0; i < expected.size(); ++i) {
      LocalTensors locals;
      for (const auto& rank : outputs) {
        locals.push_back(rank[i].asTensor());
      }
      const TensorType& type = program.fusion().val(resultAt(program.fusion(), i)).tensor();
      const at::Tensor global =
          gatherFromRanks(locals, *type.sharding, expected[i].asTensor().sizes());
      const at::ScalarType wide = global.is_complex() ? at::kComplexDouble : at::kDouble;
      ASSERT_TRUE(at::allclose(global.to(wide), expected[i].asTensor().to(wide), 1e-5, 1e-5, true))
          << label << " gives " << type.sharding->toText() << "\n"
          << global << "\ninstead of\n"
          << expected[i].asTensor();
    }
    for (const InputWrite& write : program.fusion().writes()) {
      ASSERT_EQ(program.fusion().val(write.value).tensor().sharding,
                program.fusion().val(write.input).tensor().sharding)
          << label;
    }
    ++tally.right;
  } catch (const UserError& error) {
    ASSERT_FALSE(mustRun) << label << ": " << error.what();
    ASSERT_NE(std::string(error.what()).find("is not supported; redistribute the operand"),
              std::string::npos)
        << error.what();
    ++tally.refused;
  }
}

void checkOnMesh(const Case& test, const DeviceMesh& mesh, std::mt19937& random, Tally& tally) {
  std::vector<std::vector<Sharding>> choices;
  size_t combinations = 1;
  for (ValId input : test.fusion.inputs()) {
    choices.push_back(shardingsOf(test.fusion.val(input).tensor(), mesh));
    combinations *= choices.back().size();
  }
  const Program whole(test.fusion, {0});
  const std::vector<std::vector<PolymorphicValue>> inputs{{test.inputs.begin(), test.inputs.end()}};
  at::manual_seed(kSeed);
  const std::vector<PolymorphicValue> expected = whole.run(inputs, nullptr)[0];
  const size_t count = std::min(combinations, kMostCombinations);
  for (size_t i = 0; i < count && !::testing::Test::HasFatalFailure(); ++i) {
    size_t number = combinations > kMostCombinations
                        ? std::uniform_int_distribution<size_t>(0, combinations - 1)(random)
                        : i;
    std::vector<Sharding> shardings;
    for (const auto& choice : choices) {
      shardings.push_back(choice[number % choice.size()]);
      number /= choice.size();
    }
    check(test, shardings, mesh, expected, tally);
  }
}

/// All but those that give a scalar.
std::vector<const OpInfo*> opsWithTensors() {
  std::vector<const OpInfo*> ops;
  std::ranges::copy_if(allOps(), std::back_inserter(ops),
                       [](const OpInfo* op) { return op->extent == nullptr; });
  return ops;
}

TEST(ShardingOfWrites, ValuesAreBroughtToLieAsTheirInputsOrAreRefused) {
  at::set_num_threads(1);
  for (int64_t rows : {6, 5}) {
    Case test;
    const std::vector<int64_t> matrix{rows, 4};
    const std::vector<int64_t> row{4};
    const ValId a = test.fusion.addInputTensor(PrimType::Float, matrix, contiguityOf(matrix));
    const ValId b = test.fusion.addInputTensor(PrimType::Float, matrix, contiguityOf(matrix));
    const ValId c = test.fusion.addInputTensor(PrimType::Float, row, contiguityOf(row));
    const auto call = [&](std::string_view op, std::vector<Arg> args) {
      return addCall(test.fusion, *findOp(op), std::move(args)).front();
    };
    const ValId value = call("neg", {b});
    test.fusion.addOutput(value);
    test.fusion.addWrite(value, a);
    test.fusion.addWrite(call("add", {a, b}), b);
    test.fusion.addWrite(call("sum", {a, Ints{0}, Scalar(false), Arg()}), c);
    test.inputs = {at::rand(matrix), at::rand(matrix), at::rand(row)};
    test.name = "writes ";
    std::mt19937 random(kSeed);
    Tally tally;
    for (const auto& shape : std::vector<std::vector<int64_t>>{{1}, {2}, {3}, {2, 2}}) {
      checkOnMesh(test, DeviceMesh::fromShape(shape), random, tally);
    }
    EXPECT_GT(tally.right, tally.refused)
        << "right " << tally.right << ", refused " << tally.refused;
  }
}

class ShardingRules : public ::testing::TestWithParam<const OpInfo*> {};

TEST_P(ShardingRules, EqualTheUndistributedResultOrAreRefused) {
  // Kernels on a few elements spend their time on waking threads.
  at::set_num_threads(1);
  const OpInfo& op = *GetParam();
  at::Generator generator = at::globalContext().defaultGenerator(at::kCPU).clone();
  generator.set_current_seed(kSeed);
  std::mt19937 random(kSeed);
  Tally tally;
  for (const OpSample& sample : op.samples(op)) {
    const Case test = makeCase(op, sample, generator);
    for (const auto& shape : std::vector<std::vector<int64_t>>{{1}, {2}, {3}, {2, 2}}) {
      checkOnMesh(test, DeviceMesh::fromShape(shape), random, tally);
    }
  }
  EXPECT_GT(tally.right, tally.refused) << "right " << tally.right << ", refused " << tally.refused;
  RecordProperty("right", static_cast<int>(tally.right));
  RecordProperty("refused", static_cast<int>(tally.refused));
}

INSTANTIATE_TEST_SUITE_P(AllOps, ShardingRules, ::testing::ValuesIn(opsWithTensors()),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace meshfuse
