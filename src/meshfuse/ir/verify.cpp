#include "meshfuse/ir/verify.h"

#include <algorithm>

#include "meshfuse/base/error.h"
#include "meshfuse/base/text.h"
#include "meshfuse/ir/input_type.h"
#include "meshfuse/ir/print.h"

namespace meshfuse {

namespace {

class Verifier {
 public:
  explicit Verifier(const Fusion& fusion) : fusion_(fusion) {}

  std::vector<std::string> run() {
    checkSymbolSources();
    for (uint32_t i = 0; i < fusion_.vals().size(); ++i) {
      checkVal(ValId{i});
    }
    for (uint32_t i = 0; i < fusion_.exprs().size(); ++i) {
      checkExpr(ExprId{i});
    }
    checkInputs();
    checkOutputs();
    checkWrites();
    return std::move(broken_);
  }

 private:
  void add(std::string text) { broken_.push_back(std::move(text)); }
  bool exists(ValId id) const noexcept { return indexOf(id) < fusion_.vals().size(); }
  bool exists(ExprId id) const noexcept { return indexOf(id) < fusion_.exprs().size(); }
  bool isKnown(SymbolId id) const noexcept { return indexOf(id) < fusion_.symbols().size(); }

  std::string quoted(ValId id) const {
    return exists(id) ? "'" + fusion_.nameOf(id) + "'"
                      : "value " + std::to_string(indexOf(id)) + ", which does not exist,";
  }

  void checkSymbolSources() {
    for (size_t i = 0; i < fusion_.symbols().size(); ++i) {
      const SymbolSource& source = fusion_.symbols()[i];
      std::string name = "symbol i" + std::to_string(i);
      if (!exists(source.val)) {
        add(name + " is bound by " + quoted(source.val) + " but must be by a value");
        continue;
      }
      const Val& val = fusion_.val(source.val);
      bool fits =
          val.isTensor() ? source.dim >= 0 && source.dim < val.tensor().rank() : source.dim == -1;
      if (!fits) {
        add(name + " is bound by dimension " + std::to_string(source.dim) + " of " +
            quoted(source.val) + ", which has no such dimension");
      }
    }
  }

  void checkSymbol(ValId id, SymbolId symbol) {
    if (!isKnown(symbol)) {
      add(quoted(id) + " has symbol i" + std::to_string(indexOf(symbol)) + ", which has no source");
    }
  }

  void checkVal(ValId id) {
    const Val& val = fusion_.val(id);
    if (val.definition != kNoExpr) {
      bool isListed = exists(val.definition);
      if (isListed) {
        const std::vector<ValId>& outputs = fusion_.expr(val.definition).outputs;
        isListed = std::count(outputs.begin(), outputs.end(), id) == 1;
      }
      if (!isListed) {
        add(quoted(id) + " names call " + std::to_string(indexOf(val.definition)) +
            " as its definition, which does not give it");
      }
    }
    if (val.isTensor()) {
      checkTensor(id, val.tensor());
    } else if (val.scalar().symbol) {
      checkSymbol(id, *val.scalar().symbol);
    }
  }

  void checkTensor(ValId id, const TensorType& type) {
    for (const IterDomain& domain : type.domain) {
      for (SymbolId symbol : domain.extent.symbols()) {
        checkSymbol(id, symbol);
      }
      if (domain.extent.asConstant().value_or(0) < 0) {
        add(quoted(id) + " has the negative extent " + domain.extent.toText());
      }
    }
    if (type.isCpuScalar && type.rank() != 0) {
      add(quoted(id) + " is a CPU scalar of rank " + std::to_string(type.rank()) +
          " but must have rank 0");
    }
    if (checkStrideOrder(id, type)) {
      checkContiguity(id, type);
    }
    if (type.sharding) {
      checkPlacements(id, type);
    }
  }

  bool checkStrideOrder(ValId id, const TensorType& type) {
    std::vector<int64_t> sorted = type.strideOrder;
    std::sort(sorted.begin(), sorted.end());
    bool fits = sorted.empty() || static_cast<int64_t>(sorted.size()) == type.rank();
    for (size_t i = 0; i < sorted.size(); ++i) {
      fits = fits && sorted[i] == static_cast<int64_t>(i);
    }
    if (!fits) {
      add(quoted(id) + " has stride order " + toText(type.strideOrder) +
          " but must have a permutation for rank " + std::to_string(type.rank()));
    }
    return fits;
  }

