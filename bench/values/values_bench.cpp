// What a value costs beside c10::IValue and a std::variant of the same kinds. report.py turns the JSON into a table with bars.
#include <array>
#include <complex>
#include <variant>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/core/ivalue.h>
#include <benchmark/benchmark.h>

#include "meshfuse/base/hash.h"
#include "meshfuse/values/comparison.h"
#include "meshfuse/values/conversions.h"
#include "meshfuse/values/kernel_argument_holder.h"
#include "meshfuse/values/polymorphic_value.h"
#include "meshfuse/values/value_hash.h"

namespace meshfuse {
namespace {

using Variant =
    std::variant<std::monostate, bool, int64_t, double, std::complex<double>, at::Tensor,
                 DistributedTensor, Pointer, Opaque, StructHandle, std::vector<PolymorphicValue>>;

ShardingId shardingOfTwo() {
  static const ShardingId id =
      intern(makeSharding(DeviceMesh::fromCount(2), MeshDevice::Cpu, {Placement::shard(0)}));
  return id;
}

constexpr std::array<int64_t, 2> kUnevenSizes = {15, 16};
constexpr std::array<int64_t, 2> kUnevenStrides = {16, 1};

at::Tensor someTensor() { return at::empty({8, 16}); }
DistributedTensor evenTensor() { return {someTensor(), shardingOfTwo()}; }
DistributedTensor unevenTensor() {
  return {someTensor(), shardingOfTwo(), kUnevenSizes, kUnevenStrides};
}

struct Int {
  static int64_t plain() { return 42; }
};
struct Double {
  static double plain() { return 2.5; }
};
struct Tensor {
  static at::Tensor plain() { return someTensor(); }
};
struct Even {
  static DistributedTensor plain() { return evenTensor(); }
};
struct Uneven {
  static DistributedTensor plain() { return unevenTensor(); }
};

struct Ours {
  using Value = PolymorphicValue;
  template <class T>
  static Value make(T plain) {
    return Value(std::move(plain));
  }
  static bool equal(const Value& a, const Value& b) { return a == b; }
  static bool same(const Value& a, const Value& b) { return isSame(a, b); }
  static size_t hash(const Value& v) { return hashOf(v); }
};

struct Ivalue {
  using Value = c10::IValue;
  template <class T>
  static Value make(T plain) {
    return toIValue(PolymorphicValue(std::move(plain)));
  }
  static bool equal(const Value& a, const Value& b) { return a == b; }
  static bool same(const Value& a, const Value& b) { return a.is(b); }
  static size_t hash(const Value& v) { return c10::IValue::hash(v); }
};

struct StdVariant {
  using Value = Variant;
  template <class T>
  static Value make(T plain) {
    return Value(std::move(plain));
  }
  template <class F>
  static auto visitNumber(const Value& v, F f) {
    return std::visit(
        [&](const auto& plain) {
          if constexpr (std::is_arithmetic_v<std::decay_t<decltype(plain)>>) {
            return f(plain);
          } else {
            return decltype(f(int64_t{0})){};
          }
        },
        v);
  }
  static bool equal(const Value& a, const Value& b) {
    return visitNumber(a, [&](auto x) { return visitNumber(b, [&](auto y) { return x == y; }); });
  }
  static bool same(const Value& a, const Value& b) {
    return a.index() == b.index() && std::get<at::Tensor>(a).is_same(std::get<at::Tensor>(b));
  }
  static size_t hash(const Value& v) {
    return visitNumber(v, [](auto x) { return std::hash<decltype(x)>()(x); });
  }
};

template <class Impl, class Kind>
void copy(benchmark::State& state) {
  const typename Impl::Value source = Impl::make(Kind::plain());
  for (auto _ : state) {
    typename Impl::Value made(source);
    benchmark::DoNotOptimize(made);
  }
}

template <class Impl, class Kind>
void move(benchmark::State& state) {
  typename Impl::Value here = Impl::make(Kind::plain());
  for (auto _ : state) {
    typename Impl::Value there(std::move(here));
    benchmark::DoNotOptimize(there);
    here = std::move(there);
    benchmark::DoNotOptimize(here);
  }
}

template <class Impl, class Kind>
void equality(benchmark::State& state) {
  typename Impl::Value a = Impl::make(Kind::plain());
  typename Impl::Value b = Impl::make(Kind::plain());
  for (auto _ : state) {
    benchmark::DoNotOptimize(a);
    benchmark::DoNotOptimize(b);
    bool equal = Impl::equal(a, b);
    benchmark::DoNotOptimize(equal);
  }
}

template <class Impl>
void sameTensor(benchmark::State& state) {
  typename Impl::Value a = Impl::make(Tensor::plain());
  typename Impl::Value b = a;
  for (auto _ : state) {
    benchmark::DoNotOptimize(a);
    benchmark::DoNotOptimize(b);
    bool same = Impl::same(a, b);
    benchmark::DoNotOptimize(same);
  }
}

template <class Impl, class Kind>
void hash(benchmark::State& state) {
  typename Impl::Value value = Impl::make(Kind::plain());
  for (auto _ : state) {
    benchmark::DoNotOptimize(value);
    size_t hashed = Impl::hash(value);
    benchmark::DoNotOptimize(hashed);
  }
}

void createUneven(benchmark::State& state) {
  const at::Tensor local = someTensor();
  const ShardingId id = shardingOfTwo();
  for (auto _ : state) {
    PolymorphicValue made = DistributedTensor(local, id, kUnevenSizes, kUnevenStrides);
    benchmark::DoNotOptimize(made);
  }
}

// A call's worth of arguments: 20 tensors, 8 ints, 4 doubles; built, then each one read.
constexpr size_t kArguments = 32;

struct Sources {
  std::vector<at::Tensor> tensors = std::vector<at::Tensor>(20);
  Sources() {
    for (at::Tensor& tensor : tensors) {
      tensor = someTensor();
    }
  }
};

template <class Push>
void pushAll(const Sources& sources, Push push) {
  for (const at::Tensor& tensor : sources.tensors) {
    push(tensor);
  }
  for (int64_t i = 0; i < 8; ++i) {
    push(i);
  }
  for (int64_t i = 0; i < 4; ++i) {
    push(static_cast<double>(i));
  }
}

void finish(benchmark::State& state) {
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kArguments));
}

