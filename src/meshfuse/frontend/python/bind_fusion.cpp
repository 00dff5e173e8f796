// A fusion as Python sees it: to inspect, print and compare.
#include "meshfuse/frontend/python/bind_fusion.h"

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "meshfuse/base/error.h"
#include "meshfuse/frontend/definition_source.h"
#include "meshfuse/frontend/fusion_forms.h"
#include "meshfuse/frontend/python/bind_definition.h"
#include "meshfuse/frontend/python/open_blocks.h"
#include "meshfuse/frontend/python/parse_arguments.h"
#include "meshfuse/frontend/python/torch_objects.h"
#include "meshfuse/frontend/python/value_objects.h"
#include "meshfuse/frontend/validation.h"
#include "meshfuse/ir/print.h"
#include "meshfuse/runtime/input_writes.h"
#include "meshfuse/runtime/packed_tensors.h"

namespace nb = nanobind;

namespace meshfuse {
namespace {

std::vector<nb::object> wrapAll(const FusionObject& self, std::span<const ValId> ids) {
  std::vector<nb::object> values;
  for (ValId id : ids) {
    values.push_back(wrapValue(self.definition, id));
  }
  return values;
}

std::vector<nb::object> inputs(const FusionObject& self) {
  return wrapAll(self, self.definition->fusion().inputs());
}
std::vector<nb::object> outputs(const FusionObject& self) {
  const Fusion& fusion = self.definition->fusion();
  std::vector<ValId> ids;
  forEachResult(
      fusion, [&](ValId output) { ids.push_back(output); },
      [&](const InputWrite& write) {
        if (!fusion.isOutput(write.value) && std::ranges::find(ids, write.value) == ids.end()) {
          ids.push_back(write.value);
        }
      });
  return wrapAll(self, ids);
}

/// The element types of the results, in the order of reductionSizes().
std::vector<PrimType> resultTypes(const FusionObject& self) {
  const Fusion& fusion = self.definition->fusion();
  std::vector<PrimType> types;
  for (ValId output : fusion.outputs()) {
    types.push_back(fusion.val(output).dtype());
  }
  for (const InputWrite& write : fusion.writes()) {
    types.push_back(fusion.val(write.value).dtype());
  }
  return types;
}

std::vector<nb::object> vals(const FusionObject& self) {
  std::vector<ValId> ids;
  for (uint32_t i = 0; i < self.definition->fusion().vals().size(); ++i) {
    ids.push_back(ValId{i});
  }
  return wrapAll(self, ids);
}

std::string source(const FusionObject& self) { return definitionSource(self.definition->fusion()); }

FusionObject copy(const FusionObject& self) {
  return {std::make_shared<FusionDefinition>(self.definition->fusion())};
}

FusionObject copyInDouble(const FusionObject& self) {
  return {std::make_shared<FusionDefinition>(inDouble(self.definition->fusion()))};
}

FusionObject copyWithoutWrites(const FusionObject& self) {
  return {std::make_shared<FusionDefinition>(withoutWrites(self.definition->fusion()))};
}

/// `inputs`: the arguments of a call, tensors and numbers, as many as the fusion has inputs.
std::vector<int64_t> reductionSizesOf(const FusionObject& self, const nb::list& inputs) {
  std::vector<InputShape> shapes;
  const Fusion& fusion = self.definition->fusion();
  for (nb::handle input : inputs) {
    const Val& val = fusion.val(fusion.inputs()[shapes.size()]);
    InputShape& shape = shapes.emplace_back();
    if (isTensorObject(input.ptr())) {
      const at::Tensor& tensor = tensorOf(input.ptr());
      shape.sizes = sizesInElements(val.tensor(), ArgView::of(tensor.unsafeGetTensorImpl()));
    } else {
      shape.value = numberOf(input.ptr());
    }
  }
  return reductionSizes(fusion, shapes);
}

std::string math(const FusionObject& self, bool fromOutputsOnly) {
  const Fusion& fusion = self.definition->fusion();
  return fromOutputsOnly ? printNeeded(fusion) : print(fusion);
}

std::string text(const FusionObject& self) { return print(self.definition->fusion()); }

nb::object isSameFusion(const FusionObject& self, nb::handle other) {
  if (!nb::isinstance<FusionObject>(other)) {
    return nb::borrow(Py_NotImplemented);
  }
  const auto& fusion = *nb::inst_ptr<FusionObject>(other);
  return nb::bool_(sameDefinition(self.definition->fusion(), fusion.definition->fusion()));
}

ValueHandle handleOf(const ValueObject& value) { return {*value.definition, value.id}; }

void addInput(const FusionObject& self, const ValueObject& input) {
  self.definition->addInput(handleOf(input));
}

void addOutput(const FusionObject& self, const ValueObject& output,
               const TensorViewObject* aliasInput) {
  if (aliasInput != nullptr) {
    self.definition->addOutput(handleOf(output), handleOf(*aliasInput));
  } else {
    self.definition->addOutput(handleOf(output));
  }
}

/// Makes a fusion the one that operations of this thread are added to, for as long as the object lives.
class FusionGuard {
 public:
  explicit FusionGuard(const FusionObject& fusion) : definition_(fusion.definition) {
    if (definition_->isClosed()) {
      throwUser(ErrorKind::Runtime, {"FusionGuard", "an executed definition is closed",
                                     "the fusion has been executed", "make a new Fusion"});
    }
    openBlock(definition_);
  }
  ~FusionGuard() { closeBlock(*definition_); }
  FusionGuard(const FusionGuard&) = delete;
  FusionGuard& operator=(const FusionGuard&) = delete;

