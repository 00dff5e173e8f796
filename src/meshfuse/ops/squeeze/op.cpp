#include "meshfuse/ops/squeeze/op.h"

#include <algorithm>

#include "meshfuse/base/error.h"
#include "meshfuse/base/text.h"
#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/contraction.h"
#include "meshfuse/ops/structured_op.h"

namespace meshfuse::ops::squeeze {

namespace {

void normalize(const Fusion& fusion, std::vector<Arg>& args) {
  const int64_t rank = tensorArg(fusion, args[0]).rank();
  const Ints& dims = intsArg(args[1]);
  const auto refuse = [&](std::string_view rule) {
    throwUser(ErrorKind::Runtime,
              {"squeeze", rule, "got dims " + toText(dims) + " for " + describe(fusion, args[0]),
               "name dimensions of size 1, each once"});
  };
  if (static_cast<int64_t>(dims.size()) > rank) {
    refuse("the number of dims to squeeze must be <= the number of dims of the operand");
  }
  if (std::ranges::any_of(dims, [&](int64_t dim) { return dim < -rank || dim >= rank; })) {
    refuse("Squeeze dim is outside of Tensor size!");
  }
  args[1] = wrapDims("squeeze", dims, rank, "Squeeze dims are not unique");
}

/// Refuses a dimension that is known to hold more than one element; a symbolic size waits for the call's.
void checkRemovable(const OpCall& call, int64_t dim) {
  const IterDomain& domain = call.tensors[0].domain[static_cast<size_t>(dim)];
  const auto refuse = [&](const std::string& kind, std::string_view wayOut) {
    throwUser(ErrorKind::Runtime, {"squeeze", "Can not squeeze a dimension that is not of size 1",
                                   "dimension " + std::to_string(dim) + " of " +
                                       toText(call.tensors[0]) + " is " + kind,
                                   wayOut});
  };
  if (domain.isExpanded()) {
    if (!boolArg(call.args[2])) {
      refuse("an expanded broadcast of size " + domain.extent.toText(),
             "pass squeeze_expanded=True to take one of its equal elements");
    }
  } else if (domain.extent.isConstant() && domain.extent != IntExpr(1)) {
    refuse("of size " + domain.extent.toText(), "select or reduce it instead");
  }
}

DimMap dimMap(const OpCall& call) {
  const Ints& dims = intsArg(call.args[1]);
  DimMap map;
  map.inputs.emplace_back(call.tensors[0].domain.size());
  map.outputs.emplace_back();
  for (int64_t dim = 0; dim < call.tensors[0].rank(); ++dim) {
    if (std::ranges::find(dims, dim) == dims.end()) {
      map.outputs[0].push_back(ownDim(map, call.tensors, 0, dim));
    } else {
      checkRemovable(call, dim);
      ownDim(map, call.tensors, 0, dim, FactorRole::Opaque);
    }
  }
  return map;
}

std::vector<OpSample> samples(const OpInfo& /*op*/) {
  const auto sample = [](std::vector<int64_t> sizes, Ints dims) {
    return sampleOf({std::move(sizes)}, {{}, std::move(dims), Scalar(false)}, {0});
  };
  return {sample({6, 1, 4}, {1}), sample({1, 5, 1}, {0, -1}), sample({1, 1}, {0, 1}),
          sample({6, 3}, {})};
}

}  // namespace

OpInfo info() {
  return structuredOp(
      "squeeze",
      "Removes dims of size 1, and expanded ones with squeeze_expanded=True; torch.squeeze",
      {{"arg", ParamKind::Tensor},
       {"dims", ParamKind::Ints},
       {"squeeze_expanded", ParamKind::Bool, true, Scalar(false)}},
      {normalize, dtypeOfFirst, dimMap, always<Algebra::Movement>, samples});
}

}  // namespace meshfuse::ops::squeeze
