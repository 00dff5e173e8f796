#include "meshfuse/scheduling/loop_draft.h"

#include <algorithm>

namespace meshfuse {

namespace {

LoopSet bit(size_t position) noexcept { return LoopSet{1} << position; }

/// `set` without position `gone`, in whose place it has `kept`; later positions move down.
LoopSet renamed(LoopSet set, size_t gone, LoopSet kept) noexcept {
  if ((set & bit(gone)) != 0) {
    set |= kept;
  }
  const LoopSet below = bit(gone) - 1;
  return (set & below) | ((set >> 1) & ~below);
}

}  // namespace

LoopId LoopTable::add(const GroupLoop& info, int64_t extent) {
  const auto loop = static_cast<LoopId>(entries_.size());
  entries_.push_back({info, extent});
  parent_.push_back(loop);
  return loop;
}

LoopId LoopTable::addName(std::span<const LoopId> loops) {
  const LoopId name = add({}, 1);
  replace(name, loops);
  return name;
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

std::span<const LoopId> LoopTable::partsOf(LoopId root) const noexcept {
  return std::span(parts_).subspan(entry(root).firstPart, entry(root).partCount);
}

void LoopTable::replace(LoopId gone, std::span<const LoopId> kept) {
  if (kept.size() == 1) {
    parent_[static_cast<size_t>(gone)] = kept.front();
    return;
  }
  Entry& divided = entries_[static_cast<size_t>(gone)];
  divided.firstPart = static_cast<uint32_t>(parts_.size());
  divided.partCount = static_cast<uint32_t>(kept.size());
  parts_.insert(parts_.end(), kept.begin(), kept.end());
}

const LoopDraft::Replaced* LoopDraft::replacementOf(LoopId root) const noexcept {
  const auto found = std::ranges::find(replaced_, root, &Replaced::gone);
  return found == replaced_.end() ? nullptr : &*found;
}

template <class Visit>
void LoopDraft::forEachLoop(LoopId name, const Visit& visit) const {
  const LoopId root = table_->find(name);
  const Replaced* replaced = replacementOf(root);
  const std::span<const LoopId> parts =
      replaced != nullptr ? std::span(replaced->kept) : table_->partsOf(root);
  if (parts.empty()) {
    visit(root);
  }
  for (LoopId part : parts) {
    forEachLoop(part, visit);
  }
}

std::vector<LoopId> LoopDraft::loopsOf(LoopId name) const {
  std::vector<LoopId> loops;
  forEachLoop(name, [&](LoopId loop) { loops.push_back(loop); });
  return loops;
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
  const std::vector<LoopId> kept = loopsOf(a);
  const std::vector<LoopId> gone = loopsOf(b);
  std::span<const LoopId> left = kept;
  std::span<const LoopId> right = gone;
  const auto isSame = [&](LoopId x, LoopId y) {
    return table_->extentOf(x) == table_->extentOf(y);
  };
  while (left.size() > 1 && right.size() > 1 && isSame(left.front(), right.front())) {
    if (!replace(right.front(), left.first(1))) {
      return false;
    }
    left = left.subspan(1);
    right = right.subspan(1);
  }
  while (left.size() > 1 && right.size() > 1 && isSame(left.back(), right.back())) {
    if (!replace(right.back(), left.last(1))) {
      return false;
    }
    left = left.first(left.size() - 1);
    right = right.first(right.size() - 1);
  }
  return right.size() == 1 ? replace(right.front(), left)
                           : left.size() == 1 && replace(left.front(), right);
}

bool LoopDraft::replace(LoopId gone, std::span<const LoopId> kept) {
  if (std::ranges::find(kept, gone) != kept.end()) {
    return kept.size() == 1;
  }
  if (roots_.size() + kept.size() > kMaxLoops) {
    return false;
  }
  LoopSet parts = 0;
  for (LoopId loop : kept) {
    parts |= bit(addRoot(loop));
  }
  const size_t at = addRoot(gone);
  if ((together_[at] & parts) != 0 || ((reduced_ & bit(at)) != 0 && (parallel_ & parts) != 0) ||
      ((parallel_ & bit(at)) != 0 && (reduced_ & parts) != 0)) {
    return false;
  }
  for (size_t position = 0; position < roots_.size(); ++position) {
    if ((parts & bit(position)) != 0) {
      together_[position] |= together_[at] | (parts & ~bit(position));
    }
  }
  replaced_.push_back({gone, {kept.begin(), kept.end()}});
  for (LoopSet& set : together_) {
    set = renamed(set, at, parts);
  }
  reduced_ = renamed(reduced_, at, parts);
  parallel_ = renamed(parallel_, at, parts);
  roots_.erase(roots_.begin() + static_cast<std::ptrdiff_t>(at));
  together_.erase(together_.begin() + static_cast<std::ptrdiff_t>(at));
  return true;
}

bool LoopDraft::addTensor(std::span<const LoopId> loops) {
  LoopSet set = 0;
  bool fits = true;
  for (LoopId name : loops) {
    if (name == kNoLoop) {
      continue;
    }
    forEachLoop(name, [&](LoopId loop) {
      if (!fits || roots_.size() >= kMaxLoops) {
        fits = false;
        return;
      }
      const size_t position = addRoot(loop);
      fits = (set & bit(position)) == 0;
      set |= bit(position);
    });
  }
  if (!fits) {
    return false;
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
  for (LoopId name : loops) {
    if (name != kNoLoop) {
      forEachLoop(name, [&](LoopId loop) { set |= bit(positionOf(loop)); });
    }
  }
  return set;
}

void LoopDraft::commit(LoopTable& table) {
  for (const Replaced& replaced : replaced_) {
    table.replace(replaced.gone, replaced.kept);
  }
  replaced_.clear();
}

}  // namespace meshfuse
