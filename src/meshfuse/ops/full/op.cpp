#include "meshfuse/ops/full/op.h"

#include "meshfuse/base/error.h"
#include "meshfuse/base/text.h"
#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/structured_op.h"

namespace meshfuse::ops::full {

namespace {

void normalize(const Fusion& fusion, std::vector<Arg>& args) {
  const ValId* value = std::get_if<ValId>(&args[1]);
  if (value != nullptr && fusion.val(*value).isTensor()) {
    throwUser(ErrorKind::Type, {"full", "incompatible function arguments",
                                "fill_value is " + describe(fusion, args[1]),
                                "pass a number or a scalar; expand a tensor instead"});
  }
  if (std::get<PrimType>(args[2]) == PrimType::Null) {
    throwUser(ErrorKind::Runtime,
              {"full", "the element type is stated", "got DataType.Null", "name another DataType"});
  }
  if (const Scalar* number = std::get_if<Scalar>(&args[1])) {
    checkFits(*number, std::get<PrimType>(args[2]));
  }
}

std::vector<PrimType> dtypes(const OpCall& call) { return {std::get<PrimType>(call.args[2])}; }

DimMap dimMap(const OpCall& call) {
  checkSizes("full", *call.fusion, call.args[0], 0);
  return factoryDimMap(sizesArg(*call.fusion, call.args[0]));
}

std::vector<OpSample> samples(const OpInfo& /*op*/) {
  return {sampleOf({}, {Ints{6, 4}, Scalar(1.5), PrimType::Float}, {}),
          sampleOf({}, {Ints{3, 0}, Scalar(2), PrimType::Int}, {}),
          sampleOf({}, {Ints{}, Scalar(true), PrimType::Bool}, {})};
}

}  // namespace

void checkFits(const Scalar& number, PrimType dtype) {
  if (categoryOf(dtype) != TypeCategory::Integral || number.isComplex()) {
    return;
  }
  const double value = number.toDouble();
  const bool isNarrow = dtype == PrimType::Int32;
  const double bound = isNarrow ? 0x1p31 : 0x1p63;
  const bool isInRange = value >= -bound && value < bound;
  if (!isInRange && (isNarrow || number.isDouble())) {
    throwUser(ErrorKind::Runtime, {"full", "the fill value is one that the element type holds",
                                   "got " + number.toText() + " for " + std::string(nameOf(dtype)),
                                   "fill with another number, or make the tensor of a wider type"});
  }
}

OpInfo info() {
  return structuredOp("full", "A tensor of one number, cast to the element type; torch.full",
                      {{"shape", ParamKind::Sizes},
                       {"fill_value", ParamKind::Operand},
                       {"dtype", ParamKind::DataType}},
                      {normalize, dtypes, dimMap, always<Algebra::NonLinear>, samples});
}

}  // namespace meshfuse::ops::full
