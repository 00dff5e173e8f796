// An n-dimensional arrangement of ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "meshfuse/mesh/parallel_type.h"

namespace meshfuse {

/// A dense n-d array of distinct rank numbers. Regular meshes (a base rank and one positive stride
/// an axis, as slices, transposes and row-major blocks of 0 … n-1 have) are stored as just that, so
/// a mesh of 65,536 ranks costs a few words; others keep their list. Equal by ranks and shape,
/// however made.
class DeviceMesh {
 public:
  /// No axes and no ranks: a place to assign a mesh to.
  DeviceMesh() = default;
  /// Ranks 0 … product(shape)-1 in row-major order. Throws UserError(Value) for no axes or an
  /// extent below 1.
  static DeviceMesh fromShape(std::vector<int64_t> shape);
  /// 1-d mesh of ranks 0 … count-1.
  static DeviceMesh fromCount(int64_t count);
  /// `ranks` in row-major order. Throws UserError(Value) for duplicates, negative ranks, an empty
  /// mesh, or a count that does not match the shape. An empty `shape` makes a 1-d mesh.
  static DeviceMesh fromRanks(std::vector<int64_t> ranks, std::vector<int64_t> shape = {});

  int64_t ndim() const noexcept { return static_cast<int64_t>(shape_.size()); }
  std::span<const int64_t> shape() const noexcept { return shape_; }
  int64_t size() const noexcept;
  /// Extent of an axis; throws UserError(Index) if there is no such axis.
  int64_t size(int64_t axis) const;
  /// Extent along a parallel type; throws UserError(Value) if the mesh lacks it.
  int64_t size(ParallelType type) const;
  bool has(ParallelType type) const noexcept { return axisOf(type) >= 0; }
  /// The axis of a parallel type, -1 if the mesh lacks it.
  int64_t axisOf(ParallelType type) const noexcept;
  /// Whether the mesh is stored as base and strides rather than as a list of ranks.
  bool isRegular() const noexcept { return ranks_.empty(); }

  /// The rank at an n-d coordinate, which must lie in the mesh.
  int64_t rankAt(std::span<const int64_t> coordinate) const;
  /// The rank at a row-major position, which must lie in the mesh.
  int64_t rankAtLinear(int64_t linearIndex) const;
  /// The n-d coordinate at a row-major position, which must lie in the mesh.
  std::vector<int64_t> coordinateAtLinear(int64_t linearIndex) const;
  /// n-d coordinate of a rank; nullopt if the rank is not in the mesh.
  std::optional<std::vector<int64_t>> coordinateOf(int64_t rank) const;
  /// Row-major position of a rank, -1 if absent.
  int64_t linearIndexOf(int64_t rank) const noexcept;
  /// The ranks that share all of `rank`'s coordinates but the one on `axis`, `rank` among them.
  /// Throws UserError(Value) for a rank outside the mesh, UserError(Index) for an axis it lacks.
  std::vector<int64_t> slice(int64_t rank, int64_t axis) const;
  /// The slice along a parallel type; throws UserError(Value) if the mesh lacks it.
  std::vector<int64_t> slice(int64_t rank, ParallelType type) const;

  /// `DeviceMesh{0 1 2}`, `DeviceMesh{(0 1) (2 3)}`; a regular mesh of more than 64 ranks prints
  /// `DeviceMesh{256x256 ranks from 0, strides [256, 1]}`.
  std::string toText() const;
  uint64_t hash() const noexcept;
  friend bool operator==(const DeviceMesh& a, const DeviceMesh& b) noexcept = default;

 private:
  int64_t regularLinearIndexOf(int64_t rank) const noexcept;

  // One representation for one mesh: regular whenever possible, stride 0 for axes of extent 1. So
  // equality of the members is equality of the meshes.
  std::vector<int64_t> shape_;
  int64_t base_ = 0;
  std::vector<int64_t> strides_;  // regular meshes
  std::vector<int64_t> ranks_;    // irregular meshes; empty when regular
};

}  // namespace meshfuse
