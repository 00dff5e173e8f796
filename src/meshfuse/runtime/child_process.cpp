#include "meshfuse/runtime/child_process.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <string_view>
#include <thread>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace meshfuse {

namespace {

std::vector<char*> pointersTo(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (const std::string& word : words) {
    pointers.push_back(const_cast<char*>(word.c_str()));
  }
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> environmentWith(const std::vector<std::string>& replaced) {
  std::vector<std::string> variables = replaced;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const std::string_view name = text.substr(0, text.find('=') + 1);
    if (std::none_of(replaced.begin(), replaced.end(),
                     [&](const std::string& own) { return own.starts_with(name); })) {
      variables.emplace_back(text);
    }
  }
  return variables;
}

/// Waits for the child; kills its group at the limit.
ProcessEnd waitFor(pid_t child, std::chrono::milliseconds limit) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point deadline = Clock::now() + limit;
  bool timedOut = false;
  while (true) {
    int status = 0;
    // Polled: a wait with a time limit would have to take over the program's SIGCHLD.
    const pid_t ended = ::waitpid(child, &status, timedOut ? 0 : WNOHANG);
    if (ended == child && timedOut) {
      return {ProcessEnd::How::TimedOut, static_cast<int>(limit.count() / 1000)};
    }
    if (ended == child) {
      return WIFEXITED(status) ? ProcessEnd{ProcessEnd::How::Exited, WEXITSTATUS(status)}
                               : ProcessEnd{ProcessEnd::How::Killed, WTERMSIG(status)};
    }
    if (ended < 0 && errno != EINTR) {
      return timedOut
                 ? ProcessEnd{ProcessEnd::How::TimedOut, static_cast<int>(limit.count() / 1000)}
                 : ProcessEnd{ProcessEnd::How::Unknown, 0};
    }
    if (ended == 0 && Clock::now() >= deadline) {
      ::kill(-child, SIGKILL);
      timedOut = true;
      continue;
    }
    if (ended == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
}

}  // namespace

std::string toText(const ProcessEnd& end) {
  const std::string code = std::to_string(end.code);
  switch (end.how) {
    case ProcessEnd::How::Exited:
      return "exit status " + code;
    case ProcessEnd::How::Killed:
      return "signal " + code;
    case ProcessEnd::How::TimedOut:
      return "stopped after " + code + " s";
    case ProcessEnd::How::NotStarted:
      return "not started, error " + code;
    case ProcessEnd::How::Unknown:
      break;
  }
  return "exit status unknown";
}

ProcessEnd runProcess(const ChildProcess& child) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, child.outputPath.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  const std::vector<std::string> variables = environmentWith(child.environment);
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, child.words.front().c_str(), &files, &attributes,
                                  pointersTo(child.words).data(), pointersTo(variables).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return error != 0 ? ProcessEnd{ProcessEnd::How::NotStarted, error} : waitFor(pid, child.limit);
}

}  // namespace meshfuse
