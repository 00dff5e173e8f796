#include "meshfuse/runtime/elementwise_program.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <unordered_map>

#include <ATen/Parallel.h>
#include <c10/util/SmallVector.h>

#include "meshfuse/ops/op_info.h"
#include "meshfuse/runtime/allocation.h"
#include "meshfuse/values/torch_types.h"

namespace meshfuse {

namespace {

constexpr int64_t kBlockBytes = 4096;
constexpr size_t kMaxBuffers = 8;

template <class T>
void addTensors(char* target, const char* first, const char* second, int64_t count) {
  T* out = reinterpret_cast<T*>(target);
  const T* a = reinterpret_cast<const T*>(first);
  const T* b = reinterpret_cast<const T*>(second);
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    out[i] = a[i] + b[i];
  }
}

template <class T>
void addNumber(char* target, const char* first, const Scalar& number, int64_t count) {
  T* out = reinterpret_cast<T*>(target);
  const T* a = reinterpret_cast<const T*>(first);
  const T b =
      std::is_integral_v<T> ? static_cast<T>(number.toInt()) : static_cast<T>(number.toDouble());
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    out[i] = a[i] + b;
  }
}

}  // namespace

template <class T>
bool ElementwiseProgram::useElement() {
  addTensors_ = &addTensors<T>;
  addNumber_ = &addNumber<T>;
  return true;
}

/// Turns calls into steps, or finds that they do not fit.
class ElementwiseProgram::Builder {
 public:
  Builder(const Fusion& fusion, std::span<const ArgView> args) : fusion_(fusion), args_(args) {}

  bool build(ElementwiseProgram& program) {
    // All reads come before all writes, so what is written has to be computed as a whole first.
    if (!fusion_.writes().empty() || !hasKnownCallsOnly() || !takeShape(program) || !takeInputs() ||
        !takeOutputs(program)) {
      return false;
    }
    for (const Expr& expr : fusion_.exprs()) {
      if (!takeCall(program, expr)) {
        return false;
      }
    }
    program.buffers_ = buffers_;
    return !program.steps_.empty() && written_ == program.outputCount_;
  }

 private:
  /// Whether each call is one that a step can do. A resharding is no such call, even where it moves nothing.
  bool hasKnownCallsOnly() const {
    const OpInfo* set = findOp("set");
    return std::ranges::all_of(fusion_.exprs(),
                               [&](const Expr& expr) { return expr.op == set || expr.op == add_; });
  }

  /// The shape and dtype of the first tensor argument that a call uses stand for all.
  bool takeShape(ElementwiseProgram& program) {
    for (const Expr& expr : fusion_.exprs()) {
      for (ValId id : inputsOf(expr)) {
        const std::optional<size_t> position = positionOf(id);
        if (position && args_[*position].isTensor()) {
          return shapeOf(program, *args_[*position].tensor);
        }
      }
    }
    return false;
  }

  bool shapeOf(ElementwiseProgram& program, const c10::TensorImpl& tensor) {
    if (!tensor.device().is_cpu() || !tensor.is_contiguous() || !tensor.has_storage()) {
      return false;
    }
    const at::ScalarType type = tensor.dtype().toScalarType();
    const std::optional<PrimType> prim = findPrimTypeOf(type);
    if (!prim) {
      return false;
    }
    model_ = &tensor;
    prim_ = *prim;
    program.sizes_ = tensor.sizes();
    program.strides_ = tensor.strides();
    program.dtype_ = tensor.dtype();
    program.itemBytes_ = static_cast<int64_t>(tensor.dtype().itemsize());
    program.elements_ = tensor.numel();
    switch (prim_) {
      case PrimType::Float:
        return program.useElement<float>();
      case PrimType::Double:
        return program.useElement<double>();
      case PrimType::Int:
        return program.useElement<int64_t>();
      case PrimType::Int32:
        return program.useElement<int32_t>();
      default:
        return true;  // can only be copied
    }
  }

