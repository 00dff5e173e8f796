#include "meshfuse/frontend/python/call_arguments.h"

#include <algorithm>
#include <string>
#include <string_view>

#include <ATen/core/grad_mode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <nanobind/nanobind.h>

#include "meshfuse/base/error.h"
#include "meshfuse/frontend/python/mesh_record.h"
#include "meshfuse/frontend/python/parse_arguments.h"
#include "meshfuse/frontend/python/torch_objects.h"
#include "meshfuse/runtime/input_checks.h"

namespace nb = nanobind;

namespace meshfuse {

namespace {

void* releaseInterpreter() { return PyEval_SaveThread(); }
void takeInterpreter(void* thread) { PyEval_RestoreThread(static_cast<PyThreadState*>(thread)); }

}  // namespace

namespace {

constexpr c10::DispatchKeySet kLazyKeys{c10::DispatchKey::Conjugate, c10::DispatchKey::Negative};

/// What a tensor may be tagged with to be read as it is: dense, on a device we know, with or without autograd.
constexpr c10::DispatchKeySet kPlainKeys = c10::DispatchKeySet{c10::DispatchKey::CPU,
                                                               c10::DispatchKey::CUDA,
                                                               c10::DispatchKey::Meta,
                                                               c10::DispatchKey::AutogradCPU,
                                                               c10::DispatchKey::AutogradCUDA,
                                                               c10::DispatchKey::AutogradMeta,
                                                               c10::DispatchKey::ADInplaceOrView} |
                                           c10::autocast_dispatch_keyset;

constexpr c10::DispatchKeySet kModeKeys{
    c10::DispatchKey::Python, c10::DispatchKey::PythonTLSSnapshot,
    c10::DispatchKey::PythonDispatcher, c10::DispatchKey::FuncTorchDynamicLayerFrontMode,
    c10::DispatchKey::Functionalize};

bool isPlain(c10::DispatchKeySet keys) noexcept {
  return (keys.raw_repr() & ~kPlainKeys.raw_repr()) == 0;
}

std::string typeNameOf(PyObject* object) {
  nb::handle type(reinterpret_cast<PyObject*>(Py_TYPE(object)));
  std::string module = nb::cast<std::string>(nb::str(nb::getattr(type, "__module__", nb::str(""))));
  const std::string name = nb::cast<std::string>(nb::str(nb::getattr(type, "__qualname__")));
  return module.empty() || module == "builtins" ? name : module + "." + name;
}

std::string_view layoutNameOf(c10::Layout layout) noexcept {
  switch (layout) {
    case c10::kSparse:
      return "torch.sparse_coo";
    case c10::kSparseCsr:
      return "torch.sparse_csr";
    case c10::kSparseCsc:
      return "torch.sparse_csc";
    case c10::kSparseBsr:
      return "torch.sparse_bsr";
    case c10::kSparseBsc:
      return "torch.sparse_bsc";
    case c10::kMkldnn:
      return "torch._mkldnn";
    case c10::kJagged:
      return "torch.jagged";
    default:
      return "torch.strided";
  }
}

/// Why an exact torch.Tensor is not one that can be read as it is, and what to do about it.
[[noreturn]] void refuseTensor(const at::Tensor& tensor, size_t position) {
  const c10::DispatchKeySet keys = tensor.key_set();
  const bool wrapped = keys.has(c10::DispatchKey::FuncTorchBatched) ||
                       keys.has(c10::DispatchKey::FuncTorchGradWrapper) ||
                       keys.has(c10::DispatchKey::Batched);
  std::string kind;
  std::string wayOut = "pass a dense (strided) tensor";
  if (wrapped) {
    kind = "a tensor of an active torch.func transform (vmap, grad)";
    wayOut = "call execute outside the transform";
  } else if (keys.has(c10::DispatchKey::Functionalize)) {
    kind = "a functional tensor";
    wayOut = "call execute outside functionalization";
  } else if (keys.has(c10::DispatchKey::ZeroTensor)) {
    kind = "a zero tensor without memory";
    wayOut = "pass torch.zeros_like(tensor)";
  } else if (tensor.is_quantized()) {
    kind = "a quantized tensor (" + std::string(c10::toString(tensor.scalar_type())) + ")";
    wayOut = "pass tensor.dequantize()";
  } else if (tensor.is_nested()) {
    kind = "a nested tensor";
    wayOut = "pass its parts, or tensor.to_padded_tensor(value)";
  } else if (tensor.layout() != c10::kStrided) {
    kind = "a tensor of layout " + std::string(layoutNameOf(tensor.layout()));
    wayOut = "pass tensor.to_dense()";
  } else {
    kind = "a tensor on device " + tensor.device().str();
    wayOut = "move it to cpu or cuda";
  }
  throwUser(ErrorKind::Type, {"execute", "tensors must be dense and in memory",
                              "argument " + std::to_string(position) + " is " + kind, wayOut});
}

}  // namespace

bool dispatchModeIsActive() noexcept {
  return c10::impl::tls_local_dispatch_key_set().included_.has_any(kModeKeys);
}

CallArguments::~CallArguments() {
  for (PyObject* object : kept_) {
    Py_DECREF(object);
  }
}

PyObject* CallArguments::keep(PyObject* object) {
  kept_.push_back(object);
  return object;
}

void CallArguments::collect(PyObject* inputs) {
  if (PyList_CheckExact(inputs) || PyTuple_CheckExact(inputs)) {
    addItems(inputs, false);
  } else if (isTensorObject(inputs) || PyUnicode_Check(inputs) || PyBytes_Check(inputs) ||
             PyMapping_Check(inputs) > PySequence_Check(inputs)) {
    throwUser(ErrorKind::Type, {"execute", "inputs must be a list or tuple of arguments",
                                "got a " + typeNameOf(inputs), "pass execute([a, b])"});
  } else {
    PyObject* items = PySequence_Tuple(inputs);
    if (items == nullptr) {
      PyErr_Clear();
      throwUser(ErrorKind::Type, {"execute", "inputs must be a list or tuple of arguments",
                                  "got a " + typeNameOf(inputs), "pass execute([a, b])"});
    }
    addItems(keep(items), false);
  }
  if (!globals_.empty()) {
    linkGlobals();
  }
}

void CallArguments::addItems(PyObject* sequence, bool nested) {
  // Settling an argument may run Python code that changes the list, so its size is read anew each time.
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(sequence); ++i) {
    PyObject* item = PySequence_Fast_GET_ITEM(sequence, i);
    Py_INCREF(item);
    add(keep(item), nested);
  }
}

