#include "meshfuse/frontend/python/torch_objects.h"

#include <utility>

#include <torch/csrc/Exceptions.h>
#include <torch/csrc/autograd/python_variable.h>

namespace meshfuse {

PyObject* tensorClass() noexcept { return THPVariableClass; }

bool isTensorObject(PyObject* object) { return THPVariable_Check(object); }

bool isPlainTensorObject(PyObject* object) noexcept {
  return THPVariable_CheckTypeExact(Py_TYPE(object));
}

const at::Tensor& tensorOf(PyObject* object) noexcept { return THPVariable_Unpack(object); }

PyObject* tensorObject(at::Tensor tensor) { return THPVariable_Wrap(std::move(tensor)); }

bool restoreTorchError() noexcept {
  try {
    throw;
  } catch (python_error& error) {
    error.restore();
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace meshfuse
