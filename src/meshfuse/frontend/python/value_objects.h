// The Python objects for values of a definition: Val, and below it TensorView and Scalar.
#pragma once

#include <memory>

#include <nanobind/nanobind.h>

#include "meshfuse/frontend/fusion_definition.h"

namespace meshfuse {

/// A value of a definition. It keeps the definition alive, so it prints after the block, after execution, and after its
/// FusionDefinition was defined anew or is gone.
struct ValueObject {
  std::shared_ptr<FusionDefinition> definition;
  ValId id;
};
struct TensorViewObject : ValueObject {};
struct ScalarObject : ValueObject {};

/// Adds Val, TensorView and Scalar to the module.
void bindValues(nanobind::module_& module);

/// A new TensorView or Scalar.
nanobind::object wrapValue(const std::shared_ptr<FusionDefinition>& definition, ValId id);

/// The value behind a TensorView or Scalar; null for any other object.
const ValueObject* valueOf(PyObject* object) noexcept;

}  // namespace meshfuse