void CallArguments::add(PyObject* object, bool nested) {
  if (isPlainTensorObject(object)) [[likely]] {
    addTensor(tensorOf(object));
  } else if (PyFloat_CheckExact(object)) {
    views_.push_back(ArgView::of(PyFloat_AS_DOUBLE(object)));
  } else if (PyLong_CheckExact(object)) {
    addInteger(object);
  } else if (isDtensor(object)) {
    addDtensor(object);
  } else {
    addOther(object, nested);
  }
}

void CallArguments::addOther(PyObject* object, bool nested) {
  if (PyBool_Check(object)) {
    views_.push_back(ArgView::of(object == Py_True));
  } else if (PyLong_Check(object)) {
    addInteger(object);
  } else if (PyFloat_Check(object)) {
    views_.push_back(ArgView::of(PyFloat_AsDouble(object)));
  } else if (PyComplex_Check(object)) {
    const Py_complex value = PyComplex_AsCComplex(object);
    views_.push_back(ArgView::of(std::complex<double>(value.real, value.imag)));
  } else if (!nested && (PyList_Check(object) || PyTuple_Check(object))) {
    addItems(object, true);
  } else if (isTensorObject(object)) {
    addSubclass(object);
  } else if (const std::optional<Scalar> number = numberOf(object)) {
    addNumber(*number);
  } else {
    const std::string found = "argument " + std::to_string(views_.size()) + " is " +
                              (object == Py_None ? "None" : "a " + typeNameOf(object));
    throwUser(ErrorKind::Type,
              {"execute", "arguments must be tensors or numbers", found,
               "pass a tensor, a bool, an int, a float, a complex number, or a list of those"});
  }
}

