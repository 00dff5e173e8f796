#include "meshfuse/scheduling/outer_sums.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse {

namespace {

using Loops = std::set<LoopId>;

Loops loopsIn(const DimLoops& dims) {
  Loops loops;
  for (const std::vector<LoopId>& dim : dims) {
    loops.insert(dim.begin(), dim.end());
  }
  return loops;
}

Loops loopsThat(const Group& group, bool areReduced) {
  Loops loops;
  for (size_t i = 0; i < group.loops.size(); ++i) {
    if (group.loops[i].isReduced == areReduced) {
      loops.insert(static_cast<LoopId>(i));
    }
  }
  return loops;
}

/// A kernel's calls by what becomes of them.
struct Divided {
  std::vector<GroupCall> joining;  // sums, and what is made before them
  std::vector<GroupCall> staying;  // of one number a column
};

class Joiner {
 public:
  Joiner(const Fusion& fusion, std::vector<Group> groups, const CostModel& costs, Reasons reasons)
      : fusion_(fusion),
        groups_(std::move(groups)),
        costs_(costs),
        reasons_(reasons),
        madeIn_(fusion.vals().size(), -1),
        readers_(fusion.vals().size()) {
    for (size_t i = 0; i < groups_.size(); ++i) {
      for (ValId val : groups_[i].outputs) {
        madeIn_[indexOf(val)] = static_cast<int64_t>(i);
      }
      for (ValId val : readsOf(fusion_, groups_[i])) {
        readers_[indexOf(val)].push_back(i);
      }
    }
  }

  std::vector<Group> run() && {
    for (size_t i = 0; i < groups_.size(); ++i) {
      if (const std::optional<Divided> parts = divided(groups_[i])) {
        joinOne(i, *parts);
      }
    }
    std::erase_if(groups_, [](const Group& group) { return group.calls.empty(); });
    return std::move(groups_);
  }

 private:
  bool isSum(const Group& group, const GroupCall& call) const {
    const Expr& expr = fusion_.expr(call.expr);
    const LoopForm form = loopFormOf(*expr.op);
    const PrimType type = fusion_.val(expr.outputs.front()).dtype();
    const bool isFloat = type == PrimType::Float || type == PrimType::Double ||
                         type == PrimType::Half || type == PrimType::BFloat16;
    return form.kind == LoopForm::Kind::Reduction && form.fold == Fold::Sum && isFloat &&
           loopsIn(call.operands.front()).size() == group.loops.size() &&
           loopsIn(call.outputs.front()) == loopsThat(group, /*areReduced=*/false);
  }

  bool isPlain(const GroupCall& call) const {
    const Expr& expr = fusion_.expr(call.expr);
    const LoopForm form = loopFormOf(*expr.op);
    return form.kind == LoopForm::Kind::Elementwise && form.body == Body::Copy &&
           !form.endsKernel && call.absorbed.empty() && !dividesWholeNumbers(fusion_, expr);
  }

  /// A kernel that sums columns, where all else that it does is plain, and what follows from a sum is of columns.
  std::optional<Divided> divided(const Group& group) const {
    const Loops columns = loopsThat(group, /*areReduced=*/false);
    if (group.kind != GroupKind::Kernel || !group.isReduction() || columns.size() != 1) {
      return std::nullopt;
    }
    Divided parts;
    std::set<uint32_t> inside;  // what is made before sums
    std::set<uint32_t> after;   // sums, and what is made of them
    const auto isIn = [&](const std::set<uint32_t>& vals) {
      return [&](ValId val) { return vals.contains(indexOf(val)); };
    };
    for (const GroupCall& call : group.calls) {
      const Expr& expr = fusion_.expr(call.expr);
      const std::vector<ValId> inputs = inputsOf(expr);
      const bool isLater = std::ranges::any_of(inputs, isIn(after));
      const bool isSumOfAll = !isLater && isSum(group, call);
      const bool isWhole = loopsIn(call.outputs.front()).size() == group.loops.size();
      const bool isGiven = std::ranges::any_of(
          expr.outputs, [&](ValId val) { return std::ranges::count(group.outputs, val) != 0; });
      const bool isFit = isLater ? loopsIn(call.outputs.front()) == columns &&
                                       std::ranges::none_of(inputs, isIn(inside))
                                 : isWhole || !isGiven;
      if (!isSumOfAll && (!isPlain(call) || !isFit)) {
        return std::nullopt;
      }
      (isLater ? parts.staying : parts.joining).push_back(call);
      for (ValId val : expr.outputs) {
        (isLater || isSumOfAll ? after : inside).insert(indexOf(val));
      }
    }
    return after.empty() ? std::nullopt : std::optional(std::move(parts));
  }

