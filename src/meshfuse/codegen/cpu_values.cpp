#include <algorithm>
#include <set>

#include "meshfuse/codegen/cpu_printer.h"
#include "meshfuse/codegen/device_text.h"
#include "meshfuse/codegen/number_text.h"
#include "meshfuse/codegen/value_text.h"

namespace meshfuse {

std::string CpuPrinter::valueText(NodeId id) {
  const Node& node = graph_.node(id);
  switch (node.kind) {
    case NodeKind::Read:
      return readText(node);
    case NodeKind::Count:
      return integer(slots_.count);
    case NodeKind::Fold:
      return convertedText(node.type, node.compute, foldText(id));
    case NodeKind::Pointwise:
      if (dividesByRowValue(node)) {
        return convertedText(node.type, node.compute,
                             "quotientBy(" + operandText(graph_, node.operands[0], node.compute) +
                                 ", " + operandText(graph_, node.operands[1], node.compute) + ")");
      }
      return computedText(graph_, node);
    default:
      return computedText(graph_, node);
  }
}

bool CpuPrinter::dividesByRowValue(const Node& node) const {
  return dividesFloats(node) && !varies(node.operands[1]) && varies(node.operands[0]);
}

bool CpuPrinter::varies(NodeId id) const {
  const LoopMask loops = graph_.node(id).loops;
  return (loops & kernel_.laneLoops) != 0;
}

std::string CpuPrinter::foldText(NodeId id) const {
  return name('f', id) + (kernel_.hasLaneAccumulators() ? "[j]" : "[0]");
}

std::string CpuPrinter::elementOf(const std::string& pointer, size_t tensor) const {
  switch (laneOf(tensor)) {
    case Step::None:
      return pointer + "[0]";
    case Step::Unit:
      return pointer + "[j]";
    default:
      return pointer + "[j * " + integer(slots_.strides[tensor].back()) + "]";
  }
}

std::string CpuPrinter::readText(const Node& node) {
  const auto tensor = static_cast<size_t>(node.index);
  const PrimType type = kernel_.tensors[tensor].type;
  const std::string element = elementOf(name(pointerLetter_, node.index), tensor);
  return deviceTypeName(type) == deviceComputeName(type)
             ? element
             : "convert<" + std::string(deviceComputeName(type)) + ">(" + element + ")";
}

void CpuPrinter::define(NodeId id) {
  const Node& node = graph_.node(id);
  const std::string wide = "const " + std::string(deviceComputeName(node.type)) + " ";
  if (isReducedFloat(node.type)) {
    // A store rounds by itself; rounding what is rounded would be done twice.
    line(wide + unroundedName(id) + " = " + valueText(id) + ";");
    line(wide + valueName(id) + " = " +
         (node.kind == NodeKind::Read ? unroundedName(id)
                                      : roundedText(node.type, unroundedName(id))) +
         ";");
  } else {
    line(wide + valueName(id) + " = " + valueText(id) + ";");
  }
  if (dividesIntegers(node)) {
    line("zero |= isZeroDivisor(" + operandText(graph_, node.operands.back(), node.compute) + ");");
  }
}

std::string CpuPrinter::storedText(const LoopStore& store) {
  const PrimType type = kernel_.tensors[static_cast<size_t>(store.tensor)].type;
  const std::string value =
      isReducedFloat(type) ? unroundedName(store.node) : valueName(store.node);
  return deviceTypeName(type) == deviceComputeName(type)
             ? value
             : "convert<" + std::string(deviceTypeName(type)) + ">(" + value + ")";
}

void CpuPrinter::restore(NodeId id, const std::string& element) {
  const PrimType type = graph_.node(id).type;
  line("const " + std::string(deviceComputeName(type)) + " " + valueName(id) + " = " + element +
       ";");
  if (isReducedFloat(type)) {
    line("const float " + unroundedName(id) + " = " + valueName(id) + ";");
  }
}

void CpuPrinter::restoreKept(const std::vector<NodeId>& users, const std::vector<NodeId>& own,
                             const std::string& base, const std::vector<LoopStore>& stores) {
  std::set<NodeId> needed;
  for (const LoopStore& store : stores) {
    if (isKept(store.node) && std::ranges::find(own, store.node) == own.end()) {
      needed.insert(store.node);
    }
  }
  for (NodeId user : users) {
    if (graph_.node(user).kind == NodeKind::Fold && &users == &own) {
      continue;
    }
    for (NodeId operand : graph_.node(user).operands) {
      if (isKept(operand) && std::ranges::find(own, operand) == own.end()) {
        needed.insert(operand);
      }
    }
  }
  for (NodeId id : needed) {
    restore(id, name('k', id) + "[" + base + "j]");
  }
}

bool CpuPrinter::isKept(NodeId id) const {
  return std::ranges::any_of(kernel_.sections, [&](const LoopSection& section) {
    return std::ranges::find(section.kept, id) != section.kept.end();
  });
}

}  // namespace meshfuse
