#include "meshfuse/scheduling/merge_kernels.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <unordered_set>
#include <utility>

#include "meshfuse/scheduling/call_loops.h"
#include "meshfuse/scheduling/loop_form.h"
#include "meshfuse/scheduling/shifted_reads.h"

namespace meshfuse {

namespace {

/// A loop by what has to be the same in both kernels: how often it runs, here and on every other rank.
using LoopKind = std::pair<int64_t, std::pair<uint64_t, int64_t>>;

class Merger {
 public:
  Merger(const Fusion& fusion, const CostModel& costs, Reasons reasons)
      : fusion_(fusion), costs_(costs), reasons_(reasons), madeAt_(fusion.vals().size(), -1) {}

  std::vector<Group> run(std::vector<Group> groups) && {
    for (Group& group : groups) {
      const std::vector<ValId> reads = readsOf(fusion_, group);
      const std::optional<std::vector<LoopKind>> loops = loopsOf(group, reads);
      if (!loops || !joinsEarlier(group, reads, *loops)) {
        append(std::move(group), loops);
      }
    }
    return std::move(result_);
  }

 private:
  void append(Group group, const std::optional<std::vector<LoopKind>>& loops) {
    const auto at = static_cast<int64_t>(result_.size());
    noteOutputs(group, at);
    result_.push_back(std::move(group));
    if (loops) {
      last_[*loops] = at;
    }
  }

  void noteOutputs(const Group& group, int64_t at) {
    for (ValId val : group.outputs) {
      madeAt_[indexOf(val)] = at;
    }
  }

  int64_t workOfAll(const Group& group, const std::vector<ValId>& reads) const {
    int64_t bytes = 0;
    for (const auto* vals : {&reads, &group.outputs}) {
      for (ValId val : *vals) {
        bytes += fusion_.val(val).isTensor() ? memoryOf(fusion_, val) : 0;
      }
    }
    int64_t work = bytes * costs_.workPerByte;
    for (const GroupCall& call : group.calls) {
      const Expr& expr = fusion_.expr(call.expr);
      work += meshfuse::workOf(expr) * elementsOf(fusion_.val(expr.outputs.front()).tensor());
    }
    return work;
  }

  /// How many tensors are among the values, each counted once.
  size_t tensorCount(const std::vector<std::vector<ValId>>& lists) const {
    std::unordered_set<uint32_t> known;
    for (const std::vector<ValId>& vals : lists) {
      for (ValId val : vals) {
        if (fusion_.val(val).isTensor()) {
          known.insert(indexOf(val));
        }
      }
    }
    return known.size();
  }

  bool isPlain(const GroupCall& call) const {
    const Expr& expr = fusion_.expr(call.expr);
    const LoopForm form = loopFormOf(*expr.op);
    return form.kind == LoopForm::Kind::Elementwise && !form.endsKernel && call.absorbed.empty() &&
           !readsShifted(form.body) && !pickedOperandOf(expr, form.body) &&
           !dividesWholeNumbers(fusion_, expr);
  }

  /// nullopt for kernels that are not merged.
  std::optional<std::vector<LoopKind>> loopsOf(const Group& group,
                                               const std::vector<ValId>& reads) const {
    if (group.kind != GroupKind::Kernel || group.isReduction() ||
        !std::ranges::all_of(group.calls, [&](const GroupCall& call) { return isPlain(call); }) ||
        workOfAll(group, reads) > costs_.maxMergedLaunches * costs_.launchWork) {
      return std::nullopt;
    }
    std::vector<LoopKind> kinds;
    for (const GroupLoop& loop : group.loops) {
      if (loop.factor >= 0) {
        return std::nullopt;
      }
      const TensorType& type = fusion_.val(loop.val).tensor();
      const uint64_t sharding = type.sharding.value();
      kinds.push_back({type.domain[static_cast<size_t>(loop.dim)].extent.constant(),
                       {sharding, type.sharding ? loop.dim : 0}});
    }
    return kinds;
  }

  static std::vector<GroupCall>::const_iterator madeIn(const Group& group, const GroupCall& call) {
    return std::ranges::find(group.calls, call.expr, &GroupCall::expr);
  }

  /// Whether calls that both kernels make have the same loops.
  static bool areMadeAlike(const Group& group, const Group& target) {
    return std::ranges::all_of(group.calls, [&](const GroupCall& call) {
      const auto made = madeIn(target, call);
      return made == target.calls.end() || made->outputs == call.outputs;
    });
  }

  /// Makes the group part of the last one with such loops, if it reads nothing that is made there or after.
  bool joinsEarlier(const Group& group, const std::vector<ValId>& reads,
                    const std::vector<LoopKind>& loops) {
    const auto found = last_.find(loops);
    if (found == last_.end()) {
      return false;
    }
    const int64_t at = found->second;
    Group& target = result_[static_cast<size_t>(at)];
    const bool isApart =
        std::ranges::all_of(reads, [&](ValId val) { return madeAt_[indexOf(val)] < at; });
    const size_t tensors =
        tensorCount({readsOf(fusion_, target), reads, group.outputs, target.outputs});
    const bool joins = isApart && areMadeAlike(group, target) &&
                       tensors <= costs_.maxMergedTensors &&
                       target.calls.size() + group.calls.size() <= costs_.maxCalls;
    if (reasons_ != nullptr) {
      reasons_->push_back("the kernel that makes " + fusion_.nameOf(group.outputs.front()) +
                          (joins ? " joins" : " does not join") + " the one that makes " +
                          fusion_.nameOf(target.outputs.front()) + ": " +
                          std::to_string(workOfAll(group, reads)) + " additions of at most " +
                          std::to_string(costs_.maxMergedLaunches * costs_.launchWork) + ", " +
                          std::to_string(tensors) + " tensors of at most " +
                          std::to_string(costs_.maxMergedTensors) +
                          (isApart ? "" : ", and it needs what is made there or later"));
    }
    if (!joins) {
      return false;
    }
    std::ranges::copy_if(group.calls, std::back_inserter(target.calls), [&](const GroupCall& call) {
      return madeIn(target, call) == target.calls.end();
    });
    std::ranges::sort(target.calls, {}, [](const GroupCall& call) { return indexOf(call.expr); });
    target.outputs.insert(target.outputs.end(), group.outputs.begin(), group.outputs.end());
    std::ranges::sort(target.outputs, {}, [](ValId val) { return indexOf(val); });
    noteOutputs(group, at);
    return true;
  }

  const Fusion& fusion_;
  const CostModel& costs_;
  Reasons reasons_;
  std::vector<int64_t> madeAt_;  // by value: the group that gives it; -1 for others
  std::vector<Group> result_;
  std::map<std::vector<LoopKind>, int64_t> last_;
};

}  // namespace

std::vector<Group> mergeKernels(const Fusion& fusion, std::vector<Group> groups,
                                const CostModel& costs, Reasons reasons) {
  return Merger(fusion, costs, reasons).run(std::move(groups));
}

}  // namespace meshfuse
