#include "meshfuse/ops/reduction.h"

#include <algorithm>
#include <numeric>

#include "meshfuse/base/error.h"
#include "meshfuse/ops/arguments.h"

namespace meshfuse {

void setReductionParams(OpInfo& op) {
  const Param arg{"arg", ParamKind::Tensor};
  const Param keepdim{"keepdim", ParamKind::Bool, true, Scalar(false)};
  const Param dtype{"dtype", ParamKind::DataType, true, PrimType::Null};
  op.params = {arg, {"dims", ParamKind::Ints, true}, keepdim, dtype};
  op.overloads = {
      {{arg, dtype}},
      {{arg, {"dim", ParamKind::Int}, keepdim, dtype}},
      {{arg, {"dims", ParamKind::Ints}, keepdim, dtype}},
  };
}

void normalizeReductionDims(std::string_view op, const Fusion& fusion, std::vector<Arg>& args) {
  const int64_t rank = tensorArg(fusion, args[0]).rank();
  if (!isGiven(args[1])) {
    Ints all(static_cast<size_t>(rank));
    std::iota(all.begin(), all.end(), 0);
    args[1] = std::move(all);
  }
  const Ints& dims = intsArg(args[1]);
  if (dims.empty()) {
    throwUser(ErrorKind::Runtime,
              {op, "No reduction axis specified", "got no dims for " + describe(fusion, args[0]),
               rank == 0 ? "a 0-d tensor needs no reduction"
                         : "name at least one dim, or none at all for all dims"});
  }
  // Any dims reduce a 0-d operand to itself; [0] is the one form of them that can be written again.
  args[1] = rank == 0 ? Ints{0} : wrapDims(op, dims, rank, "Reduction axes are not unique");
  std::ranges::sort(std::get<Ints>(args[1]));
}

DimMap reductionDimMap(const OpCall& call, bool keepdim, FactorRole role, ReduceKind reduce,
                       size_t outputs) {
  const TensorType& tensor = call.tensors[0];
  const Ints& dims = intsArg(call.args[1]);
  DimMap map;
  map.inputs.emplace_back();
  std::vector<DimFactors> output;
  for (int64_t dim = 0; dim < tensor.rank(); ++dim) {
    const IterDomain& domain = tensor.domain[static_cast<size_t>(dim)];
    const bool reduced = std::ranges::find(dims, dim) != dims.end();
    DimFactors factors;
    if (!domain.isBroadcast || domain.isExpanded()) {
      factors = {reduced ? map.addFactor(domain.extent, role, reduce)
                         : map.addFactor(domain.extent)};
    }
    if (!reduced) {
      output.push_back(factors);
    } else if (keepdim) {
      output.emplace_back();
    }
    map.inputs[0].push_back(std::move(factors));
  }
  map.outputs.assign(outputs, output);
  return map;
}

std::vector<OpSample> reductionSamples() {
  const auto sample = [](std::vector<int64_t> sizes, Ints dims, bool keepdim) {
    return sampleOf({std::move(sizes)}, {{}, std::move(dims), Scalar(keepdim), {}}, {0});
  };
  return {sample({6, 4}, {0}, false),      sample({6, 4}, {-1}, true),
          sample({6, 4}, {0, 1}, false),   sample({5, 3}, {0}, false),
          sample({2, 3, 4}, {0, 2}, true), sample({1, 4}, {0}, false)};
}

}  // namespace meshfuse
