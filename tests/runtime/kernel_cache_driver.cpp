// A process that loads kernels as a rank does, for tests of what several processes share.
//
//   meshfuse_kernel_cache_driver COUNT [powerless] [fork] [fallback]
//
// Loads COUNT kernels twice, runs each and prints what it did. `powerless`: root obeys the modes of files as other users do.
// `fork`: a forked child does the same again while another thread loads. `fallback`: names a compiler after a first attempt.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <linux/capability.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "meshfuse/runtime/kernel_library.h"
#include "runtime/kernel_texts.h"

namespace {

using Clock = std::chrono::steady_clock;

void giveUpPrivileges() {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct none[2] = {};
  ::syscall(SYS_capset, &header, none);
}

/// The number of kernels that are there and compute the right number; -1: one computes a wrong one.
int loadAndRun(int first, int count) {
  std::vector<std::string> texts;
  for (int i = first; i < first + count; ++i) {
    texts.push_back(meshfuse::addingText(i));
  }
  int good = 0;
  const auto kernels = meshfuse::loadCpuKernels(texts);
  for (int i = 0; i < count; ++i) {
    if (kernels[i] == nullptr) {
      continue;
    }
    if (meshfuse::runAdding(*kernels[i], 5.0) != 5.0 + first + i) {
      return -1;
    }
    ++good;
  }
  return good;
}

}  // namespace

int main(int argumentCount, char** arguments) {
  const int count = argumentCount > 1 ? std::stoi(arguments[1]) : 1;
  bool forks = false;
  for (int i = 2; i < argumentCount; ++i) {
    if (std::string(arguments[i]) == "powerless") {
      giveUpPrivileges();
    }
    if (std::string(arguments[i]) == "fallback") {
      std::printf("without=%d ", loadAndRun(0, count));
      meshfuse::setFallbackCompiler({"/no/such/compiler", "c++"});
      loadAndRun(0, count);
      // PATH is empty here, but compilers find their parts through it.
      ::setenv("PATH", "/usr/local/bin:/usr/bin:/bin", 1);
      meshfuse::setFallbackCompiler({"c++"});
    }
    forks = forks || std::string(arguments[i]) == "fork";
  }
  if (forks) {
    std::jthread other([&] { loadAndRun(1000, 4); });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(60);
      ::_exit(loadAndRun(1000, 4) == 4 && loadAndRun(0, count) == count ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    other.join();
    std::printf("child=%d ", status);
  }
  const Clock::time_point start = Clock::now();
  const int good = loadAndRun(0, count);
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  const int again = loadAndRun(0, count);
  const meshfuse::KernelCacheStatistics statistics = meshfuse::kernelCacheStatistics();
  std::printf("good=%d again=%d compiled=%d disk=%d memory=%d failed=%d ms=%.3f\n", good, again,
              static_cast<int>(statistics.compiled), static_cast<int>(statistics.loadedFromDisk),
              static_cast<int>(statistics.foundInMemory), static_cast<int>(statistics.failed),
              seconds * 1000);
  return good < 0 || again < 0 ? 1 : 0;
}
