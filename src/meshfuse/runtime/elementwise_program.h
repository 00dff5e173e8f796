// Copies and sums of equal contiguous CPU tensors, run as one hand-bound loop.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/DimVector.h>

#include <optional>
#include <span>
#include <vector>

#include "meshfuse/ir/fusion.h"
#include "meshfuse/runtime/arg_view.h"

namespace meshfuse {

/// A fusion of `set` and `add` calls whose tensors all have one shape and one memory order. Runs block by block, so that
/// intermediates stay in a small buffer and never become tensors. Large tensors are split over ATen's threads.
class ElementwiseProgram {
 public:
  /// The program of `fusion` (constant extents, shardings settled) for `args`, or nullopt where it needs more than this:
  /// other calls, reshardings, broadcasts, mixed or unusual dtypes, strided, empty-handed or non-CPU tensors.
  static std::optional<ElementwiseProgram> build(const Fusion& fusion, std::span<const ArgView> args);

  /// Appends nothing and keeps nothing: calls `take(i, tensor)` with output i, in order.
  template <class Take>
  void run(std::span<const ArgView> args, Take&& take) const;

  size_t outputCount() const noexcept { return outputCount_; }
  /// Whether a run takes so long that the caller should let other threads in.
  bool isLarge() const noexcept { return elements_ * static_cast<int64_t>(steps_.size()) > kLargeElements; }

 private:
  static constexpr int64_t kLargeElements = int64_t{1} << 16;
  static constexpr int64_t kParallelBytes = int64_t{1} << 20;

  enum class Place : uint8_t { Input, Buffer, Output };
  /// Where a tensor's elements are: an argument, a block buffer, or an output.
  struct Slot {
    Place place = Place::Input;
    uint32_t index = 0;
  };
  enum class Kind : uint8_t { Copy, Add, AddNumber };
  /// One call. `number` is the argument that holds the second operand, or -1 for `constant`.
  struct Step {
    Kind kind = Kind::Copy;
    Slot target;
    Slot first;
    Slot second;
    int32_t number = -1;
    Scalar constant;
  };
  using AddTensors = void (*)(char* target, const char* first, const char* second, int64_t count);
  using AddNumber = void (*)(char* target, const char* first, const Scalar& number, int64_t count);
  class Builder;

  template <class T>
  bool useElement();

  at::Tensor allocateOutput() const;
  void compute(std::span<const ArgView> args, std::span<char* const> outputs) const;
  void computeRange(std::span<const char* const> inputs, std::span<char* const> outputs,
                    std::span<const Scalar> numbers, int64_t begin, int64_t end) const;

  std::vector<Step> steps_;
  uint32_t buffers_ = 0;
  size_t outputCount_ = 0;
  c10::DimVector sizes_;
  c10::DimVector strides_;
  caffe2::TypeMeta dtype_;
  AddTensors addTensors_ = nullptr;
  AddNumber addNumber_ = nullptr;
  int64_t itemBytes_ = 0;
  int64_t elements_ = 0;
};

template <class Take>
void ElementwiseProgram::run(std::span<const ArgView> args, Take&& take) const {
  c10::SmallVector<at::Tensor, 4> outputs;
  c10::SmallVector<char*, 4> addresses;
  for (size_t i = 0; i < outputCount_; ++i) {
    outputs.push_back(allocateOutput());
    addresses.push_back(static_cast<char*>(outputs.back().unsafeGetTensorImpl()->mutable_data()));
  }
  compute(args, addresses);
  for (size_t i = 0; i < outputCount_; ++i) {
    take(i, std::move(outputs[i]));
  }
}

}  // namespace meshfuse
