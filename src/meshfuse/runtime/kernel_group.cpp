#include "meshfuse/runtime/kernel_group.h"

#include <algorithm>

#include "meshfuse/base/error.h"
#include "meshfuse/base/memory_order.h"
#include "meshfuse/codegen/cpu_text.h"
#include "meshfuse/lowering/kernel_integers.h"
#include "meshfuse/lowering/loop_kernel.h"
#include "meshfuse/lowering/violations.h"
#include "meshfuse/ops/infer.h"
#include "meshfuse/ops/pointwise.h"
#include "meshfuse/scheduling/loop_form.h"
#include "meshfuse/scheduling/violations.h"

namespace meshfuse {

namespace {

/// Elements from one iteration to the next, by loop, where one step along dimension d is `strides[d]` elements.
std::vector<int64_t> loopStrides(const DimLoops& dims, std::span<const int64_t> strides,
                                 std::span<const int64_t> extents) {
  std::vector<int64_t> result(extents.size(), 0);
  for (size_t dim = 0; dim < dims.size(); ++dim) {
    int64_t stride = strides[dim];
    for (auto loop = dims[dim].rbegin(); loop != dims[dim].rend(); ++loop) {
      result[static_cast<size_t>(*loop)] = stride;
      stride *= extents[static_cast<size_t>(*loop)];
    }
  }
  return result;
}

NestAccess accessOf(const GraphTensor& tensor, bool isOutput, std::span<const int64_t> extents,
                    const TensorLayouts& layouts) {
  return {bytesOf(tensor.type), isOutput,
          loopStrides(tensor.loops, layouts[tensor.val].strides, extents)};
}

NestAccess accessOf(const GraphIndex& index, std::span<const int64_t> extents,
                    const TensorLayouts& layouts) {
  const std::vector<int64_t> strides =
      index.strides.empty() ? rowMajorStrides(layouts[index.val].sizes) : index.strides;
  return {0, false, loopStrides(index.loops, strides, extents)};
}

int64_t extentOf(const Fusion& fusion, const GroupLoop& loop, const TensorLayouts& layouts) {
  if (loop.factor < 0) {
    return layouts[loop.val].sizes[static_cast<size_t>(loop.dim)];
  }
  const Expr& divider = fusion.expr(fusion.val(loop.val).definition);
  return dimMapOf(fusion, divider).factors[static_cast<size_t>(loop.factor)].extent.constant();
}

/// Bytes an element of what reductions are followed by, which are read a second time.
int64_t rowBytesOf(const KernelGraph& graph) {
  const auto isLater = [&](const GraphTensor& write) {
    const Node& node = graph.node(write.node);
    return node.phase > 0 && (maskOf(write.loops) & graph.reduced) != 0;
  };
  int32_t phases = 0;
  for (const Node& node : graph.nodes) {
    phases = std::max(phases, node.phase);
  }
  if (graph.reduced == 0 || (phases < 2 && std::ranges::none_of(graph.writes, isLater))) {
    return 0;
  }
  int64_t bytes = 0;
  for (const GraphTensor& read : graph.reads) {
    bytes += bytesOf(read.type);
  }
  return std::max<int64_t>(bytes, 1);
}

Nest nestOf(const Fusion& fusion, const KernelTemplate& kernel, const TensorLayouts& layouts,
            const CostModel& costs) {
  const Group& group = kernel.group;
  Nest nest;
  for (const GroupLoop& loop : group.loops) {
    nest.extents.push_back(extentOf(fusion, loop, layouts));
    nest.isReduced.push_back(loop.isReduced ? 1 : 0);
  }
  for (const GraphTensor& read : kernel.graph.reads) {
    nest.accesses.push_back(accessOf(read, false, nest.extents, layouts));
  }
  for (const GraphTensor& write : kernel.graph.writes) {
    nest.accesses.push_back(accessOf(write, true, nest.extents, layouts));
  }
  for (const GraphIndex& index : kernel.graph.indices) {
    nest.accesses.push_back(accessOf(index, nest.extents, layouts));
  }
  nest.work = kernel.work;
  for (const NestAccess& access : nest.accesses) {
    nest.work += access.elementBytes * costs.workPerByte;
  }
  nest.rowBytes = kernel.rowBytes;
  nest.scans = std::ranges::any_of(kernel.graph.nodes,
                                   [](const Node& node) { return node.kind == NodeKind::Scan; });
  nest.sumsOuter = std::ranges::any_of(
      kernel.graph.nodes, [](const Node& node) { return node.kind == NodeKind::OuterFold; });
  nest.readsByLoops = kernel.graph.indices.empty() && kernel.graph.parts.empty() &&
                      std::ranges::none_of(kernel.graph.reads, [](const GraphTensor& read) {
                        return read.pickedDim >= 0;
                      });
  return nest;
}

int64_t bytesOf(const Nest& nest) {
  int64_t all = 0;
  for (const NestAccess& access : nest.accesses) {
    int64_t bytes = access.elementBytes;
    for (size_t loop = 0; loop < nest.extents.size(); ++loop) {
      bytes *= access.strides[loop] != 0 ? nest.extents[loop] : 1;
    }
    all += bytes;
  }
  return all;
}

}  // namespace

bool KernelLaunch::isIdle() const noexcept {
  return std::ranges::all_of(runs, [](const KernelRun& run) { return run.iterations == 0; });
}

KernelTemplate kernelTemplate(const Fusion& fusion, Group group) {
  KernelTemplate kernel;
  kernel.group = std::move(group);
  kernel.graph = buildGraph(fusion, kernel.group);
  for (const Node& node : kernel.graph.nodes) {
    kernel.work += workOf(node);
    kernel.divides = kernel.divides || dividesIntegers(node);
  }
  kernel.rowBytes = rowBytesOf(kernel.graph);
  kernel.reorders = std::ranges::any_of(kernel.group.calls, [&](const GroupCall& call) {
    return loopFormOf(*fusion.expr(call.expr).op).reorders;
  });
  return kernel;
}

namespace {

std::shared_ptr<KernelVariant> variantFor(KernelTemplate& kernel, const Schedule& schedule,
                                          const CostModel& costs,
                                          std::vector<std::string>* violations) {
  std::vector<int32_t> structure = structureOf(schedule);
  for (const std::shared_ptr<KernelVariant>& variant : kernel.variants) {
    if (variant->structure == structure) {
      return variant;
    }
  }
  const LoopKernel loops = lower(kernel.graph, schedule, costs);
  if (violations != nullptr) {
    const std::vector<std::string> broken = loopViolations(loops);
    violations->insert(violations->end(), broken.begin(), broken.end());
  }
  auto variant = std::make_shared<KernelVariant>();
  variant->structure = std::move(structure);
  variant->schedule = toText(schedule);
  variant->loops = toText(loops);
  variant->slots = integerSlots(loops);
  variant->calls = loops.calls();
  variant->lastCallIsSplit = loops.lastCallIsSplit();
  variant->sumsOuter = !loops.outerStores.empty();
  for (NodeId fold : partialFolds(loops)) {
    variant->partialBytes.push_back(bytesOf(loops.graph.node(fold).compute));
  }
  variant->text = cpuText(loops);
  kernel.variants.push_back(variant);
  return variant;
}

/// By call of the kernel. The iterations of outer sums are parts, then blocks of the row that is made of them.
std::vector<KernelRun> runsOf(const KernelVariant& kernel, const Schedule& schedule,
                              const CostModel& costs) {
  const auto ceilOf = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  if (kernel.sumsOuter) {
    const int64_t parts = ceilOf(schedule.iterations, schedule.partRows);
    const int64_t blockWork = std::max<int64_t>(parts, 1) * kOuterBlock;
    return {{parts, ceilOf(schedule.grain, schedule.partRows)},
            {ceilOf(schedule.lane.extent, kOuterBlock), ceilOf(costs.threadWork, blockWork)}};
  }
  std::vector<KernelRun> runs;
  for (int32_t call = 0; call < kernel.calls; ++call) {
    const bool isWhole = call + 1 == kernel.calls && !kernel.lastCallIsSplit;
    runs.push_back({schedule.iterations * (isWhole ? 1 : schedule.splits), schedule.grain});
  }
  return runs;
}

int64_t shiftOf(const Fusion& fusion, const ShiftPath& path, std::span<const int64_t> strides) {
  int64_t shift = 0;
  for (ShiftStep step : path) {
    const std::vector<int64_t> shifts = shiftsOf(fusion, step);
    for (size_t dim = 0; dim < shifts.size(); ++dim) {
      shift += shifts[dim] * strides[dim];
    }
  }
  return shift;
}

BoundReads shiftsAndSizes(const Fusion& fusion, const KernelGraph& graph,
                          const TensorLayouts& layouts) {
  BoundReads reads;
  for (const GraphTensor& read : graph.reads) {
    reads.shifts.push_back(shiftOf(fusion, read.shift, layouts[read.val].strides));
  }
  reads.shifts.resize(graph.reads.size() + graph.writes.size(), 0);
  for (const GraphIndex& index : graph.indices) {
    reads.shifts.push_back(shiftOf(fusion, index.shift, index.strides));
  }
  for (const GraphPart& part : graph.parts) {
    for (const auto& [dim, index] : part.bounds) {
      const TensorType& type = fusion.val(part.val).tensor();
      reads.partSizes.push_back(type.domain[static_cast<size_t>(dim)].extent.constant());
    }
  }
  return reads;
}

}  // namespace

KernelLaunch bindKernel(const Fusion& fusion, KernelTemplate& kernel, const TensorLayouts& layouts,
                        const CostModel& costs, std::vector<std::string>* violations) {
  const Nest nest = nestOf(fusion, kernel, layouts, costs);
  const Schedule schedule = chooseSchedule(nest, costs);
  if (violations != nullptr) {
    const std::vector<std::string> broken = scheduleViolations(nest, schedule);
    violations->insert(violations->end(), broken.begin(), broken.end());
  }
  KernelLaunch launch;
  for (const auto* tensors : {&kernel.graph.reads, &kernel.graph.writes}) {
    for (const GraphTensor& tensor : *tensors) {
      launch.tensors.push_back(tensor.val);
    }
  }
  launch.writes = kernel.graph.writes.size();
  launch.numbers = kernel.graph.numbers;
  launch.seeds = kernel.graph.seeds;
  launch.bytes = bytesOf(nest);
  launch.mayFail = kernel.divides;
  launch.kernel = variantFor(kernel, schedule, costs, violations);
  BoundReads reads = shiftsAndSizes(fusion, kernel.graph, layouts);
  const bool isEmpty = std::ranges::count(nest.extents, 0) != 0;
  for (const GraphTensor& read : kernel.graph.reads) {
    PickedDim& dim = reads.picked.emplace_back();
    if (read.pickedDim >= 0) {
      const auto at = static_cast<size_t>(read.pickedDim);
      dim = {layouts[read.val].sizes[at], layouts[read.val].strides[at]};
      launch.mayFail = true;
      launch.picksAmongNone = launch.picksAmongNone || isEmpty || dim.extent == 0;
    }
  }
  launch.integers = bindIntegers(launch.kernel->slots, schedule, reads);
  for (const GroupCall& call : kernel.group.calls) {
    launch.calls.insert(launch.calls.end(), call.absorbed.begin(), call.absorbed.end());
    launch.calls.push_back(call.expr);
  }
  std::ranges::sort(launch.calls, {}, [](ExprId id) { return indexOf(id); });
  launch.runs = runsOf(*launch.kernel, schedule, costs);
  const int64_t elements = launch.kernel->sumsOuter
                               ? launch.runs.front().iterations * schedule.lane.extent
                               : schedule.iterations * schedule.splits *
                                     (schedule.isLaneReduced ? 1 : schedule.laneBlock);
  for (int64_t bytes : launch.kernel->partialBytes) {
    launch.partials.push_back(bytes * elements);
  }
  return launch;
}

}  // namespace meshfuse
