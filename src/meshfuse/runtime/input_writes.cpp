#include "meshfuse/runtime/input_writes.h"

#include <algorithm>
#include <string>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <c10/core/InferenceMode.h>

#include "meshfuse/base/error.h"
#include "meshfuse/base/text.h"
#include "meshfuse/runtime/input_checks.h"
#include "meshfuse/runtime/memory_overlap.h"

namespace meshfuse {

namespace {

[[noreturn]] void refuse(std::string_view rule, const std::string& found, std::string_view wayOut) {
  throwUser(ErrorKind::Runtime, {"execute", rule, found, wayOut});
}

int32_t positionOf(const Fusion& fusion, ValId input) {
  const auto found = std::ranges::find(fusion.inputs(), input);
  return static_cast<int32_t>(found - fusion.inputs().begin());
}

at::Tensor tensorOf(const c10::TensorImpl& tensor) {
  return at::Tensor(c10::intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>::reclaim_copy(
      const_cast<c10::TensorImpl*>(&tensor)));
}

void checkApart(const Fusion& fusion, std::span<const uint32_t> positions,
                std::span<const ArgView> args) {
  for (size_t i = 0; i < positions.size(); ++i) {
    for (size_t j = i + 1; j < positions.size(); ++j) {
      if (shareMemory(*args[positions[i]].tensor, *args[positions[j]].tensor)) {
        refuse("inputs that are written share no memory with one another, so that no order matters",
               inputName(fusion, positions[i]) + " and " + inputName(fusion, positions[j]) +
                   " are both written and share memory",
               "pass a clone of one of them");
      }
    }
  }
}

}  // namespace

std::vector<uint32_t> writtenInputs(const Fusion& fusion) {
  std::vector<uint32_t> positions;
  for (const InputWrite& write : fusion.writes()) {
    positions.push_back(static_cast<uint32_t>(positionOf(fusion, write.input)));
  }
  return positions;
}

std::vector<int32_t> returnedInputs(const Fusion& fusion) {
  std::vector<int32_t> positions;
  for (ValId output : fusion.outputs()) {
    const std::optional<ValId> input = fusion.inputBehind(output);
    positions.push_back(input ? positionOf(fusion, *input) : -1);
  }
  const bool anyIsReturned = std::ranges::any_of(positions, [](int32_t p) { return p >= 0; });
  return anyIsReturned ? positions : std::vector<int32_t>();
}

void checkWrittenLayouts(const Fusion& fusion, std::span<const uint32_t> positions,
                         std::span<const ArgView> args) {
  for (uint32_t position : positions) {
    const c10::TensorImpl& tensor = *args[position].tensor;
    if (overlapsItself(tensor.sizes(), tensor.strides())) {
      const auto textOf = [](c10::IntArrayRef list) {
        return toText(std::span<const int64_t>(list.data(), list.size()));
      };
      refuse("an input that is written has memory of its own for each element",
             inputName(fusion, position) + " has sizes " + textOf(tensor.sizes()) +
                 " and strides " + textOf(tensor.strides()) +
                 ", so that several elements lie at one address",
             "pass tensor.clone(memory_format=torch.contiguous_format)");
    }
  }
}

void checkWritable(const Fusion& fusion, uint32_t position, const c10::TensorImpl& tensor) {
  const auto found = [&](std::string_view what) {
    return inputName(fusion, position) + " is written and " + std::string(what);
  };
  const at::Tensor handle = tensorOf(tensor);
  if (c10::GradMode::is_enabled() && handle.requires_grad()) {
    refuse("an input that is written takes no part in autograd, which could not follow the write",
           found(handle.is_leaf() ? "is a leaf that requires grad" : "requires grad"),
           "call execute under torch.no_grad(), or pass tensor.detach()");
  }
  if (handle.is_inference() && !c10::InferenceMode::is_enabled()) {
    refuse("an inference tensor is written in inference mode only", found("is an inference tensor"),
           "call execute under torch.inference_mode(), or pass tensor.clone()");
  }
}

void checkWritten(const Fusion& fusion, std::span<const uint32_t> positions,
                  std::span<const ArgView> args) {
  for (uint32_t position : positions) {
    const ArgView& arg = args[position];
    if (arg.isResolvedCopy) {
      refuse("an input that is written is no lazy view",
             inputName(fusion, position) + " is a lazily conjugated or negated view",
             "pass tensor.resolve_conj().resolve_neg(), and copy the result back if it is needed");
    }
    checkWritable(fusion, position, *arg.tensor);
    if (arg.tensor->numel() > 0 && dataOf(*arg.tensor) == nullptr &&
        arg.tensor->device().type() != c10::DeviceType::Meta) {
      refuse("an input that is written has memory",
             inputName(fusion, position) + " has elements, and a storage of " +
                 std::to_string(arg.tensor->unsafe_storage().nbytes()) + " bytes",
             "resize its storage before the call");
    }
  }
  checkApart(fusion, positions, args);
}

void settleResults(ComputedResults results, std::span<const int32_t> returned,
                   std::span<const at::Tensor> targets) {
  const auto settle = [&](PolymorphicValue& value) {
    const at::Tensor& tensor = value.asTensor();
    const bool isView = std::ranges::any_of(targets, [&](const at::Tensor& target) {
      return mayShareMemory(*tensor.unsafeGetTensorImpl(), *target.unsafeGetTensorImpl());
    });
    if (isView) {
      value = tensor.clone();
    }
  };
  for (size_t i = 0; i < results.outputs.size(); ++i) {
    if (returned.empty() || returned[i] < 0) {
      settle(results.outputs[i]);
    }
  }
  for (size_t i = 0; i < targets.size(); ++i) {
    settle(results.written[i]);
    const at::Tensor& value = results.written[i].asTensor();
    internalCheck(
        value.scalar_type() == targets[i].scalar_type() && value.sizes() == targets[i].sizes(),
        "a value has the element type and the sizes of the input it is written into");
  }
}

void writeInputs(std::span<const PolymorphicValue> values, std::span<const at::Tensor> targets) {
  for (size_t i = 0; i < values.size(); ++i) {
    targets[i].copy_(values[i].asTensor());
  }
}

}  // namespace meshfuse