  /// Into the last kernel that can take it.
  void joinOne(size_t index, const Divided& parts) {
    Group joining;
    joining.calls = parts.joining;
    std::set<size_t, std::greater<>> targets;
    for (ValId val : readsOf(fusion_, joining)) {
      if (!fusion_.val(val).isTensor()) {
        continue;
      }
      if (madeIn_[indexOf(val)] >= 0) {
        targets.insert(static_cast<size_t>(madeIn_[indexOf(val)]));
      }
      for (size_t reader : readers_[indexOf(val)]) {
        targets.insert(reader);
      }
    }
    for (size_t target : targets) {
      // What stays would run before the sums that it takes.
      if (target > index && !parts.staying.empty()) {
        continue;
      }
      if (const std::optional<LoopMap> map = mapInto(index, joining, target)) {
        join(index, parts, target, *map);
        return;
      }
    }
  }

  /// The loops of the sums in another kernel; nullopt where that is none for them.
  std::optional<LoopMap> mapInto(size_t index, const Group& joining, size_t target) const {
    const Group& from = groups_[index];
    const Group& to = groups_[target];
    const Loops rows = loopsThat(to, /*areReduced=*/true);
    if (target == index || to.kind != GroupKind::Kernel || rows.size() != 1 ||
        to.loops.size() != from.loops.size() || !canRunAt(index, joining, target) ||
        to.calls.size() + joining.calls.size() > costs_.maxCalls || hasScan(to)) {
      return std::nullopt;
    }
    LoopMap map;
    bool shares = false;
    std::vector<ValId> common = readsOf(fusion_, joining);
    common.insert(common.end(), from.outputs.begin(), from.outputs.end());
    for (ValId val : common) {
      const std::optional<DimLoops> loops = loopsOf(joining, val);
      const std::optional<DimLoops> there = loopsOf(to, val);
      if (!loops || !there) {
        continue;
      }
      if (!addLoops(*loops, *there, map)) {
        return std::nullopt;
      }
      if (loopCount(*loops) == from.loops.size()) {
        shares = true;
        // Rows lie one after the other.
        if (there->back() != std::vector<LoopId>{*rows.begin()}) {
          return std::nullopt;
        }
      }
    }
    if (!shares || map.size() != from.loops.size() || !areMadeAlike(joining, to, map)) {
      return std::nullopt;
    }
    const bool areRows = map.at(*loopsThat(from, /*areReduced=*/false).begin()) == *rows.begin();
    return areRows ? std::optional(map) : std::nullopt;
  }

  /// Whether all that the sums read is there when the target runs, and nobody before needs what their kernel makes.
  bool canRunAt(size_t index, const Group& joining, size_t target) const {
    const auto at = static_cast<int64_t>(target);
    if (!std::ranges::all_of(readsOf(fusion_, joining),
                             [&](ValId val) { return madeIn_[indexOf(val)] <= at; })) {
      return false;
    }
    return target < index ||
           std::ranges::none_of(
               groups_[index].outputs,
               [&](ValId val) {
                 return std::ranges::any_of(readers_[indexOf(val)],
                                            [&](size_t reader) { return reader < target; });
               });
  }

  bool hasScan(const Group& group) const {
    return std::ranges::any_of(group.calls, [&](const GroupCall& call) {
      return loopFormOf(*fusion_.expr(call.expr).op).kind == LoopForm::Kind::Scan;
    });
  }

  /// The loops of a value that a kernel makes or reads.
  std::optional<DimLoops> loopsOf(const Group& group, ValId val) const {
    const ExprId maker = fusion_.val(val).definition;
    const auto made = std::ranges::find(group.calls, maker, &GroupCall::expr);
    if (maker == kNoExpr || made == group.calls.end()) {
      return loopsOfRead(fusion_, group, val);
    }
    const std::vector<ValId>& outputs = fusion_.expr(maker).outputs;
    return made->outputs[static_cast<size_t>(std::ranges::find(outputs, val) - outputs.begin())];
  }

