#include "meshfuse/runtime/input_checks.h"

#include <algorithm>
#include <optional>
#include <string>

#include "meshfuse/base/error.h"
#include "meshfuse/base/text.h"
#include "meshfuse/mesh/shard_arithmetic.h"
#include "meshfuse/runtime/packed_tensors.h"
#include "meshfuse/values/torch_types.h"

namespace meshfuse {

namespace {

constexpr std::string_view kOp = "execute";
constexpr std::string_view kRule = "arguments must match the definition's inputs";

[[noreturn]] void refuse(const std::string& found, std::string_view wayOut) {
  throwUser(ErrorKind::Runtime, {kOp, kRule, found, wayOut});
}

std::string expected(const Fusion& fusion, size_t position) {
  return "Expected " + inputName(fusion, position) + " ";
}

std::string internalNameOf(at::ScalarType type) {
  const std::optional<PrimType> prim = findPrimTypeOf(type);
  return prim ? std::string(meshfuse::internalNameOf(*prim)) : c10::toString(type);
}

std::string textOf(c10::IntArrayRef values) {
  return toText(std::span<const int64_t>(values.data(), values.size()));
}

bool dtypeFits(PrimType declared, at::ScalarType given) {
  if (declared == PrimType::Index) {
    return given == at::kInt || given == at::kLong;
  }
  if (declared == PrimType::Float4_e2m1fn) {
    return given == at::ScalarType::Float4_e2m1fn_x2;
  }
  return findPrimTypeOf(given) == declared;
}

void checkDtype(const Fusion& fusion, size_t position, const TensorType& type, const ArgView& arg) {
  const at::ScalarType given = arg.tensor->dtype().toScalarType();
  if (dtypeFits(type.dtype, given)) {
    return;
  }
  const std::string_view torchName = torchNameOf(type.dtype);
  const bool isPacked = type.dtype == PrimType::Float4_e2m1fn;
  refuse(expected(fusion, position) + "to be bound to a tensor of dtype " +
             std::string(internalNameOf(type.dtype)) + ", but got a tensor of dtype " +
             internalNameOf(given),
         isPacked            ? "pass a tensor of torch.float4_e2m1fn_x2, with two elements a byte"
         : torchName.empty() ? "define the input with the tensor's dtype"
                             : "convert it with .to(torch." + std::string(torchName) +
                                   "), or define the input with the tensor's dtype");
}

void checkRank(const Fusion& fusion, size_t position, const TensorType& type, const ArgView& arg) {
  if (arg.tensor->dim() != type.rank()) {
    refuse(expected(fusion, position) + "to be bound to a tensor of rank " +
               std::to_string(type.rank()) + ", but got a tensor of rank " +
               std::to_string(arg.tensor->dim()) + " and sizes " + textOf(arg.sizes()),
           "pass a tensor of the declared rank, or define the input with this one");
  }
}

/// Declared extents against the global sizes; broadcasts against the local layout.
void checkExtents(const Fusion& fusion, size_t position, const TensorType& type,
                  const ArgView& arg) {
  const std::vector<int64_t> sizes = sizesInElements(type, arg);
  const auto found = [&](size_t dim) {
    return expected(fusion, position) + "dimension " + std::to_string(dim) + " of " + toText(type) +
           " ";
  };
  for (size_t dim = 0; dim < sizes.size(); ++dim) {
    const IterDomain& domain = type.domain[dim];
    if (const std::optional<int64_t> extent = domain.extent.asConstant();
        extent && *extent != sizes[dim]) {
      const bool isOne = domain.isBroadcast && !domain.isExpanded();
      refuse(
          found(dim) +
              (isOne ? "to be a broadcast of size 1" : "to have size " + std::to_string(*extent)) +
              ", but got a tensor of sizes " + toText(sizes),
          isOne ? "pass size 1 there, or define the dimension as -1"
                : "pass the declared size, or define the dimension as -1");
    }
    if (domain.isExpanded() && arg.tensor->sizes()[dim] != 1 && arg.tensor->strides()[dim] != 0) {
      refuse(found(dim) + "to be an expanded broadcast of stride 0, but got stride " +
                 std::to_string(arg.tensor->strides()[dim]),
             "pass tensor.expand(...), or give the dimension a contiguity other than None");
    }
  }
}

/// Contiguity flags, from the innermost dimension in memory outwards. Size-1 dimensions and empty tensors are exempt.
void checkContiguity(const Fusion& fusion, size_t position, const TensorType& type,
                     const ArgView& arg) {
  const c10::TensorImpl& tensor = *arg.tensor;
  const size_t rank = type.domain.size();
  if (type.contiguity.empty() || tensor.numel() == 0) {
    return;
  }
  const auto [sizes, strides] = layoutInElements(type, tensor);
  std::vector<size_t> dimAt(rank);  // by distance from the innermost dimension
  for (size_t dim = 0; dim < rank; ++dim) {
    dimAt[type.strideOrder.empty() ? rank - 1 - dim : static_cast<size_t>(type.strideOrder[dim])] =
        dim;
  }
  int64_t next = 1;
  for (size_t i = 0; i < rank; ++i) {
    const size_t dim = dimAt[i];
    const std::optional<bool> flag = type.contiguity[rank - 1 - i];
    if (!flag.has_value() || sizes[dim] == 1) {
      continue;
    }
    const int64_t stride = strides[dim];
    if (*flag && stride != next) {
      refuse(expected(fusion, position) + "to be contiguous in dimension " + std::to_string(dim) +
                 ": stride mismatch with contiguity info, strides " + toText(strides) +
                 " of sizes " + toText(sizes) + " have " + std::to_string(stride) +
                 " where contiguity needs " + std::to_string(next),
             "pass tensor.contiguous(), or define the input with contiguity=False there");
    }
    next = stride * sizes[dim];
  }
}

void checkTensor(const Fusion& fusion, size_t position, const Val& val, const ArgView& arg) {
  if (!arg.isTensor()) {
    refuse(
        expected(fusion, position) + "to be an at::Tensor but got scalar " + arg.scalar().toText(),
        "pass a tensor of " + toText(val.tensor()));
  }
  const TensorType& type = val.tensor();
  checkDtype(fusion, position, type, arg);
  checkRank(fusion, position, type, arg);
  checkExtents(fusion, position, type, arg);
  checkContiguity(fusion, position, type, arg);
  checkPackedArg(fusion, position, arg);
  if (type.isCpuScalar && !arg.tensor->device().is_cpu()) {
    refuse(expected(fusion, position) + "to be a CPU tensor, but got one on " +
               arg.tensor->device().str(),
           "pass tensor.cpu(), or define the input without is_cpu");
  }
}

void checkNumber(const Fusion& fusion, size_t position, const Val& val, const ArgView& arg) {
  if (arg.isTensor()) {
    const c10::TensorImpl& tensor = *arg.tensor;
    refuse(expected(fusion, position) + "to be a scalar but got " +
               internalNameOf(tensor.dtype().toScalarType()) + " tensor of rank " +
               std::to_string(tensor.dim()),
           tensor.numel() == 1 ? "pass tensor.item()" : "pass a number");
  }
  const PrimType declared = val.dtype();
  const TypeCategory given = arg.scalar().category();
  if (given != categoryOf(declared)) {
    refuse("for " + inputName(fusion, position) + " Scalar value " + arg.scalar().toText() +
               " is not compatible with the expected data type: " +
               std::string(internalNameOf(declared)) + ".",
           categoryOf(declared) == TypeCategory::Boolean    ? "pass a bool"
           : categoryOf(declared) == TypeCategory::Integral ? "pass an int"
           : categoryOf(declared) == TypeCategory::Floating ? "pass a float"
                                                            : "pass a complex number");
  }
}

void checkDevices(const Fusion& fusion, std::span<const ArgView> args) {
  std::optional<size_t> first;
  for (size_t i = 0; i < args.size(); ++i) {
    if (!args[i].isTensor() || (args[i].tensor->device().is_cpu() && args[i].tensor->dim() == 0)) {
      continue;
    }
    if (!first) {
      first = i;
    } else if (args[i].tensor->device() != args[*first].tensor->device()) {
      throwUser(ErrorKind::Runtime,
                {kOp, "tensors must be on one device (0-dim CPU tensors may be beside any)",
                 inputName(fusion, *first) + " is on " + args[*first].tensor->device().str() +
                     ", " + inputName(fusion, i) + " is on " + args[i].tensor->device().str(),
                 "move them to one device with .to(device)"});
    }
  }
}

void checkMeshes(const Fusion& fusion, std::span<const ArgView> args) {
  std::optional<size_t> distributed;
  std::optional<size_t> plain;
  for (size_t i = 0; i < args.size(); ++i) {
    if (!args[i].isTensor()) {
      continue;
    }
    if (!args[i].isDistributed()) {
      plain = plain.value_or(i);
      continue;
    }
    if (!distributed) {
      distributed = i;
    }
    const Sharding& a = *args[*distributed].sharding;
    const Sharding& b = *args[i].sharding;
    if (a.mesh != b.mesh || a.device != b.device) {
      throwUser(ErrorKind::Runtime, {kOp, "distributed tensors must lie over one mesh",
                                     inputName(fusion, *distributed) + " is on " + a.toText() +
                                         ", " + inputName(fusion, i) + " is on " + b.toText(),
                                     "redistribute them onto one mesh first"});
    }
  }
  if (distributed && plain) {
    throwUser(
        ErrorKind::Runtime,
        {kOp, "distributed and plain tensors cannot be mixed in one call",
         inputName(fusion, *distributed) + " is distributed as " +
             args[*distributed].sharding->toText() + ", " + inputName(fusion, *plain) +
             " is a plain tensor of sizes " + textOf(args[*plain].tensor->sizes()),
         "make the plain one a DTensor (DTensor.from_local(tensor, mesh, [Replicate(), ...]) or "
         "distribute_tensor), pass a Python number for a 0-dim tensor, or pass local tensors "
         "only"});
  }
}

}  // namespace

std::string inputName(const Fusion& fusion, size_t position) {
  return "input " + std::to_string(position) + ", " + fusion.nameOf(fusion.inputs()[position]) +
         ",";
}

void checkTangent(const at::Tensor& tensor, size_t position) {
  // torch has level 0 alone.
  if (tensor.unsafeGetTensorImpl()->autograd_meta() == nullptr ||
      !tensor._fw_grad(/*level=*/0).defined()) {
    return;
  }
  throwUser(ErrorKind::Runtime, {kOp, "results carry no derivatives, and tangents would be lost",
                                 "argument " + std::to_string(position) +
                                     " carries a tangent of forward-mode differentiation",
                                 "call execute outside of it, or pass "
                                 "torch.autograd.forward_ad.unpack_dual(tensor).primal"});
}

void checkCount(const Fusion& fusion, size_t argCount) {
  const std::span<const ValId> inputs = fusion.inputs();
  if (argCount == inputs.size()) {
    return;
  }
  std::vector<std::string> names;
  for (ValId id : inputs) {
    names.push_back(fusion.nameOf(id));
  }
  refuse("got " + std::to_string(argCount) + (argCount == 1 ? " argument" : " arguments") +
             ", the definition has " + std::to_string(inputs.size()) +
             (inputs.size() == 1 ? " input" : " inputs") +
             (names.empty() ? "" : " (" + joinText(names, ", ") + ")"),
         "pass one argument for each input, in definition order");
}

void checkInputs(const Fusion& fusion, std::span<const ArgView> args) {
  for (size_t i = 0; i < args.size(); ++i) {
    const Val& val = fusion.val(fusion.inputs()[i]);
    if (val.isTensor()) {
      checkTensor(fusion, i, val, args[i]);
    } else {
      checkNumber(fusion, i, val, args[i]);
    }
  }
}

void checkTogether(const Fusion& fusion, std::span<const ArgView> args) {
  checkDevices(fusion, args);
  checkMeshes(fusion, args);
}

void checkLocalSizes(const Fusion& fusion, std::span<const ArgView> args, int64_t rank) {
  for (size_t i = 0; i < args.size(); ++i) {
    if (!args[i].isDistributed()) {
      continue;
    }
    const Sharding& sharding = *args[i].sharding;
    const c10::IntArrayRef local = args[i].tensor->sizes();
    const std::span<const int64_t> global(args[i].globalSizes, local.size());
    const std::vector<int64_t> expected =
        localSizes(sharding, global, sharding.mesh.coordinateAtLinear(rank));
    if (!std::ranges::equal(local, expected)) {
      throwUser(
          ErrorKind::Value,
          {"execute",
           "a distributed tensor's local part has the sizes that its placements give this rank",
           inputName(fusion, i) + " of global sizes " + toText(global) + " on " +
               sharding.toText() + " has local sizes " +
               toText(std::span<const int64_t>(local.data(), local.size())) + " instead of " +
               toText(std::span<const int64_t>(expected)),
           "make it with distribute_tensor, or give from_local the tensor's true shape"});
    }
  }
}

}  // namespace meshfuse
