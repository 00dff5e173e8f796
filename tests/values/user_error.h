// Expecting a user error of one kind with one text.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "meshfuse/base/error.h"

namespace meshfuse::testing {

/// Runs `call`, which must throw a UserError of this kind; gives its text.
template <class Call>
std::string userErrorText(ErrorKind kind, Call&& call) {
  try {
    call();
  } catch (const UserError& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

/// For EXPECT_PRED2.
inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace meshfuse::testing
