#include <algorithm>
#include <set>

#include "meshfuse/codegen/cpu_printer.h"
#include "meshfuse/codegen/device_text.h"
#include "meshfuse/codegen/number_text.h"
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
  for (int32_t loop = 0; loop < kernel_.serialLoops; ++loop) {
    const std::string r = "r" + std::to_string(loop);
    const bool isPart = kernel_.isSplit && loop == 0;
    openLoop(r, isPart ? "partBegin" : "0", isPart ? "partEnd" : integer(slots_.serial + loop));
  }
  chunks(pass);
  for (int32_t loop = 0; loop < kernel_.serialLoops; ++loop) {
    close();
  }
}

std::string CpuPrinter::partialOf(NodeId id, const std::string& part) const {
  const auto tensors = static_cast<int64_t>(kernel_.addressCount());
  const std::string base = "((" + std::string(deviceComputeName(graph_.node(id).compute)) + "*)p[" +
                           std::to_string(tensors + 1 + splitFolds_.at(id)) + "])";
  const std::string iteration = "(whole * " + integer(slots_.splits) + " + " + part + ")";
  return base + "[" +
         (kernel_.hasLaneAccumulators() ? iteration + " * " + integer(slots_.laneBlock) + " + j"
                                        : iteration) +
         "]";
}

void CpuPrinter::leavePartial(NodeId id) {
  if (!kernel_.hasLaneAccumulators()) {
    line(partialOf(id, "part") + " = " + name('f', id) + "[0];");
    return;
  }
  open("for (int64 j = 0; j < count; ++j)");
  line(partialOf(id, "part") + " = " + name('f', id) + "[j];");
  close();
}

void CpuPrinter::takePartials(NodeId id) {
  const std::string element = name('f', id) + (kernel_.hasLaneAccumulators() ? "[j]" : "[0]");
  open("for (int64 each = 0; each < " + integer(slots_.splits) + "; ++each)");
  if (kernel_.hasLaneAccumulators()) {
    open("for (int64 j = 0; j < count; ++j)");
  }
  line(element + " = " + combined(id, element, partialOf(id, "each")) + ";");
  if (kernel_.hasLaneAccumulators()) {
    close();
  }
  close();
}

std::string CpuPrinter::identityText(NodeId id) {
  const Node& node = graph_.node(id);
  return foldIdentity(node.fold, node.compute);
}

std::string CpuPrinter::combined(NodeId id, const std::string& a, const std::string& b) {
  const Node& node = graph_.node(id);
  const std::string type(deviceComputeName(node.compute));
  switch (node.fold) {
    case ReduceKind::Product:
      return a + " * " + b;
    case ReduceKind::Max:
      return "maximum<" + type + ">(" + a + ", " + b + ")";
    case ReduceKind::Min:
      return "minimum<" + type + ">(" + a + ", " + b + ")";
    default:
      return a + " + " + b;
  }
}

void CpuPrinter::combine(NodeId id, int lanes) {
  const std::string f = name('f', id);
  open("for (int w = " + std::to_string(lanes / 2) + "; w > 0; w /= 2)");
  open("for (int l = 0; l < w; ++l)");
  line(f + "[l] = " + combined(id, f + "[l]", f + "[l + w]") + ";");
  close();
  close();
}

