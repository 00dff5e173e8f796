// Meshes: how they are made, compared, printed, indexed and sliced. E… are points of the value checklist.
#include "meshfuse/mesh/device_mesh.h"

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "mesh/user_error.h"

namespace meshfuse {
namespace {

using Ints = std::vector<int64_t>;

Ints ranksOf(const DeviceMesh& mesh) {
  Ints ranks;
  for (int64_t i = 0; i < mesh.size(); ++i) {
    ranks.push_back(mesh.rankAtLinear(i));
  }
  return ranks;
}

Ints shapeOf(const DeviceMesh& mesh) { return {mesh.shape().begin(), mesh.shape().end()}; }

TEST(DeviceMesh, E1_MadeFromRanksShapeOrCount) {
  EXPECT_EQ(ranksOf(DeviceMesh::fromRanks({4, 2, 7})), (Ints{4, 2, 7}));
  EXPECT_EQ(shapeOf(DeviceMesh::fromRanks({4, 2, 7})), (Ints{3}));
  EXPECT_EQ(ranksOf(DeviceMesh::fromRanks({3, 1, 0, 2}, {2, 2})), (Ints{3, 1, 0, 2}));
  EXPECT_EQ(shapeOf(DeviceMesh::fromRanks({3, 1, 0, 2}, {2, 2})), (Ints{2, 2}));
  EXPECT_EQ(ranksOf(DeviceMesh::fromCount(3)), (Ints{0, 1, 2}));
  EXPECT_EQ(ranksOf(DeviceMesh::fromShape({2, 3})), (Ints{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(DeviceMesh::fromShape({2, 3}).ndim(), 2);
  EXPECT_EQ(DeviceMesh::fromShape({2, 3}).size(), 6);
  EXPECT_EQ(DeviceMesh::fromShape({2, 3}).size(int64_t{1}), 3);
}

TEST(DeviceMesh, E1_DuplicatesAreRefused) {
  EXPECT_EQ(userError(ErrorKind::Value, [] { DeviceMesh::fromRanks({0, 1, 3, 1}, {2, 2}); }),
            "DeviceMesh: ranks must be distinct: got rank 1 twice; list each rank once");
  EXPECT_EQ(userError(ErrorKind::Value, [] { DeviceMesh::fromRanks({5, 5}); }),
            "DeviceMesh: ranks must be distinct: got rank 5 twice; list each rank once");
}

TEST(DeviceMesh, E1_WhatIsNoArrayOfRanksIsRefused) {
  EXPECT_EQ(userError(ErrorKind::Value, [] { DeviceMesh::fromRanks({}); }),
            "DeviceMesh: a mesh has at least one rank: got none; list its ranks");
  EXPECT_EQ(userError(ErrorKind::Value, [] { DeviceMesh::fromRanks({0, -4}); }),
            "DeviceMesh: ranks must not be negative: got rank -4; count ranks from 0");
  EXPECT_EQ(userError(ErrorKind::Value, [] { DeviceMesh::fromRanks({0, 1, 2}, {2, 2}); }),
            "DeviceMesh: the shape must hold as many ranks as are listed: got 3 ranks for shape "
            "[2, 2]; pass 4 ranks or another shape");
  EXPECT_EQ(userError(ErrorKind::Value, [] { DeviceMesh::fromShape({}); }),
            "DeviceMesh: a mesh has at least one axis: got shape []; use [1] for one rank");
  for (Ints shape : {Ints{2, 0}, Ints{-1}, Ints{int64_t{1} << 40, int64_t{1} << 40}}) {
    std::string text = userError(ErrorKind::Value, [&] { DeviceMesh::fromShape(shape); });
    EXPECT_EQ(text.find("DeviceMesh: every extent must be at least 1 and the ranks countable: got "
                        "shape ["),
              0U)
        << text;
  }
}

TEST(DeviceMesh, E1_EqualByRanksAndShape) {
  EXPECT_EQ(DeviceMesh::fromCount(6), DeviceMesh::fromRanks({0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(DeviceMesh::fromShape({2, 3}), DeviceMesh::fromRanks({0, 1, 2, 3, 4, 5}, {2, 3}));
  EXPECT_EQ(DeviceMesh::fromShape({2, 1, 3}), DeviceMesh::fromRanks({0, 1, 2, 3, 4, 5}, {2, 1, 3}));
  EXPECT_FALSE(DeviceMesh::fromShape({2, 3}) == DeviceMesh::fromShape({3, 2}));
  EXPECT_FALSE(DeviceMesh::fromShape({6}) == DeviceMesh::fromShape({1, 6}));
  EXPECT_FALSE(DeviceMesh::fromRanks({0, 1}) == DeviceMesh::fromRanks({1, 0}));
  EXPECT_FALSE(DeviceMesh::fromRanks({0, 1}) == DeviceMesh::fromRanks({1, 2}));
  EXPECT_FALSE(DeviceMesh::fromRanks({3, 1, 0}) == DeviceMesh::fromRanks({3, 0, 1}));
  EXPECT_FALSE(DeviceMesh() == DeviceMesh::fromCount(1));
  EXPECT_EQ(DeviceMesh(), DeviceMesh());
}

TEST(DeviceMesh, E1_EqualMeshesHaveEqualHash) {
  EXPECT_EQ(DeviceMesh::fromShape({2, 3}).hash(),
            DeviceMesh::fromRanks({0, 1, 2, 3, 4, 5}, {2, 3}).hash());
  EXPECT_NE(DeviceMesh::fromShape({2, 3}).hash(), DeviceMesh::fromShape({3, 2}).hash());
  EXPECT_NE(DeviceMesh::fromRanks({0, 1}).hash(), DeviceMesh::fromRanks({1, 2}).hash());
  EXPECT_NE(DeviceMesh::fromRanks({3, 1, 0}).hash(), DeviceMesh::fromRanks({3, 0, 1}).hash());
}

TEST(DeviceMesh, E1_Prints) {
  EXPECT_EQ(DeviceMesh::fromCount(3).toText(), "DeviceMesh{0 1 2}");
  EXPECT_EQ(DeviceMesh::fromShape({2, 2}).toText(), "DeviceMesh{(0 1) (2 3)}");
  EXPECT_EQ(DeviceMesh::fromRanks({3, 4, 1, 0, 8, 2}, {2, 3}).toText(),
            "DeviceMesh{(3 4 1) (0 8 2)}");
  EXPECT_EQ(DeviceMesh::fromShape({2, 1, 2}).toText(), "DeviceMesh{((0 1)) ((2 3))}");
  EXPECT_EQ(DeviceMesh::fromShape({256, 256}).toText(),
            "DeviceMesh{256x256 ranks from 0, strides [256, 1]}");
  EXPECT_EQ(DeviceMesh().toText(), "DeviceMesh{}");
}

TEST(DeviceMesh, E2_TheLastAxisIsXThenYThenZ) {
  DeviceMesh mesh = DeviceMesh::fromShape({4, 3, 2});
  EXPECT_EQ(mesh.axisOf(ParallelType::DIDx), 2);
  EXPECT_EQ(mesh.axisOf(ParallelType::DIDy), 1);
  EXPECT_EQ(mesh.axisOf(ParallelType::DIDz), 0);
  EXPECT_EQ(mesh.size(ParallelType::DIDx), 2);
  EXPECT_EQ(mesh.size(ParallelType::DIDy), 3);
  EXPECT_EQ(mesh.size(ParallelType::DIDz), 4);
  EXPECT_EQ(nameOf(ParallelType::DIDx), "deviceIdx.x");
  EXPECT_EQ(nameOf(ParallelType::DIDz), "deviceIdx.z");
}

TEST(DeviceMesh, E2_AKindTheMeshLacks) {
  DeviceMesh line = DeviceMesh::fromCount(4);
  EXPECT_TRUE(line.has(ParallelType::DIDx));
  EXPECT_FALSE(line.has(ParallelType::DIDy));
  EXPECT_EQ(line.axisOf(ParallelType::DIDy), -1);
  EXPECT_EQ(
      userError(ErrorKind::Value, [&] { line.size(ParallelType::DIDy); }),
      "DeviceMesh.size: the mesh must have an axis for the parallel type: got deviceIdx.y for "
      "1 axes of DeviceMesh{0 1 2 3}; use a mesh with more axes; the last axis is "
      "deviceIdx.x");
  EXPECT_THROW(line.slice(0, ParallelType::DIDz), UserError);
  EXPECT_EQ(userError(ErrorKind::Index, [&] { line.size(int64_t{1}); }),
            "DeviceMesh.size: the axis must be one of the mesh's: got axis 1 for 1 axes of "
            "DeviceMesh{0 1 2 3}; count axes from 0, outermost first");
  EXPECT_THROW(line.size(int64_t{-1}), UserError);
}

TEST(DeviceMesh, E3_IndexOfARank) {
  DeviceMesh mesh = DeviceMesh::fromRanks({3, 4, 1, 0, 8, 2}, {2, 3});
  EXPECT_EQ(mesh.coordinateOf(8), (Ints{1, 1}));
  EXPECT_EQ(mesh.coordinateOf(1), (Ints{0, 2}));
  EXPECT_EQ(mesh.linearIndexOf(8), 4);
  EXPECT_EQ(mesh.linearIndexOf(5), -1);
  EXPECT_EQ(mesh.linearIndexOf(-1), -1);
  EXPECT_EQ(mesh.coordinateOf(5), std::nullopt);
  EXPECT_EQ(mesh.rankAt(Ints{1, 1}), 8);
  EXPECT_EQ(mesh.coordinateAtLinear(5), (Ints{1, 2}));
  EXPECT_EQ(DeviceMesh().linearIndexOf(0), -1);
}

TEST(DeviceMesh, E3_PositionsOutsideTheMeshAreInternalErrors) {
  DeviceMesh mesh = DeviceMesh::fromShape({2, 3});
  EXPECT_THROW(mesh.rankAt(Ints{0}), InternalError);
  EXPECT_THROW(mesh.rankAt(Ints{0, 3}), InternalError);
  EXPECT_THROW(mesh.rankAt(Ints{-1, 0}), InternalError);
  EXPECT_THROW(mesh.rankAtLinear(6), InternalError);
  EXPECT_THROW(mesh.coordinateAtLinear(-1), InternalError);
}

TEST(DeviceMesh, E4_SlicesThroughARank) {
  DeviceMesh mesh = DeviceMesh::fromRanks({3, 4, 1, 0, 8, 2}, {2, 3});
  EXPECT_EQ(mesh.slice(8, ParallelType::DIDx), (Ints{0, 8, 2}));
  EXPECT_EQ(mesh.slice(8, ParallelType::DIDy), (Ints{4, 8}));
  EXPECT_EQ(mesh.slice(3, int64_t{0}), (Ints{3, 0}));
  DeviceMesh cube = DeviceMesh::fromShape({2, 2, 2});
  EXPECT_EQ(cube.slice(5, ParallelType::DIDx), (Ints{4, 5}));
  EXPECT_EQ(cube.slice(5, ParallelType::DIDy), (Ints{5, 7}));
  EXPECT_EQ(cube.slice(5, ParallelType::DIDz), (Ints{1, 5}));
}

TEST(DeviceMesh, E4_ARankOutsideHasNoSlice) {
  EXPECT_EQ(userError(ErrorKind::Value,
                      [] { DeviceMesh::fromShape({2, 2}).slice(7, ParallelType::DIDx); }),
            "DeviceMesh.slice: the rank must be in the mesh: got rank 7 for DeviceMesh{(0 1) (2 "
            "3)}; ask for the slice of one of its ranks");
}

TEST(DeviceMesh, RegularMeshesAreFoundHoweverTheyAreMade) {
  EXPECT_TRUE(DeviceMesh::fromRanks({8, 9, 10, 11}).isRegular());
  EXPECT_TRUE(DeviceMesh::fromRanks({1, 5, 9, 13}).isRegular());
  EXPECT_TRUE(DeviceMesh::fromRanks({0, 3, 1, 4, 2, 5}, {3, 2}).isRegular());  // a transpose
  EXPECT_TRUE(DeviceMesh::fromRanks({4, 6, 12, 14}, {2, 2}).isRegular());      // a slice
  EXPECT_TRUE(DeviceMesh::fromRanks({7}, {1, 1, 1}).isRegular());
  EXPECT_FALSE(DeviceMesh::fromRanks({0, 1, 3}).isRegular());
  EXPECT_FALSE(DeviceMesh::fromRanks({1, 0}).isRegular());
  EXPECT_TRUE(DeviceMesh::fromRanks({0, 2, 3, 5, 6, 8}, {3, 2}).isRegular());   // with gaps
  EXPECT_FALSE(DeviceMesh::fromRanks({0, 3, 2, 5, 4, 7}, {3, 2}).isRegular());  // not nested
}

TEST(DeviceMesh, AMillionMillionRanksCostAFewWords) {
  constexpr int64_t kSide = int64_t{1} << 20;
  DeviceMesh mesh = DeviceMesh::fromShape({kSide, kSide});  // a list would need eight terabytes
  EXPECT_TRUE(mesh.isRegular());
  EXPECT_LE(sizeof(DeviceMesh), 80U);
  EXPECT_EQ(mesh.rankAt(Ints{3, 5}), 3 * kSide + 5);
  EXPECT_EQ(mesh.coordinateOf(7 * kSide + 1), (Ints{7, 1}));
  EXPECT_EQ(mesh.linearIndexOf(kSide * kSide), -1);
  EXPECT_EQ(mesh.toText(), "DeviceMesh{1048576x1048576 ranks from 0, strides [1048576, 1]}");
}

TEST(DeviceMesh, SixtyFiveThousandListedRanksAreNotKept) {
  Ints ranks(65536);
  std::iota(ranks.begin(), ranks.end(), int64_t{0});
  DeviceMesh mesh = DeviceMesh::fromRanks(ranks, {64, 32, 32});
  EXPECT_TRUE(mesh.isRegular());
  EXPECT_EQ(mesh, DeviceMesh::fromShape({64, 32, 32}));
  EXPECT_EQ(mesh.linearIndexOf(40000), 40000);
}

/// Every query against the plain list of ranks.
void checkAgainstList(const Ints& ranks, const Ints& shape) {
  DeviceMesh mesh = DeviceMesh::fromRanks(ranks, shape);
  ASSERT_EQ(ranksOf(mesh), ranks) << mesh.toText();
  int64_t highest = *std::max_element(ranks.begin(), ranks.end());
  for (int64_t rank = -1; rank <= highest + 2; ++rank) {
    auto found = std::find(ranks.begin(), ranks.end(), rank);
    int64_t expected = found == ranks.end() ? -1 : found - ranks.begin();
    ASSERT_EQ(mesh.linearIndexOf(rank), expected) << rank << " in " << mesh.toText();
    if (expected >= 0) {
      ASSERT_EQ(mesh.rankAt(mesh.coordinateOf(rank).value()), rank);
    }
  }
}

TEST(DeviceMesh, EveryArrangementOfFewRanksAnswersAsItsList) {
  for (const Ints& shape : {Ints{6}, Ints{2, 3}, Ints{3, 2}, Ints{1, 6}, Ints{3, 1, 2}}) {
    Ints ranks = {0, 1, 2, 3, 4, 5};
    do {
      checkAgainstList(ranks, shape);
    } while (std::next_permutation(ranks.begin(), ranks.end()));
  }
}

TEST(DeviceMesh, EveryGridOfStridesAnswersAsItsList) {
  for (int64_t outer = 0; outer <= 7; ++outer) {
    for (int64_t inner = 0; inner <= 7; ++inner) {
      Ints ranks;
      for (int64_t i = 0; i < 3; ++i) {
        for (int64_t j = 0; j < 2; ++j) {
          ranks.push_back(10 + i * outer + j * inner);
        }
      }
      Ints sorted = ranks;
      std::sort(sorted.begin(), sorted.end());
      if (std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end()) {
        checkAgainstList(ranks, {3, 2});
      }
    }
  }
}

}  // namespace
}  // namespace meshfuse
