#include "meshfuse/scheduling/recompute.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "meshfuse/scheduling/call_loops.h"
#include "meshfuse/scheduling/loop_form.h"
#include "meshfuse/scheduling/shifted_reads.h"

namespace meshfuse {

namespace {

/// A tensor that repeated calls read, by the loops of the group that made the value.
struct Operand {
  ValId val{};
  DimLoops loops;
};

/// The calls that make one value of a kernel, and what they read.
struct Chain {
  ValId val{};
  DimLoops loops;
  std::vector<size_t> calls;  // indices into the group's
  std::vector<Operand> operands;
  int64_t work = 0;  // of one element
};

class Recomputer {
 public:
  Recomputer(const Fusion& fusion, std::vector<Group> groups, const CostModel& costs,
             Reasons reasons)
      : fusion_(fusion),
        groups_(std::move(groups)),
        costs_(costs),
        reasons_(reasons),
        isResult_(resultsOf(fusion)),
        readers_(fusion.vals().size()) {
    for (size_t i = 0; i < groups_.size(); ++i) {
      for (ValId val : readsOf(fusion_, groups_[i])) {
        readers_[indexOf(val)].push_back(i);
      }
    }
  }

  /// From the last group to the first: what a reader computes again it takes from groups before.
  std::vector<Group> run() && {
    for (size_t i = groups_.size(); i-- > 0;) {
      if (groups_[i].kind == GroupKind::Kernel) {
        visit(i);
      }
    }
    std::erase_if(groups_, [](const Group& group) { return group.calls.empty(); });
    return std::move(groups_);
  }

 private:
  void visit(size_t index) {
    const std::vector<ValId> outputs = groups_[index].outputs;
    for (size_t i = outputs.size(); i-- > 0;) {
      if (!isResult_[indexOf(outputs[i])] && areKernels(readers_[indexOf(outputs[i])])) {
        const std::optional<Chain> chain = chainOf(groups_[index], outputs[i]);
        if (chain && isWorth(*chain, groups_[index]) && isLeftWhole(index, outputs[i])) {
          repeat(*chain, index);
        }
      }
    }
  }

  bool areKernels(const std::vector<size_t>& groups) const {
    return !groups.empty() && std::ranges::all_of(groups, [&](size_t group) {
      return groups_[group].kind == GroupKind::Kernel;
    });
  }

  /// Whether a call can be made in several kernels: nothing of it depends on where that is, and nothing is thrown.
  bool isRepeatable(const GroupCall& call) const {
    const Expr& expr = fusion_.expr(call.expr);
    const LoopForm form = loopFormOf(*expr.op);
    return form.kind == LoopForm::Kind::Elementwise && form.body == Body::Copy &&
           !form.endsKernel && !form.divides && !form.reorders && call.absorbed.empty() &&
           !dividesWholeNumbers(fusion_, expr);
  }

  std::optional<Chain> chainOf(const Group& group, ValId val) const {
    std::unordered_map<uint32_t, size_t> madeBy;
    for (size_t i = 0; i < group.calls.size(); ++i) {
      for (ValId made : fusion_.expr(group.calls[i].expr).outputs) {
        madeBy.emplace(indexOf(made), i);
      }
    }
    Chain chain{val, {}, {madeBy.at(indexOf(val))}, {}, 0};
    chain.loops = group.calls[chain.calls.front()].outputs.front();
    for (size_t at = 0; at < chain.calls.size(); ++at) {
      const GroupCall& call = group.calls[chain.calls[at]];
      if (chain.calls.size() > costs_.maxRepeatedCalls || !isRepeatable(call)) {
        return std::nullopt;
      }
      chain.work += workOf(fusion_.expr(call.expr));
      const std::vector<ValId> tensors = tensorsOf(fusion_, fusion_.expr(call.expr));
      for (size_t i = 0; i < tensors.size(); ++i) {
        const auto maker = madeBy.find(indexOf(tensors[i]));
        if (maker == madeBy.end() || std::ranges::count(group.outputs, tensors[i]) != 0) {
          chain.operands.push_back({tensors[i], call.operands[i]});
        } else if (std::ranges::count(chain.calls, maker->second) == 0) {
          chain.calls.push_back(maker->second);
        }
      }
    }
    return chain;
  }

  /// The chain's loops in a reader, whose nest walks the value once.
  std::optional<LoopMap> loopMap(const Chain& chain, const Group& reader) const {
    const std::optional<DimLoops> read = loopsOfRead(fusion_, reader, chain.val);
    if (!read || read->size() != chain.loops.size() || loopCount(*read) != reader.loops.size() ||
        reader.calls.size() + chain.calls.size() > costs_.maxCalls) {
      return std::nullopt;
    }
    LoopMap map;
    if (!addLoops(chain.loops, *read, map)) {
      return std::nullopt;
    }
    return map;
  }

  /// Whether calls that a reader makes already, for another value, have the loops that they would have for this one.
  bool areMadeAlike(const Chain& chain, const Group& maker, const Group& reader,
                    const LoopMap& map) const {
    return std::ranges::all_of(chain.calls, [&](size_t at) {
      const GroupCall& call = maker.calls[at];
      const auto made = std::ranges::find(reader.calls, call.expr, &GroupCall::expr);
      return made == reader.calls.end() ||
             renamed(call.outputs.front(), map) == made->outputs.front();
    });
  }

