// An n-dimensional arrangement of ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "meshfuse/mesh/parallel_type.h"

namespace meshfuse {

/// A dense n-d array of distinct rank numbers. Regular meshes (a base rank and one stride an axis) are stored as just
/// that, so a mesh of 65,536 ranks costs a few words; irregular ones keep their list. Equal by ranks and shape, however made.
class DeviceMesh {
 public:
  DeviceMesh() = default;
  /// Ranks 0 … product(shape)-1 in row-major order.
  static DeviceMesh fromShape(std::vector<int64_t> shape);
  /// 1-d mesh of ranks 0 … count-1.
  static DeviceMesh fromCount(int64_t count);
  /// `ranks` in row-major order. Throws UserError(Value) for duplicates, negative ranks, an empty mesh, or a count that
  /// does not match the shape. An empty `shape` makes a 1-d mesh.
  static DeviceMesh fromRanks(std::vector<int64_t> ranks, std::vector<int64_t> shape = {});

  int64_t ndim() const noexcept { return static_cast<int64_t>(shape_.size()); }
  std::span<const int64_t> shape() const noexcept { return shape_; }
  int64_t size() const noexcept;
  int64_t size(int64_t axis) const;
  /// Extent along a parallel type; throws UserError(Value) if the mesh lacks it.
  int64_t size(ParallelType type) const;
  bool has(ParallelType type) const noexcept { return axisOf(type) >= 0; }
  /// The axis of a parallel type, -1 if the mesh lacks it.
  int64_t axisOf(ParallelType type) const noexcept;

  int64_t rankAt(std::span<const int64_t> coordinate) const;
  int64_t rankAtLinear(int64_t linearIndex) const;
  /// n-d coordinate of a rank; nullopt if the rank is not in the mesh.
  std::optional<std::vector<int64_t>> coordinateOf(int64_t rank) const;
  /// Row-major position of a rank, -1 if absent.
  int64_t linearIndexOf(int64_t rank) const noexcept;
  /// The ranks that share all of `rank`'s coordinates but the one on `axis`; throws UserError(Value) for a rank outside.
  std::vector<int64_t> slice(int64_t rank, int64_t axis) const;
  std::vector<int64_t> slice(int64_t rank, ParallelType type) const;

  /// `DeviceMesh{0 1 2}`, `DeviceMesh{(0 1) (2 3)}`
  std::string toText() const;
  uint64_t hash() const noexcept;
  friend bool operator==(const DeviceMesh& a, const DeviceMesh& b) noexcept;

 private:
  std::vector<int64_t> shape_;
  int64_t base_ = 0;
  std::vector<int64_t> strides_;  // regular meshes
  std::vector<int64_t> ranks_;    // irregular meshes; empty when regular
};

}  // namespace meshfuse
