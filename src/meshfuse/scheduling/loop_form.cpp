#include "meshfuse/scheduling/loop_form.h"

#include <array>
#include <cctype>
#include <unordered_map>

#include "meshfuse/ops/op_info.h"
#include "meshfuse/ops/structured_ops.h"

namespace meshfuse {

namespace ops {
#define MESHFUSE_STRUCTURED_OP(folder) \
  namespace folder {                   \
  LoopForm loopForm();                 \
  }
#include "meshfuse/ops/structured_ops.inc"
#undef MESHFUSE_STRUCTURED_OP
}  // namespace ops

namespace {

std::unordered_map<std::string_view, LoopForm> structuredForms() {
  return {
#define MESHFUSE_STRUCTURED_OP(folder) {#folder, ops::folder::loopForm()},
#include "meshfuse/ops/structured_ops.inc"
#undef MESHFUSE_STRUCTURED_OP
  };
}

}  // namespace

std::string_view nameOf(Fold fold) noexcept {
  static constexpr std::array<std::string_view, 8> kNames{
      "none", "sum", "product", "max", "min", "variance", "variance_mean", "welford"};
  return kNames[static_cast<size_t>(fold)];
}

int64_t workOf(const PointwiseRow& row) {
  // Calls of functions show in the device text as letters before a parenthesis; the rest is operators.
  const size_t call = row.device.find('(', 1);
  const bool isFunction = call != std::string_view::npos && call > 0 &&
                          std::isalpha(static_cast<unsigned char>(row.device[call - 1])) != 0;
  return isFunction ? 12 : 1;
}

LoopForm loopFormOf(const OpDescriptor& op) {
  static const std::unordered_map<std::string_view, LoopForm> kForms = structuredForms();
  const auto found = kForms.find(op.name);
  if (found != kForms.end()) {
    return found->second;
  }
  const OpInfo* info = findOp(op.name);
  if (info == nullptr || !info->isPointwise()) {
    return LoopForm::call();  // a resharding, which is no operation of the table
  }
  LoopForm form = LoopForm::elementwise();
  if (info->name == "set" || info->name == "segment_set") {
    form.cost = LoopForm::Cost::Little;
    form.endsKernel = info->name == "segment_set";
  }
  return form;
}

}  // namespace meshfuse
