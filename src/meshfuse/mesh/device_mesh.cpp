#include "meshfuse/mesh/device_mesh.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "meshfuse/base/error.h"
#include "meshfuse/base/hash.h"
#include "meshfuse/base/text.h"

namespace meshfuse {

namespace {

constexpr int64_t kMostRanksPrinted = 64;

/// Number of ranks of a shape; throws UserError(Value) for a shape no mesh can have.
int64_t checkedCount(std::span<const int64_t> shape) {
  int64_t count = 1;
  for (int64_t extent : shape) {
    if (extent < 1 || count > std::numeric_limits<int64_t>::max() / extent) {
      throwUser(ErrorKind::Value,
                {"DeviceMesh", "every extent must be at least 1 and the ranks countable",
                 "got shape " + toText(shape), "leave out axes without ranks"});
    }
    count *= extent;
  }
  if (shape.empty()) {
    throwUser(ErrorKind::Value, {"DeviceMesh", "a mesh has at least one axis", "got shape []",
                                 "use [1] for one rank"});
  }
  return count;
}

void checkDistinct(std::span<const int64_t> ranks) {
  std::vector<int64_t> sorted(ranks.begin(), ranks.end());
  std::sort(sorted.begin(), sorted.end());
  if (sorted.front() < 0) {
    throwUser(ErrorKind::Value,
              {"DeviceMesh", "ranks must not be negative",
               "got rank " + std::to_string(sorted.front()), "count ranks from 0"});
  }
  auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) {
    throwUser(ErrorKind::Value,
              {"DeviceMesh", "ranks must be distinct",
               "got rank " + std::to_string(*twice) + " twice", "list each rank once"});
  }
}

/// Strides of a dense row-major array, 0 for axes of extent 1.
std::vector<int64_t> rowMajorStrides(std::span<const int64_t> shape) {
  std::vector<int64_t> strides(shape.size(), 0);
  int64_t stride = 1;
  for (size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = shape[axis] == 1 ? 0 : stride;
    stride *= shape[axis];
  }
  return strides;
}

/// The axis with the largest stride below `below`, -1 if there is none. Axes of extent 1 (stride 0)
/// don't count.
int64_t axisOfNextStride(std::span<const int64_t> strides, int64_t below) noexcept {
  int64_t best = -1;
  for (size_t axis = 0; axis < strides.size(); ++axis) {
    int64_t stride = strides[axis];
    if (stride > 0 && stride < below && (best < 0 || stride > strides[static_cast<size_t>(best)])) {
      best = static_cast<int64_t>(axis);
    }
  }
  return best;
}

/// Whether each stride steps over everything the smaller ones reach, so that a rank has one
/// coordinate and taking the largest stride first finds it.
bool areNested(std::span<const int64_t> shape, std::span<const int64_t> strides) noexcept {
  int64_t below = std::numeric_limits<int64_t>::max();
  int64_t room = below;  // what the larger strides leave for the reach of the smaller ones
  size_t visited = 0;
  for (int64_t axis = axisOfNextStride(strides, below); axis >= 0;
       axis = axisOfNextStride(strides, below)) {
    size_t at = static_cast<size_t>(axis);
    int64_t reach = (shape[at] - 1) * strides[at];
    if (reach >= room) {
      return false;
    }
    below = strides[at];
    room = strides[at];
    ++visited;
  }
  auto real = std::count_if(shape.begin(), shape.end(), [](int64_t extent) { return extent > 1; });
  return visited == static_cast<size_t>(real);
}

/// The strides that generate `ranks` from their first; empty where there are none of the nested
/// kind.
std::vector<int64_t> findStrides(std::span<const int64_t> ranks, std::span<const int64_t> shape) {
  std::vector<int64_t> positions = rowMajorStrides(shape);
  std::vector<int64_t> strides(shape.size(), 0);
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] > 1) {
      strides[axis] = ranks[static_cast<size_t>(positions[axis])] - ranks[0];
    }
  }
  if (!areNested(shape, strides)) {
    return {};
  }
  for (size_t i = 0; i < ranks.size(); ++i) {
    int64_t rank = ranks[0];
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      if (shape[axis] > 1) {
        rank += static_cast<int64_t>(i) / positions[axis] % shape[axis] * strides[axis];
      }
    }
    if (rank != ranks[i]) {
      return {};
    }
  }
  return strides;
}

