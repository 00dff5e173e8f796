#include "meshfuse/runtime/physical_memory.h"

#include <algorithm>
#include <fstream>

#include <unistd.h>

namespace meshfuse {

uint64_t physicalMemory() {
  uint64_t bytes = static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                   static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  // Where a container mounts the limits of its own group, in the second and the first version of control groups. Without a limit
  // there is no file, or a word, or a number larger than any memory.
  for (const char* path :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    uint64_t limit = 0;
    if (std::ifstream(path) >> limit) {
      bytes = std::min(bytes, limit);
    }
  }
  return bytes;
}

}  // namespace meshfuse
