#include "meshfuse/runtime/bound_program.h"

#include <algorithm>

#include <ATen/core/grad_mode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include "meshfuse/base/error.h"
#include "meshfuse/base/hash.h"
#include "meshfuse/ir/print.h"
#include "meshfuse/mesh/shard_arithmetic.h"
#include "meshfuse/ops/concretize.h"
#include "meshfuse/runtime/compile.h"
#include "meshfuse/runtime/global_strides.h"
#include "meshfuse/runtime/input_checks.h"
#include "meshfuse/runtime/packed_tensors.h"
#include "meshfuse/runtime/program_summary.h"
#include "meshfuse/sharding/propagate.h"

namespace meshfuse {

namespace {

uint64_t nextId() noexcept {
  static std::atomic<uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

std::vector<InputShape> shapesOf(const Fusion& fusion, std::span<const ArgView> args) {
  std::vector<InputShape> shapes;
  for (size_t i = 0; i < args.size(); ++i) {
    InputShape shape;
    if (args[i].isTensor()) {
      shape.sizes = sizesInElements(fusion.val(fusion.inputs()[i]).tensor(), args[i]);
    } else {
      shape.value = args[i].scalar();
    }
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

std::vector<ShardingId> shardingsOf(std::span<const ArgView> args) {
  std::vector<ShardingId> shardings;
  for (const ArgView& arg : args) {
    shardings.push_back(arg.sharding);
  }
  return shardings;
}

PolymorphicValue valueOf(const ArgView& arg) {
  if (!arg.isTensor()) {
    return arg.scalar();
  }
  return at::Tensor(
      c10::intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>::reclaim_copy(arg.tensor));
}

/// The same without a graph: a view of a tensor that requires a gradient would require one as well, and lose it.
PolymorphicValue detachedValueOf(const ArgView& arg) {
  PolymorphicValue value = valueOf(arg);
  if (value.is<at::Tensor>() && value.asTensor().requires_grad()) {
    return value.asTensor().detach();
  }
  return value;
}

}  // namespace

BoundProgram::BoundProgram(const Fusion& fusion, std::span<const ArgView> args,
                           const CallContext& context, Signature signature,
                           const std::shared_ptr<ProgramClasses>& classes)
    : id_(nextId()),
      signature_(std::move(signature)),
      returnedInputs_(returnedInputs(fusion)),
      writtenInputs_(writtenInputs(fusion)),
      packedResults_(packedResults(fusion)) {
  checkInputs(fusion, args);
  checkTogether(fusion, args);
  checkLocalSizes(fusion, args, context.rank);
  checkWrittenLayouts(fusion, writtenInputs_, args);
  const auto isDistributed = [](const ArgView& arg) { return arg.isDistributed(); };
  const auto firstDistributed = std::find_if(args.begin(), args.end(), isDistributed);
  distributed_ = firstDistributed != args.end();
  Fusion concrete = concretize(fusion, shapesOf(fusion, args));
  if (distributed_) {
    mesh_ = firstDistributed->sharding->mesh;
    concrete = propagateShardings(concrete, shardingsOf(args));
    fingerprint_ = structuralHash(concrete);
    communicates_ = communicates(concrete);
    isOnCpu_ = firstDistributed->sharding->device == MeshDevice::Cpu;
    for (ValId id : concrete.outputs()) {
      const TensorType& type = concrete.val(concrete.inputBehind(id).value_or(id)).tensor();
      OutputLayout layout;
      layout.sharding = type.sharding;
      for (const IterDomain& domain : type.domain) {
        layout.globalSizes.push_back(domain.extent.constant());
      }
      if (const size_t i = outputs_.size(); !packedResults_.empty() && packedResults_[i] >= 0) {
        layout.globalSizes[static_cast<size_t>(packedResults_[i])] /= 2;
      }
      layout.isEven = meshfuse::isEven(*type.sharding, layout.globalSizes);
      outputs_.push_back(std::move(layout));
    }
  }
  checkPackedOutputs(concrete, packedResults_);
  if (!context.dispatchAll) {
    copy_ = CopyProgram::build(concrete, args);
    if (!copy_ && isCompilable(concrete, args)) {
      TensorLayouts layouts = argumentLayouts(concrete, args);
      if (!distributed_ && isTiered()) {
        tiered_ = TieredProgram::start(concrete, std::move(layouts), classes);
      } else {
        const BlockingScope scope(context.blocking);
        compiled_ = compile(concrete, layouts, context.rank, *classes);
      }
    }
  }
  if (copy_ || compiled_) {
    compiledFusion_ = std::move(concrete);
  } else {
    program_.emplace(std::move(concrete), std::vector<int64_t>{context.rank});
  }
}

void BoundProgram::run(std::span<const ArgView> args, const CallContext& context,
                       CallResults& results) const {
  if (!writtenInputs_.empty()) {
    checkWrittenTogether(args, context);
  }
  if (distributed_ && context.collectives != nullptr) {
    if (isCheckedEachCall(context.rankCheck)) {
      const BlockingScope scope(context.blocking);
      agree(args, context);
    } else if (agreement_.load(std::memory_order_acquire) != Agreement::Done) {
      const BlockingScope scope(context.blocking);
      agreeOnce(args, context);
    }
  }
  results.programId = id_;
  if (copy_) {
    runCopy(args, context, results);
    return;
  }
  const HostProgram* compiled = compiledNow();
  if (compiled != nullptr && writtenInputs_.empty() && returnedInputs_.empty()) {
    runCompiled(*compiled, args, context, results);
  } else {
    evaluate(compiled, args, context, results);
  }
}

/// What a call runs; one that runs on the evaluator goes on there when kernels are ready meanwhile.
const HostProgram* BoundProgram::compiledNow() const {
  return compiled_ ? &*compiled_ : tiered_ != nullptr ? tiered_->ready() : nullptr;
}

void BoundProgram::waitForKernels(const CallContext& context) const {
  if (tiered_ != nullptr) {
    const BlockingScope scope(context.blocking);
    tiered_->wait();
  }
}

/// checkWritten, of which the ranks that wait for this one hear.
void BoundProgram::checkWrittenTogether(std::span<const ArgView> args,
                                        const CallContext& context) const {
  try {
    checkWritten(fusion(), writtenInputs_, args);
  } catch (const UserError& error) {
    const BlockingScope scope(context.blocking);
    tellFailure(context, error.what());
    throw;
  }
}

const Fusion& BoundProgram::fusion() const {
  return compiledFusion_ ? *compiledFusion_ : program_->fusion();
}

std::vector<ShardingId> BoundProgram::outputShardings() const {
  std::vector<ShardingId> shardings;
  for (const OutputLayout& layout : outputs_) {
    shardings.push_back(layout.sharding);
  }
  return shardings;
}

std::string BoundProgram::toText() const {
  const HostProgram* compiled = compiledNow();
  std::string text = copy_                 ? "one copy:\n"
                     : compiled != nullptr ? "compiled:\n" + compiled->toText()
                                           : "operation by operation with ATen:\n";
  text += print(fusion());
  for (const CollectiveEstimate& collective : collectivesOf(fusion())) {
    const ValId result = fusion().expr(collective.expr).outputs.front();
    text += collective.kind + " of " + std::to_string(collective.bytes) + " bytes makes " +
            fusion().nameOf(result) + "\n";
  }
  return text;
}

bool BoundProgram::isCheckedEachCall(RankCheck check) const noexcept {
  return check == RankCheck::Always ||
         (check == RankCheck::Communicating && communicates_ && isOnCpu_);
}

/// The numbers among the arguments are part of what ranks compare: a result is one tensor of the mesh only if they are the same.
void BoundProgram::agree(std::span<const ArgView> args, const CallContext& context) const {
  uint64_t fingerprint = fingerprint_;
  for (const ArgView& arg : args) {
    if (!arg.isTensor()) {
      fingerprint = hashMix(fingerprint, arg.scalar().hash());
    }
  }
  context.collectives->agree(mesh_, fingerprint, [&] {
    return summaryOf(fusion()) + numbersText(args) + detailsOf(fusion());
  });
}

void BoundProgram::agreeOnce(std::span<const ArgView> args, const CallContext& context) const {
  for (;;) {
    Agreement state = Agreement::None;
    if (agreement_.compare_exchange_strong(state, Agreement::Running)) {
      break;
    }
    if (state == Agreement::Done) {
      return;
    }
    agreement_.wait(Agreement::Running);
  }
  Agreement outcome = Agreement::None;
  try {
    agree(args, context);
    outcome = Agreement::Done;
  } catch (...) {
    agreement_.store(outcome);
    agreement_.notify_all();
    throw;
  }
  agreement_.store(outcome);
  agreement_.notify_all();
}

void BoundProgram::runCopy(std::span<const ArgView> args, const CallContext& context,
                           CallResults& results) const {
  if (copy_->isLarge()) {
    const BlockingScope scope(context.blocking);
    copy_->run(args, results.values);
  } else {
    copy_->run(args, results.values);
  }
  if (distributed_) {
    for (size_t i = 0; i < results.values.size(); ++i) {
      results.values[i] = wrap(i, std::move(results.values[i]));
    }
  }
}

void BoundProgram::runCompiled(const HostProgram& compiled, std::span<const ArgView> args,
                               const CallContext& context, CallResults& results) const {
  if (compiled.isLarge()) {
    const BlockingScope scope(context.blocking);
    const at::NoGradGuard noGrad;
    const c10::impl::ExcludeDispatchKeyGuard noAutocast(c10::autocast_dispatch_keyset);
    compiled.run(args, context.collectives, results.values);
  } else {
    compiled.run(args, context.collectives, results.values);
  }
  if (distributed_) {
    for (size_t i = 0; i < results.values.size(); ++i) {
      results.values[i] = wrap(i, std::move(results.values[i]));
    }
  }
}

/// The outputs, then the values that are written into inputs, as torch holds them.
std::vector<PolymorphicValue> BoundProgram::compute(const HostProgram* compiled,
                                                    std::span<const ArgView> args,
                                                    const CallContext& context) const {
  if (compiled != nullptr) {
    c10::SmallVector<PolymorphicValue, 4> values;
    compiled->run(args, context.collectives, values);
    return {std::make_move_iterator(values.begin()), std::make_move_iterator(values.end())};
  }
  std::vector<std::vector<PolymorphicValue>> inputs(1);
  inputs[0].reserve(args.size());
  for (size_t i = 0; i < args.size(); ++i) {
    inputs[0].push_back(unpackedInput(fusion(), i, detachedValueOf(args[i])));
  }
  std::vector<PolymorphicValue> results =
      std::move(program_->run(inputs, context.collectives, context.device).front());
  for (size_t i = 0; i < packedResults_.size(); ++i) {
    if (packedResults_[i] >= 0) {
      packResult(results[i], packedResults_[i]);
    }
  }
  return results;
}

void BoundProgram::evaluate(const HostProgram* compiled, std::span<const ArgView> args,
                            const CallContext& context, CallResults& results) const {
  c10::SmallVector<at::Tensor, 2> targets;
  for (uint32_t position : writtenInputs_) {
    targets.push_back(valueOf(args[position]).takeTensor());
  }
  std::vector<PolymorphicValue> outputs;
  {
    const BlockingScope scope(context.blocking);
    // Results carry no autograd graph, and the definition alone decides the types that are computed in.
    const at::NoGradGuard noGrad;
    const c10::impl::ExcludeDispatchKeyGuard noAutocast(c10::autocast_dispatch_keyset);
    if (targets.empty()) {
      outputs = compute(compiled, args, context);
    } else {
      try {
        outputs = compute(compiled, args, context);
      } catch (const std::exception& error) {
        if (!communicates_) {
          tellFailure(context, error.what());
        }
        throw;
      }
      write(context, targets, outputs);
    }
  }
  const size_t outputCount = fusion().outputs().size();
  for (size_t i = 0; i < outputCount; ++i) {
    // An input that is an output is given back as the tensor that it is.
    if (!returnedInputs_.empty() && returnedInputs_[i] >= 0) {
      outputs[i] = valueOf(args[static_cast<size_t>(returnedInputs_[i])]);
    }
    results.values.push_back(distributed_ ? wrap(i, std::move(outputs[i])) : std::move(outputs[i]));
  }
}

/// `computed` are the results of compute(): the outputs, then the values that are written.
void BoundProgram::write(const CallContext& context, std::span<const at::Tensor> targets,
                         std::span<PolymorphicValue> computed) const {
  const size_t outputCount = fusion().outputs().size();
  const ComputedResults results{computed.first(outputCount), computed.subspan(outputCount)};
  settleResults(results, returnedInputs_, targets);
  agreeToWrite(context);
  writeInputs(results.written, targets);
}

/// Comes back when all ranks have computed what they are to write; throws when one has not, on all of them.
void BoundProgram::agreeToWrite(const CallContext& context) const {
  if (!distributed_ || context.collectives == nullptr) {
    return;
  }
  try {
    context.collectives->agree(mesh_, hashMix(fingerprint_, 1),
                               [&] { return summaryOf(fusion()) + detailsOf(fusion()); });
  } catch (const UserError& error) {
    throw UserError(error.kind(),
                    std::string("execute: no input was written, as not every rank has computed "
                                "what it is to write: ") +
                        error.what());
  }
}

/// Lets those know who are in agree() or agreeToWrite(). In a program that communicates they may be on the way between the two, where
/// nobody can be told: they find out by the deadline.
void BoundProgram::tellFailure(const CallContext& context, const char* error) const noexcept {
  if (!distributed_ || context.collectives == nullptr) {
    return;
  }
  try {
    context.collectives->agree(mesh_, hashMix(fingerprint_, 2),
                               [&] { return std::string("failed: ") + error; });
  } catch (const std::exception&) {
    // That the ranks differ is known, and the error that made them is on its way.
    return;
  }
}

PolymorphicValue BoundProgram::wrap(size_t output, PolymorphicValue&& value) const {
  const OutputLayout& layout = outputs_[output];
  at::Tensor local = std::move(value).takeTensor();
  if (layout.isEven) {
    return DistributedTensor::evenUnchecked(std::move(local), layout.sharding);
  }
  const c10::DimVector strides = globalStridesOf(layout.globalSizes, local.strides());
  return DistributedTensor(std::move(local), layout.sharding, layout.globalSizes,
                           std::span<const int64_t>(strides.data(), strides.size()));
}

}  // namespace meshfuse
