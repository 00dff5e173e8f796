// What a kernel computes for each element, as a graph of numbers: the calls of a group without their tensors.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "meshfuse/ir/fusion.h"
#include "meshfuse/scheduling/group.h"
#include "meshfuse/scheduling/shifted_reads.h"

namespace meshfuse {

using NodeId = int32_t;

/// The loops that a value varies along, as bits.
using LoopMask = uint32_t;

/// The loops that walk a tensor's dimensions.
LoopMask maskOf(const DimLoops& dims) noexcept;

enum class NodeKind : uint8_t {
  Read,       // an element of a tensor: `index` into reads
  Number,     // a number that comes with the call: `index` into numbers
  Constant,   // `constant`
  Pointwise,  // row `index` of pointwise.def on the operands, cast to `compute`
  Cast,       // the operand in another type
  Fold,  // all of the operand's values along the reduced loops, made one by `fold`, divided by a second operand if there is one
  Scan,  // the operand's values up to the element along the reduced loop, made one by `fold`, from a second operand on if there is one
  OuterFold,  // all of the operand's values along all loops but the reduced one, made one by `fold`: only written
  Count,    // how many elements a Fold takes: the product of the reduced extents
  Index,    // where in a tensor the element is, a number: `index` into indices
  Seed,     // a random seed that comes with the call: `index` into seeds
  Uniform,  // a random number by seed, offset and index, between two more operands; further ones only have to be computed
  Normal,   // … around the fourth operand, with the fifth as deviation
  Pick,  // an element of a tensor, `index` into reads, whose position along a dimension is the operand
  Inside,  // whether the element lies in a part of the output: `index` into parts
  Masked,  // an element of a tensor, `index` into reads, where the operand is true; not read, and any number, elsewhere
};

/// One value of the graph. Types of fewer bits than Float are computed in Float and rounded: `type` says to what.
struct Node {
  NodeKind kind = NodeKind::Constant;
  PrimType type = PrimType::Float;
  int32_t index = -1;
  std::vector<NodeId> operands = {};
  PrimType compute = PrimType::Null;  // Pointwise, folds and Scan: what operands are cast to
  ReduceKind fold = ReduceKind::Sum;  // folds and Scan
  bool squares = false;               // Fold: of the operand's squares
  Scalar constant = {};
  LoopMask loops = 0;
  /// How many folds have to be complete before it can be computed.
  int32_t phase = 0;
};

/// Whether a value is the same in the whole kernel, and known before it begins.
inline bool isUniform(const Node& node) noexcept {
  return node.kind == NodeKind::Number || node.kind == NodeKind::Constant ||
         node.kind == NodeKind::Count || node.kind == NodeKind::Seed;
}

/// A tensor that the kernel reads or writes; the loops of its dimensions.
struct GraphTensor {
  ValId val{};
  PrimType type = PrimType::Float;
  DimLoops loops = {};
  NodeId node = -1;        // writes: what is written
  int64_t pickedDim = -1;  // reads of Pick nodes: the dimension without a loop
  bool wraps = false;      // … where a negative position counts from the end
  ShiftPath shift = {};    // reads: how far from the output's position

  bool operator==(const GraphTensor&) const = default;
};

/// A number that follows the loops as an address does: the sum of the positions in each dimension of `val`, times `strides`.
struct GraphIndex {
  ValId val{};
  DimLoops loops = {};
  /// By dimension; empty: those of val's elements in row-major order.
  std::vector<int64_t> strides = {};
  ShiftPath shift = {};  // of the positions

  bool operator==(const GraphIndex&) const = default;
};

/// The elements of an output at which each index is at least 0 and less than the size of its dimension of `val`.
struct GraphPart {
  ValId val{};
  std::vector<std::pair<int64_t, int32_t>> bounds =
      {};  // dimensions, and indices into KernelGraph::indices
};

struct KernelGraph {
  std::vector<Node> nodes;  // operands come before what uses them
  std::vector<GraphTensor> reads;
  std::vector<GraphTensor> writes;
  std::vector<GraphIndex> indices;
  std::vector<GraphPart> parts;
  std::vector<ValId> numbers;
  std::vector<ExprId> seeds;  // of calls that draw one
  LoopMask reduced = 0;
  int32_t loopCount = 0;

  const Node& node(NodeId id) const { return nodes[static_cast<size_t>(id)]; }
};

/// The graph of a kernel group. Equal subexpressions are one node.
KernelGraph buildGraph(const Fusion& fusion, const Group& group);

/// Arithmetic of a node in units of an addition: what computing it again costs.
int64_t workOf(const Node& node);

/// Whether a node divides whole numbers, by its last operand: a zero there is an error.
bool dividesIntegers(const Node& node);

/// Whether a node reads at a position that may lie outside of the tensor, which is an error.
inline bool isChecked(const Node& node) noexcept { return node.kind == NodeKind::Pick; }

/// Whether a node is a quotient of two floats.
bool dividesFloats(const Node& node);

/// Whether a fold is a sum in Float whose quotient may be finite where the sum is not: it is taken again in Double there.
inline bool isRetaken(const Node& node) noexcept {
  return node.kind == NodeKind::Fold && node.compute == PrimType::Float &&
         node.operands.size() == 2;
}

/// `add(n1, n2)`, `read 0`, `fold max(n3)`.
std::string toText(const Node& node);

/// One line a node: `n3: Float = add(n1, n2) [l0, l1]`.
std::string toText(const KernelGraph& graph);

}  // namespace meshfuse
