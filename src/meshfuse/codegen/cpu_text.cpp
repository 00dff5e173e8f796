#include "meshfuse/codegen/cpu_text.h"

#include <algorithm>
#include <map>
#include <set>

#include "meshfuse/codegen/device_text.h"
#include "meshfuse/codegen/number_text.h"
#include "meshfuse/codegen/value_text.h"
#include "meshfuse/lowering/kernel_integers.h"

namespace meshfuse {

namespace {

/// Elements between two writes past the caches: the buffers of a few results stay in the level-1 cache.
constexpr int kChunk = 1024;

std::string name(char letter, int64_t index) { return letter + std::to_string(index); }

std::string integer(int32_t slot) { return "s[" + std::to_string(slot) + "]"; }

class CpuPrinter {
 public:
  explicit CpuPrinter(const LoopKernel& kernel)
      : kernel_(kernel), graph_(kernel.graph), slots_(integerSlots(kernel)) {
    for (NodeId id : splitFolds(kernel)) {
      splitFolds_.emplace(id, static_cast<int64_t>(splitFolds_.size()));
    }
  }

  std::string print() && {
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

 private:
  // --- text pieces

  void line(const std::string& content) {
    body_ += std::string(static_cast<size_t>(indent_) * 2, ' ') + content + "\n";
  }
  void open(const std::string& content) {
    line(content + " {");
    ++indent_;
  }
  void close() {
    --indent_;
    line("}");
  }

  // --- values

  /// The value of a node, not rounded yet where its type has fewer bits than a float.
  std::string valueText(NodeId id) {
    const Node& node = graph_.node(id);
    switch (node.kind) {
      case NodeKind::Read:
        return readText(node);
      case NodeKind::Count:
        return integer(slots_.count);
      case NodeKind::Fold:
        return convertedText(node.type, node.compute, foldText(id));
      case NodeKind::Pointwise:
        if (dividesByRowValue(node)) {
          return convertedText(node.type, node.compute,
                              "quotientBy(" + operandText(graph_, node.operands[0], node.compute) +
                                  ", " + operandText(graph_, node.operands[1], node.compute) + ")");
        }
        return computedText(graph_, node);
      default:
        return computedText(graph_, node);
    }
  }

  /// Whether a node divides elements of the lane by a number that they share: its reciprocal is computed once.
  bool dividesByRowValue(const Node& node) const {
    return dividesFloats(node) && !varies(node.operands[1]) && varies(node.operands[0]);
  }
  bool varies(NodeId id) const {
    const LoopMask loops = graph_.node(id).loops;
    return (loops & kernel_.laneLoops) != 0;
  }

  std::string foldText(NodeId id) const {
    return name('f', id) + (kernel_.hasLaneAccumulators() ? "[j]" : "[0]");
  }

  std::string elementOf(const std::string& pointer, size_t tensor) const {
    switch (kernel_.tensors[tensor].lane) {
      case Step::None:
        return pointer + "[0]";
      case Step::Unit:
        return pointer + "[j]";
      default:
        return pointer + "[j * " + integer(slots_.strides[tensor].back()) + "]";
    }
  }

  std::string readText(const Node& node) {
    const auto tensor = static_cast<size_t>(node.index);
    const PrimType type = kernel_.tensors[tensor].type;
    const std::string element = elementOf(name(pointerLetter_, node.index), tensor);
    return deviceTypeName(type) == deviceComputeName(type)
               ? element
               : "convert<" + std::string(deviceComputeName(type)) + ">(" + element + ")";
  }

  void define(NodeId id) {
    const Node& node = graph_.node(id);
    const std::string wide = "const " + std::string(deviceComputeName(node.type)) + " ";
    if (isReducedFloat(node.type)) {
      // A store rounds by itself; rounding what is rounded would be done twice.
      line(wide + unroundedName(id) + " = " + valueText(id) + ";");
      line(wide + valueName(id) + " = " +
           (node.kind == NodeKind::Read ? unroundedName(id)
                                        : roundedText(node.type, unroundedName(id))) +
           ";");
    } else {
      line(wide + valueName(id) + " = " + valueText(id) + ";");
    }
    if (dividesIntegers(node)) {
      line("zero |= isZeroDivisor(" + operandText(graph_, node.operands.back(), node.compute) + ");");
    }
  }

  std::string storedText(const LoopStore& store) {
    const PrimType type = kernel_.tensors[static_cast<size_t>(store.tensor)].type;
    const std::string value =
        isReducedFloat(type) ? unroundedName(store.node) : valueName(store.node);
    return deviceTypeName(type) == deviceComputeName(type)
               ? value
               : "convert<" + std::string(deviceTypeName(type)) + ">(" + value + ")";
  }

  // --- the kernel

  void body() {
    checksZero_ = std::ranges::any_of(graph_.nodes, dividesIntegers);
    body_ += "struct Number {\n  union {\n    double real;\n    int64 integer;\n  };\n  double imaginary;\n};\n\n";
    body_ +=
        "extern \"C\" __attribute__((visibility(\"default\"))) void meshfuse_kernel(\n"
        "    void* const* p, const int64* s, const Number* numbers, int64 begin, int64 end) {\n";
    indent_ = 1;
    for (size_t i = 0; i < kernel_.tensors.size(); ++i) {
      pointer('t', i, "(" + pointerType(i) + "*)p[" + std::to_string(i + 1) + "]");
    }
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (isUniform(graph_.nodes[i])) {
        define(static_cast<NodeId>(i));
      }
    }
    if (checksZero_) {
      line("int64 zero = 0;");
    }
    buffers();
    if (kernel_.isSplit) {
      line("const int64 call = ((const int64*)p[0])[1];");
      line("const int64 last = " + std::to_string(kernel_.calls() - 1) + ";");
      line("const int64 splits = " +
           std::string(kernel_.lastCallIsSplit() ? "" : "call == last ? 1 : ") +
           integer(slots_.splits) + ";");
    }
    open("for (int64 t = begin; t < end; ++t)");
    parallelIndices();
    for (size_t k = 0; k < kernel_.sections.size(); ++k) {
      pointerLetter_ = 'a';
      section(kernel_.sections[k]);
      if (k < kernel_.passes.size()) {
        pass(kernel_.passes[k], static_cast<int>(k));
      }
    }
    close();
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
    body_ += "}\n";
  }

