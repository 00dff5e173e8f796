#include "meshfuse/communication/reduction.h"

#include <limits>

#include <ATen/ATen.h>

#include "meshfuse/base/error.h"

namespace meshfuse {
namespace {

bool isOrder(ReduceKind kind) { return kind == ReduceKind::Max || kind == ReduceKind::Min; }

bool isHalf(at::ScalarType type) { return type == at::kHalf || type == at::kBFloat16; }

bool isBackendFloat(at::ScalarType type) {
  return type == at::kFloat || type == at::kDouble || isHalf(type);
}

bool isBackendInteger(at::ScalarType type) {
  return type == at::kByte || type == at::kChar || type == at::kInt || type == at::kLong;
}

bool isBackendComplex(at::ScalarType type) {
  return type == at::kComplexFloat || type == at::kComplexDouble;
}

bool isReducible(at::ScalarType type, ReduceKind kind) {
  if (isBackendFloat(type)) {
    return true;
  }
  if (isBackendInteger(type)) {
    return kind != ReduceKind::Avg;
  }
  if (isBackendComplex(type)) {
    return kind == ReduceKind::Sum || kind == ReduceKind::Avg;
  }
  return type == at::kBool && (isOrder(kind) || kind == ReduceKind::Product);
}

const char* wayOutFor(at::ScalarType type) {
  if (type == at::kBool || isBackendComplex(type) || isBackendInteger(type)) {
    return "cast the tensor before the operation that leaves it partial, or keep it replicated";
  }
  return "cast the tensor to float32, int32 or another type that backends reduce before the "
         "operation "
         "that leaves it partial";
}

// Two's complement of the same order: a non-negative float's bits are in order already, a negative one's are reversed by
// flipping all but the sign. The same step takes the integers back to bits.
at::Tensor flipNegative(const at::Tensor& bits) {
  const at::Scalar mask = bits.scalar_type() == at::kInt
                              ? at::Scalar(int64_t{std::numeric_limits<int32_t>::max()})
                              : at::Scalar(std::numeric_limits<int64_t>::max());
  return at::where(bits.lt(0), bits.bitwise_xor(mask), bits);
}

at::ScalarType bitsOf(at::ScalarType type) { return type == at::kDouble ? at::kLong : at::kInt; }

// The extreme integers are patterns of NaNs, so that a winning NaN comes back as one.
at::Tensor toOrderedInts(const at::Tensor& tensor, ReduceKind kind) {
  const at::Tensor wide = isHalf(tensor.scalar_type()) ? tensor.to(at::kFloat) : tensor;
  const at::ScalarType type = bitsOf(wide.scalar_type());
  const bool isMax = kind == ReduceKind::Max;
  const int64_t winner =
      type == at::kInt
          ? (isMax ? std::numeric_limits<int32_t>::max() : std::numeric_limits<int32_t>::min())
          : (isMax ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min());
  at::Tensor ordered = flipNegative(wide.contiguous().view(type));
  return ordered.masked_fill_(at::isnan(wide), at::Scalar(winner));
}

at::Tensor fromOrderedInts(const at::Tensor& ordered, at::ScalarType type) {
  const at::ScalarType wide = type == at::kDouble ? at::kDouble : at::kFloat;
  return flipNegative(ordered).view(wide).to(type);
}

}  // namespace

void checkReducible(const OpText& op, at::ScalarType type, ReduceKind kind) {
  if (!isReducible(type, kind)) {
    throwUser(
        ErrorKind::Value,
        {op(), "a reduction over ranks is one that backends do, or that can be put to them exactly",
         std::string(nameOf(kind)) + " of " + c10::toString(type) + " is neither",
         wayOutFor(type)});
  }
}

ReduceKind wireKind(ReduceKind kind) { return kind == ReduceKind::Avg ? ReduceKind::Sum : kind; }

at::Tensor toWire(const at::Tensor& tensor, ReduceKind kind) {
  const at::Tensor plain = tensor.resolve_conj().resolve_neg();
  const at::ScalarType type = plain.scalar_type();
  if (isBackendFloat(type) && isOrder(kind)) {
    return toOrderedInts(plain, kind);
  }
  if (isHalf(type) && kind == ReduceKind::Avg) {
    return plain.to(at::kFloat).contiguous();
  }
  const at::Tensor fresh = plain.clone(at::MemoryFormat::Contiguous);
  if (isBackendComplex(type)) {
    return at::view_as_real(fresh);
  }
  return type == at::kBool ? fresh.view(at::kByte) : fresh;
}

at::Tensor fromWire(const at::Tensor& wire, at::ScalarType type, ReduceKind kind, int64_t count) {
  if (isBackendFloat(type) && isOrder(kind)) {
    return fromOrderedInts(wire, type);
  }
  at::Tensor result = isBackendComplex(type) ? at::view_as_complex(wire)
                      : type == at::kBool    ? wire.view(at::kBool)
                                             : wire;
  if (kind == ReduceKind::Avg) {
    result.div_(static_cast<double>(count));
    result = result.to(type);
  }
  return result;
}

}  // namespace meshfuse
