#include "meshfuse/runtime/program_class.h"

#include <algorithm>

#include "meshfuse/base/hash.h"
#include "meshfuse/ops/infer.h"
#include "meshfuse/ops/reshard.h"
#include "meshfuse/scheduling/loop_conditions.h"
#include "meshfuse/scheduling/shifted_reads.h"

namespace meshfuse {

namespace {

constexpr size_t kMaxClasses = 64;

/// Extents by what matters of them: 1, or which of them are equal.
class ExtentNames {
 public:
  uint64_t nameOf(int64_t extent) {
    if (extent == 1) {
      return 1;
    }
    const auto found = std::ranges::find(extents_, extent);
    if (found != extents_.end()) {
      return static_cast<uint64_t>(found - extents_.begin()) + 2;
    }
    extents_.push_back(extent);
    return extents_.size() + 1;
  }

 private:
  std::vector<int64_t> extents_;
};

/// What sizes decide of the loops of a call: whether it has any, and which dimensions a pad leaves as they are.
uint64_t loopsWordOf(const Fusion& concrete, const Expr& expr) {
  if (isReshard(expr) || !concrete.val(expr.outputs.front()).isTensor()) {
    return 0;
  }
  const LoopForm form = loopFormOf(*expr.op);
  if (form.kind == LoopForm::Kind::Call || form.body == Body::Copy) {
    return 0;
  }
  uint64_t word = loopsCompute(concrete, expr, form) ? 1 : 2;
  if (readsShifted(form.body)) {
    const DimMap map = dimMapOf(concrete, expr);
    for (size_t dim = 0; dim < map.outputs.front().size(); ++dim) {
      word = word * 2 + (map.inputs.front()[dim] == map.outputs.front()[dim] ? 1 : 0);
    }
  }
  return word;
}

}  // namespace

std::vector<uint64_t> classKeyOf(const Fusion& concrete) {
  std::vector<uint64_t> key;
  ExtentNames names;
  for (const Val& val : concrete.vals()) {
    if (!val.isTensor()) {
      // Numbers that are known stand in kernels by their values.
      const std::optional<Scalar>& constant = val.scalar().constant;
      key.push_back(constant ? hashMix(constant->hash(), static_cast<uint64_t>(val.dtype())) : 0);
      continue;
    }
    const TensorType& type = val.tensor();
    uint64_t word = hashMix(type.sharding.value(), type.domain.size());
    for (const IterDomain& domain : type.domain) {
      word =
          hashMix(word, names.nameOf(domain.extent.constant()) * 2 + (domain.isBroadcast ? 1 : 0));
    }
    key.push_back(word);
  }
  // Which factors a reshape's dimensions are products of decides which loops walk them.
  for (const Expr& expr : concrete.exprs()) {
    if (loopFormOf(*expr.op).divides) {
      const DimMap map = dimMapOf(concrete, expr);
      for (const auto* tensors : {&map.inputs, &map.outputs}) {
        for (const DimFactors& dim : tensors->front()) {
          uint64_t word = dim.size();
          for (int32_t factor : dim) {
            const Factor& each = map.factors[static_cast<size_t>(factor)];
            word = hashMix(word, static_cast<uint64_t>(factor));
            word = hashMix(word, static_cast<uint64_t>(each.role));
            word = hashMix(word, names.nameOf(each.extent.constant()));
          }
          key.push_back(word);
        }
      }
    }
  }
  // Which calls are made twice may depend on sizes, and numbers that these depend on stand in calls by their values.
  for (const Expr& expr : concrete.exprs()) {
    uint64_t word = reinterpret_cast<uintptr_t>(expr.op);
    for (const Arg& arg : expr.args) {
      if (const Scalar* number = std::get_if<Scalar>(&arg)) {
        word = hashMix(word, number->hash());
      }
      forEachVal(arg, [&](ValId val) { word = hashMix(word, indexOf(val)); });
    }
    key.push_back(hashMix(word, loopsWordOf(concrete, expr)));
  }
  return key;
}

std::shared_ptr<ProgramClass> ProgramClasses::get(const std::vector<uint64_t>& key) {
  const std::scoped_lock lock(mutex_);
  const auto found = std::ranges::find_if(
      classes_, [&](const std::shared_ptr<ProgramClass>& each) { return each->key == key; });
  if (found != classes_.end()) {
    return *found;
  }
  if (classes_.size() >= kMaxClasses) {
    classes_.erase(classes_.begin());
  }
  classes_.push_back(std::make_shared<ProgramClass>());
  classes_.back()->key = key;
  return classes_.back();
}

}  // namespace meshfuse
