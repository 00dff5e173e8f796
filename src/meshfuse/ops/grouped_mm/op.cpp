#include "meshfuse/ops/grouped_mm/op.h"

#include <algorithm>
#include <string>
#include <utility>

#include "meshfuse/base/error.h"
#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/contraction.h"
#include "meshfuse/ops/scaled_product.h"
#include "meshfuse/ops/structured_op.h"

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

constexpr size_t kScale1 = 3;
constexpr size_t kScale2 = 4;
constexpr ScaledArgs kRest{5};

bool isScaled(std::span<const Arg> args) { return isGiven(args[kScale1]); }

/// A scale has the rank of its matrix or of the result, whichever is greater, and one number for all of the contracted
/// dimension.
void checkScales(const Fusion& fusion, const std::vector<Arg>& args) {
  constexpr size_t kMatrices[] = {0, 1};
  constexpr size_t kScales[] = {kScale1, kScale2};
  checkScaledProduct("grouped_mm", fusion, args, kMatrices, kScales, kRest);
  const int64_t rank1 = tensorArg(fusion, args[0]).rank();
  const int64_t rank2 = tensorArg(fusion, args[1]).rank();
  const int64_t resultRank = rank1 == rank2 ? 3 : 2;
  for (size_t matrix : kMatrices) {
    const Arg& arg = args[kScales[matrix]];
    const TensorType& scale = tensorArg(fusion, arg);
    const int64_t rank = std::max(matrix == 0 ? rank1 : rank2, resultRank);
    if (scale.rank() != rank || !stretches(scale.domain[scale.domain.size() - 1 - matrix])) {
      throwUser(
          ErrorKind::Runtime,
          {"grouped_mm",
           "a scale has the rank of its matrix or of the result, whichever is greater, and "
           "size 1 in place of k",
           "got " + describe(fusion, arg) + " where rank " + std::to_string(rank) + " is expected",
           matrix == 0 ? "pass [m, 1] or [g, m, 1]" : "pass [1, n] or [g, 1, n]"});
    }
  }
  if (isGiven(args[kRest.alpha]) || isGiven(args[kRest.bias()]) || isGiven(args[kRest.beta()])) {
    throwUser(ErrorKind::Runtime,
              {"grouped_mm", "the groups' products are scaled by scale1 and scale2 alone",
               "got alpha, bias or beta", "multiply and add them to the result"});
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
  if (isGiven(args[kScale1]) != isGiven(args[kScale2])) {
    throwUser(ErrorKind::Runtime, {"grouped_mm", "scale1 and scale2 are given together",
                                   "got one of them", "pass both or neither"});
  }
  if (isScaled(args)) {
    checkScales(fusion, args);
  }
}

std::vector<PrimType> dtypes(const OpCall& call) {
  if (isScaled(call.args)) {
    return {std::get<PrimType>(call.args[kRest.dtype()])};
  }
  checkSameDtype("grouped_mm", call.tensors.first(2));
  checkProductType("grouped_mm", call.tensors[0].dtype);
  return {call.tensors[0].dtype};
}

/// Gives a dimension of a scale the factors of the dimension that it scales, unless it is one number for all of it.
void mapScaleDim(DimMap& map, const OpCall& call, size_t scale, size_t dim, size_t operand,
                 int64_t scaledDim) {
  const IterDomain& domain = call.tensors[scale].domain[dim];
  if (stretches(domain)) {
    return;
  }
  unifyExtents(call.tensors[operand].domain[static_cast<size_t>(scaledDim)].extent, domain.extent,
               "grouped_mm", "a scale and what it scales");
  map.inputs[scale][dim] = map.inputs[operand][static_cast<size_t>(scaledDim)];
}

/// Scales are [m, 1] and [1, n], with the groups in front where their matrix or the result has them.
void mapScales(DimMap& map, const OpCall& call) {
  const int64_t rank1 = call.tensors[0].rank();
  const int64_t rank2 = call.tensors[1].rank();
  const size_t grouped = rank1 == 3 ? 0 : rank2 == 3 ? 1 : 2;
  for (size_t scale : {kScale1, kScale2}) {
    if (call.tensors[scale].rank() == 3) {
      mapScaleDim(map, call, scale, 0, grouped, 0);
    }
  }
  mapScaleDim(map, call, kScale1, call.tensors[kScale1].domain.size() - 2, 0, rank1 - 2);
  mapScaleDim(map, call, kScale2, call.tensors[kScale2].domain.size() - 1, 1, rank2 - 1);
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
  if (isScaled(call.args)) {
    mapScales(map, call);
  }
  map.outputs = {std::move(output)};
  return map;
}

/// Linear in either matrix; the first is the one that the algebra can name beside the offsets.
Algebra algebra(const OpCall& call) {
  return isScaled(call.args) ? Algebra::NonLinear : Algebra::LinearInFirst;
}

std::vector<OpSample> samples(const OpInfo& op) {
  // Equal offsets, since those drawn at random would not ascend: one group of that many, the rest empty.
  const auto sample = [&](std::vector<int64_t> mat1, std::vector<int64_t> mat2, int64_t groups,
                          double end) {
    OpSample result = sampleOf({std::move(mat1), std::move(mat2)}, {}, {0, 1, 2});
    for (const Param& param : op.params) {
      result.args.push_back(param.defaultValue);
    }
    result.tensors.push_back({PrimType::Int32, {groups}, end, end + 0.5});
    return result;
  };
  const auto scaled = [&](OpSample result, std::vector<int64_t> scale1,
                          std::vector<int64_t> scale2) {
    result.args[kRest.dtype()] = PrimType::Float;
    result.tensors.push_back({PrimType::Float, std::move(scale1)});
    result.tensors.push_back({PrimType::Float, std::move(scale2)});
    result.tensorArgs = {0, 1, 2, kScale1, kScale2};
    return result;
  };
  const OpSample dividesK = sample({6, 4}, {4, 6}, 2, 3);
  const OpSample dividesN = sample({2, 6, 4}, {4, 6}, 2, 5);
  const OpSample dividesM = sample({6, 4}, {2, 4, 6}, 2, 4);
  return {dividesK,
          dividesN,
          dividesM,
          sample({3, 5}, {3, 5, 5}, 3, 3),
          scaled(dividesK, {2, 6, 1}, {2, 1, 6}),
          scaled(dividesN, {2, 6, 1}, {1, 6}),
          scaled(dividesM, {6, 1}, {2, 1, 6}),
          scaled(dividesM, {1, 1}, {1, 1, 6})};
}

}  // namespace

OpInfo info() {
  std::vector<Param> params = {{"mat1", ParamKind::Tensor},
                               {"mat2", ParamKind::Tensor},
                               {"offsets", ParamKind::Tensor},
                               {"scale1", ParamKind::Tensor, true},
                               {"scale2", ParamKind::Tensor, true}};
  const std::vector<Param> rest = scaledParams();
  params.insert(params.end(), rest.begin(), rest.end());
  OpInfo op = structuredOp(
      "grouped_mm",
      "One matrix product a group, each ending at offsets of k ([m, k] x [k, n]), n ([g, m, k] x "
      "[k, n]) or m ([m, k] x [g, k, n]); 0 after the last; with scales the rows and columns of "
      "each product, computed in Float, are multiplied by them, and the second and the third "
      "result are None; torch.nn.functional.grouped_mm and torch._scaled_grouped_mm",
      std::move(params), {normalize, dtypes, dimMap, algebra, samples});
  Overload scaled{op.params};
  scaled.params[kScale1].optional = false;
  scaled.params[kScale2].optional = false;
  scaled.absentResults = 2;
  op.overloads = {{{op.params.begin(), op.params.begin() + kScale1}}, std::move(scaled)};
  return op;
}

}  // namespace meshfuse::ops::grouped_mm
