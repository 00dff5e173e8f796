#include "meshfuse/runtime/fusion_executor.h"

#include <deque>
#include <string>

#include <c10/util/SmallVector.h>

#include "meshfuse/base/error.h"
#include "meshfuse/ops/concretize.h"
#include "meshfuse/runtime/input_checks.h"
#include "meshfuse/runtime/input_writes.h"

namespace meshfuse {

namespace {

/// Views of owned values. Distributed tensors' global sizes and strides are kept here.
class Views {
 public:
  explicit Views(const KernelArgumentHolder& inputs) {
    for (const PolymorphicValue& value : inputs) {
      add(value);
    }
  }
  std::span<const ArgView> views() const { return {views_.data(), views_.size()}; }

 private:
  void add(const PolymorphicValue& value) {
    switch (value.kind()) {
      case ValueKind::Tensor:
        checkTangent(value.tensorUnchecked(), views_.size());
        views_.push_back(ArgView::of(value.tensorUnchecked().unsafeGetTensorImpl()));
        return;
      case ValueKind::DistributedTensor:
        return add(value.distributedUnchecked());
      case ValueKind::Bool:
        views_.push_back(ArgView::of(value.as<bool>()));
        return;
      case ValueKind::Int:
        views_.push_back(ArgView::of(value.as<int64_t>()));
        return;
      case ValueKind::Double:
        views_.push_back(ArgView::of(value.as<double>()));
        return;
      case ValueKind::Complex:
        views_.push_back(ArgView::of(value.as<std::complex<double>>()));
        return;
      case ValueKind::Vector:
        for (const PolymorphicValue& element : value.as<std::vector<PolymorphicValue>>()) {
          add(element);
        }
        return;
      default:
        throwUser(
            ErrorKind::Type,
            {"execute", "arguments must be tensors or numbers",
             "argument " + std::to_string(views_.size()) + " is " +
                 std::string(nameOf(value.kind())),
             "pass a tensor, a distributed tensor, a bool, an int, a float or a complex number"});
    }
  }

  void add(const DistributedTensor& tensor) {
    checkTangent(tensor.local(), views_.size());
    const c10::DimVector& sizes = arrays_.emplace_back(tensor.sizes());
    const c10::DimVector& strides = arrays_.emplace_back(tensor.strides());
    views_.push_back(ArgView::of(tensor.local().unsafeGetTensorImpl(), tensor.sharding(),
                                 sizes.data(), strides.data()));
  }

  c10::SmallVector<ArgView, 8> views_;
  std::deque<c10::DimVector> arrays_;
};

}  // namespace

FusionExecutor::FusionExecutor(Fusion fusion, size_t capacity)
    : fusion_(std::move(fusion)),
      valueMatters_(inputsThatSizesNeed(fusion_)),
      writtenInputs_(meshfuse::writtenInputs(fusion_)),
      returnedInputs_(meshfuse::returnedInputs(fusion_)),
      cache_(capacity) {}

/// The caller uses the cache.
const BoundProgram& FusionExecutor::programFor(std::span<const ArgView> args,
                                               const CallContext& context) {
  const BoundProgram* program = cache_.last();
  if (program != nullptr && program->signature().matches(args, context, valueMatters_)) {
    return *program;
  }
  checkCount(fusion_, args.size());
  return cache_.get(args, context, valueMatters_, [&] {
    return std::make_unique<BoundProgram>(fusion_, args, context,
                                          Signature(args, context, valueMatters_), classes_);
  });
}

void FusionExecutor::run(std::span<const ArgView> args, const CallContext& context,
                         CallResults& results) {
  const ProgramCache::Use use(cache_);
  programFor(args, context).run(args, context, results);
}

void FusionExecutor::compile(std::span<const ArgView> args, const CallContext& context) {
  const ProgramCache::Use use(cache_);
  programFor(args, context).waitForKernels(context);
}

void FusionExecutor::compile(const KernelArgumentHolder& inputs, const CallContext& context) {
  const Views views(inputs);
  compile(views.views(), context);
}

KernelArgumentHolder FusionExecutor::execute(const KernelArgumentHolder& inputs,
                                             const CallContext& context) {
  const Views views(inputs);
  CallResults results;
  run(views.views(), context, results);
  return std::move(results).toHolder();
}

bool FusionExecutor::isBound(std::span<const ArgView> args, const CallContext& context) {
  const ProgramCache::Use use(cache_);
  return args.size() == fusion_.inputs().size() && cache_.has(args, context, valueMatters_);
}

std::vector<ShardingId> FusionExecutor::outputShardings() {
  const ProgramCache::Use use(cache_);
  const BoundProgram* program = cache_.last();
  if (program == nullptr) {
    throwUser(ErrorKind::Runtime,
              {"get_output_shardings", "results lie somewhere from the first execution on",
               "nothing was executed", "execute the definition first"});
  }
  return program->outputShardings();
}

std::string FusionExecutor::explain() {
  const ProgramCache::Use use(cache_);
  const BoundProgram* program = cache_.last();
  return program == nullptr ? std::string() : program->toText();
}

bool FusionExecutor::lastWasCopy() {
  const ProgramCache::Use use(cache_);
  const BoundProgram* program = cache_.last();
  return program != nullptr && program->isCopy();
}

}  // namespace meshfuse
