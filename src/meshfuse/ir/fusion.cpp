#include "meshfuse/ir/fusion.h"

#include <algorithm>
#include <utility>

#include "meshfuse/base/error.h"
#include "meshfuse/ir/input_type.h"

namespace meshfuse {

ValId Fusion::addVal(Val val) {
  val.number = val.isTensor() ? tensorCount_++ : scalarCount_++;
  vals_.push_back(std::move(val));
  return ValId{static_cast<uint32_t>(vals_.size() - 1)};
}

SymbolId Fusion::addSymbol(SymbolSource source) {
  symbols_.push_back(source);
  return SymbolId{static_cast<uint32_t>(symbols_.size() - 1)};
}

ValId Fusion::addTensor(TensorType type) { return addVal({.type = std::move(type)}); }

ValId Fusion::addScalar(PrimType dtype, std::optional<Scalar> constant) {
  bool isRunTimeInteger = !constant && categoryOf(dtype) == TypeCategory::Integral;
  ValId id = addVal({.type = ScalarType{.dtype = dtype, .constant = constant}});
  if (isRunTimeInteger) {
    std::get<ScalarType>(val(id).type).symbol = addSymbol({.val = id, .dim = -1});
  }
  return id;
}

ValId Fusion::declareTensor(PrimType dtype, std::span<const int64_t> shape, Contiguity contiguity,
                            std::vector<int64_t> strideOrder, bool isCpuScalar) {
  checkInputType(shape, contiguity, strideOrder, isCpuScalar);
  if (isRowMajor(strideOrder)) {
    strideOrder.clear();
  }
  ValId id = addTensor({.dtype = dtype, .isCpuScalar = isCpuScalar});
  std::vector<IterDomain> domain;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    IntExpr extent = shape[dim] >= 0 ? IntExpr(shape[dim])
                                     : IntExpr::symbol(addSymbol({id, static_cast<int64_t>(dim)}));
    bool isBroadcast = !contiguity[allocationPosition(dim, shape.size(), strideOrder)].has_value();
    domain.push_back({std::move(extent), isBroadcast});
  }
  TensorType& type = val(id).tensor();
  type.domain = std::move(domain);
  type.contiguity = std::move(contiguity);
  type.strideOrder = std::move(strideOrder);
  return id;
}

ValId Fusion::addInputTensor(PrimType dtype, std::span<const int64_t> shape, Contiguity contiguity,
                             std::vector<int64_t> strideOrder, bool isCpuScalar) {
  const ValId id =
      declareTensor(dtype, shape, std::move(contiguity), std::move(strideOrder), isCpuScalar);
  addInput(id);
  return id;
}

ValId Fusion::addInputScalar(PrimType dtype) {
  ValId id = addScalar(dtype);
  addInput(id);
  return id;
}

void Fusion::addInput(ValId val) {
  internalCheck(indexOf(val) < vals_.size(), "an input is a value of the fusion");
  internalCheck(!isInput(val), "a value is an input once");
  inputs_.push_back(val);
}

void Fusion::addOutput(ValId id) {
  internalCheck(indexOf(id) < vals_.size(), "an output is a value of the fusion");
  if (!val(id).isTensor()) {
    throwUser(ErrorKind::Runtime,
              {"add_output", "outputs are tensors",
               "Non-TensorView outputs are not supported, and '" + nameOf(id) + "' is a scalar",
               "use the scalar in an operation on a tensor and return that"});
  }
  outputs_.push_back(id);
}

void Fusion::addWrite(ValId value, ValId input) {
  checkInputWrite(*this, value, input);
  internalCheck(val(value).definition != kNoExpr, "a value that is written is computed");
  std::erase_if(writes_, [&](const InputWrite& write) { return write.input == input; });
  writes_.push_back({.value = value, .input = input, .outputsBefore = outputs_.size()});
}

std::optional<ValId> Fusion::inputBehind(ValId id) const noexcept {
  if (isInput(id)) {
    return id;
  }
  const auto write = std::find_if(writes_.rbegin(), writes_.rend(),
                                  [&](const InputWrite& each) { return each.value == id; });
  return write == writes_.rend() ? std::nullopt : std::optional(write->input);
}

ExprId Fusion::appendExpr(const OpDescriptor& op, std::vector<Arg> args) {
  internalCheck(args.size() == op.params.size(), "a call has one argument for each parameter");
  exprs_.push_back({.op = &op, .args = std::move(args)});
  return ExprId{static_cast<uint32_t>(exprs_.size() - 1)};
}

ExprId Fusion::addExpr(const OpDescriptor& op, std::vector<Arg> args,
                       std::vector<TensorType> types) {
  internalCheck(types.size() == op.outputCount, "a call has as many outputs as its operation");
  ExprId id = appendExpr(op, std::move(args));
  for (TensorType& type : types) {
    exprs_.back().outputs.push_back(addVal({.type = std::move(type), .definition = id}));
  }
  return id;
}

ExprId Fusion::addScalarExpr(const OpDescriptor& op, std::vector<Arg> args, PrimType dtype) {
  ExprId id = appendExpr(op, std::move(args));
  ValId output = addScalar(dtype);
  val(output).definition = id;
  exprs_.back().outputs.push_back(output);
  return id;
}

bool Fusion::isInput(ValId id) const noexcept {
  return std::find(inputs_.begin(), inputs_.end(), id) != inputs_.end();
}

bool Fusion::isOutput(ValId id) const noexcept {
  return std::find(outputs_.begin(), outputs_.end(), id) != outputs_.end();
}

std::string Fusion::nameOf(ValId id) const {
  const Val& value = val(id);
  return (value.isTensor() ? "tv" : "c") + std::to_string(value.number);
}

std::vector<ValId> inputsOf(const Expr& expr) {
  std::vector<ValId> out;
  for (const Arg& arg : expr.args) {
    forEachVal(arg, [&out](ValId val) { out.push_back(val); });
  }
  return out;
}

}  // namespace meshfuse
