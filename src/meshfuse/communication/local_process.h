// What a process tells its peers about itself, and what can be seen of a peer on the same machine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace meshfuse {

/// Enough to find a process again, and to know it from a later one with the same number.
struct ProcessIdentity {
  int64_t rank = -1;     // global rank
  std::string hostName;  // for people
  std::string host;      // equal exactly for processes that see each other's process numbers
  int64_t pid = 0;
  uint64_t startTime = 0;       // clock ticks since boot
  std::vector<uint16_t> ports;  // local TCP ports, ascending

  bool operator==(const ProcessIdentity&) const = default;
};

/// This process now, with the ports of all its TCP sockets.
ProcessIdentity describeThisProcess(int64_t rank);

std::string encode(const ProcessIdentity& identity);
/// Throws InternalError for text that encode did not make.
ProcessIdentity decodeProcessIdentity(std::string_view text);

enum class ProcessStatus : uint8_t { Running, Stopped, Gone, Elsewhere };

/// `Elsewhere` when the process is on another host (or in another process namespace) than `self`.
/// A process that has ended and waits to be reaped is gone.
ProcessStatus statusOf(const ProcessIdentity& process, const ProcessIdentity& self);

/// `pid 123 on host a`
std::string toText(const ProcessIdentity& identity);

/// Ports that stand in an error text as `[address]:port`, in order.
std::vector<uint16_t> portsIn(std::string_view text);

/// Whether the peer has closed a TCP connection of this process to `remotePort`. False when there is no such connection.
bool peerHungUp(uint16_t remotePort);

}  // namespace meshfuse
