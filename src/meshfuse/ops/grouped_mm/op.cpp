#include "meshfuse/ops/grouped_mm/op.h"

#include "meshfuse/base/error.h"
#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/contraction.h"

namespace meshfuse::ops::grouped_mm {

namespace {

void checkContracted(const Fusion& fusion, const std::vector<Arg>& args) {
  const IterDomain& first = tensorArg(fusion, args[0]).domain.back();
  const TensorType& second = tensorArg(fusion, args[1]);
  if (stretches(first) != stretches(second.domain[second.domain.size() - 2])) {
    throwUser(ErrorKind::Runtime,
              {"grouped_mm", "the contracted dimension is a broadcast in both operands or neither",
               "got " + describe(fusion, args[0]) + " and " + describe(fusion, args[1]),
               "expand the broadcast one"});
  }
}

void normalize(const Fusion& fusion, std::vector<Arg>& args) {
  const int64_t rank1 = tensorArg(fusion, args[0]).rank();
  const int64_t rank2 = tensorArg(fusion, args[1]).rank();
  const bool fits = (rank1 == 2 || rank1 == 3) && (rank2 == 2 || rank2 == 3) && rank1 + rank2 < 6;
  if (!fits) {
    throwUser(ErrorKind::Runtime,
              {"grouped_mm", "operands have 2 and 2, 3 and 2, or 2 and 3 dimensions",
               "got " + describe(fusion, args[0]) + " and " + describe(fusion, args[1]),
               "use matmul for a batch of products"});
  }
  const TensorType& offsets = tensorArg(fusion, args[2]);
  if (offsets.rank() != 1 || offsets.dtype != PrimType::Int32) {
    throwUser(ErrorKind::Runtime,
              {"grouped_mm", "offsets has one dimension, of Int32",
               "got " + describe(fusion, args[2]), "pass the end of each group"});
  }
  checkContracted(fusion, args);
}

std::vector<PrimType> dtypes(const OpCall& call) {
  checkSameDtype("grouped_mm", call.tensors.first(2));
  return {call.tensors[0].dtype};
}

/// The dimension that groups divide is cut at positions of the whole of it, and a group's begin is its neighbour's end:
/// neither is sharded.
DimMap dimMap(const OpCall& call) {
  const auto& tensors = call.tensors;
  const int64_t rank1 = tensors[0].rank();
  const int64_t rank2 = tensors[1].rank();
  DimMap map;
  for (const TensorType& tensor : tensors) {
    map.inputs.emplace_back(tensor.domain.size());
  }
  const bool dividesK = rank1 == 2 && rank2 == 2;
  std::vector<DimFactors> output;
  if (dividesK) {
    output.push_back(ownDim(map, tensors, 2, 0, FactorRole::Opaque));
  } else {
    const size_t batched = rank1 == 3 ? 0 : 1;
    unifyExtents(tensors[batched].domain[0].extent, tensors[2].domain[0].extent, "grouped_mm",
                 "the number of groups");
    pairDims(map, tensors, batched, 0, 2, 0, FactorRole::Opaque, "grouped_mm",
             "the number of groups");
  }
  output.push_back(
      ownDim(map, tensors, 0, rank1 - 2, rank2 == 3 ? FactorRole::Opaque : FactorRole::Parallel));
  output.push_back(
      ownDim(map, tensors, 1, rank2 - 1, rank1 == 3 ? FactorRole::Opaque : FactorRole::Parallel));
  unifyExtents(tensors[0].domain[static_cast<size_t>(rank1) - 1].extent,
               tensors[1].domain[static_cast<size_t>(rank2) - 2].extent, "grouped_mm",
               "the contracted dimension");
  pairDims(map, tensors, 0, rank1 - 1, 1, rank2 - 2,
           dividesK ? FactorRole::Opaque : FactorRole::Reduced, "grouped_mm",
           "the contracted dimension");
  map.outputs = {std::move(output)};
  return map;
}

/// Linear in either matrix; the first is the one that the algebra can name beside the offsets.
Algebra algebra(const OpCall& /*call*/) { return Algebra::LinearInFirst; }

std::vector<OpSample> samples(const OpInfo& /*op*/) {
  // Equal offsets, since those drawn at random would not ascend: one group of that many, the rest empty.
  const auto sample = [](std::vector<int64_t> mat1, std::vector<int64_t> mat2, int64_t groups,
                         double end) {
    OpSample result = sampleOf({std::move(mat1), std::move(mat2)}, {{}, {}, {}}, {0, 1, 2});
    result.tensors.push_back({PrimType::Int32, {groups}, end, end + 0.5});
    return result;
  };
  return {sample({6, 4}, {4, 6}, 2, 3), sample({2, 6, 4}, {4, 6}, 2, 5),
          sample({6, 4}, {2, 4, 6}, 2, 4), sample({3, 5}, {3, 5, 5}, 3, 3)};
}

}  // namespace

OpInfo info() {
  OpInfo op;
  op.name = "grouped_mm";
  op.params = {
      {"mat1", ParamKind::Tensor}, {"mat2", ParamKind::Tensor}, {"offsets", ParamKind::Tensor}};
  op.overloads = {{op.params}};
  op.doc =
      "One matrix product a group, each ending at offsets of k ([m, k] x [k, n]), n ([g, m, k] x "
      "[k, n]) or m ([m, k] x [g, k, n]); 0 after the last; torch.nn.functional.grouped_mm";
  op.normalize = normalize;
  op.dtypes = dtypes;
  op.dimMap = dimMap;
  op.algebra = algebra;
  op.samples = samples;
  return op;
}

}  // namespace meshfuse::ops::grouped_mm
