// The operations of the language as Python functions: one object per row of the op table, called without an intermediate tuple.
#include "meshfuse/frontend/python/bind_ops.h"

#include <cstddef>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <structmember.h>

#include "meshfuse/base/error.h"
#include "meshfuse/frontend/python/call_text.h"
#include "meshfuse/frontend/python/open_blocks.h"
#include "meshfuse/frontend/python/parse_arguments.h"
#include "meshfuse/frontend/python/python_errors.h"
#include "meshfuse/frontend/python/value_objects.h"

namespace nb = nanobind;

namespace meshfuse {
namespace {

/// A Python object that is called like a function.
struct OpFunction {
  PyObject base;
  vectorcallfunc call;
  const OpInfo* op;
  const CallParser* parser;  // owned
};

OpFunction& functionOf(PyObject* self) { return *reinterpret_cast<OpFunction*>(self); }

/// One value alone, several as a tuple with the absent ones as None at its end.
PyObject* wrapOutputs(const std::shared_ptr<FusionDefinition>& definition,
                      const std::vector<ValId>& outputs, size_t absent) {
  const size_t count = outputs.size() + absent;
  if (count == 1) {
    return wrapValue(definition, outputs.front()).release().ptr();
  }
  const auto tuple = nb::steal<nb::tuple>(PyTuple_New(static_cast<Py_ssize_t>(count)));
  for (size_t i = 0; i < count; ++i) {
    nb::object item = i < outputs.size() ? wrapValue(definition, outputs[i]) : nb::none();
    PyTuple_SET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(i), item.release().ptr());
  }
  return nb::object(tuple).release().ptr();
}

PyObject* callOp(PyObject* self, PyObject* const* args, size_t countAndFlags, PyObject* names) {
  const OpFunction& function = functionOf(self);
  try {
    const std::shared_ptr<FusionDefinition>* definition = innermostDefinition();
    if (definition == nullptr) {
      throwUser(ErrorKind::Runtime,
                {function.op->name, "an operation is added to the definition whose block is open",
                 "no definition's block is open on this thread",
                 "call it inside 'with FusionDefinition() as fd:'"});
    }
    const PythonCall call{args, static_cast<size_t>(PyVectorcall_NARGS(countAndFlags)), names};
    ParsedCall parsed = function.parser->parse(**definition, call);
    return wrapOutputs(*definition, (*definition)->append(*function.op, std::move(parsed.args)),
                       parsed.overload->absentResults);
  } catch (...) {
    setPythonError();
    return nullptr;
  }
}

void deallocOp(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  delete functionOf(self).parser;
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* newText(const std::string& text) {
  return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
}

PyObject* reprOp(PyObject* self) {
  return newText("<operation meshfuse.ops." + std::string(functionOf(self).op->name) + ">");
}

PyObject* nameOfOp(PyObject* self, void* /*closure*/) {
  return newText(std::string(functionOf(self).op->name));
}
PyObject* docOfOp(PyObject* self, void* /*closure*/) {
  return newText(docText(*functionOf(self).op));
}
/// Pickled and copied by name, as functions are.
PyObject* reduceOp(PyObject* self, PyObject* /*args*/) { return nameOfOp(self, nullptr); }

/// The type of all operations; built once, when the module is.
nb::object makeOpType() {
  static PyMemberDef members[] = {
      {"__vectorcalloffset__", T_PYSSIZET, offsetof(OpFunction, call), READONLY, nullptr},
      {nullptr, 0, 0, 0, nullptr},
  };
  static PyGetSetDef attributes[] = {
      {"__name__", nameOfOp, nullptr, nullptr, nullptr},
      {"__qualname__", nameOfOp, nullptr, nullptr, nullptr},
      {"__doc__", docOfOp, nullptr, nullptr, nullptr},
      {nullptr, nullptr, nullptr, nullptr, nullptr},
  };
  static PyMethodDef methods[] = {
      {"__reduce__", reduceOp, METH_NOARGS, nullptr},
      {nullptr, nullptr, 0, nullptr},
  };
  static PyType_Slot slots[] = {
      {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
      {Py_tp_dealloc, reinterpret_cast<void*>(deallocOp)},
      {Py_tp_repr, reinterpret_cast<void*>(reprOp)},
      {Py_tp_members, members},
      {Py_tp_getset, attributes},
      {Py_tp_methods, methods},
      {0, nullptr},
  };
  static PyType_Spec spec = {"meshfuse.ops.Operation", sizeof(OpFunction), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL |
                                 Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
                             slots};
  return nb::steal(PyType_FromSpec(&spec));
}

nb::object makeOpFunction(PyTypeObject* type, const OpInfo& op) {
  auto parser = std::make_unique<CallParser>(op);
  nb::object object = nb::steal(type->tp_alloc(type, 0));
  if (!object.is_valid()) {
    throw nb::python_error();
  }
  OpFunction& function = functionOf(object.ptr());
  function.call = callOp;
  function.op = &op;
  function.parser = parser.release();
  return object;
}

std::string_view kindName(ParamKind kind) {
  constexpr std::string_view kNames[] = {"Tensor", "Tensors", "Operand", "Value", "Int",
                                         "Ints",   "Size",    "Sizes",   "Bool",  "DataType"};
  return kNames[static_cast<size_t>(kind)];
}

/// Name, kind and default (None where required) of a parameter.
using ParamFacts = std::tuple<std::string, std::string, std::optional<std::string>>;
/// A call's parameters, how many of them are passed by position only and how many by keyword only, and how many results are
/// always None.
using OverloadFacts = std::tuple<std::vector<ParamFacts>, size_t, size_t, size_t>;

std::vector<OverloadFacts> overloadsOf(const std::string& name) {
  const OpInfo* op = findOp(name);
  if (op == nullptr) {
    throw nb::key_error(name.c_str());
  }
  std::vector<OverloadFacts> result;
  for (const Overload& overload : op->overloads) {
    std::vector<ParamFacts> params;
    for (const Param& param : overload.params) {
      params.emplace_back(param.name, kindName(param.kind),
                          param.optional ? std::optional(defaultText(param)) : std::nullopt);
    }
    result.emplace_back(std::move(params), overload.positionalOnly, overload.keywordOnly,
                        overload.absentResults);
  }
  return result;
}

std::string_view resultOf(const std::string& name) {
  const OpInfo* op = findOp(name);
  if (op == nullptr) {
    throw nb::key_error(name.c_str());
  }
  return op->extent != nullptr ? "scalar" : op->fold != nullptr ? "either" : "tensor";
}

size_t outputCountOf(const std::string& name) {
  const OpInfo* op = findOp(name);
  if (op == nullptr) {
    throw nb::key_error(name.c_str());
  }
  return op->outputCount;
}

}  // namespace

void bindOps(nb::module_& module) {
  nb::object type = makeOpType();
  if (!type.is_valid()) {
    throw nb::python_error();
  }
  nb::list functions;
  for (const OpInfo* op : allOps()) {
    functions.append(makeOpFunction(reinterpret_cast<PyTypeObject*>(type.ptr()), *op));
  }
  module.attr("op_functions") = nb::tuple(functions);
  module.def(
      "op_overloads", overloadsOf, nb::arg("name"),
      "The calls of an operation: for each, its parameters as (name, kind, default), how many "
      "of them are passed by position only and how many by keyword only, and how many results "
      "are always None, after the others.");
  module.def("op_result", resultOf, nb::arg("name"),
             "What an operation returns: 'tensor', 'scalar', or 'either', after its operands.");
  module.def("op_output_count", outputCountOf, nb::arg("name"),
             "How many values an operation returns.");
}

}  // namespace meshfuse
