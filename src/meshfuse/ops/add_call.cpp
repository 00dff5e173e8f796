#include <algorithm>

#include "meshfuse/base/error.h"
#include "meshfuse/base/error_naming.h"
#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/infer.h"
#include "meshfuse/ops/op_info.h"

namespace meshfuse {

namespace {

std::string_view nameOf(ParamKind kind) {
  switch (kind) {
    case ParamKind::Tensor:
      return "a tensor of the definition";
    case ParamKind::Tensors:
      return "a list of tensors of the definition";
    case ParamKind::Value:
      return "a scalar of the definition";
    case ParamKind::Size:
      return "an integer or an integer scalar of the definition";
    case ParamKind::Sizes:
      return "a list of integers and integer scalars of the definition";
    case ParamKind::Operand:
      return "a tensor, a scalar of the definition or a number";
    case ParamKind::Int:
      return "an integer";
    case ParamKind::Ints:
      return "a list of integers";
    case ParamKind::Bool:
      return "a bool";
    case ParamKind::DataType:
      return "a DataType";
  }
  throwInternal("the parameter kind is one of the list");
}

bool isTensorItem(const Fusion& fusion, const Item& item) {
  const ValId* val = std::get_if<ValId>(&item);
  return val != nullptr && fusion.val(*val).isTensor();
}

bool isSizeItem(const Fusion& fusion, const Item& item) {
  const ValId* val = std::get_if<ValId>(&item);
  return val == nullptr || (!fusion.val(*val).isTensor() &&
                            categoryOf(fusion.val(*val).dtype()) == TypeCategory::Integral);
}

template <class IsFit>
bool isListOf(const Fusion& fusion, const Arg& arg, IsFit isFit) {
  const Items* items = std::get_if<Items>(&arg);
  return items != nullptr &&
         std::ranges::all_of(*items, [&](const Item& item) { return isFit(fusion, item); });
}

bool fits(const Fusion& fusion, const Arg& arg, ParamKind kind) {
  const ValId* val = std::get_if<ValId>(&arg);
  const Scalar* number = std::get_if<Scalar>(&arg);
  switch (kind) {
    case ParamKind::Tensor:
      return val != nullptr && fusion.val(*val).isTensor();
    case ParamKind::Tensors:
      return isListOf(fusion, arg, isTensorItem);
    case ParamKind::Value:
      return val != nullptr;
    case ParamKind::Size:
      return number != nullptr || (val != nullptr && !fusion.val(*val).isTensor());
    case ParamKind::Sizes:
      return std::holds_alternative<Ints>(arg) || isListOf(fusion, arg, isSizeItem);
    case ParamKind::Operand:
      return val != nullptr || number != nullptr;
    case ParamKind::Int:
      return number != nullptr && number->isInt();
    case ParamKind::Ints:
      return std::holds_alternative<Ints>(arg);
    case ParamKind::Bool:
      return number != nullptr && number->isBool();
    case ParamKind::DataType:
      return std::holds_alternative<PrimType>(arg);
  }
  return false;
}

void checkInteger(const Fusion& fusion, const OpInfo& op, const Param& param, const Arg& size) {
  const ValId* val = std::get_if<ValId>(&size);
  const PrimType type = val != nullptr ? fusion.val(*val).dtype() : std::get<Scalar>(size).type();
  if (categoryOf(type) != TypeCategory::Integral) {
    throwUser(ErrorKind::Runtime, {op.name, std::string(param.name) + " must be integer",
                                   "got a number of type " + std::string(meshfuse::nameOf(type)),
                                   "pass an int or a scalar of an integer type"});
  }
}

void completeArgs(const Fusion& fusion, const OpInfo& op, std::vector<Arg>& args) {
  if (args.size() > op.params.size()) {
    throwUser(ErrorKind::Type, {op.name, "too many arguments", "got " + std::to_string(args.size()),
                                "pass at most " + std::to_string(op.params.size())});
  }
  args.resize(op.params.size());
  for (size_t i = 0; i < args.size(); ++i) {
    const Param& param = op.params[i];
    forEachVal(args[i], [&](ValId val) {
      internalCheck(indexOf(val) < fusion.vals().size(), "an argument is a value of the fusion");
    });
    if (std::holds_alternative<std::monostate>(args[i]) && param.optional) {
      args[i] = param.defaultValue;
      continue;
    }
    if (!fits(fusion, args[i], param.kind)) {
      throwUser(ErrorKind::Type, {op.name, "incompatible function arguments",
                                  "argument '" + std::string(param.name) + "' is not " +
                                      std::string(nameOf(param.kind)),
                                  "see the op's signature"});
    }
    if (param.kind == ParamKind::Size) {
      checkInteger(fusion, op, param, args[i]);
    }
    if (param.kind == ParamKind::Sizes || param.kind == ParamKind::Size) {
      args[i] = withConstants(fusion, args[i]);
    }
  }
}

std::optional<Scalar> constantOf(const Fusion& fusion, const Arg& arg) {
  if (const Scalar* number = std::get_if<Scalar>(&arg)) {
    return *number;
  }
  return fusion.val(std::get<ValId>(arg)).scalar().constant;
}

/// A call without tensor operands: a number if all operands are, else a scalar known at run time.
ValId addScalarCall(Fusion& fusion, const OpInfo& op, std::vector<Arg> args) {
  const OpCall call{&op, &fusion, args, {}};
  const PrimType dtype = op.dtypes(call).front();
  std::vector<Scalar> operands;
  for (size_t i = 0; i < args.size(); ++i) {
    if (op.params[i].kind != ParamKind::Operand) {
      continue;
    }
    const std::optional<Scalar> constant = constantOf(fusion, args[i]);
    if (!constant) {
      return fusion.expr(fusion.addScalarExpr(op, std::move(args), dtype)).outputs.front();
    }
    operands.push_back(*constant);
  }
  if (const std::optional<Scalar> value = op.fold(call, operands)) {
    return fusion.addScalar(dtype, value);
  }
  return fusion.expr(fusion.addScalarExpr(op, std::move(args), dtype)).outputs.front();
}

ValId addExtent(Fusion& fusion, const OpInfo& op, std::vector<Arg> args) {
  const std::vector<TensorType> tensors = tensorOperands(fusion, args);
  if (const auto extent = op.extent({&op, &fusion, args, tensors}).asConstant()) {
    return fusion.addScalar(PrimType::Int, Scalar(*extent));
  }
  return fusion.expr(fusion.addScalarExpr(op, std::move(args), PrimType::Int)).outputs.front();
}

std::vector<ValId> addChecked(Fusion& fusion, const OpInfo& op, std::vector<Arg> args) {
  completeArgs(fusion, op, args);
  op.normalize(fusion, args);
  if (op.extent != nullptr) {
    return {addExtent(fusion, op, std::move(args))};
  }
  const bool hasTensor = !tensorOperands(fusion, args).empty();
  if (!hasTensor && op.fold != nullptr) {
    return {addScalarCall(fusion, op, std::move(args))};
  }
  std::vector<TensorType> types = inferOutputs(fusion, op, args);
  return fusion.expr(fusion.addExpr(op, std::move(args), std::move(types))).outputs;
}

}  // namespace

std::vector<ValId> addCall(Fusion& fusion, const OpInfo& op, std::vector<Arg> args) {
  try {
    return addChecked(fusion, op, std::move(args));
  } catch (const UserError& error) {
    rethrowNaming(op.name, error);
  }
}

}  // namespace meshfuse
