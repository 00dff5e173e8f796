// Reads the text of meshes, placements and shardings.
#include <charconv>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "meshfuse/base/error.h"
#include "meshfuse/ir/parse_types.h"
#include "meshfuse/mesh/sharding.h"

namespace meshfuse {

namespace {

/// One level of a mesh: ranks, or as many groups as its shape says.
void parseMeshLevel(TextCursor& cursor, size_t level, std::vector<int64_t>& shape,
                    std::vector<int64_t>& ranks, std::string_view close) {
  if (level == shape.size()) {
    shape.push_back(-1);
  }
  int64_t count = 0;
  for (; !cursor.accept(close); ++count) {
    if (cursor.accept("(")) {
      parseMeshLevel(cursor, level + 1, shape, ranks, ")");
    } else if (level + 1 == shape.size()) {
      ranks.push_back(cursor.integer());
    } else {
      cursor.fail("'('");
    }
  }
  if (shape[level] >= 0 && shape[level] != count) {
    cursor.fail("a mesh with groups of one size, before this");
  }
  shape[level] = count;
}

/// `256x256` after its first number, which `shape` holds.
void parseShape(TextCursor& cursor, std::vector<int64_t>& shape) {
  if (cursor.peekWord() == "ranks") {
    return;
  }
  std::string_view word = cursor.peekWord();
  const char* end = word.data() + word.size();
  for (const char* at = word.data(); at != end;) {
    int64_t extent = 0;
    std::from_chars_result read = std::from_chars(at + 1, end, extent);
    if (*at != 'x' || read.ec != std::errc()) {
      cursor.fail("the shape of a mesh such as 256x256 to go on");
    }
    shape.push_back(extent);
    at = read.ptr;
  }
  cursor.word("a shape");
}

/// The ranks of a mesh that is given by a first rank and a stride for each axis.
std::vector<int64_t> regularRanks(TextCursor& cursor, std::span<const int64_t> shape, int64_t base,
                                  std::span<const int64_t> strides) {
  constexpr size_t most = size_t{1} << 24;
  std::vector<int64_t> ranks{base};
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    std::vector<int64_t> outer;
    outer.swap(ranks);
    if (strides.size() != shape.size() || shape[axis] < 1 ||
        static_cast<size_t>(shape[axis]) > most / outer.size()) {
      cursor.fail("a stride for each axis and at most 2^24 ranks before this");
    }
    for (int64_t first : outer) {
      for (int64_t i = 0; i < shape[axis]; ++i) {
        int64_t rank = 0;
        if (__builtin_mul_overflow(i, strides[axis], &rank) ||
            __builtin_add_overflow(first, rank, &rank)) {
          cursor.fail("ranks of 64 bits before this");
        }
        ranks.push_back(rank);
      }
    }
  }
  return ranks;
}

/// `0 1 2`, `(0 1) (2 3)` or `256x256 ranks from 0, strides [256, 1]`, and the brace after it.
void parseRanks(TextCursor& cursor, std::vector<int64_t>& shape, std::vector<int64_t>& ranks) {
  TextCursor start = cursor;
  if (cursor.peek() >= '0' && cursor.peek() <= '9') {
    shape.push_back(cursor.integer());
    if (cursor.peekWord().starts_with('x') || cursor.peekWord() == "ranks") {
      parseShape(cursor, shape);
      cursor.expect("ranks");
      cursor.expect("from");
      int64_t base = cursor.integer();
      cursor.expect(",");
      cursor.expect("strides");
      cursor.expect("[");
      std::vector<int64_t> strides = parseInts(cursor, "]");
      cursor.expect("}");
      ranks = regularRanks(cursor, shape, base, strides);
      return;
    }
    shape.clear();
    cursor = start;
  }
  parseMeshLevel(cursor, 0, shape, ranks, "}");
}

DeviceMesh parseMesh(TextCursor& cursor) {
  cursor.expect("DeviceMesh");
  cursor.expect("{");
  std::vector<int64_t> shape;
  std::vector<int64_t> ranks;
  parseRanks(cursor, shape, ranks);
  try {
    return DeviceMesh::fromRanks(std::move(ranks), std::move(shape));
  } catch (const UserError& error) {
    cursor.fail(std::string("a legal mesh before this (") + error.what() + ")");
  }
}

MeshDevice parseDevice(TextCursor& cursor) {
  std::optional<MeshDevice> device = meshDeviceFromName(cursor.peekWord());
  if (!device) {
    cursor.fail("a device type: cpu, cuda or meta");
  }
  cursor.word("a device type");
  return *device;
}

Placement parsePlacement(TextCursor& cursor) {
  if (cursor.accept("R")) {
    return Placement::replicate();
  }
  Placement out;
  if (cursor.accept("S")) {
    cursor.expect("(");
    out = Placement::shard(cursor.integer());
  } else if (cursor.accept("_S")) {
    cursor.expect("(");
    int64_t dim = cursor.integer();
    cursor.expect(",");
    out = Placement::stridedShard(dim, cursor.integer());
  } else if (cursor.accept("P")) {
    cursor.expect("(");
    std::optional<ReduceKind> kind = reduceKindFromName(cursor.peekWord());
    if (!kind) {
      cursor.fail("a reduction: sum, avg, max, min or product");
    }
    cursor.word("a reduction");
    out = Placement::partial(*kind);
  } else {
    cursor.fail("a placement: R, S(0), _S(0, 2) or P(sum)");
  }
  cursor.expect(")");
  return out;
}

}  // namespace

ShardingId parseSharding(TextCursor& cursor) {
  DeviceMesh mesh = parseMesh(cursor);
  MeshDevice device = parseDevice(cursor);
  std::vector<Placement> placements;
  cursor.expect("(");
  while (!cursor.accept(")")) {
    if (!placements.empty()) {
      cursor.expect(",");
    }
    placements.push_back(parsePlacement(cursor));
  }
  try {
    return intern(makeSharding(std::move(mesh), device, std::move(placements)));
  } catch (const UserError& error) {
    cursor.fail(std::string("a legal sharding before this (") + error.what() + ")");
  }
}

}  // namespace meshfuse