std::string CpuPrinter::serialOffset(size_t tensor) const {
  std::string text;
  for (int32_t loop = 0; loop < kernel_.serialLoops; ++loop) {
    const auto at = static_cast<size_t>(kernel_.parallelLoops) + static_cast<size_t>(loop);
    const int32_t slot = slots_.strides[tensor][at];
    if (slot >= 0) {
      text += " + r" + std::to_string(loop) + " * " + integer(slot);
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

void CpuPrinter::chunks(const LoopPass& pass) {
  const bool streams =
      std::ranges::any_of(pass.stores, [&](const LoopStore& s) { return streamsStore(s); });
  const bool prefetches =
      graph_.reduced != 0 && !kernel_.hasLaneAccumulators() && kernel_.serialLoops == 0;
  const bool isSegmented = hasMasked(pass);
  const std::string size = streams || prefetches || isSegmented ? std::to_string(kChunk) : "count";
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
    pointer('b', tensor, name('a', i) + serialOffset(tensor) + lane);
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
  if (isSegmented) {
    segmentPass_ = &pass;
    open("for (int64 cut = 0, stop = m; cut < m; cut = stop, stop = m)");
    segmentBegin(pass);
    elementLoops(pass, "cut", "stop");
    close();
    segmentPass_ = nullptr;
  } else {
    elementLoops(pass, "0", "m");
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
                              const std::string& end) {
  if (pass.folds.empty() || kernel_.hasLaneAccumulators()) {
    simd();
    openLoop("j", begin, end);
    elements(pass, "j");
    close();
    return;
  }
  const std::string lanes = std::to_string(lanesOf(pass));
  line("int64 k = " + begin + ";");
  open("for (; k + " + lanes + " <= " + end + "; k += " + lanes + ")");
  simd();
  open("for (int64 l = 0; l < " + lanes + "; ++l)");
  line("const int64 j = k + l;");
  elements(pass, "l");
  close();
  close();
  open("for (int64 l = 0; k + l < " + end + "; ++l)");
  line("const int64 j = k + l;");
  elements(pass, "l");
  close();
}

bool CpuPrinter::hasMasked(const LoopPass& pass) const {
  return std::ranges::any_of(pass.nodes,
                             [&](NodeId id) { return graph_.node(id).kind == NodeKind::Masked; });
}

/// Where one of the parts begins or ends, a segment of the lane ends: in it, what is masked is read all along or not at all.
void CpuPrinter::segmentBegin(const LoopPass& pass) {
  for (NodeId id : pass.nodes) {
    const Node& node = graph_.node(id);
    if (node.kind != NodeKind::Inside || !isSegmented(id)) {
      continue;
    }
    const GraphPart& part = graph_.parts[static_cast<size_t>(node.index)];
    for (size_t i = 0; i < part.bounds.size(); ++i) {
      const size_t tensor = indexTensor(part.bounds[i].second);
      if (kernel_.tensors[tensor].lane == Step::None) {
        continue;
      }
      const std::string size =
          integer(slots_.parts[static_cast<size_t>(node.index)] + static_cast<int32_t>(i));
      const std::string position = positionText(tensor, "cut");
      line(infix("stop = segmentEnd(" + position, ", ", size) + ", cut, stop);");
    }
    line("const bool " + valueName(id) + " = " + insideText(node, "cut") + ";");
  }
  segmentReads(pass);
}

void CpuPrinter::segmentReads(const LoopPass& pass) {
  std::set<NodeId> choices;
  for (NodeId id : pass.nodes) {
    const Node& node = graph_.node(id);
    if (node.kind == NodeKind::Pointwise && choosesByPart(node) &&
        choices.insert(node.operands[0]).second) {
      line("const int32 " + name('l', node.operands[0]) + " = " + valueName(node.operands[0]) +
           " ? 2147483647 : -1;");
    }
  }
  std::set<int32_t> defined;
  for (NodeId id : pass.nodes) {
    const Node& node = graph_.node(id);
    if (node.kind != NodeKind::Masked || !isSegmented(node.operands.front()) ||
        !defined.insert(node.index).second) {
      continue;
    }
    const size_t tensor = tensorOf(node);
    const Step lane = kernel_.tensors[tensor].lane;
    const std::string isInside = valueName(node.operands.front());
    std::string element = name('b', node.index);
    if (lane != Step::None) {
      element +=
          lane == Step::Unit ? " + cut" : " + cut * " + integer(slots_.strides[tensor].back());
    }
    pointer('d', tensor, infix(infix(isInside, " ? ", element), " : ", name('z', node.index)));
    if (lane == Step::Bound) {
      line("const int64 " + name('e', node.index) + " = " + isInside + " ? " +
           integer(slots_.strides[tensor].back()) + " : 0;");
    }
  }
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
    std::string from = name('a', static_cast<int64_t>(i)) + " + base";
    if (passes == 1) {
      from += " + m";
    } else if (tensor.parallel.empty() || tensor.parallel.back() == Step::None) {
      continue;
    } else {
      from += " + " + integer(slots_.strides[i][tensor.parallel.size() - 1]);
    }
    const std::string share = passes == 1 ? "m" : "m / " + std::to_string(passes);
    prefetchFrom(from, number, share, name('a', static_cast<int64_t>(i)));
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
    const std::string f =
        name('f', id) + "[" + (kernel_.hasLaneAccumulators() ? "base + " + lane : lane) + "]";
    line(f + " = " + combined(id, f, operandText(graph_, node.operands[0], node.compute)) + ";");
  }
  for (const LoopStore& store : pass.stores) {
    line(elementOf(name('c', store.tensor), static_cast<size_t>(store.tensor)) + " = " +
         storedText(store) + ";");
  }
}

}  // namespace meshfuse
