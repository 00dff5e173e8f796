#include "meshfuse/scheduling/segment.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <unordered_map>

#include "meshfuse/ops/reshard.h"
#include "meshfuse/scheduling/call_loops.h"

namespace meshfuse {

namespace {

constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

/// A group under construction. Its place in the order of execution is `order`.
struct Draft {
  Draft(GroupKind groupKind, LoopDraft noLoops) : kind(groupKind), loops(std::move(noLoops)) {}

  GroupKind kind;
  LoopDraft loops;
  std::vector<uint32_t> exprs;
  uint32_t order = 0;
  /// The first place in the order where someone else reads a value of the group.
  uint32_t firstReader = kNone;
  /// Whether calls compute something, which would be done again along loops that they lack.
  bool computes = false;
  /// Whether every call is a view, which a library gives without touching memory.
  bool isView = true;
  /// No other call may join.
  bool isClosed = false;
  std::vector<std::pair<ValId, DimLoops>> reads;  // of tensors from outside, each once
};

class Segmenter {
 public:
  Segmenter(const Fusion& fusion, const SegmentOptions& options)
      : fusion_(fusion),
        options_(options),
        placed_(fusion.exprs().size()),
        groupOf_(fusion.exprs().size(), kNone),
        isNeeded_(fusion.vals().size(), false),
        isResult_(fusion.vals().size(), false) {
    forEachResult(
        fusion, [&](ValId output) { isResult_[indexOf(output)] = true; },
        [&](const InputWrite& write) { isResult_[indexOf(write.value)] = true; });
    isNeeded_ = isResult_;
    for (size_t i = fusion.exprs().size(); i-- > 0;) {
      const Expr& expr = fusion.exprs()[i];
      if (std::ranges::any_of(expr.outputs, [&](ValId val) { return isNeeded_[indexOf(val)]; })) {
        for (ValId val : inputsOf(expr)) {
          isNeeded_[indexOf(val)] = true;
        }
      }
    }
  }

  std::vector<Group> run() {
    for (uint32_t i = 0; i < fusion_.exprs().size(); ++i) {
      const Expr& expr = fusion_.exprs()[i];
      if (std::ranges::any_of(expr.outputs, [&](ValId val) { return isNeeded_[indexOf(val)]; })) {
        addExpr(i);
      }
    }
    return finish();
  }

 private:
  void addExpr(uint32_t index) {
    const ExprId id{index};
    const std::optional<CallShape> call = kernelShapeOf(fusion_, id);
    if (!call || !addToKernel(*call)) {
      Draft& group = newGroup(isReshard(fusion_.expr(id)) ? GroupKind::Reshard : GroupKind::Call);
      group.exprs.push_back(index);
      groupOf_[index] = static_cast<uint32_t>(drafts_.size() - 1);
    }
    noteReads(index);
  }

  Draft& newGroup(GroupKind kind) {
    Draft& group = drafts_.emplace_back(kind, LoopDraft(table_));
    group.order = static_cast<uint32_t>(drafts_.size() - 1);
    return group;
  }

  /// The group that makes `val`; kNone for inputs and constants.
  uint32_t makerOf(ValId val) const {
    const ExprId definition = fusion_.val(val).definition;
    return definition == kNoExpr ? kNone : groupOf_[indexOf(definition)];
  }

  void noteReads(uint32_t index) {
    const uint32_t own = groupOf_[index];
    for (ValId val : inputsOf(fusion_.exprs()[index])) {
      const uint32_t maker = makerOf(val);
      if (maker != kNone && maker != own) {
        drafts_[maker].firstReader = std::min(drafts_[maker].firstReader, drafts_[own].order);
      }
      if (drafts_[own].kind == GroupKind::Kernel) {
        lastReader_[indexOf(val)] = own;
      }
    }
  }

  bool addToKernel(const CallShape& call) {
    const std::vector<uint32_t> makers = kernelMakersOf(call);
    if (!makers.empty() && joinAll(call, makers)) {
      return true;
    }
    for (auto maker = makers.rbegin(); maker != makers.rend(); ++maker) {
      if (makers.size() > 1 && joinAll(call, {*maker})) {
        return true;
      }
    }
    return (makers.empty() && joinReader(call)) || startGroup(call);
  }

  /// The kernels that make operands, in the order they run.
  std::vector<uint32_t> kernelMakersOf(const CallShape& call) const {
    std::vector<uint32_t> makers;
    for (ValId val : call.operands) {
      const uint32_t maker = makerOf(val);
      if (maker != kNone && drafts_[maker].kind == GroupKind::Kernel &&
          std::ranges::find(makers, maker) == makers.end()) {
        makers.push_back(maker);
      }
    }
    std::ranges::sort(makers, {}, [&](uint32_t group) { return drafts_[group].order; });
    return makers;
  }

