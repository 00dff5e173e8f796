// The Python side of definitions: what happens between entering a block and the first execution.
#include "meshfuse/frontend/python/bind_definition.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "meshfuse/base/error.h"
#include "meshfuse/base/text.h"
#include "meshfuse/frontend/definition_source.h"
#include "meshfuse/frontend/python/bind_data_type.h"
#include "meshfuse/frontend/python/bind_fusion.h"
#include "meshfuse/frontend/python/bind_ops.h"
#include "meshfuse/frontend/python/call_text.h"
#include "meshfuse/frontend/python/open_blocks.h"
#include "meshfuse/frontend/python/parse_arguments.h"
#include "meshfuse/frontend/python/python_errors.h"
#include "meshfuse/frontend/python/value_objects.h"
#include "meshfuse/frontend/tensor_descriptor.h"

namespace nb = nanobind;

namespace meshfuse {
namespace {

using Sizes = std::vector<int64_t>;

/// The definition that `op` may add to. AttributeError after the first execution, RuntimeError outside its block.
FusionDefinition& openDefinition(const DefinitionObject& self, std::string_view op) {
  if (self.definition != nullptr && self.definition->isClosed()) {
    throw nb::attribute_error(
        toText({op, "an executed definition is closed", "the definition has been executed",
                "enter a new 'with' block, which defines it anew"})
            .c_str());
  }
  if (self.definition == nullptr || !hasOpenBlock(*self.definition)) {
    throwUser(ErrorKind::Runtime, {op, "a definition is written inside its block",
                                   "the block of this definition is not open on this thread",
                                   "call it inside 'with FusionDefinition() as fd:'"});
  }
  return *self.definition;
}

/// The definition that calls which name none are added to.
const std::shared_ptr<FusionDefinition>& currentDefinition(std::string_view op) {
  const std::shared_ptr<FusionDefinition>* current = innermostDefinition();
  if (current == nullptr) {
    throwUser(ErrorKind::Runtime,
              {op, "a value belongs to a definition", "none is open on this thread",
               "call it inside 'with FusionDefinition() as fd:' or under a FusionGuard"});
  }
  return *current;
}

void enterBlock(DefinitionObject& self) {
  if (self.definition != nullptr && hasOpenBlock(*self.definition)) {
    throwUser(ErrorKind::Runtime,
              {"FusionDefinition", "a definition's block is entered once at a time",
               "the block of this definition is open already", "use another FusionDefinition"});
  }
  self.definition = std::make_shared<FusionDefinition>();
  openBlock(self.definition);
}

void leaveBlock(DefinitionObject& self, bool failed) {
  if (self.definition == nullptr) {
    return;
  }
  closeBlock(*self.definition);
  if (failed) {
    self.definition.reset();
  }
}

/// The three forms of define_tensor.
TensorInput byFlags(Sizes shape, Contiguity contiguity, PrimType dtype, bool isCpu,
                    Sizes strideOrder) {
  return {std::move(shape), std::move(contiguity), dtype, isCpu, std::move(strideOrder)};
}

TensorInput byFlag(Sizes shape, bool contiguity, PrimType dtype, bool isCpu, Sizes strideOrder) {
  Contiguity flags = uniformContiguity(shape, strideOrder, contiguity);
  return byFlags(std::move(shape), std::move(flags), dtype, isCpu, std::move(strideOrder));
}

TensorInput byStrides(const Sizes& sizes, const Sizes& strides, PrimType dtype, bool staticSizes,
                      bool isCpu) {
  return tensorInputOf(sizes, strides, dtype, staticSizes, isCpu);
}

/// What none of the three takes.
TensorInput byNothing(const nb::args& args, const nb::kwargs& kwargs) {
  std::vector<std::string> parts;
  for (nb::handle arg : args) {
    parts.push_back(argumentText(arg.ptr()));
  }
  for (const auto& [name, arg] : kwargs) {
    parts.push_back(nb::cast<std::string>(name) + "=" + argumentText(arg.ptr()));
  }
  throwUser(
      ErrorKind::Type,
      {"define_tensor()", "incompatible function arguments", "got (" + joinText(parts, ", ") + ")",
       "call it as define_tensor(shape: list[int], contiguity: bool | list[bool | None] = "
       "False, dtype: DataType = DataType.Float, is_cpu: bool = False, stride_order: "
       "list[int] = []) or define_tensor(sizes: list[int], strides: list[int], dtype: "
       "DataType = DataType.Float, static_sizes: bool = False, is_cpu: bool = False); "
       "pytorch_utils.torch_dtype_to_nvfuser_dtype gives the DataType of a torch.dtype"});
}

/// `form` with the definition before its arguments; the tensor is the next input.
template <class... Args>
auto asInput(TensorInput (*form)(Args...)) {
  return [form](const DefinitionObject& self, Args... args) -> TensorViewObject {
    FusionDefinition& definition = openDefinition(self, "define_tensor");
    return {{self.definition, definition.defineTensor(form(std::forward<Args>(args)...)).id()}};
  };
}

/// `form` in the innermost open definition; the tensor is no input yet.
template <class... Args>
auto asDeclaration(TensorInput (*form)(Args...)) {
  return [form](Args... args) -> TensorViewObject {
    const std::shared_ptr<FusionDefinition>& current = currentDefinition("define_tensor");
    return {{current, current->declareTensor(form(std::forward<Args>(args)...)).id()}};
  };
}

struct ScalarForm {
  std::optional<PrimType> dtype;
  std::optional<Scalar> constant;
};

/// All forms of define_scalar: a symbolic scalar for a missing value, a constant for a number.
ScalarForm scalarForm(nb::handle value, nb::handle dtype) {
  const auto refuse = [](const char* found) {
    throwUser(ErrorKind::Type,
              {"define_scalar()", "incompatible function arguments", found,
               "call it as define_scalar(dtype: DataType = DataType.Double) or "
               "define_scalar(value: number | None, dtype: DataType | None = None)"});
  };
  std::optional<PrimType> type;
  const bool valueIsType = nb::isinstance<PrimType>(value);
  if (valueIsType && !dtype.is_none()) {
    refuse("got two types");
  }
  if (const nb::handle typeArgument = valueIsType ? value : dtype; !typeArgument.is_none()) {
    PrimType given = PrimType::Null;
    if (!nb::try_cast(typeArgument, given, false)) {
      refuse("dtype is not a DataType");
    }
    type = given;
  }
  std::optional<Scalar> number;
  if (!valueIsType && !value.is_none()) {
    number = numberOf(value.ptr());
    if (!number) {
      refuse("value is not a number of at most 64 bits");
    }
  }
  return {type, number};
}

nb::object defineScalar(const DefinitionObject& self, nb::handle value, nb::handle dtype) {
  const ScalarForm form = scalarForm(value, dtype);
  FusionDefinition& definition = openDefinition(self, "define_scalar");
  const ValueHandle handle = form.constant
                                 ? definition.defineConstant(*form.constant, form.dtype)
                                 : definition.defineScalar(form.dtype.value_or(PrimType::Double));
  return wrapValue(self.definition, handle.id());
}

nb::object declareScalar(nb::handle value, nb::handle dtype) {
  const ScalarForm form = scalarForm(value, dtype);
  const std::shared_ptr<FusionDefinition>& current = currentDefinition("define_scalar");
  const ValueHandle handle = form.constant
                                 ? current->defineConstant(*form.constant, form.dtype)
                                 : current->declareScalar(form.dtype.value_or(PrimType::Double));
  return wrapValue(current, handle.id());
}

std::vector<nb::object> defineVector(const DefinitionObject& self, int64_t size) {
  FusionDefinition& definition = openDefinition(self, "define_vector");
  if (size < 0) {
    throwUser(ErrorKind::Runtime,
              {"define_vector", "a vector's size must not be negative",
               "got " + std::to_string(size), "pass the number of its scalars"});
  }
  std::vector<nb::object> scalars;
  for (int64_t i = 0; i < size; ++i) {
    scalars.push_back(wrapValue(self.definition, definition.defineScalar(PrimType::Int).id()));
  }
  return scalars;
}

void addOutput(const DefinitionObject& self, nb::handle output, nb::handle aliasInput) {
  const auto handleOf = [](nb::handle object, const char* name) {
    const ValueObject* value = valueOf(object.ptr());
    if (value == nullptr) {
      throwUser(
          ErrorKind::Type,
          {"add_output()", "incompatible function arguments",
           std::string(name) + " is " + argumentText(object.ptr()),
           "call it as add_output(output: TensorView, alias_input: TensorView | None = None)"});
    }
    return ValueHandle(*value->definition, value->id);
  };
  const ValueHandle value = handleOf(output, "output");
  FusionDefinition& definition = openDefinition(self, "add_output");
  if (aliasInput.is_none()) {
    definition.addOutput(value);
  } else {
    definition.addOutput(value, handleOf(aliasInput, "alias_input"));
  }
}

void adopt(DefinitionObject& self, const FusionObject& fusion) {
  self.definition = fusion.definition;
}

bool isClosed(const DefinitionObject& self) {
  return self.definition != nullptr && self.definition->isClosed();
}

void close(const DefinitionObject& self) { definitionToRun(self).executor(); }

std::string source(const DefinitionObject& self) {
  return definitionSource(self.definition == nullptr ? Fusion() : self.definition->fusion());
}

/// (True, None), or (False, why) for a definition that cannot be executed.
std::pair<bool, std::optional<std::string>> validateDefinition(const DefinitionObject& self) {
  if (self.definition == nullptr) {
    return {false, "Fusion does not exist!"};
  }
  if (self.definition->isClosed()) {
    openDefinition(self, "validate_definition");
  }
  if (self.definition->fusion().vals().empty()) {
    return {false, "Fusion is empty!"};
  }
  if (self.definition->fusion().outputs().empty() && self.definition->fusion().writes().empty()) {
    return {false, "Fusion has no outputs!"};
  }
  return {true, std::nullopt};
}

std::pair<Contiguity, Sizes> describeTensor(const Sizes& sizes, const Sizes& strides) {
  TensorDescriptor descriptor = computeTensorDescriptor(sizes, strides);
  return {std::move(descriptor.contiguity), std::move(descriptor.strideOrder)};
}

constexpr const char* kDefineTensorDoc =
    "A tensor input, next in order. Sizes: -1 symbolic, 0 empty, 1 broadcast, n static. Contiguity "
    "is in allocation order, None "
    "exactly on broadcast dimensions. stride_order[d] is the position of dimension d in memory, 0 "
    "being innermost. With sizes and "
    "strides, both are derived, and sizes are symbolic unless static_sizes.";

std::string explain(const DefinitionObject& self) { return definitionToRun(self).explain(); }

/// define_tensor in its forms, as a method of `scope` or a function in it.
template <class Scope, class Wrap>
void bindTensorForms(Scope& scope, const Wrap& wrap, const char* doc, const nb::sig& refusal) {
  using nb::literals::operator""_a;
  scope
      .def("define_tensor", wrap(byFlags), "shape"_a, "contiguity"_a, "dtype"_a = PrimType::Float,
           "is_cpu"_a = false, "stride_order"_a = Sizes{}, doc)
      .def("define_tensor", wrap(byFlag), "shape"_a, "contiguity"_a = false,
           "dtype"_a = PrimType::Float, "is_cpu"_a = false, "stride_order"_a = Sizes{})
      .def("define_tensor", wrap(byStrides), "sizes"_a, "strides"_a, "dtype"_a = PrimType::Float,
           "static_sizes"_a = false, "is_cpu"_a = false)
      .def("define_tensor", wrap(byNothing), refusal);
}

void bindDefining(nb::class_<DefinitionObject>& definition) {
  using nb::literals::operator""_a;
  bindTensorForms(
      definition, [](auto form) { return asInput(form); }, kDefineTensorDoc,
      nb::sig("def define_tensor(self, *args: typing.Never, **kwargs: typing.Never) -> "
              "typing.NoReturn"));
  definition
      .def("define_scalar", defineScalar, "value"_a = nb::none(), "dtype"_a = nb::none(),
           nb::sig("def define_scalar(self, value: DataType | bool | int | float | complex | None "
                   "= None, "
                   "dtype: DataType | None = None) -> Scalar"),
           "A scalar: symbolic and the next input without a value, else a constant. A bool without "
           "a dtype is an Int.")
      .def("define_vector", defineVector, "size"_a,
           nb::sig("def define_vector(self, size: int) -> list[Scalar]"),
           "`size` symbolic Int scalars, each its own input.")
      .def(
          "add_output", addOutput, nb::arg("output").none(), "alias_input"_a = nb::none(),
          nb::sig("def add_output(self, output: TensorView, alias_input: TensorView | None = None) "
                  "-> None"),
          "Returns this tensor from execute, after those added before. With alias_input, an input "
          "of the same type and sizes, execute writes it into that input instead, when "
          "everything has been computed from the inputs as they were before; it is returned only "
          "where it is added without alias_input as well, and then as that input itself.");
}

void bindDeclaring(nb::module_& module) {
  using nb::literals::operator""_a;
  bindTensorForms(
      module, [](auto form) { return asDeclaration(form); },
      "As FusionDefinition.define_tensor, in the innermost open definition; Fusion.add_input makes "
      "the tensor an input.",
      nb::sig("def define_tensor(*args: typing.Never, **kwargs: typing.Never) -> typing.NoReturn"));
  module.def(
      "define_scalar", declareScalar, "value"_a = nb::none(), "dtype"_a = nb::none(),
      nb::sig("def define_scalar(value: DataType | bool | int | float | complex | None = None, "
              "dtype: DataType | None = None) -> Scalar"),
      "As FusionDefinition.define_scalar, in the innermost open definition; Fusion.add_input "
      "makes a scalar without a value an input.");
}

void bindLifeCycle(nb::class_<DefinitionObject>& definition) {
  using nb::literals::operator""_a;
  definition.def("_enter_block", enterBlock)
      .def("_leave_block", leaveBlock, "failed"_a)
      .def("_adopt", adopt, "fusion"_a,
           "Becomes another definition: shares its fusion and what was prepared for it.")
      .def("_close", close, "Makes it ready for execution, which ends defining.")
      .def_prop_ro("_is_closed", isClosed)
      .def_prop_ro("_is_defined",
                   [](const DefinitionObject& self) { return self.definition != nullptr; })
      .def("validate_definition", validateDefinition,
           "(True, None), or (False, why) where there is nothing to execute.")
      .def("explain", explain,
           "The program of the last call as text: how it runs, each value with its sizes and "
           "placement, "
           "the collectives and their bytes. RuntimeError before the first call.")
      .def("__repr__", source, "The Python source of a function that makes the same definition.")
      .def_prop_ro("fusion", fusionOf, "The fusion, to inspect and compare.");
}

}  // namespace

FusionDefinition& definitionToRun(const DefinitionObject& self) {
  if (self.definition == nullptr) {
    throwUser(ErrorKind::NotImplemented,
              {"execute", "Fusion does not exist!",
               "no block has defined it, or its last block ended with an exception",
               "define it inside 'with FusionDefinition() as fd:'"});
  }
  return *self.definition;
}

void bindDefinition(nb::module_& module, nb::class_<DefinitionObject>& definition) {
  registerErrorTranslator();
  bindDataType(module);
  bindValues(module);
  bindFusion(module);
  bindOps(module);
  bindDefining(definition);
  bindDeclaring(module);
  bindLifeCycle(definition);
  module.def("compute_tensor_descriptor", describeTensor, nb::arg("sizes"), nb::arg("strides"),
             "(contiguity, stride_order) of a tensor with these sizes and strides.");
}

}  // namespace meshfuse
