#include "meshfuse/evaluator/random_numbers.h"

#include <cmath>
#include <limits>

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>

#include "device/random.h"
#include "meshfuse/base/error.h"
#include "meshfuse/values/conversions.h"

namespace meshfuse {

namespace {

constexpr int64_t kGrain = 4096;

template <class T, class Number>
at::Tensor fill(at::IntArrayRef sizes, Number number) {
  at::Tensor result = at::empty(sizes, c10::CppTypeToScalarType<T>::value);
  T* const data = result.data_ptr<T>();
  at::parallel_for(0, result.numel(), kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      data[i] = number(static_cast<uint64_t>(i));
    }
  });
  return result;
}

/// The greatest number of the element type below `high`.
at::Tensor below(const at::Tensor& high, double exact) {
  const double rounded = high.to(at::kDouble).item<double>();
  if (rounded < exact) {
    return high;
  }
  // Floats of a sign are ordered as their bits are.
  const at::ScalarType bits = high.element_size() == 1   ? at::kChar
                              : high.element_size() == 2 ? at::kShort
                              : high.element_size() == 4 ? at::kInt
                                                         : at::kLong;
  if (rounded == 0.0) {
    // The smallest number with the sign bit set.
    return at::ones({}, bits)
        .bitwise_or(at::ones({}, bits).bitwise_left_shift(8 * high.element_size() - 1))
        .view(high.scalar_type());
  }
  return high.view(bits).add(rounded > 0 ? -1 : 1).view(high.scalar_type());
}

/// Whether the number is finite in the type, rounded as it may be.
bool holds(at::ScalarType dtype, double number) {
  return std::isfinite(at::full({}, number, at::kDouble).to(dtype).to(at::kDouble).item<double>());
}

/// The numbers that decide a distribution are finite in the type that is computed in, and in order.
void checkDistribution(bool isRight, std::string_view op, double first, double second) {
  if (!isRight) {
    throwUser(ErrorKind::Runtime,
              {op, "the range is finite in the type and not reversed, a deviation is not negative",
               "got " + std::to_string(first) + " and " + std::to_string(second),
               "pass finite numbers in order"});
  }
}

}  // namespace

uint64_t drawSeed() {
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  const std::lock_guard lock(generator.mutex());
  return at::check_generator<at::CPUGeneratorImpl>(generator)->random64() >> 1;
}

bool needsSeed(const Expr& expr) {
  const OpInfo& op = infoOf(*expr.op);
  return op.drawsNumbers != nullptr && op.drawsNumbers(expr.args);
}

RandomStream streamOf(const EvalCall& call, size_t seed, size_t offset) {
  if (call.seed) {
    return {*call.seed, 0};
  }
  const auto number = [&](size_t arg) {
    return static_cast<uint64_t>(toScalar(call.values[arg]).toInt());
  };
  return {number(seed), number(offset)};
}

at::Tensor uniformNumbers(const RandomStream& stream, at::IntArrayRef sizes, double low,
                          double high, at::ScalarType dtype, c10::Device device) {
  const double widest = dtype == at::kDouble ? std::numeric_limits<double>::max()
                                             : double{std::numeric_limits<float>::max()};
  checkDistribution(low <= high && high - low <= widest && holds(dtype, low) && holds(dtype, high),
                    "uniform", low, high);
  const auto numbersOf = [&]<class T>(T from, T to) {
    return fill<T>(sizes, [&](uint64_t index) {
      return device::uniform(stream.seed, stream.offset, index, from, to);
    });
  };
  at::Tensor numbers = dtype == at::kDouble
                           ? numbersOf(low, high)
                           : numbersOf(static_cast<float>(low), static_cast<float>(high)).to(dtype);
  if (low < high) {
    const at::Tensor bound = at::full({}, high, dtype);
    const at::Tensor limit = below(bound, high);
    // ATen compares and chooses no 8-bit floats.
    numbers = at::isFloat8Type(dtype) ? at::where(at::ge(numbers.to(at::kFloat), high),
                                                  limit.view(at::kByte), numbers.view(at::kByte))
                                            .view(dtype)
                                      : at::where(at::ge(numbers, high), limit, numbers);
  }
  return numbers.to(device);
}

at::Tensor normalNumbers(const RandomStream& stream, at::IntArrayRef sizes, double mean,
                         double deviation, at::ScalarType dtype, c10::Device device) {
  checkDistribution(holds(dtype, mean) && holds(dtype, deviation) && deviation >= 0, "normal", mean,
                    deviation);
  const auto numbersOf = [&]<class T>(T center, T width) {
    return fill<T>(sizes, [&](uint64_t index) {
      return device::normal(stream.seed, stream.offset, index, center, width);
    });
  };
  const at::Tensor numbers =
      dtype == at::kDouble
          ? numbersOf(mean, deviation)
          : numbersOf(static_cast<float>(mean), static_cast<float>(deviation)).to(dtype);
  return numbers.to(device);
}

}  // namespace meshfuse
