// The writes of a program into its inputs: whether a call's tensors can take them, and doing them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "meshfuse/ir/fusion.h"
#include "meshfuse/runtime/arg_view.h"
#include "meshfuse/values/polymorphic_value.h"

namespace meshfuse {

/// The positions of the inputs that `fusion` writes, in the order of its writes.
std::vector<uint32_t> writtenInputs(const Fusion& fusion);

/// For each output the position of the input that is given back as it, -1 for one with memory of its own; empty where all have.
std::vector<int32_t> returnedInputs(const Fusion& fusion);

/// Throws UserError(Runtime) naming the first input of `positions` whose elements overlap one another: a matter of sizes and
/// strides, which a bound program's arguments share.
void checkWrittenLayouts(const Fusion& fusion, std::span<const uint32_t> positions,
                         std::span<const ArgView> args);

/// Throws UserError(Runtime) where autograd's rules keep `tensor`, which stands for an input, from being written: it requires a
/// gradient while gradients are recorded, or is an inference tensor outside inference mode.
void checkWritable(const Fusion& fusion, uint32_t position, const c10::TensorImpl& tensor);

/// The same for every input of `positions`, and throws for one that stands for a lazy view or has no memory, and for two
/// that share theirs.
void checkWritten(const Fusion& fusion, std::span<const uint32_t> positions,
                  std::span<const ArgView> args);

/// What a run of a program with writes has computed.
struct ComputedResults {
  std::span<PolymorphicValue> outputs;
  std::span<PolymorphicValue> written;  // by write
};

/// Makes the results ready for the writes into `targets`: those that are views of a target get memory of their own, but for
/// outputs that are given back as inputs (`returned`, as of returnedInputs()).
void settleResults(ComputedResults results, std::span<const int32_t> returned,
                   std::span<const at::Tensor> targets);

/// Copies the values into the targets; version counters count it as copy_ does.
void writeInputs(std::span<const PolymorphicValue> values, std::span<const at::Tensor> targets);

}  // namespace meshfuse
