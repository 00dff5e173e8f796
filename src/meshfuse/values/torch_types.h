// The language's element types as torch's, and back.
#pragma once

#include <optional>

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include "meshfuse/mesh/sharding.h"
#include "meshfuse/types/data_type.h"

namespace meshfuse {

/// torch's dtype for an element type; throws UserError(Type) naming it where torch has none (Index, Null, Float4_e2m1fn).
at::ScalarType torchDtype(PrimType type);
/// The element type of a torch dtype; throws UserError(Type) naming the dtype for those the language lacks (int8, int16, quantized …).
PrimType primTypeOf(at::ScalarType type);
/// As above, nullopt for those the language lacks.
std::optional<PrimType> findPrimTypeOf(at::ScalarType type) noexcept;

/// The device type a mesh of these devices has; nullopt for devices that meshes are not made of.
std::optional<MeshDevice> meshDeviceOf(c10::DeviceType type) noexcept;
c10::DeviceType deviceTypeOf(MeshDevice device) noexcept;

}  // namespace meshfuse
