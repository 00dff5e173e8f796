#include "meshfuse/ops/reduction.h"

#include <algorithm>
#include <numeric>

#include "meshfuse/base/error.h"
#include "meshfuse/ops/arguments.h"

namespace meshfuse {

namespace {

std::vector<OpSample> reductionSamples(const OpInfo& /*op*/) {
  const auto sample = [](std::vector<int64_t> sizes, Ints dims, bool keepdim) {
    return sampleOf({std::move(sizes)}, {{}, std::move(dims), Scalar(keepdim), {}}, {0});
  };
  return {sample({6, 4}, {0}, false),      sample({6, 4}, {-1}, true),
          sample({6, 4}, {0, 1}, false),   sample({5, 3}, {0}, false),
          sample({2, 3, 4}, {0, 2}, true), sample({1, 4}, {0}, false)};
}

std::vector<OpSample> varianceSamples(const OpInfo& /*op*/) {
  const auto sample = [](std::vector<int64_t> sizes, Ints dims, int64_t correction, bool keepdim) {
    return sampleOf({std::move(sizes)}, {{}, std::move(dims), Scalar(correction), Scalar(keepdim)},
                    {0});
  };
  return {sample({6, 4}, {1}, 0, true), sample({6, 4}, {0}, 1, false),
          sample({2, 3, 4}, {0, -1}, 1, true), sample({5, 3}, {1}, 3, false)};
}

}  // namespace

OpInfo reductionRecord(std::string_view name, std::string_view doc) {
  const Param arg{"arg", ParamKind::Tensor};
  const Param keepdim{"keepdim", ParamKind::Bool, true, Scalar(false)};
  const Param dtype{"dtype", ParamKind::DataType, true, PrimType::Null};
  OpInfo op;
  op.name = name;
  op.doc = doc;
  op.params = {arg, {"dims", ParamKind::Ints, true}, keepdim, dtype};
  op.overloads = {
      {{arg, dtype}},
      {{arg, {"dim", ParamKind::Int}, keepdim, dtype}},
      {{arg, {"dims", ParamKind::Ints}, keepdim, dtype}},
  };
  op.samples = reductionSamples;
  return op;
}

OpInfo varianceRecord(std::string_view name, std::string_view doc) {
  OpInfo op;
  op.name = name;
  op.doc = doc;
  op.params = {{"arg", ParamKind::Tensor},
               {"dims", ParamKind::Ints},
               {"correction", ParamKind::Int, true, Scalar(1)},
               {"keepdim", ParamKind::Bool, true, Scalar(false)}};
  op.overloads = {{op.params}};
  op.dimMap = [](const OpCall& call) {
    return reductionDimMap(call, boolArg(call.args[3]), FactorRole::Opaque, ReduceKind::Sum);
  };
  op.algebra = [](const OpCall&) { return Algebra::NonLinear; };
  op.samples = varianceSamples;
  return op;
}

void normalizeReductionDims(std::string_view op, const Fusion& fusion, std::vector<Arg>& args) {
  const int64_t rank = tensorArg(fusion, args[0]).rank();
  if (!isGiven(args[1])) {
    Ints all(static_cast<size_t>(rank));
    std::iota(all.begin(), all.end(), 0);
    args[1] = std::move(all);
  }
  const Ints& dims = intsArg(args[1]);
  if (dims.empty()) {
    throwUser(ErrorKind::Runtime,
              {op, "No reduction axis specified", "got no dims for " + describe(fusion, args[0]),
               rank == 0 ? "a 0-d tensor needs no reduction"
                         : "name at least one dim, or none at all for all dims"});
  }
  // Any dims reduce a 0-d operand to itself; [0] is the one form of them that can be written again.
  args[1] = rank == 0 ? Ints{0} : wrapDims(op, dims, rank, "Reduction axes are not unique");
  std::ranges::sort(std::get<Ints>(args[1]));
}

void normalizeExtremum(std::string_view op, const Fusion& fusion, std::vector<Arg>& args) {
  const PrimType dtype = std::get<PrimType>(args[3]);
  if (dtype != PrimType::Null) {
    throwUser(ErrorKind::Runtime, {op, "the result has the operand's dtype",
                                   "got dtype DataType." + std::string(nameOf(dtype)),
                                   "cast the operand or the result instead"});
  }
  checkOrdered(op, fusion, args[0]);
  normalizeReductionDims(op, fusion, args);
}

void normalizeVariance(std::string_view op, const Fusion& fusion, std::vector<Arg>& args) {
  if (intArg(args[2]) < 0) {
    throwUser(ErrorKind::Runtime, {op, "correction must not be negative",
                                   "got " + std::to_string(intArg(args[2])), "use 0, 1 or more"});
  }
  normalizeReductionDims(op, fusion, args);
}

std::vector<PrimType> accumulationDtypes(const OpCall& call) {
  const PrimType given = std::get<PrimType>(call.args[3]);
  if (given == PrimType::UInt64 || call.tensors[0].dtype == PrimType::UInt64) {
    throwUser(ErrorKind::Runtime, {call.op->name, "Input and dtype other than UInt64 are required",
                                   "got " + std::string(nameOf(call.tensors[0].dtype)) +
                                       (given == PrimType::UInt64 ? " and dtype UInt64" : ""),
                                   "cast the operand to DataType.Int"});
  }
  if (given != PrimType::Null) {
    return {given};
  }
  const PrimType type = call.tensors[0].dtype;
  return {isIntegralOrBool(categoryOf(type)) ? PrimType::Int : type};
}

DimMap reductionDimMap(const OpCall& call, bool keepdim, FactorRole role, ReduceKind reduce) {
  const TensorType& tensor = call.tensors[0];
  const Ints& dims = intsArg(call.args[1]);
  DimMap map;
  map.inputs.emplace_back();
  std::vector<DimFactors> output;
  for (int64_t dim = 0; dim < tensor.rank(); ++dim) {
    const IterDomain& domain = tensor.domain[static_cast<size_t>(dim)];
    const bool reduced = std::ranges::find(dims, dim) != dims.end();
    DimFactors factors;
    if (!domain.isBroadcast || domain.isExpanded()) {
      factors = {reduced ? map.addFactor(domain.extent, role, reduce)
                         : map.addFactor(domain.extent)};
    }
    if (!reduced) {
      output.push_back(factors);
    } else if (keepdim) {
      output.emplace_back();
    }
    map.inputs[0].push_back(std::move(factors));
  }
  map.outputs.assign(call.op->outputCount, output);
  return map;
}

DimMap reductionDimMap(const OpCall& call, ReduceKind reduce) {
  const TypeCategory category = categoryOf(call.op->dtypes(call).front());
  const bool combines = !(category == TypeCategory::Boolean && reduce == ReduceKind::Sum) &&
                        !(category == TypeCategory::Complex && reduce == ReduceKind::Product);
  return reductionDimMap(call, boolArg(call.args[2]),
                         combines ? FactorRole::Reduced : FactorRole::Opaque, reduce);
}

}  // namespace meshfuse
