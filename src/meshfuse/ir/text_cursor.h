// A place in one line of a fusion's text, with the readers that parsing is made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "meshfuse/types/scalar.h"

namespace meshfuse {

/// Readers skip spaces first. Those that cannot read what they are for throw UserError(Value) with the line, the column and
/// what was expected.
class TextCursor {
 public:
  TextCursor(std::string_view line, size_t lineNumber) : line_(line), lineNumber_(lineNumber) {}

  size_t lineNumber() const noexcept { return lineNumber_; }
  bool atEnd();
  /// The character that comes next; 0 at the end.
  char peek();
  /// The identifier that comes next, left in place; empty if none does.
  std::string_view peekWord();

  /// Reads `token` if it comes next. A word is read whole or not at all.
  bool accept(std::string_view token);
  void expect(std::string_view token);
  std::string_view word(std::string_view expected);
  int64_t integer();
  /// A number as Scalar::toText writes it.
  Scalar scalar();

  [[noreturn]] void fail(const std::string& expected);

 private:
  /// The number that comes next, without an opinion of its kind; empty if none does.
  std::string_view peekNumber();
  double real();
  double realIn(std::string_view number);
  Scalar complexPair();

  std::string_view line_;
  size_t lineNumber_;
  size_t at_ = 0;
};

}  // namespace meshfuse
