// What the IR has to know of an operation: its name and the parameters it is called with.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "meshfuse/ir/ids.h"
#include "meshfuse/types/scalar.h"

namespace meshfuse {

/// One argument of an operation as the IR stores it: nothing, a value of the fusion, a number, a list of integers, or an
/// element type. (Bools and integers are Scalars.)
using Ints = std::vector<int64_t>;
using Arg = std::variant<std::monostate, ValId, Scalar, Ints, PrimType>;

/// Same alternative and same content (numbers as Scalar::isSame).
bool isSame(const Arg& a, const Arg& b) noexcept;

enum class ParamKind : uint8_t {
  Tensor,   // a tensor of the fusion
  Operand,  // a tensor, a scalar of the fusion, or a number
  Int,      // an integer
  Ints,     // a list of integers
  Bool,
  DataType,
};

/// One parameter. Optional ones have a default; std::monostate stands for "None"/"not given".
struct Param {
  std::string_view name;
  ParamKind kind;
  bool optional = false;
  Arg defaultValue = {};
};

/// One way to call an op: parameters in order, and how many of them may only be passed by position.
struct Overload {
  std::vector<Param> params;
  size_t positionalOnly = 0;
};

/// Name and calls of an operation. `params` is the form the IR stores and prints; `overloads` are the forms a user may write.
/// An overload's parameter feeds the stored parameter of the same name, or of `Param.name` + "s" for a single integer
/// (`dim` feeds `dims`).
struct OpDescriptor {
  std::string_view name;
  std::vector<Param> params;
  std::vector<Overload> overloads;
  size_t outputCount = 1;
};

}  // namespace meshfuse