  /// The last place in the order of what makes an operand, a number included; nullopt without such.
  std::optional<uint32_t> lastMakerOrder(ExprId expr) const {
    std::optional<uint32_t> last;
    for (ValId val : inputsOf(fusion_.expr(expr))) {
      const uint32_t maker = makerOf(val);
      if (maker != kNone) {
        last = std::max(last.value_or(0), drafts_[maker].order);
      }
    }
    return last;
  }

  /// Whether these kernels can be one that runs where the last of them does, or later where the call needs what runs later.
  bool canRunTogether(const std::vector<uint32_t>& groups, ExprId expr) const {
    const uint32_t last = drafts_[groups.back()].order;
    const uint32_t needed = lastMakerOrder(expr).value_or(0);
    size_t calls = 1;
    for (uint32_t group : groups) {
      calls += drafts_[group].exprs.size();
      if (drafts_[group].isClosed || drafts_[group].firstReader < last ||
          (needed > last && drafts_[group].firstReader != kNone)) {
        return false;
      }
    }
    return calls <= options_.maxCalls;
  }

  bool joinAll(const CallShape& call, const std::vector<uint32_t>& groups) {
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

  /// Joins a kernel that reads the same tensor, if it has all loops of the call.
  bool joinReader(const CallShape& call) {
    for (ValId val : call.operands) {
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

  uint32_t aliveGroup(uint32_t group) const {
    while (const std::optional<uint32_t> next = mergedInto(group)) {
      group = *next;
    }
    return group;
  }

  std::optional<uint32_t> mergedInto(uint32_t group) const {
    const auto found = mergedInto_.find(group);
    return found == mergedInto_.end() ? std::nullopt : std::optional(found->second);
  }

  bool startGroup(const CallShape& call) {
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

  bool join(const CallShape& call, const std::vector<uint32_t>& groups, bool sharesReads) {
    LoopDraft loops(table_);
    for (uint32_t group : groups) {
      loops.absorb(drafts_[group].loops);
    }
    if (!uniteReads(groups, loops)) {
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

  /// Reads, by one of the groups, of what another of them makes, are of one nest now.
  bool uniteReads(const std::vector<uint32_t>& groups, LoopDraft& loops) const {
    if (groups.size() < 2) {
      return true;
    }
    for (uint32_t group : groups) {
      for (const auto& [val, read] : drafts_[group].reads) {
        const uint32_t maker = makerOf(val);
        if (maker == group || std::ranges::find(groups, maker) == groups.end()) {
          continue;
        }
        const DimLoops& made = *loopsOf(val);
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

  /// The loops of a value where it is made.
  const DimLoops* loopsOf(ValId val) const {
    const ExprId definition = fusion_.val(val).definition;
    const std::vector<ValId>& outputs = fusion_.expr(definition).outputs;
    const auto output = static_cast<size_t>(std::ranges::find(outputs, val) - outputs.begin());
    return &placed_[indexOf(definition)].outputs[output];
  }

  const DimLoops* knownLoops(ValId val, const std::vector<uint32_t>& groups,
                             bool sharesReads) const {
    const uint32_t maker = makerOf(val);
    if (maker != kNone && std::ranges::find(groups, maker) != groups.end()) {
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

  /// Whether one nest computes the groups and the call, each of them once.
  bool fits(const CallShape& call, PlacedCall& placed, const std::vector<uint32_t>& groups,
            LoopDraft& loops) const {
    if (call.form.kind == LoopForm::Kind::Reduction) {
      if (placed.reduced == 0) {
        return call.form.fold < Fold::Variance && fitsElementwise(placed, groups, loops);
      }
      if (placed.all != loops.all() ||
          (loops.reduced() != 0 && loops.reduced() != placed.reduced)) {
        return false;
      }
      if (loops.reduced() == 0) {
        loops.setReduced(placed.reduced);
      }
      return haveAllLoops(groups, loops);
    }
    if (!fitsElementwise(placed, groups, loops)) {
      return false;
    }
    const bool repeats =
        placed.all != loops.all() && (loops.reduced() == 0 || placed.all != loops.parallel());
    return !repeats || call.form.cost != LoopForm::Cost::Something;
  }

  bool fitsElementwise(PlacedCall& placed, const std::vector<uint32_t>& groups,
                       LoopDraft& loops) const {
    if (loops.reduced() != 0) {
      const LoopSet known = loops.reduced() | loops.parallel();
      if ((loops.all() & ~known) != 0 && !uniteWithReduced(placed, loops)) {
        return false;
      }
    }
    return haveAllLoops(groups, loops);
  }

  /// New loops next to reduced ones are those, where they have the same size: rows are read again.
  bool uniteWithReduced(PlacedCall& placed, LoopDraft& loops) const {
    for (;;) {
      const LoopSet fresh = loops.all() & ~(loops.reduced() | loops.parallel());
      if (fresh == 0) {
        break;
      }
      const LoopId loop = loops.roots()[static_cast<size_t>(std::countr_zero(fresh))];
      bool isUnited = false;
      for (size_t i = 0; i < loops.roots().size() && !isUnited; ++i) {
        const LoopId other = loops.roots()[i];
        isUnited = ((loops.reduced() >> i) & 1U) != 0 &&
                   isSameSplit(fusion_, table_.info(loop), table_.info(other)) &&
                   loops.unite(other, loop);
      }
      if (!isUnited) {
        return false;
      }
    }
    placed.all = 0;
    for (const auto* tensors : {&placed.operands, &placed.outputs}) {
      for (const DimLoops& dims : *tensors) {
        placed.all |= loops.setOf(dims);
      }
    }
    return true;
  }

  /// A group that computes has all loops of the nest, or all parallel ones where it makes what belongs to a reduced row.
  bool haveAllLoops(const std::vector<uint32_t>& groups, const LoopDraft& loops) const {
    return std::ranges::all_of(groups, [&](uint32_t group) {
      const LoopSet own = loops.setOf(drafts_[group].loops.roots());
      return own == loops.all() || (loops.reduced() != 0 && own == loops.parallel()) ||
             (!drafts_[group].computes && drafts_[group].firstReader == kNone && !hasResult(group));
    });
  }

  bool hasResult(uint32_t group) const {
    return std::ranges::any_of(drafts_[group].exprs, [&](uint32_t index) {
      return std::ranges::any_of(fusion_.exprs()[index].outputs,
                                 [&](ValId val) { return isResult_[indexOf(val)]; });
    });
  }

  void mergeInto(uint32_t group, uint32_t target) {
    Draft& from = drafts_[group];
    Draft& to = drafts_[target];
    if (from.exprs.size() > to.exprs.size()) {
      std::swap(from.exprs, to.exprs);
      std::swap(from.reads, to.reads);
    }
    to.exprs.insert(to.exprs.end(), from.exprs.begin(), from.exprs.end());
    to.reads.insert(to.reads.end(), from.reads.begin(), from.reads.end());
    to.computes = to.computes || from.computes;
    to.isView = to.isView && from.isView;
    to.firstReader =
        to.order < from.firstReader ? std::min(to.firstReader, from.firstReader) : to.firstReader;
    mergedInto_[group] = target;
    for (uint32_t index : to.exprs) {
      groupOf_[index] = target;
    }
    from.exprs.clear();
    from.reads.clear();
  }

  /// Gives the group the last place in the order. Nobody reads its values yet.
  void moveToEnd(uint32_t group) {
    newGroup(GroupKind::Kernel);
    drafts_.back().loops = drafts_[group].loops;
    mergeInto(group, static_cast<uint32_t>(drafts_.size() - 1));
  }

  void settle(const CallShape& call, PlacedCall placed, uint32_t target, LoopDraft& loops) {
    Draft& group = drafts_[target];
    loops.commit(table_);
    group.loops = loops;
    group.exprs.push_back(indexOf(call.expr));
    group.computes = group.computes || call.form.cost == LoopForm::Cost::Something;
    group.isView = group.isView && call.form.cost == LoopForm::Cost::Nothing;
    group.isClosed = group.isClosed || call.form.endsKernel;
    groupOf_[indexOf(call.expr)] = target;
    for (size_t i = 0; i < call.operands.size(); ++i) {
      const ValId val = call.operands[i];
      const auto isRead = [&](const auto& read) { return read.first == val; };
      if (makerOf(val) != target && std::ranges::none_of(group.reads, isRead)) {
        group.reads.emplace_back(val, placed.operands[i]);
      }
    }
    placed_[indexOf(call.expr)] = std::move(placed);
  }

  std::vector<Group> finish() {
    std::vector<const Draft*> inOrder;
    for (const Draft& draft : drafts_) {
      if (!draft.exprs.empty()) {
        inOrder.push_back(&draft);
      }
    }
    std::vector<bool> isRead = isResult_;
    for (uint32_t index = 0; index < fusion_.exprs().size(); ++index) {
      if (groupOf_[index] == kNone) {
        continue;
      }
      for (ValId val : inputsOf(fusion_.exprs()[index])) {
        if (makerOf(val) != groupOf_[index]) {
          isRead[indexOf(val)] = true;
        }
      }
    }
    std::vector<Group> groups;
    for (const Draft* draft : inOrder) {
      if (draft->kind == GroupKind::Kernel && draft->isView) {
        addCalls(draft->exprs, groups);
      } else if (draft->kind == GroupKind::Kernel) {
        const std::vector<uint32_t> narrow = narrowResults(*draft, isRead);
        addCalls(narrow, groups);
        groups.push_back(finished(*draft, narrow, isRead));
      } else {
        groups.push_back(finished(*draft, {}, isRead));
      }
    }
    return groups;
  }

  /// Calls that make what others read and lack a loop of the nest, with what they read: copies and views, which a kernel would
  /// write as often as that loop runs, or not at all. The values become known outside, so `isRead` has them.
  std::vector<uint32_t> narrowResults(const Draft& draft, std::vector<bool>& isRead) const {
    const LoopSet wanted = draft.loops.reduced() != 0 ? draft.loops.parallel() : draft.loops.all();
    std::vector<uint32_t> exprs = draft.exprs;
    std::ranges::sort(exprs, std::greater<>());
    std::vector<uint32_t> narrow;
    for (uint32_t index : exprs) {
      const std::vector<ValId>& outputs = fusion_.exprs()[index].outputs;
      bool isNarrow = false;
      for (size_t i = 0; i < outputs.size(); ++i) {
        const LoopSet own = draft.loops.setOf(placed_[index].outputs[i]);
        isNarrow = isNarrow || (isRead[indexOf(outputs[i])] && (wanted & ~own) != 0);
      }
      if (isNarrow) {
        narrow.push_back(index);
        for (ValId val : inputsOf(fusion_.exprs()[index])) {
          isRead[indexOf(val)] = true;
        }
        for (ValId val : outputs) {
          isRead[indexOf(val)] = true;
        }
      }
    }
    return narrow;
  }

  /// Runs them one by one: a kernel of views alone would only copy.
  void addCalls(std::vector<uint32_t> exprs, std::vector<Group>& groups) const {
    std::ranges::sort(exprs);
    for (uint32_t index : exprs) {
      Group& group = groups.emplace_back();
      group.calls.push_back({ExprId{index}});
      group.outputs = fusion_.exprs()[index].outputs;
    }
  }

  Group finished(const Draft& draft, std::span<const uint32_t> without,
                 const std::vector<bool>& isRead) const {
    Group group;
    group.kind = draft.kind;
    std::vector<uint32_t> exprs = draft.exprs;
    std::erase_if(exprs, [&](uint32_t index) { return std::ranges::count(without, index) != 0; });
    std::ranges::sort(exprs);
    std::unordered_map<LoopId, LoopId> names;
    const auto named = [&](const std::vector<DimLoops>& tensors) {
      std::vector<DimLoops> result = tensors;
      for (DimLoops& loops : result) {
        for (LoopId& loop : loops) {
          if (loop != kNoLoop) {
            const LoopId root = table_.find(loop);
            const auto [name, isNew] = names.emplace(root, static_cast<LoopId>(names.size()));
            if (isNew) {
              const LoopSet set = draft.loops.setOf({&root, 1});
              GroupLoop info = table_.info(root);
              info.isReduced = (set & draft.loops.reduced()) != 0;
              group.loops.push_back(info);
            }
            loop = name->second;
          }
        }
      }
      return result;
    };
    for (uint32_t index : exprs) {
      const PlacedCall& placed = placed_[index];
      group.calls.push_back({ExprId{index}, named(placed.operands), named(placed.outputs)});
      for (ValId val : fusion_.exprs()[index].outputs) {
        if (isRead[indexOf(val)]) {
          group.outputs.push_back(val);
        }
      }
    }
    return group;
  }

  const Fusion& fusion_;
  const SegmentOptions& options_;
  LoopTable table_;
  std::vector<Draft> drafts_;
  std::vector<PlacedCall> placed_;                     // by expression
  std::vector<uint32_t> groupOf_;                      // by expression
  std::vector<bool> isNeeded_;                         // by value
  std::vector<bool> isResult_;                         // by value
  std::unordered_map<uint32_t, uint32_t> lastReader_;  // by value: the kernel that read it last
  std::unordered_map<uint32_t, uint32_t> mergedInto_;
};

}  // namespace

std::vector<Group> segment(const Fusion& fusion, const SegmentOptions& options) {
  return Segmenter(fusion, options).run();
}

}  // namespace meshfuse
