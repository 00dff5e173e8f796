// Prints a kernel of loop IR as C++: what cpu_text.cpp (the kernel), cpu_values.cpp (its values), cpu_passes.cpp (its passes) and
// cpu_segments.cpp (those by segments), cpu_folds.cpp (what passes accumulate) and cpu_scans.cpp (what goes from element to
// element) share.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "meshfuse/lowering/kernel_integers.h"
#include "meshfuse/lowering/loop_kernel.h"

namespace meshfuse {

/// One kernel on its way into text.
class CpuPrinter {
 public:
  explicit CpuPrinter(const LoopKernel& kernel);

  std::string print() &&;

 private:
  /// Elements between two writes past the caches: the buffers of a few results stay in the level-1 cache.
  static constexpr int kChunk = 1024;
  /// Reduced iterations that are added in one go, where little is done for each: accumulators are loaded and stored once, and as
  /// many streams of memory are under way.
  static constexpr int kRowsAtOnce = 8;

  static std::string name(char letter, int64_t index) { return letter + std::to_string(index); }
  static std::string infix(const std::string& a, const std::string& symbol, const std::string& b) {
    return a + symbol + b;
  }
  static std::string integer(int32_t slot) { return "s[" + std::to_string(slot) + "]"; }

  void line(const std::string& content);
  void open(const std::string& content);
  void close();
  /// `for (int64 index = begin; index < end; ++index) {`
  void openLoop(const std::string& index, const std::string& begin, const std::string& end);

  /// The value of a node, not rounded yet where its type has fewer bits than a float.
  std::string valueText(NodeId id);
  /// Whether a node divides elements of the lane by a number that they share: its reciprocal is computed once.
  bool dividesByRowValue(const Node& node) const;
  /// Whether a node chooses by what is the same in a segment of the lane.
  bool choosesByPart(const Node& node) const;
  bool varies(NodeId id) const;
  std::string foldText(NodeId id) const;
  /// `picked` is a number of elements that is added.
  std::string elementOf(const std::string& pointer, size_t tensor,
                        const std::string& picked = "") const;
  /// An element in memory as a value.
  std::string elementText(const Node& node, const std::string& element) const;
  /// The position that a Pick node reads at.
  void definePosition(NodeId id);
  std::string readText(const Node& node);
  std::string indexText(const Node& node) const;
  /// An index at element `at` of the lane.
  std::string positionText(size_t tensor, const std::string& at) const;
  std::string insideText(const Node& node, const std::string& lane) const;
  std::string maskedText(const Node& node) const;
  /// Whether an Inside node is the same in each segment of the lane, which is how a pass goes through it.
  bool isSegmented(NodeId inside) const;
  size_t indexTensor(int32_t index) const;
  /// Masked reads of a pass, and the Inside nodes that it computes.
  bool hasMasked(const LoopPass& pass) const;
  void segmentBegin(const LoopPass& pass);
  /// Where masked elements lie in a segment, and what choices by a part compare with.
  void segmentReads(const LoopPass& pass);
  /// `lanes`: of what it accumulates.
  void elementLoops(const LoopPass& pass, const std::string& begin, const std::string& end,
                    int lanes);
  /// The tensor, or index among them, that a node reads.
  size_t tensorOf(const Node& node) const;
  void define(NodeId id);
  std::string storedText(const LoopStore& store);

  void body();
  std::string pointerType(size_t tensor);
  void pointer(char letter, size_t tensor, const std::string& value, int row = 0);
  /// Whether a store of a pass can go past the caches.
  bool streamsStore(const LoopStore& store) const;
  bool streamsAny() const;
  void buffer(const std::string& type, const std::string& label, int64_t elements);
  void buffers();
  /// Partial results of a reduced lane side by side: enough for the latency of an addition, fewer where a pass has much else.
  int lanesOf(const LoopPass& pass) const;
  void parallelIndices();
  /// Reads the tiles that are turned into their buffers, and opens the loop over the tile's rows.
  void openTile();
  /// How a tensor's address follows the lane where it is used: turned ones are in buffers.
  Step laneOf(size_t tensor) const {
    return kernel_.tensors[tensor].isTurned ? Step::Unit : kernel_.tensors[tensor].lane;
  }
  /// The loop that is split is the outermost serial one, or the lane.
  std::string splitExtent() const;
  std::string offset(size_t tensor) const;
  void section(const LoopSection& section);
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

