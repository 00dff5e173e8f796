#include "meshfuse/ir/text_cursor.h"

#include <cctype>
#include <charconv>
#include <limits>

#include "meshfuse/base/error.h"

namespace meshfuse {

namespace {

bool isWordCharacter(char c) noexcept {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool isDigit(char c) noexcept { return c >= '0' && c <= '9'; }

}  // namespace

void TextCursor::fail(const std::string& expected) {
  std::string found = atEnd() ? "the end" : "'" + std::string(line_.substr(at_, 24)) + "'";
  throwUser(ErrorKind::Value, {"parse", "expected " + expected,
                               "line " + std::to_string(lineNumber_) + " has " + found +
                                   " at column " + std::to_string(at_ + 1),
                               "write the text as print gives it"});
}

char TextCursor::peek() {
  while (at_ < line_.size() && std::isspace(static_cast<unsigned char>(line_[at_])) != 0) {
    ++at_;
  }
  return at_ < line_.size() ? line_[at_] : '\0';
}

bool TextCursor::atEnd() {
  peek();
  return at_ == line_.size();
}

std::string_view TextCursor::peekWord() {
  if (isDigit(peek())) {
    return {};
  }
  size_t end = at_;
  while (end < line_.size() && isWordCharacter(line_[end])) {
    ++end;
  }
  return line_.substr(at_, end - at_);
}

bool TextCursor::accept(std::string_view token) {
  peek();
  bool isThere = isWordCharacter(token[0]) && !isDigit(token[0])
                     ? peekWord() == token
                     : line_.substr(at_).starts_with(token);
  at_ += isThere ? token.size() : 0;
  return isThere;
}

void TextCursor::expect(std::string_view token) {
  if (!accept(token)) {
    fail("'" + std::string(token) + "'");
  }
}

std::string_view TextCursor::word(std::string_view expected) {
  std::string_view out = peekWord();
  if (out.empty()) {
    fail(std::string(expected));
  }
  at_ += out.size();
  return out;
}

int64_t TextCursor::integer() {
  peek();
  int64_t value = 0;
  std::string_view rest = line_.substr(at_);
  auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (error != std::errc()) {
    fail("an integer of 64 bits");
  }
  at_ += static_cast<size_t>(end - rest.data());
  return value;
}

std::string_view TextCursor::peekNumber() {
  char first = peek();
  std::string_view rest = line_.substr(at_);
  if (!isDigit(first) && !(first == '-' && rest.size() > 1 && isDigit(rest[1]))) {
    return {};
  }
  double ignored = 0;
  const char* end = std::from_chars(rest.data(), rest.data() + rest.size(), ignored).ptr;
  return rest.substr(0, static_cast<size_t>(end - rest.data()));
}

double TextCursor::realIn(std::string_view number) {
  double value = 0;
  auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (number.empty() || error != std::errc()) {
    fail("a number in the range of a double");
  }
  at_ += number.size();
  return value;
}

/// `-0.5`, `float("inf")`
double TextCursor::real() {
  if (!accept("float")) {
    return realIn(peekNumber());
  }
  expect("(");
  expect("\"");
  bool isNegative = accept("-");
  bool isInfinite = accept("inf");
  if (!isInfinite && !accept("nan")) {
    fail("inf, -inf or nan");
  }
  expect("\"");
  expect(")");
  double value = isInfinite ? std::numeric_limits<double>::infinity()
                            : std::numeric_limits<double>::quiet_NaN();
  return isNegative ? -value : value;
}

/// `(1-2.5j)`
Scalar TextCursor::complexPair() {
  expect("(");
  double realPart = realIn(peekNumber());
  bool isPositive = accept("+");
  if (!isPositive && peek() != '-') {
    fail("the sign of the imaginary part");
  }
  double imaginaryPart = realIn(peekNumber());
  expect("j");
  expect(")");
  return Scalar::Complex(realPart, imaginaryPart);
}

Scalar TextCursor::scalar() {
  if (accept("True")) {
    return true;
  }
  if (accept("False")) {
    return false;
  }
  if (accept("complex")) {
    expect("(");
    double realPart = real();
    expect(",");
    double imaginaryPart = real();
    expect(")");
    return Scalar::Complex(realPart, imaginaryPart);
  }
  if (peek() == '(') {
    return complexPair();
  }
  if (peekWord() == "float") {
    return real();
  }
  std::string_view number = peekNumber();
  if (number.empty()) {
    fail("a number");
  }
  bool isWhole = number.find_first_of(".eE") == std::string_view::npos;
  return isWhole ? Scalar(integer()) : Scalar(realIn(number));
}

}  // namespace meshfuse
