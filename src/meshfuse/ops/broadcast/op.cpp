#include "meshfuse/ops/broadcast/op.h"

#include <algorithm>

#include "meshfuse/base/error.h"
#include "meshfuse/base/text.h"
#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/contraction.h"
#include "meshfuse/ops/structured_op.h"

namespace meshfuse::ops::broadcast {

namespace {

void normalize(const Fusion& fusion, std::vector<Arg>& args) {
  const int64_t rank = tensorArg(fusion, args[0]).rank();
  const Ints& flags = intsArg(args[1]);
  const auto refuse = [&](std::string_view rule) {
    throwUser(ErrorKind::Runtime,
              {"broadcast", rule, "got " + toText(flags) + " for " + describe(fusion, args[0]),
               "pass True for each new dimension and False for each of the operand's " +
                   std::to_string(rank)});
  };
  if (std::ranges::any_of(flags, [](int64_t flag) { return flag != 0 && flag != 1; })) {
    refuse("Invalid broadcast, flags are True and False");
  }
  if (std::ranges::count(flags, 0) != rank) {
    refuse("Invalid broadcast, the number of False entries is the operand's rank");
  }
}

DimMap dimMap(const OpCall& call) {
  DimMap map;
  map.inputs.emplace_back(call.tensors[0].domain.size());
  map.outputs.emplace_back();
  int64_t dim = 0;
  for (int64_t isNew : intsArg(call.args[1])) {
    map.outputs[0].push_back(isNew != 0 ? DimFactors{} : ownDim(map, call.tensors, 0, dim++));
  }
  return map;
}

std::vector<OpSample> samples(const OpInfo& /*op*/) {
  return {
      sampleOf({{6, 4}}, {{}, Ints{0, 1, 0}}, {0}),
      sampleOf({{5, 1}}, {{}, Ints{1, 0, 0, 1}}, {0}),
      sampleOf({{}}, {{}, Ints{1, 1}}, {0}),
      sampleOf({{6}}, {{}, Ints{0}}, {0}),
  };
}

}  // namespace

OpInfo info() {
  return structuredOp(
      "broadcast", "Inserts a dimension of size 1 where is_broadcast_dim is True; torch.unsqueeze",
      {{"arg", ParamKind::Tensor}, {"is_broadcast_dim", ParamKind::Ints}},
      {normalize, dtypeOfFirst, dimMap, always<Algebra::Movement>, samples});
}

}  // namespace meshfuse::ops::broadcast
