#include "meshfuse/scheduling/violations.h"

#include <algorithm>

#include "meshfuse/ops/op_info.h"
#include "meshfuse/ops/reshard.h"

namespace meshfuse {

namespace {

class GroupVerifier {
 public:
  GroupVerifier(const Fusion& fusion, std::span<const Group> groups)
      : fusion_(fusion),
        groups_(groups),
        isGiven_(fusion.vals().size(), false),
        madeIn_(fusion.vals().size(), -1),
        isDrawn_(fusion.exprs().size(), false) {
    for (uint32_t i = 0; i < fusion.vals().size(); ++i) {
      isGiven_[i] = fusion.vals()[i].definition == kNoExpr;
    }
  }

  std::vector<std::string> run() && {
    for (size_t i = 0; i < groups_.size(); ++i) {
      checkGroup(i);
    }
    const auto checkResult = [&](ValId val) {
      if (!isGiven_[indexOf(val)]) {
        add(quoted(val) + " is a result and no group gives it");
      }
    };
    forEachResult(fusion_, checkResult, [&](const InputWrite& write) { checkResult(write.value); });
    return std::move(broken_);
  }

 private:
  void add(std::string text) { broken_.push_back(std::move(text)); }
  std::string quoted(ValId val) const { return "'" + fusion_.nameOf(val) + "'"; }

  void checkGroup(size_t index) {
    const Group& group = groups_[index];
    number_ = static_cast<int64_t>(index);
    if (group.kind != GroupKind::Kernel && group.calls.size() != 1) {
      add("group " + std::to_string(index) + " is a library's and has " +
          std::to_string(group.calls.size()) + " calls");
    }
    for (const GroupCall& call : group.calls) {
      for (ExprId absorbed : call.absorbed) {
        checkCall(absorbed);
      }
      checkCall(call.expr);
      if (group.kind == GroupKind::Kernel) {
        checkLoops(group, call);
      }
    }
    for (ValId val : group.outputs) {
      if (madeIn_[indexOf(val)] != number_) {
        add(quoted(val) + " is given by group " + std::to_string(index) + ", which lacks its call");
      } else if (isGiven_[indexOf(val)]) {
        add(quoted(val) + " is given twice");
      }
      isGiven_[indexOf(val)] = true;
    }
  }

  void checkCall(ExprId id) {
    const Expr& expr = fusion_.expr(id);
    for (ValId val : inputsOf(expr)) {
      if (!isGiven_[indexOf(val)] && madeIn_[indexOf(val)] != number_) {
        add(quoted(val) + " is read by group " + std::to_string(number_) + " before it is made");
      }
    }
    const OpInfo* op = isReshard(expr) ? nullptr : &infoOf(*expr.op);
    if (op != nullptr && op->drawsNumbers != nullptr && op->drawsNumbers(expr.args)) {
      if (isDrawn_[indexOf(id)]) {
        add(quoted(expr.outputs.front()) + " is drawn twice");
      }
      isDrawn_[indexOf(id)] = true;
    }
    for (ValId val : expr.outputs) {
      if (madeIn_[indexOf(val)] == number_) {
        add(quoted(val) + " is made twice in group " + std::to_string(number_));
      }
      madeIn_[indexOf(val)] = number_;
    }
  }

  void checkLoops(const Group& group, const GroupCall& call) {
    const Expr& expr = fusion_.expr(call.expr);
    if (call.outputs.size() != expr.outputs.size()) {
      add(quoted(expr.outputs.front()) + " is made without loops");
      return;
    }
    for (size_t i = 0; i < call.outputs.size(); ++i) {
      if (call.outputs[i].size() != fusion_.val(expr.outputs[i]).tensor().domain.size()) {
        add(quoted(expr.outputs[i]) + " has loops for " + std::to_string(call.outputs[i].size()) +
            " dimensions");
      }
    }
    for (const auto* tensors : {&call.operands, &call.outputs}) {
      for (const DimLoops& dims : *tensors) {
        std::vector<LoopId> loops;
        for (const std::vector<LoopId>& dim : dims) {
          loops.insert(loops.end(), dim.begin(), dim.end());
        }
        std::ranges::sort(loops);
        const bool exists =
            loops.empty() ||
            (loops.front() >= 0 && loops.back() < static_cast<LoopId>(group.loops.size()));
        if (!exists || std::ranges::adjacent_find(loops) != loops.end()) {
          add("the loops of the call that makes " + quoted(expr.outputs.front()) +
              " are not each one of the group, once a tensor");
        }
      }
    }
  }

