#include "meshfuse/ops/fold.h"

#include <array>
#include <complex>
#include <type_traits>

#include "meshfuse/base/error.h"
#include "meshfuse/ops/pointwise.h"
#include "meshfuse/ops/scalar_math.h"

namespace meshfuse {

namespace {

using Complex = std::complex<double>;

template <class T>
T numberAs(const Scalar& scalar) {
  if constexpr (std::is_same_v<T, bool>) {
    return scalar.toBool();
  } else if constexpr (std::is_same_v<T, int64_t>) {
    return scalar.toInt();
  } else if constexpr (std::is_same_v<T, double>) {
    return scalar.toDouble();
  } else {
    return scalar.toComplex();
  }
}

template <class R>
Scalar toScalarValue(R value) {
  if constexpr (std::is_same_v<R, bool> || std::is_same_v<R, double> ||
                std::is_same_v<R, Complex>) {
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
      return apply<int64_t>(function, operands);
    case TypeCategory::Floating:
      return apply<double>(function, operands);
    case TypeCategory::Complex:
      return apply<Complex>(function, operands);
    case TypeCategory::None:
      break;
  }
  throwInternal("a number has a type");
}

/// Each row's device column as a function of four numbers, which does not exist for types the column does not accept.
struct RowFunctions {
#define MESHFUSE_POINTWISE(name, arity, types, algebra, sample, aten, device, doc)              \
  static std::optional<Scalar> name##Row(PrimType compute, std::span<const Scalar> operands) {  \
    using namespace scalar_math;                                                                \
    return applyIn(                                                                             \
        compute,                                                                                \
        []<class T>([[maybe_unused]] T x0, [[maybe_unused]] T x1, [[maybe_unused]] T x2,        \
                    [[maybe_unused]] T x3) -> std::decay_t<decltype device> { return device; }, \
        operands);                                                                              \
  }
#include "meshfuse/ops/pointwise.def"
#undef MESHFUSE_POINTWISE
};

using RowFunction = std::optional<Scalar> (*)(PrimType, std::span<const Scalar>);

}  // namespace

std::optional<Scalar> foldRow(int32_t row, std::span<const Scalar> operands, OpTypes types) {
  static constexpr RowFunction functions[] = {
#define MESHFUSE_POINTWISE(name, arity, types, algebra, sample, aten, device, doc) \
  &RowFunctions::name##Row,
#include "meshfuse/ops/pointwise.def"
#undef MESHFUSE_POINTWISE
  };
  try {
    const std::optional<Scalar> value = functions[row](types.compute, operands);
    return value ? std::optional(value->castTo(types.result)) : std::nullopt;
  } catch (const scalar_math::ZeroDivisor&) {
    throwUser(ErrorKind::ZeroDivision,
              {pointwiseRows()[static_cast<size_t>(row)].name,
               "the divisor of an integer division is not zero",
               "got a constant zero divisor (ZeroDivisionError)", "divide by a non-zero number"});
  }
}

}  // namespace meshfuse
