#include "meshfuse/runtime/compile.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include <ATen/Parallel.h>
#include <unistd.h>

#include "meshfuse/base/error.h"
#include "meshfuse/ir/print.h"
#include "meshfuse/runtime/call_layouts.h"
#include "meshfuse/runtime/kernel_library.h"
#include "meshfuse/runtime/memory_plan.h"
#include "meshfuse/runtime/pass_runner.h"
#include "meshfuse/scheduling/loop_form.h"
#include "meshfuse/scheduling/segment.h"

namespace meshfuse {

namespace {

bool isSwitchedOff() {
  const char* value = std::getenv("MESHFUSE_COMPILE");
  const std::string_view text = value == nullptr ? "1" : value;
  if (text != "0" && text != "1") {
    throwUser(ErrorKind::Value, {"MESHFUSE_COMPILE", "the variable is 0 or 1",
                                 "got '" + std::string(text) + "'", "unset it to compile"});
  }
  return text == "0";
}

bool isOnHost(const ArgView& arg) {
  return !arg.isTensor() ||
         (arg.tensor->device().is_cpu() && arg.tensor->layout() == c10::kStrided &&
          !arg.tensor->is_conj() && !arg.tensor->is_neg());
}

/// Packed elements are unpacked on the way into the evaluator.
bool isPacked(const Val& val) {
  return val.dtype() == PrimType::Float4_e2m1fn || val.dtype() == PrimType::Float4_e2m1fn_x2;
}

/// Loops leave out dimensions of one element, of which a rank may have none.
bool isShardedInOneElement(const Val& val) {
  return val.isTensor() && val.tensor().sharding &&
         std::ranges::any_of(val.tensor().sharding->placements, [&](const Placement& placement) {
           return placement.isSharded() &&
                  val.tensor().domain[static_cast<size_t>(placement.dim)].extent == IntExpr(1);
         });
}

/// Elements that repeat, which the evaluator's reductions take once each.
bool repeats(const ArgView& arg) {
  if (!arg.isTensor()) {
    return false;
  }
  for (int64_t dim = 0; dim < arg.tensor->dim(); ++dim) {
    if (arg.tensor->stride(dim) == 0 && arg.tensor->size(dim) > 1) {
      return true;
    }
  }
  return false;
}

bool hasReduction(const Fusion& fusion) {
  return std::ranges::any_of(fusion.exprs(), [](const Expr& expr) {
    return loopFormOf(*expr.op).kind == LoopForm::Kind::Reduction;
  });
}

CacheSizes cachesOfHost() {
  CacheSizes caches;
  // What the machine doesn't tell keeps its default.
  if (const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE); bytes > 0) {
    caches.level2Bytes = bytes;
  }
  if (const long bytes = sysconf(_SC_LEVEL3_CACHE_SIZE); bytes > 0) {
    caches.lastLevelBytes = bytes;
  }
  caches.threads = at::get_num_threads();
  return caches;
}

std::string groupsText(const Fusion& fusion, const std::vector<Group>& groups) {
  std::string text;
  for (const Group& group : groups) {
    text += toText(fusion, group) + "\n";
  }
  return text;
}

std::vector<ClassGroup> templatesOf(const Fusion& fusion, std::vector<Group> groups) {
  std::vector<ClassGroup> result;
  for (Group& group : groups) {
    ClassGroup& made = result.emplace_back();
    made.kind = group.kind;
    if (group.kind == GroupKind::Kernel) {
      made.kernel = kernelTemplate(fusion, std::move(group));
    } else {
      made.expr = group.calls.front().expr;
    }
  }
  return result;
}

/// The groups as steps, kernels as launches whose code may be missing.
void bindGroups(ProgramClass& programClass, HostProgram::Parts& parts) {
  const CacheSizes caches = cachesOfHost();
  const Fusion& fusion = parts.fusion;
  CallLayouts calls(fusion, parts.rank);
  for (ClassGroup& group : programClass.groups) {
    HostStep step;
    if (group.kind == GroupKind::Kernel) {
      step.kind = HostStepKind::Launch;
      step.launch = parts.launches.size();
      calls.settle(group.kernel, parts.layouts);
      parts.launches.push_back(bindKernel(fusion, group.kernel, parts.layouts, caches));
    } else {
      step.kind = group.kind == GroupKind::Call ? HostStepKind::Call : HostStepKind::Reshard;
      step.expr = group.expr;
      calls.settle(fusion.expr(group.expr), parts.layouts);
    }
    parts.steps.push_back(std::move(step));
  }
}

/// False where the machine has no compiler.
bool build(std::vector<KernelLaunch>& launches) {
  std::vector<KernelVariant*> missing;
  std::vector<std::string> texts;
  for (const KernelLaunch& launch : launches) {
    if (launch.kernel->code == nullptr) {
      missing.push_back(launch.kernel.get());
      texts.push_back(launch.kernel->text);
    }
  }
  if (missing.empty()) {
    return true;
  }
  const std::vector<std::shared_ptr<const CpuKernel>> kernels = loadCpuKernels(texts);
  for (size_t i = 0; i < missing.size(); ++i) {
    if (kernels[i] == nullptr) {
      return false;
    }
    missing[i]->code = kernels[i];
  }
  return true;
}

std::string launchesText(const std::vector<KernelLaunch>& launches, bool withText) {
  std::string text;
  for (const KernelLaunch& launch : launches) {
    text += withText ? launch.kernel->text : launch.kernel->schedule + "\n" + launch.kernel->loops;
  }
  return text;
}

/// Uses of each value: which steps, and whether only kernels know it.
struct Use {
  int32_t first = -1;
  int32_t last = -1;
  bool byKernel = false;
  bool byCall = false;
};

std::vector<Use> usesOf(const HostProgram::Parts& parts) {
  std::vector<Use> uses(parts.fusion.vals().size());
  const auto note = [&](ValId val, int32_t step, bool isCall) {
    Use& use = uses[indexOf(val)];
    use.first = use.first < 0 ? step : use.first;
    use.last = step;
    use.byCall = use.byCall || isCall;
    use.byKernel = use.byKernel || !isCall;
  };
  for (size_t i = 0; i < parts.steps.size(); ++i) {
    const auto at = static_cast<int32_t>(i);
    const HostStep& step = parts.steps[i];
    if (step.kind == HostStepKind::Launch) {
      for (ValId val : parts.launches[step.launch].tensors) {
        note(val, at, false);
      }
      for (ValId val : parts.launches[step.launch].numbers) {
        note(val, at, true);
      }
      continue;
    }
    const Expr& expr = parts.fusion.expr(step.expr);
    for (ValId val : inputsOf(expr)) {
      note(val, at, true);
    }
    for (ValId val : expr.outputs) {
      note(val, at, true);
    }
  }
  return uses;
}

/// Decides where tensors are, and when values that calls know are dropped. `sharesMemory`: intermediates whose lives do not
/// overlap may lie in one place.
void placeTensors(HostProgram::Parts& parts, bool sharesMemory) {
  const Fusion& fusion = parts.fusion;
  std::vector<bool> isResult(fusion.vals().size(), false);
  forEachResult(
      fusion, [&](ValId output) { isResult[indexOf(output)] = true; },
      [&](const InputWrite& write) { isResult[indexOf(write.value)] = true; });
  const std::vector<Use> uses = usesOf(parts);
  std::vector<int64_t> argumentOf(fusion.vals().size(), -1);
  for (size_t i = 0; i < fusion.inputs().size(); ++i) {
    argumentOf[indexOf(fusion.inputs()[i])] = static_cast<int64_t>(i);
  }
  std::vector<Lifetime> lifetimes;
  std::vector<size_t> temporaries;
  for (size_t i = 0; i < uses.size(); ++i) {
    const ValId val{static_cast<uint32_t>(i)};
    if (uses[i].first < 0) {
      continue;
    }
    if (fusion.val(val).isTensor() && uses[i].byKernel) {
      TensorPlace place;
      if (argumentOf[i] >= 0) {
        place = {TensorPlace::Kind::Argument, argumentOf[i]};
      } else if (!isResult[i] && !uses[i].byCall) {
        place = {TensorPlace::Kind::Temporary, 0};
        int64_t bytes = bytesOf(fusion.val(val).dtype());
        for (int64_t size : parts.layouts[val].sizes) {
          bytes *= size;
        }
        lifetimes.push_back({bytes, sharesMemory ? uses[i].first : 0,
                             sharesMemory ? uses[i].last : static_cast<int32_t>(uses.size())});
        temporaries.push_back(parts.places.size());
      }
      parts.places.emplace_back(val, place);
    }
    if (uses[i].byCall && !isResult[i]) {
      parts.steps[static_cast<size_t>(uses[i].last)].frees.push_back(val);
    }
  }
  const MemoryPlan plan = planMemory(lifetimes);
  for (size_t i = 0; i < temporaries.size(); ++i) {
    parts.places[temporaries[i]].second.index = plan.offsets[i];
  }
  parts.temporaryBytes = plan.bytes;
}

std::string placesText(const HostProgram::Parts& parts) {
  std::string text = "intermediates: " + std::to_string(parts.temporaryBytes) + " bytes\n";
  for (const auto& [val, place] : parts.places) {
    if (place.kind == TensorPlace::Kind::Temporary) {
      text += parts.fusion.nameOf(val) + " at " + std::to_string(place.index) + "\n";
    }
  }
  return text;
}

}  // namespace

