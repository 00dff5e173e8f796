#include "meshfuse/ops/indexing.h"

#include <utility>

#include "meshfuse/base/error.h"
#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/contraction.h"

namespace meshfuse {

void checkIndexDtype(std::string_view op, const Fusion& fusion, const Arg& index) {
  const PrimType dtype = tensorArg(fusion, index).dtype;
  if (dtype != PrimType::Int && dtype != PrimType::Int32) {
    throwUser(ErrorKind::Runtime, {op, "an index is a tensor of Int or Int32",
                                   "got " + describe(fusion, index), "cast it to DataType.Int"});
  }
}

void checkSameRank(std::string_view op, const Fusion& fusion, std::span<const Arg> operands) {
  for (const Arg& operand : operands) {
    if (tensorArg(fusion, operand).rank() != tensorArg(fusion, operands.front()).rank()) {
      throwUser(ErrorKind::Runtime,
                {op, "operands have the same rank",
                 "got " + describe(fusion, operands.front()) + " and " + describe(fusion, operand),
                 "broadcast or reshape one of them"});
    }
  }
}

DimFactors pairLeadingPart(DimMap& map, std::span<const TensorType> tensors, size_t whole,
                           size_t part, int64_t dim, std::string_view op) {
  const IterDomain& domain = tensors[whole].domain[static_cast<size_t>(dim)];
  const IterDomain& partDomain = tensors[part].domain[static_cast<size_t>(dim)];
  if (!stretches(domain) && !stretches(partDomain) && domain.extent == partDomain.extent) {
    const DimFactors factors{map.addFactor(domain.extent)};
    map.inputs[whole][static_cast<size_t>(dim)] = factors;
    map.inputs[part][static_cast<size_t>(dim)] = factors;
    return factors;
  }
  const std::optional<int64_t> size = domain.extent.asConstant();
  const std::optional<int64_t> partSize = partDomain.extent.asConstant();
  if (size && partSize && *partSize > *size) {
    throwUser(ErrorKind::Runtime,
              {op, "an index is no larger than what it addresses, but in the indexed dimension",
               "dimension " + std::to_string(dim) + " is " + std::to_string(*partSize) +
                   " in the index and " + std::to_string(*size) + " beside it",
               "slice the index"});
  }
  ownDim(map, tensors, whole, dim, FactorRole::Opaque);
  return ownDim(map, tensors, part, dim, FactorRole::Opaque);
}

DimMap takenDimMap(const OpCall& call, CarryDim carry) {
  const int64_t taken = intArg(call.args[2]);
  DimMap map;
  map.inputs.assign(2, std::vector<DimFactors>(call.tensors[0].domain.size()));
  map.outputs.emplace_back();
  for (int64_t dim = 0; dim < call.tensors[0].rank(); ++dim) {
    if (dim == taken) {
      ownDim(map, call.tensors, 0, dim, FactorRole::Opaque);
      map.outputs[0].push_back(ownDim(map, call.tensors, 1, dim));
    } else {
      map.outputs[0].push_back(carry(call, map, dim));
    }
  }
  return map;
}

OpInfo takingOp(std::string_view name, std::string_view doc, const OpRules& rules) {
  return structuredOp(
      name, doc,
      {{"arg", ParamKind::Tensor}, {"index", ParamKind::Tensor}, {"dim", ParamKind::Int}}, rules);
}

void normalizeTaking(std::string_view op, const Fusion& fusion, std::vector<Arg>& args) {
  checkIndexDtype(op, fusion, args[1]);
  checkSameRank(op, fusion, {args.data(), 2});
  args[2] = Scalar(wrapDim(op, intArg(args[2]), tensorArg(fusion, args[0]).rank()));
}

OpSample takingSample(std::vector<int64_t> sizes, std::vector<int64_t> indexSizes, int64_t dim) {
  const int64_t bound = sizes[static_cast<size_t>(dim)];
  return indexSample(std::move(sizes), std::move(indexSizes), bound, {{}, {}, Scalar(dim)});
}

OpSample indexSample(std::vector<int64_t> sizes, std::vector<int64_t> indexSizes, int64_t bound,
                     std::vector<Arg> args) {
  OpSample sample;
  sample.tensors = {
      {PrimType::Float, std::move(sizes), -2.0, 2.0},
      {PrimType::Int, std::move(indexSizes), 0.0, static_cast<double>(bound)},
  };
  sample.args = std::move(args);
  sample.tensorArgs = {0, 1};
  return sample;
}

}  // namespace meshfuse
