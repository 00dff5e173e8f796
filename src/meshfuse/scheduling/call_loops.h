// The loops of one call, placed among those of the group it might join.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "meshfuse/ops/dim_map.h"
#include "meshfuse/scheduling/loop_draft.h"
#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse {

/// An operand that is read at a position along one dimension that is computed: it has to lie in memory, and the dimension has no
/// loop.
struct PickedOperand {
  size_t operand = 0;  // among tensors
  size_t dim = 0;
};

/// nullopt for calls that read every operand at positions that loops run through.
std::optional<PickedOperand> pickedOperandOf(const Expr& expr, Body body);

/// What a call needs for its loops, computed once.
struct CallShape {
  ExprId expr{};
  LoopForm form;
  DimMap map;
  std::vector<ValId> operands;  // tensors, in order
  std::optional<PickedOperand> picked = std::nullopt;
  /// Tensors that it reads from memory: a nest that makes one cannot be this one.
  std::vector<ValId> fromMemory = {};
};

/// The shape of a call that a kernel can compute; nullopt for others: library operations, tensors of types without elements of
/// whole bytes, reshapes whose dimensions are no products of common factors or are divided among ranks.
std::optional<CallShape> kernelShapeOf(const Fusion& fusion, ExprId expr);

/// The loop of each dimension of a tensor, or the name of those that walk it; kNoLoop for one element.
using PlacedDims = std::vector<LoopId>;

/// Loops of a call's dimensions.
struct PlacedCall {
  std::vector<PlacedDims> operands;
  std::vector<PlacedDims> outputs;
  LoopSet all = 0;
  LoopSet reduced = 0;  // or scanned
};

/// The loops that an operand comes with: its own where a group made or already reads it, nullptr where it needs new ones.
using OperandLoops = std::function<const PlacedDims*(size_t operand)>;

/// Adds the call to the draft. nullopt where its loops cannot be those of one nest.
std::optional<PlacedCall> placeCall(const Fusion& fusion, const CallShape& call,
                                    const OperandLoops& known, LoopTable& table, LoopDraft& draft);

/// Whether two loops have the same elements on every rank.
bool isSameSplit(const Fusion& fusion, const LoopTable& table, LoopId a, LoopId b);

}  // namespace meshfuse
