#include "meshfuse/runtime/block_memory.h"

#include <bit>
#include <cstdint>
#include <cstdlib>

#include <c10/core/alignment.h>
#include <sys/mman.h>
#include <unistd.h>

namespace meshfuse {

namespace {

constexpr size_t kSmallestPower = 16;
constexpr size_t kStepsPerPower = 8;

/// The largest power of two below a number.
size_t powerBelow(size_t bytes) noexcept {
  return static_cast<size_t>(std::bit_width(bytes - 1)) - 1;
}

/// The note of an aligned block stands in a page of its own.
size_t notePage() noexcept { return static_cast<size_t>(::sysconf(_SC_PAGESIZE)); }

/// A part of the address space at a multiple of kHugePage, and one page before it.
void* mapAligned(size_t bytes) noexcept {
  const size_t page = notePage();
  const size_t mapped = page + bytes + kHugePage;
  void* start = ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) {
    return nullptr;
  }
  char* first = static_cast<char*>(start);
  const size_t before =
      (kHugePage - (reinterpret_cast<uintptr_t>(first) + page) % kHugePage) % kHugePage;
  char* aligned = first + before + page;
  if (before != 0) {
    ::munmap(first, before);
  }
  ::munmap(aligned + bytes, kHugePage - before);
  // Refused where the kernel has no huge pages, and then small ones do.
  ::madvise(aligned, bytes, MADV_HUGEPAGE);
  return aligned;
}

}  // namespace

size_t blockBytes(size_t bytes) noexcept {
  const size_t step = (size_t{1} << powerBelow(bytes)) / kStepsPerPower;
  return (bytes + step - 1) / step * step;
}

size_t blockClass(size_t blockBytes) noexcept {
  const size_t power = powerBelow(blockBytes);
  const size_t steps =
      (blockBytes - (size_t{1} << power)) / ((size_t{1} << power) / kStepsPerPower);
  return (power - kSmallestPower) * kStepsPerPower + steps - 1;
}

void* allocateBlock(size_t bytes) noexcept {
  if (bytes >= kHugePage) {
    return mapAligned(bytes);
  }
  static_assert((size_t{1} << kSmallestPower) / kStepsPerPower % c10::gAlignment == 0);
  static_assert(kBlockNoteBytes % c10::gAlignment == 0);
  void* note = std::aligned_alloc(c10::gAlignment, kBlockNoteBytes + bytes);
  return note != nullptr ? static_cast<char*>(note) + kBlockNoteBytes : nullptr;
}

void releaseBlock(void* data, size_t bytes) noexcept {
  if (bytes >= kHugePage) {
    ::munmap(static_cast<char*>(data) - notePage(), notePage() + bytes);
  } else {
    std::free(static_cast<char*>(data) - kBlockNoteBytes);
  }
}

}  // namespace meshfuse
