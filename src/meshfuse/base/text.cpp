#include "meshfuse/base/text.h"

#include <array>
#include <charconv>
#include <cmath>

namespace meshfuse {

namespace {

/// `digits` (d₁d₂…, value d₁.d₂… · 10^exponent) with a decimal point and no exponent.
std::string positional(std::string digits, int exponent) {
  if (exponent < 0) {
    return "0." + std::string(static_cast<size_t>(-exponent - 1), '0') + digits;
  }
  size_t whole = static_cast<size_t>(exponent) + 1;
  if (digits.size() <= whole) {
    digits.append(whole - digits.size(), '0');
    return digits + ".0";
  }
  return digits.insert(whole, ".");
}

}  // namespace

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
  std::string sign = std::signbit(value) ? "-" : "";
  if (std::isinf(value)) {
    return sign + "inf";
  }
  std::array<char, 32> buffer{};
  char* begin = buffer.data();
  char* end =
      std::to_chars(begin, begin + buffer.size(), std::abs(value), std::chars_format::scientific)
          .ptr;
  std::string_view text(begin, static_cast<size_t>(end - begin));
  size_t mark = text.find('e');
  std::string_view mantissa = text.substr(0, mark);
  size_t exponentAt = mark + (text[mark + 1] == '+' ? 2 : 1);
  int exponent = 0;
  std::from_chars(begin + exponentAt, end, exponent);
  // The bounds between which Python's repr writes a double without an exponent.
  if (exponent < -4 || exponent >= 16) {
    return sign.append(text);
  }
  std::string digits(mantissa.substr(0, 1));
  if (mantissa.size() > 2) {
    digits.append(mantissa.substr(2));
  }
  return sign + positional(std::move(digits), exponent);
}

}  // namespace meshfuse