/// A number of a class that is no Python number's, such as numpy's.
void CallArguments::addNumber(const Scalar& number) {
  if (number.isInt()) {
    views_.push_back(ArgView::of(number.toInt()));
  } else if (number.isComplex()) {
    views_.push_back(ArgView::of(number.toComplex()));
  } else {
    views_.push_back(ArgView::of(number.toDouble()));
  }
}

void CallArguments::addInteger(PyObject* object) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow != 0) {
    throwUser(ErrorKind::Value, {"execute", "integers must fit 64 bits",
                                 "argument " + std::to_string(views_.size()) + " is " +
                                     nb::cast<std::string>(nb::repr(nb::handle(object))),
                                 "pass an integer between -2**63 and 2**63 - 1, or a float"});
  }
  views_.push_back(ArgView::of(static_cast<int64_t>(value)));
}

void CallArguments::addTensor(const at::Tensor& tensor) {
  c10::TensorImpl* impl = tensor.unsafeGetTensorImpl();
  if (!isPlain(impl->key_set())) [[unlikely]] {
    return addLazy(tensor);
  }
  if (impl->autograd_meta() != nullptr) [[unlikely]] {
    checkTangent(tensor, views_.size());
  }
  views_.push_back(ArgView::of(impl));
}

void CallArguments::addLazy(const at::Tensor& tensor) {
  const c10::DispatchKeySet keys = tensor.key_set();
  if (!keys.has_any(kLazyKeys) || !isPlain(keys - kLazyKeys)) {
    refuseTensor(tensor, views_.size());
  }
  checkTangent(tensor, views_.size());
  const at::NoGradGuard noGrad;
  settled_.push_back(tensor.resolve_conj().resolve_neg());
  views_.push_back(ArgView::of(settled_.back().unsafeGetTensorImpl()));
  views_.back().isResolvedCopy = true;
}

void CallArguments::addDtensor(PyObject* dtensor) {
  checkTangent(tensorOf(dtensor), views_.size());
  const DtensorParts parts = readDtensor(dtensor, views_.size());
  keep(parts.local);
  if (mesh_ == nullptr) {
    mesh_ = parts.mesh->shared_from_this();
  } else if (mesh_.get() != parts.mesh) {
    checkSameBinding(*mesh_, *parts.mesh, views_.size());
  }
  const size_t offset = globals_.size();
  addTensor(tensorOf(parts.local));
  ArgView& view = views_.back();
  const size_t rank = static_cast<size_t>(view.tensor->dim());
  checkGlobalRank(parts, rank, views_.size() - 1);
  globals_.append(parts.sizes, parts.sizes + rank);
  globals_.append(parts.strides, parts.strides + rank);
  view.sharding = parts.sharding;
  // An offset for now, since the storage may still move; linkGlobals() makes it a pointer before anyone reads it.
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  view.globalStrides = reinterpret_cast<const int64_t*>(offset);
}

PyObject* CallArguments::dtensorAt(size_t position) const noexcept {
  auto before = std::count_if(views_.begin(), views_.begin() + static_cast<ptrdiff_t>(position),
                              [](const ArgView& view) { return view.isDistributed(); });
  return *std::find_if(kept_.begin(), kept_.end(),
                       [&before](PyObject* object) { return isDtensor(object) && before-- == 0; });
}

CallContext CallArguments::context() const {
  CallContext context;
  context.blocking = {releaseInterpreter, takeInterpreter};
  if (mesh_ != nullptr) {
    context.binding = mesh_->binding().id();
    context.rank = mesh_->linearRank();
    context.collectives = &mesh_->collectives();
    context.rankCheck = mesh_->rankCheck();
  }
  return context;
}

void CallArguments::linkGlobals() {
  for (ArgView& view : views_) {
    if (view.isDistributed()) {
      view.globalSizes = globals_.data() + reinterpret_cast<size_t>(view.globalStrides);
      view.globalStrides = view.globalSizes + view.tensor->dim();
    }
  }
}

void CallArguments::addSubclass(PyObject* tensor) {
  addTensor(tensorOf(keep(settleTensor(tensor, views_.size()))));
}

}  // namespace meshfuse
