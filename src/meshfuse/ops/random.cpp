#include "meshfuse/ops/random.h"

#include <string>

#include "meshfuse/base/error.h"
#include "meshfuse/ops/arguments.h"

namespace meshfuse {

namespace {

enum : size_t { kFirst, kSecond, kShape, kSeed, kOffset, kDtype };

void checkFloating(std::string_view op, PrimType dtype) {
  if (categoryOf(dtype) != TypeCategory::Floating) {
    throwUser(ErrorKind::Runtime,
              {op, "Random distributions only create floating point types",
               "got DataType." + std::string(nameOf(dtype)), "draw in Float and cast"});
  }
  if (dtype == PrimType::Float8_e8m0fnu) {
    throwUser(ErrorKind::Runtime,
              {op, "random numbers have a sign and a fraction, of which powers of two have neither",
               "got DataType.Float8_e8m0fnu", "draw in Float and cast"});
  }
}

std::vector<PrimType> distributionDtypes(const OpCall& call) {
  const PrimType dtype = std::get<PrimType>(call.args[kDtype]);
  checkFloating(call.op->name, dtype);
  return {dtype};
}

DimMap distributionDimMap(const OpCall& call) {
  const Fusion& fusion = *call.fusion;
  const std::string_view op = call.op->name;
  checkSizes(op, fusion, call.args[kShape], 0);
  for (size_t i : {kFirst, kSecond}) {
    checkNumber(op, fusion, call.op->params[i].name, call.args[i]);
  }
  if (isGiven(call.args[kSeed]) != isGiven(call.args[kOffset])) {
    throwUser(ErrorKind::Runtime, {op, "rng_seed and rng_offset must be provided together",
                                   "got one of them", "pass both or neither"});
  }
  DimMap map = factoryDimMap(sizesArg(fusion, call.args[kShape]));
  map.inputs.resize(call.tensors.size());
  return map;
}

/// Each index of the operand is drawn for, whatever it holds: the result is whole on every rank.
DimMap likeDimMap(const OpCall& call) {
  DimMap map;
  map.inputs.emplace_back();
  map.outputs.emplace_back();
  for (const IterDomain& domain : call.tensors[0].domain) {
    const bool inMemory = !domain.isBroadcast || domain.isExpanded();
    map.inputs[0].push_back(inMemory ? DimFactors{map.addFactor(domain.extent, FactorRole::Opaque)}
                                     : DimFactors{});
    map.outputs[0].push_back(map.inputs[0].back());
  }
  return map;
}

std::vector<PrimType> likeDtypes(const OpCall& call) {
  checkFloating(call.op->name, call.tensors[0].dtype);
  return {call.tensors[0].dtype};
}

void acceptAll(const Fusion& /*fusion*/, std::vector<Arg>& /*args*/) {}

Algebra nonLinear(const OpCall& /*call*/) { return Algebra::NonLinear; }

std::vector<OpSample> distributionSamples(const OpInfo& /*op*/) {
  const auto sample = [](Ints shape, PrimType dtype) {
    return sampleOf({}, {Scalar(0.5), Scalar(2.0), std::move(shape), {}, {}, dtype}, {});
  };
  return {sample({6, 4}, PrimType::Float), sample({5}, PrimType::Half),
          sample({0, 3}, PrimType::Double), sample({}, PrimType::Float)};
}

std::vector<OpSample> likeSamples(const OpInfo& /*op*/) {
  return {sampleOf({{6, 4}}, {{}}, {0}), sampleOf({{5, 1}}, {{}}, {0}),
          sampleOf({{0, 3}}, {{}}, {0})};
}

}  // namespace

OpInfo distributionOp(std::string_view name, std::string_view first, std::string_view second,
                      std::string_view doc) {
  OpInfo op;
  op.name = name;
  op.params = {{first, ParamKind::Operand},
               {second, ParamKind::Operand},
               {"shape", ParamKind::Sizes},
               {"rng_seed", ParamKind::Value, true},
               {"rng_offset", ParamKind::Value, true},
               {"dtype", ParamKind::DataType, true, PrimType::Float}};
  op.overloads = {{op.params, 0, /*keywordOnly=*/3}};
  op.doc = doc;
  op.normalize = acceptAll;
  op.dtypes = distributionDtypes;
  op.dimMap = distributionDimMap;
  op.algebra = nonLinear;
  op.samples = distributionSamples;
  op.drawsNumbers = [](const std::vector<Arg>& args) { return !isGiven(args[kSeed]); };
  return op;
}

OpInfo randomLikeOp(std::string_view name, std::string_view doc) {
  OpInfo op;
  op.name = name;
  op.params = {{"arg", ParamKind::Tensor}};
  op.overloads = {{op.params, 1}};
  op.doc = doc;
  op.normalize = acceptAll;
  op.dtypes = likeDtypes;
  op.dimMap = likeDimMap;
  op.algebra = nonLinear;
  op.samples = likeSamples;
  op.drawsNumbers = [](const std::vector<Arg>&) { return true; };
  return op;
}

}  // namespace meshfuse
