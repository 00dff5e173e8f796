#include "meshfuse/ops/stride_order/op.h"

#include <algorithm>

#include "meshfuse/base/error.h"
#include "meshfuse/base/text.h"
#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/contraction.h"
#include "meshfuse/ops/structured_op.h"

namespace meshfuse::ops::stride_order {

namespace {

void normalize(const Fusion& fusion, std::vector<Arg>& args) {
  const int64_t rank = tensorArg(fusion, args[0]).rank();
  const Ints& order = intsArg(args[1]);
  const auto refuse = [&](std::string_view rule) {
    throwUser(ErrorKind::Runtime,
              {"stride_order", rule, "got " + toText(order) + " for " + describe(fusion, args[0]),
               "give each dimension its position in memory, 0 for the innermost"});
  };
  if (order.empty()) {
    return;
  }
  if (static_cast<int64_t>(order.size()) != rank) {
    refuse("stride_order must have an entry for each dimension");
  }
  if (std::ranges::any_of(order, [&](int64_t place) { return place < 0 || place >= rank; })) {
    refuse("stride_order entry is out of range");
  }
  Ints sorted = order;
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) != sorted.end()) {
    refuse("duplicated stride_order entries");
  }
}

DimMap dimMap(const OpCall& call) {
  DimMap map;
  map.inputs.emplace_back(call.tensors[0].domain.size());
  map.outputs.emplace_back();
  for (int64_t dim = 0; dim < call.tensors[0].rank(); ++dim) {
    map.outputs[0].push_back(ownDim(map, call.tensors, 0, dim));
  }
  return map;
}

std::vector<OpSample> samples(const OpInfo& /*op*/) {
  return {
      sampleOf({{6, 4}}, {{}, Ints{0, 1}}, {0}),
      sampleOf({{2, 3, 4}}, {{}, Ints{2, 0, 1}}, {0}),
      sampleOf({{5, 1}}, {{}, Ints{0, 1}}, {0}),
      sampleOf({{6, 3}}, {{}, Ints{}}, {0}),
  };
}

}  // namespace

OpInfo info() {
  return structuredOp(
      "stride_order",
      "A copy without gaps whose dimension d is the stride_order[d]-th from the innermost in "
      "memory; torch.Tensor.permute and torch.Tensor.contiguous",
      {{"arg", ParamKind::Tensor}, {"stride_order", ParamKind::Ints}},
      {normalize, dtypeOfFirst, dimMap, always<Algebra::Movement>, samples});
}

}  // namespace meshfuse::ops::stride_order
