// The parts that a fusion is divided into: what becomes one kernel, one call of a library or one collective.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "meshfuse/ir/fusion.h"

namespace meshfuse {

/// A loop of a group's kernel, an index into Group::loops.
using LoopId = int32_t;

/// The loops that walk each dimension of a tensor, outermost first: none for one element, several for a dimension that a reshape
/// divides or makes of several.
using DimLoops = std::vector<std::vector<LoopId>>;

/// A loop runs over dimension `dim` of `val`, and over all others that it walks alone: they have one size. One that walks only
/// parts of dimensions has -1 there, and runs over factor `factor` of the dimension map of the call that makes `val`. One iteration
/// of the others goes through all of a reduced one: reductions take its elements, and scans go along it.
struct GroupLoop {
  ValId val{};
  int64_t dim = -1;
  int32_t factor = -1;
  bool isReduced = false;
};

/// A call in a kernel group: the loops of its tensor operands (in the order of inferOutputs) and of its outputs. Operands that
/// other groups or the caller make are read from memory.
struct GroupCall {
  ExprId expr{};
  std::vector<DimLoops> operands = {};
  std::vector<DimLoops> outputs = {};
  /// Calls that are computed where this one reads their results, in the order of the fusion.
  std::vector<ExprId> absorbed = {};
};

enum class GroupKind : uint8_t {
  Kernel,   // one generated kernel
  Call,     // one call of an operation, by ATen
  Reshard,  // one change of placement
};

struct Group {
  GroupKind kind = GroupKind::Call;
  std::vector<GroupCall> calls;  // in the order of the fusion
  std::vector<GroupLoop> loops;
  /// Values of the group that someone else reads, in the order of the fusion.
  std::vector<ValId> outputs;

  bool isReduction() const noexcept;
};

/// `kernel [l0, l1: reduced] tv2 = add(tv0[l0, l1], tv1[., l1]); ... -> tv2`, one line a group.
std::string toText(const Fusion& fusion, const Group& group);

}  // namespace meshfuse