  /// Whether calls that the target makes already have the loops there that the sums need, and all others can have theirs.
  bool areMadeAlike(const Group& joining, const Group& to, const LoopMap& map) const {
    return std::ranges::all_of(joining.calls, [&](const GroupCall& call) {
      const auto made = std::ranges::find(to.calls, call.expr, &GroupCall::expr);
      return made == to.calls.end() || renamed(call.outputs.front(), map) == made->outputs.front();
    });
  }

  void join(size_t index, const Divided& parts, size_t target, const LoopMap& map) {
    Group& from = groups_[index];
    Group& to = groups_[target];
    std::set<uint32_t> gone;
    for (GroupCall call : parts.joining) {
      for (ValId val : fusion_.expr(call.expr).outputs) {
        gone.insert(indexOf(val));
      }
      if (std::ranges::count(to.calls, call.expr, &GroupCall::expr) != 0) {
        continue;
      }
      for (auto* tensors : {&call.operands, &call.outputs}) {
        for (DimLoops& dims : *tensors) {
          dims = *renamed(dims, map);
        }
      }
      to.calls.push_back(std::move(call));
    }
    std::ranges::sort(to.calls, {}, [](const GroupCall& call) { return indexOf(call.expr); });
    if (reasons_ != nullptr) {
      reasons_->push_back("the sums of the kernel that makes " +
                          fusion_.nameOf(from.outputs.front()) +
                          " are those of the one that makes " + fusion_.nameOf(to.outputs.front()));
    }
    leave(index, parts.staying);
    for (GroupCall& call : to.calls) {
      for (ValId val : fusion_.expr(call.expr).outputs) {
        if (gone.contains(indexOf(val)) && std::ranges::count(to.outputs, val) == 0 &&
            isWanted(val, target)) {
          to.outputs.push_back(val);
        }
      }
    }
    std::erase_if(to.outputs, [&](ValId val) { return !isWanted(val, target); });
    std::ranges::sort(to.outputs, {}, [](ValId val) { return indexOf(val); });
    note(target);
  }

  /// What is left of a kernel whose sums have gone: one number a column.
  void leave(size_t index, const std::vector<GroupCall>& staying) {
    Group& group = groups_[index];
    for (ValId val : readsOf(fusion_, group)) {
      std::erase(readers_[indexOf(val)], index);
    }
    const LoopId column = *loopsThat(group, /*areReduced=*/false).begin();
    Group rest;
    rest.kind = GroupKind::Kernel;
    rest.loops = {group.loops[static_cast<size_t>(column)]};
    rest.calls = staying;
    for (GroupCall& call : rest.calls) {
      for (auto* tensors : {&call.operands, &call.outputs}) {
        for (DimLoops& dims : *tensors) {
          dims = *renamed(dims, {{column, 0}});
        }
      }
      for (ValId val : fusion_.expr(call.expr).outputs) {
        if (std::ranges::count(group.outputs, val) != 0) {
          rest.outputs.push_back(val);
        }
      }
    }
    group = std::move(rest);
    note(index);
  }

  void note(size_t index) {
    for (ValId val : groups_[index].outputs) {
      madeIn_[indexOf(val)] = static_cast<int64_t>(index);
    }
    for (ValId val : readsOf(fusion_, groups_[index])) {
      if (std::ranges::count(readers_[indexOf(val)], index) == 0) {
        readers_[indexOf(val)].push_back(index);
      }
    }
  }

  /// Whether a value is a result or read by another group.
  bool isWanted(ValId val, size_t maker) const {
    return isResult_[indexOf(val)] ||
           std::ranges::any_of(readers_[indexOf(val)],
                               [&](size_t reader) { return reader != maker; });
  }

  const Fusion& fusion_;
  std::vector<Group> groups_;
  const CostModel& costs_;
  Reasons reasons_;
  std::vector<bool> isResult_ = resultsOf(fusion_);
  std::vector<int64_t> madeIn_;               // by value: the group that gives it, -1 for inputs
  std::vector<std::vector<size_t>> readers_;  // by value: groups that take it from outside
};

}  // namespace

std::vector<Group> joinOuterSums(const Fusion& fusion, std::vector<Group> groups,
                                 const CostModel& costs, Reasons reasons) {
  return Joiner(fusion, std::move(groups), costs, reasons).run();
}

}  // namespace meshfuse