  std::string pointerType(size_t tensor) {
    const LoopTensor& info = kernel_.tensors[tensor];
    const std::string type(deviceTypeName(info.type));
    return (info.isOutput ? "" : "const ") + type;
  }

  void pointer(char letter, size_t tensor, const std::string& value) {
    line(pointerType(tensor) + "* __restrict " + name(letter, static_cast<int64_t>(tensor)) + " = " +
         value + ";");
  }

  /// Whether a store of a pass can go past the caches.
  bool streamsStore(const LoopStore& store) const {
    return kernel_.tensors[static_cast<size_t>(store.tensor)].lane == Step::Unit;
  }
  bool streamsAny() const {
    return std::ranges::any_of(kernel_.passes, [&](const LoopPass& pass) {
      return std::ranges::any_of(pass.stores, [&](const LoopStore& s) { return streamsStore(s); });
    });
  }

  void buffer(const std::string& type, const std::string& label, int64_t elements) {
    line("alignas(64) " + type + " " + label + "[" + std::to_string(elements) + "];");
  }

  void buffers() {
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
    for (const LoopSection& section : kernel_.sections) {
      for (NodeId id : section.kept) {
        buffer(std::string(deviceComputeName(graph_.node(id).type)), name('k', id), kBlockElements);
      }
    }
  }

  /// Partial results of a reduced lane side by side: enough for the latency of an addition, fewer where a pass has much else.
  int lanesOf(const LoopPass& pass) const {
    int64_t work = 0;
    for (NodeId id : pass.nodes) {
      work += workOf(graph_.node(id));
    }
    return work > 8 ? 16 : 32;
  }

  void parallelIndices() {
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
    if (!kernel_.isLaneReduced) {
      line("const int64 first = " + rest + " % " + integer(slots_.laneBlocks) + " * " +
           integer(slots_.laneBlock) + ";");
      line("const int64 left = " + integer(slots_.lane) + " - first;");
      line("const int64 count = left < " + integer(slots_.laneBlock) + " ? left : " +
           integer(slots_.laneBlock) + ";");
      rest = rest + " / " + integer(slots_.laneBlocks);
    } else {
      line("const int64 count = " + integer(slots_.lane) + ";");
    }
    for (int32_t loop = kernel_.parallelLoops; loop-- > 0;) {
      line("const int64 q" + std::to_string(loop) + " = " + rest + ";");
      const std::string q = "q" + std::to_string(loop);
      const std::string extent = integer(slots_.parallel + loop);
      line("const int64 i" + std::to_string(loop) + " = " +
           (loop == 0 ? q : q + " % " + extent) + ";");
      rest = q + " / " + extent;
    }
    for (size_t i = 0; i < kernel_.tensors.size(); ++i) {
      pointer('a', i, name('t', static_cast<int64_t>(i)) + offset(i));
    }
  }

  /// The loop that is split is the outermost serial one, or the lane.
  std::string splitExtent() const {
    return integer(kernel_.serialLoops > 0 ? slots_.serial : slots_.lane);
  }

