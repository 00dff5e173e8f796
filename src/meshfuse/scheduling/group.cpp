#include "meshfuse/scheduling/group.h"

#include <algorithm>

#include "meshfuse/base/text.h"

namespace meshfuse {

namespace {

std::string loopsText(const DimLoops& loops) {
  std::vector<std::string> names;
  for (const std::vector<LoopId>& dim : loops) {
    std::vector<std::string> parts;
    for (LoopId loop : dim) {
      parts.push_back("l" + std::to_string(loop));
    }
    names.push_back(parts.empty() ? "." : joinText(parts, "*"));
  }
  return "[" + joinText(names, ", ") + "]";
}

std::string callText(const Fusion& fusion, const GroupCall& call) {
  const Expr& expr = fusion.expr(call.expr);
  std::vector<std::string> results;
  for (size_t i = 0; i < expr.outputs.size(); ++i) {
    results.push_back(fusion.nameOf(expr.outputs[i]) +
                      (call.outputs.empty() ? "" : loopsText(call.outputs[i])));
  }
  std::vector<std::string> operands;
  size_t tensor = 0;
  for (ValId val : inputsOf(expr)) {
    const bool hasLoops = fusion.val(val).isTensor() && !call.operands.empty();
    operands.push_back(fusion.nameOf(val) + (hasLoops ? loopsText(call.operands[tensor++]) : ""));
  }
  return joinText(results, ", ") + " = " + std::string(expr.op->name) + "(" +
         joinText(operands, ", ") + ")";
}

}  // namespace

bool Group::isReduction() const noexcept {
  return std::ranges::any_of(loops, &GroupLoop::isReduced);
}

std::string toText(const Fusion& fusion, const Group& group) {
  std::vector<std::string> loops;
  for (size_t i = 0; i < group.loops.size(); ++i) {
    loops.push_back("l" + std::to_string(i) + (group.loops[i].isReduced ? ": reduced" : ""));
  }
  std::vector<std::string> calls;
  for (const GroupCall& call : group.calls) {
    calls.push_back(callText(fusion, call));
  }
  std::vector<std::string> outputs;
  for (ValId val : group.outputs) {
    outputs.push_back(fusion.nameOf(val));
  }
  const std::string_view kind = group.kind == GroupKind::Kernel ? "kernel"
                                : group.kind == GroupKind::Call ? "call"
                                                                : "reshard";
  return std::string(kind) +
         (group.kind == GroupKind::Kernel ? " [" + joinText(loops, ", ") + "]" : "") + " " +
         joinText(calls, "; ") + " -> " + joinText(outputs, ", ");
}

}  // namespace meshfuse
