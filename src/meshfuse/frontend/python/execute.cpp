#include "meshfuse/frontend/python/execute.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "meshfuse/base/error.h"
#include "meshfuse/base/text.h"
#include "meshfuse/frontend/python/bind_definition.h"
#include "meshfuse/frontend/python/call_arguments.h"
#include "meshfuse/frontend/python/mesh_record.h"
#include "meshfuse/frontend/python/option_names.h"
#include "meshfuse/frontend/python/python_errors.h"
#include "meshfuse/frontend/python/torch_objects.h"
#include "meshfuse/runtime/fusion_executor.h"
#include "meshfuse/runtime/input_writes.h"

namespace nb = nanobind;

namespace meshfuse {

namespace {

constexpr const char* kDoc =
    "execute(self, inputs, *, device=None, save_repro_inputs=False, _enable_options=[], "
    "_disable_options=[])\n--\n\n"
    "Runs the definition on tensors and numbers, one for each input in definition order; lists and "
    "tuples among them are "
    "flattened. Returns the list of outputs. With DTensors in, DTensors come out. device may name "
    "the "
    "device that the tensors are on; without tensors it is the one that they are made on, the CPU "
    "by default. save_repro_inputs keeps what the inputs look like for "
    "last_repro_script(). The options are names that nvFuser has (others are a RuntimeError); no "
    "result depends on them.";

/// The parameters of one call, borrowed; null where not given.
struct Parameters {
  PyObject* inputs = nullptr;
  PyObject* device = nullptr;
  PyObject* saveReproInputs = nullptr;
  PyObject* enableOptions = nullptr;
  PyObject* disableOptions = nullptr;
};

enum class Way : uint8_t { Plain, WithOptions, OpByOp };

[[noreturn]] void refuseCall(const std::string& found) {
  throwUser(
      ErrorKind::Type,
      {"execute()", "incompatible function arguments", found,
       "call it as execute(inputs, *, device=None, save_repro_inputs=False, _enable_options=[], "
       "_disable_options=[])"});
}

Parameters parse(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  Parameters parameters;
  if (count > 1) {
    refuseCall("got " + std::to_string(count) + " positional arguments");
  }
  if (count == 1) {
    parameters.inputs = args[0];
  }
  const std::array<std::pair<const char*, PyObject**>, 5> table{
      {{"inputs", &parameters.inputs},
       {"device", &parameters.device},
       {"save_repro_inputs", &parameters.saveReproInputs},
       {"_enable_options", &parameters.enableOptions},
       {"_disable_options", &parameters.disableOptions}}};
  const Py_ssize_t keywordCount = keywords == nullptr ? 0 : PyTuple_GET_SIZE(keywords);
  for (Py_ssize_t i = 0; i < keywordCount; ++i) {
    PyObject* name = PyTuple_GET_ITEM(keywords, i);
    bool known = false;
    for (const auto& [text, target] : table) {
      if (PyUnicode_CompareWithASCIIString(name, text) == 0) {
        if (*target != nullptr) {
          refuseCall("got 'inputs' twice");
        }
        *target = args[count + i];
        known = true;
      }
    }
    if (!known) {
      refuseCall("got an unexpected keyword " + nb::cast<std::string>(nb::repr(nb::handle(name))));
    }
  }
  if (parameters.inputs == nullptr) {
    refuseCall("got no 'inputs'");
  }
  return parameters;
}

/// `what`: enable_option or disable_option, as `known` lists them.
void checkOptionNames(PyObject* options, const std::string& what,
                      std::span<const std::string_view> known) {
  if (options == nullptr) {
    return;
  }
  if (PyList_Check(options) == 0 && PyTuple_Check(options) == 0) {
    refuseCall("_" + what + "s is not a list of names");
  }
  for (nb::handle option : nb::handle(options)) {
    if (PyUnicode_Check(option.ptr()) == 0) {
      refuseCall("_" + what + "s is not a list of names");
    }
    if (std::ranges::find(known, nb::cast<std::string_view>(option)) == known.end()) {
      throwUser(
          ErrorKind::Runtime,
          {"execute", "Unrecognized " + what, "got " + nb::cast<std::string>(nb::repr(option)),
           "use one of " + joinText(std::vector<std::string>(known.begin(), known.end()), ", ")});
    }
  }
}

[[noreturn]] void refuseDevice(nb::handle device, const std::string& actual) {
  throwUser(ErrorKind::Value,
            {"execute", "device must be the one that the tensors are on",
             "got device " + nb::cast<std::string>(nb::str(device)) + " and " + actual,
             "leave device out, or move the tensors"});
}

/// Whether torch has the device, of the kinds that tensors are made on here.
bool isUsable(nb::handle device, std::string_view type) {
  if (type != "cuda") {
    return type == "cpu" || type == "meta";
  }
  nb::object cuda = nb::module_::import_("torch").attr("cuda");
  const auto count = nb::cast<int64_t>(cuda.attr("device_count")());
  nb::object index = device.attr("index");
  return nb::cast<bool>(cuda.attr("is_available")()) &&
         (index.is_none() || nb::cast<int64_t>(index) < count);
}

/// The device may be named: the one that the tensors are on, where 0-dim ones on the CPU alone are none, and without arguments
/// that are tensors the one to make results on, which is returned.
std::optional<c10::Device> deviceFor(PyObject* given, std::span<const ArgView> args) {
  nb::object device = nb::module_::import_("torch").attr("device")(nb::handle(given));
  const std::string type = nb::cast<std::string>(nb::str(device.attr("type")));
  nb::object index = device.attr("index");
  bool isSettled = false;
  bool hasTensors = false;
  for (const ArgView& arg : args) {
    hasTensors = hasTensors || arg.isTensor();
    if (!arg.isTensor() || (arg.tensor->dim() == 0 && arg.tensor->device().is_cpu())) {
      continue;
    }
    isSettled = true;
    const c10::Device actual = arg.tensor->device();
    if (type != c10::DeviceTypeName(actual.type(), /*lower_case=*/true) ||
        (!index.is_none() && actual.has_index() && nb::cast<int64_t>(index) != actual.index())) {
      refuseDevice(device, "tensors on " + actual.str());
    }
  }
  if (isSettled || (hasTensors && type == "cpu")) {
    return std::nullopt;
  }
  if (hasTensors) {
    refuseDevice(device, "no tensors but 0-dim ones on the CPU");
  }
  if (!isUsable(device, type)) {
    throwUser(ErrorKind::Value,
              {"execute", "results are made on a device that torch has",
               "got device " + nb::cast<std::string>(nb::str(device)),
               "name cpu, meta or a cuda device of this machine, or leave device out"});
  }
  return c10::Device(nb::cast<std::string>(nb::str(device)));
}

void checkOptions(const Parameters& parameters) {
  checkOptionNames(parameters.enableOptions, "enable_option", enableOptions());
  checkOptionNames(parameters.disableOptions, "disable_option", disableOptions());
}

bool wants(PyObject* flag) {
  const int truth = flag == nullptr ? 0 : PyObject_IsTrue(flag);
  if (truth < 0) {
    throw nb::python_error();
  }
  return truth != 0;
}

/// Keeps what the inputs look like for last_repro_script(). Before the call, since a call that fails is what a repro is for.
/// Returns the inputs as a list, for they may be an iterator.
nb::object saveReproInputs(PyObject* self, PyObject* inputs) {
  if (isTensorObject(inputs) || PyUnicode_Check(inputs) != 0) {
    return nb::borrow(inputs);  // refused as any call refuses them
  }
  nb::object items = nb::steal(PySequence_List(inputs));
  if (!items.is_valid()) {
    PyErr_Clear();
    return nb::borrow(inputs);
  }
  nb::handle(self).attr("_save_repro_inputs")(items);
  return items;
}

/// In writing, torch's objects for DTensors count as tensors of their own: each has its autograd state and version.
void checkWrittenDtensors(const FusionExecutor& executor, const CallArguments& arguments) {
  for (uint32_t position : executor.writtenInputs()) {
    if (position < arguments.views().size() && arguments.views()[position].isDistributed()) {
      checkWritable(executor.fusion(), position,
                    *tensorOf(arguments.dtensorAt(position)).unsafeGetTensorImpl());
    }
  }
}

void countWritesOfDtensors(const FusionExecutor& executor, const CallArguments& arguments) {
  for (uint32_t position : executor.writtenInputs()) {
    if (arguments.views()[position].isDistributed()) {
      tensorOf(arguments.dtensorAt(position)).unsafeGetTensorImpl()->bump_version();
    }
  }
}

/// DTensors that are given back are the very objects, as other tensors are.
void giveBackDtensors(const FusionExecutor& executor, const CallArguments& arguments,
                      PyObject* results) {
  const std::span<const int32_t> returned = executor.returnedInputs();
  for (size_t i = 0; i < returned.size(); ++i) {
    const auto position = static_cast<size_t>(returned[i]);
    if (returned[i] >= 0 && arguments.views()[position].isDistributed()) {
      PyObject* dtensor = arguments.dtensorAt(position);
      Py_INCREF(dtensor);
      PyList_SetItem(results, static_cast<Py_ssize_t>(i), dtensor);
    }
  }
}

PyObject* run(PyObject* self, Parameters parameters, Way way) {
  if (!nb::inst_ready(self)) {
    throwUser(ErrorKind::Runtime, {"execute", "Fusion does not exist!", "__init__ has not run",
                                   "call super().__init__() in the subclass"});
  }
  // Kept for the call: another thread may define the object anew meanwhile.
  const DefinitionObject object = *nb::inst_ptr<DefinitionObject>(self);
  FusionExecutor& executor = definitionToRun(object).executor();

  nb::object saved;
  if (way == Way::WithOptions && wants(parameters.saveReproInputs)) {
    saved = saveReproInputs(self, parameters.inputs);
    parameters.inputs = saved.ptr();
  }
  CallArguments arguments;
  arguments.collect(parameters.inputs);
  if (way == Way::WithOptions) {
    checkOptions(parameters);
  }
  CallContext context = arguments.context();
  if (parameters.device != nullptr && parameters.device != Py_None) {
    context.device = deviceFor(parameters.device, arguments.views());
  }
  context.dispatchAll = way == Way::OpByOp || dispatchModeIsActive();
  const std::shared_ptr<MeshRecord>& mesh = arguments.mesh();
  if (mesh != nullptr && !executor.writtenInputs().empty()) {
    checkWrittenDtensors(executor, arguments);
  }
  CallResults results;
  executor.run(arguments.views(), context, results);
  if (mesh != nullptr && !executor.writtenInputs().empty()) {
    countWritesOfDtensors(executor, arguments);
  }
  PyObject* list = wrapResults(std::move(results), mesh.get());
  if (mesh != nullptr && !executor.returnedInputs().empty()) {
    giveBackDtensors(executor, arguments, list);
  }
  return list;
}

template <class Call>
PyObject* guarded(const Call& call) noexcept {
  try {
    return call();
  } catch (...) {
    // torch's: raised by Python code under a dispatch mode.
    if (!restoreTorchError()) {
      setPythonError();
    }
  }
  return nullptr;
}

/// In a handler: fake tensors take another way, what torch records of the call and what the results look like. Rethrows other
/// errors.
PyObject* executeOnFakes(PyObject* self, PyObject* inputs, const nb::python_error& error) {
  if (!error.matches(bridgeModule().attr("FakeArgumentError"))) {
    throw;
  }
  if (!nb::hasattr(self, "_execute_on_fakes") ||
      (PyList_Check(inputs) == 0 && PyTuple_Check(inputs) == 0)) {
    throw nb::type_error(nb::str(error.value()).c_str());
  }
  return nb::handle(self).attr("_execute_on_fakes")(nb::handle(inputs)).release().ptr();
}

PyObject* execute(PyObject* self, PyObject* const* args, Py_ssize_t count,
                  PyObject* keywords) noexcept {
  return guarded([&] {
    const bool isPlain = count == 1 && keywords == nullptr;
    const Parameters parameters =
        isPlain ? Parameters{.inputs = args[0]} : parse(args, count, keywords);
    try {
      return run(self, parameters, isPlain ? Way::Plain : Way::WithOptions);
    } catch (const nb::python_error& error) {
      return executeOnFakes(self, parameters.inputs, error);
    }
  });
}

PyObject* executeOpByOp(PyObject* self, PyObject* inputs) noexcept {
  return guarded([&] { return run(self, {.inputs = inputs}, Way::OpByOp); });
}

}  // namespace

nb::class_<DefinitionObject> bindExecute(nb::module_& module) {
  // A method of CPython's own kind: a bound C++ function would cost a tenth of a microsecond more.
  static PyMethodDef methods[] = {
      {"execute", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(execute)),
       METH_FASTCALL | METH_KEYWORDS, kDoc},
      {"_execute_op_by_op", executeOpByOp, METH_O,
       "The same results, each operation computed on its own with ATen: what others are checked "
       "against."},
      {nullptr, nullptr, 0, nullptr}};
  static const PyType_Slot slots[] = {{Py_tp_methods, methods}, {0, nullptr}};
  // Without a dictionary of its own: the Python class below it has one, of the kind that CPython finds methods past fastest.
  return nb::class_<DefinitionObject>(module, "FusionDefinitionBase", nb::type_slots(slots))
      .def(nb::init<>());
}

}  // namespace meshfuse