  std::string offset(size_t tensor) const {
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

  void section(const LoopSection& section) {
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

  /// What is stored once for all parts of a split reduction: by the first part in the last call.
  template <class Stores>
  void onlyOnce(Stores stores) {
    if (kernel_.isSplit) {
      open("if (call == last && part == 0)");
    }
    stores();
    if (kernel_.isSplit) {
      close();
    }
  }

  /// Lane values of earlier sections that `users` need, from their arrays; `own` are computed here.
  /// A value from a buffer, in both forms where it has two.
  void restore(NodeId id, const std::string& element) {
    const PrimType type = graph_.node(id).type;
    line("const " + std::string(deviceComputeName(type)) + " " + valueName(id) + " = " + element +
         ";");
    if (isReducedFloat(type)) {
      line("const float " + unroundedName(id) + " = " + valueName(id) + ";");
    }
  }

  void restoreKept(const std::vector<NodeId>& users, const std::vector<NodeId>& own,
                   const std::string& base = "", const std::vector<LoopStore>& stores = {}) {
    std::set<NodeId> needed;
    for (const LoopStore& store : stores) {
      if (isKept(store.node) && std::ranges::find(own, store.node) == own.end()) {
        needed.insert(store.node);
      }
    }
    for (NodeId user : users) {
      if (graph_.node(user).kind == NodeKind::Fold && &users == &own) {
        continue;
      }
      for (NodeId operand : graph_.node(user).operands) {
        if (isKept(operand) && std::ranges::find(own, operand) == own.end()) {
          needed.insert(operand);
        }
      }
    }
    for (NodeId id : needed) {
      restore(id, name('k', id) + "[" + base + "j]");
    }
  }

  bool isKept(NodeId id) const {
    return std::ranges::any_of(kernel_.sections, [&](const LoopSection& section) {
      return std::ranges::find(section.kept, id) != section.kept.end();
    });
  }

  void simd() {
    if (!checksZero_) {
      line("#pragma omp simd");
    }
  }

  void pass(const LoopPass& pass, int number) {
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

  void serialLoops(const LoopPass& pass) {
    for (int32_t loop = 0; loop < kernel_.serialLoops; ++loop) {
      const std::string r = "r" + std::to_string(loop);
      const bool isPart = kernel_.isSplit && loop == 0;
      open("for (int64 " + r + " = " + (isPart ? "partBegin" : "0") + "; " + r + " < " +
           (isPart ? "partEnd" : integer(slots_.serial + loop)) + "; ++" + r + ")");
    }
    chunks(pass);
    for (int32_t loop = 0; loop < kernel_.serialLoops; ++loop) {
      close();
    }
  }

  /// Where the parts of a fold leave their results: by whole iteration, part and element of the lane block.
  std::string partialOf(NodeId id, const std::string& part) const {
    const auto tensors = static_cast<int64_t>(kernel_.tensors.size());
    const std::string base = "((" + std::string(deviceComputeName(graph_.node(id).compute)) + "*)p[" +
                             std::to_string(tensors + 1 + splitFolds_.at(id)) + "])";
    const std::string iteration = "(whole * " + integer(slots_.splits) + " + " + part + ")";
    return base + "[" +
           (kernel_.hasLaneAccumulators() ? iteration + " * " + integer(slots_.laneBlock) + " + j"
                                          : iteration) +
           "]";
  }

  void leavePartial(NodeId id) {
    if (!kernel_.hasLaneAccumulators()) {
      line(partialOf(id, "part") + " = " + name('f', id) + "[0];");
      return;
    }
    open("for (int64 j = 0; j < count; ++j)");
    line(partialOf(id, "part") + " = " + name('f', id) + "[j];");
    close();
  }

  void takePartials(NodeId id) {
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

  std::string identityText(NodeId id) {
    const Node& node = graph_.node(id);
    return foldIdentity(node.fold, node.compute);
  }

  std::string combined(NodeId id, const std::string& a, const std::string& b) {
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

  void combine(NodeId id, int lanes) {
    const std::string f = name('f', id);
    open("for (int w = " + std::to_string(lanes / 2) + "; w > 0; w /= 2)");
    open("for (int l = 0; l < w; ++l)");
    line(f + "[l] = " + combined(id, f + "[l]", f + "[l + w]") + ";");
    close();
    close();
  }

  std::string serialOffset(size_t tensor) const {
    std::string text;
    for (int32_t loop = 0; loop < kernel_.serialLoops; ++loop) {
      const int32_t slot =
          slots_.strides[tensor][static_cast<size_t>(kernel_.parallelLoops + loop)];
      if (slot >= 0) {
        text += " + r" + std::to_string(loop) + " * " + integer(slot);
      }
    }
    return text;
  }

  /// Tensors that a pass touches.
  std::set<int32_t> tensorsOf(const LoopPass& pass) const {
    std::set<int32_t> tensors;
    for (NodeId id : pass.nodes) {
      if (graph_.node(id).kind == NodeKind::Read) {
        tensors.insert(graph_.node(id).index);
      }
    }
    for (const LoopStore& store : pass.stores) {
      tensors.insert(store.tensor);
    }
    return tensors;
  }

  void chunks(const LoopPass& pass) {
    const bool streams =
        std::ranges::any_of(pass.stores, [&](const LoopStore& s) { return streamsStore(s); });
    const bool prefetches = !kernel_.hasLaneAccumulators() && kernel_.serialLoops == 0;
    const std::string size = streams || prefetches ? std::to_string(kChunk) : "count";
    const bool isPart = kernel_.isSplit && kernel_.isLaneReduced && kernel_.serialLoops == 0;
    const std::string end = isPart ? "partEnd" : "count";
    const std::string step = isPart && size == "count" ? integer(slots_.splitSize) : size;
    open("for (int64 base = " + std::string(isPart ? "partBegin" : "0") + "; base < " + end +
         "; base += " + step + ")");
    line("const int64 m = " + end + " - base < " + step + " ? " + end + " - base : " + step + ";");
    for (int32_t i : tensorsOf(pass)) {
      const auto tensor = static_cast<size_t>(i);
      const Step step = kernel_.tensors[tensor].lane;
      const std::string lane =
          step == Step::None   ? ""
          : step == Step::Unit ? " + base"
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
    if (pass.folds.empty() || kernel_.hasLaneAccumulators()) {
      simd();
      open("for (int64 j = 0; j < m; ++j)");
      elements(pass, "j");
      close();
    } else {
      const std::string lanes = std::to_string(lanesOf(pass));
      line("int64 k = 0;");
      open("for (; k + " + lanes + " <= m; k += " + lanes + ")");
      simd();
      open("for (int64 l = 0; l < " + lanes + "; ++l)");
      line("const int64 j = k + l;");
      elements(pass, "l");
      close();
      close();
      open("for (int64 l = 0; k + l < m; ++l)");
      line("const int64 j = k + l;");
      elements(pass, "l");
      close();
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

  /// Asks for what the next iteration reads, a part of it in each pass, so that memory is busy while this one computes. With one
  /// pass that is the next chunk.
  void prefetchNext() {
    const size_t passes = kernel_.passes.size();
    const auto number = static_cast<size_t>(passNumber_);
    open("if (" + integer(slots_.prefetches) + " != 0)");
    for (size_t i = 0; i < kernel_.tensors.size(); ++i) {
      const LoopTensor& tensor = kernel_.tensors[i];
      if (tensor.isOutput || tensor.lane != Step::Unit) {
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
      line("prefetch(" + from + (number == 0 ? "" : " + " + std::to_string(number) + " * (" + share + ")") +
           ", (" + share + ") * int64(sizeof(" + name('a', static_cast<int64_t>(i)) + "[0])));");
    }
    close();
  }

  /// What a pass does for element `j` of the chunk; `lane` is the accumulator's.
  void elements(const LoopPass& pass, const std::string& lane) {
    for (NodeId id : pass.restored) {
      restore(id, name('g', id) + "[base + j]");
    }
    if (kernel_.hasLaneAccumulators()) {
      std::vector<NodeId> users = pass.nodes;
      users.insert(users.end(), pass.folds.begin(), pass.folds.end());
      restoreKept(users, pass.nodes, "base + ", pass.stores);
    }
    for (NodeId id : pass.nodes) {
      define(id);
    }
    for (NodeId id : pass.staged) {
      line(name('g', id) + "[base + j] = " + valueName(id) + ";");
    }
    for (NodeId id : pass.folds) {
      const Node& node = graph_.node(id);
      const std::string f = name('f', id) + "[" +
                            (kernel_.hasLaneAccumulators() ? "base + " + lane : lane) + "]";
      line(f + " = " + combined(id, f, operandText(graph_, node.operands[0], node.compute)) + ";");
    }
    for (const LoopStore& store : pass.stores) {
      line(elementOf(name('c', store.tensor), static_cast<size_t>(store.tensor)) + " = " +
           storedText(store) + ";");
    }
  }

  const LoopKernel& kernel_;
  const KernelGraph& graph_;
  const IntegerSlots slots_;
  std::string body_;
  int indent_ = 0;
  char pointerLetter_ = 'a';
  int passNumber_ = 0;
  bool checksZero_ = false;
  std::map<NodeId, int64_t> splitFolds_;  // their places among the tables of partial results
};

}  // namespace

std::string cpuText(const LoopKernel& kernel) { return CpuPrinter(kernel).print(); }

}  // namespace meshfuse