  const Fusion& fusion_;
  std::span<const Group> groups_;
  std::vector<bool> isGiven_;    // by value: known outside of the group that makes it
  std::vector<int64_t> madeIn_;  // by value: the last group that has its call
  std::vector<bool> isDrawn_;    // by expression
  int64_t number_ = 0;
  std::vector<std::string> broken_;
};

int64_t productOf(const std::vector<ScheduledLoop>& loops) {
  int64_t result = 1;
  for (const ScheduledLoop& loop : loops) {
    result *= loop.extent;
  }
  return result;
}

class ScheduleVerifier {
 public:
  ScheduleVerifier(const Nest& nest, const Schedule& schedule)
      : nest_(nest), schedule_(schedule), runs_(nest.extents.size(), 0) {}

  std::vector<std::string> run() && {
    for (const ScheduledLoop& loop : schedule_.parallel) {
      checkLoop(loop, false);
    }
    for (const ScheduledLoop& loop : schedule_.serial) {
      checkLoop(loop, true);
    }
    checkLoop(schedule_.lane, schedule_.isLaneReduced);
    for (size_t i = 0; i < runs_.size(); ++i) {
      if (runs_[i] != 1) {
        add("loop l" + std::to_string(i) + " runs " + std::to_string(runs_[i]) + " times");
      }
    }
    checkCovering();
    return std::move(broken_);
  }

 private:
  void add(std::string text) { broken_.push_back(std::move(text)); }

  void checkLoop(const ScheduledLoop& loop, bool isReduced) {
    int64_t extent = 1;
    for (LoopId id : loop.loops) {
      const auto at = static_cast<size_t>(id);
      if (at >= runs_.size()) {
        add("there is no loop l" + std::to_string(id));
        return;
      }
      ++runs_[at];
      extent *= nest_.extents[at];
      if ((nest_.isReduced[at] != 0) != isReduced) {
        add("loop l" + std::to_string(id) + " is " + (isReduced ? "not " : "") + "reduced");
      }
    }
    if (loop.extent != extent) {
      add("loops of " + std::to_string(extent) + " iterations run " + std::to_string(loop.extent) +
          " times");
    }
    if (loop.strides.size() != nest_.accesses.size()) {
      add("a loop has strides of " + std::to_string(loop.strides.size()) + " tensors out of " +
          std::to_string(nest_.accesses.size()));
      return;
    }
    for (size_t i = 0; i < loop.strides.size() && !loop.loops.empty(); ++i) {
      if (loop.strides[i] != nest_.accesses[i].strides[static_cast<size_t>(loop.loops.back())]) {
        add("a loop has another stride than tensor " + std::to_string(i));
      }
    }
  }

  void checkCovering() {
    const Schedule& s = schedule_;
    const bool isEmpty = std::ranges::count(nest_.extents, 0) != 0;
    int64_t outer = productOf(s.parallel);
    if (s.isTiled) {
      const int64_t rows = s.parallel.empty() ? 1 : s.parallel.back().extent;
      outer = rows == 0 ? 0 : outer / rows * ((rows + s.tileRows - 1) / s.tileRows);
    }
    if (s.laneBlock < 1 || s.grain < 1 || s.splits < 1 || s.tileRows < 1) {
      add("a block, a grain, a tile or a part has no iteration");
    } else if (!isEmpty && s.laneBlocks * s.laneBlock < s.lane.extent) {
      add("blocks of " + std::to_string(s.laneBlock) + " don't cover the lane");
    } else if (!isEmpty && s.iterations != outer * s.laneBlocks) {
      add(std::to_string(s.iterations) + " iterations are not " +
          std::to_string(outer * s.laneBlocks));
    }
    if (s.isSplit) {
      const ScheduledLoop& divided = s.serial.empty() ? s.lane : s.serial.front();
      if (s.splits * s.splitSize < divided.extent) {
        add("parts of " + std::to_string(s.splitSize) + " don't cover the loop that is split");
      }
    }
  }

  const Nest& nest_;
  const Schedule& schedule_;
  std::vector<int64_t> runs_;  // by loop of the nest
  std::vector<std::string> broken_;
};

}  // namespace

std::vector<std::string> groupViolations(const Fusion& fusion, std::span<const Group> groups) {
  return GroupVerifier(fusion, groups).run();
}

std::vector<std::string> scheduleViolations(const Nest& nest, const Schedule& schedule) {
  return ScheduleVerifier(nest, schedule).run();
}

}  // namespace meshfuse