void holderOurs(benchmark::State& state) {
  const Sources sources;
  for (auto _ : state) {
    KernelArgumentHolder holder;
    holder.reserve(kArguments);
    pushAll(sources, [&](const auto& plain) { holder.push(plain); });
    int64_t read = 0;
    for (const PolymorphicValue& value : holder) {
      if (value.is<at::Tensor>()) {
        read += value.tensorUnchecked().dim();
      } else {
        read += value.is<double>() ? static_cast<int64_t>(value.as<double>()) : value.as<int64_t>();
      }
    }
    benchmark::DoNotOptimize(read);
  }
  finish(state);
}

void holderIvalue(benchmark::State& state) {
  const Sources sources;
  for (auto _ : state) {
    std::vector<c10::IValue> holder;
    holder.reserve(kArguments);
    pushAll(sources, [&](const auto& plain) { holder.emplace_back(plain); });
    int64_t read = 0;
    for (const c10::IValue& value : holder) {
      if (value.isTensor()) {
        read += value.toTensor().dim();
      } else {
        read += value.isDouble() ? static_cast<int64_t>(value.toDouble()) : value.toInt();
      }
    }
    benchmark::DoNotOptimize(read);
  }
  finish(state);
}

void holderVariant(benchmark::State& state) {
  const Sources sources;
  for (auto _ : state) {
    std::vector<Variant> holder;
    holder.reserve(kArguments);
    pushAll(sources, [&](const auto& plain) { holder.emplace_back(plain); });
    int64_t read = 0;
    for (const Variant& value : holder) {
      if (const auto* tensor = std::get_if<at::Tensor>(&value)) {
        read += tensor->dim();
      } else {
        const auto* real = std::get_if<double>(&value);
        read += real != nullptr ? static_cast<int64_t>(*real) : std::get<int64_t>(value);
      }
    }
    benchmark::DoNotOptimize(read);
  }
  finish(state);
}

#define MESHFUSE_ROWS(row, kind)                                \
  BENCHMARK(row<Ours, kind>)->Name(#row "/" #kind "/ours");     \
  BENCHMARK(row<Ivalue, kind>)->Name(#row "/" #kind "/ivalue"); \
  BENCHMARK(row<StdVariant, kind>)->Name(#row "/" #kind "/variant")

MESHFUSE_ROWS(copy, Int);
MESHFUSE_ROWS(copy, Double);
MESHFUSE_ROWS(copy, Tensor);
MESHFUSE_ROWS(copy, Even);
MESHFUSE_ROWS(copy, Uneven);
MESHFUSE_ROWS(move, Int);
MESHFUSE_ROWS(move, Double);
MESHFUSE_ROWS(move, Tensor);
MESHFUSE_ROWS(move, Even);
MESHFUSE_ROWS(move, Uneven);
MESHFUSE_ROWS(equality, Int);
MESHFUSE_ROWS(equality, Double);
MESHFUSE_ROWS(hash, Int);
MESHFUSE_ROWS(hash, Double);
#undef MESHFUSE_ROWS
BENCHMARK(sameTensor<Ours>)->Name("same/Tensor/ours");
BENCHMARK(sameTensor<Ivalue>)->Name("same/Tensor/ivalue");
BENCHMARK(sameTensor<StdVariant>)->Name("same/Tensor/variant");
BENCHMARK(createUneven)->Name("create/Uneven/ours");
BENCHMARK(holderOurs)->Name("holder/32/ours");
BENCHMARK(holderIvalue)->Name("holder/32/ivalue");
BENCHMARK(holderVariant)->Name("holder/32/variant");

}  // namespace
}  // namespace meshfuse
