#include "meshfuse/runtime/host_program.h"

#include <algorithm>
#include <optional>

#include <ATen/ops/empty_strided.h>
#include <ATen/ops/from_blob.h>

#include "meshfuse/base/error.h"
#include "meshfuse/evaluator/op_evaluation.h"
#include "meshfuse/evaluator/program_step.h"
#include "meshfuse/evaluator/random_numbers.h"
#include "meshfuse/runtime/allocation.h"
#include "meshfuse/runtime/kernel_number.h"
#include "meshfuse/values/conversions.h"
#include "meshfuse/values/torch_types.h"

namespace meshfuse {

namespace {

/// Above this a call lets other threads in: what it takes is more than giving up and taking the lock.
constexpr int64_t kLargeBytes = int64_t{1} << 19;

at::Tensor tensorOf(const ArgView& arg) {
  at::Tensor tensor(
      c10::intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>::reclaim_copy(arg.tensor));
  // A view of a tensor that requires a gradient would require one as well, and lose it.
  return tensor.requires_grad() ? tensor.detach() : tensor;
}

}  // namespace

/// One run.
struct HostProgram::Running {
  std::span<const ArgView> args;
  const Collectives* collectives;
  Values& results;
  size_t firstResult = 0;
  char* temporaries = nullptr;
  c10::SmallVector<void*, 8> fresh = {};  // addresses, by fresh tensor
  KernelStatus status = {};
  std::optional<RankState> state = std::nullopt;  // where calls are made
  // Of results of calls, in the layouts that kernels expect.
  c10::SmallVector<at::Tensor, 1> copies = {};
  std::vector<uint64_t> seeds = {};  // drawn so far, in the order of drawing_
};

HostProgram::HostProgram(Parts parts) : parts_(std::move(parts)) {
  const Fusion& fusion = parts_.fusion;
  freshOf_.assign(fusion.vals().size(), -1);
  argumentOf_.assign(fusion.vals().size(), -1);
  for (size_t i = 0; i < fusion.inputs().size(); ++i) {
    argumentOf_[indexOf(fusion.inputs()[i])] = static_cast<int32_t>(i);
  }
  results_.assign(fusion.outputs().begin(), fusion.outputs().end());
  for (const InputWrite& write : fusion.writes()) {
    results_.push_back(write.value);
  }
  hasCalls_ = std::ranges::any_of(
      parts_.steps, [](const HostStep& step) { return step.kind != HostStepKind::Launch; });
  const bool evaluates = hasCalls_ || std::ranges::any_of(parts_.launches, &KernelLaunch::mayFail);
  if (evaluates) {
    for (const Val& val : fusion.vals()) {
      localSizes_.push_back(val.isTensor() ? localSizesOf(val.tensor(), parts_.rank)
                                           : std::vector<int64_t>{});
    }
  }
  for (const HostStep& step : parts_.steps) {
    if (step.kind == HostStepKind::Launch) {
      const std::vector<ExprId>& seeds = parts_.launches[step.launch].seeds;
      drawing_.insert(drawing_.end(), seeds.begin(), seeds.end());
    } else if (step.kind == HostStepKind::Call && needsSeed(fusion.expr(step.expr))) {
      drawing_.push_back(step.expr);
    }
  }
  std::ranges::sort(drawing_, {}, [](ExprId id) { return indexOf(id); });
  bindLaunches();
}

void HostProgram::bindLaunches() {
  const Fusion& fusion = parts_.fusion;
  std::vector<const TensorPlace*> placeOf(fusion.vals().size(), nullptr);
  for (const auto& [val, place] : parts_.places) {
    placeOf[indexOf(val)] = &place;
  }
  for (const auto& [val, place] : parts_.places) {
    if (place.kind != TensorPlace::Kind::Fresh) {
      continue;
    }
    freshOf_[indexOf(val)] = static_cast<int32_t>(fresh_.size());
    const TensorLayout& layout = parts_.layouts[val];
    FreshTensor tensor;
    tensor.val = val;
    tensor.layout.sizes = c10::DimVector(layout.sizes.begin(), layout.sizes.end());
    tensor.layout.strides = c10::DimVector(layout.strides.begin(), layout.strides.end());
    tensor.layout.dtype = c10::scalarTypeToTypeMeta(torchDtype(fusion.val(val).dtype()));
    tensor.layout.bytes = static_cast<int64_t>(tensor.layout.dtype.itemsize());
    for (int64_t size : layout.sizes) {
      tensor.layout.bytes *= size;
    }
    const auto result = std::ranges::find(results_, val);
    tensor.result = result == results_.end() ? -1 : static_cast<int32_t>(result - results_.begin());
    fresh_.push_back(std::move(tensor));
  }
  int64_t bytes = 0;
  for (const KernelLaunch& launch : parts_.launches) {
    BoundLaunch& bound = bound_.emplace_back();
    bound.entry = launch.kernel->code->entry();
    for (ValId val : launch.tensors) {
      const TensorPlace& place = *placeOf[indexOf(val)];
      Source source{place.kind};
      if (place.kind == TensorPlace::Kind::Argument) {
        source.index = static_cast<uint32_t>(place.index);
      } else if (place.kind == TensorPlace::Kind::Fresh) {
        source.index = static_cast<uint32_t>(freshOf_[indexOf(val)]);
      } else {
        source.offset = place.index;
      }
      bound.tensors.push_back(source);
    }
    for (size_t i = launch.tensors.size() - launch.writes; i < launch.tensors.size(); ++i) {
      if (bound.tensors[i].kind == TensorPlace::Kind::Fresh) {
        bound.makes.push_back(bound.tensors[i].index);
      }
    }
    for (ValId val : launch.numbers) {
      bound.numbers.push_back({argumentOf_[indexOf(val)], val});
    }
    bytes += launch.bytes;
  }
  isLarge_ = hasCalls_ || bytes > kLargeBytes;
  single_ = singleLaunch();
}

std::optional<SingleLaunch> HostProgram::singleLaunch() const {
  if (hasCalls_ || parts_.steps.size() != 1 || parts_.temporaryBytes != 0) {
    return std::nullopt;
  }
  const KernelLaunch& launch = parts_.launches.front();
  const BoundLaunch& bound = bound_.front();
  const bool isPlain = launch.numbers.empty() && launch.seeds.empty() && launch.partials.empty() &&
                       !launch.mayFail && !launch.picksAmongNone && launch.runs.size() == 1;
  if (!isPlain || bound.tensors.size() > SingleLaunch::kMostTensors ||
      fresh_.size() != results_.size() || bound.makes.size() != results_.size()) {
    return std::nullopt;
  }
  const auto [iterations, grain] = launch.runs.front();
  SingleLaunch single{bound.entry, iterations, grain, {}, launch.integers, {}};
  single.results.resize(results_.size());
  for (const FreshTensor& fresh : fresh_) {
    if (fresh.result < 0) {
      return std::nullopt;
    }
    single.results[static_cast<size_t>(fresh.result)] = fresh.layout;
  }
  for (const Source& source : bound.tensors) {
    single.tensors.push_back(source.kind == TensorPlace::Kind::Argument
                                 ? static_cast<int32_t>(source.index)
                                 : -1 - fresh_[source.index].result);
  }
  return single;
}

void HostProgram::run(std::span<const ArgView> args, const Collectives* collectives,
                      Values& results) const {
  if (single_) {
    return single_->run(args, results);
  }
  Running running{args, collectives, results, results.size()};
  results.resize(results.size() + results_.size());
  running.fresh.resize(fresh_.size(), nullptr);
  c10::DataPtr block;
  if (parts_.temporaryBytes != 0) {
    block = temporaryMemory(parts_.temporaryBytes);
    running.temporaries = static_cast<char*>(block.get());
  }
  if (hasCalls_) {
    running.state = stateOf(args);
  }
  for (const HostStep& step : parts_.steps) {
    if (step.kind == HostStepKind::Launch) {
      launch(step.launch, running);
    } else {
      call(step, running);
    }
    if (running.state) {
      for (ValId val : step.frees) {
        running.state->values[indexOf(val)] = PolymorphicValue();
      }
    }
  }
  collectResults(running);
}

RankState HostProgram::stateOf(std::span<const ArgView> args) const {
  RankState state;
  state.rank = parts_.rank;
  state.values.resize(fusion().vals().size());
  for (size_t i = 0; i < args.size(); ++i) {
    state.values[indexOf(fusion().inputs()[i])] = args[i].isTensor()
                                                      ? PolymorphicValue(tensorOf(args[i]))
                                                      : PolymorphicValue(args[i].scalar());
  }
  return state;
}

void HostProgram::launch(size_t index, Running& running) const {
  const BoundLaunch& bound = bound_[index];
  const KernelLaunch& launch = parts_.launches[index];
  for (uint32_t slot : bound.makes) {
    const FreshTensor& fresh = fresh_[slot];
    at::Tensor tensor = allocateCpu(fresh.layout);
    running.fresh[slot] = addressOf(*tensor.unsafeGetTensorImpl());
    if (running.state) {
      running.state->values[indexOf(fresh.val)] = tensor;
    }
    if (fresh.result >= 0) {
      running.results[running.firstResult + static_cast<size_t>(fresh.result)] = std::move(tensor);
    }
  }
  for (ExprId expr : launch.seeds) {
    seedOfCall(expr, running);
  }
  const bool isIdle = launch.isIdle();
  if (isIdle && !launch.picksAmongNone) {
    return;
  }
  c10::SmallVector<void*, 16> pointers;
  pointers.push_back(&running.status);
  for (const Source& source : bound.tensors) {
    switch (source.kind) {
      case TensorPlace::Kind::Argument:
        pointers.push_back(addressOf(*running.args[source.index].tensor));
        break;
      case TensorPlace::Kind::Fresh:
        pointers.push_back(running.fresh[source.index]);
        break;
      default:
        pointers.push_back(running.temporaries + source.offset);
    }
  }
  if (launch.picksAmongNone) {
    evaluateCalls(index, pointers.data(), running);
  }
  if (isIdle) {
    return;
  }
  c10::SmallVector<KernelNumber, 4> numbers;
  for (const NumberSource& source : bound.numbers) {
    const Scalar value = source.argument >= 0
                             ? running.args[static_cast<size_t>(source.argument)].scalar()
                             : toScalar(running.state->values[indexOf(source.val)]);
    numbers.push_back(kernelNumber(fusion().val(source.val).dtype(), value));
  }
  for (ExprId expr : launch.seeds) {
    numbers.push_back(
        kernelNumber(PrimType::Int, Scalar(static_cast<int64_t>(seedOfCall(expr, running)))));
  }
  c10::SmallVector<c10::DataPtr, 2> partials;
  for (int64_t bytes : launch.partials) {
    partials.push_back(temporaryMemory(bytes));
    pointers.push_back(partials.back().get());
  }
  runKernel(index, running.status.call, pointers.data(), numbers.data());
  if (running.status.outside != 0 || running.status.dividedByZero != 0) {
    evaluateCalls(index, pointers.data(), running);
    throwInternal("the evaluator refuses what a kernel refuses");
  }
}

void HostProgram::evaluateCalls(size_t index, void** pointers, Running& running) const {
  const KernelLaunch& launch = parts_.launches[index];
  RankState state = running.state ? *running.state : stateOf(running.args);
  for (size_t i = 0; i + launch.writes < launch.tensors.size(); ++i) {
    const ValId val = launch.tensors[i];
    const TensorLayout& layout = parts_.layouts[val];
    state.values[indexOf(val)] = at::from_blob(pointers[i + 1], layout.sizes, layout.strides,
                                               torchDtype(fusion().val(val).dtype()));
  }
  for (ExprId id : launch.calls) {
    const Expr& expr = fusion().expr(id);
    const std::optional<uint64_t> seed =
        needsSeed(expr) ? std::optional(seedOfCall(id, running)) : std::nullopt;
    runCall(fusion(), expr, localSizes_, seed, state);
  }
}

void HostProgram::runKernel(size_t index, int64_t& call, void** pointers,
                            const void* numbers) const {
  const KernelLaunch& launch = parts_.launches[index];
  call = 0;
  for (const KernelRun& run : launch.runs) {
    runIterations(bound_[index].entry, pointers, launch.integers.data(), numbers, run.iterations,
                  run.grain);
    ++call;
  }
}

uint64_t HostProgram::seedOfCall(ExprId expr, Running& running) const {
  const auto at = static_cast<size_t>(std::ranges::find(drawing_, expr) - drawing_.begin());
  while (running.seeds.size() <= at) {
    const Expr& next = fusion().expr(drawing_[running.seeds.size()]);
    running.seeds.push_back(*seedOf(fusion(), next, 1, running.collectives));
  }
  return running.seeds[at];
}

void HostProgram::call(const HostStep& step, Running& running) const {
  const Expr& expr = fusion().expr(step.expr);
  RankState& state = *running.state;
  if (step.kind == HostStepKind::Reshard) {
    runReshard(fusion(), expr, {&state, 1}, running.collectives);
  } else {
    const std::optional<uint64_t> seed =
        needsSeed(expr) ? std::optional(seedOfCall(step.expr, running)) : std::nullopt;
    runCall(fusion(), expr, localSizes_, seed, state);
  }
  for (ValId val : expr.outputs) {
    const int32_t slot = freshOf_[indexOf(val)];
    if (slot >= 0) {
      const FreshTensor& fresh = fresh_[static_cast<size_t>(slot)];
      at::Tensor tensor = state.values[indexOf(val)].asTensor().resolve_conj().resolve_neg();
      // Kernels are bound to strides that a number known at run time may have changed.
      if (tensor.strides() != c10::IntArrayRef(fresh.layout.strides)) {
        const at::Tensor dense =
            at::empty_strided(fresh.layout.sizes, fresh.layout.strides, tensor.options());
        tensor = dense.copy_(tensor);
      }
      running.fresh[static_cast<size_t>(slot)] = addressOf(*tensor.unsafeGetTensorImpl());
      if (!tensor.is_same(state.values[indexOf(val)].asTensor())) {
        running.copies.push_back(std::move(tensor));
      }
    }
  }
}

void HostProgram::collectResults(Running& running) const {
  for (size_t i = 0; i < results_.size(); ++i) {
    PolymorphicValue& result = running.results[running.firstResult + i];
    if (result.hasValue()) {
      continue;
    }
    const ValId val = results_[i];
    const int32_t slot = freshOf_[indexOf(val)];
    if (slot >= 0 && fresh_[static_cast<size_t>(slot)].result >= 0 && !running.state) {
      result = running.results[running.firstResult +
                               static_cast<size_t>(fresh_[static_cast<size_t>(slot)].result)];
    } else if (running.state) {
      result = running.state->values[indexOf(val)];
    } else {
      result = tensorOf(running.args[static_cast<size_t>(argumentOf_[indexOf(val)])]);
    }
  }
}

std::string HostProgram::toText() const {
  std::string text;
  for (const HostStep& step : parts_.steps) {
    if (step.kind != HostStepKind::Launch) {
      const Expr& expr = fusion().expr(step.expr);
      text += (step.kind == HostStepKind::Call ? "call " : "communicate ") +
              std::string(expr.op->name) + " -> " + fusion().nameOf(expr.outputs.front()) + "\n";
      continue;
    }
    const KernelLaunch& launch = parts_.launches[step.launch];
    text += "launch kernel " + std::to_string(step.launch) + " (" + launch.kernel->schedule +
            "), " + std::to_string(launch.bytes) + " bytes:";
    for (ValId val : launch.tensors) {
      text += " " + fusion().nameOf(val);
    }
    text += '\n';
  }
  return text + "intermediates: " + std::to_string(parts_.temporaryBytes) + " bytes\n";
}

}  // namespace meshfuse
