#include "meshfuse/scheduling/clean.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "meshfuse/base/hash.h"
#include "meshfuse/ops/infer.h"
#include "meshfuse/ops/op_info.h"
#include "meshfuse/ops/reshard.h"
#include "meshfuse/scheduling/group_edges.h"
#include "meshfuse/scheduling/known_constants.h"
#include "meshfuse/scheduling/loop_form.h"
#include "meshfuse/scheduling/shifted_reads.h"

namespace meshfuse {

namespace {

/// Whether one value can be used for the other: how an input was declared to lie in memory is its own.
bool isLike(const Val& a, const Val& b) {
  if (!a.isTensor() || !b.isTensor()) {
    return a.isTensor() == b.isTensor() && a.dtype() == b.dtype();
  }
  return a.dtype() == b.dtype() && a.tensor().domain == b.tensor().domain &&
         a.tensor().sharding == b.tensor().sharding &&
         a.tensor().isCpuScalar == b.tensor().isCpuScalar;
}

/// Pointwise calls and casts: their results have memory without gaps and repetitions, whatever their operands have.
bool makesDense(const LoopForm& form) {
  return form.kind == LoopForm::Kind::Elementwise && form.body == Body::Copy &&
         form.cost != LoopForm::Cost::Nothing && !form.reorders;
}

/// Whether a result may be a view of an operand.
bool mayBeView(const LoopForm& form) {
  return form.kind != LoopForm::Kind::Reduction && !makesDense(form);
}

class Cleaner {
 public:
  explicit Cleaner(const Fusion& fusion)
      : fusion_(fusion), constants_(fusion), isResult_(resultsOf(fusion)), isShown_(isResult_) {
    for (uint32_t i = 0; i < fusion.vals().size(); ++i) {
      standsFor_.push_back(ValId{i});
      sameAs_.push_back(ValId{i});
      numbers_.push_back(fusion.vals()[i].number);
    }
    for (size_t i = fusion.exprs().size(); i-- > 0;) {
      const Expr& expr = fusion.exprs()[i];
      if (gives(expr, isShown_) && mayBeView(loopFormOf(*expr.op))) {
        for (ValId val : inputsOf(expr)) {
          isShown_[indexOf(val)] = true;
        }
      }
    }
  }

  Fusion run() && {
    uniteConstants();
    const std::vector<bool> needed = neededVals(fusion_.exprs());
    for (const Expr& expr : fusion_.exprs()) {
      if (gives(expr, needed)) {
        visit(expr);
      }
    }
    return rebuilt();
  }

 private:
  struct Known {
    size_t kept = 0;        // index into kept_
    std::vector<Arg> args;  // operands by what they are the same as
  };

  bool gives(const Expr& expr, const std::vector<bool>& needed) const {
    return std::ranges::any_of(expr.outputs, [&](ValId val) { return needed[indexOf(val)]; });
  }

  /// Values that results need, by those that stand for them.
  std::vector<bool> neededVals(std::span<const Expr> exprs) const {
    std::vector<bool> needed(fusion_.vals().size(), false);
    const auto need = [&](ValId val) { needed[indexOf(standsFor_[indexOf(val)])] = true; };
    forEachResult(fusion_, need, [&](const InputWrite& write) { need(write.value); });
    for (size_t i = exprs.size(); i-- > 0;) {
      if (gives(exprs[i], needed)) {
        std::ranges::for_each(inputsOf(exprs[i]), need);
      }
    }
    return needed;
  }

  void uniteConstants() {
    std::unordered_map<uint64_t, std::vector<ValId>> known;
    for (uint32_t i = 0; i < fusion_.vals().size(); ++i) {
      const Val& val = fusion_.vals()[i];
      if (val.isTensor() || !val.scalar().constant) {
        continue;
      }
      std::vector<ValId>& alike =
          known[hashMix(static_cast<uint64_t>(val.dtype()), val.scalar().constant->hash())];
      const auto same = std::ranges::find_if(alike, [&](ValId other) {
        return val.dtype() == fusion_.val(other).dtype() &&
               val.scalar().constant->isSame(*fusion_.val(other).scalar().constant);
      });
      if (same != alike.end()) {
        standsFor_[i] = sameAs_[i] = *same;
      } else {
        alike.push_back(ValId{i});
      }
    }
  }

