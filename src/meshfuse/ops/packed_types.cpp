#include "meshfuse/ops/packed_types.h"

#include <algorithm>
#include <array>
#include <string>

#include "meshfuse/base/error.h"
#include "meshfuse/ops/arguments.h"

namespace meshfuse {

namespace {

/// What moves elements though its algebra, which is about its other operands, does not show it, and what makes packed ones.
constexpr std::array<std::string_view, 8> kMoversAndMakers = {
    "cast",   "gather", "index_select",   "nv_block_quantize", "nv_grouped_block_quantize",
    "select", "where",  "take_along_axis"};

bool movesOrMakes(const OpCall& call) {
  return call.op->algebra(call) == Algebra::Movement ||
         std::ranges::find(kMoversAndMakers, call.op->name) != kMoversAndMakers.end();
}

}  // namespace

int64_t packedDim(std::span<const int64_t> strideOrder, int64_t rank) {
  const auto innermost = std::ranges::find(strideOrder, 0);
  return innermost == strideOrder.end() ? rank - 1 : innermost - strideOrder.begin();
}

int64_t packedDim(const Fusion& fusion, ValId val) {
  const Val& value = fusion.val(val);
  const TensorType& type = value.tensor();
  if (value.definition == kNoExpr) {
    return packedDim(type.strideOrder, type.rank());
  }
  const Expr& expr = fusion.expr(value.definition);
  if (expr.op->name == "stride_order") {
    return packedDim(intsArg(expr.args[1]), type.rank());
  }
  const bool isCopy = expr.op->name == "set" || expr.op->name == "segment_set";
  const bool isPermutation = expr.op->name == "permute";
  if (!isCopy && !isPermutation) {
    return type.rank() - 1;
  }
  const int64_t dim = packedDim(fusion, std::get<ValId>(expr.args[0]));
  if (isCopy) {
    return dim;
  }
  const Ints& dims = intsArg(expr.args[1]);
  return std::ranges::find(dims, dim) - dims.begin();
}

void checkPackedResults(const OpCall& call, std::span<const PrimType> results) {
  if (std::ranges::find(results, PrimType::Float4_e2m1fn_x2) != results.end()) {
    throwUser(ErrorKind::Runtime,
              {call.op->name, "Float4_e2m1fn_x2 is how inputs may be stated, with half their size",
               "got it as the type of a result", "name DataType.Float4_e2m1fn"});
  }
  if (std::ranges::find(results, PrimType::Float4_e2m1fn) == results.end() || movesOrMakes(call)) {
    return;
  }
  throwUser(ErrorKind::Runtime,
            {call.op->name, "packed 4-bit floats are moved and cast, not computed with",
             "the result would be of Float4_e2m1fn",
             "cast the operands to DataType.Float, and the result back"});
}

void checkPackable(std::string_view op, const std::string& described,
                   std::span<const int64_t> sizes, int64_t dim) {
  if (sizes.empty()) {
    throwUser(ErrorKind::Runtime, {op, "a tensor of packed 4-bit floats has at least one dimension",
                                   "got " + described, "give it the dimension that is packed"});
  }
  const int64_t size = sizes[static_cast<size_t>(dim)];
  if (size > 0 && size % 2 != 0) {
    throwUser(ErrorKind::Runtime,
              {op, "the packed dimension of 4-bit floats holds two elements a byte",
               "got " + described + " with size " + std::to_string(size) + " in dimension " +
                   std::to_string(dim),
               "pad it to an even size"});
  }
}

}  // namespace meshfuse
