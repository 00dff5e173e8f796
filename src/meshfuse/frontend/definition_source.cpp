// A fusion as the Python text that defines it.
#include "meshfuse/frontend/definition_source.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "meshfuse/base/error.h"
#include "meshfuse/base/text.h"
#include "meshfuse/frontend/tensor_input.h"
#include "meshfuse/ir/print.h"

namespace meshfuse {
namespace {

constexpr std::string_view kIndent = "    ";

std::string dtypeText(PrimType dtype) { return "DataType." + std::string(nameOf(dtype)); }

int64_t declaredSize(const IterDomain& dim) { return dim.extent.asConstant().value_or(-1); }

std::string tensorLine(const TensorType& type) {
  std::vector<int64_t> shape;
  std::ranges::transform(type.domain, std::back_inserter(shape), declaredSize);
  std::string line = "fd.define_tensor(shape=" + toText(shape) +
                     ", contiguity=" + contiguityText(type.contiguity) +
                     ", dtype=" + dtypeText(type.dtype) +
                     ", is_cpu=" + (type.isCpuScalar ? "True" : "False");
  if (!type.strideOrder.empty()) {
    line += ", stride_order=" + toText(type.strideOrder);
  }
  return line + ")";
}

std::string scalarLine(const ScalarType& type) {
  const std::string value = type.constant ? type.constant->toText() : "None";
  return "fd.define_scalar(" + value + ", dtype=" + dtypeText(type.dtype) + ")";
}

std::string argText(const Fusion& fusion, const Arg& arg) {
  struct Printer {
    const Fusion& fusion;
    std::string operator()(std::monostate /*none*/) const { return "None"; }
    std::string operator()(ValId id) const { return fusion.nameOf(id); }
    std::string operator()(const Scalar& number) const { return number.toText(); }
    std::string operator()(const Ints& list) const { return meshfuse::toText(list); }
    std::string operator()(PrimType dtype) const { return dtypeText(dtype); }
    std::string operator()(const Items& items) const {
      return "[" + joinText(itemTexts(fusion, items), ", ") + "]";
    }
  };
  return std::visit(Printer{fusion}, arg);
}

/// The argument for `param`; null when the overload's parameter of that name is another.
const Arg* storedArg(const Expr& expr, const Param& param) {
  const std::vector<Param>& stored = expr.op->params;
  const auto found = std::ranges::find(stored, param.name, &Param::name);
  return found == stored.end() ? nullptr : &expr.args[static_cast<size_t>(found - stored.begin())];
}

/// Whether a call written by `overload` says all that the expression holds.
bool canWrite(const Expr& expr, const Overload& overload) {
  for (const Param& param : overload.params) {
    const Arg* arg = storedArg(expr, param);
    if (arg == nullptr || (std::holds_alternative<std::monostate>(*arg) && !param.optional)) {
      return false;
    }
  }
  for (size_t i = 0; i < expr.args.size(); ++i) {
    const Param& stored = expr.op->params[i];
    const bool written =
        std::ranges::find(overload.params, stored.name, &Param::name) != overload.params.end();
    if (!written && !isSame(expr.args[i], stored.defaultValue)) {
      return false;
    }
  }
  return true;
}

/// A number where the call takes values of the definition only: the constant it came from, or a new one.
std::string valueText(const Fusion& fusion, const Expr& expr, const Arg& arg) {
  const Scalar* number = std::get_if<Scalar>(&arg);
  if (number == nullptr) {
    return argText(fusion, arg);
  }
  for (size_t i = 0; i < indexOf(expr.outputs.front()); ++i) {
    const ValId id{static_cast<uint32_t>(i)};
    const Val& val = fusion.val(id);
    if (!val.isTensor() && val.definition == kNoExpr && val.scalar().constant &&
        val.scalar().constant->isSame(*number)) {
      return fusion.nameOf(id);
    }
  }
  return scalarLine({number->type(), *number});
}

const Overload& overloadOf(const Expr& expr) {
  const auto overload = std::ranges::find_if(expr.op->overloads,
                                             [&](const Overload& o) { return canWrite(expr, o); });
  internalCheck(overload != expr.op->overloads.end(),
                "one of an op's calls writes each of its expressions");
  return *overload;
}

/// Operands by position, everything else by keyword unless the op takes it by position only; defaults are left out.
std::string callText(const Fusion& fusion, const Expr& expr) {
  const Overload& overload = overloadOf(expr);
  std::vector<std::string> parts;
  bool byPosition = true;
  for (size_t i = 0; i < overload.params.size(); ++i) {
    const Param& param = overload.params[i];
    const Arg& arg = *storedArg(expr, param);
    if (i >= overload.positionalOnly && param.optional && isSame(arg, param.defaultValue)) {
      byPosition = false;
      continue;
    }
    const bool isOperand = param.kind == ParamKind::Tensor || param.kind == ParamKind::Operand ||
                           param.kind == ParamKind::Tensors || param.kind == ParamKind::Value ||
                           param.kind == ParamKind::Size;
    byPosition = i < overload.positionalOnly || (byPosition && isOperand);
    byPosition = byPosition && i + overload.keywordOnly < overload.params.size();
    const std::string text =
        param.kind == ParamKind::Value ? valueText(fusion, expr, arg) : argText(fusion, arg);
    parts.push_back(byPosition ? text : std::string(param.name) + "=" + text);
  }
  return "fd.ops." + std::string(expr.op->name) + "(" + joinText(parts, ", ") + ")";
}

std::string outputsText(const Fusion& fusion, const Expr& expr) {
  std::vector<std::string> names;
  for (ValId id : expr.outputs) {
    names.push_back(fusion.nameOf(id));
  }
  names.resize(names.size() + overloadOf(expr).absentResults, "_");
  return joinText(names, ", ");
}

/// The line that makes the value; empty for one that another value's line makes as well.
std::string definitionOf(const Fusion& fusion, ValId id) {
  const Val& val = fusion.val(id);
  if (val.definition != kNoExpr) {
    const Expr& expr = fusion.expr(val.definition);
    const bool isFirst = expr.outputs.front() == id;
    return isFirst ? outputsText(fusion, expr) + " = " + callText(fusion, expr) : std::string();
  }
  const std::string line = val.isTensor() ? tensorLine(val.tensor()) : scalarLine(val.scalar());
  return fusion.nameOf(id) + " = " + line;
}

}  // namespace

std::string describeValue(const Fusion& fusion, ValId id) {
  const Val& val = fusion.val(id);
  if (val.isTensor()) {
    return fusion.nameOf(id) + ": " + toText(val.tensor());
  }
  const std::string text = fusion.nameOf(id) + ": " + std::string(nameOf(val.dtype()));
  return val.scalar().constant ? text + " = " + val.scalar().constant->toText() : text;
}

std::string definitionSource(const Fusion& fusion) {
  std::string text = "def nvfuser_fusion(fd : FusionDefinition) -> None :\n";
  const size_t header = text.size();
  const auto addLine = [&text](const std::string& line) {
    text.append(kIndent).append(line).append("\n");
  };
  for (size_t i = 0; i < fusion.vals().size(); ++i) {
    if (const std::string line = definitionOf(fusion, ValId{static_cast<uint32_t>(i)});
        !line.empty()) {
      addLine(line);
    }
  }
  for (ValId output : fusion.outputs()) {
    addLine("fd.add_output(" + fusion.nameOf(output) + ")");
  }
  if (text.size() == header) {
    addLine("pass");
  }
  return text;
}

}  // namespace meshfuse
