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

/// The shortest text that reads back as the same double and looks like one, as Python's `repr`
/// writes it: `2.0`, `0.0001`, `1e-05`, `1e+16`, `-0.0`, `inf`, `-inf`, `nan`.
std::string toText(double value);

}  // namespace meshfuse
