#include <algorithm>
#include <iterator>

#include "meshfuse/codegen/cpu_printer.h"
#include "meshfuse/codegen/device_text.h"
#include "meshfuse/codegen/number_text.h"
#include "meshfuse/codegen/value_text.h"

namespace meshfuse {

std::string CpuPrinter::tableOf(NodeId id) const {
  const auto tensors = static_cast<int64_t>(kernel_.addressCount());
  return "((" + std::string(deviceComputeName(graph_.node(id).compute)) + "*)p[" +
         std::to_string(tensors + 1 + partials_.at(id)) + "])";
}

std::string CpuPrinter::partialOf(NodeId id, const std::string& part) const {
  const std::string iteration = "(whole * " + integer(slots_.splits) + " + " + part + ")";
  return tableOf(id) + "[" +
         (kernel_.hasLaneAccumulators() ? iteration + " * " + integer(slots_.laneBlock) + " + j"
                                        : iteration) +
         "]";
}

void CpuPrinter::leavePartial(NodeId id) {
  if (!kernel_.hasLaneAccumulators()) {
    line(partialOf(id, "part") + " = " + name('f', id) + "[0];");
    return;
  }
  open("for (int64 j = 0; j < count; ++j)");
  line(partialOf(id, "part") + " = " + name('f', id) + "[j];");
  close();
}

void CpuPrinter::takePartials(NodeId id) {
  const std::string element = name('f', id) + (kernel_.hasLaneAccumulators() ? "[j]" : "[0]");
  open("for (int64 each = 0; each < " + integer(slots_.splits) + "; ++each)");
  if (kernel_.hasLaneAccumulators()) {
    open("for (int64 j = 0; j < count; ++j)");
  }
  line(element + " = " + combined(id, element, partialOf(id, "each")) + ";");
  if (kernel_.hasLaneAccumulators()) {
    close();
  }
  close();
}

std::string CpuPrinter::identityText(NodeId id) {
  const Node& node = graph_.node(id);
  return foldIdentity(node.fold, node.compute);
}

std::string CpuPrinter::combined(NodeId id, const std::string& a, const std::string& b) {
  const Node& node = graph_.node(id);
  const std::string type(deviceComputeName(node.compute));
  switch (node.fold) {
    case ReduceKind::Product:
      return a + " * " + b;
    case ReduceKind::Max:
      return std::string(node.kind == NodeKind::Scan ? "runningMaximum<" : "maximum<") + type +
             ">(" + a + ", " + b + ")";
    case ReduceKind::Min:
      return std::string(node.kind == NodeKind::Scan ? "runningMinimum<" : "minimum<") + type +
             ">(" + a + ", " + b + ")";
    default:
      return a + " + " + b;
  }
}

std::string CpuPrinter::termText(NodeId id, PrimType type) {
  const Node& node = graph_.node(id);
  const std::string operand = operandText(graph_, node.operands[0], type);
  return node.squares ? infix(operand, " * ", operand) : operand;
}

void CpuPrinter::combine(NodeId id, int lanes) {
  const std::string f = name('f', id);
  // Widths that the compiler knows become vectors and shuffles.
  for (int width = lanes / 2; width > 1; width /= 2) {
    open("for (int l = 0; l < " + std::to_string(width) + "; ++l)");
    line(f + "[l] = " + combined(id, f + "[l]", f + "[l + " + std::to_string(width) + "]") + ";");
    close();
  }
  line(f + "[0] = " + combined(id, f + "[0]", f + "[1]") + ";");
}

void CpuPrinter::retake(const LoopPass& pass) {
  std::vector<NodeId> folds;
  std::ranges::copy_if(pass.folds, std::back_inserter(folds),
                       [&](NodeId id) { return isRetaken(graph_.node(id)); });
  if (folds.empty()) {
    return;
  }
  std::string overflown;
  for (NodeId id : folds) {
    line("float " + name('h', id) + " = " + quotientText(id, name('f', id) + "[0]") + ";");
    overflown +=
        std::string(overflown.empty() ? "" : " | ") + "hasOverflown(" + name('f', id) + "[0])";
  }
  open("if (" + overflown + ")");
  for (NodeId id : folds) {
    line("double sum" + std::to_string(id) + " = 0;");
  }
  pointerLetter_ = 'a';
  beginScans(pass);
  openLoop("j", "0", "count");
  for (NodeId id : pass.restored) {
    restore(id, name('g', id) + "[j]");
  }
  for (NodeId id : pass.nodes) {
    define(id);
  }
  for (NodeId id : folds) {
    line("sum" + std::to_string(id) + " += " + termText(id, PrimType::Double) + ";");
  }
  close();
  for (NodeId id : folds) {
    const std::string divisor = operandText(graph_, graph_.node(id).operands[1], PrimType::Double);
    line(name('h', id) + " = convert<float>(sum" + std::to_string(id) + " / " + divisor + ");");
  }
  close();
}

std::string CpuPrinter::quotientText(NodeId id, const std::string& fold) const {
  const Node& node = graph_.node(id);
  return node.operands.size() == 1
             ? fold
             : fold + " / " + operandText(graph_, node.operands[1], node.compute);
}

}  // namespace meshfuse
