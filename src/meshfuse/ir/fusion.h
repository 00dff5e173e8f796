// Tensor IR: values, the expressions that compute them, and the fusion that owns both.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "meshfuse/ir/ids.h"
#include "meshfuse/ir/input_write.h"
#include "meshfuse/ir/int_expr.h"
#include "meshfuse/ir/op_descriptor.h"
#include "meshfuse/mesh/sharding.h"
#include "meshfuse/types/data_type.h"
#include "meshfuse/types/scalar.h"

namespace meshfuse {

/// One dimension of a tensor. A broadcast dimension has extent 1 in memory and stretches against larger ones; an expanded
/// broadcast presents `extent` elements over one in memory.
struct IterDomain {
  IntExpr extent = 1;
  bool isBroadcast = false;

  static IterDomain iteration(IntExpr extent) { return {std::move(extent), false}; }
  static IterDomain broadcast() { return {1, true}; }
  static IterDomain expanded(IntExpr extent) { return {std::move(extent), true}; }
  /// A broadcast that was given an extent other than 1.
  bool isExpanded() const { return isBroadcast && extent != IntExpr(1); }
  bool operator==(const IterDomain&) const = default;
};

/// Contiguity of one dimension in allocation order; nullopt exactly on broadcast dimensions.
using Contiguity = std::vector<std::optional<bool>>;

/// The type of a tensor value. Sizes are global; `sharding` (none for a plain tensor) says what each rank holds.
struct TensorType {
  PrimType dtype = PrimType::Float;
  std::vector<IterDomain> domain = {};  // logical order
  Contiguity contiguity = {};           // allocation order; inputs only, empty otherwise
  /// strideOrder[d] is the position of dimension d in memory, 0 being innermost; empty for row-major.
  std::vector<int64_t> strideOrder = {};
  bool isCpuScalar = false;
  ShardingId sharding = {};

  int64_t rank() const noexcept { return static_cast<int64_t>(domain.size()); }
  bool operator==(const TensorType&) const = default;
};

/// The type of a scalar value: a constant, or one known at run time. Integer scalars are symbols of integer expressions.
struct ScalarType {
  PrimType dtype = PrimType::Double;
  std::optional<Scalar> constant = {};
  std::optional<SymbolId> symbol = {};
};

/// Same type, same symbol and the same constant (NaN as NaN, -0.0 not as 0.0).
bool isSame(const ScalarType& a, const ScalarType& b) noexcept;

struct Val {
  std::variant<TensorType, ScalarType> type;
  ExprId definition = kNoExpr;
  /// Number in the printed name: `tv<number>` for tensors, `c<number>` for scalars, each counted from 0.
  uint32_t number = 0;

  bool isTensor() const noexcept { return std::holds_alternative<TensorType>(type); }
  const TensorType& tensor() const { return std::get<TensorType>(type); }
  TensorType& tensor() { return std::get<TensorType>(type); }
  const ScalarType& scalar() const { return std::get<ScalarType>(type); }
  PrimType dtype() const noexcept { return isTensor() ? tensor().dtype : scalar().dtype; }
};

/// A call of an operation. `args` are aligned with op->params.
struct Expr {
  const OpDescriptor* op = nullptr;
  std::vector<Arg> args = {};
  std::vector<ValId> outputs = {};
};

/// Where a symbol gets its value: dimension `dim` of the input tensor `val`, or the scalar `val` itself (`dim` is -1).
struct SymbolSource {
  ValId val;
  int64_t dim = -1;
};

/// A tensor program: owns its values and expressions, in definition order, which is a topological order.
class Fusion {
 public:
  ValId addTensor(TensorType type);
  /// A constant, or a scalar known at run time; one of an integral type gets a new symbol.
  ValId addScalar(PrimType dtype, std::optional<Scalar> constant = std::nullopt);
  /// A tensor that addInput can make an input; parameters and errors as of addInputTensor.
  ValId declareTensor(PrimType dtype, std::span<const int64_t> shape, Contiguity contiguity,
                      std::vector<int64_t> strideOrder = {}, bool isCpuScalar = false);
  /// A new input. Entries of `shape`: -1 an extent that the tensor's own size binds (a new symbol), 0 empty, n > 1 static; 1 is a
  /// broadcast, and -1 or n with a contiguity of nullopt an expanded one. Throws UserError(Runtime) for entries below -1, for a
  /// contiguity or stride order that does not fit, and for a CPU scalar of another rank than 0.
  ValId addInputTensor(PrimType dtype, std::span<const int64_t> shape, Contiguity contiguity,
                       std::vector<int64_t> strideOrder = {}, bool isCpuScalar = false);
  ValId addInputScalar(PrimType dtype);
  void addInput(ValId val);
  /// Throws UserError(Runtime) for a scalar. A value added twice is returned twice.
  void addOutput(ValId val);
  /// After an execution `input` holds `value`, a computed tensor. Replaces an earlier write into `input`: the last one wins. Throws
  /// as checkInputWrite.
  void addWrite(ValId value, ValId input);
  /// Appends a call; its outputs get `types`.
  ExprId addExpr(const OpDescriptor& op, std::vector<Arg> args, std::vector<TensorType> types);
  /// Appends a scalar call; its one output is a scalar of `dtype`.
  ExprId addScalarExpr(const OpDescriptor& op, std::vector<Arg> args, PrimType dtype);

