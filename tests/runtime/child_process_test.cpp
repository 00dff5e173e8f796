// Child processes: how they end, what they write, what they inherit.
#include "meshfuse/runtime/child_process.h"

#include <csignal>

#include <gtest/gtest.h>
#include <unistd.h>

#include "meshfuse/runtime/file_bytes.h"
#include "runtime/scratch_directory.h"

namespace meshfuse {
namespace {

class ChildProcessTest : public ::testing::Test {
 protected:
  ProcessEnd run(const std::string& script, std::chrono::milliseconds limit) {
    return runProcess({.words = {"/bin/sh", "-c", script},
                       .environment = {"GREETING=hello world"},
                       .outputPath = scratch_ / "output",
                       .limit = limit});
  }
  std::string output() const { return readFile(scratch_ / "output").value_or("none"); }

  ScratchDirectory scratch_;
};

TEST_F(ChildProcessTest, ItsOutputAndItsEndAreSeen) {
  const ScopedVariable greeting("GREETING", "not this");
  const ScopedVariable farewell("FAREWELL", "bye");
  ProcessEnd end = run("echo $GREETING; echo $FAREWELL >&2; cat; exit 3", std::chrono::seconds(30));
  EXPECT_EQ(end.how, ProcessEnd::How::Exited);
  EXPECT_EQ(toText(end), "exit status 3");
  EXPECT_EQ(output(), "hello world\nbye\n");
  end = run("kill -9 $$", std::chrono::seconds(30));
  EXPECT_EQ(toText(end), "signal 9");
}

TEST_F(ChildProcessTest, AtTheLimitItGoesWithWhatItStarted) {
  const auto start = std::chrono::steady_clock::now();
  const ProcessEnd end = run("sleep 300 & echo $!; wait", std::chrono::milliseconds(1000));
  EXPECT_EQ(toText(end), "stopped after 1 s");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
  const pid_t grandchild = std::stoi(output());
  // A killed process is there until its new parent has collected it.
  const std::string status = "/proc/" + std::to_string(grandchild) + "/stat";
  const std::string state = readFile(status).value_or(") gone");
  EXPECT_NE(state.substr(state.rfind(')') + 2, 1), "S") << state;
}

TEST_F(ChildProcessTest, AProgramThatIsNotThere) {
  const ProcessEnd end = runProcess({.words = {"/no/such/program"},
                                     .environment = {},
                                     .outputPath = scratch_ / "output",
                                     .limit = std::chrono::seconds(30)});
  EXPECT_EQ(end.how, ProcessEnd::How::NotStarted);
  EXPECT_EQ(toText(end), "not started, error " + std::to_string(ENOENT));
}

TEST_F(ChildProcessTest, AProgramThatIgnoresItsChildrenTakesTheStatus) {
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  const ProcessEnd end = run("echo done", std::chrono::seconds(30));
  std::signal(SIGCHLD, before);
  EXPECT_EQ(toText(end), "exit status unknown");
  EXPECT_EQ(output(), "done\n");
}

}  // namespace
}  // namespace meshfuse
