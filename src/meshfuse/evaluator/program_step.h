// One step of a program: a call on one rank, or a change of placement on all that are hosted.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "meshfuse/evaluator/collectives.h"
#include "meshfuse/ir/fusion.h"
#include "meshfuse/values/polymorphic_value.h"

namespace meshfuse {

/// The values of one hosted rank while a program runs.
struct RankState {
  int64_t rank = 0;
  std::vector<PolymorphicValue> values;  // by ValId
  c10::Device device = c10::DeviceType::CPU;
};

/// The sizes that the rank with linear mesh index `rank` holds of a value of constant extents.
std::vector<int64_t> localSizesOf(const TensorType& type, int64_t rank);

/// The seed of a call that draws one: the same on all ranks of the mesh of its result. nullopt for other calls.
std::optional<uint64_t> seedOf(const Fusion& fusion, const Expr& expr, size_t hosted,
                               const Collectives* collectives);

/// Evaluates a call and puts its results into the state. `sizes`, by ValId, are those of this rank.
void runCall(const Fusion& fusion, const Expr& expr, const std::vector<std::vector<int64_t>>& sizes,
             std::optional<uint64_t> seed, RankState& state);

/// Changes a placement on every hosted rank.
void runReshard(const Fusion& fusion, const Expr& expr, std::span<RankState> states,
                const Collectives* collectives);

}  // namespace meshfuse
