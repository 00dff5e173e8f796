// Built kernels on disk, shared by processes that may start, write and die at any moment.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "meshfuse/runtime/content_hash.h"

namespace meshfuse {

/// Where the cache is and how much it may hold.
struct DiskCacheSettings {
  /// Empty: no cache.
  std::string directory;
  uint64_t capacity = uint64_t{1} << 30;
};

/// `$MESHFUSE_CACHE_DIR` (empty: no cache), else `$XDG_CACHE_HOME/meshfuse`, else `~/.cache/meshfuse`; `$MESHFUSE_CACHE_BYTES`.
DiskCacheSettings diskCacheSettings();

/// The lock of one entry over all processes. It goes with its holder, however that one ends.
class DiskCacheLock {
 public:
  DiskCacheLock() = default;
  /// Waits for the lock of `path` at most `limit`; afterwards goes on without it.
  DiskCacheLock(std::string path, std::chrono::milliseconds limit);
  DiskCacheLock(const DiskCacheLock&) = delete;
  DiskCacheLock& operator=(const DiskCacheLock&) = delete;
  ~DiskCacheLock();
  bool isHeld() const noexcept { return file_ >= 0; }

 private:
  std::string path_;
  int file_ = -1;
};

/// A directory of shared objects by content. Each file ends with the whole key it was built from and a checksum, both
/// compared before it is given out. Nothing here throws for what the file system does: an entry that cannot be read is not
/// there, one that cannot be written is not kept.
class DiskCache {
 public:
  explicit DiskCache(DiskCacheSettings settings);

  /// False where the cache is switched off or its directory is refused; `problem` then says why (empty: switched off).
  bool isOn() const noexcept { return isOn_; }
  const std::string& problem() const noexcept { return problem_; }
  const std::string& directory() const noexcept { return settings_.directory; }

  /// The path of the whole and unchanged entry of `key`, whose name is `name`; none where there is none.
  std::optional<std::string> find(const ContentHash& name, std::string_view key) const;
  /// Writes an entry and returns its path; none where that is not possible. Evicts what was used least recently.
  std::optional<std::string> store(const ContentHash& name, std::string_view key,
                                   std::string_view library);
  /// The path of the entry's lock.
  std::string lockPath(const ContentHash& name) const;
  /// Where the text of a kernel is kept that the compiler refused.
  std::string refusedTextPath(const ContentHash& name) const;
  /// Removes stale temporary files; where the capacity does not hold `room` bytes more, the entries used least recently go until
  /// 7/8 of it would.
  void sweep(uint64_t room) const;

 private:
  std::string pathOf(const ContentHash& name) const;

  DiskCacheSettings settings_;
  std::string problem_;
  bool isOn_ = false;
  /// What this process may still write before it sweeps; the first write sweeps.
  std::atomic<int64_t> unsweptAllowance_{0};
};

}  // namespace meshfuse
