#include "meshfuse/communication/deadline.h"

#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "meshfuse/base/error.h"

namespace meshfuse {
namespace {

using std::chrono::milliseconds;

class Deadline : public ::testing::Test {
 protected:
  void TearDown() override {
    ::unsetenv("MESHFUSE_COLLECTIVE_TIMEOUT_S");
    setDefaultDeadline(std::nullopt);
  }
  static void setVariable(const char* text) { ::setenv("MESHFUSE_COLLECTIVE_TIMEOUT_S", text, 1); }
};

TEST_F(Deadline, IsTheGroupsOwnUnlessSet) { EXPECT_EQ(defaultDeadline(), std::nullopt); }

TEST_F(Deadline, CodeGoesBeforeTheEnvironment) {
  setVariable("2.5");
  EXPECT_EQ(defaultDeadline(), milliseconds(2500));
  setDefaultDeadline(milliseconds(70));
  EXPECT_EQ(defaultDeadline(), milliseconds(70));
  setDefaultDeadline(std::nullopt);
  EXPECT_EQ(defaultDeadline(), milliseconds(2500));
}

TEST_F(Deadline, TextsThatAreNoTimeAreRefused) {
  for (const char* text : {"soon", "0", "-1", "nan", "1s", "1e300"}) {
    setVariable(text);
    try {
      defaultDeadline();
      FAIL() << text;
    } catch (const UserError& error) {
      EXPECT_EQ(
          error.what(),
          "MESHFUSE_COLLECTIVE_TIMEOUT_S: the deadline of collectives is a number of seconds from "
          "0.001 to 1e9: got '" +
              std::string(text) +
              "'; set it to a number, or unset it to use each process group's own timeout");
      EXPECT_EQ(error.kind(), ErrorKind::Value);
    }
  }
}

TEST_F(Deadline, OnlyPositiveTimesAreTaken) {
  try {
    setDefaultDeadline(milliseconds(0));
    FAIL();
  } catch (const UserError& error) {
    EXPECT_STREQ(
        error.what(),
        "collective deadline: a deadline is at least one millisecond: got 0 ms; pass a positive "
        "time, or none for the default");
  }
}

}  // namespace
}  // namespace meshfuse