  void visit(const Expr& expr) {
    if (constants_.foldsToNumber(expr)) {
      return;
    }
    // A kernel fills a result as well as a library.
    const std::optional<Expr> filled = isReshard(expr) ? std::nullopt : constants_.filled(expr);
    Expr call = filled && !isResult_[indexOf(expr.outputs.front())] ? *filled : expr;
    for (Arg& arg : call.args) {
      forEachVal(arg, [&](ValId& val) { val = standsFor_[indexOf(val)]; });
    }
    if (isReshard(call)) {
      kept_.push_back(std::move(call));
      return;
    }
    if (isIdentity(call) && replace(call, {std::get<ValId>(call.args[0])})) {
      return;
    }
    if (!isKnown(call)) {
      kept_.push_back(std::move(call));
    }
  }

  /// Whether the result is the first operand, strides included.
  bool isIdentity(const Expr& call) const {
    static const OpInfo* const kCast = findOp("cast");
    const ValId* operand = call.args.empty() ? nullptr : std::get_if<ValId>(&call.args.front());
    if (operand == nullptr || !isLike(fusion_.val(*operand), fusion_.val(call.outputs.front())) ||
        !fusion_.val(*operand).isTensor()) {
      return false;
    }
    if (call.op == kCast) {
      // A cast of what has gaps closes them.
      const ExprId maker = fusion_.val(*operand).definition;
      return maker != kNoExpr && makesDense(loopFormOf(*fusion_.expr(maker).op));
    }
    const LoopForm form = loopFormOf(*call.op);
    const TensorType& type = fusion_.val(*operand).tensor();
    if (form.kind != LoopForm::Kind::Elementwise || form.cost != LoopForm::Cost::Nothing ||
        form.body != Body::Copy || (form.divides && type.sharding)) {
      return false;
    }
    // The stride of a dimension without two elements is anything.
    const bool hasStrides = std::ranges::all_of(type.domain, [](const IterDomain& domain) {
      return domain.extent.asConstant().value_or(0) > 1;
    });
    const DimMap map = dimMapOf(fusion_, call);
    return hasStrides && map.inputs.size() == 1 && map.inputs.front() == map.outputs.front();
  }

  /// Lets `others` stand for what `call` gives from here on. False where a result would lose memory of its own.
  bool replace(const Expr& call, const std::vector<ValId>& others) {
    const std::vector<bool>& hasMemory = mayBeView(loopFormOf(*call.op)) ? isResult_ : isShown_;
    for (size_t i = 0; i < call.outputs.size(); ++i) {
      const ValId val = call.outputs[i];
      const bool isTaken =
          hasMemory[indexOf(others[i])] || fusion_.val(others[i]).definition == kNoExpr;
      if (!isLike(fusion_.val(val), fusion_.val(others[i])) ||
          (hasMemory[indexOf(val)] && isTaken)) {
        return false;
      }
    }
    for (size_t i = 0; i < call.outputs.size(); ++i) {
      const uint32_t val = indexOf(call.outputs[i]);
      const uint32_t other = indexOf(others[i]);
      standsFor_[val] = others[i];
      sameAs_[val] = sameAs_[other];
      isShown_[other] = isShown_[other] || isShown_[val];
      if (isResult_[val]) {
        isResult_[other] = true;
        numbers_[other] = numbers_[val];
      }
    }
    return true;
  }

