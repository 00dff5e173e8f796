// Binding the arguments of a Python call to the parameters of an operation.
#include "meshfuse/frontend/python/parse_arguments.h"

#include <algorithm>
#include <string>

#include <nanobind/nanobind.h>

#include "meshfuse/base/error.h"
#include "meshfuse/frontend/python/call_text.h"
#include "meshfuse/frontend/python/value_objects.h"

namespace nb = nanobind;

namespace meshfuse {
namespace {

std::optional<Scalar> integerOf(PyObject* object) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow != 0 || (value == -1 && PyErr_Occurred() != nullptr)) {
    PyErr_Clear();
    return std::nullopt;
  }
  return Scalar(static_cast<int64_t>(value));
}

/// Whether the object is registered as a number of that kind, as numpy's are (and tensors are not).
bool isRegisteredAs(PyObject* object, const char* kind) {
  const int result = PyObject_IsInstance(object, nb::module_::import_("numbers").attr(kind).ptr());
  if (result < 0) {
    throw nb::python_error();
  }
  return result == 1;
}

std::optional<Scalar> registeredNumberOf(PyObject* object) {
  if (PyObject_HasAttrString(reinterpret_cast<PyObject*>(Py_TYPE(object)), "__complex__") == 0 &&
      PyNumber_Check(object) == 0) {
    return std::nullopt;
  }
  if (isRegisteredAs(object, "Integral")) {
    const auto integer = nb::steal(PyNumber_Index(object));
    if (!integer.is_valid()) {
      throw nb::python_error();
    }
    return integerOf(integer.ptr());
  }
  if (isRegisteredAs(object, "Real")) {
    const double value = PyFloat_AsDouble(object);
    if (value == -1.0 && PyErr_Occurred() != nullptr) {
      throw nb::python_error();
    }
    return Scalar(value);
  }
  if (isRegisteredAs(object, "Complex")) {
    const Py_complex value = PyComplex_AsCComplex(object);
    if (value.real == -1.0 && PyErr_Occurred() != nullptr) {
      throw nb::python_error();
    }
    return Scalar(Scalar::Complex(value.real, value.imag));
  }
  return std::nullopt;
}

std::optional<int64_t> intOf(PyObject* object) {
  if (PyFloat_Check(object) != 0 || PyComplex_Check(object) != 0) {
    return std::nullopt;
  }
  const std::optional<Scalar> number = numberOf(object);
  return number && number->isInt() ? std::optional(number->toInt()) : std::nullopt;
}

std::optional<Ints> intsOf(PyObject* object) {
  const bool isList = PyList_Check(object) != 0;
  if (!isList && PyTuple_Check(object) == 0) {
    return std::nullopt;
  }
  const Py_ssize_t size = isList ? PyList_GET_SIZE(object) : PyTuple_GET_SIZE(object);
  Ints ints;
  ints.reserve(static_cast<size_t>(size));
  for (Py_ssize_t i = 0; i < size; ++i) {
    const std::optional<int64_t> item =
        intOf(isList ? PyList_GET_ITEM(object, i) : PyTuple_GET_ITEM(object, i));
    if (!item) {
      return std::nullopt;
    }
    ints.push_back(*item);
  }
  return ints;
}

/// The elements of a list or tuple, borrowed; nothing for another object.
std::optional<std::span<PyObject*>> elementsOf(PyObject* object) {
  if (PyList_Check(object) == 0 && PyTuple_Check(object) == 0) {
    return std::nullopt;
  }
  return std::span(PySequence_Fast_ITEMS(object),
                   static_cast<size_t>(PySequence_Fast_GET_SIZE(object)));
}

template <class T>
std::optional<Arg> argOrNothing(std::optional<T> value) {
  return value ? std::optional<Arg>(std::move(*value)) : std::nullopt;
}

