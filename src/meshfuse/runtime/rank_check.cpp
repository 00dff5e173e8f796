#include "meshfuse/runtime/rank_check.h"

#include <cstdlib>
#include <string>
#include <string_view>

#include "meshfuse/base/error.h"

namespace meshfuse {

RankCheck rankCheckFromEnvironment() {
  const char* text = std::getenv("MESHFUSE_CHECK_RANKS");
  const std::string_view value = text == nullptr ? "" : text;
  if (value.empty()) {
    return RankCheck::Communicating;
  }
  if (value == "first") {
    return RankCheck::First;
  }
  if (value == "always") {
    return RankCheck::Always;
  }
  throwUser(ErrorKind::Value,
            {"MESHFUSE_CHECK_RANKS", "ranks compare programs at the first run, or on every call",
             "got '" + std::string(value) + "'",
             "set it to 'first' or 'always', or unset it to compare on calls that communicate on "
             "the CPU"});
}

}  // namespace meshfuse
