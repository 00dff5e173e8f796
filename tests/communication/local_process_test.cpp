#include "meshfuse/communication/local_process.h"

#include <algorithm>
#include <csignal>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace meshfuse {
namespace {

// A socket that listens on a free port of 127.0.0.1.
class Listener {
 public:
  Listener() : descriptor_(::socket(AF_INET, SOCK_STREAM, 0)) {
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address_;
    EXPECT_EQ(::bind(descriptor_, reinterpret_cast<sockaddr*>(&address_), length), 0);
    EXPECT_EQ(::listen(descriptor_, 1), 0);
    EXPECT_EQ(::getsockname(descriptor_, reinterpret_cast<sockaddr*>(&address_), &length), 0);
  }
  ~Listener() { ::close(descriptor_); }
  uint16_t port() const { return ntohs(address_.sin_port); }
  int accept() const { return ::accept(descriptor_, nullptr, nullptr); }
  int connect() const {
    const int client = ::socket(AF_INET, SOCK_STREAM, 0);
    EXPECT_EQ(::connect(client, reinterpret_cast<const sockaddr*>(&address_), sizeof address_), 0);
    return client;
  }

 private:
  int descriptor_;
  sockaddr_in address_{};
};

// A child that waits for a signal, described by itself.
struct Child {
  pid_t pid = 0;
  ProcessIdentity identity;

  Child() {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    pid = ::fork();
    if (pid == 0) {
      const std::string text = encode(describeThisProcess(1));
      const ssize_t written = ::write(ends[1], text.data(), text.size());
      ::close(ends[1]);
      for (;;) {
        ::pause();
      }
      ::_exit(written > 0 ? 0 : 1);
    }
    ::close(ends[1]);
    std::string text;
    char buffer[512];
    for (ssize_t length; (length = ::read(ends[0], buffer, sizeof buffer)) > 0;) {
      text.append(buffer, static_cast<size_t>(length));
    }
    ::close(ends[0]);
    identity = decodeProcessIdentity(text);
  }
  void waitUntil(int options) const {
    int status = 0;
    EXPECT_EQ(::waitpid(pid, &status, options), pid);
  }
};

TEST(LocalProcess, DescriptionSurvivesTheStore) {
  const Listener listener;
  const ProcessIdentity self = describeThisProcess(7);
  EXPECT_EQ(self.rank, 7);
  EXPECT_EQ(self.pid, ::getpid());
  EXPECT_GT(self.startTime, 0u);
  EXPECT_TRUE(std::ranges::binary_search(self.ports, listener.port()));
  EXPECT_EQ(decodeProcessIdentity(encode(self)), self);
}

TEST(LocalProcess, StatusFollowsTheProcess) {
  const ProcessIdentity self = describeThisProcess(0);
  const Child child;
  EXPECT_EQ(statusOf(child.identity, self), ProcessStatus::Running);
  ::kill(child.pid, SIGSTOP);
  child.waitUntil(WUNTRACED);
  EXPECT_EQ(statusOf(child.identity, self), ProcessStatus::Stopped);
  ::kill(child.pid, SIGKILL);
  siginfo_t info;
  EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(child.pid), &info, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(statusOf(child.identity, self), ProcessStatus::Gone) << "ended and not reaped";
  child.waitUntil(0);
  EXPECT_EQ(statusOf(child.identity, self), ProcessStatus::Gone) << "reaped";
}

TEST(LocalProcess, ALaterProcessWithTheSameNumberIsAnother) {
  const ProcessIdentity self = describeThisProcess(0);
  ProcessIdentity earlier = self;
  EXPECT_EQ(statusOf(earlier, self), ProcessStatus::Running);
  --earlier.startTime;
  EXPECT_EQ(statusOf(earlier, self), ProcessStatus::Gone);
}

TEST(LocalProcess, OtherHostsCantBeSeen) {
  ProcessIdentity other = describeThisProcess(1);
  other.host = "another/pid:[1]";
  EXPECT_EQ(statusOf(other, describeThisProcess(0)), ProcessStatus::Elsewhere);
}

TEST(LocalProcess, PortsAreReadFromErrorTexts) {
  EXPECT_EQ(portsIn("Connection closed by peer [127.0.0.1]:15782. This is typical"),
            (std::vector<uint16_t>{15782}));
  EXPECT_EQ(portsIn("[::1]:1 then [fe80::1]:65535"), (std::vector<uint16_t>{1, 65535}));
  EXPECT_TRUE(portsIn("Timed out waiting 3000ms for recv operation [x]:y []:99999").empty());
}

TEST(LocalProcess, AClosedConnectionIsNoticed) {
  const Listener listener;
  const int client = listener.connect();
  const int server = listener.accept();
  EXPECT_FALSE(peerHungUp(listener.port()));
  ::close(server);
  pollfd watched{client, POLLRDHUP, 0};
  ASSERT_EQ(::poll(&watched, 1, 5000), 1);
  EXPECT_TRUE(peerHungUp(listener.port()));
  ::close(client);
  EXPECT_FALSE(peerHungUp(listener.port()));
}

}  // namespace
}  // namespace meshfuse
