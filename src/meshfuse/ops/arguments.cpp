#include "meshfuse/ops/arguments.h"

#include <algorithm>

#include "meshfuse/base/error.h"
#include "meshfuse/base/text.h"

namespace meshfuse {

const TensorType& tensorArg(const Fusion& fusion, const Arg& arg) {
  return fusion.val(std::get<ValId>(arg)).tensor();
}

Arg withConstants(const Fusion& fusion, const Arg& sizes) {
  if (const ValId* val = std::get_if<ValId>(&sizes)) {
    const std::optional<Scalar>& constant = fusion.val(*val).scalar().constant;
    return constant ? Arg(Scalar(constant->toInt())) : sizes;
  }
  const Items* items = std::get_if<Items>(&sizes);
  if (items == nullptr) {
    return sizes;
  }
  Items mixed;
  Ints ints;
  for (const Item& item : *items) {
    const ValId* val = std::get_if<ValId>(&item);
    const std::optional<Scalar> constant =
        val == nullptr ? Scalar(std::get<int64_t>(item)) : fusion.val(*val).scalar().constant;
    mixed.push_back(constant ? Item(constant->toInt()) : item);
    if (constant) {
      ints.push_back(constant->toInt());
    }
  }
  return ints.size() == mixed.size() ? Arg(std::move(ints)) : Arg(std::move(mixed));
}

IntExpr sizeArg(const Fusion& fusion, const Arg& size) {
  const ValId* val = std::get_if<ValId>(&size);
  return val == nullptr ? IntExpr(intArg(size))
                        : IntExpr::symbol(*fusion.val(*val).scalar().symbol);
}

std::vector<IntExpr> sizesArg(const Fusion& fusion, const Arg& list) {
  if (const Ints* ints = std::get_if<Ints>(&list)) {
    return {ints->begin(), ints->end()};
  }
  std::vector<IntExpr> sizes;
  for (const Item& item : std::get<Items>(list)) {
    const ValId* val = std::get_if<ValId>(&item);
    sizes.push_back(val == nullptr ? IntExpr(std::get<int64_t>(item))
                                   : IntExpr::symbol(*fusion.val(*val).scalar().symbol));
  }
  return sizes;
}

void checkSizes(std::string_view op, const Fusion& fusion, const Arg& sizes, int64_t lowest) {
  const std::vector<IntExpr> entries = sizesArg(fusion, sizes);
  for (size_t i = 0; i < entries.size(); ++i) {
    const std::optional<int64_t> entry = entries[i].asConstant();
    if (entry && *entry < lowest) {
      throwUser(ErrorKind::Runtime,
                {op, lowest < 0 ? "a size is -1 or not negative" : "a size is not negative",
                 "got " + std::to_string(*entry) + " at index " + std::to_string(i) + " of " +
                     sizesText(fusion, sizes),
                 lowest < 0 ? "use -1 for the size to keep or infer" : "pass the size itself"});
    }
  }
}

std::string sizesText(const Fusion& fusion, const Arg& list) {
  std::vector<std::string> texts;
  for (const IntExpr& size : sizesArg(fusion, list)) {
    texts.push_back(size.toText());
  }
  return "[" + joinText(texts, ", ") + "]";
}

int64_t wrapDim(std::string_view op, int64_t dim, int64_t rank) {
  const int64_t wrapped = dim < 0 ? dim + rank : dim;
  if (wrapped < 0 || wrapped >= rank) {
    const std::string wayOut = rank == 0 ? "reduce or index a tensor that has dimensions"
                                         : "use a dim in [" + std::to_string(-rank) + ", " +
                                               std::to_string(rank - 1) + "]";
    throwUser(ErrorKind::Runtime,
              {op, "Tried to access out of boundary index",
               "got dim " + std::to_string(dim) + " for a tensor of rank " + std::to_string(rank),
               wayOut});
  }
  return wrapped;
}

int64_t wrapSortDim(std::string_view op, int64_t dim, int64_t rank) {
  return rank == 0 && (dim == 0 || dim == -1) ? 0 : wrapDim(op, dim, rank);
}

Ints wrapDims(std::string_view op, const Ints& dims, int64_t rank, std::string_view duplicates) {
  Ints wrapped;
  for (int64_t dim : dims) {
    wrapped.push_back(wrapDim(op, dim, rank));
    if (std::ranges::count(wrapped, wrapped.back()) > 1) {
      throwUser(
          ErrorKind::Runtime,
          {op, duplicates, "got " + toText(dims) + " for a tensor of rank " + std::to_string(rank),
           "name each dimension at most once"});
    }
  }
  return wrapped;
}

void checkOrdered(std::string_view op, const Fusion& fusion, const Arg& arg) {
  if (categoryOf(tensorArg(fusion, arg).dtype) == TypeCategory::Complex) {
    throwUser(ErrorKind::Runtime, {op, "complex numbers have no order",
                                   "got " + describe(fusion, arg), "pass a real tensor"});
  }
}

void checkNumber(std::string_view op, const Fusion& fusion, std::string_view param,
                 const Arg& arg) {
  const ValId* val = std::get_if<ValId>(&arg);
  if (val != nullptr && fusion.val(*val).isTensor()) {
    throwUser(ErrorKind::Type,
              {op, "incompatible function arguments",
               std::string(param) + " is " + describe(fusion, arg), "pass a number or a scalar"});
  }
}

namespace {

PrimType numberType(const Fusion& fusion, const Arg& number) {
  const Scalar* constant = std::get_if<Scalar>(&number);
  return constant != nullptr ? constant->type() : fusion.val(std::get<ValId>(number)).dtype();
}

}  // namespace

void checkRealNumber(std::string_view op, const Fusion& fusion, std::string_view param,
                     const Arg& arg) {
  checkNumber(op, fusion, param, arg);
  if (isGiven(arg) && categoryOf(numberType(fusion, arg)) == TypeCategory::Complex) {
    throwUser(ErrorKind::Runtime,
              {op, std::string(param) + " is a real number",
               "got a number of type " + std::string(nameOf(numberType(fusion, arg))),
               "pass its real part"});
  }
}

void checkNumberFits(std::string_view op, const Fusion& fusion, const Arg& tensor,
                     const Arg& number) {
  checkNumber(op, fusion, "the number", number);
  const PrimType type = numberType(fusion, number);
  if (categoryOf(type) > categoryOf(tensorArg(fusion, tensor).dtype)) {
    throwUser(ErrorKind::Runtime, {op, "a number fits the operand's dtype",
                                   "got a number of type " + std::string(nameOf(type)) + " for " +
                                       describe(fusion, tensor),
                                   "cast the operand or the number"});
  }
}

std::vector<PrimType> dtypeOfFirst(const OpCall& call) { return {call.tensors[0].dtype}; }

void checkSameDtype(std::string_view op, std::span<const TensorType> tensors) {
  for (const TensorType& tensor : tensors) {
    if (tensor.dtype != tensors.front().dtype) {
      throwUser(ErrorKind::Runtime, {op, "operands must have the same dtype",
                                     "got " + std::string(nameOf(tensors.front().dtype)) + " and " +
                                         std::string(nameOf(tensor.dtype)),
                                     "cast one of them"});
    }
  }
}

std::string describe(const Fusion& fusion, const Arg& arg) {
  const ValId id = std::get<ValId>(arg);
  const Val& val = fusion.val(id);
  const std::string type = val.isTensor() ? toText(val.tensor()) : std::string(nameOf(val.dtype()));
  return fusion.nameOf(id) + " of type " + type;
}

OpSample sampleOf(std::vector<std::vector<int64_t>> sizes, std::vector<Arg> args,
                  std::vector<size_t> tensorArgs) {
  OpSample sample;
  for (std::vector<int64_t>& size : sizes) {
    sample.tensors.push_back({PrimType::Float, std::move(size), -2.0, 2.0});
  }
  sample.args = std::move(args);
  sample.tensorArgs = std::move(tensorArgs);
  return sample;
}

}  // namespace meshfuse
