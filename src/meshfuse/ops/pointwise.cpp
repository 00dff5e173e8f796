#include "meshfuse/ops/pointwise.h"

#include <algorithm>
#include <array>

#include "meshfuse/base/error.h"
#include "meshfuse/base/text.h"
#include "meshfuse/ops/fold.h"

namespace meshfuse {

namespace {

constexpr std::array kRows{
#define MESHFUSE_POINTWISE(name, arity, types, algebra, sample, aten, device, doc) \
  PointwiseRow{#name, arity, DtypeClass::types, Algebra::algebra, SampleKind::sample, #device, doc},
#include "meshfuse/ops/pointwise.def"
#undef MESHFUSE_POINTWISE
};

const PointwiseRow& rowOf(const OpInfo& op) { return kRows[static_cast<size_t>(op.pointwiseRow)]; }

/// Operands that decide the type: all but a selection's condition; the first alone where the others follow it.
std::span<const Arg> typedOperands(const OpCall& call) {
  switch (rowOf(*call.op).types) {
    case DtypeClass::Select:
      return call.args.subspan(1);
    case DtypeClass::KeepFirst:
      return call.args.first(1);
    default:
      return call.args;
  }
}

PromotionOperand promotionOperand(const Fusion& fusion, const Arg& arg) {
  if (const Scalar* number = std::get_if<Scalar>(&arg)) {
    return {number->type(), OperandGroup::Scalar};
  }
  const Val& val = fusion.val(std::get<ValId>(arg));
  if (!val.isTensor()) {
    return {val.dtype(), OperandGroup::Scalar};
  }
  return {val.dtype(),
          val.tensor().rank() == 0 ? OperandGroup::ZeroDimTensor : OperandGroup::DimTensor};
}

void checkCondition(const OpCall& call) {
  const PrimType type = promotionOperand(*call.fusion, call.args[0]).type;
  if (type != PrimType::Bool) {
    throwUser(ErrorKind::Runtime,
              {call.op->name, "Condition should be of DataType Bool",
               "got " + std::string(nameOf(type)), "compare first, or cast to DataType.Bool"});
  }
}

void normalizePointwise(const Fusion& /*fusion*/, std::vector<Arg>& /*args*/) {}

std::vector<PrimType> pointwiseResult(const OpCall& call) { return {pointwiseTypes(call).result}; }

/// Whether an operand is cast to another category first. Whole numbers wrap where their casts do not: the cast of a sum is not
/// the sum of casts.
bool changesCategory(const OpCall& call, PrimType compute) {
  return std::ranges::any_of(call.tensors, [&](const TensorType& tensor) {
    return categoryOf(tensor.dtype) != categoryOf(compute);
  });
}

Algebra pointwiseAlgebra(const OpCall& call) {
  const Algebra algebra = rowOf(*call.op).algebra;
  const PrimType compute = pointwiseTypes(call).compute;
  switch (algebra) {
    case Algebra::LinearInFirst:
      // A truncated quotient of a sum is not the sum of truncated quotients.
      return isIntegralOrBool(categoryOf(compute)) || changesCategory(call, compute)
                 ? Algebra::NonLinear
                 : algebra;
    case Algebra::Linear:
    case Algebra::Negation:
    case Algebra::Multilinear:
      return changesCategory(call, compute) ? Algebra::NonLinear : algebra;
    default:
      return algebra;
  }
}

std::optional<Scalar> foldPointwise(const OpCall& call, std::span<const Scalar> operands) {
  return foldRow(call.op->pointwiseRow, operands, pointwiseTypes(call));
}

OpSample::Tensor sampleTensor(SampleKind kind, int32_t operand, int32_t arity,
                              std::vector<int64_t> sizes) {
  OpSample::Tensor tensor{PrimType::Float, std::move(sizes), -2.0, 2.0};
  switch (kind) {
    case SampleKind::Real:
      break;
    case SampleKind::Positive:
      tensor.low = 0.25;
      break;
    case SampleKind::AboveOne:
      tensor.low = 1.25;
      break;
    case SampleKind::Unit:
      tensor.low = -0.75;
      tensor.high = 0.75;
      break;
    case SampleKind::NonZero:
      tensor.low = operand + 1 == arity ? 0.5 : -2.0;
      break;
    case SampleKind::Whole:
      tensor.dtype = PrimType::Int;
      break;
    case SampleKind::Integer:
      tensor.dtype = PrimType::Int;
      tensor.low = operand == 0 ? -64.0 : 0.0;
      tensor.high = operand == 0 ? 64.0 : 5.0;
      break;
    case SampleKind::Bool:
      tensor.dtype = PrimType::Bool;
      break;
    case SampleKind::Complex:
      tensor.dtype = PrimType::ComplexFloat;
      break;
    case SampleKind::Condition:
      tensor.dtype = operand == 0 ? PrimType::Bool : PrimType::Float;
      break;
  }
  return tensor;
}

Scalar sampleNumber(SampleKind kind) {
  switch (kind) {
    case SampleKind::Whole:
    case SampleKind::Integer:
      return Scalar(1);
    case SampleKind::Bool:
      return Scalar(true);
    default:
      return Scalar(1.5);
  }
}

/// Same sizes; a lower rank and a size of 1 that broadcast; an empty tensor; a number as the last operand.
std::vector<OpSample> pointwiseSamples(const OpInfo& op) {
  const PointwiseRow& row = rowOf(op);
  const std::vector<std::vector<std::vector<int64_t>>> shapes = {{{6, 4}, {6, 4}, {6, 4}, {6, 4}},
                                                                 {{6, 4}, {1, 4}, {4}, {6, 1}},
                                                                 {{5, 3}, {5, 3}, {1, 3}, {5, 3}},
                                                                 {{0, 4}, {0, 4}, {0, 4}, {0, 4}}};
  std::vector<OpSample> samples;
  for (const auto& shape : shapes) {
    OpSample sample;
    for (int32_t i = 0; i < row.arity; ++i) {
      sample.tensors.push_back(
          sampleTensor(row.sample, i, row.arity, shape[static_cast<size_t>(i)]));
      sample.args.emplace_back();
      sample.tensorArgs.push_back(static_cast<size_t>(i));
    }
    samples.push_back(std::move(sample));
  }
  if (row.arity > 1) {
    OpSample sample = samples.front();
    sample.tensors.pop_back();
    sample.tensorArgs.pop_back();
    sample.args.back() = sampleNumber(row.sample);
    samples.push_back(std::move(sample));
  }
  return samples;
}

OpInfo makeOp(const PointwiseRow& row, int32_t index) {
  static constexpr std::array<std::string_view, 4> kNames{"x0", "x1", "x2", "x3"};
  OpInfo op;
  op.name = row.name;
  for (int32_t i = 0; i < row.arity; ++i) {
    op.params.push_back({kNames[static_cast<size_t>(i)], ParamKind::Operand});
  }
  op.overloads = {{op.params, op.params.size()}};
  op.doc = row.doc;
  op.normalize = normalizePointwise;
  op.dtypes = pointwiseResult;
  op.dimMap = pointwiseDimMap;
  op.algebra = pointwiseAlgebra;
  op.samples = pointwiseSamples;
  op.fold = foldPointwise;
  op.pointwiseRow = index;
  return op;
}

}  // namespace

std::span<const PointwiseRow> pointwiseRows() noexcept { return kRows; }

bool dividesWholeNumbers(const PointwiseRow& row, PrimType compute) noexcept {
  return categoryOf(compute) == TypeCategory::Integral &&
         (row.device.find("divide(") != std::string_view::npos ||
          row.device.find("odulus(") != std::string_view::npos);
}

std::vector<OpInfo> makePointwiseOps() {
  std::vector<OpInfo> ops;
  for (size_t i = 0; i < kRows.size(); ++i) {
    ops.push_back(makeOp(kRows[i], static_cast<int32_t>(i)));
  }
  return ops;
}

OpTypes pointwiseTypes(const OpCall& call) {
  const PointwiseRow& row = rowOf(*call.op);
  if (row.types == DtypeClass::Select) {
    checkCondition(call);
  }
  std::vector<PromotionOperand> operands;
  std::vector<std::string> names;
  for (const Arg& arg : typedOperands(call)) {
    operands.push_back(promotionOperand(*call.fusion, arg));
    names.emplace_back(nameOf(operands.back().type));
  }
  const PrimType promoted = promoteOperands(operands);
  const std::optional<OpTypes> types = applyDtypeClass(row.types, promoted);
  if (!types) {
    throwUser(ErrorKind::Runtime, {row.name, ruleOf(row.types, promoted),
                                   "got " + joinText(names, ", "), "cast the operands first"});
  }
  return *types;
}

DimMap pointwiseDimMap(const OpCall& call) {
  DimMap map;
  int64_t rank = 0;
  for (const TensorType& tensor : call.tensors) {
    rank = std::max(rank, tensor.rank());
    map.inputs.emplace_back(static_cast<size_t>(tensor.rank()));
  }
  map.outputs.emplace_back(static_cast<size_t>(rank));
  for (int64_t position = 0; position < rank; ++position) {
    int32_t factor = -1;
    for (size_t i = 0; i < call.tensors.size(); ++i) {
      const TensorType& tensor = call.tensors[i];
      const int64_t dim = position - (rank - tensor.rank());
      if (dim < 0) {
        continue;
      }
      const IterDomain& domain = tensor.domain[static_cast<size_t>(dim)];
      if (domain.isBroadcast && !domain.isExpanded()) {
        continue;
      }
      if (factor < 0) {
        factor = map.addFactor(domain.extent);
      } else {
        IntExpr& extent = map.factors[static_cast<size_t>(factor)].extent;
        extent = unifyExtents(extent, domain.extent, call.op->name,
                              "dimension " + std::to_string(position) + " of the result");
      }
      map.inputs[i][static_cast<size_t>(dim)] = {factor};
    }
    if (factor >= 0) {
      map.outputs[0][static_cast<size_t>(position)] = {factor};
    }
  }
  return map;
}

bool needsWholeNumber(DtypeClass types) noexcept {
  return types == DtypeClass::Compare || types == DtypeClass::Order ||
         types == DtypeClass::PromoteReal || types == DtypeClass::Select ||
         types == DtypeClass::KeepFirst;
}

}  // namespace meshfuse
