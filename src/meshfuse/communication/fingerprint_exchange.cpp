#include "meshfuse/communication/fingerprint_exchange.h"

#include <array>
#include <cstring>
#include <exception>

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

namespace meshfuse {
namespace {

using Message = std::array<uint64_t, 2>;  // the fingerprint; whether its sender knows of trouble

}  // namespace

bool canExchangeFingerprints(const LiveGroup& group) { return group.hasBackend(at::kCPU); }

void exchangeFingerprints(const LiveGroup& group, uint64_t fingerprint,
                          std::chrono::milliseconds deadline, FingerprintsSeen& seen) {
  const Message own{fingerprint, seen.isSettled() ? 0U : 1U};
  const int64_t size = group.size();
  const auto bytes = static_cast<int64_t>(sizeof(Message));
  const at::Tensor in = at::empty({bytes * size}, at::kByte);
  const at::Tensor out = at::empty_like(in);
  for (int64_t peer = 0; peer < size; ++peer) {
    std::memcpy(static_cast<char*>(in.mutable_data_ptr()) + peer * bytes, own.data(), sizeof own);
  }
  try {
    // An all-gather of Gloo's goes round a ring; here all messages are under way at once.
    group.allToAll(out, in, deadline);
  } catch (const std::exception& error) {
    seen.fault = error.what();
    return;
  }
  for (int64_t peer = 0; peer < size; ++peer) {
    Message message;
    std::memcpy(message.data(), static_cast<const char*>(out.const_data_ptr()) + peer * bytes,
                sizeof message);
    seen.allEqual = seen.allEqual && message[0] == fingerprint && message[1] == 0;
  }
}

}  // namespace meshfuse
