// Stores that go to memory without filling the caches, for results that are larger than these.
#pragma once

#include "device/types.h"

namespace device {

// piece: streamOut
#if defined(__x86_64__) && !defined(__CUDACC__)
#if defined(__AVX512F__)
typedef long long StreamVector __attribute__((vector_size(64)));
#elif defined(__AVX__)
typedef long long StreamVector __attribute__((vector_size(32)));
#else
typedef long long StreamVector __attribute__((vector_size(16)));
#endif
MESHFUSE_DEVICE void streamVector(char* to, const char* from) {
  StreamVector vector;
  __builtin_memcpy(&vector, from, sizeof vector);
#if defined(__clang__)
  __builtin_nontemporal_store(vector, (StreamVector*)to);
#elif defined(__AVX512F__)
  __builtin_ia32_movntdq512((StreamVector*)to, vector);
#elif defined(__AVX__)
  __builtin_ia32_movntdq256((StreamVector*)to, vector);
#else
  __builtin_ia32_movntdq((StreamVector*)to, vector);
#endif
}
#endif
/// Copies `bytes` from a buffer that the first-level cache holds; the two do not overlap. A cache line that the copy fills is
/// written at once and not read first. `streamFence` comes after the last copy of a thread.
static inline void streamOut(void* to, const void* from, int64 bytes) {
  char* target = (char*)to;
  const char* source = (const char*)from;
#if defined(__x86_64__) && !defined(__CUDACC__)
  const int64 before = int64(-uint64(target) & 63u);
  const int64 head = before < bytes ? before : bytes;
  __builtin_memcpy(target, source, uint64(head));
  int64 i = head;
  for (; i + 64 <= bytes; i += 64) {
    for (int64 part = 0; part < 64; part += int64(sizeof(StreamVector))) {
      streamVector(target + i + part, source + i + part);
    }
  }
  __builtin_memcpy(target + i, source + i, uint64(bytes - i));
#else
  __builtin_memcpy(target, source, uint64(bytes));
#endif
}

// piece: segmentEnd
/// Where a segment of positions that begins at `cut` with `position` ends at the latest: where the positions pass 0 or `size`.
MESHFUSE_DEVICE int64 segmentEnd(int64 position, int64 size, int64 cut, int64 stop) {
  const int64 next = position < 0      ? cut - position
                     : position < size ? cut + (size - position)
                                       : stop;
  return next < stop ? next : stop;
}

// piece: prefetch
/// Asks for `bytes` from `from` on to come into the second-level cache. Addresses beyond what is mapped do no harm.
static inline void prefetch(const void* from, int64 bytes) {
  for (int64 i = 0; i < bytes; i += 64) {
    __builtin_prefetch((const char*)from + i, 0, 2);
  }
}

// piece: streamFence
/// Makes what `streamOut` wrote visible to other threads before what follows.
static inline void streamFence() {
#if defined(__x86_64__) && !defined(__CUDACC__)
  __builtin_ia32_sfence();
#endif
}

}  // namespace device
