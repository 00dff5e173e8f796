#include "meshfuse/communication/local_process.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>

#include <dirent.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "meshfuse/base/error.h"

namespace meshfuse {
namespace {

std::string firstLineOf(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string linkTarget(const char* path) {
  char target[256];
  const ssize_t length = ::readlink(path, target, sizeof target);
  return length > 0 ? std::string(target, static_cast<size_t>(length)) : std::string();
}

std::string thisHostName() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 && name[0] != '\0' ? name : "unknown-host";
}

struct ProcessStat {
  char state = 0;  // 0: no such process
  uint64_t startTime = 0;
};

// The second field of the file is the command in parentheses and may hold anything; the state follows the last `)`.
ProcessStat readStat(int64_t pid) {
  const std::string line = firstLineOf("/proc/" + std::to_string(pid) + "/stat");
  const size_t end = line.rfind(')');
  if (end == std::string::npos) {
    return {};
  }
  std::istringstream fields(line.substr(end + 1));
  ProcessStat stat;
  fields >> stat.state;
  std::string skipped;
  for (int field = 4; field < 22; ++field) {
    fields >> skipped;
  }
  fields >> stat.startTime;
  return stat;
}

std::vector<int> socketDescriptors() {
  std::vector<int> descriptors;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc/self/fd"), ::closedir);
  if (!folder) {
    return descriptors;
  }
  while (const dirent* entry = ::readdir(folder.get())) {
    if (entry->d_name[0] == '.') {
      continue;
    }
    if (linkTarget((std::string("/proc/self/fd/") + entry->d_name).c_str())
            .starts_with("socket:")) {
      descriptors.push_back(static_cast<int>(std::strtol(entry->d_name, nullptr, 10)));
    }
  }
  return descriptors;
}

// Zero for anything but a TCP socket with an address.
template <class NameFunction>
uint16_t portOf(NameFunction nameFunction, int descriptor) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (nameFunction(descriptor, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    return 0;
  }
  if (address.ss_family == AF_INET) {
    return ntohs(reinterpret_cast<const sockaddr_in*>(&address)->sin_port);
  }
  if (address.ss_family == AF_INET6) {
    return ntohs(reinterpret_cast<const sockaddr_in6*>(&address)->sin6_port);
  }
  return 0;
}

std::vector<uint16_t> localPorts() {
  std::set<uint16_t> ports;
  for (const int descriptor : socketDescriptors()) {
    if (const uint16_t port = portOf(::getsockname, descriptor)) {
      ports.insert(port);
    }
  }
  return {ports.begin(), ports.end()};
}

}  // namespace

ProcessIdentity describeThisProcess(int64_t rank) {
  ProcessIdentity identity;
  identity.rank = rank;
  identity.hostName = thisHostName();
  identity.host =
      firstLineOf("/proc/sys/kernel/random/boot_id") + "/" + linkTarget("/proc/self/ns/pid");
  identity.pid = ::getpid();
  identity.startTime = readStat(identity.pid).startTime;
  identity.ports = localPorts();
  return identity;
}

std::string encode(const ProcessIdentity& identity) {
  std::ostringstream out;
  out << identity.rank << '\n'
      << identity.hostName << '\n'
      << identity.host << '\n'
      << identity.pid << '\n'
      << identity.startTime << '\n';
  for (const uint16_t port : identity.ports) {
    out << port << ' ';
  }
  return out.str();
}

ProcessIdentity decodeProcessIdentity(std::string_view text) {
  std::istringstream in{std::string(text)};
  ProcessIdentity identity;
  in >> identity.rank;
  in.ignore();
  std::getline(in, identity.hostName);
  std::getline(in, identity.host);
  in >> identity.pid >> identity.startTime;
  internalCheck(!in.fail(), "a process identity in the store has all its lines");
  for (unsigned port = 0; in >> port;) {
    identity.ports.push_back(static_cast<uint16_t>(port));
  }
  return identity;
}

ProcessStatus statusOf(const ProcessIdentity& process, const ProcessIdentity& self) {
  if (process.host != self.host) {
    return ProcessStatus::Elsewhere;
  }
  const ProcessStat stat = readStat(process.pid);
  if (stat.state == 0 || stat.startTime != process.startTime || stat.state == 'Z' ||
      stat.state == 'X') {
    return ProcessStatus::Gone;
  }
  return stat.state == 'T' || stat.state == 't' ? ProcessStatus::Stopped : ProcessStatus::Running;
}

std::string toText(const ProcessIdentity& identity) {
  return "pid " + std::to_string(identity.pid) + " on host " + identity.hostName;
}

std::vector<uint16_t> portsIn(std::string_view text) {
  std::vector<uint16_t> ports;
  for (size_t at = text.find("]:"); at != std::string_view::npos; at = text.find("]:", at + 1)) {
    uint16_t port = 0;
    const char* first = text.data() + at + 2;
    if (std::from_chars(first, text.data() + text.size(), port).ec == std::errc()) {
      ports.push_back(port);
    }
  }
  return ports;
}

bool peerHungUp(uint16_t remotePort) {
  for (const int descriptor : socketDescriptors()) {
    if (portOf(::getpeername, descriptor) != remotePort) {
      continue;
    }
    pollfd watched{descriptor, POLLRDHUP, 0};
    if (::poll(&watched, 1, 0) > 0 && (watched.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0) {
      return true;
    }
  }
  return false;
}

}  // namespace meshfuse
