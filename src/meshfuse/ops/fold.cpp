#include "meshfuse/ops/fold.h"

#include <array>
#include <complex>
#include <type_traits>

#include "device/complex_math.h"
#include "device/error_function.h"
#include "meshfuse/base/error.h"
#include "meshfuse/ops/pointwise.h"

namespace meshfuse {

namespace {

using Complex = device::complex<double>;

template <class T>
T numberAs(const Scalar& scalar) {
  if constexpr (std::is_same_v<T, bool>) {
    return scalar.toBool();
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(scalar.toInt());
  } else if constexpr (std::is_same_v<T, double>) {
    return scalar.toDouble();
  } else {
    const std::complex<double> number = scalar.toComplex();
    return {number.real(), number.imag()};
  }
}

template <class R>
Scalar toScalarValue(R value) {
  if constexpr (std::is_same_v<R, Complex>) {
    return Scalar(std::complex<double>(value.real(), value.imag()));
  } else if constexpr (std::is_same_v<R, bool> || std::is_same_v<R, double>) {
    return Scalar(value);
  } else {
    return Scalar(static_cast<int64_t>(value));
  }
}

/// Applies a row's function to operands of type T; nullopt if the row has no such function.
template <class T, class F>
std::optional<Scalar> apply(const F& function, std::span<const Scalar> operands) {
  if constexpr (std::is_invocable_v<F, T, T, T, T>) {
    const auto operand = [&](size_t i) {
      return i < operands.size() ? numberAs<T>(operands[i]) : T{};
    };
    return toScalarValue(function(operand(0), operand(1), operand(2), operand(3)));
  } else {
    return std::nullopt;
  }
}

template <class F>
std::optional<Scalar> applyIn(PrimType compute, const F& function,
                              std::span<const Scalar> operands) {
  switch (categoryOf(compute)) {
    case TypeCategory::Boolean:
      return apply<bool>(function, operands);
    case TypeCategory::Integral:
      return compute == PrimType::Int32 ? apply<int32_t>(function, operands)
                                        : apply<int64_t>(function, operands);
    case TypeCategory::Floating:
      return apply<double>(function, operands);
    case TypeCategory::Complex:
      return apply<Complex>(function, operands);
    case TypeCategory::None:
      break;
  }
  throwInternal("a number has a type");
}

using RowFunction = std::optional<Scalar> (*)(PrimType, std::span<const Scalar>);

}  // namespace

}  // namespace meshfuse

// The text of the rows stands where that of generated code does, and finds the same functions.
namespace device {

namespace {

/// Each row's device column as a function of four numbers, which does not exist for types the column does not accept.
struct RowFunctions {
#define MESHFUSE_POINTWISE(name, arity, types, algebra, sample, aten, text, doc)                \
  static std::optional<meshfuse::Scalar> name##Row(meshfuse::PrimType compute,                  \
                                                   std::span<const meshfuse::Scalar> numbers) { \
    return meshfuse::applyIn(                                                                   \
        compute,                                                                                \
        []<class T>([[maybe_unused]] T x0, [[maybe_unused]] T x1, [[maybe_unused]] T x2,        \
                    [[maybe_unused]] T x3) -> std::decay_t<decltype text> { return text; },     \
        numbers);                                                                               \
  }
#include "meshfuse/ops/pointwise.def"
#undef MESHFUSE_POINTWISE
};

}  // namespace

}  // namespace device

namespace meshfuse {

std::optional<Scalar> foldRow(int32_t row, std::span<const Scalar> operands, OpTypes types) {
  static constexpr RowFunction functions[] = {
#define MESHFUSE_POINTWISE(name, arity, types, algebra, sample, aten, text, doc) \
  &device::RowFunctions::name##Row,
#include "meshfuse/ops/pointwise.def"
#undef MESHFUSE_POINTWISE
  };
  const PointwiseRow& info = pointwiseRows()[static_cast<size_t>(row)];
  if (dividesWholeNumbers(info, types.compute) && operands.back().toInt() == 0) {
    throwUser(ErrorKind::ZeroDivision,
              {info.name, "the divisor of an integer division is not zero",
               "got a constant zero divisor (ZeroDivisionError)", "divide by a non-zero number"});
  }
  const std::optional<Scalar> value = functions[row](types.compute, operands);
  return value ? std::optional(value->castTo(types.result)) : std::nullopt;
}

}  // namespace meshfuse
