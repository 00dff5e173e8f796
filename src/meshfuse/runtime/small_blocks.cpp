#include "meshfuse/runtime/small_blocks.h"

#include <array>
#include <bit>
#include <cstdint>
#include <new>

#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/alloc_cpu.h>

#include "meshfuse/runtime/recycling_pool.h"

namespace meshfuse {

namespace {

constexpr size_t kSmallestBits = 6;  // 64 bytes
constexpr size_t kClasses = static_cast<size_t>(std::bit_width(kLargestSmallBlock)) - kSmallestBits;
constexpr size_t kKeptPerClass = 8;

/// Before each block; as long as the alignment that torch gives tensors.
struct alignas(c10::gAlignment) Header {
  uint32_t sizeClass;
  bool isReported;  // to a profiler, which asks for the release as well
};

/// Plain data, so that reading it needs no initialization check and outlives every destructor of the thread.
struct Kept {
  std::array<std::array<Header*, kKeptPerClass>, kClasses> blocks;
  std::array<uint8_t, kClasses> counts;
  enum class State : uint8_t { Fresh, Open, Closed } state;
};
constinit thread_local Kept kept{};

/// Frees what the thread has kept when it ends; blocks freed later go straight back.
struct Closer {
  ~Closer() {
    releaseSmallBlocks();
    kept.state = Kept::State::Closed;
  }
  void arm() noexcept { kept.state = Kept::State::Open; }
};
thread_local Closer closer;

size_t bytesOfClass(size_t sizeClass) noexcept { return size_t{1} << (sizeClass + kSmallestBits); }

size_t classOf(size_t bytes) noexcept {
  return bytes <= bytesOfClass(0) ? 0
                                  : static_cast<size_t>(std::bit_width(bytes - 1)) - kSmallestBits;
}

/// Whether torch's reporter does anything: asking it takes 10 ns of a call's 500.
bool isWatched() { return FLAGS_caffe2_report_cpu_memory_usage || c10::memoryProfilingEnabled(); }

void freeBlock(void* data) noexcept {
  Header* header = static_cast<Header*>(data) - 1;
  if (header->isReported) [[unlikely]] {
    c10::profiledCPUMemoryReporter().Delete(data);
  }
  Kept& own = kept;
  const size_t sizeClass = header->sizeClass;
  if (own.state == Kept::State::Fresh) [[unlikely]] {
    closer.arm();
  }
  if (own.state == Kept::State::Open && own.counts[sizeClass] < kKeptPerClass) {
    own.blocks[sizeClass][own.counts[sizeClass]++] = header;
  } else {
    c10::free_cpu(header);
  }
}

class SmallBlockAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    if (bytes > kLargestSmallBlock) {
      return recyclingPool().allocate(bytes);
    }
    c10::Allocator* torchs = c10::GetCPUAllocator();
    if (bytes == 0 || torchs != c10::GetDefaultCPUAllocator()) {
      return torchs->allocate(bytes);
    }
    const size_t sizeClass = classOf(bytes);
    Kept& own = kept;
    Header* header = own.counts[sizeClass] != 0
                         ? own.blocks[sizeClass][--own.counts[sizeClass]]
                         : new (c10::alloc_cpu(sizeof(Header) + bytesOfClass(sizeClass)))
                               Header{static_cast<uint32_t>(sizeClass), false};
    void* data = header + 1;
    header->isReported = isWatched();
    if (header->isReported) [[unlikely]] {
      c10::profiledCPUMemoryReporter().New(data, bytes);
    }
    // The data is its own context, as torch's copies on write ask for.
    return {data, data, &freeBlock, c10::Device(c10::DeviceType::CPU)};
  }

  void copy_data(void* target, const void* source, size_t count) const override {
    default_copy_data(target, source, count);
  }
};

}  // namespace

c10::Allocator& smallBlockAllocator() {
  // Never destroyed: storages may outlive everything.
  static SmallBlockAllocator* const allocator = new SmallBlockAllocator();
  return *allocator;
}

size_t releaseSmallBlocks() noexcept {
  size_t bytes = 0;
  for (size_t sizeClass = 0; sizeClass < kClasses; ++sizeClass) {
    while (kept.counts[sizeClass] != 0) {
      c10::free_cpu(kept.blocks[sizeClass][--kept.counts[sizeClass]]);
      bytes += bytesOfClass(sizeClass);
    }
  }
  return bytes;
}

}  // namespace meshfuse
