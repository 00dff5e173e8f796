// Running another program without a shell and without a copy of this process.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace meshfuse {

/// How a child process ended. Unknown: the program has its own way of collecting children, which took the status.
struct ProcessEnd {
  enum class How : uint8_t { Exited, Killed, TimedOut, NotStarted, Unknown };
  How how = How::Unknown;
  /// The exit status, the signal, or the errno of the start.
  int code = 0;
};

/// `exit status 1`, `signal 9`, `stopped after 120 s`, …
std::string toText(const ProcessEnd& end);

/// What a child process is started with.
struct ChildProcess {
  /// The program's path and its arguments.
  std::vector<std::string> words;
  /// Variables that replace those of this process's environment, as `NAME=value`.
  std::vector<std::string> environment;
  /// The file that receives what it writes to its standard output and error.
  std::string outputPath;
  /// It and the processes that it has started are killed after this time.
  std::chrono::milliseconds limit{0};
};

/// Runs the process and waits for its end. It stands in a process group of its own, so that a signal from the keyboard reaches
/// this program alone.
ProcessEnd runProcess(const ChildProcess& child);

}  // namespace meshfuse
