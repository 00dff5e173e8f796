// The text of calls: signatures of operations, and the error for arguments that fit none.
#include "meshfuse/frontend/python/call_text.h"

#include <string_view>
#include <vector>

#include <nanobind/nanobind.h>

#include "meshfuse/base/error.h"
#include "meshfuse/base/text.h"
#include "meshfuse/frontend/python/value_objects.h"

namespace nb = nanobind;

namespace meshfuse {
namespace {

constexpr size_t kLongestArgument = 60;

std::string_view typeText(ParamKind kind) {
  switch (kind) {
    case ParamKind::Tensor:
      return "TensorView";
    case ParamKind::Tensors:
      return "list[TensorView] | tuple[TensorView, ...]";
    case ParamKind::Value:
      return "Scalar | TensorView";
    case ParamKind::Size:
      return "int | Scalar";
    case ParamKind::Sizes:
      return "list[int | Scalar] | tuple[int | Scalar, ...]";
    case ParamKind::Operand:
      return "TensorView | Scalar | number";
    case ParamKind::Int:
      return "int";
    case ParamKind::Ints:
      return "list[int] | tuple[int, ...]";
    case ParamKind::Bool:
      return "bool";
    case ParamKind::DataType:
      return "DataType";
  }
  throwInternal("the parameter kind is one of the list");
}

std::string reprOf(PyObject* object) {
  const auto text = nb::steal(PyObject_Repr(object));
  if (!text.is_valid()) {
    PyErr_Clear();
    return std::string("a ") + Py_TYPE(object)->tp_name;
  }
  const char* chars = PyUnicode_AsUTF8(text.ptr());
  if (chars == nullptr) {
    PyErr_Clear();
    return std::string("a ") + Py_TYPE(object)->tp_name;
  }
  return chars;
}

bool isPlain(PyObject* object) {
  return object == Py_None || PyLong_Check(object) != 0 || PyFloat_Check(object) != 0 ||
         PyComplex_Check(object) != 0 || PyUnicode_Check(object) != 0 ||
         PyList_Check(object) != 0 || PyTuple_Check(object) != 0 || valueOf(object) != nullptr ||
         nb::isinstance<PrimType>(nb::handle(object));
}

/// An argument as the caller wrote it where that is short, else its type: the text of a tensor is pages long.
std::string argumentText(PyObject* object) {
  std::string typeName = std::string("a ") + Py_TYPE(object)->tp_name;
  if (!isPlain(object)) {
    return typeName;
  }
  std::string text = reprOf(object);
  return text.size() <= kLongestArgument ? text : typeName;
}

std::string argumentsText(const PythonCall& call) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < call.positional; ++i) {
    parts.push_back(argumentText(call.args[i]));
  }
  const Py_ssize_t named = call.names == nullptr ? 0 : PyTuple_GET_SIZE(call.names);
  for (Py_ssize_t i = 0; i < named; ++i) {
    const std::string name = reprOf(PyTuple_GET_ITEM(call.names, i));
    parts.push_back(name.substr(1, name.size() - 2) + "=" +
                    argumentText(call.args[call.positional + static_cast<size_t>(i)]));
  }
  return "got (" + joinText(parts, ", ") + ")";
}

}  // namespace

std::string defaultText(const Param& param) {
  if (const Scalar* number = std::get_if<Scalar>(&param.defaultValue)) {
    return number->toText();
  }
  if (const Ints* list = std::get_if<Ints>(&param.defaultValue)) {
    return toText(*list);
  }
  if (const PrimType* dtype = std::get_if<PrimType>(&param.defaultValue)) {
    return "DataType." + std::string(nameOf(*dtype));
  }
  return "None";
}

std::string signatureText(const OpInfo& op, const Overload& overload) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < overload.params.size(); ++i) {
    const Param& param = overload.params[i];
    if (i + overload.keywordOnly == overload.params.size()) {
      parts.emplace_back("*");
    }
    const std::string text = std::string(param.name) + ": " + std::string(typeText(param.kind));
    parts.push_back(param.optional ? text + " = " + defaultText(param) : text);
    if (i + 1 == overload.positionalOnly) {
      parts.emplace_back("/");
    }
  }
  return std::string(op.name) + "(" + joinText(parts, ", ") + ")";
}

std::string docText(const OpInfo& op) {
  std::string text;
  for (const Overload& overload : op.overloads) {
    text += signatureText(op, overload) + "\n";
  }
  return text + "\n" + std::string(op.doc);
}

void refuseCall(const OpInfo& op, const PythonCall& call) {
  std::vector<std::string> calls;
  for (const Overload& overload : op.overloads) {
    calls.push_back(signatureText(op, overload));
  }
  throwUser(ErrorKind::Type, {std::string(op.name) + "()", "incompatible function arguments",
                              argumentsText(call), "call it as " + joinText(calls, " or ")});
}

}  // namespace meshfuse
