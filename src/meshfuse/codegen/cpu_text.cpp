#include "meshfuse/codegen/cpu_text.h"

#include <algorithm>
#include <set>

#include "meshfuse/codegen/cpu_printer.h"
#include "meshfuse/codegen/device_text.h"
#include "meshfuse/codegen/value_text.h"

namespace meshfuse {

CpuPrinter::CpuPrinter(const LoopKernel& kernel)
    : kernel_(kernel), graph_(kernel.graph), slots_(integerSlots(kernel)) {
  for (NodeId id : partialFolds(kernel)) {
    partials_.emplace(id, static_cast<int64_t>(partials_.size()));
  }
}

std::string CpuPrinter::print() && {
  body();
  std::set<int32_t> rows;
  for (const Node& node : graph_.nodes) {
    if (node.kind == NodeKind::Pointwise) {
      rows.insert(node.index);
    }
  }
  std::string text = "namespace device {\n\n" + rowFunctions(rows);
  text += body_ + "\n}  // namespace device\n";
  return deviceTextFor(text) + "\n" + text;
}

void CpuPrinter::line(const std::string& content) {
  body_ += std::string(static_cast<size_t>(indent_) * 2, ' ') + content + "\n";
}

void CpuPrinter::open(const std::string& content) {
  line(content.empty() ? "{" : content + " {");
  ++indent_;
}

void CpuPrinter::close() {
  --indent_;
  line("}");
}

void CpuPrinter::body() {
  checksZero_ = std::ranges::any_of(graph_.nodes, dividesIntegers);
  checksPositions_ = std::ranges::any_of(graph_.nodes, isChecked);
  body_ +=
      "struct Number {\n  union {\n    double real;\n    int64 integer;\n  };\n  double "
      "imaginary;\n};\n\n";
  body_ +=
      "extern \"C\" __attribute__((visibility(\"default\"))) void meshfuse_kernel(\n"
      "    void* const* p, const int64* s, const Number* numbers, int64 begin, int64 end) {\n";
  indent_ = 1;
  for (size_t i = 0; i < kernel_.tensors.size(); ++i) {
    const std::string shift = slots_.shifts[i] < 0 ? "" : integer(slots_.shifts[i]);
    const std::string address = "(" + pointerType(i) + "*)p[" + std::to_string(i + 1) + "]";
    pointer('t', i,
            kernel_.tensors[i].isIndex ? (shift.empty() ? "0" : shift)
            : shift.empty()            ? address
                                       : infix(address, " + ", shift));
  }
  for (size_t i = 0; i < graph_.nodes.size(); ++i) {
    if (isUniform(graph_.nodes[i])) {
      define(static_cast<NodeId>(i));
    }
  }
  if (checksZero_) {
    line("int64 zero = 0;");
  }
  if (checksPositions_) {
    line("int64 outside = 0;");
  }
  buffers();
  if (kernel_.isSplit) {
    line("const int64 call = ((const int64*)p[0])[1];");
    line("const int64 last = " + std::to_string(kernel_.calls() - 1) + ";");
    line("const int64 splits = " +
         std::string(kernel_.lastCallIsSplit() ? "" : "call == last ? 1 : ") +
         integer(slots_.splits) + ";");
  }
  if (kernel_.outerStores.empty()) {
    open("for (int64 t = begin; t < end; ++t)");
  } else {
    sumParts();
    openParts();
  }
  parallelIndices();
  if (kernel_.isTiled) {
    openTile();
  }
  for (size_t k = 0; k < kernel_.sections.size(); ++k) {
    pointerLetter_ = 'a';
    section(kernel_.sections[k]);
    if (k < kernel_.passes.size()) {
      pass(kernel_.passes[k], static_cast<int>(k));
    }
  }
  if (kernel_.isTiled) {
    close();
  }
  close();
  if (!kernel_.outerStores.empty()) {
    close();
  }
  if (streamsAny()) {
    open("if (" + integer(slots_.streams) + " != 0)");
    line("streamFence();");
    close();
  }
  if (checksZero_) {
    open("if (zero != 0)");
    line("*(int64*)p[0] = 1;");
    close();
  }
  if (checksPositions_) {
    open("if (outside != 0)");
    line("((int64*)p[0])[2] = 1;");
    close();
  }
  body_ += "}\n";
}

std::string CpuPrinter::pointerType(size_t tensor) {
  const LoopTensor& info = kernel_.tensors[tensor];
  const std::string type(deviceTypeName(info.type));
  return (info.isOutput ? "" : "const ") + type;
}

void CpuPrinter::pointer(char letter, size_t tensor, const std::string& value, int row) {
  const std::string type =
      kernel_.tensors[tensor].isIndex ? "const int64" : pointerType(tensor) + "* __restrict";
  const size_t number = tensor + static_cast<size_t>(row) * kernel_.tensors.size();
  line(type + " " + name(letter, static_cast<int64_t>(number)) + " = " + value + ";");
}

bool CpuPrinter::streamsStore(const LoopStore& store) const {
  return kernel_.tensors[static_cast<size_t>(store.tensor)].lane == Step::Unit;
}

bool CpuPrinter::streamsAny() const {
  return std::ranges::any_of(kernel_.passes, [&](const LoopPass& pass) {
    return std::ranges::any_of(pass.stores, [&](const LoopStore& s) { return streamsStore(s); });
  });
}

void CpuPrinter::buffer(const std::string& type, const std::string& label, int64_t elements) {
  line("alignas(64) " + type + " " + label + "[" + std::to_string(elements) + "];");
}

void CpuPrinter::buffers() {
  int64_t turnedBytes = 0;
  for (const LoopTensor& tensor : kernel_.tensors) {
    turnedBytes += tensor.isTurned ? bytesOf(tensor.type) : 0;
  }
  for (size_t i = 0; i < kernel_.tensors.size(); ++i) {
    if (kernel_.tensors[i].isTurned) {
      buffer(std::string(deviceTypeName(kernel_.tensors[i].type)),
             name('y', static_cast<int64_t>(i)), kTileBytes / turnedBytes);
    }
  }
  for (const LoopPass& pass : kernel_.passes) {
    for (const LoopStore& store : pass.stores) {
      if (streamsStore(store)) {
        buffer(std::string(deviceTypeName(kernel_.tensors[static_cast<size_t>(store.tensor)].type)),
               name('w', store.tensor), kChunk);
      }
    }
    for (NodeId id : pass.staged) {
      buffer(std::string(deviceComputeName(graph_.node(id).type)), name('g', id), kRowElements);
    }
    for (NodeId id : pass.folds) {
      buffer(std::string(deviceComputeName(graph_.node(id).compute)), name('f', id),
             kernel_.hasLaneAccumulators() ? kBlockElements : lanesOf(pass));
    }
  }
  scanBuffers();
  for (const Node& node : graph_.nodes) {
    if (node.kind == NodeKind::Masked) {
      line("alignas(64) static const " +
           std::string(deviceTypeName(graph_.reads[tensorOf(node)].type)) + " " +
           name('z', node.index) + "[" + std::to_string(kChunk) + "] = {};");
    }
  }
  for (const LoopSection& section : kernel_.sections) {
    for (NodeId id : section.kept) {
      buffer(std::string(deviceComputeName(graph_.node(id).type)), name('k', id), kBlockElements);
    }
  }
}

/// Elements side by side of which a pass accumulates: two vectors of the longest of Float, or one where much else wants registers. GCC
/// takes shorter vectors where those of 16 bits don't fill one.
int CpuPrinter::lanesOf(const LoopPass& pass) const {
  int64_t work = 0;
  bool hasHalves = false;
  for (NodeId id : pass.nodes) {
    work += workOf(graph_.node(id));
    hasHalves = hasHalves || bytesOf(graph_.node(id).type) == 2;
  }
  return work > 8 && !hasHalves ? 16 : 32;
}

void CpuPrinter::parallelIndices() {
  std::string rest = "t";
  if (kernel_.isSplit) {
    line("const int64 part = t % splits;");
    line("const int64 whole = t / splits;");
    line("const int64 partBegin = part * " + integer(slots_.splitSize) + ";");
    line("const int64 extent = " + splitExtent() + ";");
    line("const int64 partEnd = extent < partBegin + " + integer(slots_.splitSize) +
         " ? extent : partBegin + " + integer(slots_.splitSize) + ";");
    rest = "whole";
  }
  const int32_t across = kernel_.isTiled ? kernel_.parallelLoops - 1 : -1;
  if (kernel_.isTiled) {
    // Tiles that follow one another read on in the same pages.
    const std::string extent = integer(slots_.parallel + across);
    const std::string rows = integer(slots_.tileRows);
    line("const int64 tiles = (" + extent + " + " + rows + " - 1) / " + rows + ";");
    line("const int64 i" + std::to_string(across) + " = t % tiles * " + rows + ";");
    line("const int64 others = t / tiles;");
    rest = "others";
  }
  if (!kernel_.isLaneReduced) {
    line("const int64 first = " + rest + " % " + integer(slots_.laneBlocks) + " * " +
         integer(slots_.laneBlock) + ";");
    line("const int64 left = " + integer(slots_.lane) + " - first;");
    line("const int64 count = left < " + integer(slots_.laneBlock) +
         " ? left : " + integer(slots_.laneBlock) + ";");
    rest = infix(rest, " / ", integer(slots_.laneBlocks));
  } else {
    line("const int64 count = " + integer(slots_.lane) + ";");
  }
  for (int32_t loop = kernel_.parallelLoops; loop-- > 0;) {
    if (loop == across) {
      continue;
    }
    line("const int64 q" + std::to_string(loop) + " = " + rest + ";");
    const std::string q = "q" + std::to_string(loop);
    const std::string extent = integer(slots_.parallel + loop);
    line("const int64 i" + std::to_string(loop) + " = " +
         (loop == 0 ? q : infix(q, " % ", extent)) + ";");
    rest = infix(q, " / ", extent);
  }
  for (size_t i = 0; i < kernel_.tensors.size(); ++i) {
    pointer(kernel_.isTiled ? 'o' : 'a', i, name('t', static_cast<int64_t>(i)) + offset(i));
  }
}

void CpuPrinter::openTile() {
  const auto across = static_cast<size_t>(kernel_.parallelLoops) - 1;
  const std::string rows = integer(slots_.tileRows);
  const std::string columns = integer(slots_.laneBlock);
  line("const int64 below = " + integer(slots_.parallel + static_cast<int32_t>(across)) + " - i" +
       std::to_string(across) + ";");
  line("const int64 rows = below < " + rows + " ? below : " + rows + ";");
  for (size_t i = 0; i < kernel_.tensors.size(); ++i) {
    const auto id = static_cast<int64_t>(i);
    if (kernel_.tensors[i].isTurned) {
      line("transposeTile(" + name('o', id) + ", " + integer(slots_.strides[i].back()) +
           ", rows, count, " + name('y', id) + ", " + columns + ");");
    }
  }
  open("for (int64 row = 0; row < rows; ++row)");
  for (size_t i = 0; i < kernel_.tensors.size(); ++i) {
    const auto id = static_cast<int64_t>(i);
    const int32_t stride = slots_.strides[i][across];
    const std::string step = kernel_.tensors[i].isTurned ? " + row * " + columns
                             : stride >= 0               ? " + row * " + integer(stride)
                                                         : "";
    pointer('a', i, name(kernel_.tensors[i].isTurned ? 'y' : 'o', id) + step);
  }
}

std::string CpuPrinter::splitExtent() const {
  return integer(kernel_.serialLoops > 0 ? slots_.serial : slots_.lane);
}

std::string CpuPrinter::offset(size_t tensor) const {
  std::string text;
  const LoopTensor& info = kernel_.tensors[tensor];
  for (int32_t loop = 0; loop < kernel_.parallelLoops; ++loop) {
    const int32_t slot = slots_.strides[tensor][static_cast<size_t>(loop)];
    if (slot >= 0) {
      text += " + i" + std::to_string(loop) + " * " + integer(slot);
    }
  }
  if (!kernel_.isLaneReduced && info.lane != Step::None) {
    text += " + first" +
            (info.lane == Step::Unit ? "" : " * " + integer(slots_.strides[tensor].back()));
  }
  return text;
}

void CpuPrinter::section(const LoopSection& section) {
  for (NodeId id : section.scalars) {
    define(id);
  }
  if (section.lanes.empty() && !kernel_.hasLaneAccumulators()) {
    if (!section.stores.empty()) {
      onlyOnce([&] {
        for (const LoopStore& store : section.stores) {
          line(name('a', store.tensor) + "[0] = " + storedText(store) + ";");
        }
      });
    }
    return;
  }
  if (section.lanes.empty() && section.stores.empty()) {
    return;
  }
  simd();
  open("for (int64 j = 0; j < count; ++j)");
  restoreKept(section.lanes, section.lanes);
  for (NodeId id : section.lanes) {
    define(id);
  }
  for (NodeId id : section.kept) {
    line(name('k', id) + "[j] = " + valueName(id) + ";");
  }
  if (!section.stores.empty()) {
    onlyOnce([&] {
      for (const LoopStore& store : section.stores) {
        line(elementOf(name('a', store.tensor), static_cast<size_t>(store.tensor)) + " = " +
             storedText(store) + ";");
      }
    });
  }
  close();
}

void CpuPrinter::simd() {
  if (!checksZero_) {
    line(checksPositions_ ? "#pragma omp simd reduction(|:outside)" : "#pragma omp simd");
  }
}

std::string cpuText(const LoopKernel& kernel) { return CpuPrinter(kernel).print(); }

}  // namespace meshfuse
