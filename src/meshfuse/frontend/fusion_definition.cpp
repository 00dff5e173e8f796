// The language for C++ users: defines a fusion call by call and runs it.
#include "meshfuse/frontend/fusion_definition.h"

#include <algorithm>
#include <sstream>

#include <ATen/ATen.h>

#include "meshfuse/base/error.h"
#include "meshfuse/base/error_naming.h"
#include "meshfuse/frontend/definition_source.h"
#include "meshfuse/ops/packed_types.h"
#include "meshfuse/runtime/fusion_executor.h"
#include "meshfuse/values/torch_types.h"

namespace meshfuse {

bool ValueHandle::isTensor() const { return definition_->fusion().val(id_).isTensor(); }

PrimType ValueHandle::dtype() const { return definition_->fusion().val(id_).dtype(); }

std::string ValueHandle::toText() const { return describeValue(definition_->fusion(), id_); }

FusionDefinition::FusionDefinition() = default;
FusionDefinition::FusionDefinition(Fusion fusion) : fusion_(std::move(fusion)) {}
FusionDefinition::~FusionDefinition() = default;

void FusionDefinition::requireOpen(std::string_view op) const {
  if (isClosed()) {
    throwUser(ErrorKind::Runtime, {op, "an executed definition is closed",
                                   "the definition has been executed", "make a new definition"});
  }
}

ValueHandle FusionDefinition::declareTensor(TensorInput input) {
  requireOpen("define_tensor");
  input = storedForm(std::move(input));
  const ValId id = fusion_.declareTensor(input.dtype, input.shape, std::move(input.contiguity),
                                         std::move(input.strideOrder), input.isCpu);
  return {*this, id};
}

ValueHandle FusionDefinition::defineTensor(TensorInput input) {
  const ValueHandle tensor = declareTensor(std::move(input));
  fusion_.addInput(tensor.id());
  return tensor;
}

ValueHandle FusionDefinition::defineTensor(std::vector<int64_t> shape, Contiguity contiguity,
                                           PrimType dtype, bool isCpu,
                                           std::vector<int64_t> strideOrder) {
  return defineTensor(
      TensorInput{std::move(shape), std::move(contiguity), dtype, isCpu, std::move(strideOrder)});
}

ValueHandle FusionDefinition::defineTensor(std::vector<int64_t> shape, bool contiguity,
                                           PrimType dtype, bool isCpu,
                                           std::vector<int64_t> strideOrder) {
  Contiguity flags = uniformContiguity(shape, strideOrder, contiguity);
  return defineTensor(std::move(shape), std::move(flags), dtype, isCpu, std::move(strideOrder));
}

ValueHandle FusionDefinition::fromPytorch(const at::Tensor& tensor, bool staticSizes) {
  constexpr std::string_view kOp = "from_pytorch";
  if (!tensor.defined() || tensor.layout() != at::kStrided) {
    std::ostringstream found;
    if (tensor.defined()) {
      found << "got a tensor of layout " << tensor.layout();
    } else {
      found << "got an undefined tensor";
    }
    throwUser(ErrorKind::Value, {kOp, "a tensor needs sizes and strides", found.str(),
                                 "pass a dense (strided) tensor"});
  }
  const std::optional<PrimType> dtype = findPrimTypeOf(tensor.scalar_type());
  if (!dtype) {
    throwUser(ErrorKind::Value,
              {kOp, "the language has no such element type",
               "got a tensor of dtype " + std::string(c10::toString(tensor.scalar_type())),
               "convert the tensor to one of the types of DataType"});
  }
  const bool isCpu = tensor.dim() == 0 && tensor.is_cpu();
  return defineTensor(tensorInputOf(tensor.sizes(), tensor.strides(), *dtype, staticSizes, isCpu));
}

ValueHandle FusionDefinition::declareScalar(PrimType dtype) {
  requireOpen("define_scalar");
  if (dtype == PrimType::Null) {
    throwUser(ErrorKind::Runtime, {"define_scalar", "a scalar has a type", "got DataType.Null",
                                   "name the type of the scalar"});
  }
  return {*this, fusion_.addScalar(dtype)};
}

ValueHandle FusionDefinition::defineScalar(PrimType dtype) {
  const ValueHandle scalar = declareScalar(dtype);
  fusion_.addInput(scalar.id());
  return scalar;
}

void FusionDefinition::addInput(const ValueHandle& value) {
  requireOpen("add_input");
  const ValId id = std::get<ValId>(argOf("add_input", value));
  const Val& val = fusion_.val(id);
  const char* found = fusion_.isInput(id)                        ? "is an input already"
                      : val.definition != kNoExpr                ? "is computed"
                      : !val.isTensor() && val.scalar().constant ? "is a constant"
                                                                 : nullptr;
  if (found != nullptr) {
    throwUser(ErrorKind::Runtime,
              {"add_input", "an input is a declared value, once", value.toText() + " " + found,
               "declare a value with meshfuse.define_tensor or define_scalar and add that"});
  }
  fusion_.addInput(id);
}

/// What is computed from, and what is given back, comes from somewhere.
void FusionDefinition::requireInputs() const {
  const auto require = [&](ValId id) {
    const Val& val = fusion_.val(id);
    if (val.definition == kNoExpr && !fusion_.isInput(id) &&
        (val.isTensor() || !val.scalar().constant)) {
      throwUser(ErrorKind::Runtime, {"execute", "values that are used are inputs or computed",
                                     describeValue(fusion_, id) + " was declared and is neither",
                                     "make it an input with add_input"});
    }
  };
  for (const Expr& expr : fusion_.exprs()) {
    std::ranges::for_each(inputsOf(expr), require);
  }
  std::ranges::for_each(fusion_.outputs(), require);
}

ValueHandle FusionDefinition::defineConstant(Scalar value, std::optional<PrimType> dtype) {
  requireOpen("define_scalar");
  const PrimType type = dtype.value_or(value.type());
  try {
    return {*this, fusion_.addScalar(type, value.castTo(type))};
  } catch (const UserError& error) {
    rethrowNaming("define_scalar", error);
  }
}

/// `value` as an output; throws where it cannot be one.
ValId FusionDefinition::outputOf(const ValueHandle& value) const {
  requireOpen("add_output");
  const Arg arg = argOf("add_output", value);
  if (!value.isTensor()) {
    throwUser(ErrorKind::Runtime,
              {"add_output", "Non-TensorView outputs are not supported",
               "got the scalar " + value.toText(),
               "use the scalar in an operation on tensors and add that operation's result"});
  }
  const ValId id = std::get<ValId>(arg);
  if (const TensorType& type = fusion_.val(id).tensor(); type.dtype == PrimType::Float4_e2m1fn) {
    std::vector<int64_t> sizes;
    for (const IterDomain& domain : type.domain) {
      sizes.push_back(domain.extent.asConstant().value_or(-1));
    }
    checkPackable("add_output", meshfuse::toText(type), sizes, packedDim(fusion_, id));
  }
  return id;
}

void FusionDefinition::addOutput(const ValueHandle& value) { fusion_.addOutput(outputOf(value)); }

void FusionDefinition::addOutput(const ValueHandle& value, const ValueHandle& aliasInput) {
  ValId written = outputOf(value);
  const ValId input = std::get<ValId>(argOf("add_output", aliasInput));
  checkInputWrite(fusion_, written, input);
  if (fusion_.val(written).definition == kNoExpr) {
    written = append(*findOp("set"), {written}).front();
  }
  fusion_.addWrite(written, input);
}

Arg FusionDefinition::argOf(std::string_view op, const ValueHandle& handle) const {
  if (&handle.definition() != this) {
    throwUser(ErrorKind::Runtime, {op, "values must belong to the definition that is being built",
                                   "got " + handle.toText() + " of another definition",
                                   "define the value again in this definition"});
  }
  return handle.id();
}

std::vector<ValId> FusionDefinition::append(const OpInfo& op, std::vector<Arg> args) {
  requireOpen(op.name);
  return addCall(fusion_, op, std::move(args));
}

std::vector<ValueHandle> FusionDefinition::call(std::string_view op, std::vector<Arg> args) {
  const OpInfo* info = findOp(op);
  if (info == nullptr) {
    throwUser(ErrorKind::Value,
              {op, "the language has no such operation", "got the name '" + std::string(op) + "'",
               "use one of the operations of allOps()"});
  }
  std::vector<ValueHandle> outputs;
  for (ValId id : append(*info, std::move(args))) {
    outputs.emplace_back(*this, id);
  }
  return outputs;
}

FusionExecutor& FusionDefinition::executor() {
  if (FusionExecutor* existing = executor_.load(std::memory_order_acquire)) {
    return *existing;
  }
  const std::scoped_lock lock(executorMutex_);
  if (ownedExecutor_ == nullptr) {
    if (fusion_.outputs().empty() && fusion_.writes().empty()) {
      throwUser(ErrorKind::NotImplemented,
                {"execute", "Fusion is empty!", "the definition has no outputs",
                 "add at least one with add_output"});
    }
    requireInputs();
    ownedExecutor_ = std::make_unique<FusionExecutor>(fusion_);
    executor_.store(ownedExecutor_.get(), std::memory_order_release);
  }
  return *ownedExecutor_;
}

std::string FusionDefinition::explain() {
  FusionExecutor* existing = executor_.load(std::memory_order_acquire);
  std::string text = existing == nullptr ? std::string() : existing->explain();
  if (text.empty()) {
    throwUser(ErrorKind::Runtime, {"explain", "a program exists from the first execution on",
                                   "nothing was executed", "execute the definition first"});
  }
  return text;
}

KernelArgumentHolder FusionDefinition::execute(const KernelArgumentHolder& inputs) {
  return executor().execute(inputs);
}

void FusionDefinition::compile(const KernelArgumentHolder& inputs) { executor().compile(inputs); }

}  // namespace meshfuse
