#include "meshfuse/ops/pad/op.h"

#include "meshfuse/base/error.h"
#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/structured_op.h"

namespace meshfuse::ops::pad {

namespace {

[[noreturn]] void refuse(const Fusion& fusion, const std::vector<Arg>& args, std::string_view rule,
                         const std::string& found, std::string_view wayOut) {
  throwUser(ErrorKind::Runtime, {"pad", rule, found + " for " + describe(fusion, args[0]), wayOut});
}

void checkValue(const Fusion& fusion, const std::vector<Arg>& args) {
  if (!isGiven(args[2])) {
    return;
  }
  checkNumber("pad", fusion, "value", args[2]);
  const ValId* val = std::get_if<ValId>(&args[2]);
  const PrimType type =
      val != nullptr ? fusion.val(*val).dtype() : std::get<Scalar>(args[2]).type();
  if (categoryOf(type) != categoryOf(tensorArg(fusion, args[0]).dtype)) {
    refuse(fusion, args, "Tensor arg and pad value must have the same dtype.",
           "got a value of type " + std::string(nameOf(type)),
           "pass a number of the tensor's category, or a scalar of its type");
  }
}

void normalize(const Fusion& fusion, std::vector<Arg>& args) {
  const size_t count = sizesArg(fusion, args[1]).size();
  const std::string found = "got pad_widths " + sizesText(fusion, args[1]);
  if (count > 2 * static_cast<size_t>(tensorArg(fusion, args[0]).rank())) {
    refuse(fusion, args, "Number of pad widths must be at most twice the number of dimensions",
           found, "pass a front and a back width for the last dimensions");
  }
  if (count % 2 != 0) {
    refuse(fusion, args, "Invalid number of padding widths", found,
           "pass a front and a back width for each dimension");
  }
  checkValue(fusion, args);
}

struct Widths {
  IntExpr front = 0;
  IntExpr back = 0;
};

/// By dimension of the operand.
std::vector<Widths> widthsOf(const OpCall& call) {
  const std::vector<IntExpr> flat = sizesArg(*call.fusion, call.args[1]);
  std::vector<Widths> widths(static_cast<size_t>(call.tensors[0].rank()));
  for (size_t pair = 0; pair < flat.size() / 2; ++pair) {
    widths[widths.size() - 1 - pair] = {flat[2 * pair], flat[2 * pair + 1]};
  }
  return widths;
}

IntExpr paddedExtent(const OpCall& call, const IterDomain& domain, const Widths& widths) {
  const IntExpr extent = domain.extent + widths.front + widths.back;
  if (extent.asConstant().value_or(0) < 0) {
    throwUser(ErrorKind::Runtime, {"pad", "Invalid resized domain extent",
                                   "a dimension of size " + domain.extent.toText() + " becomes " +
                                       extent.toText() + " in " + toText(call.tensors[0]),
                                   "crop at most what is there"});
  }
  return extent;
}

DimMap dimMap(const OpCall& call) {
  const std::vector<Widths> widths = widthsOf(call);
  DimMap map;
  map.inputs.emplace_back();
  map.outputs.emplace_back();
  for (size_t dim = 0; dim < widths.size(); ++dim) {
    const IterDomain& domain = call.tensors[0].domain[dim];
    const bool isWhole = widths[dim].front.asConstant() == 0 && widths[dim].back.asConstant() == 0;
    if (isWhole && domain.isBroadcast && !domain.isExpanded()) {
      map.inputs[0].emplace_back();
      map.outputs[0].emplace_back();
    } else if (isWhole) {
      map.inputs[0].push_back({map.addFactor(domain.extent)});
      map.outputs[0].push_back(map.inputs[0].back());
    } else {
      const IntExpr extent = paddedExtent(call, domain, widths[dim]);
      map.inputs[0].push_back({map.addFactor(domain.extent, FactorRole::Opaque)});
      map.outputs[0].push_back(opaqueDim(map, extent));
    }
  }
  return map;
}

/// The value is added once.
Algebra algebra(const OpCall& /*call*/) { return Algebra::NonLinear; }

std::vector<OpSample> samples(const OpInfo& /*op*/) {
  return {sampleOf({{6, 4}}, {{}, Ints{1, 2}, Scalar(1.5)}, {0}),
          sampleOf({{6, 4}}, {{}, Ints{0, 0, -1, 3}}, {0}),
          sampleOf({{5}}, {{}, Ints{-2, -3}}, {0}), sampleOf({{2, 3}}, {{}, Ints{}}, {0})};
}

}  // namespace

OpInfo info() {
  return structuredOp(
      "pad",
      "Elements of a value added in front of and behind dimensions, the last one first; "
      "torch.nn.functional.pad",
      {{"arg", ParamKind::Tensor},
       {"pad_widths", ParamKind::Sizes},
       {"value", ParamKind::Operand, true}},
      {normalize, dtypeOfFirst, dimMap, algebra, samples});
}

}  // namespace meshfuse::ops::pad
