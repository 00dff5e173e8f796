#include "meshfuse/runtime/disk_cache.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "meshfuse/runtime/byte_option.h"
#include "meshfuse/runtime/file_bytes.h"

namespace meshfuse {

namespace {

constexpr std::string_view kEntryEnding = ".so";
constexpr std::string_view kTemporaryEnding = ".tmp";
constexpr std::string_view kLockEnding = ".lock";
/// Temporary files and locks of this age have no living owner: compilers are stopped long before.
constexpr time_t kStaleSeconds = 3600;

/// Ends each entry. The loader of shared objects does not look behind what the headers name.
struct Trailer {
  uint64_t librarySize;
  uint64_t keySize;
  ContentHash checksum;  // of everything before the trailer
  std::array<char, 8> mark;
};
constexpr std::array<char, 8> kMark = {'m', 'f', 'k', 'e', 'r', 'n', 'l', '1'};

std::string environmentVariable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// Makes a directory with those above it, for this user alone. What fails shows when it is looked at.
void makeDirectory(const std::string& path) {
  for (size_t end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1)) {
    ::mkdir(path.substr(0, end).c_str(), 0700);
  }
  ::mkdir(path.c_str(), 0700);
}

/// Why a directory can't hold code that this process would run; empty where it can.
std::string refusalOf(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) {
    return "it cannot be made (" + std::generic_category().message(errno) + ")";
  }
  if (!S_ISDIR(status.st_mode)) {
    return "it is not a directory";
  }
  if (status.st_uid != ::geteuid()) {
    return "it belongs to user " + std::to_string(status.st_uid) + ", not to user " +
           std::to_string(::geteuid());
  }
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return "users other than its owner can write to it";
  }
  struct statvfs system{};
  if (::statvfs(path.c_str(), &system) == 0 && (system.f_flag & ST_NOEXEC) != 0) {
    return "its file system does not run programs (mounted noexec)";
  }
  return "";
}

/// The key that a whole entry was built from; empty where it is torn or something else.
std::string_view keyOf(std::string_view entry) {
  Trailer trailer{};
  if (entry.size() < sizeof(trailer)) {
    return {};
  }
  const std::string_view body = entry.substr(0, entry.size() - sizeof(trailer));
  std::memcpy(&trailer, entry.data() + body.size(), sizeof(trailer));
  if (trailer.mark != kMark || trailer.keySize > body.size() ||
      trailer.librarySize != body.size() - trailer.keySize ||
      trailer.checksum != contentHash(body)) {
    return {};
  }
  return body.substr(trailer.librarySize);
}

/// Whether a file's name starts as the names of entries do.
bool isOurs(std::string_view name) {
  constexpr size_t kDigits = 32;
  return name.size() > kDigits && name[kDigits] == '.' &&
         name.substr(0, kDigits).find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

DiskCacheSettings diskCacheSettings() {
  DiskCacheSettings settings;
  if (const char* asked = std::getenv("MESHFUSE_CACHE_DIR"); asked != nullptr) {
    settings.directory = asked;
  } else if (const std::string base = environmentVariable("XDG_CACHE_HOME"); !base.empty()) {
    settings.directory = base + "/meshfuse";
  } else if (const std::string home = environmentVariable("HOME"); !home.empty()) {
    settings.directory = home + "/.cache/meshfuse";
  }
  settings.capacity = byteOption("MESHFUSE_CACHE_BYTES", settings.capacity);
  return settings;
}

DiskCacheLock::DiskCacheLock(std::string path, std::chrono::milliseconds limit)
    : path_(std::move(path)) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point deadline = Clock::now() + limit;
  for (std::chrono::milliseconds pause(1);;
       pause = std::min(pause * 2, std::chrono::milliseconds(16))) {
    const int file = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) {
      return;
    }
    if (::flock(file, LOCK_EX | LOCK_NB) == 0) {
      struct stat locked{};
      struct stat named{};
      // The one before removes the file when it is done: a lock on a file without a name excludes nobody.
      if (::fstat(file, &locked) == 0 && ::stat(path_.c_str(), &named) == 0 &&
          locked.st_ino == named.st_ino && locked.st_dev == named.st_dev) {
        file_ = file;
        return;
      }
      ::close(file);
      continue;
    }
    const bool isTaken = errno == EWOULDBLOCK || errno == EINTR;
    ::close(file);
    if (!isTaken || Clock::now() >= deadline) {
      return;
    }
    std::this_thread::sleep_for(pause);
  }
}

DiskCacheLock::~DiskCacheLock() {
  if (isHeld()) {
    ::unlink(path_.c_str());
    // By name: a child forked meanwhile has the file open as well.
    ::flock(file_, LOCK_UN);
    ::close(file_);
  }
}

