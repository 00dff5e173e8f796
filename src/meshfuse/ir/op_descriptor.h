// What the IR has to know of an operation: its name and the parameters it is called with.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "meshfuse/ir/ids.h"
#include "meshfuse/types/scalar.h"

namespace meshfuse {

using Ints = std::vector<int64_t>;
/// An entry of a list that holds values of the fusion: one of them, or an integer.
using Item = std::variant<int64_t, ValId>;
using Items = std::vector<Item>;
/// One argument of an operation as the IR stores it: nothing, a value of the fusion, a number, a list of integers, an element
/// type, or a list that holds values of the fusion. (Bools and integers are Scalars.)
using Arg = std::variant<std::monostate, ValId, Scalar, Ints, PrimType, Items>;

/// Same alternative and same content (numbers as Scalar::isSame).
bool isSame(const Arg& a, const Arg& b) noexcept;

/// Calls `visit` with each value of the fusion that the argument names, in order; by reference, for those who rename them.
template <class A, class Visit>
  requires std::same_as<std::remove_const_t<A>, Arg>
void forEachVal(A& arg, Visit visit) {
  if (auto* val = std::get_if<ValId>(&arg)) {
    visit(*val);
  } else if (auto* items = std::get_if<Items>(&arg)) {
    for (auto& item : *items) {
      if (auto* listed = std::get_if<ValId>(&item)) {
        visit(*listed);
      }
    }
  }
}

enum class ParamKind : uint8_t {
  Tensor,   // a tensor of the fusion
  Tensors,  // a list of tensors
  Operand,  // a tensor, a scalar of the fusion, or a number
  Value,    // a scalar or a 0-d tensor of the fusion
  Int,      // an integer
  Ints,     // a list of integers
  Size,     // an integer, or an integer scalar of the fusion
  Sizes,    // a list of integers and integer scalars of the fusion; Ints when all are constants
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
  /// How many of the last parameters may only be passed by keyword.
  size_t keywordOnly = 0;
  /// Whether the call's sequences are all lists or all tuples.
  bool sequencesAlike = false;
  /// How many results the language names that this library never has: None, after the outputs.
  size_t absentResults = 0;
};

/// Name and calls of an operation. `params` is the form the IR stores and prints; `overloads` are the forms a user may write.
/// An overload's parameter feeds the stored parameter of the same name, or of `Param.name` + "s" for a single integer
/// (`dim` feeds `dims`). Its kind may be narrower than the stored one's (a Value feeds an Operand or a Size).
struct OpDescriptor {
  std::string_view name;
  std::vector<Param> params;
  std::vector<Overload> overloads;
  size_t outputCount = 1;
};

}  // namespace meshfuse
