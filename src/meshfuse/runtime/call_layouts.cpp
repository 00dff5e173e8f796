#include "meshfuse/runtime/call_layouts.h"

#include <algorithm>

#include <ATen/ops/empty_strided.h>

#include "meshfuse/ops/reshard.h"
#include "meshfuse/values/torch_types.h"

namespace meshfuse {

bool CallLayouts::isKnownBefore(const Expr& expr) const {
  return !isReshard(expr) && std::ranges::all_of(inputsOf(expr), [&](ValId val) {
    return fusion_.val(val).isTensor() || fusion_.val(val).scalar().constant.has_value();
  });
}

void CallLayouts::evaluate(const Expr& expr, const TensorLayouts& layouts) {
  if (!state_) {
    state_.emplace();
    state_->rank = rank_;
    state_->device = at::kMeta;
    state_->values.resize(fusion_.vals().size());
    sizes_.resize(fusion_.vals().size());
  }
  for (ValId val : inputsOf(expr)) {
    PolymorphicValue& value = state_->values[indexOf(val)];
    if (fusion_.val(val).isTensor() && !value.hasValue()) {
      const TensorLayout& layout = layouts[val];
      value = at::empty_strided(
          layout.sizes, layout.strides,
          at::TensorOptions(torchDtype(fusion_.val(val).dtype())).device(at::kMeta));
    }
  }
  for (ValId val : expr.outputs) {
    if (fusion_.val(val).isTensor()) {
      sizes_[indexOf(val)] = localSizesOf(fusion_.val(val).tensor(), rank_);
    }
  }
  // The seed changes no layout, and drawing one would change the stream of random numbers.
  runCall(fusion_, expr, sizes_, 0, *state_);
}

void CallLayouts::settle(const Expr& expr, TensorLayouts& layouts) {
  const bool isKnown = isKnownBefore(expr);
  if (isKnown) {
    evaluate(expr, layouts);
  }
  for (ValId val : expr.outputs) {
    if (!fusion_.val(val).isTensor()) {
      continue;
    }
    std::vector<int64_t> sizes = localSizesOf(fusion_.val(val).tensor(), rank_);
    std::vector<int64_t> strides =
        isKnown ? state_->values[indexOf(val)].asTensor().strides().vec() : rowMajorStrides(sizes);
    layouts.set(val, {std::move(sizes), std::move(strides)});
  }
}

}  // namespace meshfuse
