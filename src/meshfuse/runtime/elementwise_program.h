// Copies and sums of equal contiguous CPU tensors, run as one hand-bound loop.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include <ATen/core/Tensor.h>
#include <c10/util/DimVector.h>
#include <c10/util/SmallVector.h>

#include "meshfuse/ir/fusion.h"
#include "meshfuse/runtime/arg_view.h"
#include "meshfuse/values/polymorphic_value.h"

namespace meshfuse {

/// A fusion of `set` and `add` calls whose tensors all have one shape and one memory order. Runs block by block, so that
/// intermediates stay in a small buffer and never become tensors. Large tensors are split over ATen's threads.
class ElementwiseProgram {
 public:
  /// The program of `fusion` (constant extents, shardings settled) for `args`, or nullopt where it needs more than this:
  /// other calls, writes into inputs, reshardings, broadcasts, mixed or unusual dtypes, strided, empty-handed or non-CPU tensors.
  static std::optional<ElementwiseProgram> build(const Fusion& fusion,
                                                 std::span<const ArgView> args);

  using Values = c10::SmallVectorImpl<PolymorphicValue>;

  /// Appends fresh tensors for the outputs, in order.
  void allocate(Values& outputs) const;
  /// Computes the outputs, tensors that `allocate` made.
  void compute(std::span<const ArgView> args, const Values& outputs) const;

  /// Whether a run takes so long that the caller should let other threads in.
  bool isLarge() const noexcept {
    return elements_ * static_cast<int64_t>(steps_.size()) > kLargeElements;
  }

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

  void computeRange(std::span<const char* const> inputs, std::span<char* const> outputs,
                    std::span<const Scalar> numbers, int64_t begin, int64_t end) const;

  std::vector<Step> steps_;
  bool isOneCopy_ = false;
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

}  // namespace meshfuse
