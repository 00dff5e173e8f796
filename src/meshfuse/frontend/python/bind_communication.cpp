// Meshes bound to process groups, in Python.
#include "meshfuse/frontend/python/bind_communication.h"

#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "meshfuse/base/error.h"
#include "meshfuse/communication/c10d_collectives.h"
#include "meshfuse/communication/deadline.h"
#include "meshfuse/communication/mesh_binding.h"
#include "meshfuse/frontend/python/torch_objects.h"

namespace nb = nanobind;

namespace meshfuse {
namespace {

/// The Python object: a binding with its collectives, callable one by one.
struct BoundMesh {
  std::shared_ptr<MeshBinding> binding;
  Collectives collectives;
};

using Collective = decltype(Collectives::allReduce);

std::optional<std::chrono::milliseconds> milliseconds(std::optional<double> seconds) {
  constexpr double kLongest = 1e9;  // seconds; keeps milliseconds far from overflow
  if (!seconds) {
    return std::nullopt;
  }
  if (!(*seconds <= kLongest)) {
    throwUser(ErrorKind::Value,
              {"collective deadline", "a deadline is a number of seconds up to 1e9",
               "got " + std::to_string(*seconds), "pass a smaller number, or None"});
  }
  return std::chrono::milliseconds(std::llround(*seconds * 1e3));
}

const at::Tensor& givenTensor(nb::handle object) {
  if (!isTensorObject(object.ptr())) {
    throwUser(ErrorKind::Type,
              {"collective", "it takes a torch.Tensor",
               std::string("got a ") + Py_TYPE(object.ptr())->tp_name, "pass the local tensor"});
  }
  return tensorOf(object.ptr());
}

void checkIndex(const char* what, int64_t index, int64_t count) {
  if (index < 0 || index >= count) {
    throwUser(ErrorKind::Index, {"collective", std::string("a ") + what + " counts from 0",
                                 "got " + std::to_string(index) + " of " + std::to_string(count),
                                 std::string("pass a ") + what + " that exists"});
  }
}

ReduceKind reduceNamed(const std::string& name) {
  const std::optional<ReduceKind> kind = reduceKindFromName(name);
  if (!kind) {
    throwUser(ErrorKind::Value, {"collective", "a reduction is sum, avg, max, min or product",
                                 "got '" + name + "'", "pass one of these"});
  }
  return *kind;
}

nb::object runCollective(const BoundMesh& mesh, const Collective& collective, nb::handle tensor,
                         int64_t meshAxis, int64_t dim, ReduceKind reduce) {
  checkIndex("mesh axis", meshAxis, mesh.binding->mesh().ndim());
  LocalTensors results;
  {
    const LocalTensors locals{givenTensor(tensor)};
    const nb::gil_scoped_release released;
    results = collective({&mesh.binding->mesh(), meshAxis, dim, reduce}, locals);
  }
  return nb::steal(tensorObject(std::move(results[0])));
}

nb::list recordsOf(const BoundMesh& mesh) {
  nb::list records;
  for (const CollectiveRecord& record : mesh.binding->records()) {
    const std::string_view reduce =
        record.kind == CollectiveKind::AllGather ? std::string_view() : nameOf(record.reduce);
    const std::string_view kind = nameOf(record.kind);
    records.append(nb::make_tuple(nb::str(kind.data(), kind.size()),
                                  nb::str(reduce.data(), reduce.size()), record.meshAxis,
                                  record.count, record.bytes));
  }
  return records;
}

void bindMesh(nb::module_& module) {
  nb::class_<BoundMesh>(module, "MeshBinding",
                        "A device mesh bound to the process group of each of its axes.")
      .def(
          "__init__",
          [](BoundMesh* self, std::vector<int64_t> ranks, std::vector<int64_t> shape,
             std::vector<std::string> groupNames, int64_t rank) {
            std::shared_ptr<MeshBinding> binding = MeshBinding::fromGroupNames(
                DeviceMesh::fromRanks(std::move(ranks), std::move(shape)), std::move(groupNames),
                rank);
            Collectives collectives = makeCollectives(binding);
            new (self) BoundMesh{std::move(binding), std::move(collectives)};
          },
          nb::arg("ranks"), nb::arg("shape"), nb::arg("group_names"), nb::arg("rank"))
      .def_prop_ro("id", [](const BoundMesh& self) { return self.binding->id(); })
      .def_prop_ro("rank", [](const BoundMesh& self) { return self.binding->rank(); })
      .def_prop_ro("coordinate", [](const BoundMesh& self) { return self.binding->coordinate(); })
      .def(
          "set_deadline",
          [](const BoundMesh& self, std::optional<double> seconds) {
            self.binding->setDeadline(milliseconds(seconds));
          },
          nb::arg("seconds").none(),
          "Seconds that a collective on this mesh may take; None for the default.")
      .def("records", recordsOf,
           "What ran: (kind, reduction, mesh axis, calls, bytes of the axis-wide tensor).")
      .def("reset_records", [](const BoundMesh& self) { self.binding->resetRecords(); })
      .def(
          "all_reduce",
          [](const BoundMesh& self, nb::handle tensor, int64_t meshAxis,
             const std::string& reduce) {
            return runCollective(self, self.collectives.allReduce, tensor, meshAxis, -1,
                                 reduceNamed(reduce));
          },
          nb::arg("tensor"), nb::arg("mesh_axis") = 0, nb::arg("reduce") = "sum")
      .def(
          "all_gather",
          [](const BoundMesh& self, nb::handle tensor, int64_t meshAxis, int64_t dim) {
            checkIndex("dimension", dim, givenTensor(tensor).dim());
            return runCollective(self, self.collectives.allGather, tensor, meshAxis, dim,
                                 ReduceKind::Sum);
          },
          nb::arg("tensor"), nb::arg("mesh_axis") = 0, nb::arg("dim") = 0)
      .def(
          "reduce_scatter",
          [](const BoundMesh& self, nb::handle tensor, int64_t meshAxis, int64_t dim,
             const std::string& reduce) {
            checkIndex("dimension", dim, givenTensor(tensor).dim());
            return runCollective(self, self.collectives.reduceScatter, tensor, meshAxis, dim,
                                 reduceNamed(reduce));
          },
          nb::arg("tensor"), nb::arg("mesh_axis") = 0, nb::arg("dim") = 0,
          nb::arg("reduce") = "sum")
      .def(
          "agree",
          [](const BoundMesh& self, uint64_t fingerprint, const std::string& what) {
            const nb::gil_scoped_release released;
            self.collectives.agree(self.binding->mesh(), fingerprint, [&] { return what; });
          },
          nb::arg("fingerprint"), nb::arg("what"),
          "Raise RuntimeError, naming the ranks, unless all ranks call it with one fingerprint.");
}

}  // namespace

void bindCommunication(nb::module_& module) {
  bindMesh(module);
  module.def(
      "set_collective_deadline",
      [](std::optional<double> seconds) { setDefaultDeadline(milliseconds(seconds)); },
      nb::arg("seconds").none(),
      "Seconds that collectives may take unless their mesh says otherwise; None for "
      "MESHFUSE_COLLECTIVE_TIMEOUT_S or each process group's own timeout.");
  module.def("release_groups", &releaseGroups, nb::call_guard<nb::gil_scoped_release>(),
             "Let go of all process groups and stores, as before destroy_process_group.");
  module.def("shutdown_communication", &shutdownCommunication,
             nb::call_guard<nb::gil_scoped_release>(),
             "release_groups for good: every later use raises.");
  nb::module_::import_("atexit").attr("register")(module.attr("shutdown_communication"));
}

}  // namespace meshfuse