  void checkContiguity(ValId id, const TensorType& type) {
    bool isInput = fusion_.isInput(id);
    if (fusion_.val(id).definition != kNoExpr && !type.contiguity.empty()) {
      add(quoted(id) + " has a contiguity, which only inputs have");
      return;
    }
    size_t rank = type.domain.size();
    if (type.contiguity.size() != rank) {
      if (isInput || !type.contiguity.empty()) {
        add(quoted(id) + " has " + std::to_string(type.contiguity.size()) +
            " contiguity entries but must have " + std::to_string(rank));
      }
      return;
    }
    for (size_t dim = 0; dim < rank; ++dim) {
      bool isGiven = type.contiguity[allocationPosition(dim, rank, type.strideOrder)].has_value();
      if (isGiven == type.domain[dim].isBroadcast) {
        add(quoted(id) + " has a contiguity for dimension " + std::to_string(dim) +
            " that must be " + (isGiven ? "n because it is" : "t or f because it is not") +
            " a broadcast");
      }
    }
  }

  void checkPlacements(ValId id, const TensorType& type) {
    for (const Placement& placement : type.sharding->placements) {
      if (placement.isSharded() && placement.dim >= type.rank()) {
        add(quoted(id) + " of rank " + std::to_string(type.rank()) + " has placement " +
            placement.toText() + ", which names a dimension it lacks");
      }
    }
  }

  void checkExpr(ExprId id) {
    const Expr& expr = fusion_.expr(id);
    std::string call =
        "call " + std::to_string(indexOf(id)) + " of '" + std::string(expr.op->name) + "'";
    if (expr.args.size() != expr.op->params.size()) {
      add(call + " has " + std::to_string(expr.args.size()) + " arguments but must have " +
          std::to_string(expr.op->params.size()));
    }
    size_t count = std::min(expr.args.size(), expr.op->params.size());
    for (size_t i = 0; i < count; ++i) {
      checkArg(id, call, expr.op->params[i], expr.args[i]);
    }
    if (expr.outputs.size() != expr.op->outputCount) {
      add(call + " has " + std::to_string(expr.outputs.size()) + " outputs but must have " +
          std::to_string(expr.op->outputCount));
    }
    for (ValId output : expr.outputs) {
      if (!exists(output) || fusion_.val(output).definition != id) {
        add(call + " gives " + quoted(output) + " but must be its one definition");
      }
    }
  }

  void checkArg(ExprId id, const std::string& call, const Param& param, const Arg& arg) {
    const ValId* val = std::get_if<ValId>(&arg);
    if (val != nullptr && !exists(*val)) {
      add(call + " uses " + quoted(*val) + " as '" + std::string(param.name) + "'");
      return;
    }
    if (val != nullptr) {
      checkUse(id, call, *val);
    }
    if (!fits(param, arg)) {
      add(call + " has " + printArg(fusion_, arg) + " for '" + std::string(param.name) +
          "' but must have " + std::string(describe(param.kind)));
    }
  }

  void checkUse(ExprId id, const std::string& call, ValId used) {
    const Val& val = fusion_.val(used);
    bool isFree = val.definition == kNoExpr;
    bool isConstant = !val.isTensor() && val.scalar().constant.has_value();
    if (isFree && !isConstant && !fusion_.isInput(used)) {
      add(call + " uses " + quoted(used) + ", which has no definition and is no input");
    }
    if (!isFree && indexOf(val.definition) >= indexOf(id)) {
      add(call + " uses " + quoted(used) + " before its definition");
    }
  }

  /// Whether the argument lists tensors alone, or integers and integer scalars.
  bool isListOf(const Arg& arg, bool ofTensors) const {
    const Items* items = std::get_if<Items>(&arg);
    return items != nullptr && std::ranges::all_of(*items, [&](const Item& item) {
             const ValId* val = std::get_if<ValId>(&item);
             return val == nullptr ? !ofTensors : fusion_.val(*val).isTensor() == ofTensors;
           });
  }

