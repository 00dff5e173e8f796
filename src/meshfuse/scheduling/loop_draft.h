// The loops of a group while it grows: which of them are one, and which may not become one.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "meshfuse/scheduling/group.h"

namespace meshfuse {

/// A loop, or a name for several that walk one dimension.
inline constexpr LoopId kNoLoop = -1;

/// Loops of all groups under construction, with those that were found to be one, or to consist of several.
class LoopTable {
 public:
  LoopId add(const GroupLoop& info, int64_t extent);
  /// A name for loops that walk one dimension, outermost first.
  LoopId addName(std::span<const LoopId> loops);
  /// The loop or name that stands for `loop` and all that are one with it.
  LoopId find(LoopId loop) const noexcept;
  /// The loops (or names of loops) that this one consists of; none where it is a loop by itself.
  std::span<const LoopId> partsOf(LoopId root) const noexcept;
  void replace(LoopId gone, std::span<const LoopId> kept);
  const GroupLoop& info(LoopId loop) const noexcept { return entry(loop).info; }
  int64_t extentOf(LoopId loop) const noexcept { return entry(loop).extent; }

 private:
  struct Entry {
    GroupLoop info = {};
    int64_t extent = 1;
    uint32_t firstPart = 0;  // into parts_
    uint32_t partCount = 0;
  };
  const Entry& entry(LoopId loop) const noexcept { return entries_[static_cast<size_t>(loop)]; }

  std::vector<Entry> entries_;
  std::vector<LoopId> parts_;
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
  /// Makes the loops of one dimension those of another, which has as many elements: one by one where their extents are equal from
  /// the outermost or the innermost on; of what is left, one loop may be divided into several. False where that is not possible,
  /// where one tensor has both, or where one is reduced and the other not; nothing happens then if both are one loop each.
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
  /// The loops that a name stands for, outermost first.
  std::vector<LoopId> loopsOf(LoopId name) const;
  /// Tells the table what has become of loops. The draft stays valid.
  void commit(LoopTable& table);

 private:
  struct Replaced {
    LoopId gone;
    std::vector<LoopId> kept;
  };

  /// Calls `visit` for each of the loops that a name stands for, outermost first.
  template <class Visit>
  void forEachLoop(LoopId name, const Visit& visit) const;
  const Replaced* replacementOf(LoopId root) const noexcept;
  size_t positionOf(LoopId root) const noexcept;
  size_t addRoot(LoopId root);
  bool replace(LoopId gone, std::span<const LoopId> kept);

  const LoopTable* table_;
  std::vector<LoopId> roots_;
  std::vector<LoopSet> together_;  // by position: loops that some tensor has beside this one
  LoopSet reduced_ = 0;
  LoopSet parallel_ = 0;
  std::vector<Replaced> replaced_;  // not told to the table yet
};

}  // namespace meshfuse
