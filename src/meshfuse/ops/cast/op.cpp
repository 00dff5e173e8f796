#include "meshfuse/ops/cast/op.h"

#include <string>

#include "meshfuse/base/error.h"
#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/pointwise.h"
#include "meshfuse/ops/structured_op.h"

namespace meshfuse::ops::cast {

namespace {

PrimType target(const OpCall& call) { return std::get<PrimType>(call.args[1]); }

/// Packed elements are cast to and from the types that hold each of them and round to them once.
bool castsPacked(PrimType other) {
  return other == PrimType::Float4_e2m1fn || other == PrimType::Double ||
         other == PrimType::Float || other == PrimType::Half || other == PrimType::BFloat16;
}

void checkPacked(const Fusion& fusion, const Arg& arg, PrimType to) {
  const ValId* val = std::get_if<ValId>(&arg);
  const bool isTensor = val != nullptr && fusion.val(*val).isTensor();
  const PrimType from = isTensor ? fusion.val(*val).dtype() : PrimType::Null;
  const bool isPacked = from == PrimType::Float4_e2m1fn || to == PrimType::Float4_e2m1fn;
  if (!isPacked || (castsPacked(from) && castsPacked(to))) {
    return;
  }
  throwUser(
      ErrorKind::Runtime,
      {"cast", "tensors of packed 4-bit floats are cast to and from floats of 16 bits and more",
       "got " + (isTensor ? describe(fusion, arg) : std::string("a number")) + " and DataType." +
           std::string(nameOf(to)),
       isTensor ? "cast to DataType.Float in between" : "cast the tensor it is used with"});
}

void normalize(const Fusion& fusion, std::vector<Arg>& args) {
  const PrimType type = std::get<PrimType>(args[1]);
  if (type == PrimType::Null || type == PrimType::Float4_e2m1fn_x2) {
    throwUser(ErrorKind::Runtime,
              {"cast", "the target must be an element type",
               "got DataType." + std::string(nameOf(type)), "name another DataType"});
  }
  checkPacked(fusion, args[0], type);
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
  samples.push_back(sampleOf({{6, 4}}, {{}, PrimType::Float4_e2m1fn}, {0}));
  samples.push_back(sampleOf({{6, 4}}, {{}, PrimType::Float}, {0}));
  samples.back().tensors[0].dtype = PrimType::Float4_e2m1fn;
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
