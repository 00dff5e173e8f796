// From C++ exceptions to Python's.
#include "meshfuse/frontend/python/python_errors.h"

#include <exception>
#include <new>

#include <c10/util/Exception.h>
#include <nanobind/nanobind.h>

#include "meshfuse/base/error.h"

namespace nb = nanobind;

namespace meshfuse {
namespace {

/// What callers of torch catch for an integer divided by zero, RuntimeError, and what those of Python do.
PyObject* zeroDivisionError() noexcept {
  static PyObject* type = nullptr;
  if (type == nullptr) {
    PyObject* bases = PyTuple_Pack(2, PyExc_ZeroDivisionError, PyExc_RuntimeError);
    if (bases != nullptr) {
      type = PyErr_NewExceptionWithDoc("meshfuse.IntegerZeroDivisionError",
                                       "An integer is divided by zero.", bases, nullptr);
      Py_DECREF(bases);
    }
  }
  return type == nullptr ? PyExc_ZeroDivisionError : type;
}

PyObject* exceptionOf(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::Value:
      return PyExc_ValueError;
    case ErrorKind::Type:
      return PyExc_TypeError;
    case ErrorKind::Runtime:
      return PyExc_RuntimeError;
    case ErrorKind::Index:
      return PyExc_IndexError;
    case ErrorKind::NotImplemented:
      return PyExc_NotImplementedError;
    case ErrorKind::ZeroDivision:
      return zeroDivisionError();
  }
  return PyExc_RuntimeError;
}

/// Sets the Python error for our exceptions and torch's; any other goes on to the next translator.
void translate(const std::exception_ptr& error, void* /*payload*/) {
  try {
    std::rethrow_exception(error);
  } catch (const UserError& e) {
    PyErr_SetString(exceptionOf(e.kind()), e.what());
  } catch (const InternalError& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  } catch (const c10::Error& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what_without_backtrace());
  }
}

}  // namespace

void setPythonError() noexcept {
  try {
    translate(std::current_exception(), nullptr);
  } catch (nb::python_error& e) {
    e.restore();
  } catch (const nb::builtin_exception& e) {
    PyObject* type = e.type() == nb::exception_type::type_error    ? PyExc_TypeError
                     : e.type() == nb::exception_type::value_error ? PyExc_ValueError
                                                                   : PyExc_RuntimeError;
    PyErr_SetString(type, e.what());
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  } catch (...) {
    PyErr_SetString(PyExc_RuntimeError, "an exception of an unknown C++ type");
  }
}

void registerErrorTranslator() { nb::register_exception_translator(translate); }

}  // namespace meshfuse
