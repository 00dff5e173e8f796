#include "meshfuse/runtime/compile.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "meshfuse/base/error.h"
#include "meshfuse/base/text.h"
#include "meshfuse/ir/print.h"
#include "meshfuse/ir/verify.h"
#include "meshfuse/runtime/call_layouts.h"
#include "meshfuse/runtime/host_costs.h"
#include "meshfuse/runtime/kernel_library.h"
#include "meshfuse/runtime/pass_runner.h"
#include "meshfuse/runtime/place_tensors.h"
#include "meshfuse/scheduling/clean.h"
#include "meshfuse/scheduling/loop_form.h"
#include "meshfuse/scheduling/merge_kernels.h"
#include "meshfuse/scheduling/outer_sums.h"
#include "meshfuse/scheduling/recompute.h"
#include "meshfuse/scheduling/segment.h"
#include "meshfuse/scheduling/violations.h"

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

std::string groupsText(const Fusion& fusion, const std::vector<Group>& groups) {
  std::string text;
  for (const Group& group : groups) {
    text += toText(fusion, group) + "\n";
  }
  return text;
}

/// What becomes one kernel, one library call or one collective. `areRows`: all inputs are row-major.
std::vector<Group> groupsOf(const Fusion& fusion, const CostModel& costs, bool areRows,
                            PassRunner& passes) {
  const auto print = [&](const std::vector<Group>& groups) { return groupsText(fusion, groups); };
  const auto check = [&](const std::vector<Group>& groups) {
    return groupViolations(fusion, groups);
  };
  std::vector<std::string> reasons;
  std::vector<std::string>* asked = passes.explains() ? &reasons : nullptr;
  std::vector<Group> groups =
      passes.run("segment", [&] { return segment(fusion, costs); }, print, check);
  if (areRows && !passes.isSkipped("outer")) {
    groups = passes.run(
        "outer", [&] { return joinOuterSums(fusion, std::move(groups), costs, asked); }, print,
        check);
  }
  if (!passes.isSkipped("recompute")) {
    groups = passes.run(
        "recompute", [&] { return recompute(fusion, std::move(groups), costs, asked); }, print,
        check);
  }
  if (!passes.isSkipped("merge")) {
    groups = passes.run(
        "merge", [&] { return mergeKernels(fusion, std::move(groups), costs, asked); }, print,
        check);
  }
  if (asked != nullptr) {
    reasons.push_back(memoryText(fusion, groups));
    passes.explain(toText(costs) + joinText(reasons, "\n"));
  }
  return groups;
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
void bindGroups(ProgramClass& programClass, HostProgram::Parts& parts, const CostModel& costs,
                std::vector<std::string>* violations) {
  const Fusion& fusion = parts.fusion;
  CallLayouts calls(fusion, parts.rank);
  for (ClassGroup& group : programClass.groups) {
    HostStep step;
    if (group.kind == GroupKind::Kernel) {
      step.kind = HostStepKind::Launch;
      step.launch = parts.launches.size();
      calls.settle(group.kernel, parts.layouts);
      parts.launches.push_back(bindKernel(fusion, group.kernel, parts.layouts, costs, violations));
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

/// The layouts of the arguments, in a cleaned fusion as in the one that it was made of.
TensorLayouts layoutsOf(const Fusion& cleaned, const Fusion& fusion,
                        const TensorLayouts& arguments) {
  TensorLayouts layouts(cleaned.vals().size());
  for (size_t i = 0; i < cleaned.inputs().size(); ++i) {
    if (arguments.isKnown(fusion.inputs()[i])) {
      layouts.set(cleaned.inputs()[i], arguments[fusion.inputs()[i]]);
    }
  }
  return layouts;
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

std::optional<HostProgram> compile(const Fusion& fusion, const TensorLayouts& arguments,
                                   int64_t rank, ProgramClasses& classes) {
  PassRunner passes;
  const CostModel costs = costsOfHost();
  HostProgram::Parts parts;
  parts.rank = rank;
  parts.fusion = passes.isSkipped("clean")
                     ? fusion
                     : passes.run("clean", [&] { return clean(fusion); }, print, violations);
  parts.layouts = layoutsOf(parts.fusion, fusion, arguments);
  const bool areRows = std::ranges::all_of(parts.fusion.inputs(), [&](ValId val) {
    return !parts.layouts.isKnown(val) || isRowMajor(parts.layouts[val]);
  });
  std::vector<uint64_t> key = classKeyOf(parts.fusion);
  key.push_back(areRows ? 1 : 0);
  const std::shared_ptr<ProgramClass> programClass = classes.get(key);
  // Sizes of one class are compiled one after the other: the second finds the first one's kernels.
  const std::scoped_lock lock(programClass->mutex);
  if (programClass->groups.empty()) {
    programClass->groups =
        templatesOf(parts.fusion, groupsOf(parts.fusion, costs, areRows, passes));
  }
  const auto isKernel = [](const ClassGroup& group) { return group.kind == GroupKind::Kernel; };
  if (std::ranges::none_of(programClass->groups, isKernel)) {
    return std::nullopt;
  }
  std::vector<std::string> broken;
  passes.run(
      "schedule",
      [&] {
        return bindGroups(*programClass, parts, costs, passes.verifies() ? &broken : nullptr), 0;
      },
      [&](int) { return launchesText(parts.launches, false); }, [&](int) { return broken; });
  const bool isBuilt = passes.run(
      "build", [&] { return build(parts.launches); },
      [&](bool) { return launchesText(parts.launches, true); },
      [](bool) { return std::vector<std::string>(); });
  if (!isBuilt) {
    return std::nullopt;
  }
  passes.run(
      "memory", [&] { return placeTensors(parts, !passes.isSkipped("memory")), 0; },
      [&](int) { return placesText(parts); }, [&](int) { return placeViolations(parts); });
  passes.printTimes();
  return HostProgram(std::move(parts));
}

}  // namespace meshfuse
