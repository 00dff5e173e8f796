#include "meshfuse/base/error.h"

namespace meshfuse {

std::string toText(const ErrorText& text) {
  internalCheck(
      !text.op.empty() && !text.rule.empty() && !text.found.empty() && !text.wayOut.empty(),
      "a user error has all four parts");
  std::string out;
  out.reserve(text.op.size() + text.rule.size() + text.found.size() + text.wayOut.size() + 6);
  out.append(text.op).append(": ").append(text.rule).append(": ").append(text.found);
  out.append("; ").append(text.wayOut);
  return out;
}

UserError::UserError(ErrorKind kind, const ErrorText& text)
    : std::runtime_error(toText(text)), kind_(kind) {}

UserError::UserError(ErrorKind kind, const std::string& text)
    : std::runtime_error(text), kind_(kind) {}

void throwUser(ErrorKind kind, const ErrorText& text) { throw UserError(kind, text); }

void throwInternal(std::string_view what, std::source_location where) {
  throw InternalError(std::string("internal error (a bug in meshfuse): ")
                          .append(what)
                          .append(" does not hold at ")
                          .append(where.file_name())
                          .append(":")
                          .append(std::to_string(where.line())));
}

}  // namespace meshfuse
