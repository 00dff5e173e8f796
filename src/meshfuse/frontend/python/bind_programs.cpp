#include "meshfuse/frontend/python/bind_programs.h"

#include <span>
#include <string>
#include <tuple>
#include <vector>

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "meshfuse/frontend/python/bind_definition.h"
#include "meshfuse/frontend/python/call_arguments.h"
#include "meshfuse/runtime/fusion_executor.h"

namespace nb = nanobind;

namespace meshfuse {

namespace {

void compileFor(const DefinitionObject& self, nb::handle inputs) {
  // Kept for the call: another thread may define the object anew meanwhile.
  DefinitionObject kept;
  kept.definition = self.definition;
  FusionExecutor& executor = definitionToRun(kept).executor();
  CallArguments arguments;
  arguments.collect(inputs.ptr());
  executor.compile(arguments.views(), arguments.context());
}

/// Whether a call with these arguments has its program.
bool isPrepared(const DefinitionObject& self, nb::handle inputs) {
  CallArguments arguments;
  arguments.collect(inputs.ptr());
  CallContext context = arguments.context();
  context.dispatchAll = dispatchModeIsActive();
  return definitionToRun(self).executor().isBound(arguments.views(), context);
}

using PlacementParts = std::tuple<int, int64_t, int64_t, std::string>;

/// For each output of the last call the ranks and the shape of its mesh and its placements; nothing where there is no mesh.
nb::list outputShardings(const DefinitionObject& self) {
  nb::list shardings;
  for (const ShardingId id : definitionToRun(self).executor().outputShardings()) {
    std::vector<int64_t> ranks;
    for (int64_t i = 0; i < id->mesh.size(); ++i) {
      ranks.push_back(id->mesh.rankAtLinear(i));
    }
    std::vector<PlacementParts> placements;
    for (const Placement& placement : id->placements) {
      placements.emplace_back(static_cast<int>(placement.kind), placement.dim,
                              placement.splitFactor, nameOf(placement.reduce));
    }
    const std::span<const int64_t> shape = id->mesh.shape();
    shardings.append(nb::make_tuple(ranks, std::vector<int64_t>(shape.begin(), shape.end()),
                                    placements, id->mesh.toText()));
  }
  return shardings;
}

}  // namespace

void bindPrograms(nb::class_<DefinitionObject>& definition) {
  definition
      .def("_compile", compileFor, nb::arg("inputs"),
           "Makes the program and its kernels for such inputs, whose elements are not read.")
      .def("_is_prepared", isPrepared, nb::arg("inputs"))
      .def("_output_shardings", outputShardings);
}

}  // namespace meshfuse
