#include "meshfuse/runtime/host_costs.h"

#include <charconv>
#include <optional>
#include <string>

#include <ATen/Parallel.h>
#include <unistd.h>

#include "meshfuse/runtime/file_bytes.h"

namespace meshfuse {

namespace {

/// The number that a file begins with, 0 where there is none.
int64_t numberIn(const std::string& path) {
  const std::string text = readFile(path).value_or("");
  int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// Bytes of a cache of the first processor, from Linux; nullopt where it says nothing.
std::optional<int64_t> cacheBytes(int level) {
  for (int index = 0; index < 8; ++index) {
    const std::string folder =
        "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    if (numberIn(folder + "level") == level) {
      const int64_t kilobytes = numberIn(folder + "size");  // as in "32768K"
      return kilobytes > 0 ? std::optional(kilobytes * 1024) : std::nullopt;
    }
  }
  return std::nullopt;
}

/// The C library counts the last-level caches of a whole socket as one on some processors, so that it is asked second.
int64_t cacheBytes(int level, int name, int64_t otherwise) {
  const long known = sysconf(name);
  return cacheBytes(level).value_or(known > 0 ? known : otherwise);
}

CostModel costsOfCaches() {
  CostModel costs;
  costs.level2Bytes = cacheBytes(2, _SC_LEVEL2_CACHE_SIZE, costs.level2Bytes);
  costs.lastLevelBytes = cacheBytes(3, _SC_LEVEL3_CACHE_SIZE, costs.lastLevelBytes);
  return costs;
}

}  // namespace

CostModel costsOfHost() {
  static const CostModel ofCaches = costsOfCaches();
  CostModel costs = ofCaches;
  costs.threads = at::get_num_threads();
  return costs;
}

}  // namespace meshfuse
