#include "meshfuse/communication/c10d_collectives.h"

#include <atomic>
#include <utility>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include "meshfuse/base/error.h"
#include "meshfuse/communication/agreement.h"
#include "meshfuse/communication/group_state.h"
#include "meshfuse/communication/group_use_on_axis.h"
#include "meshfuse/communication/heartbeat.h"
#include "meshfuse/communication/reduction.h"
#include "meshfuse/communication/store_poll.h"

namespace meshfuse {
namespace {

struct Call {
  MeshBinding& binding;
  CollectiveKind kind;
  ReduceKind reduce;
  int64_t meshAxis;
  int64_t bytes;  // of CollectiveRecord
  at::DeviceType device;

  std::string text() const {
    std::string out(nameOf(kind));
    if (kind != CollectiveKind::AllGather) {
      out.append("(").append(nameOf(reduce)).append(")");
    }
    return out + " over axis " + std::to_string(meshAxis) + " of " + binding.mesh().toText() +
           " of " + std::to_string(bytes) + " bytes";
  }
};

[[noreturn]] void raiseFault(const Call& call, GroupState& state,
                             std::chrono::milliseconds deadline, bool timedOut,
                             const std::string& error) {
  const std::string backend = "the backend says '" + shortText(error) + "'";
  std::string found = describeFault(state, error, timedOut);
  found = found.empty() ? "no rank could be named; " + backend : found.substr(2) + "; " + backend;
  const UserError fault(
      ErrorKind::Runtime,
      {call.text(), "all ranks of the axis take part within " + toText(deadline), found,
       "make the process group and the mesh again without the failed ranks, or restart all ranks; "
       "this group "
       "is not used again"});
  state.poison(fault.what());
  throw fault;
}

// Runs `collective` on the axis's group: alone, with all members known, by the deadline.
template <class Collective>
void runOnAxis(const Call& call, const Collective& collective) {
  const OpText op = [&] { return call.text(); };
  GroupState& state = *call.binding.group(call.meshAxis);
  const GroupUse use(state, op);
  const std::chrono::milliseconds deadline = deadlineFor(call.binding, use.group(), call.device);
  if (!use.group().isFake()) {
    joinAxis(call.binding, call.meshAxis, use, op, deadline);
  }
  const Clock::time_point start = Clock::now();
  try {
    collective(use.group(), deadline);
  } catch (const std::exception& error) {
    raiseFault(call, state, deadline, Clock::now() - start >= deadline, error.what());
  }
  call.binding.record(call.kind, call.reduce, call.meshAxis, call.bytes);
}

const at::Tensor& theLocal(const MeshBinding& binding, const CollectiveSpec& spec,
                           const LocalTensors& locals) {
  internalCheck(locals.size() == 1, "a process of a c10d mesh hosts one local tensor");
  internalCheck(spec.mesh != nullptr && spec.meshAxis >= 0 && spec.meshAxis < spec.mesh->ndim(),
                "a collective names an axis of its mesh");
  if (spec.mesh != &binding.mesh() && !(*spec.mesh == binding.mesh())) {
    throwUser(ErrorKind::Value,
              {"collective", "a program's collectives run on the mesh that it is bound to",
               "one is on " + spec.mesh->toText() + ", the program is bound to " +
                   binding.mesh().toText(),
               "redistribute the tensors so that they live on one mesh"});
  }
  return locals[0];
}

int64_t bytesOf(const at::Tensor& tensor) { return static_cast<int64_t>(tensor.nbytes()); }

// What the backend gets: another tensor object on the same memory, which no Python object can come to know.
at::Tensor flat(const at::Tensor& contiguous) { return contiguous.view({contiguous.numel()}); }

// Element types don't matter where nothing is computed.
at::Tensor flatBytes(const at::Tensor& contiguous) { return flat(contiguous).view(at::kByte); }

at::Tensor allReduceLocal(MeshBinding& binding, const CollectiveSpec& spec,
                          const at::Tensor& local) {
  const Call call{binding,        CollectiveKind::AllReduce, spec.reduce, spec.meshAxis,
                  bytesOf(local), local.device().type()};
  checkReducible([&] { return call.text(); }, local.scalar_type(), spec.reduce);
  const at::Tensor wire = toWire(local, spec.reduce);
  runOnAxis(call, [&, buffer = flat(wire)](const LiveGroup& group, auto deadline) {
    group.allReduce(buffer, wireKind(spec.reduce), deadline);
  });
  return fromWire(wire, local.scalar_type(), spec.reduce, binding.mesh().size(spec.meshAxis));
}

at::Tensor allGatherLocal(MeshBinding& binding, const CollectiveSpec& spec,
                          const at::Tensor& local) {
  const int64_t count = binding.mesh().size(spec.meshAxis);
  internalCheck(spec.dim >= 0 && spec.dim < local.dim(), "an all-gather names a dimension");
  const at::Tensor input = local.resolve_conj().resolve_neg().contiguous();
  std::vector<int64_t> sizes = input.sizes().vec();
  sizes.insert(sizes.begin(), count);
  const at::Tensor stacked = at::empty(sizes, input.options());
  const Call call{binding,       CollectiveKind::AllGather, spec.reduce,
                  spec.meshAxis, bytesOf(stacked),          local.device().type()};
  runOnAxis(call,
            [out = flatBytes(stacked), in = flatBytes(input)](
                const LiveGroup& group, auto deadline) { group.allGather(out, in, deadline); });
  sizes.erase(sizes.begin());
  sizes[spec.dim] *= count;
  return stacked.movedim(0, spec.dim).reshape(sizes).contiguous();
}

at::Tensor reduceScatterLocal(MeshBinding& binding, const CollectiveSpec& spec,
                              const at::Tensor& local) {
  const int64_t count = binding.mesh().size(spec.meshAxis);
  internalCheck(spec.dim >= 0 && spec.dim < local.dim(), "a reduce-scatter names a dimension");
  const Call call{binding,        CollectiveKind::ReduceScatter, spec.reduce, spec.meshAxis,
                  bytesOf(local), local.device().type()};
  const OpText op = [&] { return call.text(); };
  checkReducible(op, local.scalar_type(), spec.reduce);
  std::vector<int64_t> sizes = local.sizes().vec();
  if (sizes[spec.dim] % count != 0) {
    throwUser(ErrorKind::Value, {op(), "the scattered dimension divides by the ranks of the axis",
                                 "dimension " + std::to_string(spec.dim) + " has size " +
                                     std::to_string(sizes[spec.dim]) + ", the axis " +
                                     std::to_string(count) + " ranks",
                                 "pad the dimension, or keep the tensor replicated"});
  }
  sizes[spec.dim] /= count;
  sizes.insert(sizes.begin() + spec.dim, count);
  const at::Tensor wire = toWire(local.reshape(sizes).movedim(spec.dim, 0), spec.reduce);
  const at::Tensor chunk = at::empty(wire.sizes().slice(1), wire.options());
  runOnAxis(call, [&, out = flat(chunk), in = flat(wire)](const LiveGroup& group, auto deadline) {
    group.reduceScatter(out, in, wireKind(spec.reduce), deadline);
  });
  return fromWire(chunk, local.scalar_type(), spec.reduce, count);
}

std::atomic<bool> ended{false};

void checkNotEnded() {
  if (ended.load(std::memory_order_relaxed)) {
    throwUser(ErrorKind::Runtime, {"collective", "meshes are used before the process ends",
                                   "communication has been shut down",
                                   "run distributed calls before exit handlers run"});
  }
}

using LocalFunction = at::Tensor (*)(MeshBinding&, const CollectiveSpec&, const at::Tensor&);

auto hosted(std::shared_ptr<MeshBinding> binding, LocalFunction function) {
  return [binding = std::move(binding), function](const CollectiveSpec& spec,
                                                  const LocalTensors& locals) -> LocalTensors {
    checkNotEnded();
    const at::Tensor& local = theLocal(*binding, spec, locals);
    if (binding->mesh().size(spec.meshAxis) == 1) {
      return locals;
    }
    const c10::NoGradGuard noGrad;
    return {function(*binding, spec, local)};
  };
}

}  // namespace

Collectives makeCollectives(const std::shared_ptr<MeshBinding>& binding) {
  Collectives collectives;
  collectives.allReduce = hosted(binding, allReduceLocal);
  collectives.allGather = hosted(binding, allGatherLocal);
  collectives.reduceScatter = hosted(binding, reduceScatterLocal);
  collectives.agree = [binding](const DeviceMesh& mesh, uint64_t fingerprint, const OpText& what) {
    checkNotEnded();
    internalCheck(&mesh == &binding->mesh() || mesh == binding->mesh(),
                  "ranks agree on the mesh that the program is bound to");
    agree(*binding, fingerprint, what);
  };
  return collectives;
}

void releaseGroups() {
  stopHeartbeat();
  for (const std::shared_ptr<GroupState>& state : GroupState::all()) {
    state->release();
  }
}

void shutdownCommunication() {
  ended = true;
  releaseGroups();
}

}  // namespace meshfuse
