// The floor that a call is measured against: what reading a torch.Tensor and making one like it costs, in a C++ loop.
#include <ctime>

#include <c10/core/CPUAllocator.h>
#include <c10/core/StorageImpl.h>
#include <torch/csrc/autograd/python_variable.h>

namespace {

/// Processor time of this thread, in nanoseconds.
double threadTime() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

/// Storage and tensor made directly: less than any of ATen's functions for it.
at::Tensor allocateLike(const at::Tensor& tensor) {
  c10::Allocator* allocator = c10::GetCPUAllocator();
  const size_t bytes = tensor.nbytes();
  auto storage = c10::make_intrusive<c10::StorageImpl>(c10::StorageImpl::use_byte_size_t(), bytes,
                                                       allocator->allocate(bytes), allocator, true);
  at::Tensor made = at::detail::make_tensor<c10::TensorImpl>(
      c10::Storage(std::move(storage)), c10::DispatchKeySet(c10::DispatchKey::CPU), tensor.dtype());
  made.unsafeGetTensorImpl()->set_sizes_and_strides(tensor.sizes(), tensor.strides());
  return made;
}

/// nanoseconds(tensor, count): mean time of unpack + allocate + wrap, the object dropped each time.
PyObject* nanoseconds(PyObject* /*module*/, PyObject* const* args, Py_ssize_t count) {
  if (count != 2 || !THPVariable_CheckExact(args[0])) {
    PyErr_SetString(PyExc_TypeError, "nanoseconds(tensor, count)");
    return nullptr;
  }
  const long repeats = PyLong_AsLong(args[1]);
  const double start = threadTime();
  for (long i = 0; i < repeats; ++i) {
    PyObject* object = THPVariable_Wrap(allocateLike(THPVariable_Unpack(args[0])));
    Py_XDECREF(object);
  }
  return PyFloat_FromDouble((threadTime() - start) / static_cast<double>(repeats));
}

PyMethodDef methods[] = {
    {"nanoseconds", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(nanoseconds)),
     METH_FASTCALL, "Mean nanoseconds of unpack + allocate + wrap."},
    {nullptr, nullptr, 0, nullptr}};
PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_floor", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__floor() { return PyModule_Create(&definition); }
