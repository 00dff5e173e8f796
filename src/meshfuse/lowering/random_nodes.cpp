#include "meshfuse/lowering/random_nodes.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace meshfuse {

namespace {

/// How a floating type divides the numbers: `digits` bits from the leading one on, down to those of numbers of `least` as exponent.
struct Precision {
  int digits;
  int least;
};
Precision precisionOf(PrimType type) {
  return type == PrimType::Half ? Precision{11, -14} : Precision{8, -126};
}

double unitOf(Precision precision, double x) {
  const int exponent = x == 0.0 ? precision.least : std::max(std::ilogb(x), precision.least);
  return std::ldexp(1.0, exponent - precision.digits + 1);
}

/// The greatest number of the type below `high`.
double greatestBelow(PrimType type, double high) {
  const double infinity = std::numeric_limits<double>::infinity();
  if (type == PrimType::Double) {
    return std::nextafter(high, -infinity);
  }
  const auto single = static_cast<float>(high);
  if (type == PrimType::Float) {
    return single < high ? single : std::nextafter(single, -std::numeric_limits<float>::infinity());
  }
  const Precision precision = precisionOf(type);
  const double unit = unitOf(precision, single);
  const double rounded = std::nearbyint(single / unit) * unit;
  if (rounded < high) {
    return rounded;
  }
  // Below a power of two numbers are closer to each other.
  return rounded - unitOf(precision, rounded > 0.0 ? std::nextafter(rounded, 0.0) : rounded);
}

}  // namespace

NodeId randomNode(NodeBuilder& builder, const ElementCall& call) {
  const PrimType type = call.type();
  const PrimType wide = type == PrimType::Double ? PrimType::Double : PrimType::Float;
  const bool isLike = call.body == Body::UniformLike || call.body == Body::NormalLike;
  const bool isUniform = call.body == Body::Uniform || call.body == Body::UniformLike;
  const Scalar first = isLike ? Scalar(0.0) : builder.node(call.operands[0]).constant;
  const Scalar second = isLike ? Scalar(1.0) : builder.node(call.operands[1]).constant;
  const bool drawsSeed = isLike || call.operands.size() == 2;
  const NodeId seed =
      drawsSeed ? builder.seed(call.call.expr) : builder.cast(call.operands[2], PrimType::Int);
  const NodeId offset = drawsSeed ? builder.constant(Scalar(0), PrimType::Int)
                                  : builder.cast(call.operands[3], PrimType::Int);
  const NodeId index = builder.index({call.output(), call.call.outputs.front(), {}}, PrimType::Int);
  Node node;
  node.kind = isUniform ? NodeKind::Uniform : NodeKind::Normal;
  node.type = wide;
  node.operands = {seed, offset, index, builder.constant(first.toDouble(), wide),
                   builder.constant(second.toDouble(), wide)};
  if (isLike && builder.node(call.operands.front()).kind != NodeKind::Read) {
    // What it is like is computed in any case, so that its errors show.
    node.operands.push_back(call.operands.front());
  }
  const NodeId number = builder.cast(builder.add(std::move(node)), type);
  if (!isUniform || !(first.toDouble() < second.toDouble())) {
    return number;
  }
  // Rounding may reach the upper bound.
  const NodeId bound = builder.constant(second.toDouble(), type);
  const NodeId limit = builder.constant(greatestBelow(type, second.toDouble()), type);
  const NodeId reaches = builder.pointwise("ge", {number, bound}, {type, PrimType::Bool});
  return builder.arithmetic("where", {reaches, limit, number}, type);
}

}  // namespace meshfuse