  const Val& val(ValId id) const { return vals_[indexOf(id)]; }
  Val& val(ValId id) { return vals_[indexOf(id)]; }
  const Expr& expr(ExprId id) const { return exprs_[indexOf(id)]; }
  Expr& expr(ExprId id) { return exprs_[indexOf(id)]; }
  std::span<const Val> vals() const noexcept { return vals_; }
  std::span<const Expr> exprs() const noexcept { return exprs_; }
  std::span<const ValId> inputs() const noexcept { return inputs_; }
  std::span<const ValId> outputs() const noexcept { return outputs_; }
  /// In the order they were added, each input once.
  std::span<const InputWrite> writes() const noexcept { return writes_; }
  /// The input that is given back as the output `val`: `val` itself where it is one, else the input that it is written into
  /// (the last of several); nullopt for an output with memory of its own.
  std::optional<ValId> inputBehind(ValId val) const noexcept;
  /// Where each symbol gets its value, by symbol.
  std::span<const SymbolSource> symbols() const noexcept { return symbols_; }
  /// Replaces them: for passes that build a new fusion and keep the symbols of the old one.
  void setSymbols(std::vector<SymbolSource> sources) { symbols_ = std::move(sources); }

  bool isInput(ValId id) const noexcept;
  bool isOutput(ValId id) const noexcept;
  /// `tv3` or `c1`.
  std::string nameOf(ValId id) const;

 private:
  ValId addVal(Val val);
  SymbolId addSymbol(SymbolSource source);
  ExprId appendExpr(const OpDescriptor& op, std::vector<Arg> args);

  std::vector<Val> vals_;
  std::vector<Expr> exprs_;
  std::vector<ValId> inputs_;
  std::vector<ValId> outputs_;
  std::vector<InputWrite> writes_;
  std::vector<SymbolSource> symbols_;
  uint32_t tensorCount_ = 0;
  uint32_t scalarCount_ = 0;
};

/// Calls `onOutput(ValId)` for the outputs and `onWrite(InputWrite)` for the writes of a fusion, in the order they were added.
template <class OnOutput, class OnWrite>
void forEachResult(const Fusion& fusion, OnOutput onOutput, OnWrite onWrite) {
  size_t given = 0;
  const auto giveUpTo = [&](size_t count) {
    for (; given < count; ++given) {
      onOutput(fusion.outputs()[given]);
    }
  };
  for (const InputWrite& write : fusion.writes()) {
    giveUpTo(write.outputsBefore);
    onWrite(write);
  }
  giveUpTo(fusion.outputs().size());
}

/// The values among an expression's arguments, in order, with repetitions.
std::vector<ValId> inputsOf(const Expr& expr);

/// A tensor type as printed (print.h): `Float[i0, 4, b1]`, with ` @ <sharding>` where it has one.
std::string toText(const TensorType& type);

/// Structural equality: same inputs, calls, outputs, writes and types, whatever the addresses. `structuralHash` agrees with it.
bool sameDefinition(const Fusion& a, const Fusion& b);
uint64_t structuralHash(const Fusion& fusion);

}  // namespace meshfuse
