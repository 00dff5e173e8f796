// What memory for a result costs from torch's allocator and from ours: given and freed, and given, written and freed.
#include <cstring>

#include <ATen/ATen.h>
#include <benchmark/benchmark.h>

#include "meshfuse/runtime/allocation.h"

namespace meshfuse {
namespace {

at::Tensor ours(int64_t bytes) {
  return allocateCpu({{bytes}, {1}, caffe2::TypeMeta::Make<uint8_t>(), bytes});
}
at::Tensor torchs(int64_t bytes) { return at::empty({bytes}, at::kByte); }

template <at::Tensor (*make)(int64_t)>
void giveAndFree(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(make(state.range(0)).const_data_ptr());
  }
}

template <at::Tensor (*make)(int64_t)>
void giveWriteAndFree(benchmark::State& state) {
  for (auto _ : state) {
    const at::Tensor tensor = make(state.range(0));
    std::memset(tensor.mutable_data_ptr(), 1, static_cast<size_t>(state.range(0)));
    benchmark::ClobberMemory();
  }
}

/// The same write without an allocation: the floor.
void write(benchmark::State& state) {
  const at::Tensor tensor = torchs(state.range(0));
  for (auto _ : state) {
    std::memset(tensor.mutable_data_ptr(), 1, static_cast<size_t>(state.range(0)));
    benchmark::ClobberMemory();
  }
}

void sizes(benchmark::internal::Benchmark* rows) {
  for (int64_t kibibytes : {128, 1024, 4096, 65536}) {
    rows->Arg(kibibytes << 10);
  }
}

BENCHMARK(giveAndFree<ours>)->Name("give+free/ours")->Apply(sizes);
BENCHMARK(giveAndFree<torchs>)->Name("give+free/torch")->Apply(sizes);
BENCHMARK(giveWriteAndFree<ours>)->Name("give+write+free/ours")->Apply(sizes);
BENCHMARK(giveWriteAndFree<torchs>)->Name("give+write+free/torch")->Apply(sizes);
BENCHMARK(write)->Name("write")->Apply(sizes);

}  // namespace
}  // namespace meshfuse