  bool takeInputs() {
    for (size_t i = 0; i < args_.size(); ++i) {
      slots_.emplace(indexOf(fusion_.inputs()[i]), Slot{Place::Input, static_cast<uint32_t>(i)});
    }
    return true;
  }

  bool takeOutputs(ElementwiseProgram& program) {
    for (ValId id : fusion_.outputs()) {
      const Val& val = fusion_.val(id);
      // An input that is an output, or one value given out twice, is the evaluator's.
      if (val.definition == kNoExpr || outputOf_.contains(indexOf(id)) ||
          !val.tensor().strideOrder.empty()) {
        return false;
      }
      outputOf_.emplace(indexOf(id), static_cast<uint32_t>(program.outputCount_++));
    }
    return true;
  }

  bool takeCall(ElementwiseProgram& program, const Expr& expr) {
    const ValId result = expr.outputs[0];
    if (!fusion_.val(result).isTensor() || fusion_.val(result).dtype() != prim_) {
      return false;
    }
    Step step;
    const bool isAdd = expr.op == add_;
    if (isAdd && program.addTensors_ == nullptr) {
      return false;
    }
    if (!takeTensor(expr.args[0], step.first)) {
      return false;
    }
    if (isAdd) {
      step.kind = Kind::Add;
      if (!takeTensor(expr.args[1], step.second)) {
        step.kind = Kind::AddNumber;
        if (!takeNumber(expr.args[1], step)) {
          return false;
        }
      }
    }
    if (!takeTarget(result, step.target)) {
      return false;
    }
    program.steps_.push_back(step);
    return true;
  }

  bool takeTensor(const Arg& arg, Slot& slot) {
    const ValId* id = std::get_if<ValId>(&arg);
    if (id == nullptr || !fusion_.val(*id).isTensor() || fusion_.val(*id).dtype() != prim_) {
      return false;
    }
    const auto found = slots_.find(indexOf(*id));
    if (found == slots_.end()) {
      return false;
    }
    slot = found->second;
    return slot.place != Place::Input || isLikeModel(*args_[slot.index].tensor);
  }

  bool isLikeModel(const c10::TensorImpl& tensor) const {
    return &tensor == model_ ||
           (tensor.device().is_cpu() && tensor.has_storage() && tensor.dtype() == model_->dtype() &&
            tensor.is_contiguous() && tensor.sizes() == model_->sizes());
  }

  bool takeNumber(const Arg& arg, Step& step) {
    if (const Scalar* constant = std::get_if<Scalar>(&arg)) {
      step.constant = *constant;
    } else if (const ValId* id = std::get_if<ValId>(&arg)) {
      const Val& val = fusion_.val(*id);
      if (val.isTensor()) {
        return false;
      }
      if (val.scalar().constant) {
        step.constant = *val.scalar().constant;
      } else if (const std::optional<size_t> position = positionOf(*id)) {
        step.number = static_cast<int32_t>(*position);
        return args_[*position].kind != ArgKind::Complex;
      } else {
        return false;
      }
    } else {
      return false;
    }
    return !step.constant.isComplex();
  }

  bool takeTarget(ValId result, Slot& target) {
    const auto output = outputOf_.find(indexOf(result));
    if (output != outputOf_.end()) {
      target = {Place::Output, output->second};
      ++written_;
    } else if (buffers_ < kMaxBuffers) {
      target = {Place::Buffer, buffers_++};
    } else {
      return false;
    }
    slots_.emplace(indexOf(result), target);
    return true;
  }

  std::optional<size_t> positionOf(ValId id) const {
    for (size_t i = 0; i < fusion_.inputs().size(); ++i) {
      if (fusion_.inputs()[i] == id) {
        return i;
      }
    }
    return std::nullopt;
  }

  const OpInfo* add_ = findOp("add");
  const Fusion& fusion_;
  std::span<const ArgView> args_;
  const c10::TensorImpl* model_ = nullptr;
  PrimType prim_ = PrimType::Null;
  std::unordered_map<uint32_t, Slot> slots_;
  std::unordered_map<uint32_t, uint32_t> outputOf_;
  uint32_t buffers_ = 0;
  size_t written_ = 0;
};

