#include <algorithm>
#include <ranges>
#include <unordered_set>

#include "meshfuse/scheduling/segmenter.h"

namespace meshfuse {

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
    for (ValId val : absorption_->sourcesOf(ExprId{index})) {
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
      const std::vector<uint32_t> views = outsideViews(*draft);
      std::vector<uint32_t> later = laterViews(*draft, views, isRead);
      const std::vector<uint32_t> narrow = narrowResults(*draft, views, later, isRead);
      addCalls(narrow, groups);
      Group kernel = finished(*draft, narrow, later, isRead);
      if (!kernel.calls.empty()) {
        groups.push_back(std::move(kernel));
      }
      addCalls(later, groups);
    } else {
      groups.push_back(finished(*draft, {}, {}, isRead));
    }
  }
  return groups;
}

std::vector<uint32_t> Segmenter::narrowResults(const GroupDraft& draft,
                                               std::span<const uint32_t> views,
                                               std::vector<uint32_t>& later,
                                               std::vector<bool>& isRead) const {
  const LoopSet wanted = draft.loops.reduced() != 0 ? draft.loops.parallel() : draft.loops.all();
  std::vector<uint32_t> exprs = draft.exprs;
  std::ranges::sort(exprs, std::greater<>());
  std::vector<uint32_t> narrow;
  std::unordered_set<uint32_t> early;  // what these calls take
  for (uint32_t index : exprs) {
    const std::vector<ValId>& outputs = fusion_.exprs()[index].outputs;
    const bool isView = std::ranges::binary_search(views, index);
    const bool isEarly = early.contains(indexOf(outputs.front()));
    if (std::ranges::count(later, index) != 0 && !isEarly) {
      continue;
    }
    bool isNarrow = std::erase(later, index) != 0;
    for (size_t i = 0; i < outputs.size(); ++i) {
      const LoopSet own = draft.loops.setOf(placed_[index].outputs[i]);
      // A row is complete once all reduced loops have run: along some of them alone nothing is written.
      const LoopSet reduced = draft.loops.reduced();
      const bool isPartOfRow = (own & reduced) != 0 && (reduced & ~own) != 0;
      isNarrow = isNarrow ||
                 (isRead[indexOf(outputs[i])] && (isView || (wanted & ~own) != 0 || isPartOfRow));
    }
    if (isNarrow) {
      narrow.push_back(index);
      for (ValId val : absorption_->sourcesOf(ExprId{index})) {
        isRead[indexOf(val)] = true;
        early.insert(indexOf(val));
      }
      for (ValId val : outputs) {
        isRead[indexOf(val)] = true;
      }
    }
  }
  return narrow;
}

bool Segmenter::isView(const Expr& expr) const {
  const LoopForm form = loopFormOf(*expr.op);
  return form.cost == LoopForm::Cost::Nothing && form.body != Body::Pad && form.body != Body::Cat;
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
    if (isView(expr) && std::ranges::all_of(inputsOf(expr), isOutside)) {
      views.push_back(index);
    }
  }
  return views;
}

std::vector<uint32_t> Segmenter::laterViews(const GroupDraft& draft,
                                            std::span<const uint32_t> views,
                                            std::vector<bool>& isRead) const {
  std::vector<uint32_t> exprs = draft.exprs;
  std::ranges::sort(exprs);
  std::vector<uint32_t> inside;     // views of what the kernel makes
  std::vector<uint32_t> repeating;  // those whose elements stand for several
  for (uint32_t index : exprs) {
    const Expr& expr = fusion_.exprs()[index];
    if (!isView(expr) || std::ranges::binary_search(views, index)) {
      continue;
    }
    inside.push_back(index);
    const ExprId maker = fusion_.val(inputsOf(expr).front()).definition;
    const auto isExpanded = [](const IterDomain& domain) { return domain.isExpanded(); };
    if (std::ranges::binary_search(repeating, indexOf(maker)) ||
        std::ranges::any_of(fusion_.val(expr.outputs.front()).tensor().domain, isExpanded)) {
      repeating.push_back(index);
    }
  }
  std::vector<uint32_t> later;
  for (uint32_t index : inside | std::views::reverse) {
    const Expr& expr = fusion_.exprs()[index];
    const ValId base = inputsOf(expr).front();
    if (isRead[indexOf(expr.outputs.front())] &&
        (isRead[indexOf(base)] || std::ranges::binary_search(repeating, index))) {
      later.push_back(index);
      for (ValId val : inputsOf(expr)) {
        isRead[indexOf(val)] = true;
      }
    }
  }
  return later;
}

void Segmenter::addCalls(std::vector<uint32_t> exprs, std::vector<Group>& groups) const {
  for (size_t i = exprs.size(); i-- > 0;) {
    for (ExprId absorbed : absorption_->absorbedBy(ExprId{exprs[i]})) {
      exprs.push_back(indexOf(absorbed));
    }
  }
  std::ranges::sort(exprs);
  for (uint32_t index : exprs) {
    Group& group = groups.emplace_back();
    group.calls.push_back({ExprId{index}});
    group.outputs = fusion_.exprs()[index].outputs;
  }
}

std::vector<uint32_t> Segmenter::remaining(const GroupDraft& draft,
                                           std::span<const uint32_t> without,
                                           std::span<const uint32_t> later) const {
  std::vector<uint32_t> exprs = draft.exprs;
  std::erase_if(exprs, [&](uint32_t index) { return std::ranges::count(without, index) != 0; });
  std::ranges::sort(exprs);
  if (later.empty()) {
    return exprs;
  }
  std::unordered_set<uint32_t> used;
  for (size_t i = exprs.size(); i-- > 0;) {
    const Expr& expr = fusion_.exprs()[exprs[i]];
    if (std::ranges::count(later, exprs[i]) != 0 && !used.contains(indexOf(expr.outputs.front()))) {
      exprs.erase(exprs.begin() + static_cast<std::ptrdiff_t>(i));
      continue;
    }
    for (ValId val : absorption_->sourcesOf(ExprId{exprs[i]})) {
      used.insert(indexOf(val));
    }
  }
  return exprs;
}

Group Segmenter::finished(const GroupDraft& draft, std::span<const uint32_t> without,
                          std::span<const uint32_t> later, const std::vector<bool>& isRead) const {
  Group group;
  group.kind = draft.kind;
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
  for (uint32_t index : remaining(draft, without, later)) {
    const PlacedCall& placed = placed_[index];
    group.calls.push_back({ExprId{index}, named(placed.operands), named(placed.outputs),
                           absorption_->absorbedBy(ExprId{index})});
    for (ValId val : fusion_.exprs()[index].outputs) {
      if (isRead[indexOf(val)] && std::ranges::count(later, index) == 0) {
        group.outputs.push_back(val);
      }
    }
  }
  return group;
}

}  // namespace meshfuse
