// A local tensor together with the sharding that makes it a part of a global one.
#pragma once

#include <span>
#include <utility>

#include <c10/core/TensorImpl.h>
#include <c10/util/DimVector.h>

#include "meshfuse/mesh/sharding.h"
#include "meshfuse/values/value_words.h"

namespace meshfuse {

/// What an uneven distributed tensor keeps beside its local tensor, in one block of memory.
class DistributedBox final : public c10::intrusive_ptr_target {
 public:
  /// The caller owns one reference. `sizes` and `strides` are as many as the tensor has dimensions.
  static DistributedBox* make(at::Tensor&& local, std::span<const int64_t> sizes,
                              std::span<const int64_t> strides);
  static void operator delete(void* block) { ::operator delete(block); }

  const at::Tensor& local() const noexcept { return local_; }
  at::Tensor& local() noexcept { return local_; }
  std::span<const int64_t> globalSizes() const noexcept { return {numbers(), rank_}; }
  std::span<const int64_t> globalStrides() const noexcept { return {numbers() + rank_, rank_}; }

 private:
  DistributedBox(at::Tensor&& local, size_t rank) noexcept
      : local_(std::move(local)), rank_(rank) {}
  // The sizes, then the strides, lie behind the object.
  const int64_t* numbers() const noexcept { return reinterpret_cast<const int64_t*>(this + 1); }

  at::Tensor local_;
  size_t rank_;
};

/// This rank's part of a tensor that lies over a mesh. Sixteen bytes: copying increments one reference count, moving none.
/// Sizes and strides are the global tensor's. A tensor whose global sizes and strides follow from the local ones (every sharded
/// dimension the same on all ranks) stores nothing more than the local tensor and the sharding; any other keeps them in a box.
class DistributedTensor {
 public:
  /// An evenly sharded tensor: global sizes and strides follow from the local ones. Throws UserError(Type) for an undefined
  /// tensor or no sharding, UserError(Value) if the sharding names a dimension the tensor lacks.
  DistributedTensor(at::Tensor local, ShardingId sharding);
  /// A part of a tensor of `globalSizes` and `globalStrides`, even or not. Throws as above, and UserError(Value) if their
  /// number is not the local tensor's rank.
  DistributedTensor(at::Tensor local, ShardingId sharding, std::span<const int64_t> globalSizes,
                    std::span<const int64_t> globalStrides);
  /// As the first constructor, for a caller that has checked: `local` is defined and fits `sharding`.
  static DistributedTensor evenUnchecked(at::Tensor&& local, ShardingId sharding) noexcept {
    return DistributedTensor(
        ValueWords(local.unsafeReleaseTensorImpl(),
                   ValueWords::tagOf(ValueKind::DistributedTensor, 0, sharding.value())));
  }

  /// This rank's tensor.
  const at::Tensor& local() const& noexcept {
    return words_.isBoxed() ? box().local() : words_.tensor();
  }
  /// Takes this rank's tensor out; no reference count moves unless another value shares the same box.
  at::Tensor local() && { return words_.isBoxed() ? takeBoxedLocal() : words_.takeTensor(); }

  ShardingId sharding() const noexcept { return ShardingId::fromValue(words_.aux()); }
  const DeviceMesh& mesh() const { return sharding()->mesh; }
  std::span<const Placement> placements() const { return sharding()->placements; }
  /// The tensor dimension that the mesh axis of `type` shards; -1 if it shards none.
  int64_t axisShardedOn(ParallelType type) const { return sharding()->axisShardedOn(type); }

  /// Number of dimensions, the same for the local and the global tensor.
  int64_t dim() const { return local().dim(); }
  at::ScalarType scalarType() const noexcept { return local().scalar_type(); }
  c10::Device device() const { return local().device(); }
  /// Sizes of the global tensor.
  c10::DimVector sizes() const;
  int64_t size(int64_t dim) const;
  /// Strides of the global tensor, as torch derives them from the local ones.
  c10::DimVector strides() const;

  /// The same object: local tensor, sharding and global sizes.
  bool isSame(const DistributedTensor& other) const noexcept;
  /// Whether global sizes are kept in a box; for tests and statistics, never needed to use the value.
  bool isBoxed() const noexcept { return words_.isBoxed(); }

 private:
  friend class PolymorphicValue;
  explicit DistributedTensor(ValueWords words) noexcept : words_(std::move(words)) {}
  const DistributedBox& box() const noexcept {
    return static_cast<const DistributedBox&>(*words_.target());
  }

  at::Tensor takeBoxedLocal();

  ValueWords words_;
};

static_assert(sizeof(DistributedTensor) == 16);
static_assert(std::is_nothrow_move_constructible_v<DistributedTensor>);

}  // namespace meshfuse
