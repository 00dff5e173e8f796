#include "meshfuse/scheduling/segment.h"

#include <algorithm>

#include "meshfuse/ops/reshard.h"
#include "meshfuse/scheduling/segmenter.h"

namespace meshfuse {

Segmenter::Segmenter(const Fusion& fusion, const SegmentOptions& options)
    : fusion_(fusion),
      options_(options),
      placed_(fusion.exprs().size()),
      groupOf_(fusion.exprs().size(), kNoGroup),
      isNeeded_(fusion.vals().size(), false),
      isResult_(fusion.vals().size(), false) {
  forEachResult(
      fusion, [&](ValId output) { isResult_[indexOf(output)] = true; },
      [&](const InputWrite& write) { isResult_[indexOf(write.value)] = true; });
  isNeeded_ = isResult_;
  for (size_t i = fusion.exprs().size(); i-- > 0;) {
    const Expr& expr = fusion.exprs()[i];
    if (std::ranges::any_of(expr.outputs, [&](ValId val) { return isNeeded_[indexOf(val)]; })) {
      for (ValId val : inputsOf(expr)) {
        isNeeded_[indexOf(val)] = true;
      }
    }
  }
}

std::vector<Group> Segmenter::run() {
  for (uint32_t i = 0; i < fusion_.exprs().size(); ++i) {
    const Expr& expr = fusion_.exprs()[i];
    if (std::ranges::any_of(expr.outputs, [&](ValId val) { return isNeeded_[indexOf(val)]; })) {
      addExpr(i);
    }
  }
  return finish();
}

void Segmenter::addExpr(uint32_t index) {
  const ExprId id{index};
  const std::optional<CallShape> call = kernelShapeOf(fusion_, id);
  if (!call || !addToKernel(*call)) {
    GroupDraft& group =
        newGroup(isReshard(fusion_.expr(id)) ? GroupKind::Reshard : GroupKind::Call);
    group.exprs.push_back(index);
    groupOf_[index] = static_cast<uint32_t>(drafts_.size() - 1);
  }
  noteReads(index);
}

GroupDraft& Segmenter::newGroup(GroupKind kind) {
  GroupDraft& group = drafts_.emplace_back(kind, LoopDraft(table_));
  group.order = static_cast<uint32_t>(drafts_.size() - 1);
  return group;
}

uint32_t Segmenter::makerOf(ValId val) const {
  const ExprId definition = fusion_.val(val).definition;
  return definition == kNoExpr ? kNoGroup : groupOf_[indexOf(definition)];
}

void Segmenter::noteReads(uint32_t index) {
  const uint32_t own = groupOf_[index];
  for (ValId val : inputsOf(fusion_.exprs()[index])) {
    const uint32_t maker = makerOf(val);
    if (maker != kNoGroup && maker != own) {
      drafts_[maker].firstReader = std::min(drafts_[maker].firstReader, drafts_[own].order);
    }
    if (drafts_[own].kind == GroupKind::Kernel) {
      lastReader_[indexOf(val)] = own;
    }
  }
}

bool Segmenter::addToKernel(const CallShape& call) {
  const std::vector<uint32_t> makers = kernelMakersOf(call);
  if (!makers.empty() && joinAll(call, makers)) {
    return true;
  }
  for (auto maker = makers.rbegin(); maker != makers.rend(); ++maker) {
    if (makers.size() > 1 && joinAll(call, {*maker})) {
      return true;
    }
  }
  return (makers.empty() && joinReader(call)) || startGroup(call);
}

std::vector<uint32_t> Segmenter::kernelMakersOf(const CallShape& call) const {
  std::vector<uint32_t> makers;
  for (ValId val : call.operands) {
    const uint32_t maker = makerOf(val);
    if (maker != kNoGroup && drafts_[maker].kind == GroupKind::Kernel &&
        std::ranges::find(makers, maker) == makers.end()) {
      makers.push_back(maker);
    }
  }
  std::ranges::sort(makers, {}, [&](uint32_t group) { return drafts_[group].order; });
  return makers;
}

std::vector<Group> Segmenter::finish() {
  std::vector<const GroupDraft*> inOrder;
  for (const GroupDraft& draft : drafts_) {
    if (!draft.exprs.empty()) {
      inOrder.push_back(&draft);
    }
  }
  std::vector<bool> isRead = isResult_;
  for (uint32_t index = 0; index < fusion_.exprs().size(); ++index) {
    if (groupOf_[index] == kNoGroup) {
      continue;
    }
    for (ValId val : inputsOf(fusion_.exprs()[index])) {
      if (makerOf(val) != groupOf_[index]) {
        isRead[indexOf(val)] = true;
      }
    }
  }
  std::vector<Group> groups;
  for (const GroupDraft* draft : inOrder) {
    if (draft->kind == GroupKind::Kernel && draft->isView) {
      addCalls(draft->exprs, groups);
    } else if (draft->kind == GroupKind::Kernel) {
      const std::vector<uint32_t> narrow = narrowResults(*draft, isRead);
      addCalls(narrow, groups);
      groups.push_back(finished(*draft, narrow, isRead));
    } else {
      groups.push_back(finished(*draft, {}, isRead));
    }
  }
  return groups;
}

std::vector<uint32_t> Segmenter::narrowResults(const GroupDraft& draft,
                                               std::vector<bool>& isRead) const {
  const LoopSet wanted = draft.loops.reduced() != 0 ? draft.loops.parallel() : draft.loops.all();
  const std::vector<uint32_t> views = outsideViews(draft);
  std::vector<uint32_t> exprs = draft.exprs;
  std::ranges::sort(exprs, std::greater<>());
  std::vector<uint32_t> narrow;
  for (uint32_t index : exprs) {
    const std::vector<ValId>& outputs = fusion_.exprs()[index].outputs;
    const bool isView = std::ranges::binary_search(views, index);
    bool isNarrow = false;
    for (size_t i = 0; i < outputs.size(); ++i) {
      const LoopSet own = draft.loops.setOf(placed_[index].outputs[i]);
      isNarrow = isNarrow || (isRead[indexOf(outputs[i])] && (isView || (wanted & ~own) != 0));
    }
    if (isNarrow) {
      narrow.push_back(index);
      for (ValId val : inputsOf(fusion_.exprs()[index])) {
        isRead[indexOf(val)] = true;
      }
      for (ValId val : outputs) {
        isRead[indexOf(val)] = true;
      }
    }
  }
  return narrow;
}

std::vector<uint32_t> Segmenter::outsideViews(const GroupDraft& draft) const {
  std::vector<uint32_t> exprs = draft.exprs;
  std::ranges::sort(exprs);
  std::vector<uint32_t> views;
  const auto isOutside = [&](ValId val) {
    const ExprId maker = fusion_.val(val).definition;
    return maker == kNoExpr || groupOf_[indexOf(maker)] != groupOf_[exprs.front()] ||
           std::ranges::binary_search(views, indexOf(maker));
  };
  for (uint32_t index : exprs) {
    const Expr& expr = fusion_.exprs()[index];
    if (loopFormOf(*expr.op).cost == LoopForm::Cost::Nothing &&
        std::ranges::all_of(inputsOf(expr), isOutside)) {
      views.push_back(index);
    }
  }
  return views;
}

void Segmenter::addCalls(std::vector<uint32_t> exprs, std::vector<Group>& groups) const {
  std::ranges::sort(exprs);
  for (uint32_t index : exprs) {
    Group& group = groups.emplace_back();
    group.calls.push_back({ExprId{index}});
    group.outputs = fusion_.exprs()[index].outputs;
  }
}

Group Segmenter::finished(const GroupDraft& draft, std::span<const uint32_t> without,
                          const std::vector<bool>& isRead) const {
  Group group;
  group.kind = draft.kind;
  std::vector<uint32_t> exprs = draft.exprs;
  std::erase_if(exprs, [&](uint32_t index) { return std::ranges::count(without, index) != 0; });
  std::ranges::sort(exprs);
  std::unordered_map<LoopId, LoopId> names;
  const auto nameOf = [&](LoopId loop) {
    const auto [name, isNew] = names.emplace(loop, static_cast<LoopId>(names.size()));
    if (isNew) {
      GroupLoop info = table_.info(loop);
      info.isReduced = (draft.loops.setOf({&loop, 1}) & draft.loops.reduced()) != 0;
      group.loops.push_back(info);
    }
    return name->second;
  };
  const auto named = [&](const std::vector<PlacedDims>& tensors) {
    std::vector<DimLoops> result;
    for (const PlacedDims& dims : tensors) {
      DimLoops& loops = result.emplace_back(dims.size());
      for (size_t dim = 0; dim < dims.size(); ++dim) {
        if (dims[dim] != kNoLoop) {
          loops[dim] = draft.loops.loopsOf(dims[dim]);
          std::ranges::transform(loops[dim], loops[dim].begin(), nameOf);
        }
      }
    }
    return result;
  };
  for (uint32_t index : exprs) {
    const PlacedCall& placed = placed_[index];
    group.calls.push_back({ExprId{index}, named(placed.operands), named(placed.outputs)});
    for (ValId val : fusion_.exprs()[index].outputs) {
      if (isRead[indexOf(val)]) {
        group.outputs.push_back(val);
      }
    }
  }
  return group;
}
std::vector<Group> segment(const Fusion& fusion, const SegmentOptions& options) {
  return Segmenter(fusion, options).run();
}

}  // namespace meshfuse
