#include "meshfuse/ops/scatter/op.h"

#include "meshfuse/base/error.h"
#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/contraction.h"
#include "meshfuse/ops/indexing.h"
#include "meshfuse/ops/structured_op.h"

namespace meshfuse::ops::scatter {

namespace {

bool isTensor(const Fusion& fusion, const Arg& arg) {
  const ValId* val = std::get_if<ValId>(&arg);
  return val != nullptr && fusion.val(*val).isTensor();
}

void normalize(const Fusion& fusion, std::vector<Arg>& args) {
  checkIndexDtype("scatter", fusion, args[1]);
  const bool hasSource = isTensor(fusion, args[2]);
  checkSameRank("scatter", fusion, {args.data(), hasSource ? size_t{3} : size_t{2}});
  if (!hasSource) {
    checkNumberFits("scatter", fusion, args[0], args[2]);
  }
  args[3] = Scalar(wrapDim("scatter", intArg(args[3]), tensorArg(fusion, args[0]).rank()));
}

std::vector<PrimType> dtypes(const OpCall& call) {
  const PrimType type = call.tensors[0].dtype;
  if (call.tensors.size() > 2 && call.tensors[2].dtype != type) {
    throwUser(ErrorKind::Runtime, {"scatter", "the source has the operand's dtype",
                                   "got " + std::string(nameOf(call.tensors[2].dtype)) + " for " +
                                       std::string(nameOf(type)),
                                   "cast one of them"});
  }
  return {type};
}

/// The operand, the index and the source share one parallel factor where all are known to be of one size: whatever the index
/// does not address there, it addresses on no rank.
DimFactors carriedDim(DimMap& map, const OpCall& call, int64_t dim) {
  const auto at = [&](size_t tensor) -> const IterDomain& {
    return call.tensors[tensor].domain[static_cast<size_t>(dim)];
  };
  bool isShared = !stretches(at(0));
  for (size_t tensor = 1; tensor < call.tensors.size(); ++tensor) {
    isShared = isShared && !stretches(at(tensor)) && at(tensor).extent == at(0).extent;
  }
  if (isShared) {
    const DimFactors factors{map.addFactor(at(0).extent)};
    for (std::vector<DimFactors>& input : map.inputs) {
      input[static_cast<size_t>(dim)] = factors;
    }
    return factors;
  }
  for (size_t tensor = 0; tensor < call.tensors.size(); ++tensor) {
    ownDim(map, call.tensors, tensor, dim, FactorRole::Opaque);
  }
  return map.inputs[0][static_cast<size_t>(dim)];
}

void checkFits(const OpCall& call, int64_t dim, size_t tensor, std::string_view what) {
  const auto size = [&](size_t of) {
    return call.tensors[of].domain[static_cast<size_t>(dim)].extent.asConstant();
  };
  if (size(1) && size(tensor) && *size(1) > *size(tensor)) {
    throwUser(
        ErrorKind::Runtime,
        {"scatter", "an index is no larger than the operand beside dim, nor than the source",
         "dimension " + std::to_string(dim) + " is " + std::to_string(*size(1)) +
             " in the index and " + std::to_string(*size(tensor)) + " in the " + std::string(what),
         "slice the index"});
  }
}

DimMap dimMap(const OpCall& call) {
  const int64_t scattered = intArg(call.args[3]);
  DimMap map;
  map.inputs.assign(call.tensors.size(), std::vector<DimFactors>(call.tensors[0].domain.size()));
  map.outputs.emplace_back();
  for (int64_t dim = 0; dim < call.tensors[0].rank(); ++dim) {
    if (call.tensors.size() > 2) {
      checkFits(call, dim, 2, "source");
    }
    if (dim != scattered) {
      checkFits(call, dim, 0, "operand");
      map.outputs[0].push_back(carriedDim(map, call, dim));
      continue;
    }
    for (size_t tensor = 0; tensor < call.tensors.size(); ++tensor) {
      ownDim(map, call.tensors, tensor, dim, FactorRole::Opaque);
    }
    map.outputs[0].push_back(map.inputs[0][static_cast<size_t>(dim)]);
  }
  return map;
}

std::vector<OpSample> samples(const OpInfo& /*op*/) {
  const auto sample = [](std::vector<int64_t> sizes, std::vector<int64_t> index,
                         std::vector<int64_t> src, int64_t dim) {
    const int64_t bound = sizes[static_cast<size_t>(dim)];
    OpSample result =
        indexSample(std::move(sizes), std::move(index), bound, {{}, {}, {}, Scalar(dim)});
    result.tensors.push_back({PrimType::Float, std::move(src), -2.0, 2.0});
    result.tensorArgs.push_back(2);
    return result;
  };
  return {sample({4, 6}, {4, 6}, {4, 6}, 0), sample({6, 5}, {6, 3}, {6, 4}, 1),
          sample({6, 4}, {2, 3}, {2, 3}, 0),
          indexSample({6, 4}, {6, 2}, 4, {{}, {}, Scalar(1.5), Scalar(1)}),
          indexSample({5, 3}, {1, 3}, 5, {{}, {}, Scalar(2), Scalar(0)})};
}

}  // namespace

OpInfo info() {
  OpInfo op = structuredOp(
      "scatter",
      "A copy of the operand with the source's elements, or one number, at positions index of dim; "
      "of two that meet either stays; torch.scatter",
      {{"arg", ParamKind::Tensor},
       {"index", ParamKind::Tensor},
       {"src", ParamKind::Operand},
       {"dim", ParamKind::Int}},
      {normalize, dtypes, dimMap, always<Algebra::NonLinear>, samples});
  takeAsValues(op, {"src"});
  return op;
}

}  // namespace meshfuse::ops::scatter