  /// A value from a buffer, in both forms where it has two.
  void restore(NodeId id, const std::string& element);
  /// Lane values of earlier sections that `users` and `stores` need, from their arrays; `own` are computed here.
  void restoreKept(const std::vector<NodeId>& users, const std::vector<NodeId>& own,
                   const std::string& base = "", const std::vector<LoopStore>& stores = {});
  bool isKept(NodeId id) const;
  void simd();
  void pass(const LoopPass& pass, int number);
  void serialLoops(const LoopPass& pass);
  /// Where the parts of a fold leave their results: by whole iteration, part and element of the lane block.
  std::string partialOf(NodeId id, const std::string& part) const;
  /// The table of a fold's partial results.
  std::string tableOf(NodeId id) const;
  void leavePartial(NodeId id);
  void takePartials(NodeId id);
  /// A pass in loops over a chunk, each of which has what comes after the scans of the one before.
  struct Stage {
    std::vector<NodeId> nodes;
    std::vector<NodeId> carried;  // nodes of earlier stages, from buffers
    std::vector<NodeId> kept;     // nodes that later stages need, into buffers
    std::vector<NodeId> scans;    // that run after it
  };
  static std::vector<Stage> stagesOf(const KernelGraph& graph, const LoopPass& pass);
  bool scansAny(const LoopPass& pass) const;
  /// Whether values of a pass go from one element of the lane to the next.
  bool scansAlongLane(const LoopPass& pass) const;
  /// … where what else it computes is worth loops of its own, side by side.
  bool scansInStages(const LoopPass& pass) const;
  void scanBuffers();
  void beginScans(const LoopPass& pass);
  /// Where a scan stands.
  std::string runningElement(NodeId id) const;
  /// An element of a value in its chunk.
  static std::string stagedElement(NodeId id) { return name('n', id) + "[j]"; }
  void advance(NodeId id, const std::string& term);
  void stages(const LoopPass& pass, const std::string& begin, const std::string& end, int lanes);

  /// The call that makes a row of those that parts have left.
  void sumParts();
  /// The loops over parts and over the rows of each.
  void openParts();

  std::string identityText(NodeId id);
  std::string combined(NodeId id, const std::string& a, const std::string& b);
  /// What a fold takes of an element, in type `type`.
  std::string termText(NodeId id, PrimType type);
  void combine(NodeId id, int lanes);
  /// The quotients of sums, and again in double where sums have overflown.
  void retake(const LoopPass& pass);
  std::string quotientText(NodeId id, const std::string& fold) const;
  std::string serialOffset(size_t tensor, int row) const;
  /// Tensors that a pass touches.
  std::set<int32_t> tensorsOf(const LoopPass& pass) const;
  /// Whether any pass reads the tensor: some are there for their layout alone.
  bool isRead(size_t tensor) const;
  /// `rows`: consecutive iterations of the innermost serial loop, from its index on.
  void chunks(const LoopPass& pass, int rows);
  bool takesRowsAtOnce(const LoopPass& pass) const;
  /// Whether a fold adds those rows to one another before it does to its accumulator.
  bool sumsRowsFirst(NodeId id) const;
  void openRowsAtOnce(const LoopPass& pass, const std::string& row, const std::string& begin,
                      const std::string& end);
  /// The address of a tensor's elements in the row that is printed.
  std::string pointerName(size_t tensor) const {
    return name(pointerLetter_,
                static_cast<int64_t>(tensor + static_cast<size_t>(row_) * kernel_.tensors.size()));
  }
  /// Asks for what the next iteration reads, a part of it in each pass, so that memory is busy while this one computes.
  void prefetchNext();
  void prefetchFrom(const std::string& from, size_t number, const std::string& share,
                    const std::string& pointer);
  /// What a pass does for element `j` of the chunk; `lane` is the accumulator's.
  void elements(const LoopPass& pass, const std::string& lane);

  const LoopKernel& kernel_;
  const KernelGraph& graph_;
  const IntegerSlots slots_;
  std::string body_;
  int indent_ = 0;
  char pointerLetter_ = 'a';
  int passNumber_ = 0;
  int row_ = 0;                  // among those at once
  int atOnce_ = 1;               // how many those are
  bool isStaged_ = false;        // scans are in buffers
  std::vector<NodeId> carried_;  // by buffers, from earlier stages
  bool checksZero_ = false;
  bool checksPositions_ = false;
  const LoopPass* segmentPass_ = nullptr;  // the pass that is printed, where it goes by segments
  std::map<NodeId, int64_t> partials_;     // their places among the tables of partial results
};

}  // namespace meshfuse
