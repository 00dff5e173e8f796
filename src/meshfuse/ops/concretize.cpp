#include "meshfuse/ops/concretize.h"

#include <algorithm>

#include "meshfuse/base/error.h"
#include "meshfuse/base/error_naming.h"
#include "meshfuse/base/text.h"
#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/infer.h"

namespace meshfuse {

namespace {

/// By value: whether a size depends on it. Only scalars can be.
std::vector<bool> valuesThatSizesNeed(const Fusion& fusion) {
  std::vector<bool> needed(fusion.vals().size(), false);
  const auto note = [&](const Arg& arg) {
    forEachVal(arg, [&](ValId val) {
      needed[indexOf(val)] = needed[indexOf(val)] || !fusion.val(val).isTensor();
    });
  };
  for (size_t i = fusion.exprs().size(); i-- > 0;) {
    const Expr& expr = fusion.exprs()[i];
    const bool isNeeded = needed[indexOf(expr.outputs.front())];
    for (size_t arg = 0; arg < expr.args.size(); ++arg) {
      const ParamKind kind = expr.op->params[arg].kind;
      if (isNeeded || kind == ParamKind::Size || kind == ParamKind::Sizes) {
        note(expr.args[arg]);
      }
    }
  }
  return needed;
}

class Concretizer {
 public:
  Concretizer(const Fusion& fusion, std::span<const InputShape> inputs)
      : result_(fusion), known_(fusion.vals().size()) {
    const std::vector<bool> needed = valuesThatSizesNeed(fusion);
    for (size_t i = 0; i < inputs.size(); ++i) {
      const ValId id = fusion.inputs()[i];
      if (fusion.val(id).isTensor()) {
        bindTensor(id, inputs[i]);
      } else if (needed[indexOf(id)]) {
        known_[indexOf(id)] = inputs[i].value;
      }
    }
  }

  Fusion run() && {
    for (uint32_t i = 0; i < result_.exprs().size(); ++i) {
      Expr& expr = result_.expr(ExprId{i});
      try {
        visit(expr);
      } catch (const UserError& error) {
        rethrowNaming(infoOf(*expr.op).name, error);
      }
    }
    for (const InputWrite& write : result_.writes()) {
      checkInputWrite(result_, write.value, write.input);  // all sizes are known now
    }
    return std::move(result_);
  }

 private:
  void bindTensor(ValId id, const InputShape& input) {
    TensorType& type = result_.val(id).tensor();
    internalCheck(input.sizes.size() == type.domain.size(),
                  "an input's sizes have the rank of its type");
    for (size_t dim = 0; dim < type.domain.size(); ++dim) {
      IterDomain& domain = type.domain[dim];
      const int64_t size = input.sizes[dim];
      if (const std::optional<int64_t> extent = domain.extent.asConstant();
          extent && *extent != size) {
        throwUser(ErrorKind::Runtime,
                  {"execute", "an input has the sizes that the definition states",
                   result_.nameOf(id) + " is " + toText(type) + " but got sizes " +
                       toText(std::span<const int64_t>(input.sizes)),
                   "pass that size, or define the dimension as -1"});
      }
      domain.extent = size;
    }
  }

  void visit(Expr& expr) {
    const OpInfo& op = infoOf(*expr.op);
    for (size_t i = 0; i < expr.args.size(); ++i) {
      substitute(op, op.params[i], expr.args[i]);
    }
    if (!result_.val(expr.outputs.front()).isTensor()) {
      known_[indexOf(expr.outputs.front())] = valueOf(op, expr);
      return;
    }
    std::vector<TensorType> types = inferOutputs(result_, op, expr.args);
    for (size_t i = 0; i < types.size(); ++i) {
      result_.val(expr.outputs[i]).tensor() = std::move(types[i]);
    }
  }

  /// Numbers in place of scalars that are known now. Types that a number would not have stay scalars: they decide promotion.
  void substitute(const OpInfo& op, const Param& param, Arg& arg) {
    if (param.kind == ParamKind::Size) {
      if (const ValId* val = std::get_if<ValId>(&arg)) {
        arg = Scalar(sizeOf(op, *val));
      }
    } else if (Items* items = std::get_if<Items>(&arg); param.kind == ParamKind::Sizes && items) {
      Ints sizes;
      for (const Item& item : *items) {
        const ValId* val = std::get_if<ValId>(&item);
        sizes.push_back(val == nullptr ? std::get<int64_t>(item) : sizeOf(op, *val));
      }
      arg = std::move(sizes);
    } else if (const ValId* val = std::get_if<ValId>(&arg);
               val != nullptr && param.kind == ParamKind::Operand && known_[indexOf(*val)] &&
               result_.val(*val).dtype() == known_[indexOf(*val)]->type()) {
      arg = *known_[indexOf(*val)];
    }
  }

  int64_t sizeOf(const OpInfo& op, ValId val) const {
    if (!known_[indexOf(val)]) {
      throwUser(ErrorKind::Runtime,
                {op.name, "a size is computed from sizes and integers by operations on numbers",
                 result_.nameOf(val) + " is known only when the operations before it have run",
                 "compute it before the call and pass it as an input"});
    }
    return known_[indexOf(val)]->toInt();
  }

  std::optional<Scalar> valueOf(const OpInfo& op, const Expr& expr) const {
    const std::vector<TensorType> tensors = tensorOperands(result_, expr.args);
    const OpCall call{&op, &result_, expr.args, tensors};
    if (op.extent != nullptr) {
      return Scalar(op.extent(call).constant());
    }
    std::vector<Scalar> operands;
    for (size_t i = 0; i < expr.args.size(); ++i) {
      if (op.params[i].kind != ParamKind::Operand) {
        continue;
      }
      const std::optional<Scalar> operand = numberOf(expr.args[i]);
      if (!operand) {
        return std::nullopt;
      }
      operands.push_back(*operand);
    }
    return op.fold(call, operands);
  }

  std::optional<Scalar> numberOf(const Arg& arg) const {
    if (const Scalar* number = std::get_if<Scalar>(&arg)) {
      return *number;
    }
    const ValId id = std::get<ValId>(arg);
    return known_[indexOf(id)] ? known_[indexOf(id)] : result_.val(id).scalar().constant;
  }

  Fusion result_;
  std::vector<std::optional<Scalar>> known_;  // numbers that sizes depend on, by value
};

}  // namespace

std::vector<uint8_t> inputsThatSizesNeed(const Fusion& fusion) {
  const std::vector<bool> needed = valuesThatSizesNeed(fusion);
  std::vector<uint8_t> inputs;
  for (ValId id : fusion.inputs()) {
    inputs.push_back(needed[indexOf(id)] ? 1 : 0);
  }
  return inputs;
}

Fusion concretize(const Fusion& fusion, std::span<const InputShape> inputs) {
  internalCheck(inputs.size() == fusion.inputs().size(), "there is one shape an input");
  return Concretizer(fusion, inputs).run();
}

}  // namespace meshfuse
