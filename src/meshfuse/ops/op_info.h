// The record of an operation: everything the compiler knows of it, in one place.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "meshfuse/ir/fusion.h"
#include "meshfuse/ops/dim_map.h"
#include "meshfuse/types/promotion.h"

namespace meshfuse {

/// How an operation treats values that are partial over a mesh axis (its terms lie on different ranks). From this and the
/// dimension map every sharding rule follows; each is proved by brute force on a simulated mesh.
enum class Algebra : uint8_t {
  NonLinear,      // needs whole values
  Linear,         // f(Σa, Σb) = Σ f(a, b): all operands partial together (sum, avg)
  Negation,       // Linear, and max becomes min
  Multilinear,    // linear in each operand while the others are whole
  LinearInFirst,  // linear in the first operand while the others are whole
  Affine,         // Multilinear in the first two operands; the third is added once
  Selection,  // the first operand selects among the others, which may be partial together in any way
  Movement,   // moves elements without computing: any kind of partial passes
  Increasing,    // monotone: max and min pass
  MaxReduction,  // max passes
  MinReduction,  // min passes
};

struct OpInfo;

/// A call seen by an op's rules: arguments, and the tensor operands' types in argument order. Domains may be symbolic (at
/// definition) or constant (for one signature).
struct OpCall {
  const OpInfo* op = nullptr;
  const Fusion* fusion = nullptr;
  std::span<const Arg> args;
  std::span<const TensorType> tensors;
};

/// A sample call, from which tests draw evaluator, sharding and language checks.
struct OpSample {
  /// Sizes of each tensor operand, in argument order; Operand parameters without sizes take `args`.
  struct Tensor {
    PrimType dtype = PrimType::Float;
    std::vector<int64_t> sizes;
    double low =
        -2.0;  // values are drawn from [low, high), or are all whole numbers for integral types
    double high = 2.0;
    /// The numbers themselves, one for each element, where whole numbers have to fit each other.
    std::vector<int64_t> values = {};
  };
  std::vector<Tensor> tensors;
  /// Arguments aligned with the op's params; entries for tensor operands are std::monostate and filled in order.
  std::vector<Arg> args;
  /// Positions in `args` that the tensors fill, in order; a list of tensors is filled by several.
  std::vector<size_t> tensorArgs;
};

/// One operation. A pointwise op is one row of pointwise.def; a structured op is one folder.
struct OpInfo : OpDescriptor {
  std::string_view doc;
  /// Fills defaults and wraps negative dims in place; throws UserError for arguments the op refuses.
  void (*normalize)(const Fusion& fusion, std::vector<Arg>& args) = nullptr;
  /// Types of the outputs' elements; throws UserError(Runtime) for types the op refuses.
  std::vector<PrimType> (*dtypes)(const OpCall& call) = nullptr;
  DimMap (*dimMap)(const OpCall& call) = nullptr;
  Algebra (*algebra)(const OpCall& call) = nullptr;
  std::vector<OpSample> (*samples)(const OpInfo& op) = nullptr;
  /// The value of a call whose operands are all numbers, in the type `dtypes` gives; nullopt where the numbers have no such
  /// operation. Null for ops on tensors alone.
  std::optional<Scalar> (*fold)(const OpCall& call, std::span<const Scalar> operands) = nullptr;
  /// For ops that ask for a size: the result, an integer scalar. Such an op has no other rule than this and `normalize`.
  IntExpr (*extent)(const OpCall& call) = nullptr;
  /// Whether a call draws random numbers from torch's generator; null for ops that never do.
  bool (*drawsNumbers)(const std::vector<Arg>& args) = nullptr;
  /// Index into pointwise.def, or -1 for a structured op.
  int32_t pointwiseRow = -1;

  bool isPointwise() const noexcept { return pointwiseRow >= 0; }
};

/// The arguments of a sample, with `tensors` in their places.
std::vector<Arg> sampleArgs(const OpInfo& op, const OpSample& sample,
                            std::span<const ValId> tensors);

/// The columns that `info` leaves empty, by name; empty for a complete record.
std::vector<std::string> missingColumns(const OpInfo& info);

/// All operations, sorted by name. Built on first use.
std::span<const OpInfo* const> allOps();
/// The operation of that name; null if there is none.
const OpInfo* findOp(std::string_view name);
/// The full record behind a descriptor that came from this table.
const OpInfo& infoOf(const OpDescriptor& op);

/// Appends a call of `op` to the fusion: checks and completes the arguments, infers types, returns the outputs.
/// All-scalar calls of pointwise ops give a scalar (folded when the operands are constants).
std::vector<ValId> addCall(Fusion& fusion, const OpInfo& op, std::vector<Arg> args);

}  // namespace meshfuse