/// The ranks below one axis, `0 1 2` for the innermost and `(0 1) (2 3)` above it.
void appendRanks(const DeviceMesh& mesh, int64_t axis, int64_t first, int64_t count,
                 std::string& out) {
  int64_t extent = mesh.size(axis);
  int64_t step = count / extent;
  for (int64_t i = 0; i < extent; ++i) {
    out.append(i == 0 ? "" : " ");
    if (axis + 1 == mesh.ndim()) {
      out.append(std::to_string(mesh.rankAtLinear(first + i)));
    } else {
      out.append("(");
      appendRanks(mesh, axis + 1, first + i * step, step, out);
      out.append(")");
    }
  }
}

std::string shapeText(std::span<const int64_t> shape) {
  std::vector<std::string> extents;
  for (int64_t extent : shape) {
    extents.push_back(std::to_string(extent));
  }
  return joinText(extents, "x");
}

}  // namespace

DeviceMesh DeviceMesh::fromShape(std::vector<int64_t> shape) {
  checkedCount(shape);
  DeviceMesh mesh;
  mesh.strides_ = rowMajorStrides(shape);
  mesh.shape_ = std::move(shape);
  return mesh;
}

DeviceMesh DeviceMesh::fromCount(int64_t count) { return fromShape({count}); }

DeviceMesh DeviceMesh::fromRanks(std::vector<int64_t> ranks, std::vector<int64_t> shape) {
  int64_t given = static_cast<int64_t>(ranks.size());
  if (ranks.empty()) {
    throwUser(ErrorKind::Value,
              {"DeviceMesh", "a mesh has at least one rank", "got none", "list its ranks"});
  }
  if (shape.empty()) {
    shape = {given};
  }
  if (checkedCount(shape) != given) {
    throwUser(ErrorKind::Value,
              {"DeviceMesh", "the shape must hold as many ranks as are listed",
               "got " + std::to_string(given) + " ranks for shape " + meshfuse::toText(shape),
               "pass " + std::to_string(checkedCount(shape)) + " ranks or another shape"});
  }
  checkDistinct(ranks);
  DeviceMesh mesh;
  mesh.strides_ = findStrides(ranks, shape);
  mesh.shape_ = std::move(shape);
  if (mesh.strides_.empty()) {
    mesh.ranks_ = std::move(ranks);
  } else {
    mesh.base_ = ranks.front();
  }
  return mesh;
}

int64_t DeviceMesh::size() const noexcept {
  int64_t count = shape_.empty() ? 0 : 1;
  for (int64_t extent : shape_) {
    count *= extent;
  }
  return count;
}

int64_t DeviceMesh::size(int64_t axis) const {
  if (axis < 0 || axis >= ndim()) {
    throwUser(ErrorKind::Index, {"DeviceMesh.size", "the axis must be one of the mesh's",
                                 "got axis " + std::to_string(axis) + " for " +
                                     std::to_string(ndim()) + " axes of " + toText(),
                                 "count axes from 0, outermost first"});
  }
  return shape_[static_cast<size_t>(axis)];
}

int64_t DeviceMesh::size(ParallelType type) const {
  int64_t axis = axisOf(type);
  if (axis < 0) {
    throwUser(ErrorKind::Value,
              {"DeviceMesh.size", "the mesh must have an axis for the parallel type",
               std::string("got ").append(nameOf(type)) + " for " + std::to_string(ndim()) +
                   " axes of " + toText(),
               "use a mesh with more axes; the last axis is deviceIdx.x"});
  }
  return shape_[static_cast<size_t>(axis)];
}

int64_t DeviceMesh::axisOf(ParallelType type) const noexcept {
  int64_t axis = ndim() - 1 - static_cast<int64_t>(type);
  return axis < 0 ? -1 : axis;
}

int64_t DeviceMesh::rankAt(std::span<const int64_t> coordinate) const {
  internalCheck(coordinate.size() == shape_.size(),
                "a mesh coordinate has one entry for each axis");
  int64_t linear = 0;
  for (size_t axis = 0; axis < shape_.size(); ++axis) {
    internalCheck(coordinate[axis] >= 0 && coordinate[axis] < shape_[axis],
                  "a mesh coordinate lies inside the mesh");
    linear = linear * shape_[axis] + coordinate[axis];
  }
  return rankAtLinear(linear);
}

