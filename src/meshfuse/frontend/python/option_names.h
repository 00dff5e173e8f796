// The names that execute's options may have.
#pragma once

#include <span>
#include <string_view>

namespace meshfuse {

/// What `_enable_options` and `_disable_options` of execute may name, sorted. They steer how nvFuser generates kernels; no result
/// depends on them, so they are accepted and change nothing here.
std::span<const std::string_view> enableOptions() noexcept;
std::span<const std::string_view> disableOptions() noexcept;

}  // namespace meshfuse
