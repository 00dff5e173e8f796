#include "meshfuse/scheduling/loop_draft.h"

#include <algorithm>

namespace meshfuse {

namespace {

LoopSet bit(size_t position) noexcept { return LoopSet{1} << position; }

/// `set` without position `gone`, its member becoming that of `kept`; later positions move down.
LoopSet renamed(LoopSet set, size_t gone, size_t kept) noexcept {
  if ((set & bit(gone)) != 0) {
    set |= bit(kept);
  }
  const LoopSet below = bit(gone) - 1;
  return (set & below) | ((set >> 1) & ~below);
}

}  // namespace

LoopId LoopTable::add(ValId val, int64_t dim) {
  const auto loop = static_cast<LoopId>(loops_.size());
  loops_.push_back({val, dim});
  parent_.push_back(loop);
  return loop;
}

LoopId LoopTable::find(LoopId loop) const noexcept {
  LoopId root = loop;
  while (parent_[static_cast<size_t>(root)] != root) {
    root = parent_[static_cast<size_t>(root)];
  }
  while (parent_[static_cast<size_t>(loop)] != root) {
    loop = std::exchange(parent_[static_cast<size_t>(loop)], root);
  }
  return root;
}

LoopId LoopDraft::resolve(LoopId loop) const noexcept {
  loop = table_->find(loop);
  for (const auto& [gone, kept] : united_) {
    if (loop == gone) {
      loop = kept;
    }
  }
  return loop;
}

size_t LoopDraft::positionOf(LoopId root) const noexcept {
  return static_cast<size_t>(std::ranges::find(roots_, root) - roots_.begin());
}

size_t LoopDraft::addRoot(LoopId root) {
  const size_t position = positionOf(root);
  if (position == roots_.size()) {
    roots_.push_back(root);
    together_.push_back(0);
  }
  return position;
}

void LoopDraft::absorb(const LoopDraft& other) {
  const size_t base = roots_.size();
  roots_.insert(roots_.end(), other.roots_.begin(), other.roots_.end());
  for (LoopSet set : other.together_) {
    together_.push_back(set << base);
  }
  reduced_ |= other.reduced_ << base;
  parallel_ |= other.parallel_ << base;
}

bool LoopDraft::unite(LoopId a, LoopId b) {
  const LoopId kept = resolve(a);
  const LoopId gone = resolve(b);
  if (kept == gone) {
    return true;
  }
  if (roots_.size() >= kMaxLoops) {
    return false;
  }
  const size_t keptAt = addRoot(kept);
  const size_t goneAt = addRoot(gone);
  const LoopSet both = bit(keptAt) | bit(goneAt);
  if ((together_[keptAt] & bit(goneAt)) != 0 ||
      ((reduced_ & both) != 0 && (parallel_ & both) != 0)) {
    return false;
  }
  together_[keptAt] |= together_[goneAt];
  united_.emplace_back(gone, kept);
  for (LoopSet& set : together_) {
    set = renamed(set, goneAt, keptAt);
  }
  reduced_ = renamed(reduced_, goneAt, keptAt);
  parallel_ = renamed(parallel_, goneAt, keptAt);
  roots_.erase(roots_.begin() + static_cast<std::ptrdiff_t>(goneAt));
  together_.erase(together_.begin() + static_cast<std::ptrdiff_t>(goneAt));
  return true;
}

bool LoopDraft::addTensor(std::span<const LoopId> loops) {
  LoopSet set = 0;
  for (LoopId loop : loops) {
    if (loop == kNoLoop) {
      continue;
    }
    if (roots_.size() >= kMaxLoops) {
      return false;
    }
    const size_t position = addRoot(resolve(loop));
    if ((set & bit(position)) != 0) {
      return false;
    }
    set |= bit(position);
  }
  for (size_t position = 0; position < roots_.size(); ++position) {
    if ((set & bit(position)) != 0) {
      together_[position] |= set & ~bit(position);
    }
  }
  return true;
}

LoopSet LoopDraft::setOf(std::span<const LoopId> loops) const {
  LoopSet set = 0;
  for (LoopId loop : loops) {
    if (loop != kNoLoop) {
      set |= bit(positionOf(resolve(loop)));
    }
  }
  return set;
}

void LoopDraft::commit(LoopTable& table) {
  for (const auto& [gone, kept] : united_) {
    table.merge(gone, kept);
  }
  united_.clear();
}

}  // namespace meshfuse
