// The two families of errors and the one text form they share.
#pragma once

#include <cstdint>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>

namespace meshfuse {

/// Which Python exception a user error surfaces as.
enum class ErrorKind : uint8_t { Value, Type, Runtime, Index, NotImplemented, ZeroDivision };

/// The four parts of a user error, in the order they are printed: `op: rule: found; wayOut` — e.g.
/// `permute: dims must name each axis once: got [0, 0] for 'tv0' of rank 2; pass a permutation of
/// 0..1`. Lower-case, no trailing full stop; no part may be empty.
struct ErrorText {
  std::string_view op;
  std::string_view rule;
  std::string_view found;
  std::string_view wayOut;
};

std::string toText(const ErrorText& text);

/// A mistake in what was asked for: wrong call, shapes, placements, a missing tool.
class UserError : public std::runtime_error {
 public:
  UserError(ErrorKind kind, const ErrorText& text);
  /// For text that already has its final form (an error carried over from another rank, say).
  UserError(ErrorKind kind, const std::string& text);
  ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
};

/// A bug in meshfuse: an invariant of ours does not hold.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// Throw a UserError. Callers test the condition themselves, so no text is built on the good path.
[[noreturn]] void throwUser(ErrorKind kind, const ErrorText& text);

[[noreturn]] void throwInternal(std::string_view what,
                                std::source_location where = std::source_location::current());

/// Check an invariant of ours; `what` states the invariant.
inline void internalCheck(bool holds, std::string_view what,
                          std::source_location where = std::source_location::current()) {
  if (!holds) [[unlikely]] {
    throwInternal(what, where);
  }
}

}  // namespace meshfuse
