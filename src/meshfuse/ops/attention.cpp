#include "meshfuse/ops/attention.h"

#include <algorithm>
#include <string>

#include "meshfuse/base/error.h"
#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/contraction.h"

namespace meshfuse {

namespace {

bool hasAttention(PrimType type) {
  return type == PrimType::Half || type == PrimType::BFloat16 || type == PrimType::Float ||
         type == PrimType::Double;
}

/// One operand's dimension.
struct Place {
  size_t tensor;
  int64_t dim;
};

/// One factor for all these dimensions, none if all are broadcasts of size 1.
DimFactors shareFactor(DimMap& map, std::span<const TensorType> tensors,
                       std::span<const Place> places, FactorRole role, std::string_view op,
                       std::string_view what) {
  const auto domainOf = [&](const Place& place) -> const IterDomain& {
    return tensors[place.tensor].domain[static_cast<size_t>(place.dim)];
  };
  IntExpr extent = domainOf(places.front()).extent;
  for (const Place& place : places) {
    extent = unifyExtents(extent, domainOf(place).extent, op, what);
  }
  if (std::ranges::all_of(places, [&](const Place& place) { return stretches(domainOf(place)); })) {
    return {};
  }
  const DimFactors factors{map.addFactor(extent, role)};
  for (const Place& place : places) {
    map.inputs[place.tensor][static_cast<size_t>(place.dim)] = factors;
  }
  return factors;
}

}  // namespace

void checkAttention(std::string_view op, const Fusion& fusion, std::span<const Arg> queryKeyValue,
                    std::span<const Arg> options) {
  const Arg& query = queryKeyValue[0];
  const auto refuse = [&](std::string_view rule, const Arg& arg, std::string_view wayOut) {
    throwUser(ErrorKind::Runtime, {op, rule, "got " + describe(fusion, arg), wayOut});
  };
  for (const Arg& arg : queryKeyValue) {
    const TensorType& type = tensorArg(fusion, arg);
    if (type.rank() != 4 && type.rank() != 5) {
      refuse("query, key and value have 4 dimensions, or 5", arg,
             "pass [batch, heads, rows, size]");
    }
    if (type.rank() != tensorArg(fusion, query).rank()) {
      refuse("query, key and value have the same rank", arg, "broadcast or reshape one of them");
    }
    if (!hasAttention(type.dtype)) {
      refuse("attention is computed on Half, BFloat16, Float and Double", arg, "cast it first");
    }
    if (type.dtype != tensorArg(fusion, query).dtype) {
      refuse("query, key and value have the same dtype", arg, "cast it to the query's");
    }
  }
  for (const Arg& option : options) {
    checkRealNumber(op, fusion, "one of dropout_p, is_causal and scale", option);
  }
}

void normalizeDropout(std::string_view op, const Fusion& fusion, Arg& probability) {
  const ValId* val = std::get_if<ValId>(&probability);
  if (val != nullptr && fusion.val(*val).scalar().constant) {
    probability = *fusion.val(*val).scalar().constant;
  }
  const Scalar* number = std::get_if<Scalar>(&probability);
  if (number == nullptr) {
    return;
  }
  // Written so that NaN is refused too.
  if (!(number->toDouble() >= 0 && number->toDouble() <= 1)) {
    throwUser(ErrorKind::Runtime, {op, "dropout_p is between 0 and 1", "got " + number->toText(),
                                   "pass the probability that an element is dropped"});
  }
}

bool mayDrop(const Arg& probability) {
  const Scalar* number = std::get_if<Scalar>(&probability);
  return isGiven(probability) && (number == nullptr || number->toDouble() != 0);
}

PrimType attentionSumType(PrimType operand) noexcept {
  return operand == PrimType::Double ? PrimType::Double : PrimType::Float;
}

AttentionFactors mapAttention(DimMap& map, const OpCall& call,
                              std::span<const AttentionOperand> operands, bool drops) {
  const std::span<const TensorType> tensors = call.tensors;
  const std::string_view op = call.op->name;
  map.inputs.clear();
  for (const TensorType& tensor : tensors) {
    map.inputs.emplace_back(tensor.domain.size());
  }
  AttentionFactors factors;
  const int64_t batchRank = tensors[operands.front().tensor].rank() - 2;
  for (int64_t dim = 0; dim < batchRank; ++dim) {
    std::vector<Place> places;
    for (const AttentionOperand& operand : operands) {
      places.push_back({operand.tensor, dim});
    }
    factors.batch.push_back(shareFactor(map, tensors, places,
                                        drops ? FactorRole::Opaque : FactorRole::Parallel, op,
                                        "dimension " + std::to_string(dim)));
  }
  struct Kind {
    DimFactors AttentionFactors::* member;
    std::string_view what;
  };
  for (const Kind& kind :
       {Kind{&AttentionFactors::targets, "the number of the query's rows"},
        Kind{&AttentionFactors::sources, "the number of the key's rows"},
        Kind{&AttentionFactors::features, "the size of the query's rows"},
        Kind{&AttentionFactors::valueFeatures, "the size of the value's rows"}}) {
    std::vector<Place> places;
    for (const AttentionOperand& operand : operands) {
      const auto found = std::ranges::find(operand.last, kind.member);
      if (found != operand.last.end()) {
        places.push_back({operand.tensor, batchRank + (found - operand.last.begin())});
      }
    }
    factors.*kind.member = shareFactor(map, tensors, places, FactorRole::Opaque, op, kind.what);
  }
  return factors;
}

std::vector<DimFactors> attentionDims(const AttentionFactors& factors,
                                      std::span<DimFactors AttentionFactors::* const> last) {
  std::vector<DimFactors> dims = factors.batch;
  for (DimFactors AttentionFactors::* const member : last) {
    dims.push_back(factors.*member);
  }
  return dims;
}

}  // namespace meshfuse
