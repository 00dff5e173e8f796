// Small fusions and arguments that the runtime's tests share.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "meshfuse/base/error.h"
#include "meshfuse/ops/op_info.h"
#include "meshfuse/runtime/fusion_executor.h"

namespace meshfuse::testing {

inline ValId addInput(Fusion& fusion, std::vector<int64_t> shape, PrimType dtype = PrimType::Float,
                      bool contiguous = false) {
  Contiguity contiguity;
  for (int64_t size : shape) {
    contiguity.push_back(size == 1 ? std::nullopt : std::optional<bool>(contiguous));
  }
  return fusion.addInputTensor(dtype, shape, contiguity);
}

inline ValId call(Fusion& fusion, std::string_view op, std::vector<Arg> args) {
  return addCall(fusion, *findOp(op), std::move(args)).at(0);
}

/// set(tv0)
inline Fusion copyFusion(PrimType dtype = PrimType::Float, int64_t rank = 2) {
  Fusion fusion;
  const ValId a = addInput(fusion, std::vector<int64_t>(static_cast<size_t>(rank), -1), dtype);
  fusion.addOutput(call(fusion, "set", {a}));
  return fusion;
}

/// add(tv0, tv1)
inline Fusion sumFusion(PrimType first = PrimType::Float, PrimType second = PrimType::Float) {
  Fusion fusion;
  const ValId a = addInput(fusion, {-1, -1}, first);
  const ValId b = addInput(fusion, {-1, -1}, second);
  fusion.addOutput(call(fusion, "add", {a, b}));
  return fusion;
}

/// add(tv0, c0)
inline Fusion shiftFusion(PrimType dtype = PrimType::Float, PrimType number = PrimType::Double) {
  Fusion fusion;
  const ValId a = addInput(fusion, {-1, -1}, dtype);
  const ValId b = fusion.addInputScalar(number);
  fusion.addOutput(call(fusion, "add", {a, b}));
  return fusion;
}

inline ArgView view(const at::Tensor& tensor) { return ArgView::of(tensor.unsafeGetTensorImpl()); }

/// The text of the UserError that `run` throws, after checking its kind; fails the test if it throws none.
inline std::string errorOf(ErrorKind kind, const std::function<void()>& run) {
  try {
    run();
  } catch (const UserError& error) {
    EXPECT_EQ(static_cast<int>(error.kind()), static_cast<int>(kind));
    return error.what();
  }
  ADD_FAILURE() << "no UserError was thrown";
  return "";
}

inline std::string runtimeErrorOf(const std::function<void()>& run) {
  return errorOf(ErrorKind::Runtime, run);
}

}  // namespace meshfuse::testing