/// A value of the definition, or nothing for an object that is none or, if `tensorOnly`, no tensor.
std::optional<Arg> valueArg(const OpInfo& op, const FusionDefinition& definition, PyObject* object,
                            bool tensorOnly) {
  const ValueObject* value = valueOf(object);
  if (value == nullptr) {
    return std::nullopt;
  }
  const ValueHandle handle(*value->definition, value->id);
  if (tensorOnly && !handle.isTensor()) {
    return std::nullopt;
  }
  return definition.argOf(op.name, handle);
}

/// A scalar of the definition.
std::optional<Arg> scalarArg(const OpInfo& op, const FusionDefinition& definition,
                             PyObject* object) {
  const ValueObject* value = valueOf(object);
  const bool isScalar = value != nullptr && !ValueHandle(*value->definition, value->id).isTensor();
  return isScalar ? valueArg(op, definition, object, /*tensorOnly=*/false) : std::nullopt;
}

/// A list of tensors of the definition.
std::optional<Arg> tensorsArg(const OpInfo& op, const FusionDefinition& definition,
                              PyObject* object) {
  const auto elements = elementsOf(object);
  if (!elements) {
    return std::nullopt;
  }
  Items items;
  for (PyObject* element : *elements) {
    const std::optional<Arg> value = valueArg(op, definition, element, /*tensorOnly=*/true);
    if (!value) {
      return std::nullopt;
    }
    items.emplace_back(std::get<ValId>(*value));
  }
  return Arg(std::move(items));
}

/// A list of integers and scalars of the definition.
std::optional<Arg> sizesArg(const OpInfo& op, const FusionDefinition& definition,
                            PyObject* object) {
  const auto elements = elementsOf(object);
  if (!elements) {
    return std::nullopt;
  }
  Items items;
  for (PyObject* element : *elements) {
    if (const std::optional<Arg> value = scalarArg(op, definition, element)) {
      items.emplace_back(std::get<ValId>(*value));
    } else if (const std::optional<int64_t> number = intOf(element)) {
      items.emplace_back(*number);
    } else {
      return std::nullopt;
    }
  }
  return Arg(std::move(items));
}

/// Whether the sequences among the arguments are all lists or all tuples.
bool areSequencesAlike(std::span<PyObject* const> given) {
  bool hasList = false;
  bool hasTuple = false;
  for (PyObject* object : given) {
    hasList = hasList || (object != nullptr && PyList_Check(object) != 0);
    hasTuple = hasTuple || (object != nullptr && PyTuple_Check(object) != 0);
  }
  return !hasList || !hasTuple;
}

