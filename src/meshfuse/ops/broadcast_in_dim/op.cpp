#include "meshfuse/ops/broadcast_in_dim/op.h"

#include <algorithm>

#include "meshfuse/base/error.h"
#include "meshfuse/base/text.h"
#include "meshfuse/ops/arguments.h"

namespace meshfuse::ops::broadcast_in_dim {

namespace {

constexpr std::string_view kName = "broadcast_in_dim";

void checkShape(const Ints& shape) {
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] < -1) {
      throwUser(ErrorKind::Runtime, {kName, "a size is -1 (keep) or not negative",
                                     "got " + std::to_string(shape[i]) + " at index " +
                                         std::to_string(i) + " of " + toText(shape),
                                     "use -1 to keep the operand's size"});
    }
  }
}

void normalize(const Fusion& fusion, std::vector<Arg>& args) {
  const int64_t rank = tensorArg(fusion, args[0]).rank();
  const Ints& shape = intsArg(args[1]);
  const Ints& dims = intsArg(args[2]);
  checkShape(shape);
  if (static_cast<int64_t>(dims.size()) != rank || static_cast<int64_t>(shape.size()) < rank) {
    throwUser(ErrorKind::Runtime,
              {kName, "broadcast_dims names one output dimension for each dimension of the operand",
               "got shape " + toText(shape) + " and broadcast_dims " + toText(dims) + " for " +
                   describe(fusion, args[0]),
               "pass " + std::to_string(rank) + " broadcast_dims and at least as many sizes"});
  }
  Ints wrapped =
      wrapDims(kName, dims, static_cast<int64_t>(shape.size()), "broadcast_dims are not unique");
  // Dimensions are placed in the order of the operand: broadcast_dims names places and permutes nothing.
  std::ranges::sort(wrapped);
  args[2] = std::move(wrapped);
}

std::vector<PrimType> dtypes(const OpCall& call) { return {call.tensors[0].dtype}; }

[[noreturn]] void refuseKeep(size_t position, const Ints& shape) {
  throwUser(ErrorKind::Runtime,
            {kName, "-1 keeps the size of an operand's dimension",
             "dimension " + std::to_string(position) + " of " + toText(shape) + " is new",
             "give the new dimension a size"});
}

/// The factors of output dimension `position` that operand dimension `domain` becomes.
DimFactors mapDim(DimMap& map, const IterDomain& domain, int64_t size, size_t position,
                  DimFactors& input) {
  const bool stretches = domain.isBroadcast && !domain.isExpanded();
  if (stretches) {
    return size == 1 || size == -1 ? DimFactors{} : DimFactors{map.addFactor(size)};
  }
  const IntExpr extent = size == -1 ? domain.extent
                                    : unifyExtents(domain.extent, size, kName,
                                                   "dimension " + std::to_string(position));
  input = {map.addFactor(extent)};
  return input;
}

DimMap dimMap(const OpCall& call) {
  const TensorType& tensor = call.tensors[0];
  const Ints& shape = intsArg(call.args[1]);
  const Ints& dims = intsArg(call.args[2]);
  DimMap map;
  map.inputs.emplace_back(tensor.domain.size());
  map.outputs.emplace_back();
  for (size_t position = 0; position < shape.size(); ++position) {
    const auto found = std::ranges::find(dims, static_cast<int64_t>(position));
    if (found != dims.end()) {
      const auto dim = static_cast<size_t>(found - dims.begin());
      map.outputs[0].push_back(
          mapDim(map, tensor.domain[dim], shape[position], position, map.inputs[0][dim]));
    } else if (shape[position] == -1) {
      refuseKeep(position, shape);
    } else {
      map.outputs[0].push_back(shape[position] == 1 ? DimFactors{}
                                                    : DimFactors{map.addFactor(shape[position])});
    }
  }
  return map;
}

Algebra algebra(const OpCall& /*call*/) { return Algebra::Movement; }

std::vector<OpSample> samples(const OpInfo& /*op*/) {
  return {
      sampleOf({{6}}, {{}, Ints{6, 3}, Ints{0}}, {0}),
      sampleOf({{4}}, {{}, Ints{2, -1}, Ints{1}}, {0}),
      sampleOf({{5, 1}}, {{}, Ints{5, 1, 4}, Ints{0, 2}}, {0}),
      sampleOf({{}}, {{}, Ints{2, 3}, Ints{}}, {0}),
  };
}

}  // namespace

OpInfo info() {
  OpInfo op;
  op.name = kName;
  op.params = {
      {"arg", ParamKind::Tensor}, {"shape", ParamKind::Ints}, {"broadcast_dims", ParamKind::Ints}};
  op.overloads = {{op.params}};
  op.doc =
      "Places the operand's dimensions among new ones and stretches to a shape; "
      "jax.lax.broadcast_in_dim";
  op.normalize = normalize;
  op.dtypes = dtypes;
  op.dimMap = dimMap;
  op.algebra = algebra;
  op.samples = samples;
  return op;
}

}  // namespace meshfuse::ops::broadcast_in_dim
