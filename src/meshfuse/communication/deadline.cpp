#include "meshfuse/communication/deadline.h"

#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "meshfuse/base/error.h"

namespace meshfuse {
namespace {

constexpr const char* kVariable = "MESHFUSE_COLLECTIVE_TIMEOUT_S";

// Milliseconds; zero when not set from code.
std::atomic<int64_t> deadlineFromCode{0};

std::optional<std::chrono::milliseconds> deadlineFromEnvironment() {
  const char* text = std::getenv(kVariable);
  if (text == nullptr || *text == '\0') {
    return std::nullopt;
  }
  char* end = nullptr;
  const double seconds = std::strtod(text, &end);
  constexpr double kLongest = 1e9;  // seconds; keeps milliseconds far from overflow
  if (*end != '\0' || !(seconds >= 1e-3) || !(seconds <= kLongest)) {
    throwUser(ErrorKind::Value,
              {kVariable, "the deadline of collectives is a number of seconds from 0.001 to 1e9",
               "got '" + std::string(text) + "'",
               "set it to a number, or unset it to use each process group's own timeout"});
  }
  return std::chrono::milliseconds(std::llround(seconds * 1e3));
}

}  // namespace

void setDefaultDeadline(std::optional<std::chrono::milliseconds> deadline) {
  checkDeadline(deadline);
  deadlineFromCode = deadline ? deadline->count() : 0;
}

std::optional<std::chrono::milliseconds> defaultDeadline() {
  if (const int64_t milliseconds = deadlineFromCode) {
    return std::chrono::milliseconds(milliseconds);
  }
  return deadlineFromEnvironment();
}

void checkDeadline(std::optional<std::chrono::milliseconds> deadline) {
  if (deadline && deadline->count() <= 0) {
    throwUser(ErrorKind::Value, {"collective deadline", "a deadline is at least one millisecond",
                                 "got " + std::to_string(deadline->count()) + " ms",
                                 "pass a positive time, or none for the default"});
  }
}

}  // namespace meshfuse
