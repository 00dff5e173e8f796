#include "meshfuse/ops/cast/op.h"

#include "meshfuse/base/error.h"
#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/pointwise.h"
#include "meshfuse/ops/structured_op.h"

namespace meshfuse::ops::cast {

namespace {

PrimType target(const OpCall& call) { return std::get<PrimType>(call.args[1]); }

void normalize(const Fusion& /*fusion*/, std::vector<Arg>& args) {
  const PrimType type = std::get<PrimType>(args[1]);
  if (type == PrimType::Null || type == PrimType::Float4_e2m1fn_x2) {
    throwUser(ErrorKind::Runtime,
              {"cast", "the target must be an element type",
               "got DataType." + std::string(nameOf(type)), "name another DataType"});
  }
}

std::vector<PrimType> dtypes(const OpCall& call) { return {target(call)}; }

/// Rounding to a narrower type, and truncation to integers, do not distribute over a sum.
Algebra algebra(const OpCall& call) {
  const PrimType from = call.tensors[0].dtype;
  const PrimType to = target(call);
  if (from == to) {
    return Algebra::Movement;
  }
  const auto isInexact = [](PrimType type) {
    return categoryOf(type) == TypeCategory::Floating || categoryOf(type) == TypeCategory::Complex;
  };
  const bool widens =
      isInexact(from) && isInexact(to) && bitsOf(realTypeOf(to)) > bitsOf(realTypeOf(from)) &&
      (categoryOf(to) == TypeCategory::Complex || categoryOf(from) == TypeCategory::Floating);
  return widens ? Algebra::Linear : Algebra::NonLinear;
}

std::optional<Scalar> fold(const OpCall& call, std::span<const Scalar> operands) {
  return operands[0].castTo(target(call));
}

std::vector<OpSample> samples(const OpInfo& /*op*/) {
  std::vector<OpSample> samples;
  for (PrimType to :
       {PrimType::Double, PrimType::Float, PrimType::Half, PrimType::Int32, PrimType::Bool}) {
    samples.push_back(sampleOf({{6, 4}}, {{}, to}, {0}));
  }
  samples.push_back(sampleOf({{5, 3}}, {{}, PrimType::Double}, {0}));
  return samples;
}

}  // namespace

OpInfo info() {
  OpInfo op = structuredOp(
      "cast",
      "The same values in another element type; floats truncate towards zero into integers; "
      "torch.Tensor.to",
      {{"arg", ParamKind::Operand}, {"dtype", ParamKind::DataType}},
      {normalize, dtypes, pointwiseDimMap, algebra, samples});
  op.fold = fold;
  return op;
}

}  // namespace meshfuse::ops::cast