/// The object as an argument for the parameter; nothing if it does not fit.
std::optional<Arg> argFor(const OpInfo& op, const Param& param, const FusionDefinition& definition,
                          PyObject* object) {
  if (object == Py_None) {
    const bool mayBeNone =
        param.optional && std::holds_alternative<std::monostate>(param.defaultValue);
    return mayBeNone ? std::optional<Arg>(Arg()) : std::nullopt;
  }
  switch (param.kind) {
    case ParamKind::Tensor:
      return valueArg(op, definition, object, /*tensorOnly=*/true);
    case ParamKind::Tensors:
      return tensorsArg(op, definition, object);
    case ParamKind::Value:
      return valueArg(op, definition, object, /*tensorOnly=*/false);
    case ParamKind::Size:
      if (std::optional<Arg> scalar = scalarArg(op, definition, object)) {
        return scalar;
      }
      return argOrNothing(numberOf(object));
    case ParamKind::Sizes:
      if (std::optional<Ints> ints = intsOf(object)) {
        return Arg(std::move(*ints));
      }
      return sizesArg(op, definition, object);
    case ParamKind::Operand:
      if (std::optional<Arg> value = valueArg(op, definition, object, /*tensorOnly=*/false)) {
        return value;
      }
      return argOrNothing(numberOf(object));
    case ParamKind::Int:
      if (const std::optional<int64_t> integer = intOf(object)) {
        return Arg(Scalar(*integer));
      }
      return std::nullopt;
    case ParamKind::Ints:
      return argOrNothing(intsOf(object));
    case ParamKind::Bool:
      return PyBool_Check(object) != 0 ? std::optional<Arg>(Scalar(object == Py_True))
                                       : std::nullopt;
    case ParamKind::DataType: {
      PrimType dtype = PrimType::Null;
      return nb::try_cast(nb::handle(object), dtype, false) ? std::optional<Arg>(dtype)
                                                            : std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Scalar> numberOf(PyObject* object) {
  if (PyFloat_Check(object) != 0) {
    return Scalar(PyFloat_AS_DOUBLE(object));
  }
  if (PyLong_Check(object) != 0) {
    return integerOf(object);
  }
  if (PyComplex_Check(object) != 0) {
    const Py_complex value = PyComplex_AsCComplex(object);
    return Scalar(Scalar::Complex(value.real, value.imag));
  }
  return registeredNumberOf(object);
}

CallParser::CallParser(const OpInfo& op) : op_(op) {
  for (const Overload& overload : op.overloads) {
    forms_.push_back(makeForm(overload));
  }
}

CallParser::Form CallParser::makeForm(const Overload& overload) const {
  internalCheck(overload.params.size() <= kMaxParams,
                "an operation has a moderate number of parameters");
  Form form{&overload, {}, {}, {}};
  for (const Param& param : overload.params) {
    auto stored = std::ranges::find(op_.params, param.name, &Param::name);
    if (stored == op_.params.end()) {
      stored = std::ranges::find(op_.params, std::string(param.name) + "s", &Param::name);
    }
    internalCheck(stored != op_.params.end(), "each parameter of a call feeds a stored one");
    form.names.push_back(PyUnicode_InternFromString(std::string(param.name).c_str()));
    form.stored.push_back(static_cast<size_t>(stored - op_.params.begin()));
    form.inList.push_back(param.kind == ParamKind::Int && stored->kind == ParamKind::Ints);
  }
  return form;
}

/// Puts each argument at its parameter, null where there is none; false if the names or the count do not fit.
bool CallParser::collect(const Form& form, const PythonCall& call, Given& given) {
  const std::vector<Param>& params = form.overload->params;
  const size_t named =
      call.names == nullptr ? 0 : static_cast<size_t>(PyTuple_GET_SIZE(call.names));
  if (call.positional > params.size() - form.overload->keywordOnly) {
    return false;
  }
  std::ranges::fill(given, nullptr);
  std::copy_n(call.args, call.positional, given.begin());
  for (size_t i = 0; i < named; ++i) {
    PyObject* name = PyTuple_GET_ITEM(call.names, static_cast<Py_ssize_t>(i));
    // Keywords in source text are interned, so the same name is nearly always the same object.
    const auto isName = [name](PyObject* own) {
      return own == name || PyUnicode_Compare(own, name) == 0;
    };
    const auto found = std::ranges::find_if(form.names, isName);
    const auto index = static_cast<size_t>(found - form.names.begin());
    if (found == form.names.end() || index < form.overload->positionalOnly ||
        given[index] != nullptr) {
      return false;
    }
    given[index] = call.args[call.positional + i];
  }
  return true;
}

bool CallParser::convert(const Form& form, const FusionDefinition& definition, const Given& given,
                         std::vector<Arg>& out) const {
  const std::vector<Param>& params = form.overload->params;
  for (size_t i = 0; i < params.size(); ++i) {
    if (given[i] == nullptr) {
      if (!params[i].optional) {
        return false;
      }
      continue;
    }
    std::optional<Arg> arg = argFor(op_, params[i], definition, given[i]);
    if (!arg) {
      return false;
    }
    out[form.stored[i]] =
        form.inList[i] ? Arg(Ints{std::get<Scalar>(*arg).toInt()}) : std::move(*arg);
  }
  return true;
}

ParsedCall CallParser::parse(const FusionDefinition& definition, const PythonCall& call) const {
  Given given;
  for (const Form& form : forms_) {
    std::vector<Arg> out(op_.params.size());
    if (collect(form, call, given) &&
        (!form.overload->sequencesAlike || areSequencesAlike(given)) &&
        convert(form, definition, given, out)) {
      return {std::move(out), form.overload};
    }
  }
  refuseCall(op_, call);
}

}  // namespace meshfuse
