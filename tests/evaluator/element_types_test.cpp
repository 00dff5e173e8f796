// Whatever element type an operation accepts in a definition, its evaluation runs on a CPU; what it cannot compute is refused
// there, by the operation's name.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "meshfuse/base/error.h"
#include "meshfuse/evaluator/expression_evaluator.h"
#include "meshfuse/ops/op_info.h"
#include "meshfuse/values/packed_floats.h"
#include "meshfuse/values/torch_types.h"

namespace meshfuse {
namespace {

/// Whole numbers stay in a sample's range where it is one of whole numbers, else away from its zero.
at::Tensor drawn(const OpSample::Tensor& tensor, PrimType sampleType) {
  if (!tensor.values.empty()) {
    return at::tensor(tensor.values).view(tensor.sizes).to(torchDtype(tensor.dtype));
  }
  const at::Tensor values =
      at::rand(tensor.sizes, at::kDouble) * (tensor.high - tensor.low) + tensor.low;
  switch (categoryOf(tensor.dtype)) {
    case TypeCategory::Boolean:
      return at::gt(values, 0);
    case TypeCategory::Integral:
      return (isIntegralOrBool(categoryOf(sampleType)) ? at::floor(values) : at::ceil(values))
          .to(torchDtype(tensor.dtype));
    default:
      return tensor.dtype == PrimType::Float4_e2m1fn ? roundToFloat4(values)
                                                     : values.to(torchDtype(tensor.dtype));
  }
}

OpSample withType(OpSample sample, PrimType from, PrimType to) {
  for (OpSample::Tensor& tensor : sample.tensors) {
    if (tensor.dtype == from) {
      tensor.dtype = to;
    }
  }
  return sample;
}

/// A sample in a definition, with its inputs; no outputs where the operation refuses it.
struct Call {
  Fusion fusion;
  std::vector<ValId> inputs;
  std::vector<ValId> outputs;

  Call(const OpInfo& op, const OpSample& sample) {
    for (const OpSample::Tensor& tensor : sample.tensors) {
      Contiguity contiguity;
      for (const int64_t size : tensor.sizes) {
        contiguity.push_back(size == 1 ? std::nullopt : std::optional(true));
      }
      inputs.push_back(fusion.addInputTensor(tensor.dtype, tensor.sizes, contiguity));
    }
    try {
      outputs = addCall(fusion, op, sampleArgs(op, sample, inputs));
    } catch (const UserError& error) {
      EXPECT_TRUE(std::string_view(error.what()).starts_with(op.name)) << error.what();
    }
  }

  /// `sample` with the types of this call, `original` with its own.
  std::string runError(const OpSample& sample, const OpSample& original) const {
    ExpressionEvaluator evaluator(fusion);
    for (size_t i = 0; i < inputs.size(); ++i) {
      evaluator.bind(inputs[i], drawn(sample.tensors[i], original.tensors[i].dtype));
    }
    try {
      for (const ValId output : outputs) {
        evaluator.evaluate(output);
      }
    } catch (const std::exception& error) {
      return error.what();
    }
    return "";
  }
};

TEST(ElementTypes, WhatIsAcceptedRuns) {
  at::manual_seed(3);
  int64_t ran = 0;
  for (const OpInfo* op : allOps()) {
    if (op->samples == nullptr || op->samples(*op).empty()) {
      continue;
    }
    const OpSample sample = op->samples(*op).front();
    for (const OpSample::Tensor& tensor : sample.tensors) {
      for (const PrimType dtype : allPrimTypes()) {
        if (dtype == PrimType::Index || dtype == PrimType::Null ||
            dtype == PrimType::Float4_e2m1fn_x2) {
          continue;
        }
        const OpSample changed = withType(sample, tensor.dtype, dtype);
        const Call call(*op, changed);
        if (!call.outputs.empty()) {
          EXPECT_EQ(call.runError(changed, sample), "") << op->name << " of " << nameOf(dtype);
          ++ran;
        }
      }
    }
  }
  EXPECT_GT(ran, 1000);
}

}  // namespace
}  // namespace meshfuse
