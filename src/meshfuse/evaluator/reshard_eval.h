// How a change of placement on one mesh axis is carried out.
#pragma once

#include <span>
#include <string_view>

#include "meshfuse/evaluator/collectives.h"
#include "meshfuse/mesh/sharding.h"

namespace meshfuse {

/// A change on mesh axis `axis`; the two shardings agree on the others.
struct Resharding {
  const Sharding& from;
  const Sharding& to;
  int64_t axis;
};

/// The collective that a change needs, `all_reduce`, `all_gather` or `reduce_scatter`; empty for local changes.
std::string_view collectiveOf(const Placement& from, const Placement& to);

/// The locals after the change, for the hosted ranks (linear mesh indices). `collectives` may be null if none is needed.
LocalTensors evaluateResharding(const Resharding& resharding, std::span<const int64_t> ranks,
                                const LocalTensors& locals, const Collectives* collectives);

}  // namespace meshfuse
