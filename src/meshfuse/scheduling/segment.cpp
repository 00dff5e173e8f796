#include "meshfuse/scheduling/segment.h"

#include <algorithm>

#include "meshfuse/ops/reshard.h"
#include "meshfuse/scheduling/segmenter.h"

namespace meshfuse {

Segmenter::Segmenter(const Fusion& fusion, const CostModel& costs)
    : fusion_(fusion),
      costs_(costs),
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
  absorption_.emplace(fusion, isNeeded_, isResult_);
}

std::vector<Group> Segmenter::run() {
  for (uint32_t i = 0; i < fusion_.exprs().size(); ++i) {
    const Expr& expr = fusion_.exprs()[i];
    if (!absorption_->isAbsorbed(ExprId{i}) &&
        std::ranges::any_of(expr.outputs, [&](ValId val) { return isNeeded_[indexOf(val)]; })) {
      addExpr(i);
    }
  }
  return finish();
}

void Segmenter::addExpr(uint32_t index) {
  const ExprId id{index};
  std::optional<CallShape> call = kernelShapeOf(fusion_, id);
  const std::vector<ExprId> absorbed = absorption_->absorbedBy(id);
  if (call && readsShifted(call->form.body)) {
    call->fromMemory = absorption_->sourcesOf(id);
    std::erase_if(call->fromMemory, [&](ValId val) { return !fusion_.val(val).isTensor(); });
    if (std::ranges::any_of(absorbed, [&](ExprId each) {
          return loopFormOf(*fusion_.expr(each).op).body != Body::Slice;
        })) {
      call->form.cost = LoopForm::Cost::Something;
    }
  }
  if (!call || !addToKernel(*call)) {
    absorption_->release(id);
    for (ExprId each : absorbed) {
      addExpr(indexOf(each));
    }
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
  for (ValId val : absorption_->sourcesOf(ExprId{index})) {
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

std::vector<Group> segment(const Fusion& fusion, const CostModel& costs) {
  return Segmenter(fusion, costs).run();
}

}  // namespace meshfuse
