#include <algorithm>
#include <set>

#include "meshfuse/codegen/cpu_printer.h"
#include "meshfuse/codegen/value_text.h"

namespace meshfuse {

void CpuPrinter::pass(const LoopPass& pass, int number) {
  passNumber_ = number;
  for (NodeId id : pass.folds) {
    const std::string elements =
        kernel_.hasLaneAccumulators() ? "count" : std::to_string(lanesOf(pass));
    open("for (int64 l = 0; l < " + elements + "; ++l)");
    line(name('f', id) + "[l] = " + identityText(id) + ";");
    close();
  }
  beginScans(pass);
  const bool isCall = kernel_.isSplit && !pass.folds.empty();
  if (isCall) {
    open("if (call == " + std::to_string(number) + ")");
  } else if (kernel_.isSplit) {
    open("if (call == last)");
  }
  serialLoops(pass);
  if (!kernel_.hasLaneAccumulators()) {
    for (NodeId id : pass.folds) {
      combine(id, lanesOf(pass));
    }
    retake(pass);
  }
  if (isCall) {
    for (NodeId id : pass.folds) {
      leavePartial(id);
    }
    line("continue;");
  }
  if (kernel_.isSplit) {
    close();
  }
  if (isCall) {
    for (NodeId id : pass.folds) {
      takePartials(id);
    }
  }
}

void CpuPrinter::openLoop(const std::string& index, const std::string& begin,
                          const std::string& end) {
  open("for (int64 " + index + " = " + begin + "; " + index + " < " + end + "; ++" + index + ")");
}

void CpuPrinter::serialLoops(const LoopPass& pass) {
  const bool atOnce = takesRowsAtOnce(pass);
  for (int32_t loop = 0; loop < kernel_.serialLoops; ++loop) {
    const std::string r = "r" + std::to_string(loop);
    const bool isPart = kernel_.isSplit && loop == 0;
    const std::string begin = isPart ? "partBegin" : "0";
    const std::string end = isPart ? "partEnd" : integer(slots_.serial + loop);
    if (!atOnce || loop + 1 < kernel_.serialLoops) {
      openLoop(r, begin, end);
    } else {
      openRowsAtOnce(pass, r, begin, end);
    }
  }
  chunks(pass, 1);
  for (int32_t loop = 0; loop < kernel_.serialLoops + (atOnce ? 1 : 0); ++loop) {
    close();
  }
}

/// A block with two loops over `row`: one that is printed whole, of several rows at once, and one of those left over, which is open.
void CpuPrinter::openRowsAtOnce(const LoopPass& pass, const std::string& row,
                                const std::string& begin, const std::string& end) {
  const std::string rows = std::to_string(kRowsAtOnce);
  std::string several = "for (; ";
  several.append(row).append(" + ").append(rows).append(" <= ").append(end);
  several.append("; ").append(row).append(" += ").append(rows).append(")");
  std::string one = "for (; ";
  one.append(row).append(" < ").append(end).append("; ++").append(row).append(")");
  open("");
  line("int64 " + row + " = " + begin + ";");
  open(several);
  chunks(pass, kRowsAtOnce);
  close();
  open(one);
}

bool CpuPrinter::takesRowsAtOnce(const LoopPass& pass) const {
  int64_t work = 0;
  for (NodeId id : pass.nodes) {
    const Node& node = graph_.node(id);
    if (node.kind != NodeKind::Read && node.kind != NodeKind::Pointwise &&
        node.kind != NodeKind::Cast) {
      return false;
    }
    work += workOf(node);
  }
  return kernel_.hasLaneAccumulators() && kernel_.serialLoops > 0 && pass.stores.empty() &&
         pass.staged.empty() && pass.restored.empty() && work <= 2 * kRowsAtOnce;
}

/// A few floats have a sum in Float that is as good as the terms, for fewer conversions.
bool CpuPrinter::sumsRowsFirst(NodeId id) const {
  const Node& node = graph_.node(id);
  const PrimType term = graph_.node(node.operands.front()).type;
  return atOnce_ > 1 && node.fold == ReduceKind::Sum && node.compute == PrimType::Double &&
         !node.squares && node.operands.size() == 1 &&
         (term == PrimType::Float || isReducedFloat(term));
}

std::string CpuPrinter::serialOffset(size_t tensor, int row) const {
  std::string text;
  for (int32_t loop = 0; loop < kernel_.serialLoops; ++loop) {
    const auto at = static_cast<size_t>(kernel_.parallelLoops) + static_cast<size_t>(loop);
    const int32_t slot = slots_.strides[tensor][at];
    if (slot >= 0) {
      const bool isLater = row > 0 && loop + 1 == kernel_.serialLoops;
      const std::string r = "r" + std::to_string(loop);
      text += " + " + (isLater ? infix("(" + r, " + ", std::to_string(row) + ")") : r) + " * " +
              integer(slot);
    }
  }
  return text;
}

std::set<int32_t> CpuPrinter::tensorsOf(const LoopPass& pass) const {
  std::set<int32_t> tensors;
  for (NodeId id : pass.nodes) {
    const NodeKind kind = graph_.node(id).kind;
    if (kind == NodeKind::Read || kind == NodeKind::Index || kind == NodeKind::Pick ||
        kind == NodeKind::Masked) {
      tensors.insert(static_cast<int32_t>(tensorOf(graph_.node(id))));
    }
    if (kind == NodeKind::Inside) {
      for (const auto& [dim, index] :
           graph_.parts[static_cast<size_t>(graph_.node(id).index)].bounds) {
        tensors.insert(static_cast<int32_t>(indexTensor(index)));
      }
    }
  }
  for (const LoopStore& store : pass.stores) {
    tensors.insert(store.tensor);
  }
  return tensors;
}

void CpuPrinter::chunks(const LoopPass& pass, int rows) {
  const bool streams =
      std::ranges::any_of(pass.stores, [&](const LoopStore& s) { return streamsStore(s); });
  // What is read once comes in time by itself.
  const bool prefetches = !kernel_.hasLaneAccumulators() && kernel_.serialLoops == 0 &&
                          !kernel_.isTiled && kernel_.passes.size() > 1;
  const bool isSegmented = hasMasked(pass);
  const std::string size = streams || prefetches || isSegmented || scansInStages(pass)
                               ? std::to_string(kChunk)
                               : "count";
  const bool isPart = kernel_.isSplit && kernel_.isLaneReduced && kernel_.serialLoops == 0;
  const std::string end = isPart ? "partEnd" : "count";
  const std::string step = isPart && size == "count" ? integer(slots_.splitSize) : size;
  open("for (int64 base = " + std::string(isPart ? "partBegin" : "0") + "; base < " + end +
       "; base += " + step + ")");
  line("const int64 m = " + end + " - base < " + step + " ? " + end + " - base : " + step + ";");
  for (int32_t i : tensorsOf(pass)) {
    const auto tensor = static_cast<size_t>(i);
    const Step step = laneOf(tensor);
    const std::string lane = step == Step::None ? ""
                             : step == Step::Unit
                                 ? " + base"
                                 : " + base * " + integer(slots_.strides[tensor].back());
    for (int row = 0; row < rows; ++row) {
      pointer('b', tensor, name('a', i) + serialOffset(tensor, row) + lane, row);
    }
  }
  for (const LoopStore& store : pass.stores) {
    const auto tensor = static_cast<size_t>(store.tensor);
    const std::string b = name('b', store.tensor);
    pointer('c', tensor,
            streamsStore(store)
                ? integer(slots_.streams) + " != 0 ? " + name('w', store.tensor) + " : " + b
                : b);
  }
  if (prefetches) {
    prefetchNext();
  }
  pointerLetter_ = 'b';
  if (rows > 1) {
    simd();
    openLoop("j", "0", "m");
    atOnce_ = rows;
    for (NodeId id : pass.folds) {
      if (sumsRowsFirst(id)) {
        line("float " + name('h', id) + " = 0;");
      }
    }
    for (row_ = 0; row_ < rows; ++row_) {
      open("");
      elements(pass, "j");
      close();
    }
    row_ = 0;
    for (NodeId id : pass.folds) {
      if (sumsRowsFirst(id)) {
        const std::string f = name('f', id) + "[base + j]";
        line(f + " = " + combined(id, f, "convert<double>(" + name('h', id) + ")") + ";");
      }
    }
    atOnce_ = 1;
    close();
  } else if (isSegmented) {
    segmentPass_ = &pass;
    open("for (int64 cut = 0, stop = m; cut < m; cut = stop, stop = m)");
    segmentBegin(pass);
    elementLoops(pass, "cut", "stop", lanesOf(pass));
    close();
    segmentPass_ = nullptr;
  } else {
    elementLoops(pass, "0", "m", lanesOf(pass));
  }
  for (const LoopStore& store : pass.stores) {
    if (streamsStore(store)) {
      open("if (" + integer(slots_.streams) + " != 0)");
      line("streamOut(" + name('b', store.tensor) + ", " + name('w', store.tensor) +
           ", m * int64(sizeof(" + name('w', store.tensor) + "[0])));");
      close();
    }
  }
  close();
}

void CpuPrinter::elementLoops(const LoopPass& pass, const std::string& begin,
                              const std::string& end, int lanes) {
  if (scansInStages(pass)) {
    stages(pass, begin, end, lanes);
    return;
  }
  const auto simdUnlessInOrder = [&] {
    if (!scansAlongLane(pass)) {
      simd();
    }
  };
  if (pass.folds.empty() || kernel_.hasLaneAccumulators()) {
    simdUnlessInOrder();
    openLoop("j", begin, end);
    elements(pass, "j");
    close();
    return;
  }
  const std::string width = std::to_string(lanes);
  line("int64 k = " + begin + ";");
  open("for (; k + " + width + " <= " + end + "; k += " + width + ")");
  simdUnlessInOrder();
  open("for (int64 l = 0; l < " + width + "; ++l)");
  line("const int64 j = k + l;");
  elements(pass, "l");
  close();
  close();
  open("for (int64 l = 0; k + l < " + end + "; ++l)");
  line("const int64 j = k + l;");
  elements(pass, "l");
  close();
}

bool CpuPrinter::isRead(size_t tensor) const {
  return std::ranges::any_of(kernel_.passes, [&](const LoopPass& pass) {
    return tensorsOf(pass).contains(static_cast<int32_t>(tensor));
  });
}

void CpuPrinter::prefetchNext() {
  const size_t passes = kernel_.passes.size();
  const auto number = static_cast<size_t>(passNumber_);
  open("if (" + integer(slots_.prefetches) + " != 0)");
  for (size_t i = 0; i < kernel_.tensors.size(); ++i) {
    const LoopTensor& tensor = kernel_.tensors[i];
    if (tensor.isOutput || tensor.isIndex || tensor.lane != Step::Unit || !isRead(i) ||
        slots_.picked[i] >= 0 || slots_.shifts[i] >= 0) {
      continue;
    }
    if (tensor.parallel.empty() || tensor.parallel.back() == Step::None) {
      continue;
    }
    const std::string pointer = name('a', static_cast<int64_t>(i));
    prefetchFrom(pointer + " + base + " + integer(slots_.strides[i][tensor.parallel.size() - 1]),
                 number, "m / " + std::to_string(passes), pointer);
  }
  close();
}

/// The part `number` of those from `from` on that have `share` elements each.
void CpuPrinter::prefetchFrom(const std::string& from, size_t number, const std::string& share,
                              const std::string& pointer) {
  const std::string skipped =
      number == 0 ? std::string() : " + " + std::to_string(number) + " * (" + share + ")";
  line("prefetch(" + from + skipped + ", (" + share + ") * int64(sizeof(" + pointer + "[0])));");
}

void CpuPrinter::elements(const LoopPass& pass, const std::string& lane) {
  for (NodeId id : pass.restored) {
    restore(id, name('g', id) + "[base + j]");
  }
  for (NodeId id : carried_) {
    restore(id, stagedElement(id));
  }
  if (kernel_.hasLaneAccumulators()) {
    std::vector<NodeId> users = pass.nodes;
    users.insert(users.end(), pass.folds.begin(), pass.folds.end());
    restoreKept(users, pass.nodes, "base + ", pass.stores);
  }
  for (NodeId id : pass.nodes) {
    if (graph_.node(id).kind != NodeKind::Inside || !isSegmented(id)) {
      define(id);
    }
  }
  for (NodeId id : pass.staged) {
    line(name('g', id) + "[base + j] = " + valueName(id) + ";");
  }
  for (NodeId id : pass.folds) {
    const Node& node = graph_.node(id);
    if (sumsRowsFirst(id)) {
      const std::string h = name('h', id);
      line(h + " = " + combined(id, h, termText(id, PrimType::Float)) + ";");
      continue;
    }
    const std::string f =
        name('f', id) + "[" + (kernel_.hasLaneAccumulators() ? "base + " + lane : lane) + "]";
    line(f + " = " + combined(id, f, termText(id, node.compute)) + ";");
  }
  for (NodeId id : pass.outerFolds) {
    line(name('x', id) + "[base + j] += " + termText(id, graph_.node(id).compute) + ";");
  }
  for (const LoopStore& store : pass.stores) {
    line(elementOf(name('c', store.tensor), static_cast<size_t>(store.tensor)) + " = " +
         storedText(store) + ";");
  }
}

}  // namespace meshfuse
