#include "meshfuse/runtime/place_tensors.h"

#include <algorithm>

#include "meshfuse/runtime/memory_plan.h"
#include "meshfuse/scheduling/group_edges.h"

namespace meshfuse {

namespace {

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

int64_t bytesOf(const HostProgram::Parts& parts, ValId val) {
  int64_t bytes = meshfuse::bytesOf(parts.fusion.val(val).dtype());
  for (int64_t size : parts.layouts[val].sizes) {
    bytes *= size;
  }
  return bytes;
}

/// The first and the last step that uses an intermediate, and the bytes of the block that are its.
struct Held {
  ValId val{};
  int64_t begin = 0;
  int64_t end = 0;
  int32_t first = -1;
  int32_t last = -1;
};

std::vector<Held> heldOf(const HostProgram::Parts& parts) {
  std::vector<Held> all;
  std::vector<size_t> at(parts.fusion.vals().size(), parts.places.size());
  for (const auto& [val, place] : parts.places) {
    if (place.kind == TensorPlace::Kind::Temporary && bytesOf(parts, val) != 0) {
      at[indexOf(val)] = all.size();
      all.push_back({val, place.index, place.index + bytesOf(parts, val)});
    }
  }
  for (size_t i = 0; i < parts.steps.size(); ++i) {
    if (parts.steps[i].kind != HostStepKind::Launch) {
      continue;
    }
    for (ValId val : parts.launches[parts.steps[i].launch].tensors) {
      if (at[indexOf(val)] < all.size()) {
        Held& held = all[at[indexOf(val)]];
        held.first = held.first < 0 ? static_cast<int32_t>(i) : held.first;
        held.last = static_cast<int32_t>(i);
      }
    }
  }
  return all;
}

}  // namespace

void placeTensors(HostProgram::Parts& parts, bool sharesMemory) {
  const Fusion& fusion = parts.fusion;
  const std::vector<bool> isResult = resultsOf(fusion);
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
        lifetimes.push_back({bytesOf(parts, val), sharesMemory ? uses[i].first : 0,
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

std::vector<std::string> placeViolations(const HostProgram::Parts& parts) {
  std::vector<std::string> broken;
  const auto name = [&](ValId val) { return "'" + parts.fusion.nameOf(val) + "'"; };
  std::vector<bool> isPlaced(parts.fusion.vals().size(), false);
  for (const auto& [val, place] : parts.places) {
    if (isPlaced[indexOf(val)]) {
      broken.push_back(name(val) + " has two places");
    }
    isPlaced[indexOf(val)] = true;
  }
  for (const KernelLaunch& launch : parts.launches) {
    for (ValId val : launch.tensors) {
      if (!isPlaced[indexOf(val)]) {
        broken.push_back(name(val) + " is used by a kernel and has no place");
      }
    }
  }
  std::vector<Held> held = heldOf(parts);
  for (const Held& each : held) {
    if (each.begin < 0 || each.end > parts.temporaryBytes) {
      broken.push_back(name(each.val) + " lies beyond the block of intermediates");
    }
  }
  // Those that live at a step, in the order of their first ones.
  std::ranges::sort(held, {}, &Held::first);
  std::vector<const Held*> alive;
  for (const Held& each : held) {
    std::erase_if(alive, [&](const Held* other) { return other->last < each.first; });
    for (const Held* other : alive) {
      if (each.begin < other->end && other->begin < each.end) {
        broken.push_back(name(each.val) + " and " + name(other->val) +
                         " live at the same time in the same memory");
      }
    }
    alive.push_back(&each);
  }
  return broken;
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

}  // namespace meshfuse