  /// Whether the call is replaced by an earlier one. A view is not, as each kernel has its own for nothing.
  bool isKnown(const Expr& call) {
    const OpInfo& op = infoOf(*call.op);
    if (op.drawsNumbers != nullptr && op.drawsNumbers(call.args)) {
      return false;
    }
    Known own{kept_.size(), call.args};
    uint64_t hash = reinterpret_cast<uintptr_t>(call.op);
    for (Arg& arg : own.args) {
      forEachVal(arg, [&](ValId& val) {
        val = sameAs_[indexOf(val)];
        hash = hashMix(hash, indexOf(val));
      });
      const Scalar* number = std::get_if<Scalar>(&arg);
      hash = number != nullptr ? hashMix(hash, number->hash()) : hash;
    }
    std::vector<Known>& alike = known_[hash];
    for (const Known& other : alike) {
      const Expr& first = kept_[other.kept];
      if (first.op != call.op ||
          !std::ranges::equal(other.args, own.args,
                              [](const Arg& a, const Arg& b) { return isSame(a, b); })) {
        continue;
      }
      const bool isView = loopFormOf(op).cost == LoopForm::Cost::Nothing;
      if (!isView && replace(call, first.outputs)) {
        return true;
      }
      for (size_t i = 0; i < call.outputs.size(); ++i) {
        sameAs_[indexOf(call.outputs[i])] = sameAs_[indexOf(first.outputs[i])];
      }
      return false;
    }
    alike.push_back(std::move(own));
    return false;
  }

  Fusion rebuilt() const {
    const std::vector<bool> needed = neededVals(kept_);
    std::vector<const Expr*> makerOf(fusion_.vals().size(), nullptr);
    for (const Expr& expr : kept_) {
      for (ValId val : expr.outputs) {
        makerOf[indexOf(val)] = gives(expr, needed) ? &expr : nullptr;
      }
    }
    std::vector<bool> isInput(fusion_.vals().size(), false);
    for (ValId val : fusion_.inputs()) {
      isInput[indexOf(val)] = true;
    }
    Fusion result;
    std::vector<ValId> newOf(fusion_.vals().size());
    const auto renamed = [&](ValId val) { return newOf[indexOf(standsFor_[indexOf(val)])]; };
    for (uint32_t i = 0; i < fusion_.vals().size(); ++i) {
      const Val& val = fusion_.vals()[i];
      if (makerOf[i] != nullptr && makerOf[i]->outputs.front() == ValId{i}) {
        const ExprId made = addCall(result, *makerOf[i], renamed);
        for (size_t output = 0; output < makerOf[i]->outputs.size(); ++output) {
          newOf[indexOf(makerOf[i]->outputs[output])] = result.expr(made).outputs[output];
        }
      } else if (isInput[i] || (makerOf[i] == nullptr && needed[i])) {
        newOf[i] = val.isTensor() ? result.addTensor(val.tensor())
                                  : result.addScalar(val.dtype(), constants_.numberOf(ValId{i}));
      } else if (makerOf[i] == nullptr) {
        continue;
      }
      result.val(newOf[i]).number = numbers_[i];
    }
    for (ValId val : fusion_.inputs()) {
      result.addInput(renamed(val));
    }
    forEachResult(
        fusion_, [&](ValId val) { result.addOutput(renamed(val)); },
        [&](const InputWrite& write) {
          result.addWrite(renamed(write.value), renamed(write.input));
        });
    return result;
  }

  template <class Renamed>
  ExprId addCall(Fusion& result, const Expr& expr, const Renamed& renamed) const {
    std::vector<Arg> args = expr.args;
    for (Arg& arg : args) {
      forEachVal(arg, [&](ValId& val) { val = renamed(val); });
    }
    if (!fusion_.val(expr.outputs.front()).isTensor()) {
      return result.addScalarExpr(*expr.op, std::move(args),
                                  fusion_.val(expr.outputs.front()).dtype());
    }
    std::vector<TensorType> types;
    for (ValId val : expr.outputs) {
      types.push_back(fusion_.val(val).tensor());
    }
    return result.addExpr(*expr.op, std::move(args), std::move(types));
  }

  const Fusion& fusion_;
  KnownConstants constants_;
  std::vector<Expr> kept_;
  std::vector<bool> isResult_;     // by value, as all below
  std::vector<bool> isShown_;      // by a result, which may be a view of it
  std::vector<ValId> standsFor_;   // the value that is used in its place
  std::vector<ValId> sameAs_;      // the first one that has the same elements
  std::vector<uint32_t> numbers_;  // in printed names
  std::unordered_map<uint64_t, std::vector<Known>> known_;
};

}  // namespace

Fusion clean(const Fusion& fusion) { return Cleaner(fusion).run(); }

}  // namespace meshfuse
