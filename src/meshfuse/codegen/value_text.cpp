#include "meshfuse/codegen/value_text.h"

#include "meshfuse/base/error.h"
#include "meshfuse/codegen/device_text.h"
#include "meshfuse/codegen/number_text.h"
#include "meshfuse/ops/pointwise.h"

namespace meshfuse {

namespace {

std::string pointwiseText(const KernelGraph& graph, const Node& node) {
  const PointwiseRow& row = pointwiseRows()[static_cast<size_t>(node.index)];
  std::string operands;
  for (size_t i = 0; i < node.operands.size(); ++i) {
    const bool isCondition = row.types == DtypeClass::Select && i == 0;
    operands += (i == 0 ? "" : ", ") +
                operandText(graph, node.operands[i], isCondition ? PrimType::Bool : node.compute);
  }
  const std::string value = "op_" + std::string(row.name) + "<" +
                            std::string(deviceComputeName(node.compute)) + ">(" + operands + ")";
  return "convert<" + std::string(deviceComputeName(node.type)) + ">(" + value + ")";
}

std::string numberText(const Node& node) {
  const std::string number = "numbers[" + std::to_string(node.index) + "]";
  switch (categoryOf(node.type)) {
    case TypeCategory::Boolean:
    case TypeCategory::Integral:
      return convertedText(node.type, PrimType::Int, number + ".integer");
    case TypeCategory::Complex:
      return convertedText(node.type, PrimType::ComplexDouble,
                           "complex<double>(" + number + ".real, " + number + ".imaginary)");
    default:
      return convertedText(node.type, PrimType::Double, number + ".real");
  }
}

std::string randomText(const KernelGraph& graph, const Node& node) {
  std::string operands;
  for (size_t i = 0; i < 3; ++i) {
    operands += "uint64(" + valueName(node.operands[i]) + "), ";
  }
  return std::string(node.kind == NodeKind::Uniform ? "uniform<" : "normal<") +
         std::string(deviceComputeName(node.type)) + ">(" + operands +
         operandText(graph, node.operands[3], node.type) + ", " +
         operandText(graph, node.operands[4], node.type) + ")";
}

}  // namespace

std::string valueName(NodeId id) { return "v" + std::to_string(id); }
std::string unroundedName(NodeId id) { return "u" + std::to_string(id); }

std::string convertedText(PrimType to, PrimType from, const std::string& value) {
  return deviceComputeName(to) == deviceComputeName(from)
             ? value
             : "convert<" + std::string(deviceComputeName(to)) + ">(" + value + ")";
}

std::string roundedText(PrimType type, const std::string& value) {
  return isReducedFloat(type)
             ? "convert<float>(convert<" + std::string(deviceTypeName(type)) + ">(" + value + "))"
             : value;
}

std::string operandText(const KernelGraph& graph, NodeId id, PrimType wanted) {
  const PrimType type = graph.node(id).type;
  if (type == wanted) {
    return valueName(id);
  }
  return roundedText(wanted, convertedText(wanted, type, valueName(id)));
}

std::string computedText(const KernelGraph& graph, const Node& node) {
  switch (node.kind) {
    case NodeKind::Number:
      return numberText(node);
    case NodeKind::Seed:
      return "numbers[" + std::to_string(graph.numbers.size() + static_cast<size_t>(node.index)) +
             "].integer";
    case NodeKind::Uniform:
    case NodeKind::Normal:
      return randomText(graph, node);
    case NodeKind::Constant:
      return convertedText(node.type, node.constant.type(), numberLiteral(node.constant));
    case NodeKind::Cast:
      return convertedText(node.type, graph.node(node.operands[0]).type,
                           valueName(node.operands[0]));
    case NodeKind::Pointwise:
      return pointwiseText(graph, node);
    default:
      throwInternal("reads, folds, counts and indices depend on the loops around them");
  }
}

std::string rowFunctions(const std::set<int32_t>& rows) {
  std::string text;
  for (int32_t row : rows) {
    const PointwiseRow& info = pointwiseRows()[static_cast<size_t>(row)];
    std::string params;
    for (int32_t i = 0; i < info.arity; ++i) {
      const bool isCondition = info.types == DtypeClass::Select && i == 0;
      params +=
          std::string(i == 0 ? "" : ", ") + (isCondition ? "bool" : "T") + " x" + std::to_string(i);
    }
    text += "template <class T>\nMESHFUSE_DEVICE auto op_" + std::string(info.name) + "(" + params +
            ") {\n  return " + std::string(info.device) + ";\n}\n\n";
  }
  return text;
}

}  // namespace meshfuse
