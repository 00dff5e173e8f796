// Random fusions: their text reads back, verification finds nothing, and damaged text is refused.
#include <algorithm>
#include <array>
#include <limits>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "ir/sample_ops.h"
#include "meshfuse/base/error.h"
#include "meshfuse/ir/parse.h"
#include "meshfuse/ir/print.h"
#include "meshfuse/ir/verify.h"

namespace meshfuse {
namespace {

using testing::findSampleOp;
using testing::kAll;
using testing::kHalves;
using testing::kMix;

class FusionMaker {
 public:
  explicit FusionMaker(uint64_t seed) : random_(seed) {}

  Fusion make() {
    fusion_ = Fusion();
    tensors_.clear();
    scalars_.clear();
    addInputs();
    for (int64_t i = below(8); i >= 0; --i) {
      addCall();
    }
    for (int64_t i = below(3); i >= 0; --i) {
      fusion_.addOutput(anyOf(tensors_));
    }
    return std::move(fusion_);
  }

 private:
  int64_t below(size_t count) { return static_cast<int64_t>(random_() % count); }
  bool chance() { return below(2) == 0; }

  template <class T>
  const T& anyOf(const std::vector<T>& items) {
    return items[static_cast<size_t>(below(items.size()))];
  }

  PrimType anyType() {
    std::span<const PrimType> types = allPrimTypes();
    return types[static_cast<size_t>(below(types.size() - 1))];  // without Null
  }

  Scalar anyNumber() {
    constexpr std::array reals{0.0,
                               -0.0,
                               1.5,
                               -1e-9,
                               3e22,
                               std::numeric_limits<double>::infinity(),
                               std::numeric_limits<double>::quiet_NaN()};
    double real = reals[static_cast<size_t>(below(reals.size()))];
    switch (below(4)) {
      case 0:
        return chance();
      case 1:
        return below(2001) - 1000;
      case 2:
        return real;
      default:
        return Scalar::Complex(real, static_cast<double>(below(5)) - 2.0);
    }
  }

  IntExpr anyExtent() {
    std::vector<IntExpr> pool{3, 17, 0};
    for (uint32_t i = 0; i < fusion_.symbols().size(); ++i) {
      pool.push_back(IntExpr::symbol(SymbolId{i}));
    }
    IntExpr a = anyOf(pool);
    IntExpr b = anyOf(pool);
    switch (below(5)) {
      case 0:
        return a * b + 1;
      case 1:
        return floorDiv(a + b, 2 + below(5));
      case 2:
        return ceilDiv(a, b + 1) * 3;
      case 3:
        return floorMod(a * 5, 4);
      default:
        return a;
    }
  }

  TensorType anyTensor() {
    TensorType type{.dtype = anyType()};
    for (int64_t rank = below(4); rank > 0; --rank) {
      type.domain.push_back(below(4) == 0 ? IterDomain::broadcast()
                                          : IterDomain{anyExtent(), below(4) == 0});
    }
    if (below(3) == 0) {
      type.strideOrder = anyOrder(type.domain.size());
    }
    if (chance() && type.rank() > 0) {
      type.sharding = anySharding(type.rank());
    }
    return type;
  }

  std::vector<int64_t> anyOrder(size_t rank) {
    std::vector<int64_t> order(rank);
    for (size_t i = 0; i < rank; ++i) {
      order[i] = static_cast<int64_t>(i);
    }
    std::shuffle(order.begin(), order.end(), random_);
    return order;
  }

  ShardingId anySharding(int64_t rank) {
    std::vector<int64_t> shape(static_cast<size_t>(1 + below(3)));
    int64_t count = 1;
    for (int64_t& extent : shape) {
      extent = 1 + below(3);
      count *= extent;
    }
    std::vector<int64_t> ranks;
    int64_t first = below(4);
    for (int64_t i = 0; i < count; ++i) {
      ranks.push_back(first + 2 * i);
    }
    if (chance()) {
      std::shuffle(ranks.begin(), ranks.end(), random_);
    }
    std::vector<Placement> placements;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      auto dim = below(static_cast<size_t>(rank));
      std::array choices{Placement::replicate(), Placement::shard(dim),
                         Placement::stridedShard(dim, 1 + below(4)),
                         Placement::partial(static_cast<ReduceKind>(below(5)))};
      placements.push_back(choices[static_cast<size_t>(below(choices.size()))]);
    }
    auto device = static_cast<MeshDevice>(below(3));
    return intern(makeSharding(DeviceMesh::fromRanks(ranks, shape), device, placements));
  }