  bool fits(const Param& param, const Arg& arg) const {
    if (std::holds_alternative<std::monostate>(arg)) {
      return param.optional;
    }
    const ValId* val = std::get_if<ValId>(&arg);
    const Scalar* number = std::get_if<Scalar>(&arg);
    switch (param.kind) {
      case ParamKind::Tensor:
        return val != nullptr && fusion_.val(*val).isTensor();
      case ParamKind::Tensors:
        return isListOf(arg, /*ofTensors=*/true);
      case ParamKind::Value:
        return val != nullptr;
      case ParamKind::Size:
        return (number != nullptr && number->isInt()) ||
               (val != nullptr && !fusion_.val(*val).isTensor());
      case ParamKind::Sizes:
        return std::holds_alternative<Ints>(arg) || isListOf(arg, /*ofTensors=*/false);
      case ParamKind::Operand:
        return val != nullptr || number != nullptr;
      case ParamKind::Int:
        return number != nullptr && number->isInt();
      case ParamKind::Bool:
        return number != nullptr && number->isBool();
      case ParamKind::Ints:
        return std::holds_alternative<Ints>(arg);
      case ParamKind::DataType:
        return std::holds_alternative<PrimType>(arg);
    }
    return false;
  }

  static std::string_view describe(ParamKind kind) noexcept {
    constexpr std::string_view texts[] = {"a tensor",
                                          "a list of tensors",
                                          "a tensor, a scalar or a number",
                                          "a scalar or a tensor",
                                          "an integer",
                                          "a list of integers",
                                          "an integer or an integer scalar",
                                          "a list of integers and integer scalars",
                                          "True or False",
                                          "an element type"};
    return texts[static_cast<size_t>(kind)];
  }

  void checkInputs() {
    std::span<const ValId> inputs = fusion_.inputs();
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!exists(inputs[i])) {
        add("input " + std::to_string(i) + " is " + quoted(inputs[i]) + " but must be a value");
        continue;
      }
      const Val& val = fusion_.val(inputs[i]);
      if (val.definition != kNoExpr || (!val.isTensor() && val.scalar().constant)) {
        add("input " + quoted(inputs[i]) + " has a definition or is a constant");
      }
      if (std::count(inputs.begin(), inputs.begin() + static_cast<ptrdiff_t>(i), inputs[i]) != 0) {
        add(quoted(inputs[i]) + " is an input twice");
      }
    }
  }

  void checkOutputs() {
    for (ValId output : fusion_.outputs()) {
      if (!exists(output) || !fusion_.val(output).isTensor()) {
        add("output " + quoted(output) + " must be a tensor");
      } else if (fusion_.val(output).definition == kNoExpr && !fusion_.isInput(output)) {
        add("output " + quoted(output) + " has no definition and is no input");
      }
    }
  }

  void checkWrites() {
    std::span<const InputWrite> writes = fusion_.writes();
    for (size_t i = 0; i < writes.size(); ++i) {
      const ValId value = writes[i].value;
      const ValId input = writes[i].input;
      std::string text = "the write of " + quoted(value) + " into " + quoted(input);
      if (!exists(value) || !exists(input) || fusion_.val(value).definition == kNoExpr) {
        add(text + " must be of a computed value into an input");
        continue;
      }
      try {
        checkInputWrite(fusion_, value, input);
      } catch (const UserError& error) {
        add(text + " is refused: " + error.what());
      }
      if (std::ranges::find(writes.first(i), input, &InputWrite::input) != writes.first(i).end()) {
        add(text + " is the second one into this input");
      }
    }
  }

  const Fusion& fusion_;
  std::vector<std::string> broken_;
};

}  // namespace

std::vector<std::string> violations(const Fusion& fusion) { return Verifier(fusion).run(); }

void verify(const Fusion& fusion, std::string_view after) {
  std::vector<std::string> broken = violations(fusion);
  if (!broken.empty()) {
    throw InternalError(
        std::string("internal error (a bug in meshfuse): the fusion is not legal after ")
            .append(after)
            .append(": ") +
        joinText(broken, "; "));
  }
}

}  // namespace meshfuse
