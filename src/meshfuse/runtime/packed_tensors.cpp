#include "meshfuse/runtime/packed_tensors.h"

#include <algorithm>
#include <string>

#include "meshfuse/base/error.h"
#include "meshfuse/base/text.h"
#include "meshfuse/mesh/shard_arithmetic.h"
#include "meshfuse/ops/packed_types.h"
#include "meshfuse/runtime/input_checks.h"
#include "meshfuse/values/packed_floats.h"

namespace meshfuse {

namespace {

constexpr std::string_view kOp = "execute";

bool isPacked(const TensorType& type) { return type.dtype == PrimType::Float4_e2m1fn; }

/// Whether each rank's share of the elements of `dim` is what its share of the pairs holds. `pairs` counts those.
bool sharesPairs(const Sharding& sharding, int64_t dim, int64_t pairs) {
  const bool isSharded = std::ranges::any_of(sharding.placements, [&](const Placement& placement) {
    return placement.isSharded() && placement.dim == dim;
  });
  for (int64_t rank = 0; isSharded && rank < sharding.mesh.size(); ++rank) {
    const std::vector<int64_t> coordinate = sharding.mesh.coordinateAtLinear(rank);
    std::vector<IndexRange> runs = localRuns(sharding, dim, pairs, coordinate);
    for (IndexRange& run : runs) {
      run = {run.begin * 2, run.end * 2};
    }
    if (localRuns(sharding, dim, pairs * 2, coordinate) != runs) {
      return false;
    }
  }
  return true;
}

[[noreturn]] void refuseUneven(const std::string& name, const Sharding& sharding, int64_t pairs,
                               int64_t dim) {
  throwUser(ErrorKind::Runtime,
            {kOp, "packed 4-bit floats are sharded in whole bytes, as many on each rank",
             name + " has " + std::to_string(pairs) + " bytes in dimension " + std::to_string(dim) +
                 " on " + sharding.toText(),
             "shard another dimension, or pad this one"});
}

}  // namespace

std::vector<int64_t> sizesInElements(const TensorType& type, const ArgView& arg) {
  std::vector<int64_t> sizes = arg.sizes().vec();
  if (isPacked(type) && !sizes.empty()) {
    sizes[static_cast<size_t>(packedDim(type.strideOrder, type.rank()))] *= 2;
  }
  return sizes;
}

ElementLayout layoutInElements(const TensorType& type, const c10::TensorImpl& tensor) {
  ElementLayout layout{tensor.sizes().vec(), tensor.strides().vec()};
  if (!isPacked(type)) {
    return layout;
  }
  const auto packed = static_cast<size_t>(packedDim(type.strideOrder, type.rank()));
  for (size_t dim = 0; dim < layout.sizes.size(); ++dim) {
    (dim == packed ? layout.sizes : layout.strides)[dim] *= 2;
  }
  return layout;
}

void checkPackedArg(const Fusion& fusion, size_t position, const ArgView& arg) {
  const TensorType& type = fusion.val(fusion.inputs()[position]).tensor();
  if (!isPacked(type) || !arg.isDistributed()) {
    return;
  }
  const Sharding& sharding = *arg.sharding;
  if (std::ranges::any_of(sharding.placements, &Placement::isPartial)) {
    throwUser(ErrorKind::Runtime, {kOp, "packed 4-bit floats have no sums to be part of",
                                   inputName(fusion, position) + " is on " + sharding.toText(),
                                   "redistribute what it was made from first"});
  }
  const int64_t dim = packedDim(type.strideOrder, type.rank());
  const int64_t pairs = arg.sizes()[static_cast<size_t>(dim)];
  if (!sharesPairs(sharding, dim, pairs)) {
    refuseUneven(inputName(fusion, position), sharding, pairs, dim);
  }
}

std::vector<int32_t> packedResults(const Fusion& fusion) {
  std::vector<int32_t> dims;
  const auto add = [&](ValId value, ValId shape) {
    dims.push_back(
        isPacked(fusion.val(value).tensor()) ? static_cast<int32_t>(packedDim(fusion, shape)) : -1);
  };
  for (ValId output : fusion.outputs()) {
    add(output, output);
  }
  for (const InputWrite& write : fusion.writes()) {
    add(write.value, write.input);
  }
  const bool anyIsPacked = std::ranges::any_of(dims, [](int32_t dim) { return dim >= 0; });
  return anyIsPacked ? dims : std::vector<int32_t>();
}

void checkPackedOutputs(const Fusion& concrete, std::span<const int32_t> packed) {
  for (size_t i = 0; i < packed.size() && i < concrete.outputs().size(); ++i) {
    if (packed[i] < 0) {
      continue;
    }
    const ValId id = concrete.outputs()[i];
    const TensorType& type = concrete.val(concrete.inputBehind(id).value_or(id)).tensor();
    std::vector<int64_t> sizes;
    for (const IterDomain& domain : type.domain) {
      sizes.push_back(domain.extent.constant());
    }
    const std::string name = "output " + std::to_string(i);
    checkPackable(kOp, name + " of type " + toText(type), sizes, packed[i]);
    const int64_t pairs = sizes[static_cast<size_t>(packed[i])] / 2;
    if (type.sharding && !sharesPairs(*type.sharding, packed[i], pairs)) {
      refuseUneven(name, *type.sharding, pairs, packed[i]);
    }
  }
}

PolymorphicValue unpackedInput(const Fusion& fusion, size_t position, PolymorphicValue value) {
  const Val& val = fusion.val(fusion.inputs()[position]);
  if (!val.isTensor() || !isPacked(val.tensor())) {
    return value;
  }
  const TensorType& type = val.tensor();
  return unpackFloat4(value.asTensor(), packedDim(type.strideOrder, type.rank()));
}

void packResult(PolymorphicValue& value, int32_t dim) { value = packFloat4(value.asTensor(), dim); }

}  // namespace meshfuse
