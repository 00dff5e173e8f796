#include "meshfuse/runtime/content_hash.h"

#include <algorithm>
#include <cstring>

#include "meshfuse/base/hash.h"

namespace meshfuse {

std::string ContentHash::hex() const {
  std::string text;
  for (uint64_t half : {high, low}) {
    for (int shift = 60; shift >= 0; shift -= 4) {
      text += "0123456789abcdef"[(half >> shift) & 15U];
    }
  }
  return text;
}

ContentHash contentHash(std::string_view bytes) noexcept {
  // Two chains that never meet: what collides in one still differs in the other.
  ContentHash hash{hashMix(1, bytes.size()), hashMix(2, bytes.size())};
  for (size_t offset = 0; offset < bytes.size(); offset += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + offset, std::min(sizeof(word), bytes.size() - offset));
    hash.high = hashMix(hash.high, word);
    hash.low = hashMix(hash.low, ~word);
  }
  return hash;
}

}  // namespace meshfuse
