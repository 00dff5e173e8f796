#include "meshfuse/sharding/reshard_plan.h"

#include <algorithm>

namespace meshfuse {

namespace {

/// The state while a plan is made: placements reached so far, and the plan.
struct Planner {
  const DeviceMesh& mesh;
  std::span<const int64_t> globalSizes;
  std::span<const Placement> target;
  std::vector<Placement> current;
  ReshardPlan plan;

  size_t axes() const { return current.size(); }

  void change(size_t axis, const Placement& to) {
    current[axis] = to;
    plan.steps.push_back({static_cast<int64_t>(axis), to});
  }

  void refuse(const std::string& why) {
    if (plan.refusal.empty()) {
      plan.refusal = why;
    }
  }

  bool shards(size_t axis, int64_t dim) const {
    return current[axis].isSharded() && current[axis].dim == dim;
  }

  bool shardedFurtherIn(size_t axis, int64_t dim) const {
    for (size_t inner = axis + 1; inner < axes(); ++inner) {
      if (shards(inner, dim)) {
        return true;
      }
    }
    return false;
  }

  /// Whether `dim`, cut by the axes up to and including `axis`, has equal shards.
  bool isEvenUpTo(size_t axis, int64_t dim) const {
    int64_t count = mesh.size(static_cast<int64_t>(axis));
    for (size_t outer = 0; outer < axis; ++outer) {
      count *= shards(outer, dim) ? mesh.size(static_cast<int64_t>(outer)) : 1;
    }
    return globalSizes[static_cast<size_t>(dim)] % count == 0;
  }
};

std::string onAxis(const Placement& placement, size_t axis) {
  return placement.toText() + " on mesh axis " + std::to_string(axis);
}

void reducePartials(Planner& planner) {
  for (size_t axis = 0; axis < planner.axes(); ++axis) {
    const Placement from = planner.current[axis];
    const Placement to = planner.target[axis];
    if (!from.isPartial() || from == to) {
      continue;
    }
    const bool scatters =
        to.isShard() && !planner.shardedFurtherIn(axis, to.dim) && planner.isEvenUpTo(axis, to.dim);
    planner.change(axis, scatters ? to : Placement::replicate());
  }
}

/// The axes to gather: those whose shards change, and those further in that cut the same dimension as a change.
std::vector<bool> axesToGather(const Planner& planner) {
  std::vector<bool> gathers(planner.axes(), false);
  for (size_t axis = 0; axis < planner.axes(); ++axis) {
    const Placement& from = planner.current[axis];
    const Placement& to = planner.target[axis];
    if (from == to && !gathers[axis]) {
      continue;
    }
    gathers[axis] = from.isSharded();
    for (size_t inner = axis + 1; inner < planner.axes(); ++inner) {
      const bool sameDim = (from.isSharded() && planner.shards(inner, from.dim)) ||
                           (to.isSharded() && planner.shards(inner, to.dim));
      gathers[inner] = gathers[inner] || sameDim;
    }
  }
  return gathers;
}

void gatherShards(Planner& planner) {
  const std::vector<bool> gathers = axesToGather(planner);
  for (size_t axis = planner.axes(); axis-- > 0;) {
    if (!gathers[axis]) {
      continue;
    }
    const Placement from = planner.current[axis];
    const bool isAlone = planner.mesh.size(static_cast<int64_t>(axis)) == 1;
    if (from.isStridedShard() && !isAlone) {
      planner.refuse("gathering a strided shard, " + onAxis(from, axis) + ", is not supported");
    } else if (!planner.isEvenUpTo(axis, from.dim)) {
      planner.refuse("gathering unequal shards, " + onAxis(from, axis) + " of size " +
                     std::to_string(planner.globalSizes[static_cast<size_t>(from.dim)]) +
                     ", is not supported");
    }
    planner.change(axis, Placement::replicate());
  }
}

void slice(Planner& planner) {
  for (size_t axis = 0; axis < planner.axes(); ++axis) {
    const Placement& to = planner.target[axis];
    if (planner.current[axis] == to) {
      continue;
    }
    if (to.isStridedShard() && planner.mesh.size(static_cast<int64_t>(axis)) != 1) {
      planner.refuse("making a strided shard, " + onAxis(to, axis) + ", is not supported");
    }
    planner.change(axis, to);
  }
}

}  // namespace

ReshardPlan planResharding(const Sharding& from, std::span<const Placement> to,
                           std::span<const int64_t> globalSizes) {
  Planner planner{from.mesh, globalSizes, to, from.placements, {}};
  reducePartials(planner);
  gatherShards(planner);
  slice(planner);
  return std::move(planner.plan);
}

}  // namespace meshfuse
