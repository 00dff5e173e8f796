#include "meshfuse/runtime/copy_program.h"

#include <algorithm>
#include <cstring>

#include <ATen/Parallel.h>

#include "meshfuse/ops/op_info.h"
#include "meshfuse/runtime/allocation.h"
#include "meshfuse/values/torch_types.h"

namespace meshfuse {

namespace {

/// More than that is copied by several threads, each at least half of it.
constexpr int64_t kParallelBytes = int64_t{1} << 20;

bool isWholeOnCpu(const c10::TensorImpl& tensor) {
  return tensor.device().is_cpu() && tensor.has_storage() && tensor.is_contiguous() &&
         findPrimTypeOf(tensor.dtype().toScalarType()).has_value();
}

}  // namespace

std::optional<CopyProgram> CopyProgram::build(const Fusion& fusion, std::span<const ArgView> args) {
  static const OpInfo* const kSet = findOp("set");
  if (fusion.exprs().size() != 1 || fusion.exprs().front().op != kSet ||
      fusion.outputs().size() != 1 || !fusion.writes().empty()) {
    return std::nullopt;
  }
  const Expr& expr = fusion.exprs().front();
  const ValId* operand = std::get_if<ValId>(&expr.args.front());
  const auto input =
      operand == nullptr ? fusion.inputs().end() : std::ranges::find(fusion.inputs(), *operand);
  if (input == fusion.inputs().end() || fusion.outputs().front() != expr.outputs.front()) {
    return std::nullopt;
  }
  CopyProgram program;
  program.argument_ = static_cast<size_t>(input - fusion.inputs().begin());
  const ArgView& arg = args[program.argument_];
  const PrimType type = fusion.val(expr.outputs.front()).dtype();
  if (!arg.isTensor() || !isWholeOnCpu(*arg.tensor) ||
      findPrimTypeOf(arg.tensor->dtype().toScalarType()) != type) {
    return std::nullopt;
  }
  program.elements_ = arg.tensor->numel();
  program.result_ = {c10::DimVector(arg.tensor->sizes()), c10::DimVector(arg.tensor->strides()),
                     arg.tensor->dtype(),
                     program.elements_ * static_cast<int64_t>(arg.tensor->dtype().itemsize())};
  return program;
}

void CopyProgram::run(std::span<const ArgView> args, Values& outputs) const {
  at::Tensor copy = allocateCpu(result_);
  const int64_t bytes = result_.bytes;
  if (bytes != 0) {  // tensors without elements have no memory to name
    const auto* from = static_cast<const char*>(dataOf(*args[argument_].tensor));
    auto* to = static_cast<char*>(addressOf(*copy.unsafeGetTensorImpl()));
    if (bytes < kParallelBytes) {
      std::memcpy(to, from, static_cast<size_t>(bytes));
    } else {
      at::parallel_for(0, bytes, kParallelBytes / 2, [&](int64_t begin, int64_t end) {
        std::memcpy(to + begin, from + begin, static_cast<size_t>(end - begin));
      });
    }
  }
  outputs.emplace_back(std::move(copy));
}

}  // namespace meshfuse
