// The work of segment(): groups under construction, and the calls that join them.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "meshfuse/scheduling/call_loops.h"
#include "meshfuse/scheduling/segment.h"
#include "meshfuse/scheduling/shifted_reads.h"

namespace meshfuse {

/// No group.
inline constexpr uint32_t kNoGroup = std::numeric_limits<uint32_t>::max();

/// A group under construction. Its place in the order of execution is `order`.
struct GroupDraft {
  GroupDraft(GroupKind groupKind, LoopDraft noLoops) : kind(groupKind), loops(std::move(noLoops)) {}

  GroupKind kind;
  LoopDraft loops;
  std::vector<uint32_t> exprs;
  uint32_t order = 0;
  /// The first place in the order where someone else reads a value of the group.
  uint32_t firstReader = kNoGroup;
  /// Whether calls compute something, which would be done again along loops that they lack.
  bool computes = false;
  /// Whether every call is a view, which a library gives without touching memory.
  bool isView = true;
  /// Whether a call goes along the reduced loop, which is one then, element by element.
  bool scans = false;
  /// No other call may join.
  bool isClosed = false;
  std::vector<std::pair<ValId, PlacedDims>> reads;  // of tensors from outside, each once
  std::vector<ValId> fromMemory;  // what calls read at other positions than those of the loops
};

/// Goes through the calls in order: segment.cpp says what becomes of each, join_kernels.cpp which kernels it can join,
/// finish_groups.cpp what a kernel writes and what is left to libraries.
class Segmenter {
 public:
  Segmenter(const Fusion& fusion, const CostModel& costs);

  std::vector<Group> run();

 private:
  void addExpr(uint32_t index);
  GroupDraft& newGroup(GroupKind kind);
  /// The group that makes `val`; kNoGroup for inputs and constants.
  uint32_t makerOf(ValId val) const;
  void noteReads(uint32_t index);
  bool addToKernel(const CallShape& call);
  /// The kernels that make operands, in the order they run.
  std::vector<uint32_t> kernelMakersOf(const CallShape& call) const;
  /// The last place in the order of what makes an operand, a number included; nullopt without such.
  std::optional<uint32_t> lastMakerOrder(ExprId expr) const;
  /// Whether these kernels can be one that runs where the last of them does, or later where the call needs what runs later.
  bool canRunTogether(const std::vector<uint32_t>& groups, ExprId expr) const;
  bool joinAll(const CallShape& call, const std::vector<uint32_t>& groups);
  /// Joins a kernel that reads the same tensor, if it has all loops of the call.
  bool joinReader(const CallShape& call);
  uint32_t aliveGroup(uint32_t group) const;
  std::optional<uint32_t> mergedInto(uint32_t group) const;
  bool startGroup(const CallShape& call);
  bool join(const CallShape& call, const std::vector<uint32_t>& groups, bool sharesReads);
  /// Whether one of the groups makes one of the values.
  bool makesAny(const std::vector<ValId>& vals, const std::vector<uint32_t>& groups) const;
  /// Reads, by one of the groups, of what another of them makes, are of one nest now.
  bool uniteReads(const std::vector<uint32_t>& groups, LoopDraft& loops) const;
  /// The loops of a value where it is made.
  const PlacedDims* loopsOf(ValId val) const;
  const PlacedDims* knownLoops(ValId val, const std::vector<uint32_t>& groups,
                               bool sharesReads) const;
  /// Whether one nest computes the groups and the call, each of them once.
  bool fits(const CallShape& call, PlacedCall& placed, const std::vector<uint32_t>& groups,
            LoopDraft& loops) const;
  bool fitsReduction(const CallShape& call, PlacedCall& placed, const std::vector<uint32_t>& groups,
                     LoopDraft& loops) const;
  bool fitsElementwise(PlacedCall& placed, const std::vector<uint32_t>& groups,
                       LoopDraft& loops) const;
  /// New loops next to reduced ones are those, where they have the same size: rows are read again.
  bool uniteWithReduced(PlacedCall& placed, LoopDraft& loops) const;
  /// A group that computes has all loops of the nest, or all parallel ones where it makes what belongs to a reduced row.
  bool haveAllLoops(const std::vector<uint32_t>& groups, const LoopDraft& loops) const;
  bool hasResult(uint32_t group) const;
  void mergeInto(uint32_t group, uint32_t target);
  /// Gives the group the last place in the order. Nobody reads its values yet.
  void moveToEnd(uint32_t group);
  void settle(const CallShape& call, PlacedCall placed, uint32_t target, LoopDraft& loops);
  std::vector<Group> finish();
  /// Whether a library gives the result without touching memory.
  bool isView(const Expr& expr) const;
  /// Views of what comes from outside, and views of those.
  std::vector<uint32_t> outsideViews(const GroupDraft& draft) const;
  /// Views of what the kernel makes that others read and a library gives once the kernel has run: where others read what they are
  /// views of as well, or where their elements repeat. `views` are those of what comes from outside. `isRead` gets what they take.
  std::vector<uint32_t> laterViews(const GroupDraft& draft, std::span<const uint32_t> views,
                                   std::vector<bool>& isRead) const;
  /// Calls that make what others read and that a kernel should not write, with what they read: copies and views that lack a loop
  /// of the nest, which it would write as often as that loop runs, or not at all, and views of what comes from outside, which a
  /// library gives without touching memory. The values become known outside, so `isRead` has them. Those of `later` that these calls
  /// take are made with them.
  std::vector<uint32_t> narrowResults(const GroupDraft& draft, std::span<const uint32_t> views,
                                      std::vector<uint32_t>& later,
                                      std::vector<bool>& isRead) const;
  /// Runs them one by one: a kernel of views alone would only copy.
  void addCalls(std::vector<uint32_t> exprs, std::vector<Group>& groups) const;
  /// The calls of a kernel, in order, without some, and without those of `later` that nothing in it needs.
  std::vector<uint32_t> remaining(const GroupDraft& draft, std::span<const uint32_t> without,
                                  std::span<const uint32_t> later) const;
  Group finished(const GroupDraft& draft, std::span<const uint32_t> without,
                 std::span<const uint32_t> later, const std::vector<bool>& isRead) const;
  const Fusion& fusion_;
  const CostModel& costs_;
  LoopTable table_;
  std::vector<GroupDraft> drafts_;
  std::vector<PlacedCall> placed_;  // by expression
  std::vector<uint32_t> groupOf_;   // by expression
  std::vector<bool> isNeeded_;      // by value
  std::vector<bool> isResult_;      // by value
  std::optional<Absorption> absorption_;
  std::unordered_map<uint32_t, uint32_t> lastReader_;  // by value: the kernel that read it last
  std::unordered_map<uint32_t, uint32_t> mergedInto_;
};

}  // namespace meshfuse