  /// Bytes an element that a reader reads for the chain and did not before; nullopt where it can't make the value.
  std::optional<int64_t> newBytes(const Chain& chain, const Group& maker,
                                  const Group& reader) const {
    const std::optional<LoopMap> map = loopMap(chain, reader);
    if (!map) {
      return std::nullopt;
    }
    if (!areMadeAlike(chain, maker, reader, *map)) {
      return std::nullopt;
    }
    int64_t bytes = 0;
    std::unordered_set<uint32_t> counted;
    for (const Operand& operand : chain.operands) {
      const std::optional<DimLoops> loops = renamed(operand.loops, *map);
      if (!loops) {
        return std::nullopt;
      }
      if (loopsOfRead(fusion_, reader, operand.val) == loops ||
          !counted.insert(indexOf(operand.val)).second) {
        continue;
      }
      if (loopCount(*loops) != loopCount(chain.loops)) {
        return std::nullopt;  // how much it is depends on sizes
      }
      bytes += bytesOf(fusion_.val(operand.val).dtype());
    }
    return bytes;
  }

  bool isWorth(const Chain& chain, const Group& maker) const {
    const std::vector<size_t>& readers = readers_[indexOf(chain.val)];
    const int64_t own = bytesOf(fusion_.val(chain.val).dtype());
    const auto count = static_cast<int64_t>(readers.size());
    if (chain.work * count >= own * (count + 1) * costs_.workPerByte) {
      return false;  // whatever a reader has at hand
    }
    int64_t saved = own;
    int64_t work = 0;
    for (size_t index : readers) {
      const std::optional<int64_t> bytes = newBytes(chain, maker, groups_[index]);
      if (!bytes) {
        return false;
      }
      saved += own - *bytes;
      // Rows that are reduced may be read twice.
      work += chain.work * (groups_[index].isReduction() ? 2 : 1);
    }
    const bool isCheaper = work < saved * costs_.workPerByte;
    if (reasons_ != nullptr) {
      reasons_->push_back(fusion_.nameOf(chain.val) + (isCheaper ? " is" : " is not") +
                          " computed again where it is read, by kernels: " + std::to_string(count) +
                          "; an element takes " + std::to_string(work) + " additions and saves " +
                          std::to_string(saved) + " bytes, worth " +
                          std::to_string(saved * costs_.workPerByte));
    }
    return isCheaper;
  }

  /// The calls of a group that its outputs need.
  std::vector<GroupCall> neededCalls(const Group& group) const {
    std::unordered_set<uint32_t> needed;
    for (ValId val : group.outputs) {
      needed.insert(indexOf(val));
    }
    std::vector<GroupCall> calls;
    for (size_t i = group.calls.size(); i-- > 0;) {
      const GroupCall& call = group.calls[i];
      const Expr& expr = fusion_.expr(call.expr);
      if (std::ranges::any_of(expr.outputs,
                              [&](ValId val) { return needed.contains(indexOf(val)); })) {
        for (ValId val : inputsOf(expr)) {
          needed.insert(indexOf(val));
        }
        calls.push_back(call);
      }
    }
    std::ranges::reverse(calls);
    return calls;
  }

  /// Whether all loops of a group have calls yet when it does not give `val` any more.
  bool isLeftWhole(size_t index, ValId val) const {
    Group rest = groups_[index];
    std::erase(rest.outputs, val);
    std::unordered_set<LoopId> used;
    const std::vector<GroupCall> calls = neededCalls(rest);
    for (const GroupCall& call : calls) {
      for (const auto* tensors : {&call.operands, &call.outputs}) {
        for (const DimLoops& dims : *tensors) {
          for (const std::vector<LoopId>& dim : dims) {
            used.insert(dim.begin(), dim.end());
          }
        }
      }
    }
    return calls.empty() || used.size() == rest.loops.size();
  }

  void repeat(const Chain& chain, size_t index) {
    const std::vector<size_t> readers = std::move(readers_[indexOf(chain.val)]);
    readers_[indexOf(chain.val)].clear();
    for (size_t reader : readers) {
      addCalls(chain, groups_[index], reader);
    }
    Group& group = groups_[index];
    const std::vector<ValId> before = readsOf(fusion_, group);
    std::erase(group.outputs, chain.val);
    group.calls = neededCalls(group);
    const std::vector<ValId> after = readsOf(fusion_, group);
    for (ValId val : before) {
      if (std::ranges::count(after, val) == 0) {
        std::erase(readers_[indexOf(val)], index);
      }
    }
  }

  void addCalls(const Chain& chain, const Group& maker, size_t index) {
    Group& reader = groups_[index];
    const LoopMap map = *loopMap(chain, reader);
    for (size_t at : chain.calls) {
      GroupCall call = maker.calls[at];
      if (std::ranges::count(reader.calls, call.expr, &GroupCall::expr) != 0) {
        continue;  // made there for another value
      }
      for (auto* tensors : {&call.operands, &call.outputs}) {
        for (DimLoops& dims : *tensors) {
          dims = *renamed(dims, map);
        }
      }
      reader.calls.push_back(std::move(call));
    }
    std::ranges::sort(reader.calls, {}, [](const GroupCall& call) { return indexOf(call.expr); });
    for (const Operand& operand : chain.operands) {
      std::vector<size_t>& readers = readers_[indexOf(operand.val)];
      if (std::ranges::count(readers, index) == 0) {
        readers.push_back(index);
      }
    }
  }

  const Fusion& fusion_;
  std::vector<Group> groups_;
  const CostModel& costs_;
  Reasons reasons_;
  std::vector<bool> isResult_;                // by value
  std::vector<std::vector<size_t>> readers_;  // by value: groups that take it from outside
};

}  // namespace

std::vector<Group> recompute(const Fusion& fusion, std::vector<Group> groups,
                             const CostModel& costs, Reasons reasons) {
  return Recomputer(fusion, std::move(groups), costs, reasons).run();
}

}  // namespace meshfuse
