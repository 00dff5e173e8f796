// What a call that must be refused says.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "meshfuse/base/error.h"

namespace meshfuse {

/// The text of the UserError that `call` throws; fails the test if it throws none or one of another kind.
template <class Call>
std::string userError(ErrorKind kind, Call call) {
  try {
    call();
  } catch (const UserError& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

}  // namespace meshfuse
