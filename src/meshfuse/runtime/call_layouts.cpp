#include "meshfuse/runtime/call_layouts.h"

#include <algorithm>
#include <complex>

#include <ATen/TensorIterator.h>
#include <ATen/ops/empty_strided.h>

#include "meshfuse/base/memory_order.h"
#include "meshfuse/evaluator/pointwise_eval.h"
#include "meshfuse/ops/infer.h"
#include "meshfuse/ops/op_info.h"
#include "meshfuse/ops/pointwise.h"
#include "meshfuse/ops/reshard.h"
#include "meshfuse/scheduling/loop_form.h"
#include "meshfuse/scheduling/shifted_reads.h"
#include "meshfuse/values/torch_types.h"

namespace meshfuse {

namespace {

bool isEmpty(const std::vector<int64_t>& sizes) { return std::ranges::count(sizes, 0) != 0; }

/// The same order in memory without gaps and repetitions.
std::vector<int64_t> withoutGaps(const std::vector<int64_t>& sizes, std::vector<int64_t> strides) {
  if (isEmpty(sizes)) {
    return strides;
  }
  const std::vector<int64_t> order = outermostFirst(strides);
  std::vector<int64_t> dense = denseStrides(sizes, order);
  bool isDense = true;
  for (size_t dim = 0; dim < sizes.size(); ++dim) {
    isDense = isDense && (sizes[dim] == 1 || strides[dim] == dense[dim]);
  }
  return isDense ? strides : dense;
}

/// Dimensions from the outermost in memory to the innermost, those of one element as -1 - dim; none where the layout is not the
/// dense one of that order.
std::optional<std::vector<int64_t>> orderOf(const std::vector<int64_t>& sizes,
                                            const std::vector<int64_t>& strides) {
  std::vector<int64_t> order = outermostFirst(strides);
  if (isEmpty(sizes) || strides != denseStrides(sizes, order)) {
    return std::nullopt;
  }
  for (int64_t& dim : order) {
    dim = sizes[static_cast<size_t>(dim)] == 1 ? -1 - dim : dim;
  }
  return order;
}

std::vector<int64_t> stridesIn(const std::vector<int64_t>& sizes, std::vector<int64_t> order) {
  for (int64_t& dim : order) {
    dim = dim < 0 ? -1 - dim : dim;
  }
  return denseStrides(sizes, order);
}

at::Tensor withoutMemory(PrimType type, const std::vector<int64_t>& sizes,
                         const std::vector<int64_t>& strides) {
  return at::empty_strided(sizes, strides, at::TensorOptions(torchDtype(type)).device(at::kMeta));
}

/// Layouts depend on a number's type alone.
PolymorphicValue anyNumber(PrimType type) {
  switch (categoryOf(type)) {
    case TypeCategory::Boolean:
      return true;
    case TypeCategory::Integral:
      return 1;
    case TypeCategory::Complex:
      return std::complex<double>(1);
    default:
      return 1.0;
  }
}

}  // namespace

bool isRowMajor(const TensorLayout& layout) {
  return layout.strides == rowMajorStrides(layout.sizes);
}

std::vector<int64_t> CallLayouts::sizesOf(ValId val) const {
  return localSizesOf(fusion_.val(val).tensor(), rank_);
}

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
  for (ValId id : inputsOf(expr)) {
    const Val& val = fusion_.val(id);
    PolymorphicValue& value = state_->values[indexOf(id)];
    if (value.hasValue()) {
      continue;
    }
    if (val.isTensor()) {
      const TensorLayout& layout = layouts[id];
      value = withoutMemory(val.dtype(), layout.sizes, layout.strides);
    } else {
      value = anyNumber(val.dtype());
    }
  }
  for (ValId val : expr.outputs) {
    if (fusion_.val(val).isTensor()) {
      sizes_[indexOf(val)] = sizesOf(val);
    }
  }
  if (const std::optional<std::vector<int64_t>> strides = knownStrides(expr)) {
    for (ValId id : expr.outputs) {
      state_->values[indexOf(id)] = withoutMemory(fusion_.val(id).dtype(), sizesOf(id), *strides);
    }
    return;
  }
  // The seed changes no layout, and drawing one would change the stream of random numbers.
  runCall(fusion_, expr, sizes_, 0, *state_);
}

std::optional<std::vector<int64_t>> CallLayouts::knownStrides(const Expr& expr) const {
  const LoopForm form = loopFormOf(*expr.op);
  if (form.kind == LoopForm::Kind::Call || form.reorders) {
    return std::nullopt;
  }
  const std::vector<int64_t> sizes = sizesOf(expr.outputs.front());
  const bool arePlain = std::ranges::all_of(tensorsOf(fusion_, expr), [&](ValId val) {
    const at::Tensor& tensor = state_->values[indexOf(val)].asTensor();
    return tensor.numel() != 0 &&
           tensor.strides() == c10::IntArrayRef(rowMajorStrides(tensor.sizes().vec()));
  });
  if (form.kind == LoopForm::Kind::Reduction || arePlain) {
    return rowMajorStrides(sizes);
  }
  if (!infoOf(*expr.op).isPointwise()) {
    return std::nullopt;
  }
  return elementwiseStrides(expr);
}

