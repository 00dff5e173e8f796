// Values that several tests use.
#pragma once

#include <vector>

#include <ATen/ATen.h>

#include "meshfuse/mesh/sharding.h"
#include "meshfuse/values/distributed_tensor.h"
#include "meshfuse/values/polymorphic_value.h"
#include "meshfuse/values/struct_value.h"

namespace meshfuse::testing {

using Values = PolymorphicValue::Values;
using Complex = std::complex<double>;

/// Shard(0) over ranks 0 … count-1.
inline ShardingId rowsOver(int64_t count) {
  return intern(makeSharding(DeviceMesh::fromCount(count), MeshDevice::Cpu, {Placement::shard(0)}));
}

/// The first rank's part of a [4, 3] tensor over two ranks.
inline DistributedTensor evenTensor() { return {at::ones({2, 3}), rowsOver(2)}; }

/// The second rank's part of a [5, 3] tensor over two ranks.
inline DistributedTensor unevenTensor() {
  return {at::ones({2, 3}), rowsOver(2), std::vector<int64_t>{5, 3}, std::vector<int64_t>{3, 1}};
}

/// The struct of the language's own example: an integer x and a floating y.
inline StructHandle structA(int64_t x, double y) {
  StructHandle handle(StructType{"A", {{"x", PrimType::Int, true}, {"y", PrimType::Double, true}}});
  handle["x"] = x;
  handle["y"] = y;
  return handle;
}

/// One value of every kind, None first.
inline Values oneOfEach() {
  static int pointee = 0;
  return Values{PolymorphicValue(),
                true,
                int64_t{7},
                2.5,
                Complex(1, -2),
                at::ones({2}),
                evenTensor(),
                Pointer(&pointee),
                Opaque::of(std::string("text")),
                structA(1, 2.0),
                Values{1, 2.0}};
}

}  // namespace meshfuse::testing
