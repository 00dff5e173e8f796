// Binding the arguments of a Python call to the parameters of an operation.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include <Python.h>

#include "meshfuse/frontend/fusion_definition.h"
#include "meshfuse/ops/op_info.h"

namespace meshfuse {

/// The arguments of a vectorcall: `positional` ones, then one for each name of the tuple `names` (null for none).
struct PythonCall {
  PyObject* const* args;
  size_t positional;
  PyObject* names;
};

/// A call that fits: the arguments as the op stores them, and the way it was called.
struct ParsedCall {
  std::vector<Arg> args;
  const Overload* overload;
};

/// The calls that an operation accepts, prepared for matching. Built from the op table, and works for any row of it.
class CallParser {
 public:
  explicit CallParser(const OpInfo& op);

  /// The call by the first overload that fits; parameters that are not given are left for addCall to complete. Throws
  /// UserError(Type) "incompatible function arguments" where none fits, UserError(Runtime) for a value of a definition other
  /// than `definition`.
  ParsedCall parse(const FusionDefinition& definition, const PythonCall& call) const;

 private:
  static constexpr size_t kMaxParams = 24;
  using Given = std::array<PyObject*, kMaxParams>;

  struct Form {
    const Overload* overload = nullptr;
    std::vector<PyObject*> names;  // interned, one a parameter
    std::vector<size_t> stored;    // where each parameter is stored
    std::vector<bool> inList;      // whether it is stored as a list of one
  };

  Form makeForm(const Overload& overload) const;
  static bool collect(const Form& form, const PythonCall& call, Given& given);
  bool convert(const Form& form, const FusionDefinition& definition, const Given& given,
               std::vector<Arg>& out) const;

  const OpInfo& op_;
  std::vector<Form> forms_;
};

/// What Python and numpy call an integer, a real or a complex number; a bool is an integer. nullopt for anything else and for
/// integers beyond 64 bits.
std::optional<Scalar> numberOf(PyObject* object);

}  // namespace meshfuse
