#include "meshfuse/runtime/byte_option.h"

#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>

#include "meshfuse/base/error.h"

namespace meshfuse {

uint64_t byteOption(const char* variable, uint64_t otherwise) {
  const char* value = std::getenv(variable);
  const std::string_view text = value != nullptr ? value : "";
  if (text.empty()) {
    return otherwise;
  }
  uint64_t bytes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (error != std::errc() || end != text.data() + text.size()) {
    throwUser(ErrorKind::Value, {.op = variable,
                                 .rule = "it is a whole number of bytes",
                                 .found = "got '" + std::string(text) + "'",
                                 .wayOut = "set it to such a number, or unset it"});
  }
  return bytes;
}

}  // namespace meshfuse
