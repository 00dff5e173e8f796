#include <algorithm>
#include <bit>
#include <span>

#include "meshfuse/scheduling/segmenter.h"

namespace meshfuse {

std::optional<uint32_t> Segmenter::lastMakerOrder(ExprId expr) const {
  std::optional<uint32_t> last;
  for (ValId val : absorption_->sourcesOf(expr)) {
    const uint32_t maker = makerOf(val);
    if (maker != kNoGroup) {
      last = std::max(last.value_or(0), drafts_[maker].order);
    }
  }
  return last;
}

bool Segmenter::canRunTogether(const std::vector<uint32_t>& groups, ExprId expr) const {
  const uint32_t last = drafts_[groups.back()].order;
  const uint32_t needed = lastMakerOrder(expr).value_or(0);
  size_t calls = 1;
  for (uint32_t group : groups) {
    calls += drafts_[group].exprs.size();
    if (drafts_[group].isClosed || drafts_[group].firstReader < last ||
        (needed > last && drafts_[group].firstReader != kNoGroup)) {
      return false;
    }
  }
  return calls <= costs_.maxCalls;
}

bool Segmenter::joinAll(const CallShape& call, const std::vector<uint32_t>& groups) {
  if (!canRunTogether(groups, call.expr)) {
    return false;
  }
  for (const bool sharesReads : {true, false}) {
    if (join(call, groups, sharesReads)) {
      return true;
    }
  }
  return false;
}

bool Segmenter::joinReader(const CallShape& call) {
  for (ValId val : readsShifted(call.form.body) ? call.fromMemory : call.operands) {
    const auto reader = lastReader_.find(indexOf(val));
    if (reader == lastReader_.end()) {
      continue;
    }
    const uint32_t group = aliveGroup(reader->second);
    if (lastMakerOrder(call.expr).value_or(0) <= drafts_[group].order &&
        canRunTogether({group}, call.expr) && join(call, {group}, /*sharesReads=*/true)) {
      return true;
    }
  }
  return false;
}

uint32_t Segmenter::aliveGroup(uint32_t group) const {
  while (const std::optional<uint32_t> next = mergedInto(group)) {
    group = *next;
  }
  return group;
}

std::optional<uint32_t> Segmenter::mergedInto(uint32_t group) const {
  const auto found = mergedInto_.find(group);
  return found == mergedInto_.end() ? std::nullopt : std::optional(found->second);
}

bool Segmenter::startGroup(const CallShape& call) {
  LoopDraft loops(table_);
  std::optional<PlacedCall> placed =
      placeCall(fusion_, call, [](size_t) { return nullptr; }, table_, loops);
  if (!placed || !fits(call, *placed, {}, loops)) {
    return false;
  }
  newGroup(GroupKind::Kernel);
  settle(call, std::move(*placed), static_cast<uint32_t>(drafts_.size() - 1), loops);
  return true;
}

bool Segmenter::join(const CallShape& call, const std::vector<uint32_t>& groups, bool sharesReads) {
  LoopDraft loops(table_);
  for (uint32_t group : groups) {
    loops.absorb(drafts_[group].loops);
  }
  if (loops.roots().size() > LoopDraft::kMaxLoops || makesAny(call.fromMemory, groups) ||
      !uniteReads(groups, loops)) {
    return false;
  }
  const auto known = [&](size_t operand) {
    return knownLoops(call.operands[operand], groups, sharesReads);
  };
  std::optional<PlacedCall> placed = placeCall(fusion_, call, known, table_, loops);
  if (!placed || !fits(call, *placed, groups, loops)) {
    return false;
  }
  const uint32_t target = groups.back();
  for (uint32_t group : groups) {
    if (group != target) {
      mergeInto(group, target);
    }
  }
  const std::optional<uint32_t> needed = lastMakerOrder(call.expr);
  if (needed && *needed > drafts_[target].order) {
    moveToEnd(target);
    settle(call, std::move(*placed), static_cast<uint32_t>(drafts_.size() - 1), loops);
  } else {
    settle(call, std::move(*placed), target, loops);
  }
  return true;
}

bool Segmenter::makesAny(const std::vector<ValId>& vals,
                         const std::vector<uint32_t>& groups) const {
  return std::ranges::any_of(
      vals, [&](ValId val) { return std::ranges::find(groups, makerOf(val)) != groups.end(); });
}

bool Segmenter::uniteReads(const std::vector<uint32_t>& groups, LoopDraft& loops) const {
  if (groups.size() < 2) {
    return true;
  }
  for (uint32_t group : groups) {
    if (makesAny(drafts_[group].fromMemory, groups)) {
      return false;
    }
    for (const auto& [val, read] : drafts_[group].reads) {
      const uint32_t maker = makerOf(val);
      if (maker == group || std::ranges::find(groups, maker) == groups.end()) {
        continue;
      }
      const PlacedDims& made = *loopsOf(val);
      for (size_t dim = 0; dim < read.size(); ++dim) {
        if ((read[dim] == kNoLoop) != (made[dim] == kNoLoop) ||
            (read[dim] != kNoLoop && !loops.unite(made[dim], read[dim]))) {
          return false;
        }
      }
    }
  }
  return true;
}

const PlacedDims* Segmenter::loopsOf(ValId val) const {
  const ExprId definition = fusion_.val(val).definition;
  const std::vector<ValId>& outputs = fusion_.expr(definition).outputs;
  const auto output = static_cast<size_t>(std::ranges::find(outputs, val) - outputs.begin());
  return &placed_[indexOf(definition)].outputs[output];
}

const PlacedDims* Segmenter::knownLoops(ValId val, const std::vector<uint32_t>& groups,
                                        bool sharesReads) const {
  const uint32_t maker = makerOf(val);
  if (maker != kNoGroup && std::ranges::find(groups, maker) != groups.end()) {
    return loopsOf(val);
  }
  if (sharesReads) {
    for (uint32_t group : groups) {
      for (const auto& [read, loops] : drafts_[group].reads) {
        if (read == val) {
          return &loops;
        }
      }
    }
  }
  return nullptr;
}

bool Segmenter::fits(const CallShape& call, PlacedCall& placed, const std::vector<uint32_t>& groups,
                     LoopDraft& loops) const {
  const bool isScan = call.form.kind == LoopForm::Kind::Scan;
  if (isScan || call.form.kind == LoopForm::Kind::Reduction) {
    if (!fitsReduction(call, placed, groups, loops)) {
      return false;
    }
  } else {
    if (!fitsElementwise(placed, groups, loops)) {
      return false;
    }
    const bool repeats =
        placed.all != loops.all() && (loops.reduced() == 0 || placed.all != loops.parallel());
    if (repeats && call.form.cost == LoopForm::Cost::Something) {
      return false;
    }
  }
  const bool scans =
      isScan || std::ranges::any_of(groups, [&](uint32_t group) { return drafts_[group].scans; });
  return !scans || std::popcount(loops.reduced()) == 1;
}

bool Segmenter::fitsReduction(const CallShape& call, PlacedCall& placed,
                              const std::vector<uint32_t>& groups, LoopDraft& loops) const {
  if (placed.reduced == 0) {
    return call.form.fold < Fold::Variance && fitsElementwise(placed, groups, loops);
  }
  if (placed.all != loops.all() || (loops.reduced() != 0 && loops.reduced() != placed.reduced)) {
    return false;
  }
  if (loops.reduced() == 0) {
    loops.setReduced(placed.reduced);
  }
  return haveAllLoops(groups, loops);
}

bool Segmenter::fitsElementwise(PlacedCall& placed, const std::vector<uint32_t>& groups,
                                LoopDraft& loops) const {
  if (loops.reduced() != 0) {
    const LoopSet known = loops.reduced() | loops.parallel();
    if ((loops.all() & ~known) != 0 && !uniteWithReduced(placed, loops)) {
      return false;
    }
  }
  return haveAllLoops(groups, loops);
}

bool Segmenter::uniteWithReduced(PlacedCall& placed, LoopDraft& loops) const {
  for (;;) {
    const LoopSet fresh = loops.all() & ~(loops.reduced() | loops.parallel());
    if (fresh == 0) {
      break;
    }
    const LoopId loop = loops.roots()[static_cast<size_t>(std::countr_zero(fresh))];
    bool isUnited = false;
    for (size_t i = 0; i < loops.roots().size() && !isUnited; ++i) {
      const LoopId other = loops.roots()[i];
      isUnited = ((loops.reduced() >> i) & 1U) != 0 && isSameSplit(fusion_, table_, loop, other) &&
                 loops.unite(other, loop);
    }
    if (!isUnited) {
      return false;
    }
  }
  placed.all = 0;
  for (const auto* tensors : {&placed.operands, &placed.outputs}) {
    for (const PlacedDims& dims : *tensors) {
      placed.all |= loops.setOf(dims);
    }
  }
  return true;
}

bool Segmenter::haveAllLoops(const std::vector<uint32_t>& groups, const LoopDraft& loops) const {
  return std::ranges::all_of(groups, [&](uint32_t group) {
    const LoopSet own = loops.setOf(drafts_[group].loops.roots());
    return own == loops.all() || (loops.reduced() != 0 && own == loops.parallel()) ||
           (!drafts_[group].computes && drafts_[group].firstReader == kNoGroup &&
            !hasResult(group));
  });
}

bool Segmenter::hasResult(uint32_t group) const {
  return std::ranges::any_of(drafts_[group].exprs, [&](uint32_t index) {
    return std::ranges::any_of(fusion_.exprs()[index].outputs,
                               [&](ValId val) { return isResult_[indexOf(val)]; });
  });
}

void Segmenter::mergeInto(uint32_t group, uint32_t target) {
  GroupDraft& from = drafts_[group];
  GroupDraft& to = drafts_[target];
  if (from.exprs.size() > to.exprs.size()) {
    std::swap(from.exprs, to.exprs);
    std::swap(from.reads, to.reads);
    std::swap(from.fromMemory, to.fromMemory);
  }
  to.exprs.insert(to.exprs.end(), from.exprs.begin(), from.exprs.end());
  to.reads.insert(to.reads.end(), from.reads.begin(), from.reads.end());
  to.fromMemory.insert(to.fromMemory.end(), from.fromMemory.begin(), from.fromMemory.end());
  to.computes = to.computes || from.computes;
  to.scans = to.scans || from.scans;
  to.isView = to.isView && from.isView;
  to.firstReader =
      to.order < from.firstReader ? std::min(to.firstReader, from.firstReader) : to.firstReader;
  mergedInto_[group] = target;
  for (uint32_t index : to.exprs) {
    groupOf_[index] = target;
  }
  from.exprs.clear();
  from.reads.clear();
  from.fromMemory.clear();
}

void Segmenter::moveToEnd(uint32_t group) {
  newGroup(GroupKind::Kernel);
  drafts_.back().loops = drafts_[group].loops;
  mergeInto(group, static_cast<uint32_t>(drafts_.size() - 1));
}

void Segmenter::settle(const CallShape& call, PlacedCall placed, uint32_t target,
                       LoopDraft& loops) {
  GroupDraft& group = drafts_[target];
  loops.commit(table_);
  group.loops = loops;
  group.exprs.push_back(indexOf(call.expr));
  group.computes = group.computes || call.form.cost == LoopForm::Cost::Something;
  group.scans = group.scans || call.form.kind == LoopForm::Kind::Scan;
  group.isView = group.isView && call.form.cost == LoopForm::Cost::Nothing;
  group.isClosed = group.isClosed || call.form.endsKernel;
  groupOf_[indexOf(call.expr)] = target;
  group.fromMemory.insert(group.fromMemory.end(), call.fromMemory.begin(), call.fromMemory.end());
  for (size_t i = 0; i < call.operands.size(); ++i) {
    const ValId val = call.operands[i];
    if (readsShifted(call.form.body) || (call.picked && call.picked->operand == i)) {
      continue;
    }
    const auto isRead = [&](const auto& read) { return read.first == val; };
    if (makerOf(val) != target && std::ranges::none_of(group.reads, isRead)) {
      group.reads.emplace_back(val, placed.operands[i]);
    }
  }
  placed_[indexOf(call.expr)] = std::move(placed);
}

}  // namespace meshfuse
