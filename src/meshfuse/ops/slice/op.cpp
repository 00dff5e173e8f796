#include "meshfuse/ops/slice/op.h"

#include <algorithm>
#include <optional>

#include "meshfuse/base/error.h"
#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/structured_op.h"

namespace meshfuse::ops::slice {

namespace {

[[noreturn]] void refuse(const Fusion& fusion, const std::vector<Arg>& args, std::string_view rule,
                         std::string_view wayOut) {
  throwUser(ErrorKind::Runtime,
            {"slice", rule,
             "got start_indices " + sizesText(fusion, args[1]) + " and end_indices " +
                 sizesText(fusion, args[2]) + " for " + describe(fusion, args[0]),
             wayOut});
}

void checkStrides(const Fusion& fusion, const std::vector<Arg>& args, size_t rank) {
  if (!isGiven(args[3])) {
    return;
  }
  const std::vector<IntExpr> strides = sizesArg(fusion, args[3]);
  if (strides.size() != rank) {
    refuse(fusion, args, "the number of strides and of dimensions don't match",
           "pass one stride a dimension, or none");
  }
  for (const IntExpr& stride : strides) {
    if (stride.asConstant() != 1) {
      refuse(fusion, args, "strides must be of const size 1", "index the result to skip elements");
    }
  }
}

/// Constants are checked here; bounds known at run time follow Python's rules for slices.
void normalize(const Fusion& fusion, std::vector<Arg>& args) {
  const auto rank = static_cast<size_t>(tensorArg(fusion, args[0]).rank());
  const std::vector<IntExpr> starts = sizesArg(fusion, args[1]);
  const std::vector<IntExpr> ends = sizesArg(fusion, args[2]);
  if (starts.size() != rank || ends.size() != rank) {
    refuse(fusion, args, "the number of indices and of dimensions don't match",
           "pass one start and one end for each dimension");
  }
  checkStrides(fusion, args, rank);
  for (size_t dim = 0; dim < rank; ++dim) {
    const std::optional<int64_t> start = starts[dim].asConstant();
    const std::optional<int64_t> end = ends[dim].asConstant();
    if (start && *start < 0) {
      refuse(fusion, args, "start_indices must be greater than or equal to 0",
             "count from the front");
    }
    if (start && end && *end < *start) {
      refuse(fusion, args, "end_indices must be greater than or equal to start_indices",
             "count from the front, and name the end after the start");
    }
  }
  args[3] = std::monostate();
}

/// A bound as Python's slices take it.
int64_t clampedBound(int64_t bound, int64_t size) {
  return std::clamp<int64_t>(bound < 0 ? bound + size : bound, 0, size);
}

/// The elements taken; symbolic until all of it is known, when bounds are clamped.
IntExpr takenExtent(const IntExpr& start, const IntExpr& end, const IntExpr& size) {
  if (!start.isConstant() || !end.isConstant() || !size.isConstant()) {
    return end - start;
  }
  const int64_t from = clampedBound(start.constant(), size.constant());
  return std::max<int64_t>(clampedBound(end.constant(), size.constant()) - from, 0);
}

/// Whether every element is taken, whatever the size.
bool takesAll(const IntExpr& start, const IntExpr& end, const IntExpr& size) {
  return start.asConstant() == 0 && (end == size || (end.isConstant() && size.isConstant() &&
                                                     end.constant() >= size.constant()));
}

DimMap dimMap(const OpCall& call) {
  const TensorType& tensor = call.tensors[0];
  const std::vector<IntExpr> starts = sizesArg(*call.fusion, call.args[1]);
  const std::vector<IntExpr> ends = sizesArg(*call.fusion, call.args[2]);
  DimMap map;
  map.inputs.emplace_back();
  map.outputs.emplace_back();
  for (size_t dim = 0; dim < starts.size(); ++dim) {
    const IterDomain& domain = tensor.domain[dim];
    const bool isWhole = takesAll(starts[dim], ends[dim], domain.extent);
    if (isWhole && domain.isBroadcast && !domain.isExpanded()) {
      map.inputs[0].emplace_back();
      map.outputs[0].emplace_back();
    } else if (isWhole) {
      map.inputs[0].push_back({map.addFactor(domain.extent)});
      map.outputs[0].push_back(map.inputs[0].back());
    } else {
      const IntExpr extent = takenExtent(starts[dim], ends[dim], domain.extent);
      map.inputs[0].push_back({map.addFactor(domain.extent, FactorRole::Opaque)});
      map.outputs[0].push_back(opaqueDim(map, extent));
    }
  }
  return map;
}

std::vector<OpSample> samples(const OpInfo& /*op*/) {
  return {sampleOf({{6, 4}}, {{}, Ints{0, 1}, Ints{6, 3}}, {0}),
          sampleOf({{6, 4}}, {{}, Ints{2, 0}, Ints{100, 4}}, {0}),
          sampleOf({{5}}, {{}, Ints{5}, Ints{5}}, {0}),
          sampleOf({{2, 3, 6}}, {{}, Ints{0, 0, 0}, Ints{1, 3, 6}}, {0})};
}

}  // namespace

OpInfo info() {
  OpInfo op = structuredOp(
      "slice", "A part of each dimension, from start to end; torch.Tensor.__getitem__ with slices",
      {{"arg", ParamKind::Tensor},
       {"start_indices", ParamKind::Sizes},
       {"end_indices", ParamKind::Sizes},
       {"strides", ParamKind::Sizes, true},
       {"manual_normalization", ParamKind::Bool, true, Scalar(false)}},
      {normalize, dtypeOfFirst, dimMap, always<Algebra::Movement>, samples});
  op.overloads.front().sequencesAlike = true;
  return op;
}

}  // namespace meshfuse::ops::slice
