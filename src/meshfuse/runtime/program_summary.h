// What other ranks are told of a program when they run another one.
#pragma once

#include <span>
#include <string>

#include "meshfuse/ir/fusion.h"
#include "meshfuse/runtime/arg_view.h"

namespace meshfuse {

/// Its calls first, then what it takes and writes.
std::string summaryOf(const Fusion& fusion);

/// The lines that follow, which tell programs of one summary apart.
std::string detailsOf(const Fusion& fusion);

/// `, called with 2.0, 3`, or nothing without numbers.
std::string numbersText(std::span<const ArgView> args);

}  // namespace meshfuse
