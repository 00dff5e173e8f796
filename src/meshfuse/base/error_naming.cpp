#include "meshfuse/base/error_naming.h"

#include <algorithm>
#include <array>
#include <string>

namespace meshfuse {

namespace {

constexpr std::array<std::string_view, 3> kPlaces{"type promotion", "integer expression", "cast"};

}  // namespace

void rethrowNaming(std::string_view op, const UserError& error) {
  const std::string_view text = error.what();
  const std::string_view place = text.substr(0, text.find(": "));
  if (std::ranges::find(kPlaces, place) == kPlaces.end()) {
    throw UserError(error.kind(), std::string(text));
  }
  throw UserError(error.kind(), std::string(op).append(text.substr(place.size())));
}

}  // namespace meshfuse
