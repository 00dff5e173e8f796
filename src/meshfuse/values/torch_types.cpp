#include "meshfuse/values/torch_types.h"

#include <array>
#include <string>
#include <string_view>

#include "meshfuse/base/error.h"

namespace meshfuse {
namespace {

struct TorchName {
  std::string_view name;
  at::ScalarType type;
};

constexpr std::array kTorchNames = {
    TorchName{"float64", at::ScalarType::Double},
    TorchName{"float32", at::ScalarType::Float},
    TorchName{"float16", at::ScalarType::Half},
    TorchName{"bfloat16", at::ScalarType::BFloat16},
    TorchName{"float8_e4m3fn", at::ScalarType::Float8_e4m3fn},
    TorchName{"float8_e5m2", at::ScalarType::Float8_e5m2},
    TorchName{"float8_e8m0fnu", at::ScalarType::Float8_e8m0fnu},
    TorchName{"float4_e2m1fn_x2", at::ScalarType::Float4_e2m1fn_x2},
    TorchName{"int64", at::ScalarType::Long},
    TorchName{"int32", at::ScalarType::Int},
    TorchName{"uint64", at::ScalarType::UInt64},
    TorchName{"bool", at::ScalarType::Bool},
    TorchName{"complex64", at::ScalarType::ComplexFloat},
    TorchName{"complex128", at::ScalarType::ComplexDouble},
};

constexpr at::ScalarType scalarTypeNamed(std::string_view name) {
  for (const TorchName& entry : kTorchNames) {
    if (entry.name == name) {
      return entry.type;
    }
  }
  return at::ScalarType::Undefined;
}

constexpr std::array kTorchTypes = {
#define MESHFUSE_DATA_TYPE(name, bits, category, torch_name, internal_name) \
  scalarTypeNamed(torch_name),
#include "meshfuse/types/data_types.def"
#undef MESHFUSE_DATA_TYPE
};

#define MESHFUSE_DATA_TYPE(name, bits, category, torch_name, internal_name)   \
  static_assert(std::string_view(torch_name).empty() ||                       \
                    scalarTypeNamed(torch_name) != at::ScalarType::Undefined, \
                "a torch name of data_types.def has no entry in kTorchNames");
#include "meshfuse/types/data_types.def"
#undef MESHFUSE_DATA_TYPE

constexpr uint8_t kNoPrimType = 0xff;

constexpr auto kPrimTypes = [] {
  std::array<uint8_t, static_cast<size_t>(at::ScalarType::NumOptions)> table{};
  table.fill(kNoPrimType);
  for (size_t i = 0; i < kTorchTypes.size(); ++i) {
    if (kTorchTypes[i] != at::ScalarType::Undefined) {
      table[static_cast<size_t>(kTorchTypes[i])] = static_cast<uint8_t>(i);
    }
  }
  return table;
}();

}  // namespace

at::ScalarType torchDtype(PrimType type) {
  const at::ScalarType found = kTorchTypes[static_cast<size_t>(type)];
  if (found == at::ScalarType::Undefined) [[unlikely]] {
    throwUser(ErrorKind::Type,
              {"torch dtype", "the element type must be one that torch tensors have",
               "DataType." + std::string(nameOf(type)), "use an element type that torch has"});
  }
  return found;
}

std::optional<PrimType> findPrimTypeOf(at::ScalarType type) noexcept {
  const auto index = static_cast<size_t>(type);
  if (index >= kPrimTypes.size() || kPrimTypes[index] == kNoPrimType) {
    return std::nullopt;
  }
  return static_cast<PrimType>(kPrimTypes[index]);
}

PrimType primTypeOf(at::ScalarType type) {
  const std::optional<PrimType> found = findPrimTypeOf(type);
  if (!found) [[unlikely]] {
    throwUser(ErrorKind::Type, {"element type", "the torch dtype must be one that the language has",
                                std::string("a tensor of dtype ") + c10::toString(type),
                                "convert the tensor first, for example to int64 or float32"});
  }
  return *found;
}

std::optional<MeshDevice> meshDeviceOf(c10::DeviceType type) noexcept {
  switch (type) {
    case c10::DeviceType::CPU:
      return MeshDevice::Cpu;
    case c10::DeviceType::CUDA:
      return MeshDevice::Cuda;
    case c10::DeviceType::Meta:
      return MeshDevice::Meta;
    default:
      return std::nullopt;
  }
}

c10::DeviceType deviceTypeOf(MeshDevice device) noexcept {
  switch (device) {
    case MeshDevice::Cpu:
      return c10::DeviceType::CPU;
    case MeshDevice::Cuda:
      return c10::DeviceType::CUDA;
    case MeshDevice::Meta:
      return c10::DeviceType::Meta;
  }
  return c10::DeviceType::CPU;
}

}  // namespace meshfuse
