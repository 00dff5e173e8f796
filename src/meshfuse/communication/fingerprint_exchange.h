// The quick half of an agreement: the ranks of a group compare fingerprints through the group itself.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "meshfuse/communication/c10d_group.h"

namespace meshfuse {

/// What a rank has learned so far, over all axes.
struct FingerprintsSeen {
  bool allEqual = true;
  /// The backend's error text, once it could not be exchanged; empty while all went well.
  std::string fault;

  bool isSettled() const noexcept { return allEqual && fault.empty(); }
};

/// Whether the group can exchange host memory: one message of 16 bytes from each rank to each, about 100 microseconds on
/// one machine, against milliseconds through a store.
bool canExchangeFingerprints(const LiveGroup& group);

/// Tell the group's members one's fingerprint and whether one knows of trouble already, and hear theirs. Each member comes to
/// know of the trouble that any of them knows. Never throws for what ranks do: a rank that does not come is a fault.
void exchangeFingerprints(const LiveGroup& group, uint64_t fingerprint,
                          std::chrono::milliseconds deadline, FingerprintsSeen& seen);

}  // namespace meshfuse
