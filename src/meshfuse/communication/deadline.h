// How long a collective or an agreement may take.
#pragma once

#include <chrono>
#include <optional>

namespace meshfuse {

/// The process-wide deadline; nullopt goes back to MESHFUSE_COLLECTIVE_TIMEOUT_S (seconds, fractions allowed) or, without
/// it, to each group's own timeout. A binding's own deadline (MeshBinding::setDeadline) goes before both.
/// Throws UserError(Value) unless positive.
void setDefaultDeadline(std::optional<std::chrono::milliseconds> deadline);

/// What setDefaultDeadline or the environment say; nullopt when neither does. Throws UserError(Value) for an environment
/// value that is not a positive number.
std::optional<std::chrono::milliseconds> defaultDeadline();

/// Throws UserError(Value) for a deadline that is not positive.
void checkDeadline(std::optional<std::chrono::milliseconds> deadline);

}  // namespace meshfuse
