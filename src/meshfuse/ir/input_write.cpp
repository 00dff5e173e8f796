#include "meshfuse/ir/input_write.h"

#include <optional>
#include <string>

#include "meshfuse/base/error.h"
#include "meshfuse/ir/fusion.h"

namespace meshfuse {

namespace {

std::string typeText(const Fusion& fusion, ValId id) {
  return "'" + fusion.nameOf(id) + "' of type " + toText(fusion.val(id).tensor());
}

[[noreturn]] void refuse(const Fusion& fusion, ValId value, ValId input, std::string_view rule,
                         std::string_view wayOut) {
  throwUser(
      ErrorKind::Runtime,
      {"add_output", rule,
       "got " + typeText(fusion, value) + " for the input " + typeText(fusion, input), wayOut});
}

bool differ(const IntExpr& a, const IntExpr& b) {
  const std::optional<int64_t> first = a.asConstant();
  const std::optional<int64_t> second = b.asConstant();
  return first && second && *first != *second;
}

}  // namespace

void checkInputWrite(const Fusion& fusion, ValId value, ValId input) {
  for (ValId id : {value, input}) {
    if (!fusion.val(id).isTensor()) {
      throwUser(ErrorKind::Type, {"add_output", "a tensor is written into a tensor input",
                                  "'" + fusion.nameOf(id) + "' is a scalar",
                                  "pass tensors; a number becomes one with fd.ops.full"});
    }
  }
  if (!fusion.isInput(input)) {
    throwUser(
        ErrorKind::Runtime,
        {"add_output", "alias_input is an input of the definition",
         "got " + typeText(fusion, input) + ", which is computed",
         "pass what define_tensor gave, or leave alias_input out and use the returned tensor"});
  }
  const TensorType& from = fusion.val(value).tensor();
  const TensorType& to = fusion.val(input).tensor();
  if (from.dtype != to.dtype) {
    refuse(fusion, value, input, "a value has the element type of the input it is written into",
           "convert it with fd.ops.cast");
  }
  bool fits = from.rank() == to.rank();
  for (size_t dim = 0; fits && dim < from.domain.size(); ++dim) {
    fits = !differ(from.domain[dim].extent, to.domain[dim].extent);
  }
  if (!fits) {
    refuse(fusion, value, input, "a value has the sizes of the input it is written into",
           "bring it to these sizes first, with broadcast_in_dim, expand or reshape");
  }
}

}  // namespace meshfuse
