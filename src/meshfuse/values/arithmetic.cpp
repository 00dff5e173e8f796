#include "meshfuse/values/arithmetic.h"

#include <limits>
#include <string>

#include <ATen/ATen.h>

#include "meshfuse/base/error.h"
#include "meshfuse/values/conversions.h"
#include "meshfuse/values/operands.h"

namespace meshfuse {
namespace {

using Complex = std::complex<double>;

// Int arithmetic is done on unsigned words: it wraps where the signed operation would be undefined.
constexpr int64_t wrapped(uint64_t word) { return static_cast<int64_t>(word); }

[[noreturn]] void throwDivision(std::string_view op, int64_t a, int64_t b) {
  throwUser(
      ErrorKind::Value,
      {op, b == 0 ? "the divisor of integers must not be zero" : "the quotient must fit 64 bits",
       std::to_string(a) + " by " + std::to_string(b),
       b == 0 ? "test the divisor first, or divide Doubles" : "divide Doubles"});
}

struct Add {
  static constexpr std::string_view kName = "+";
  static int64_t of(int64_t a, int64_t b) {
    return wrapped(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  }
  static double of(double a, double b) { return a + b; }
  static Complex of(Complex a, Complex b) { return a + b; }
  static at::Tensor of(const at::Tensor& a, const at::Tensor& b) { return at::add(a, b); }
};

struct Sub {
  static constexpr std::string_view kName = "-";
  static int64_t of(int64_t a, int64_t b) {
    return wrapped(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
  }
  static double of(double a, double b) { return a - b; }
  static Complex of(Complex a, Complex b) { return a - b; }
  static at::Tensor of(const at::Tensor& a, const at::Tensor& b) { return at::sub(a, b); }
};

struct Mul {
  static constexpr std::string_view kName = "*";
  static int64_t of(int64_t a, int64_t b) {
    return wrapped(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  }
  static double of(double a, double b) { return a * b; }
  static Complex of(Complex a, Complex b) { return a * b; }
  static at::Tensor of(const at::Tensor& a, const at::Tensor& b) { return at::mul(a, b); }
};

struct Div {
  static constexpr std::string_view kName = "/";
  static int64_t of(int64_t a, int64_t b) {
    if (b == 0 || (b == -1 && a == std::numeric_limits<int64_t>::min())) {
      throwDivision(kName, a, b);
    }
    return a / b;
  }
  // Division by zero gives an infinity or NaN, as IEEE 754 says and as torch does.
  __attribute__((no_sanitize("undefined"))) static double of(double a, double b) { return a / b; }
  static Complex of(Complex a, Complex b) { return a / b; }
  static at::Tensor of(const at::Tensor& a, const at::Tensor& b) { return at::div(a, b); }
};

struct Mod {
  static constexpr std::string_view kName = "%";
  static int64_t of(int64_t a, int64_t b) {
    if (b == 0) {
      throwDivision(kName, a, b);
    }
    return b == -1 ? 0 : a % b;
  }
  static at::Tensor of(const at::Tensor& a, const at::Tensor& b) { return at::fmod(a, b); }
};

struct And {
  static constexpr std::string_view kName = "&";
  static int64_t of(int64_t a, int64_t b) { return a & b; }
  static at::Tensor of(const at::Tensor& a, const at::Tensor& b) { return at::bitwise_and(a, b); }
};

struct Or {
  static constexpr std::string_view kName = "|";
  static int64_t of(int64_t a, int64_t b) { return a | b; }
  static at::Tensor of(const at::Tensor& a, const at::Tensor& b) { return at::bitwise_or(a, b); }
};

struct Xor {
  static constexpr std::string_view kName = "^";
  static int64_t of(int64_t a, int64_t b) { return a ^ b; }
  static at::Tensor of(const at::Tensor& a, const at::Tensor& b) { return at::bitwise_xor(a, b); }
};

struct ShiftLeft {
  static constexpr std::string_view kName = "<<";
  static int64_t of(int64_t a, int64_t b) {
    return b < 0 || b > 63 ? 0 : wrapped(static_cast<uint64_t>(a) << b);
  }
  static at::Tensor of(const at::Tensor& a, const at::Tensor& b) {
    return at::bitwise_left_shift(a, b);
  }
};

struct ShiftRight {
  static constexpr std::string_view kName = ">>";
  static int64_t of(int64_t a, int64_t b) { return a >> (b < 0 || b > 63 ? 63 : b); }
  static at::Tensor of(const at::Tensor& a, const at::Tensor& b) {
    return at::bitwise_right_shift(a, b);
  }
};

struct LogicalAnd {
  static constexpr std::string_view kName = "&&";
  static bool of(bool a, bool b) { return a && b; }
  static at::Tensor of(const at::Tensor& a, const at::Tensor& b) { return at::logical_and(a, b); }
};

struct LogicalOr {
  static constexpr std::string_view kName = "||";
  static bool of(bool a, bool b) { return a || b; }
  static at::Tensor of(const at::Tensor& a, const at::Tensor& b) { return at::logical_or(a, b); }
};

template <class Op>
PolymorphicValue onTensors(const PolymorphicValue& a, const PolymorphicValue& b) {
  return callTorch(Op::kName, [&] { return Op::of(tensorOperand(a), tensorOperand(b)); });
}

template <class Op>
PolymorphicValue arithmetic(const PolymorphicValue& a, const PolymorphicValue& b) {
  if (isScalar(a) && isScalar(b)) {
    if (a.is<Complex>() || b.is<Complex>()) {
      return Op::of(a.to<Complex>(), b.to<Complex>());
    }
    if (a.is<double>() || b.is<double>()) {
      return Op::of(a.to<double>(), b.to<double>());
    }
    return Op::of(a.to<int64_t>(), b.to<int64_t>());
  }
  if (areTensorOperands(a, b)) {
    return onTensors<Op>(a, b);
  }
  throwOperands(Op::kName, a, b);
}

template <class Op>
PolymorphicValue onIntegers(const PolymorphicValue& a, const PolymorphicValue& b) {
  if (isInteger(a) && isInteger(b)) {
    return Op::of(a.to<int64_t>(), b.to<int64_t>());
  }
  if (areTensorOperands(a, b)) {
    return onTensors<Op>(a, b);
  }
  throwOperands(Op::kName, a, b);
}

template <class Op>
PolymorphicValue onTruth(const PolymorphicValue& a, const PolymorphicValue& b) {
  if (isScalar(a) && isScalar(b)) {
    return Op::of(a.to<bool>(), b.to<bool>());
  }
  if (areTensorOperands(a, b)) {
    return onTensors<Op>(a, b);
  }
  throwOperands(Op::kName, a, b);
}

PolymorphicValue& step(PolymorphicValue& a, int64_t by, std::string_view op) {
  switch (a.kind()) {
    case ValueKind::Int:
      return a = Add::of(a.as<int64_t>(), by);
    case ValueKind::Double:
      return a = a.as<double>() + static_cast<double>(by);
    case ValueKind::Pointer:
      return a = a.as<Pointer>() + by;
    default:
      throwUser(ErrorKind::Type,
                {op, "Cannot compute " + std::string(op) + " of this kind of value",
                 "a " + std::string(nameOf(a.kind())), "step an Int, a Double or a Pointer"});
  }
}

}  // namespace

PolymorphicValue operator+(const PolymorphicValue& a, const PolymorphicValue& b) {
  if (a.is<Pointer>() && isInteger(b)) {
    return a.as<Pointer>() + b.to<int64_t>();
  }
  if (isInteger(a) && b.is<Pointer>()) {
    return b.as<Pointer>() + a.to<int64_t>();
  }
  return arithmetic<Add>(a, b);
}

PolymorphicValue operator-(const PolymorphicValue& a, const PolymorphicValue& b) {
  if (a.is<Pointer>() && isInteger(b)) {
    return a.as<Pointer>() - b.to<int64_t>();
  }
  if (a.is<Pointer>() && b.is<Pointer>()) {
    return a.as<Pointer>() - b.as<Pointer>();
  }
  return arithmetic<Sub>(a, b);
}

PolymorphicValue operator*(const PolymorphicValue& a, const PolymorphicValue& b) {
  return arithmetic<Mul>(a, b);
}
PolymorphicValue operator/(const PolymorphicValue& a, const PolymorphicValue& b) {
  return arithmetic<Div>(a, b);
}
PolymorphicValue operator%(const PolymorphicValue& a, const PolymorphicValue& b) {
  return onIntegers<Mod>(a, b);
}
PolymorphicValue operator&(const PolymorphicValue& a, const PolymorphicValue& b) {
  return onIntegers<And>(a, b);
}
PolymorphicValue operator|(const PolymorphicValue& a, const PolymorphicValue& b) {
  return onIntegers<Or>(a, b);
}
PolymorphicValue operator^(const PolymorphicValue& a, const PolymorphicValue& b) {
  return onIntegers<Xor>(a, b);
}
PolymorphicValue operator<<(const PolymorphicValue& a, const PolymorphicValue& b) {
  return onIntegers<ShiftLeft>(a, b);
}
PolymorphicValue operator>>(const PolymorphicValue& a, const PolymorphicValue& b) {
  return onIntegers<ShiftRight>(a, b);
}
PolymorphicValue operator&&(const PolymorphicValue& a, const PolymorphicValue& b) {
  return onTruth<LogicalAnd>(a, b);
}
PolymorphicValue operator||(const PolymorphicValue& a, const PolymorphicValue& b) {
  return onTruth<LogicalOr>(a, b);
}

PolymorphicValue operator+(const PolymorphicValue& a) {
  if (a.is<bool>()) {
    return a.to<int64_t>();
  }
  if (isScalar(a) || a.is<at::Tensor>()) {
    return a;
  }
  throwOperands("+", a);
}

PolymorphicValue operator-(const PolymorphicValue& a) {
  if (a.is<at::Tensor>()) {
    return callTorch("-", [&] { return at::neg(a.tensorUnchecked()); });
  }
  if (a.is<double>()) {
    return -a.as<double>();
  }
  if (a.is<Complex>()) {
    return -a.as<Complex>();
  }
  if (isInteger(a)) {
    return Sub::of(int64_t{0}, a.to<int64_t>());
  }
  throwOperands("-", a);
}

PolymorphicValue operator~(const PolymorphicValue& a) {
  if (a.is<at::Tensor>()) {
    return callTorch("~", [&] { return at::bitwise_not(a.tensorUnchecked()); });
  }
  if (isInteger(a)) {
    return ~a.to<int64_t>();
  }
  throwOperands("~", a);
}

bool operator!(const PolymorphicValue& a) {
  if (isScalar(a) || a.is<Pointer>()) {
    return !a.to<bool>();
  }
  if (a.is<at::Tensor>() && a.tensorUnchecked().numel() == 1 && !a.tensorUnchecked().is_meta()) {
    return !a.tensorUnchecked().is_nonzero();
  }
  throwOperands("!", a);
}

PolymorphicValue& operator++(PolymorphicValue& a) { return step(a, 1, "++"); }
PolymorphicValue& operator--(PolymorphicValue& a) { return step(a, -1, "--"); }

PolymorphicValue operator++(PolymorphicValue& a, int) {
  PolymorphicValue before = a;
  ++a;
  return before;
}

PolymorphicValue operator--(PolymorphicValue& a, int) {
  PolymorphicValue before = a;
  --a;
  return before;
}

}  // namespace meshfuse
