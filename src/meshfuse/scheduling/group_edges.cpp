#include "meshfuse/scheduling/group_edges.h"

#include <algorithm>
#include <unordered_set>

#include "meshfuse/ops/infer.h"
#include "meshfuse/ops/op_info.h"
#include "meshfuse/ops/pointwise.h"
#include "meshfuse/ops/reshard.h"
#include "meshfuse/scheduling/call_loops.h"
#include "meshfuse/scheduling/loop_form.h"
#include "meshfuse/scheduling/shifted_reads.h"

namespace meshfuse {

std::vector<ValId> readsOf(const Fusion& fusion, const Group& group) {
  std::unordered_set<uint32_t> known;
  std::vector<ValId> reads;
  const auto visit = [&](ExprId id) {
    for (ValId val : inputsOf(fusion.expr(id))) {
      if (known.insert(indexOf(val)).second) {
        reads.push_back(val);
      }
    }
    for (ValId val : fusion.expr(id).outputs) {
      known.insert(indexOf(val));
    }
  };
  for (const GroupCall& call : group.calls) {
    std::ranges::for_each(call.absorbed, visit);
    visit(call.expr);
  }
  return reads;
}

std::optional<DimLoops> renamed(const DimLoops& dims, const LoopMap& map) {
  DimLoops result = dims;
  for (std::vector<LoopId>& dim : result) {
    for (LoopId& loop : dim) {
      const auto found = map.find(loop);
      if (found == map.end()) {
        return std::nullopt;
      }
      loop = found->second;
    }
  }
  return result;
}

size_t loopCount(const DimLoops& dims) {
  size_t count = 0;
  for (const std::vector<LoopId>& dim : dims) {
    count += dim.size();
  }
  return count;
}

std::optional<DimLoops> loopsOfRead(const Fusion& fusion, const Group& group, ValId val) {
  std::optional<DimLoops> loops;
  for (const GroupCall& call : group.calls) {
    const Expr& expr = fusion.expr(call.expr);
    for (ExprId absorbed : call.absorbed) {
      if (std::ranges::count(inputsOf(fusion.expr(absorbed)), val) != 0) {
        return std::nullopt;
      }
    }
    const std::vector<ValId> tensors = tensorsOf(fusion, expr);
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (tensors[i] != val) {
        continue;
      }
      const Body body = loopFormOf(*expr.op).body;
      if (readsShifted(body) || pickedOperandOf(expr, body) ||
          (loops && *loops != call.operands[i])) {
        return std::nullopt;
      }
      loops = call.operands[i];
    }
  }
  return loops;
}

bool addLoops(const DimLoops& from, const DimLoops& to, LoopMap& map) {
  if (from.size() != to.size()) {
    return false;
  }
  for (size_t dim = 0; dim < from.size(); ++dim) {
    if (from[dim].size() != to[dim].size() || from[dim].size() > 1) {
      return false;
    }
    if (!from[dim].empty() &&
        map.emplace(from[dim].front(), to[dim].front()).first->second != to[dim].front()) {
      return false;
    }
  }
  return true;
}

std::vector<bool> resultsOf(const Fusion& fusion) {
  std::vector<bool> isResult(fusion.vals().size(), false);
  forEachResult(
      fusion, [&](ValId output) { isResult[indexOf(output)] = true; },
      [&](const InputWrite& write) { isResult[indexOf(write.value)] = true; });
  return isResult;
}

std::string memoryText(const Fusion& fusion, std::span<const Group> groups) {
  std::vector<int64_t> readers(fusion.vals().size(), 0);
  for (const Group& group : groups) {
    for (ValId val : readsOf(fusion, group)) {
      ++readers[indexOf(val)];
    }
  }
  std::string text;
  for (const Group& group : groups) {
    for (ValId val : group.outputs) {
      if (readers[indexOf(val)] != 0 && fusion.val(val).isTensor()) {
        text += fusion.nameOf(val) +
                " goes through memory: " + std::to_string(memoryOf(fusion, val)) +
                " bytes, read by " + std::to_string(readers[indexOf(val)]) + " groups\n";
      }
    }
  }
  return text;
}

int64_t elementsOf(const TensorType& type) {
  int64_t elements = 1;
  for (const IterDomain& domain : type.domain) {
    elements *= domain.isBroadcast ? 1 : domain.extent.constant();
  }
  return elements;
}

int64_t memoryOf(const Fusion& fusion, ValId val) {
  return elementsOf(fusion.val(val).tensor()) * bytesOf(fusion.val(val).dtype());
}

int64_t workOf(const Expr& expr) {
  if (isReshard(expr)) {
    return 0;
  }
  const OpInfo& op = infoOf(*expr.op);
  if (op.isPointwise()) {
    return workOf(pointwiseRows()[static_cast<size_t>(op.pointwiseRow)]);
  }
  return loopFormOf(op).cost == LoopForm::Cost::Nothing ? 0 : 1;
}

bool dividesWholeNumbers(const Fusion& fusion, const Expr& expr) {
  if (isReshard(expr) || !infoOf(*expr.op).isPointwise()) {
    return false;
  }
  const OpInfo& op = infoOf(*expr.op);
  const std::vector<TensorType> tensors = tensorOperands(fusion, expr.args);
  return dividesWholeNumbers(pointwiseRows()[static_cast<size_t>(op.pointwiseRow)],
                             pointwiseTypes({&op, &fusion, expr.args, tensors}).compute);
}

}  // namespace meshfuse
