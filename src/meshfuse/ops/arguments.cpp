#include "meshfuse/ops/arguments.h"

#include <algorithm>

#include "meshfuse/base/error.h"
#include "meshfuse/base/text.h"

namespace meshfuse {

const TensorType& tensorArg(const Fusion& fusion, const Arg& arg) {
  return fusion.val(std::get<ValId>(arg)).tensor();
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