int64_t DeviceMesh::rankAtLinear(int64_t linearIndex) const {
  internalCheck(linearIndex >= 0 && linearIndex < size(), "a position lies inside the mesh");
  if (!isRegular()) {
    return ranks_[static_cast<size_t>(linearIndex)];
  }
  int64_t rank = base_;
  for (size_t axis = shape_.size(); axis-- > 0;) {
    rank += linearIndex % shape_[axis] * strides_[axis];
    linearIndex /= shape_[axis];
  }
  return rank;
}

std::vector<int64_t> DeviceMesh::coordinateAtLinear(int64_t linearIndex) const {
  internalCheck(linearIndex >= 0 && linearIndex < size(), "a position lies inside the mesh");
  std::vector<int64_t> coordinate(shape_.size());
  for (size_t axis = shape_.size(); axis-- > 0;) {
    coordinate[axis] = linearIndex % shape_[axis];
    linearIndex /= shape_[axis];
  }
  return coordinate;
}

std::optional<std::vector<int64_t>> DeviceMesh::coordinateOf(int64_t rank) const {
  int64_t linear = linearIndexOf(rank);
  if (linear < 0) {
    return std::nullopt;
  }
  return coordinateAtLinear(linear);
}

int64_t DeviceMesh::linearIndexOf(int64_t rank) const noexcept {
  if (shape_.empty()) {
    return -1;
  }
  if (isRegular()) {
    return regularLinearIndexOf(rank);
  }
  auto found = std::find(ranks_.begin(), ranks_.end(), rank);
  return found == ranks_.end() ? -1 : found - ranks_.begin();
}

int64_t DeviceMesh::regularLinearIndexOf(int64_t rank) const noexcept {
  if (rank < base_) {
    return -1;
  }
  int64_t left = rank - base_;
  int64_t linear = 0;
  int64_t below = std::numeric_limits<int64_t>::max();
  for (int64_t axis = axisOfNextStride(strides_, below); axis >= 0;
       axis = axisOfNextStride(strides_, below)) {
    size_t at = static_cast<size_t>(axis);
    below = strides_[at];
    int64_t coordinate = left / below;
    if (coordinate >= shape_[at]) {
      return -1;
    }
    left -= coordinate * below;
    int64_t position = 1;
    for (size_t inner = at + 1; inner < shape_.size(); ++inner) {
      position *= shape_[inner];
    }
    linear += coordinate * position;
  }
  return left == 0 ? linear : -1;
}

std::vector<int64_t> DeviceMesh::slice(int64_t rank, int64_t axis) const {
  int64_t extent = size(axis);
  std::optional<std::vector<int64_t>> coordinate = coordinateOf(rank);
  if (!coordinate) {
    throwUser(ErrorKind::Value, {"DeviceMesh.slice", "the rank must be in the mesh",
                                 "got rank " + std::to_string(rank) + " for " + toText(),
                                 "ask for the slice of one of its ranks"});
  }
  std::vector<int64_t> ranks;
  ranks.reserve(static_cast<size_t>(extent));
  for (int64_t i = 0; i < extent; ++i) {
    (*coordinate)[static_cast<size_t>(axis)] = i;
    ranks.push_back(rankAt(*coordinate));
  }
  return ranks;
}

std::vector<int64_t> DeviceMesh::slice(int64_t rank, ParallelType type) const {
  size(type);  // refuses a type that the mesh lacks
  return slice(rank, axisOf(type));
}

std::string DeviceMesh::toText() const {
  if (isRegular() && size() > kMostRanksPrinted) {
    return "DeviceMesh{" + shapeText(shape_) + " ranks from " + std::to_string(base_) +
           ", strides " + meshfuse::toText(strides_) + "}";
  }
  std::string out = "DeviceMesh{";
  if (!shape_.empty()) {
    appendRanks(*this, 0, 0, size(), out);
  }
  return out + "}";
}

uint64_t DeviceMesh::hash() const noexcept {
  uint64_t seed = hashMix(hashInts(0, shape_), static_cast<uint64_t>(base_));
  return hashInts(hashInts(seed, strides_), ranks_);
}

}  // namespace meshfuse
