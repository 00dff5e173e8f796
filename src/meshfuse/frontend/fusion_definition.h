// The language for C++ users: defines a fusion call by call and runs it.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <ATen/core/Tensor.h>

#include "meshfuse/frontend/tensor_input.h"
#include "meshfuse/ir/fusion.h"
#include "meshfuse/ops/op_info.h"
#include "meshfuse/values/kernel_argument_holder.h"

namespace meshfuse {

class FusionDefinition;
class FusionExecutor;

/// A handle to a value of a definition; valid as long as the definition lives.
class ValueHandle {
 public:
  ValueHandle(FusionDefinition& definition, ValId id) : definition_(&definition), id_(id) {}

  ValId id() const noexcept { return id_; }
  FusionDefinition& definition() const noexcept { return *definition_; }
  bool isTensor() const;
  PrimType dtype() const;
  std::string toText() const;

  /// Appends a call of the op named `op` to this value's definition and returns the outputs. `args` are the op's stored
  /// parameters in order: handles, optional handles, numbers, bools, lists of integers, element types.
  template <class... Args>
  std::vector<ValueHandle> call(std::string_view op, const Args&... args) const;

 private:
  FusionDefinition* definition_;
  ValId id_;
};

/// A fusion under definition, and, from its first execution on, its executor. The same rules as the Python class: the first
/// execution closes the definition. Defining is for one thread at a time; executing is for any number.
class FusionDefinition {
 public:
  FusionDefinition();
  /// One that is written already; more may be added to it.
  explicit FusionDefinition(Fusion fusion);
  ~FusionDefinition();
  FusionDefinition(const FusionDefinition&) = delete;
  FusionDefinition& operator=(const FusionDefinition&) = delete;

  /// A tensor input, next in order. The rules of TensorInput hold; each that is broken throws UserError(Runtime).
  ValueHandle defineTensor(TensorInput input);
  ValueHandle defineTensor(std::vector<int64_t> shape, Contiguity contiguity,
                           PrimType dtype = PrimType::Float, bool isCpu = false,
                           std::vector<int64_t> strideOrder = {});
  /// One contiguity for all dimensions that are not broadcasts.
  ValueHandle defineTensor(std::vector<int64_t> shape, bool contiguity = false,
                           PrimType dtype = PrimType::Float, bool isCpu = false,
                           std::vector<int64_t> strideOrder = {});
  /// A tensor input like `tensor`: its element type and order of dimensions in memory, and its sizes if `staticSizes`.
  /// Throws UserError(Value) naming an element type that the language lacks or a layout that is not strided.
  ValueHandle fromPytorch(const at::Tensor& tensor, bool staticSizes = false);
  /// A scalar input, next in order.
  ValueHandle defineScalar(PrimType dtype = PrimType::Double);
  /// A constant, no input; cast to the kind of `dtype` where that is given.
  ValueHandle defineConstant(Scalar value, std::optional<PrimType> dtype = std::nullopt);
  /// A tensor or scalar like those of defineTensor and defineScalar that becomes an input by addInput alone.
  ValueHandle declareTensor(TensorInput input);
  ValueHandle declareScalar(PrimType dtype = PrimType::Double);
  /// Makes a declared value the next input. Throws UserError(Runtime) for one that is an input already, is computed, is a constant,
  /// or belongs to another definition.
  void addInput(const ValueHandle& value);
  /// Throws UserError(Runtime) for a scalar and for a value of another definition. A value may be added more than once.
  void addOutput(const ValueHandle& value);
  /// Writes the value into `aliasInput`, an input tensor, after each execution. It is returned only where it is added as an output
  /// as well, and then as that input itself. A value that is an input is copied. The last value added for an input wins. Throws
  /// as the other form, UserError(Type) for a scalar `aliasInput`, UserError(Runtime) for one that is no input or that has
  /// another element type or other sizes.
  void addOutput(const ValueHandle& value, const ValueHandle& aliasInput);

  /// Appends a call of the op named `op`, arguments as its stored parameters list them. Typed wrappers: frontend/ops.h
  std::vector<ValueHandle> call(std::string_view op, std::vector<Arg> args);
  /// The same for an op that is already found; returns the outputs' ids.
  std::vector<ValId> append(const OpInfo& op, std::vector<Arg> args);

  /// `handle` as an argument of a call in this definition; throws UserError(Runtime) naming `op` for a value of another.
  Arg argOf(std::string_view op, const ValueHandle& handle) const;

  KernelArgumentHolder execute(const KernelArgumentHolder& inputs);
  /// Makes the program and its kernels for inputs like these without running it; closes the definition.
  void compile(const KernelArgumentHolder& inputs);

  /// Runs the definition, made on first use, which closes it. Throws UserError(NotImplemented) where nothing was
  /// defined or nothing is an output. Safe from any thread.
  FusionExecutor& executor();
  /// The program of the last execution as text; throws UserError(Runtime) before the first one.
  std::string explain();
  bool isClosed() const noexcept { return executor_.load(std::memory_order_acquire) != nullptr; }

  const Fusion& fusion() const noexcept { return fusion_; }

 private:
  void requireOpen(std::string_view op) const;
  void requireInputs() const;
  ValId outputOf(const ValueHandle& value) const;

  Fusion fusion_;
  std::mutex executorMutex_;
  std::unique_ptr<FusionExecutor> ownedExecutor_;
  std::atomic<FusionExecutor*> executor_ = nullptr;
};

/// What a parameter of a typed call becomes as an argument of `definition`.
inline Arg toArg(const FusionDefinition& definition, std::string_view op,
                 const ValueHandle& value) {
  return definition.argOf(op, value);
}
inline Arg toArg(const FusionDefinition& definition, std::string_view op,
                 const std::optional<ValueHandle>& value) {
  return value ? definition.argOf(op, *value) : Arg();
}
inline Arg toArg(const FusionDefinition& definition, std::string_view op,
                 const std::vector<ValueHandle>& values) {
  Items items;
  for (const ValueHandle& value : values) {
    items.emplace_back(std::get<ValId>(definition.argOf(op, value)));
  }
  return items;
}
template <class T>
Arg toArg(const FusionDefinition& /*definition*/, std::string_view /*op*/, const T& value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return Scalar(value);
  } else {
    return Arg(value);
  }
}

template <class... Args>
std::vector<ValueHandle> ValueHandle::call(std::string_view op, const Args&... args) const {
  return definition_->call(op, std::vector<Arg>{toArg(*definition_, op, args)...});
}

}  // namespace meshfuse