DiskCache::DiskCache(DiskCacheSettings settings) : settings_(std::move(settings)) {
  if (settings_.directory.empty() || settings_.capacity == 0) {
    return;
  }
  makeDirectory(settings_.directory);
  const std::string refusal = refusalOf(settings_.directory);
  isOn_ = refusal.empty();
  if (!isOn_) {
    problem_ = "the directory '" + settings_.directory +
               "' does not serve as the cache of kernels: " + refusal +
               "; kernels are built anew in every process until MESHFUSE_CACHE_DIR names a "
               "directory that belongs to you, has mode 700 and can run programs";
  }
}

std::string DiskCache::pathOf(const ContentHash& name) const {
  return settings_.directory + "/" + name.hex() + std::string(kEntryEnding);
}

std::string DiskCache::lockPath(const ContentHash& name) const {
  return settings_.directory + "/" + name.hex() + std::string(kLockEnding);
}

std::string DiskCache::refusedTextPath(const ContentHash& name) const {
  return settings_.directory + "/" + name.hex() + ".refused.cpp";
}

std::optional<std::string> DiskCache::find(const ContentHash& name, std::string_view key) const {
  if (!isOn_) {
    return std::nullopt;
  }
  std::string path = pathOf(name);
  const OpenFile file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status{};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      status.st_uid != ::geteuid() || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return std::nullopt;
  }
  const std::optional<std::string> entry = readAll(file.get());
  if (!entry || keyOf(*entry) != key) {
    return std::nullopt;
  }
  // Set by hand: most file systems do not note each reading.
  const std::array<timespec, 2> times = {timespec{0, UTIME_NOW}, timespec{0, UTIME_OMIT}};
  ::futimens(file.get(), times.data());
  return path;
}

std::optional<std::string> DiskCache::store(const ContentHash& name, std::string_view key,
                                            std::string_view library) {
  std::string entry;
  entry.reserve(library.size() + key.size() + sizeof(Trailer));
  entry.append(library).append(key);
  const Trailer trailer{library.size(), key.size(), contentHash(entry), kMark};
  entry.append(reinterpret_cast<const char*>(&trailer), sizeof(trailer));
  if (!isOn_ || entry.size() > settings_.capacity) {
    return std::nullopt;
  }
  // Before the write, so that an entry just written is not evicted.
  if (unsweptAllowance_.fetch_sub(static_cast<int64_t>(entry.size())) <
      static_cast<int64_t>(entry.size())) {
    unsweptAllowance_ = static_cast<int64_t>(settings_.capacity / 64);
    sweep(entry.size());
  }
  const std::string pattern =
      settings_.directory + "/" + name.hex() + ".XXXXXX" + std::string(kTemporaryEnding);
  std::string temporary;
  const auto open = [&] {
    temporary = pattern;
    return ::mkostemps(temporary.data(), static_cast<int>(kTemporaryEnding.size()), O_CLOEXEC);
  };
  int descriptor = open();
  if (descriptor < 0 && errno == ENOENT) {
    // Somebody has emptied the caches of the system.
    makeDirectory(settings_.directory);
    descriptor = refusalOf(settings_.directory).empty() ? open() : -1;
  }
  OpenFile file(descriptor);
  if (!file) {
    return std::nullopt;
  }
  const bool isWritten = writeAll(file.get(), entry);
  std::string path = pathOf(name);
  if (!file.close() || !isWritten || ::rename(temporary.c_str(), path.c_str()) != 0) {
    ::unlink(temporary.c_str());
    return std::nullopt;
  }
  return path;
}

void DiskCache::sweep(uint64_t room) const {
  struct Entry {
    timespec used;
    uint64_t bytes;
    std::string path;
  };
  std::vector<Entry> entries;
  uint64_t total = 0;
  std::error_code error;
  const time_t now = ::time(nullptr);
  for (std::filesystem::directory_iterator file(settings_.directory, error), end;
       !error && file != end; file.increment(error)) {
    const std::string& path = file->path().native();
    struct stat status{};
    // A user may have named a directory that holds other files as well.
    if (!isOurs(file->path().filename().native())) {
      continue;
    }
    if (::lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) {
      continue;
    }
    if (path.ends_with(kTemporaryEnding) || path.ends_with(kLockEnding)) {
      if (now - status.st_mtim.tv_sec > kStaleSeconds) {
        ::unlink(path.c_str());
      }
      continue;
    }
    entries.push_back({status.st_atim, static_cast<uint64_t>(status.st_size), path});
    total += entries.back().bytes;
  }
  if (total + room <= settings_.capacity) {
    return;
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec);
  });
  for (const Entry& entry : entries) {
    if (total + room <= settings_.capacity / 8 * 7) {
      return;
    }
    ::unlink(entry.path.c_str());
    total -= entry.bytes;
  }
}

}  // namespace meshfuse