  void addInputs() {
    for (int64_t i = below(3); i >= 0; --i) {
      std::vector<int64_t> shape;
      Contiguity contiguity;
      for (int64_t rank = below(5); rank > 0; --rank) {
        constexpr std::array sizes{int64_t{-1}, int64_t{-1}, int64_t{0}, int64_t{1}, int64_t{6}};
        shape.push_back(sizes[static_cast<size_t>(below(sizes.size()))]);
      }
      std::vector<int64_t> order;
      if (chance()) {
        order = anyOrder(shape.size());
      }
      contiguity.resize(shape.size());
      for (size_t dim = 0; dim < shape.size(); ++dim) {
        size_t position = order.empty() ? dim : shape.size() - 1 - static_cast<size_t>(order[dim]);
        if (shape[dim] != 1 && below(4) != 0) {
          contiguity[position] = chance();
        }
      }
      ValId id =
          fusion_.addInputTensor(anyType(), shape, contiguity, order, shape.empty() && chance());
      tensors_.push_back(id);
      if (!shape.empty() && chance()) {
        fusion_.val(id).tensor().sharding = anySharding(static_cast<int64_t>(shape.size()));
      }
    }
    for (int64_t i = below(3); i > 0; --i) {
      scalars_.push_back(chance() ? fusion_.addInputScalar(anyType())
                                  : fusion_.addScalar(anyType(), anyNumber()));
    }
  }

  Arg anyOperand() {
    if (!scalars_.empty() && below(3) == 0) {
      return anyOf(scalars_);
    }
    return chance() ? Arg(anyOf(tensors_)) : Arg(anyNumber());
  }

  void addCall() {
    switch (below(4)) {
      case 0: {
        ExprId id = fusion_.addExpr(kHalves, {anyOf(tensors_)}, {anyTensor(), anyTensor()});
        tensors_.push_back(fusion_.expr(id).outputs[1]);
        return;
      }
      case 1: {
        ExprId id = fusion_.addScalarExpr(kMix, {anyOperand(), anyOperand()}, anyType());
        scalars_.push_back(fusion_.expr(id).outputs[0]);
        return;
      }
      case 2: {
        std::vector<Arg> args(kAll.params.size());
        args[0] = anyOf(tensors_);
        args[1] = chance() ? anyOperand() : Arg();
        args[2] = chance() ? Arg(Scalar(below(9))) : Arg();
        args[3] = chance() ? Arg(Ints(static_cast<size_t>(below(3)), below(9) - 4)) : Arg();
        args[4] = chance() ? Arg(Scalar(chance())) : Arg();
        args[5] = chance() ? Arg(anyType()) : Arg();
        ExprId id = fusion_.addExpr(kAll, std::move(args), {anyTensor()});
        tensors_.push_back(fusion_.expr(id).outputs[0]);
        return;
      }
      default: {
        ExprId id = fusion_.addExpr(kMix, {anyOperand(), anyOperand()}, {anyTensor()});
        tensors_.push_back(fusion_.expr(id).outputs[0]);
      }
    }
  }

  std::mt19937_64 random_;
  Fusion fusion_;
  std::vector<ValId> tensors_;
  std::vector<ValId> scalars_;
};

TEST(ParseRandom, TextReadsBackToTheSameFusion) {
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    Fusion fusion = FusionMaker(seed).make();
    std::string text = print(fusion);
    Fusion again = parse(text, findSampleOp);
    ASSERT_EQ(print(again), text) << "seed " << seed;
    ASSERT_TRUE(sameDefinition(again, fusion)) << "seed " << seed << "\n" << text;
    ASSERT_EQ(structuralHash(again), structuralHash(fusion)) << "seed " << seed;
    ASSERT_EQ(violations(fusion), std::vector<std::string>{}) << "seed " << seed << "\n" << text;
  }
}

TEST(ParseRandom, DifferentTextsAreDifferentFusions) {
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    Fusion a = FusionMaker(seed).make();
    Fusion b = FusionMaker(seed + 1).make();
    ASSERT_EQ(print(a) == print(b), sameDefinition(a, b)) << "seed " << seed;
  }
}

/// A damaged text is refused with a parse error that names a line, or read; never anything else.
TEST(ParseRandom, DamagedTextIsAUserError) {
  std::mt19937_64 random(7);
  int refused = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    std::string text = print(FusionMaker(seed).make());
    size_t at = random() % text.size();
    constexpr std::string_view junk = "()[]{},:=@ abfint019-+*/%\n\"";
    switch (random() % 3) {
      case 0:
        text.erase(at, 1 + random() % 4);
        break;
      case 1:
        text.insert(at, 1, junk[random() % junk.size()]);
        break;
      default:
        text.resize(at);
    }
    try {
      parse(text, findSampleOp);
    } catch (const UserError& error) {
      ++refused;
      ASSERT_EQ(error.kind(), ErrorKind::Value);
      ASSERT_TRUE(std::string(error.what()).starts_with("parse: expected ")) << error.what();
      ASSERT_NE(std::string(error.what()).find(": line "), std::string::npos) << error.what();
    }
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace meshfuse
