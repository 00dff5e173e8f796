#include "meshfuse/ir/print.h"

#include <algorithm>

#include "meshfuse/base/text.h"

namespace meshfuse {

namespace {

std::string domainText(const IterDomain& domain) {
  if (!domain.isBroadcast) {
    return domain.extent.toText();
  }
  return domain.extent.isConstant() ? "b" + domain.extent.toText()
                                    : "b(" + domain.extent.toText() + ")";
}

std::string contiguityText(const Contiguity& contiguity) {
  std::vector<std::string> parts;
  for (std::optional<bool> isContiguous : contiguity) {
    parts.emplace_back(!isContiguous ? "n" : *isContiguous ? "t" : "f");
  }
  return " contiguity(" + joinText(parts, ", ") + ")";
}

std::string strideOrderText(std::span<const int64_t> order) {
  std::string list = toText(order);
  return " stride_order(" + list.substr(1, list.size() - 2) + ")";
}

/// The type and everything else that a declaration says of a tensor.
std::string declaredText(const TensorType& type) {
  std::string out = toText(type);
  out.append(type.contiguity.empty() ? "" : contiguityText(type.contiguity));
  out.append(type.strideOrder.empty() ? "" : strideOrderText(type.strideOrder));
  return out.append(type.isCpuScalar ? " cpu" : "");
}

std::string declaredText(const ScalarType& type) {
  std::string out(nameOf(type.dtype));
  return type.symbol ? out + " i" + std::to_string(indexOf(*type.symbol)) : out;
}

std::string declarationText(const Fusion& fusion, ValId id) {
  const Val& val = fusion.val(id);
  std::string type = val.isTensor() ? declaredText(val.tensor()) : declaredText(val.scalar());
  return fusion.nameOf(id) + ": " + type;
}

std::string exprText(const Fusion& fusion, const Expr& expr) {
  std::vector<std::string> outputs;
  for (ValId output : expr.outputs) {
    outputs.push_back(declarationText(fusion, output));
  }
  std::vector<std::string> args;
  for (const Arg& arg : expr.args) {
    args.push_back(printArg(fusion, arg));
  }
  return joinText(outputs, ", ").append(" = ").append(expr.op->name) + "(" + joinText(args, ", ") +
         ")";
}

/// The lines for symbols that their declarations do not bind (print.h).
std::string symbolLines(const Fusion& fusion) {
  std::map<uint32_t, SymbolSource> bound = symbolsBoundByDeclarations(fusion);
  std::string out;
  for (uint32_t symbol = 0; symbol < fusion.symbols().size(); ++symbol) {
    const SymbolSource& source = fusion.symbols()[symbol];
    auto found = bound.find(symbol);
    if (found != bound.end() && found->second.val == source.val &&
        found->second.dim == source.dim) {
      continue;
    }
    out.append("symbol i").append(std::to_string(symbol)).append(" = ");
    out.append(fusion.nameOf(source.val));
    out.append(source.dim < 0 ? "" : "[" + std::to_string(source.dim) + "]").append("\n");
  }
  return out;
}

}  // namespace

std::map<uint32_t, SymbolSource> symbolsBoundByDeclarations(const Fusion& fusion) {
  std::map<uint32_t, SymbolSource> out;
  for (uint32_t i = 0; i < fusion.vals().size(); ++i) {
    const Val& val = fusion.vals()[i];
    if (!val.isTensor()) {
      if (val.scalar().symbol) {
        out.try_emplace(indexOf(*val.scalar().symbol), SymbolSource{ValId{i}, -1});
      }
      continue;
    }
    for (size_t dim = 0; val.definition == kNoExpr && dim < val.tensor().domain.size(); ++dim) {
      if (std::optional<SymbolId> symbol = val.tensor().domain[dim].extent.asSymbol()) {
        out.try_emplace(indexOf(*symbol), SymbolSource{ValId{i}, static_cast<int64_t>(dim)});
      }
    }
  }
  return out;
}

std::string toText(const TensorType& type) {
  std::vector<std::string> dims;
  for (const IterDomain& domain : type.domain) {
    dims.push_back(domainText(domain));
  }
  std::string out = std::string(nameOf(type.dtype)) + "[" + joinText(dims, ", ") + "]";
  return type.sharding ? out + " @ " + type.sharding->toText() : out;
}

std::vector<std::string> itemTexts(const Fusion& fusion, const Items& items) {
  std::vector<std::string> texts;
  for (const Item& item : items) {
    const ValId* val = std::get_if<ValId>(&item);
    texts.push_back(val != nullptr ? fusion.nameOf(*val) : std::to_string(std::get<int64_t>(item)));
  }
  return texts;
}

std::string printArg(const Fusion& fusion, const Arg& arg) {
  if (const ValId* val = std::get_if<ValId>(&arg)) {
    return fusion.nameOf(*val);
  }
  if (const Scalar* number = std::get_if<Scalar>(&arg)) {
    return number->toText();
  }
  if (const Ints* ints = std::get_if<Ints>(&arg)) {
    return toText(std::span<const int64_t>(*ints));
  }
  if (const PrimType* type = std::get_if<PrimType>(&arg)) {
    return std::string(nameOf(*type));
  }
  if (const Items* items = std::get_if<Items>(&arg)) {
    return "[" + joinText(itemTexts(fusion, *items), ", ") + "]";
  }
  return "None";
}

namespace {

/// By value: whether outputs, writes and what they are computed from name it.
std::vector<bool> neededVals(const Fusion& fusion) {
  std::vector<bool> needed(fusion.vals().size(), false);
  forEachResult(
      fusion, [&](ValId output) { needed[indexOf(output)] = true; },
      [&](const InputWrite& write) { needed[indexOf(write.value)] = true; });
  for (size_t i = fusion.exprs().size(); i-- > 0;) {
    const Expr& expr = fusion.exprs()[i];
    const auto isNeeded = [&](ValId val) { return needed[indexOf(val)]; };
    if (std::ranges::any_of(expr.outputs, isNeeded)) {
      needed[indexOf(expr.outputs.front())] = true;
      std::ranges::for_each(inputsOf(expr), [&](ValId val) { needed[indexOf(val)] = true; });
    }
  }
  return needed;
}

std::string printValues(const Fusion& fusion, const std::vector<bool>& isShown) {
  std::string out;
  size_t nextInput = 0;
  for (uint32_t i = 0; i < fusion.vals().size(); ++i) {
    ValId id{i};
    const Val& val = fusion.val(id);
    if (!isShown[i] && !fusion.isInput(id)) {
      continue;
    }
    if (val.definition != kNoExpr) {
      const Expr& expr = fusion.expr(val.definition);
      out.append(expr.outputs[0] == id ? exprText(fusion, expr) + "\n" : "");
      continue;
    }
    bool isConstant = !val.isTensor() && val.scalar().constant.has_value();
    bool isNextInput = nextInput < fusion.inputs().size() && fusion.inputs()[nextInput] == id;
    nextInput += isNextInput ? 1 : 0;
    out.append(isNextInput ? "input " : isConstant ? "constant " : "value ");
    out.append(declarationText(fusion, id));
    out.append(isConstant ? " = " + val.scalar().constant->toText() : "").append("\n");
  }
  out.append(symbolLines(fusion));
  for (ValId input : fusion.inputs().subspan(nextInput)) {
    out.append("input ").append(fusion.nameOf(input)).append("\n");
  }
  forEachResult(
      fusion,
      [&](ValId output) { out.append("output ").append(fusion.nameOf(output)).append("\n"); },
      [&](const InputWrite& write) {
        out.append("output ").append(fusion.nameOf(write.value));
        out.append(" into ").append(fusion.nameOf(write.input)).append("\n");
      });
  return out;
}

}  // namespace

std::string print(const Fusion& fusion) {
  return printValues(fusion, std::vector<bool>(fusion.vals().size(), true));
}

std::string printNeeded(const Fusion& fusion) { return printValues(fusion, neededVals(fusion)); }

}  // namespace meshfuse
