// The Python objects for values of a definition: Val, and below it TensorView and Scalar.
#include "meshfuse/frontend/python/value_objects.h"

#include <nanobind/operators.h>
#include <nanobind/stl/string.h>

#include "meshfuse/base/hash.h"
#include "meshfuse/frontend/definition_source.h"

namespace nb = nanobind;

namespace meshfuse {
namespace {

PyTypeObject* tensorViewType = nullptr;
PyTypeObject* scalarType = nullptr;

const Val& valOf(const ValueObject& self) { return self.definition->fusion().val(self.id); }

std::string text(const ValueObject& self) {
  return describeValue(self.definition->fusion(), self.id);
}

bool isSymbolic(const ValueObject& self) {
  const Val& val = valOf(self);
  return val.isTensor() || !val.scalar().constant.has_value();
}

nb::object isSameValue(const ValueObject& self, nb::handle other) {
  const ValueObject* value = valueOf(other.ptr());
  if (value == nullptr) {
    return nb::borrow(Py_NotImplemented);
  }
  return nb::bool_(value->definition == self.definition && value->id == self.id);
}

uint64_t hash(const ValueObject& self) {
  return hashMix(reinterpret_cast<uintptr_t>(self.definition.get()), indexOf(self.id)) >> 1;
}

}  // namespace

void bindValues(nb::module_& module) {
  nb::class_<ValueObject>(module, "Val", "A value of a definition: a TensorView or a Scalar.")
      .def(
          "dtype", [](const ValueObject& self) { return valOf(self).dtype(); },
          "The type of its elements.")
      .def(
          "is_tensor", [](const ValueObject& self) { return valOf(self).isTensor(); },
          "Whether it is a tensor; otherwise it is a scalar.")
      .def("is_symbolic", isSymbolic, "Whether it is known only at run time.")
      .def("__eq__", isSameValue, nb::sig("def __eq__(self, other: object, /) -> bool"),
           "Whether both are the same value of the same definition.")
      .def("__hash__", hash)
      .def("__str__", text)
      .def("__repr__", text);
  nb::handle tensorView =
      nb::class_<TensorViewObject, ValueObject>(module, "TensorView", nb::is_final(),
                                                "A tensor of a definition.")
          .def_prop_ro(
              "ndim", [](const TensorViewObject& self) { return valOf(self).tensor().rank(); },
              "The number of its dimensions.");
  nb::handle scalar = nb::class_<ScalarObject, ValueObject>(module, "Scalar", nb::is_final(),
                                                            "A number of a definition.");
  // The classes live as long as the module, which is never unloaded.
  tensorViewType = reinterpret_cast<PyTypeObject*>(tensorView.ptr());
  scalarType = reinterpret_cast<PyTypeObject*>(scalar.ptr());
}

nb::object wrapValue(const std::shared_ptr<FusionDefinition>& definition, ValId id) {
  const bool isTensor = definition->fusion().val(id).isTensor();
  return isTensor ? nb::cast(TensorViewObject{{definition, id}})
                  : nb::cast(ScalarObject{{definition, id}});
}

const ValueObject* valueOf(PyObject* object) noexcept {
  const PyTypeObject* type = Py_TYPE(object);
  // An object that was allocated without being made (`TensorView.__new__`) stands for no value.
  if ((type == tensorViewType || type == scalarType) && !nb::inst_ready(object)) {
    return nullptr;
  }
  if (type == tensorViewType) {
    return nb::inst_ptr<TensorViewObject>(object);
  }
  return type == scalarType ? nb::inst_ptr<ScalarObject>(object) : nullptr;
}

}  // namespace meshfuse
