// torch's Python objects: what the bindings need of torch_python. Its headers cost every file that includes them ten seconds
// of compiling, so only torch_objects.cpp does.
#pragma once

#include <ATen/core/Tensor.h>
#include <Python.h>

namespace meshfuse {

/// The class torch.Tensor, borrowed.
PyObject* tensorClass() noexcept;

/// Whether `object` is a torch.Tensor, or one of a subclass. Throws torch's exception when a class's own check raises.
bool isTensorObject(PyObject* object);

/// Whether `object` is a torch.Tensor or a Parameter: a tensor without behaviour of its own.
bool isPlainTensorObject(PyObject* object) noexcept;

/// The tensor of an object for which isTensorObject() holds. Lives as long as the object.
const at::Tensor& tensorOf(PyObject* object) noexcept;

/// The Python object of a tensor, a new reference; null with a Python error set.
PyObject* tensorObject(at::Tensor tensor);

/// In a handler: sets the Python error that torch's C++ code carried through as an exception. False, with nothing done, when
/// the exception is another one.
bool restoreTorchError() noexcept;

}  // namespace meshfuse
