// The language for C++ users: defines a fusion call by call and runs it.
#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "meshfuse/ir/fusion.h"
#include "meshfuse/ops/op_info.h"
#include "meshfuse/values/kernel_argument_holder.h"

namespace meshfuse {

class FusionDefinition;

/// A handle to a value of a definition; valid as long as the definition lives.
class ValueHandle {
 public:
  ValueHandle(FusionDefinition* definition, ValId id) : definition_(definition), id_(id) {}
  ValId id() const noexcept { return id_; }
  FusionDefinition& definition() const noexcept { return *definition_; }
  bool isTensor() const;
  PrimType dtype() const;

 private:
  FusionDefinition* definition_;
  ValId id_;
};

/// A fusion under definition, and, from its first execution on, its executor. The same rules as the Python class:
/// after the first execute the definition is closed.
class FusionDefinition {
 public:
  FusionDefinition();
  ~FusionDefinition();
  FusionDefinition(FusionDefinition&&) noexcept;
  FusionDefinition& operator=(FusionDefinition&&) noexcept;

  /// A tensor input. `shape` entries: -1 symbolic, 0 empty, 1 broadcast, n static. `contiguity` is in allocation order;
  /// nullopt exactly on broadcast dimensions.
  ValueHandle defineTensor(std::vector<int64_t> shape, Contiguity contiguity,
                           PrimType dtype = PrimType::Float, bool isCpu = false,
                           std::vector<int64_t> strideOrder = {});
  ValueHandle defineTensor(std::vector<int64_t> shape, bool contiguity = false,
                           PrimType dtype = PrimType::Float, bool isCpu = false,
                           std::vector<int64_t> strideOrder = {});
  ValueHandle fromPytorch(const at::Tensor& tensor, bool staticSizes = false);
  ValueHandle defineScalar(PrimType dtype = PrimType::Double);
  ValueHandle defineConstant(Scalar value, std::optional<PrimType> dtype = std::nullopt);
  void addOutput(ValueHandle value);

  /// Appends a call of the op named `op`, arguments as its stored parameters list them. Typed wrappers: frontend/ops.h
  std::vector<ValueHandle> call(std::string_view op, std::vector<Arg> args);

  KernelArgumentHolder execute(const KernelArgumentHolder& inputs);

  const Fusion& fusion() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace meshfuse
