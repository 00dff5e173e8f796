// What groups read of one another, and what calls cost, for passes that change groups.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "meshfuse/scheduling/cost_model.h"
#include "meshfuse/scheduling/group.h"

namespace meshfuse {

/// Lines that say what was decided, and by which figures; null where nobody wants to know.
using Reasons = std::vector<std::string>*;

/// The tensors and numbers that a group takes from outside, each once.
std::vector<ValId> readsOf(const Fusion& fusion, const Group& group);

/// A group's loops by those of another.
using LoopMap = std::unordered_map<LoopId, LoopId>;

/// nullopt where the map lacks a loop.
std::optional<DimLoops> renamed(const DimLoops& dims, const LoopMap& map);

size_t loopCount(const DimLoops& dims);

/// The loops that a kernel reads a value along; nullopt where it does not, reads it in several ways, or at other positions.
std::optional<DimLoops> loopsOfRead(const Fusion& fusion, const Group& group, ValId val);

/// Adds the loops of a value in one kernel to a map to those in another; false where they are not one for one, or where the map has
/// others.
bool addLoops(const DimLoops& from, const DimLoops& to, LoopMap& map);

/// By value: whether it is an output or written into an input.
std::vector<bool> resultsOf(const Fusion& fusion);

/// One line a value that a group gives to others: `tv3 goes through memory: 192 bytes, read by 2 groups`.
std::string memoryText(const Fusion& fusion, std::span<const Group> groups);

int64_t elementsOf(const TensorType& type);
int64_t memoryOf(const Fusion& fusion, ValId val);

/// Arithmetic of a call for one element of its result; 0 for views.
int64_t workOf(const Expr& expr);

/// Whether a call divides whole numbers, which may throw.
bool dividesWholeNumbers(const Fusion& fusion, const Expr& expr);

}  // namespace meshfuse