/// Those that torch's iterators give a result of operands in the type that is computed in.
std::vector<int64_t> CallLayouts::elementwiseStrides(const Expr& expr) const {
  const OpInfo& op = infoOf(*expr.op);
  const std::vector<TensorType> tensors = tensorOperands(fusion_, expr.args);
  const at::ScalarType compute =
      calculationType(pointwiseTypes({&op, &fusion_, expr.args, tensors}).compute);
  at::TensorIteratorConfig config;
  config.set_check_mem_overlap(false)
      .check_all_same_dtype(false)
      .declare_static_dtype_and_device(compute, at::kMeta)
      .add_owned_output(at::Tensor());
  const bool chooses =
      pointwiseRows()[static_cast<size_t>(op.pointwiseRow)].types == DtypeClass::Select;
  for (size_t i = 0; i < expr.args.size(); ++i) {
    const ValId* val = std::get_if<ValId>(&expr.args[i]);
    if (val != nullptr && fusion_.val(*val).isTensor()) {
      const at::Tensor& tensor = state_->values[indexOf(*val)].asTensor();
      config.add_owned_const_input(tensor.to(chooses && i == 0 ? at::kBool : compute));
    }
  }
  return config.build().output().strides().vec();
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
    std::vector<int64_t> sizes = sizesOf(val);
    std::vector<int64_t> strides =
        isKnown ? state_->values[indexOf(val)].asTensor().strides().vec() : rowMajorStrides(sizes);
    layouts.set(val, {std::move(sizes), std::move(strides)});
  }
}

std::vector<std::vector<int64_t>> CallLayouts::evaluatedStrides(const KernelTemplate& kernel,
                                                                const TensorLayouts& layouts) {
  for (const GroupCall& call : kernel.group.calls) {
    for (ExprId absorbed : call.absorbed) {
      evaluate(fusion_.expr(absorbed), layouts);
    }
    evaluate(fusion_.expr(call.expr), layouts);
  }
  std::vector<std::vector<int64_t>> strides;
  for (const GraphTensor& write : kernel.graph.writes) {
    strides.push_back(withoutGaps(sizesOf(write.val),
                                  state_->values[indexOf(write.val)].asTensor().strides().vec()));
  }
  return strides;
}

std::vector<std::vector<int64_t>> CallLayouts::stridesOf(KernelTemplate& kernel,
                                                         const TensorLayouts& layouts) {
  std::vector<std::vector<int64_t>> strides;
  // Whatever calls make of row-major tensors is row-major, unless they move dimensions or there is nothing in it.
  if (!kernel.reorders && std::ranges::all_of(kernel.graph.reads, [&](const GraphTensor& read) {
        return isRowMajor(layouts[read.val]) && !isEmpty(layouts[read.val].sizes);
      })) {
    for (const GraphTensor& write : kernel.graph.writes) {
      strides.push_back(rowMajorStrides(sizesOf(write.val)));
    }
    return strides;
  }
  MemoryOrders orders;
  bool isDense = true;
  for (const GraphTensor& read : kernel.graph.reads) {
    auto order = orderOf(layouts[read.val].sizes, layouts[read.val].strides);
    isDense = isDense && order.has_value();
    orders.reads.push_back(std::move(order).value_or(std::vector<int64_t>{}));
  }
  const auto known = std::ranges::find(kernel.orders, orders.reads, &MemoryOrders::reads);
  if (isDense && known != kernel.orders.end()) {
    for (size_t i = 0; i < kernel.graph.writes.size(); ++i) {
      strides.push_back(stridesIn(sizesOf(kernel.graph.writes[i].val), known->writes[i]));
    }
    return strides;
  }
  strides = evaluatedStrides(kernel, layouts);
  for (size_t i = 0; i < strides.size(); ++i) {
    auto order = orderOf(sizesOf(kernel.graph.writes[i].val), strides[i]);
    isDense = isDense && order.has_value();
    orders.writes.push_back(std::move(order).value_or(std::vector<int64_t>{}));
  }
  if (isDense) {
    kernel.orders.push_back(std::move(orders));
  }
  return strides;
}

void CallLayouts::settle(KernelTemplate& kernel, TensorLayouts& layouts) {
  std::vector<std::vector<int64_t>> strides = stridesOf(kernel, layouts);
  for (size_t i = 0; i < strides.size(); ++i) {
    const ValId val = kernel.graph.writes[i].val;
    layouts.set(val, {sizesOf(val), std::move(strides[i])});
  }
  const auto needSizes = [&](ValId val) {
    if (!layouts.isKnown(val)) {
      layouts.set(val, {sizesOf(val), {}});
    }
  };
  for (const GroupLoop& loop : kernel.group.loops) {
    if (loop.factor < 0) {
      needSizes(loop.val);
    }
  }
  for (const GraphIndex& index : kernel.graph.indices) {
    needSizes(index.val);
  }
}

}  // namespace meshfuse
