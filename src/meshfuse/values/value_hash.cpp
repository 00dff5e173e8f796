#include "meshfuse/values/value_hash.h"

#include <bit>
#include <cmath>
#include <string>

#include "meshfuse/base/error.h"
#include "meshfuse/base/hash.h"

namespace meshfuse {
namespace {

using detail::hashInteger;

// hashInteger's seed is 1.
constexpr uint64_t kFraction = 2;
constexpr uint64_t kComplex = 3;
constexpr uint64_t kNan = 4;

/// A double that is a 64-bit integer hashes as that integer.
uint64_t hashReal(double value) {
  constexpr double kTwoTo63 = 9223372036854775808.0;
  if (value >= -kTwoTo63 && value < kTwoTo63) {
    const auto whole = static_cast<int64_t>(value);
    if (static_cast<double>(whole) == value) {
      return hashInteger(whole);
    }
  } else if (std::isnan(value)) {
    return hashMix(kNan, 0);
  }
  return hashMix(kFraction, std::bit_cast<uint64_t>(value));
}

uint64_t hashComplex(const std::complex<double>& value) {
  if (std::isnan(value.real()) || std::isnan(value.imag())) {
    return hashMix(kNan, 0);
  }
  const uint64_t real = hashReal(value.real());
  return value.imag() == 0.0 ? real : hashMix(hashMix(kComplex, real), hashReal(value.imag()));
}

}  // namespace

uint64_t detail::hashContents(const PolymorphicValue& value) {
  switch (value.kind()) {
    case ValueKind::None:
      return 0;
    case ValueKind::Bool:
      return hashInteger(value.as<bool>() ? 1 : 0);
    case ValueKind::Int:
      return hashInteger(value.as<int64_t>());
    case ValueKind::Double:
      return hashReal(value.as<double>());
    case ValueKind::Complex:
      return hashComplex(value.as<std::complex<double>>());
    default:
      throwUser(ErrorKind::Type,
                {"hash", "only numbers and None can be hashed",
                 "a " + std::string(nameOf(value.kind())), "use a key of another type"});
  }
}

}  // namespace meshfuse