std::optional<ElementwiseProgram> ElementwiseProgram::build(const Fusion& fusion,
                                                            std::span<const ArgView> args) {
  ElementwiseProgram program;
  if (!Builder(fusion, args).build(program)) {
    return std::nullopt;
  }
  const Step& first = program.steps_.front();
  program.isOneCopy_ =
      program.steps_.size() == 1 && first.kind == Kind::Copy && first.first.place == Place::Input;
  return program;
}

void ElementwiseProgram::allocate(Values& outputs) const {
  for (size_t i = 0; i < outputCount_; ++i) {
    outputs.push_back(allocateCpu(sizes_, strides_, dtype_, elements_ * itemBytes_));
  }
}

void ElementwiseProgram::compute(std::span<const ArgView> args, const Values& outputs) const {
  if (elements_ == 0) {
    return;  // tensors without elements have no memory to name
  }
  const auto addressOf = [](const PolymorphicValue& value) {
    return static_cast<char*>(
        const_cast<void*>(dataOf(*value.tensorUnchecked().unsafeGetTensorImpl())));
  };
  const int64_t bytes = elements_ * itemBytes_;
  if (isOneCopy_ && bytes < kParallelBytes) {
    std::memcpy(addressOf(outputs[0]), dataOf(*args[steps_[0].first.index].tensor),
                static_cast<size_t>(bytes));
    return;
  }
  c10::SmallVector<const char*, 8> inputs;
  c10::SmallVector<char*, 4> addresses;
  c10::SmallVector<Scalar, 4> numbers;
  for (const ArgView& arg : args) {
    inputs.push_back(arg.isTensor() ? static_cast<const char*>(dataOf(*arg.tensor)) : nullptr);
  }
  for (const PolymorphicValue& output : outputs) {
    addresses.push_back(addressOf(output));
  }
  for (const Step& step : steps_) {
    if (step.kind == Kind::AddNumber) {
      numbers.push_back(step.number < 0 ? step.constant
                                        : args[static_cast<size_t>(step.number)].scalar());
    }
  }
  if (bytes < kParallelBytes) {
    computeRange(inputs, addresses, numbers, 0, elements_);
    return;
  }
  at::parallel_for(0, elements_, kParallelBytes / 2 / itemBytes_, [&](int64_t begin, int64_t end) {
    computeRange(inputs, addresses, numbers, begin, end);
  });
}

void ElementwiseProgram::computeRange(std::span<const char* const> inputs,
                                      std::span<char* const> outputs,
                                      std::span<const Scalar> numbers, int64_t begin,
                                      int64_t end) const {
  // Without intermediates there is nothing to keep near, and one pass over the whole range is fastest.
  const int64_t block = steps_.size() == 1 ? end - begin : kBlockBytes / itemBytes_;
  alignas(64) std::array<char, kMaxBuffers * kBlockBytes> buffers;
  for (int64_t at = begin; at < end; at += block) {
    const int64_t count = std::min(block, end - at);
    const auto address = [&](Slot slot) -> const char* {
      switch (slot.place) {
        case Place::Input:
          return inputs[slot.index] + at * itemBytes_;
        case Place::Output:
          return outputs[slot.index] + at * itemBytes_;
        default:
          return buffers.data() + slot.index * static_cast<size_t>(kBlockBytes);
      }
    };
    const Scalar* number = numbers.data();
    for (const Step& step : steps_) {
      char* target = const_cast<char*>(address(step.target));
      const char* first = address(step.first);
      if (step.kind == Kind::Copy) {
        std::memcpy(target, first, static_cast<size_t>(count * itemBytes_));
      } else if (step.kind == Kind::Add) {
        addTensors_(target, first, address(step.second), count);
      } else {
        addNumber_(target, first, *number++, count);
      }
    }
  }
}

}  // namespace meshfuse
