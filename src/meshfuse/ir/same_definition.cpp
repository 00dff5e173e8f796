// Structural equality and hash of fusions.
#include <algorithm>
#include <string_view>

#include "meshfuse/base/hash.h"
#include "meshfuse/ir/fusion.h"

namespace meshfuse {

namespace {

bool isSameType(const Val& a, const Val& b) {
  if (a.isTensor() != b.isTensor()) {
    return false;
  }
  return a.isTensor() ? a.tensor() == b.tensor() : isSame(a.scalar(), b.scalar());
}

bool isSameVal(const Val& a, const Val& b) {
  return a.definition == b.definition && isSameType(a, b);
}

bool isSameExpr(const Expr& a, const Expr& b) {
  return a.op->name == b.op->name && a.outputs == b.outputs &&
         std::equal(a.args.begin(), a.args.end(), b.args.begin(), b.args.end(),
                    [](const Arg& x, const Arg& y) { return isSame(x, y); });
}

bool isSameSource(const SymbolSource& a, const SymbolSource& b) {
  return a.val == b.val && a.dim == b.dim;
}

uint64_t hashText(uint64_t seed, std::string_view text) noexcept {
  seed = hashMix(seed, text.size());
  for (char c : text) {
    seed = hashMix(seed, static_cast<unsigned char>(c));
  }
  return seed;
}

uint64_t hashIds(uint64_t seed, std::span<const ValId> ids) noexcept {
  seed = hashMix(seed, ids.size());
  for (ValId id : ids) {
    seed = hashMix(seed, indexOf(id));
  }
  return seed;
}

uint64_t hashTensor(uint64_t seed, const TensorType& type) {
  seed = hashMix(hashMix(seed, static_cast<uint64_t>(type.dtype)), type.domain.size());
  for (const IterDomain& domain : type.domain) {
    seed = hashMix(hashMix(seed, domain.extent.hash()), domain.isBroadcast ? 1 : 0);
  }
  seed = hashMix(seed, type.contiguity.size());
  for (std::optional<bool> isContiguous : type.contiguity) {
    seed = hashMix(seed, !isContiguous ? 2 : *isContiguous ? 1 : 0);
  }
  seed = hashMix(hashInts(seed, type.strideOrder), type.isCpuScalar ? 1 : 0);
  // Ids differ between processes, contents do not.
  return hashMix(seed, type.sharding ? type.sharding->hash() : 0);
}

uint64_t hashScalar(uint64_t seed, const ScalarType& type) noexcept {
  seed = hashMix(seed, static_cast<uint64_t>(type.dtype));
  seed = type.constant ? hashMix(hashMix(seed, 1), type.constant->hash()) : hashMix(seed, 0);
  return type.symbol ? hashMix(hashMix(seed, 1), indexOf(*type.symbol)) : hashMix(seed, 0);
}

uint64_t hashVal(uint64_t seed, const Val& val) {
  seed = hashMix(hashMix(seed, val.type.index()), indexOf(val.definition));
  return val.isTensor() ? hashTensor(seed, val.tensor()) : hashScalar(seed, val.scalar());
}

uint64_t hashArg(uint64_t seed, const Arg& arg) noexcept {
  seed = hashMix(seed, arg.index());
  if (const Scalar* number = std::get_if<Scalar>(&arg)) {
    return hashMix(seed, number->hash());
  }
  if (const ValId* val = std::get_if<ValId>(&arg)) {
    return hashMix(seed, indexOf(*val));
  }
  if (const Ints* ints = std::get_if<Ints>(&arg)) {
    return hashInts(seed, *ints);
  }
  if (const PrimType* type = std::get_if<PrimType>(&arg)) {
    return hashMix(seed, static_cast<uint64_t>(*type));
  }
  if (const Items* items = std::get_if<Items>(&arg)) {
    seed = hashMix(seed, items->size());
    for (const Item& item : *items) {
      const ValId* val = std::get_if<ValId>(&item);
      seed =
          hashMix(hashMix(seed, item.index()),
                  val != nullptr ? indexOf(*val) : static_cast<uint64_t>(std::get<int64_t>(item)));
    }
  }
  return seed;
}

uint64_t hashExpr(uint64_t seed, const Expr& expr) {
  seed = hashMix(hashText(seed, expr.op->name), expr.args.size());
  for (const Arg& arg : expr.args) {
    seed = hashArg(seed, arg);
  }
  return hashIds(seed, expr.outputs);
}

template <class Items, class IsSame>
bool allSame(const Items& a, const Items& b, IsSame isSameItem) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), isSameItem);
}

}  // namespace

bool isSame(const ScalarType& a, const ScalarType& b) noexcept {
  if (a.dtype != b.dtype || a.symbol != b.symbol ||
      a.constant.has_value() != b.constant.has_value()) {
    return false;
  }
  return !a.constant || a.constant->isSame(*b.constant);
}

bool sameDefinition(const Fusion& a, const Fusion& b) {
  return std::ranges::equal(a.inputs(), b.inputs()) &&
         std::ranges::equal(a.outputs(), b.outputs()) &&
         std::ranges::equal(a.writes(), b.writes()) && allSame(a.vals(), b.vals(), isSameVal) &&
         allSame(a.exprs(), b.exprs(), isSameExpr) &&
         allSame(a.symbols(), b.symbols(), isSameSource);
}

uint64_t structuralHash(const Fusion& fusion) {
  uint64_t seed = hashMix(0, fusion.vals().size());
  for (const Val& val : fusion.vals()) {
    seed = hashVal(seed, val);
  }
  seed = hashMix(seed, fusion.exprs().size());
  for (const Expr& expr : fusion.exprs()) {
    seed = hashExpr(seed, expr);
  }
  seed = hashMix(seed, fusion.symbols().size());
  for (const SymbolSource& source : fusion.symbols()) {
    seed = hashMix(hashMix(seed, indexOf(source.val)), static_cast<uint64_t>(source.dim));
  }
  for (const InputWrite& write : fusion.writes()) {
    seed = hashMix(hashMix(seed, indexOf(write.value)), indexOf(write.input));
  }
  return hashIds(hashIds(hashMix(seed, fusion.writes().size()), fusion.inputs()), fusion.outputs());
}

}  // namespace meshfuse
