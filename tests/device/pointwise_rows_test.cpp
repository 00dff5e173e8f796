// The device column of every row of pointwise.def compiles for every type that the row computes in, and gives what the evaluator
// gives.
#include <algorithm>
#include <cmath>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "device/compiled_text.h"
#include "device/row_kernels.h"
#include "meshfuse/base/error.h"
#include "meshfuse/codegen/device_text.h"
#include "meshfuse/evaluator/expression_evaluator.h"
#include "meshfuse/ops/op_info.h"
#include "meshfuse/ops/pointwise.h"
#include "meshfuse/values/torch_types.h"

namespace meshfuse {
namespace {

constexpr int64_t kSize = 301;

using Kernel = void(void*, const void*, const void*, const void*, const void*, int64_t);

at::Tensor operandOf(const OpSample::Tensor& sample, PrimType type, int32_t position, int32_t arity,
                     bool special) {
  at::Tensor values = at::rand({kSize}, at::kDouble) * (sample.high - sample.low) + sample.low;
  if (isIntegralOrBool(categoryOf(sample.dtype)) || isIntegralOrBool(categoryOf(type))) {
    values = isIntegralOrBool(categoryOf(sample.dtype)) ? at::floor(values) : at::ceil(values);
  }
  if (categoryOf(type) == TypeCategory::Complex) {
    values = at::complex(values, at::rand({kSize}, at::kDouble) * 2.0 - 1.0);
  }
  if (special) {
    // All pairs of these.
    std::vector<double> numbers = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1.0, -1.0, 3.5, -2.0, 1e30};
    if (arity == 1) {
      numbers.push_back(1e-40);  // a divisor by which ATen's vectorized remainder of floats is NaN
    }
    const auto count = static_cast<int64_t>(numbers.size());
    for (int64_t i = 0; i < count * count; ++i) {
      values[i].fill_(numbers[static_cast<size_t>(position == 0 ? i / count : i % count)]);
    }
  }
  return type == PrimType::Bool ? at::gt(values, 0) : values.to(torchDtype(type));
}

at::Tensor evaluated(const OpInfo& op, const OpSample& sample, PrimType type,
                     const std::vector<at::Tensor>& operands, const PointwiseRow& row) {
  Fusion fusion;
  std::vector<ValId> inputs;
  for (size_t i = 0; i < operands.size(); ++i) {
    const PrimType dtype = isCondition(row, static_cast<int32_t>(i)) ? PrimType::Bool : type;
    inputs.push_back(fusion.addInputTensor(dtype, std::vector<int64_t>{kSize}, Contiguity{true}));
  }
  const std::vector<ValId> outputs = addCall(fusion, op, sampleArgs(op, sample, inputs));
  ExpressionEvaluator evaluator(fusion);
  for (size_t i = 0; i < operands.size(); ++i) {
    evaluator.bind(inputs[i], operands[i]);
  }
  return evaluator.evaluate(outputs.front()).as<at::Tensor>();
}

/// The positions that differ by more than a few units in the last place of the type that was computed in.
at::Tensor differences(const at::Tensor& got, const at::Tensor& wanted, PrimType compute,
                       PrimType result, int32_t arity) {
  if (isIntegralOrBool(categoryOf(result))) {
    return at::ne(got, wanted);
  }
  const bool isDouble = realTypeOf(compute) == PrimType::Double;
  double tolerance = isDouble ? 4e-15 : 2e-6;
  const bool isComplex = categoryOf(result) == TypeCategory::Complex;
  if (isReducedFloat(result)) {
    // One step of the result's type, where the two lie on different sides of a half.
    tolerance =
        1.01 * std::pow(2.0, bitsOf(result) == 16 ? (result == PrimType::Half ? -10 : -7) : -2);
  }
  const at::ScalarType wide = isComplex ? at::kComplexDouble : at::kDouble;
  const at::Tensor a = got.to(wide);
  const at::Tensor b = wanted.to(wide);
  // Sums of products, which may cancel, are rounded in steps of their terms, which are below 16.
  const double terms = isDouble ? 1e-15 : 1e-6;
  const double least = arity > 2 ? terms : isDouble ? 1e-307 : 1e-37;
  const at::Tensor near = at::le(at::abs(a - b), at::abs(b) * tolerance + least);
  return at::logical_not(at::logical_or(at::logical_or(near, at::eq(a, b)),
                                        at::logical_and(at::isnan(a), at::isnan(b))));
}

bool takesSpecials(const PointwiseRow& row, PrimType type) {
  return row.arity <= 2 && (type == PrimType::Float || type == PrimType::Double);
}

void checkRow(const PointwiseRow& row, const CompiledText& kernels) {
  const OpInfo& op = *findOp(row.name);
  const OpSample sample = op.samples(op).front();
  for (const auto& [type, types] : typesOf(row)) {
    std::vector<at::Tensor> operands;
    for (int32_t i = 0; i < row.arity; ++i) {
      operands.push_back(operandOf(sample.tensors[static_cast<size_t>(i)],
                                   isCondition(row, i) ? PrimType::Bool : type, i, row.arity,
                                   takesSpecials(row, type)));
    }
    const at::Tensor wanted = evaluated(op, sample, type, operands, row);
    const at::Tensor got = at::empty({kSize}, torchDtype(types.result));
    const auto data = [&](size_t i) {
      return i < operands.size() ? operands[i].data_ptr() : nullptr;
    };
    kernels.function<Kernel>(kernelName(row, type))(got.data_ptr(), data(0), data(1), data(2),
                                                    data(3), kSize);
    const at::Tensor wrong =
        differences(got, wanted, types.compute, types.result, row.arity).nonzero();
    if (wrong.numel() > 0) {
      std::ostringstream found;
      for (int64_t i = 0; i < std::min<int64_t>(wrong.numel(), 6); ++i) {
        const int64_t at = wrong.flatten()[i].item<int64_t>();
        found << "\n  of";
        for (const at::Tensor& operand : operands) {
          found << " " << operand[at].item();
        }
        found << ": " << got[at].item() << ", the evaluator " << wanted[at].item();
      }
      ADD_FAILURE() << row.name << " of " << nameOf(type) << ": " << wrong.numel() << " differ"
                    << found.str();
    }
  }
}

TEST(PointwiseRows, TheDeviceColumnGivesWhatTheEvaluatorGives) {
  at::manual_seed(5);
  // A few rows a text: each text holds no more than these need.
  constexpr size_t kTogether = 6;
  const std::span<const PointwiseRow> all = pointwiseRows();
  for (size_t begin = 0; begin < all.size(); begin += kTogether) {
    const std::span<const PointwiseRow> rows =
        all.subspan(begin, std::min(kTogether, all.size() - begin));
    std::string body;
    for (const PointwiseRow& row : rows) {
      for (const auto& [type, types] : typesOf(row)) {
        body += kernelText(row, type, types);
      }
    }
    const CompiledText kernels(deviceTextFor(body) + "using namespace device;\n" + body, "-O1");
    for (const PointwiseRow& row : rows) {
      checkRow(row, kernels);
    }
  }
}

}  // namespace
}  // namespace meshfuse
