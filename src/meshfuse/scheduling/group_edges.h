// What groups read of one another, and what calls cost, for passes that change groups.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "meshfuse/scheduling/cost_model.h"
#include "meshfuse/scheduling/group.h"

namespace meshfuse {

/// Lines that say what was decided, and by which figures; null where nobody wants to know.
using Reasons = std::vector<std::string>*;

/// The tensors and numbers that a group takes from outside, each once.
std::vector<ValId> readsOf(const Fusion& fusion, const Group& group);

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
