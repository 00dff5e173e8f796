// Nodes of a kernel's graph as expressions of device text.
#pragma once

#include <set>
#include <string>

#include "meshfuse/lowering/kernel_graph.h"

namespace meshfuse {

/// The variable that holds a node's value, `v3`.
std::string valueName(NodeId id);

/// The variable that holds it before it is rounded, for floats of fewer bits, which have that one too: `u3`.
std::string unroundedName(NodeId id);

/// `value`, of the register type of `from`, in that of `to`.
std::string convertedText(PrimType to, PrimType from, const std::string& value);
/// `value`, of the register type of `type`, rounded to a number that `type` has.
std::string roundedText(PrimType type, const std::string& value);
/// A node's value as an operand of type `wanted`.
std::string operandText(const KernelGraph& graph, NodeId id, PrimType wanted);

/// The value of a pointwise node, cast, number or constant (not rounded yet where its type has fewer bits than a float), from variables that hold its operands and the array `numbers`.
std::string computedText(const KernelGraph& graph, const Node& node);

/// The functions `op_<name>` that computedText calls for these rows of pointwise.def.
std::string rowFunctions(const std::set<int32_t>& rows);

}  // namespace meshfuse