 private:
  std::shared_ptr<FusionDefinition> definition_;
};

}  // namespace

void bindFusion(nb::module_& module) {
  nb::class_<FusionObject>(module, "Fusion", "The tensor program of a definition.")
      .def(
          "__init__",
          [](FusionObject* self) { new (self) FusionObject{std::make_shared<FusionDefinition>()}; },
          "An empty one: a FusionGuard says where operations and define_tensor go.")
      .def("add_input", addInput, nb::arg("input"),
           "Makes a value of define_tensor or define_scalar the next input.")
      .def(
          "add_output", addOutput, nb::arg("output"), nb::arg("alias_input").none() = nb::none(),
          nb::sig("def add_output(self, output: TensorView, alias_input: TensorView | None = None) "
                  "-> None"),
          "As FusionDefinition.add_output.")
      .def("inputs", inputs, nb::sig("def inputs(self) -> list[Val]"),
           "In the order of execute's arguments.")
      .def("outputs", outputs, nb::sig("def outputs(self) -> list[Val]"),
           "In the order of execute's results; among them, where they were added, the tensors that "
           "are written into inputs and not returned.")
      .def("vals", vals, nb::sig("def vals(self) -> list[Val]"),
           "All values, in the order they were made.")
      .def("print_math", math, nb::arg("from_outputs_only") = true,
           "Its text, one line a value: inputs and what the outputs need, or all values.")
      .def("__str__", text)
      .def("_copy", copy, "An equal fusion that is not closed.")
      .def("__copy__", copy)
      .def(
          "__deepcopy__", [](const FusionObject& self, nb::handle) { return copy(self); },
          nb::arg("memo"), nb::sig("def __deepcopy__(self, memo: object) -> Fusion"))
      .def("_in_double", copyInDouble,
           "The same program with Double and ComplexDouble for every floating and complex type.")
      .def("_without_writes", copyWithoutWrites,
           "The same program that returns what it would write, after its results.")
      .def("_reduction_sizes", reductionSizesOf, nb::arg("inputs"),
           "For each result of execute, then for each value that is written into an input, how "
           "many terms each of its elements combines.")
      .def("_result_types", resultTypes, "The types of the same.")
      .def(
          "_written_inputs",
          [](const FusionObject& self) { return writtenInputs(self.definition->fusion()); },
          "The positions of the inputs that execute writes, in the order of the writes.")
      .def(
          "_returned_inputs",
          [](const FusionObject& self) { return returnedInputs(self.definition->fusion()); },
          "For each result the position of the input that it is, or -1; empty where none is one.")
      .def("__eq__", isSameFusion, nb::sig("def __eq__(self, other: object, /) -> bool"),
           "Whether both make the same definition: inputs, calls, outputs and types.")
      .def("__hash__",
           [](const FusionObject& self) { return structuralHash(self.definition->fusion()) >> 1; });
  nb::class_<FusionGuard>(module, "FusionGuard",
                          "Makes a fusion the one that operations of this thread are added to, for "
                          "as long as the guard lives.")
      .def(nb::init<const FusionObject&>(), nb::arg("fusion"));
  module.def("translate_fusion", source, nb::arg("fusion"),
             "The Python source of a function that makes the same definition.");
}

FusionObject fusionOf(const DefinitionObject& self) {
  definitionToRun(self);
  return {self.definition};
}

}  // namespace meshfuse