TensorLayouts argumentLayouts(const Fusion& fusion, std::span<const ArgView> args) {
  TensorLayouts layouts(fusion.vals().size());
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i].isTensor()) {
      layouts.set(fusion.inputs()[i],
                  {args[i].tensor->sizes().vec(), args[i].tensor->strides().vec()});
    }
  }
  return layouts;
}

bool isCompilable(const Fusion& fusion, std::span<const ArgView> args) {
  return !isSwitchedOff() && std::ranges::all_of(args, isOnHost) &&
         std::ranges::none_of(fusion.vals(), isPacked) &&
         std::ranges::none_of(fusion.vals(), isShardedInOneElement) &&
         !(std::ranges::any_of(args, repeats) && hasReduction(fusion));
}

std::optional<HostProgram> compile(Fusion& fusion, TensorLayouts&& arguments, int64_t rank,
                                   ProgramClasses& classes) {
  PassRunner passes;
  const std::shared_ptr<ProgramClass> programClass = classes.get(classKeyOf(fusion));
  // Sizes of one class are compiled one after the other: the second finds the first one's kernels.
  const std::scoped_lock lock(programClass->mutex);
  if (programClass->groups.empty()) {
    std::vector<Group> groups = passes.run(
        "segment", [&] { return segment(fusion); },
        [&](const std::vector<Group>& result) { return groupsText(fusion, result); });
    programClass->groups = templatesOf(fusion, std::move(groups));
  }
  const auto isKernel = [](const ClassGroup& group) { return group.kind == GroupKind::Kernel; };
  if (std::ranges::none_of(programClass->groups, isKernel)) {
    return std::nullopt;
  }
  HostProgram::Parts parts;
  parts.rank = rank;
  parts.layouts = std::move(arguments);
  parts.fusion = std::move(fusion);
  passes.run(
      "schedule", [&] { return bindGroups(*programClass, parts), 0; },
      [&](int) { return launchesText(parts.launches, false); });
  const bool isBuilt = passes.run(
      "build", [&] { return build(parts.launches); },
      [&](bool) { return launchesText(parts.launches, true); });
  if (!isBuilt) {
    fusion = std::move(parts.fusion);
    return std::nullopt;
  }
  passes.run(
      "memory", [&] { return placeTensors(parts, !passes.isSkipped("memory")), 0; },
      [&](int) { return placesText(parts); });
  return HostProgram(std::move(parts));
}

}  // namespace meshfuse
