#include "meshfuse/ops/reshape/op.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>

#include "meshfuse/base/error.h"
#include "meshfuse/base/text.h"
#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/structured_op.h"

namespace meshfuse::ops::reshape {

namespace {

bool isInferred(const IntExpr& size) { return size.asConstant() == -1; }

void normalize(const Fusion& fusion, std::vector<Arg>& args) {
  checkSizes("reshape", fusion, args[1], -1);
  if (std::ranges::count_if(sizesArg(fusion, args[1]), isInferred) > 1) {
    throwUser(ErrorKind::Runtime,
              {"reshape", "A maximum of one value of -1",
               "got " + sizesText(fusion, args[1]) + " for " + describe(fusion, args[0]),
               "give all sizes but one"});
  }
}

[[noreturn]] void refuseCount(const OpCall& call) {
  throwUser(ErrorKind::Runtime, {"reshape", "Total element counts across view operation must match",
                                 "got " + sizesText(*call.fusion, call.args[1]) +
                                     " for a tensor of type " + toText(call.tensors[0]),
                                 "give sizes whose product is the operand's element count"});
}

IntExpr elementCount(const TensorType& tensor) {
  IntExpr count = 1;
  for (const IterDomain& domain : tensor.domain) {
    count = count * domain.extent;
  }
  return count;
}

/// The sizes with -1 replaced; checks the element count where it is known.
std::vector<IntExpr> outputExtents(const OpCall& call) {
  const std::vector<IntExpr> shape = sizesArg(*call.fusion, call.args[1]);
  const IntExpr count = elementCount(call.tensors[0]);
  IntExpr known = 1;
  for (const IntExpr& size : shape) {
    known = isInferred(size) ? known : known * size;
  }
  const bool infers = std::ranges::any_of(shape, isInferred);
  const std::optional<int64_t> total = count.asConstant();
  const std::optional<int64_t> given = known.asConstant();
  if (total && given) {
    const bool fits = infers ? *given != 0 && *total % *given == 0 : *total == *given;
    if (!fits) {
      refuseCount(call);
    }
  }
  std::vector<IntExpr> extents;
  for (const IntExpr& size : shape) {
    extents.push_back(!isInferred(size) ? size : given == 0 ? IntExpr(0) : floorDiv(count, known));
  }
  return extents;
}

/// The strides at which dimensions of these sizes begin, outermost first, down to 1.
std::vector<int64_t> cuts(const std::vector<int64_t>& sizes) {
  std::vector<int64_t> strides{1};
  for (auto size = sizes.rbegin(); size != sizes.rend(); ++size) {
    strides.push_back(strides.back() * *size);
  }
  return strides;
}

/// The factor extents, outermost first, of which every dimension on both sides is a product of neighbours; nullopt if the
/// dimensions interleave.
std::optional<std::vector<int64_t>> commonRefinement(const std::vector<int64_t>& from,
                                                     const std::vector<int64_t>& to) {
  std::vector<int64_t> strides = cuts(from);
  for (int64_t stride : cuts(to)) {
    strides.push_back(stride);
  }
  std::ranges::sort(strides, std::greater<>());
  strides.erase(std::ranges::unique(strides).begin(), strides.end());
  std::vector<int64_t> factors;
  for (size_t i = 1; i < strides.size(); ++i) {
    if (strides[i - 1] % strides[i] != 0) {
      return std::nullopt;
    }
    factors.push_back(strides[i - 1] / strides[i]);
  }
  return factors;
}

/// Splits dimensions of `sizes` over factors numbered from `first`, in order.
std::vector<DimFactors> splitOver(const DimMap& map, const std::vector<int64_t>& sizes,
                                  int32_t first) {
  std::vector<DimFactors> dims;
  for (int64_t size : sizes) {
    DimFactors& factors = dims.emplace_back();
    for (int64_t done = 1; done < size; ++first) {
      factors.push_back(first);
      done *= map.factors[static_cast<size_t>(first)].extent.constant();
    }
  }
  return dims;
}

/// Interleaved dimensions: only the common part of the outermost ones is independent, the rest is opaque.
std::vector<DimFactors> opaqueAfter(DimMap& map, const std::vector<int64_t>& sizes, int32_t major,
                                    int64_t majorExtent) {
  std::vector<DimFactors> dims;
  for (size_t i = 0; i < sizes.size(); ++i) {
    DimFactors& factors = dims.emplace_back();
    int64_t rest = sizes[i];
    if (major >= 0) {
      if (i == 0) {
        factors.push_back(major);
        rest /= majorExtent;
      }
    }
    if (rest != 1) {
      factors.push_back(map.addFactor(rest, FactorRole::Opaque));
    }
  }
  return dims;
}

std::vector<int64_t> constants(const std::vector<IntExpr>& extents) {
  std::vector<int64_t> sizes;
  for (const IntExpr& extent : extents) {
    sizes.push_back(extent.constant());
  }
  return sizes;
}

DimMap constantMap(const std::vector<int64_t>& from, const std::vector<int64_t>& to) {
  DimMap map;
  const bool isEmpty = std::ranges::count(from, 0) > 0;
  if (const auto factors = isEmpty ? std::nullopt : commonRefinement(from, to)) {
    for (int64_t extent : *factors) {
      map.addFactor(extent);
    }
    map.inputs = {splitOver(map, from, 0)};
    map.outputs = {splitOver(map, to, 0)};
    return map;
  }
  const int64_t shared = isEmpty ? 1 : std::gcd(from.front(), to.front());
  const int32_t major = shared > 1 ? map.addFactor(shared) : -1;
  map.inputs = {opaqueAfter(map, from, major, shared)};
  map.outputs = {opaqueAfter(map, to, major, shared)};
  return map;
}

DimMap dimMap(const OpCall& call) {
  const TensorType& tensor = call.tensors[0];
  const std::vector<IntExpr> to = outputExtents(call);
  std::vector<IntExpr> from;
  for (const IterDomain& domain : tensor.domain) {
    from.push_back(domain.extent);
  }
  const auto isConstant = [](const IntExpr& extent) { return extent.isConstant(); };
  if (std::ranges::all_of(from, isConstant) && std::ranges::all_of(to, isConstant)) {
    return constantMap(constants(from), constants(to));
  }
  // Symbolic sizes: only the output's sizes are wanted; the sizes of one call decide the rest.
  DimMap map;
  map.inputs.emplace_back();
  map.outputs.emplace_back();
  for (const IntExpr& extent : from) {
    map.inputs[0].push_back(extent == IntExpr(1)
                                ? DimFactors{}
                                : DimFactors{map.addFactor(extent, FactorRole::Opaque)});
  }
  for (const IntExpr& extent : to) {
    map.outputs[0].push_back(extent == IntExpr(1)
                                 ? DimFactors{}
                                 : DimFactors{map.addFactor(extent, FactorRole::Opaque)});
  }
  return map;
}

std::vector<OpSample> samples(const OpInfo& /*op*/) {
  const auto sample = [](std::vector<int64_t> from, Ints to) {
    return sampleOf({std::move(from)}, {{}, std::move(to)}, {0});
  };
  return {sample({6, 4}, {24}),     sample({12, 2}, {6, 2, 2}), sample({6, 4}, {4, 6}),
          sample({12, 8}, {16, 6}), sample({2, 3, 4}, {6, -1}), sample({5, 2}, {1, 10}),
          sample({0, 4}, {2, 0}),   sample({4, 6}, {8, 3})};
}

}  // namespace

OpInfo info() {
  return structuredOp(
      "reshape",
      "The same elements in row-major order under other sizes, one of which may be -1; "
      "torch.reshape",
      {{"arg", ParamKind::Tensor}, {"new_shape", ParamKind::Sizes}},
      {normalize, dtypeOfFirst, dimMap, always<Algebra::Movement>, samples});
}

}  // namespace meshfuse::ops::reshape
