// Small numbers for sets of arguments that are alike: one compiled program fits all arguments with one id.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

#include "meshfuse/values/kernel_argument_holder.h"

namespace meshfuse {

/// Gives equal ids to argument lists that agree in kind and, for tensors, in element type, sizes, strides, alignment (up to 16
/// bytes), device and sharding. Numbers count by their kind only, or by value at the positions asked for. The least recently
/// used id is evicted when there are more than `capacity`; ids are never used again. Not synchronized.
class InputIds {
 public:
  struct Lookup {
    size_t id = 0;
    std::optional<size_t> evicted;  // the id that had to go to make room
  };

  explicit InputIds(size_t capacity = 100);

  /// The id of these arguments, a new one if they are not known. `byValue` are positions of numbers whose value counts; a position
  /// outside the arguments throws UserError(Index).
  Lookup lookup(const KernelArgumentHolder& arguments, std::span<const size_t> byValue = {});

  size_t size() const noexcept { return entries_.size(); }

 private:
  struct Entry {
    size_t id;
    std::list<const std::string*>::iterator use;
  };

  size_t capacity_;
  size_t nextId_ = 0;
  std::string key_;                     // reused between lookups
  std::list<const std::string*> uses_;  // most recent first
  std::unordered_map<std::string, Entry> entries_;
};

}  // namespace meshfuse
