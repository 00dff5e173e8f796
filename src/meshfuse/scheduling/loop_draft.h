// The loops of a group while it grows: which of them are one, and which may not become one.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "meshfuse/scheduling/group.h"

namespace meshfuse {

/// Loops of all groups under construction, with those that were found to be one.
class LoopTable {
 public:
  LoopId add(ValId val, int64_t dim);
  /// The loop that stands for `loop` and all that are one with it.
  LoopId find(LoopId loop) const noexcept;
  void merge(LoopId gone, LoopId kept) noexcept { parent_[static_cast<size_t>(gone)] = kept; }
  const GroupLoop& info(LoopId loop) const noexcept { return loops_[static_cast<size_t>(loop)]; }

 private:
  std::vector<GroupLoop> loops_;
  mutable std::vector<LoopId> parent_;
};

/// A set of the loops of one draft.
using LoopSet = uint32_t;

/// The loops of one group, and a trial to add to them: nothing outside changes before `commit`.
class LoopDraft {
 public:
  static constexpr size_t kMaxLoops = 24;

  explicit LoopDraft(const LoopTable& table) : table_(&table) {}

  /// The loops of another group, which share none with these yet.
  void absorb(const LoopDraft& other);
  /// Makes two loops one; false, and nothing happens, where one tensor has both, or where one is reduced and the other not.
  bool unite(LoopId a, LoopId b);
  /// Notes that one tensor has all of these; false where it has one twice, or where there are too many loops.
  bool addTensor(std::span<const LoopId> loops);
  /// The members of this draft among `loops`, which are all in it.
  LoopSet setOf(std::span<const LoopId> loops) const;
  LoopSet all() const noexcept { return static_cast<LoopSet>((uint64_t{1} << roots_.size()) - 1); }

  /// Reduced and parallel loops, once a call has said which are which; both empty before.
  LoopSet reduced() const noexcept { return reduced_; }
  LoopSet parallel() const noexcept { return parallel_; }
  void setReduced(LoopSet reduced) noexcept {
    reduced_ = reduced;
    parallel_ = all() & ~reduced;
  }

  std::span<const LoopId> roots() const noexcept { return roots_; }
  LoopId resolve(LoopId loop) const noexcept;
  /// Tells the table what has become one. The draft stays valid.
  void commit(LoopTable& table);

 private:
  size_t positionOf(LoopId root) const noexcept;
  size_t addRoot(LoopId root);

  const LoopTable* table_;
  std::vector<LoopId> roots_;
  std::vector<LoopSet> together_;  // by position: loops that some tensor has beside this one
  LoopSet reduced_ = 0;
  LoopSet parallel_ = 0;
  std::vector<std::pair<LoopId, LoopId>> united_;  // not told to the table yet: gone, kept
};

}  // namespace meshfuse
