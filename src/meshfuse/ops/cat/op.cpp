#include "meshfuse/ops/cat/op.h"

#include "meshfuse/base/error.h"
#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/infer.h"
#include "meshfuse/ops/structured_op.h"

namespace meshfuse::ops::cat {

namespace {

[[noreturn]] void refuse(std::string_view rule, const std::string& found, std::string_view wayOut) {
  throwUser(ErrorKind::Runtime, {"cat", rule, found, wayOut});
}

/// The pad that gave a tensor; null for one that has another origin.
const Expr* padOf(const Fusion& fusion, ValId tensor) {
  const ExprId definition = fusion.val(tensor).definition;
  const Expr* expr = definition == kNoExpr ? nullptr : &fusion.expr(definition);
  return expr != nullptr && expr->op->name == "pad" ? expr : nullptr;
}

/// Whether a pad widens one dimension alone, by `before` in front.
bool padsAlone(const Fusion& fusion, const Expr& pad, int64_t dim, const IntExpr& before) {
  const std::vector<IntExpr> widths = sizesArg(fusion, pad.args[1]);
  const size_t front = 2 * static_cast<size_t>(tensorArg(fusion, pad.args[0]).rank() - 1 - dim);
  if (front + 1 >= widths.size() || widths[front] != before) {
    return false;
  }
  for (size_t i = 0; i < widths.size(); ++i) {
    if (i != front && i != front + 1 && widths[i] != IntExpr(0)) {
      return false;
    }
  }
  return true;
}

/// In place of tensors padded to the whole size, each around its own part, the tensors themselves.
void takeOffPadding(const Fusion& fusion, std::vector<Arg>& args, int64_t dim) {
  Items& items = std::get<Items>(args[0]);
  const auto along = static_cast<size_t>(dim);
  const auto extentOf = [&](const Arg& tensor) {
    return tensorArg(fusion, tensor).domain[along].extent;
  };
  const IntExpr total = extentOf(std::get<ValId>(items.front()));
  IntExpr before = 0;
  for (Item& item : items) {
    const ValId padded = std::get<ValId>(item);
    const Expr* pad = padOf(fusion, padded);
    if (pad == nullptr || extentOf(padded) != total || !padsAlone(fusion, *pad, dim, before)) {
      refuse("with manual_padding each tensor is the result of pad to the whole size",
             "got " + describe(fusion, padded) + " where one padded by " + before.toText() +
                 " in front of dimension " + std::to_string(dim) + ", to size " + total.toText() +
                 ", is expected",
             "pass the tensors without padding, and manual_padding=False");
    }
    before = before + extentOf(pad->args[0]);
    item = std::get<ValId>(pad->args[0]);
  }
  if (before != total) {
    refuse("with manual_padding the tensors' own parts make up the whole size",
           "got parts of size " + before.toText() + " together for size " + total.toText(),
           "pass the tensors without padding, and manual_padding=False");
  }
}

void normalize(const Fusion& fusion, std::vector<Arg>& args) {
  const std::vector<TensorType> tensors = tensorOperands(fusion, args);
  if (tensors.empty()) {
    refuse("No input tensor given", "got []", "pass at least one tensor");
  }
  const int64_t rank = tensors.front().rank();
  for (const TensorType& tensor : tensors) {
    if (tensor.rank() != rank) {
      refuse("Unexpected number of dimensions",
             "got " + toText(tensors.front()) + " and " + toText(tensor),
             "pass tensors of one rank");
    }
  }
  const int64_t dim = intArg(args[1]);
  if (dim < -rank || dim >= rank) {
    refuse("Invalid dimension to cat",
           "got dim " + std::to_string(dim) + " for tensors of rank " + std::to_string(rank),
           "name one of their dimensions");
  }
  args[1] = Scalar(dim < 0 ? dim + rank : dim);
  checkSameDtype("cat", tensors);
  if (boolArg(args[2])) {
    takeOffPadding(fusion, args, intArg(args[1]));
    args[2] = Scalar(false);
  }
}

/// The dimension along which the tensors follow each other, whole in each.
DimFactors joinedDim(const OpCall& call, DimMap& map, size_t dim) {
  IntExpr total = 0;
  for (size_t i = 0; i < call.tensors.size(); ++i) {
    const IntExpr& extent = call.tensors[i].domain[dim].extent;
    map.inputs[i][dim] = {map.addFactor(extent, FactorRole::Opaque)};
    total = total + extent;
  }
  return opaqueDim(map, total);
}

/// Any other dimension: the same in all. Declared broadcasts do not stretch here.
DimFactors commonDim(const OpCall& call, DimMap& map, size_t dim) {
  IntExpr extent = call.tensors[0].domain[dim].extent;
  for (const TensorType& tensor : call.tensors) {
    extent =
        unifyExtents(extent, tensor.domain[dim].extent, "cat", "dimension " + std::to_string(dim));
  }
  const DimFactors factors{map.addFactor(extent)};
  for (std::vector<DimFactors>& input : map.inputs) {
    input[dim] = factors;
  }
  return factors;
}

DimMap dimMap(const OpCall& call) {
  const auto rank = static_cast<size_t>(call.tensors[0].rank());
  const auto joined = static_cast<size_t>(intArg(call.args[1]));
  DimMap map;
  map.inputs.assign(call.tensors.size(), std::vector<DimFactors>(rank));
  map.outputs.emplace_back();
  for (size_t dim = 0; dim < rank; ++dim) {
    map.outputs[0].push_back(dim == joined ? joinedDim(call, map, dim) : commonDim(call, map, dim));
  }
  return map;
}

/// Partial values of all operands together are partial values of the result.
Algebra algebra(const OpCall& /*call*/) { return Algebra::Movement; }

OpSample sample(const std::vector<std::vector<int64_t>>& sizes, int64_t dim) {
  OpSample result = sampleOf(sizes, {{}, Scalar(dim), Scalar(false)}, {});
  result.tensorArgs.assign(sizes.size(), 0);
  return result;
}

std::vector<OpSample> samples(const OpInfo& /*op*/) {
  return {sample({{6, 4}, {3, 4}}, 0), sample({{6, 4}, {6, 1}, {6, 5}}, 1), sample({{6}}, 0),
          sample({{0, 6}, {2, 6}}, 0)};
}

}  // namespace

OpInfo info() {
  return structuredOp("cat", "The tensors one after the other along a dimension; torch.cat",
                      {{"tensors", ParamKind::Tensors},
                       {"dim", ParamKind::Int, true, Scalar(0)},
                       {"manual_padding", ParamKind::Bool, true, Scalar(false)}},
                      {normalize, dtypeOfFirst, dimMap, algebra, samples});
}

}  // namespace meshfuse::ops::cat
