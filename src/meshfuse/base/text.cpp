#include "meshfuse/base/text.h"

#include <array>
#include <charconv>
#include <cmath>

namespace meshfuse {

std::string toText(std::span<const int64_t> values) {
  std::string out = "[";
  for (size_t i = 0; i < values.size(); ++i) {
    out.append(i == 0 ? "" : ", ").append(std::to_string(values[i]));
  }
  return out.append("]");
}

std::string joinText(std::span<const std::string> parts, std::string_view separator) {
  std::string out;
  for (size_t i = 0; i < parts.size(); ++i) {
    out.append(i == 0 ? std::string_view() : separator).append(parts[i]);
  }
  return out;
}

std::string toText(double value) {
  if (std::isnan(value)) {
    return "nan";
  }
  if (std::isinf(value)) {
    return value > 0 ? "inf" : "-inf";
  }
  std::array<char, 32> buffer{};
  auto [end, status] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  std::string out(buffer.data(), end);
  if (out.find_first_of(".e") == std::string::npos) {
    out.append(".0");
  }
  return out;
}

}  // namespace meshfuse
