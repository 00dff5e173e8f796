// What sizes of one definition have in common: the groups they are divided into, and kernels.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "meshfuse/runtime/kernel_group.h"

namespace meshfuse {

/// A group of a class: a kernel's template, or a call or resharding.
struct ClassGroup {
  GroupKind kind = GroupKind::Call;
  ExprId expr{};          // calls and reshardings
  KernelTemplate kernel;  // kernels
};

/// Sizes of a definition that are divided and compiled alike: those in which the same dimensions are 1, equal to one another,
/// broadcast, sharded, and products of the same factors in reshapes, and in which all inputs are row-major or not all are.
struct ProgramClass {
  std::vector<uint64_t> key;
  std::vector<ClassGroup> groups;
  /// Held while the class's kernels are bound: variants are added then.
  std::mutex mutex;
};

/// The key of a fusion with constant extents, among those of one definition.
std::vector<uint64_t> classKeyOf(const Fusion& concrete);

/// The classes of one definition. Thread-safe.
class ProgramClasses {
 public:
  /// The class with that key, made without groups where it is new.
  std::shared_ptr<ProgramClass> get(const std::vector<uint64_t>& key);

 private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<ProgramClass>> classes_;
};

}  // namespace meshfuse
