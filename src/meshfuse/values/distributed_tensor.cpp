#include "meshfuse/values/distributed_tensor.h"

#include <algorithm>
#include <new>
#include <string>

#include "meshfuse/base/error.h"
#include "meshfuse/base/text.h"
#include "meshfuse/mesh/shard_arithmetic.h"

namespace meshfuse {
namespace {

constexpr const char* kOp = "DistributedTensor";

[[noreturn]] void throwUndefined() {
  throwUser(ErrorKind::Type,
            {kOp, "the local tensor must be defined", "an undefined tensor",
             "pass this rank's part, an empty tensor where the rank holds nothing"});
}

[[noreturn]] void throwUnsharded() {
  throwUser(ErrorKind::Type, {kOp, "a distributed tensor has a sharding", "no sharding",
                              "intern a Sharding and pass its id, or use the tensor as it is"});
}

[[noreturn]] void throwDimension(const Placement& placement, const at::Tensor& local) {
  throwUser(ErrorKind::Value,
            {kOp, "a placement must name a dimension of the tensor",
             placement.toText() + " for a local tensor of shape " + toText(local.sizes()),
             "shard one of the tensor's " + std::to_string(local.dim()) + " dimensions"});
}

/// Checks a constructor's arguments; gives the interned sharding.
const Sharding& checked(const at::Tensor& local, ShardingId id) {
  if (!local.defined()) {
    throwUndefined();
  }
  if (!id) {
    throwUnsharded();
  }
  const Sharding& sharding = *id;
  for (const Placement& placement : sharding.placements) {
    if (placement.isSharded() && (placement.dim < 0 || placement.dim >= local.dim())) {
      throwDimension(placement, local);
    }
  }
  return sharding;
}

c10::DimVector toDimVector(std::span<const int64_t> values) {
  return {values.begin(), values.end()};
}

/// Global sizes if every rank's part has the sizes of this one.
c10::DimVector scaledSizes(const at::Tensor& local, const Sharding& sharding) {
  c10::DimVector sizes(local.sizes().begin(), local.sizes().end());
  for (size_t axis = 0; axis < sharding.placements.size(); ++axis) {
    const Placement& placement = sharding.placements[axis];
    if (placement.isSharded()) {
      sizes[placement.dim] *= sharding.mesh.shape()[axis];
    }
  }
  return sizes;
}

/// Global strides as torch derives them: sharding a dimension spreads every dimension that lies outside it in memory.
c10::DimVector scaledStrides(const at::Tensor& local, const Sharding& sharding) {
  c10::DimVector strides(local.strides().begin(), local.strides().end());
  for (size_t axis = 0; axis < sharding.placements.size(); ++axis) {
    const Placement& placement = sharding.placements[axis];
    if (!placement.isSharded()) {
      continue;
    }
    const int64_t sharded = strides[placement.dim];
    for (size_t i = 0; i < strides.size(); ++i) {
      if (static_cast<int64_t>(i) != placement.dim && strides[i] >= sharded) {
        strides[i] *= sharding.mesh.shape()[axis];
      }
    }
  }
  return strides;
}

/// Whether the global sizes are what every rank would have with this rank's part. No temporaries: this is all that an uneven
/// tensor costs before its box.
bool sizesFollow(c10::IntArrayRef local, const Sharding& sharding,
                 std::span<const int64_t> globalSizes) {
  const std::span<const int64_t> meshShape = sharding.mesh.shape();
  bool strided = false;
  for (size_t dim = 0; dim < local.size(); ++dim) {
    int64_t size = local[dim];
    for (size_t axis = 0; axis < meshShape.size(); ++axis) {
      const Placement& placement = sharding.placements[axis];
      if (placement.dim == static_cast<int64_t>(dim) && placement.isSharded()) {
        size *= meshShape[axis];
        strided |= placement.isStridedShard();
      }
    }
    if (size != globalSizes[dim]) {
      return false;
    }
  }
  // A contiguous shard of 1/n of the elements means that all n are alike; the pieces of a strided one may differ.
  return !strided || isEven(sharding, globalSizes);
}

/// Whether sizes and strides of the global tensor follow from this rank's part.
bool follows(const at::Tensor& local, const Sharding& sharding,
             std::span<const int64_t> globalSizes, std::span<const int64_t> globalStrides) {
  return sizesFollow(local.sizes(), sharding, globalSizes) &&
         std::ranges::equal(scaledStrides(local, sharding), globalStrides);
}

[[noreturn]] void throwRank(const at::Tensor& local, std::span<const int64_t> sizes,
                            std::span<const int64_t> strides) {
  throwUser(ErrorKind::Value,
            {kOp, "global sizes and strides must be as many as the local tensor has dimensions",
             "sizes " + toText(sizes) + " and strides " + toText(strides) +
                 " for a local tensor of shape " + toText(local.sizes()),
             "pass one size and one stride for each dimension"});
}

ValueWords makeWords(at::Tensor& local, ShardingId id, std::span<const int64_t> globalSizes,
                     std::span<const int64_t> globalStrides) {
  const Sharding& sharding = checked(local, id);
  const auto rank = static_cast<size_t>(local.dim());
  if (globalSizes.size() != rank || globalStrides.size() != rank) {
    throwRank(local, globalSizes, globalStrides);
  }
  if (follows(local, sharding, globalSizes, globalStrides)) {
    return {local.unsafeReleaseTensorImpl(),
            ValueWords::tagOf(ValueKind::DistributedTensor, 0, id.value())};
  }
  return {DistributedBox::make(std::move(local), globalSizes, globalStrides),
          ValueWords::tagOf(ValueKind::DistributedTensor, ValueWords::kBoxed, id.value())};
}

}  // namespace

DistributedBox* DistributedBox::make(at::Tensor&& local, std::span<const int64_t> sizes,
                                     std::span<const int64_t> strides) {
  void* block = ::operator new(sizeof(DistributedBox) + 2 * sizes.size() * sizeof(int64_t));
  auto* box = new (block) DistributedBox(std::move(local), sizes.size());
  auto* numbers = reinterpret_cast<int64_t*>(box + 1);
  for (size_t i = 0; i < sizes.size(); ++i) {
    numbers[i] = sizes[i];
    numbers[sizes.size() + i] = strides[i];
  }
  return c10::intrusive_ptr<DistributedBox>::unsafe_steal_from_new(box).release();
}

DistributedTensor::DistributedTensor(at::Tensor local, ShardingId sharding) {
  checked(local, sharding);
  words_ = ValueWords(local.unsafeReleaseTensorImpl(),
                      ValueWords::tagOf(ValueKind::DistributedTensor, 0, sharding.value()));
}

DistributedTensor::DistributedTensor(at::Tensor local, ShardingId sharding,
                                     std::span<const int64_t> globalSizes,
                                     std::span<const int64_t> globalStrides)
    : words_(makeWords(local, sharding, globalSizes, globalStrides)) {}

at::Tensor DistributedTensor::takeBoxedLocal() {
  auto owner = c10::intrusive_ptr<DistributedBox>::reclaim(
      static_cast<DistributedBox*>(words_.releaseTarget()));
  return isOnlyOwner(owner.get()) ? std::move(owner->local()) : owner->local();
}

c10::DimVector DistributedTensor::sizes() const {
  return isBoxed() ? toDimVector(box().globalSizes()) : scaledSizes(words_.tensor(), *sharding());
}

int64_t DistributedTensor::size(int64_t dim) const {
  const int64_t rank = this->dim();
  if (dim < -rank || dim >= rank) {
    throwUser(ErrorKind::Index,
              {"DistributedTensor.size", "the dimension must be one of the tensor's",
               std::to_string(dim) + " for a tensor of shape " + toText(sizes()),
               "use " + std::to_string(-rank) + " to " + std::to_string(rank - 1)});
  }
  return sizes()[dim < 0 ? dim + rank : dim];
}

c10::DimVector DistributedTensor::strides() const {
  return isBoxed() ? toDimVector(box().globalStrides())
                   : scaledStrides(words_.tensor(), *sharding());
}

bool DistributedTensor::isSame(const DistributedTensor& other) const noexcept {
  if (words_.bits() == other.words_.bits() && words_.tag() == other.words_.tag()) {
    return true;
  }
  return words_.tag() == other.words_.tag() && isBoxed() &&
         box().local().is_same(other.box().local()) &&
         std::ranges::equal(box().globalSizes(), other.box().globalSizes()) &&
         std::ranges::equal(box().globalStrides(), other.box().globalStrides());
}

}  // namespace meshfuse
