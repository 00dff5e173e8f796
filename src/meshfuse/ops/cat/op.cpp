#include "meshfuse/ops/cat/op.h"

#include "meshfuse/base/error.h"
#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/infer.h"

namespace meshfuse::ops::cat {

namespace {

[[noreturn]] void refuse(std::string_view rule, const std::string& found, std::string_view wayOut) {
  throwUser(ErrorKind::Runtime, {"cat", rule, found, wayOut});
}

void normalize(const Fusion& fusion, std::vector<Arg>& args) {
  const std::vector<TensorType> tensors = tensorOperands(fusion, args);
  if (tensors.empty()) {
    refuse("No input tensor given", "got []", "pass at least one tensor");
  }
  const int64_t rank = tensors.front().rank();
  for (const TensorType& tensor : tensors) {
    if (tensor.rank() != rank) {
      refuse("Unexpected number of dimensions",
             "got " + toText(tensors.front()) + " and " + toText(tensor),
             "pass tensors of one rank");
    }
  }
  const int64_t dim = intArg(args[1]);
  if (dim < -rank || dim >= rank) {
    refuse("Invalid dimension to cat",
           "got dim " + std::to_string(dim) + " for tensors of rank " + std::to_string(rank),
           "name one of their dimensions");
  }
  args[1] = Scalar(dim < 0 ? dim + rank : dim);
  checkSameDtype("cat", tensors);
}

std::vector<PrimType> dtypes(const OpCall& call) { return {call.tensors[0].dtype}; }

/// The dimension along which the tensors follow each other, whole in each.
DimFactors joinedDim(const OpCall& call, DimMap& map, size_t dim) {
  IntExpr total = 0;
  for (size_t i = 0; i < call.tensors.size(); ++i) {
    const IntExpr& extent = call.tensors[i].domain[dim].extent;
    map.inputs[i][dim] = {map.addFactor(extent, FactorRole::Opaque)};
    total = total + extent;
  }
  return opaqueDim(map, total);
}

/// Any other dimension: the same in all. Declared broadcasts do not stretch here.
DimFactors commonDim(const OpCall& call, DimMap& map, size_t dim) {
  IntExpr extent = call.tensors[0].domain[dim].extent;
  for (const TensorType& tensor : call.tensors) {
    extent =
        unifyExtents(extent, tensor.domain[dim].extent, "cat", "dimension " + std::to_string(dim));
  }
  const DimFactors factors{map.addFactor(extent)};
  for (std::vector<DimFactors>& input : map.inputs) {
    input[dim] = factors;
  }
  return factors;
}

DimMap dimMap(const OpCall& call) {
  const auto rank = static_cast<size_t>(call.tensors[0].rank());
  const auto joined = static_cast<size_t>(intArg(call.args[1]));
  DimMap map;
  map.inputs.assign(call.tensors.size(), std::vector<DimFactors>(rank));
  map.outputs.emplace_back();
  for (size_t dim = 0; dim < rank; ++dim) {
    map.outputs[0].push_back(dim == joined ? joinedDim(call, map, dim) : commonDim(call, map, dim));
  }
  return map;
}

/// Partial values of all operands together are partial values of the result.
Algebra algebra(const OpCall& /*call*/) { return Algebra::Movement; }

OpSample sample(const std::vector<std::vector<int64_t>>& sizes, int64_t dim) {
  OpSample result = sampleOf(sizes, {{}, Scalar(dim)}, {});
  result.tensorArgs.assign(sizes.size(), 0);
  return result;
}

std::vector<OpSample> samples(const OpInfo& /*op*/) {
  return {sample({{6, 4}, {3, 4}}, 0), sample({{6, 4}, {6, 1}, {6, 5}}, 1), sample({{6}}, 0),
          sample({{0, 6}, {2, 6}}, 0)};
}

}  // namespace

OpInfo info() {
  OpInfo op;
  op.name = "cat";
  op.params = {{"tensors", ParamKind::Tensors}, {"dim", ParamKind::Int, true, Scalar(0)}};
  op.overloads = {{op.params}};
  op.doc = "The tensors one after the other along a dimension; torch.cat";
  op.normalize = normalize;
  op.dtypes = dtypes;
  op.dimMap = dimMap;
  op.algebra = algebra;
  op.samples = samples;
  return op;
}

}  // namespace meshfuse::ops::cat
