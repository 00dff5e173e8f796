// Small pieces of text for printing and errors.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace meshfuse {

/// `[2, 3]`
std::string toText(std::span<const int64_t> values);

/// `a, b, c`
std::string joinText(std::span<const std::string> parts, std::string_view separator);

/// A double that reads back as the same double and always looks like one: `2.0`, `1e-05`, `float("inf")` is `inf`.
std::string toText(double value);

}  // namespace meshfuse
