// What an element of a function of device/ costs beside the C library's and ATen's, over an array in the first-level cache.
#include <array>
#include <string>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>

#include "device/loops.h"

namespace meshfuse {
namespace {

constexpr int64_t kSize = 4096;

using AtenFunction = at::Tensor& (*)(at::Tensor&, const at::Tensor&);

/// In the order of arrayFunctions.
constexpr std::array<AtenFunction, kArrayFunctions> kAtenFunctions = {
    at::exp_out,     at::tanh_out, at::erf_out, at::log_out,  at::log1p_out,
    at::sigmoid_out, at::silu_out, at::sin_out, at::atan_out,
};

at::Tensor operands(at::ScalarType dtype) {
  return at::rand({kSize}).mul_(4.0).add_(0.01).to(dtype);
}

void countElements(benchmark::State& state) {
  state.counters["ns_per_element"] = benchmark::Counter(
      static_cast<double>(kSize) * 1e-9,
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

template <class T, class Loop>
void runLoop(benchmark::State& state, at::ScalarType dtype, Loop loop) {
  const at::Tensor from = operands(dtype);
  const at::Tensor to = at::empty_like(from);
  for (auto step : state) {
    loop(static_cast<T*>(to.data_ptr()), static_cast<const T*>(from.data_ptr()), kSize);
    benchmark::ClobberMemory();
  }
  countElements(state);
}

void runAten(benchmark::State& state, at::ScalarType dtype, AtenFunction function) {
  const at::Tensor from = operands(dtype);
  at::Tensor to = at::empty_like(from);
  for (auto step : state) {
    function(to, from);
    benchmark::ClobberMemory();
  }
  countElements(state);
}

void registerAll() {
  for (size_t i = 0; i < kArrayFunctions; ++i) {
    const ArrayFunction& function = arrayFunctions[i];
    const AtenFunction aten = kAtenFunctions[i];
    const std::string name = function.name;
    const auto add = [](const std::string& title, auto run) {
      benchmark::RegisterBenchmark(title.c_str(), run);
    };
    add(name + "/float/device",
        [&](benchmark::State& state) { runLoop<float>(state, at::kFloat, function.device); });
    add(name + "/float/libm",
        [&](benchmark::State& state) { runLoop<float>(state, at::kFloat, function.library); });
    add(name + "/float/aten",
        [aten](benchmark::State& state) { runAten(state, at::kFloat, aten); });
    add(name + "/bfloat16/device", [&](benchmark::State& state) {
      runLoop<uint16_t>(state, at::kBFloat16, function.deviceBFloat16);
    });
    add(name + "/bfloat16/aten",
        [aten](benchmark::State& state) { runAten(state, at::kBFloat16, aten); });
  }
}

}  // namespace
}  // namespace meshfuse

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  at::set_num_threads(1);
  meshfuse::registerAll();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
