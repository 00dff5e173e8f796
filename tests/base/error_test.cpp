// The two families of errors and their text.
#include "meshfuse/base/error.h"

#include <string>

#include <gtest/gtest.h>

#include "meshfuse/base/error_naming.h"

namespace meshfuse {
namespace {

const ErrorText kText = {"permute", "dims must name each axis once", "got [0, 0]", "pass 0..1"};

TEST(UserError, HasItsFourPartsInOrder) {
  EXPECT_EQ(toText(kText), "permute: dims must name each axis once: got [0, 0]; pass 0..1");
}

TEST(UserError, KeepsKindAndText) {
  try {
    throwUser(ErrorKind::Index, kText);
  } catch (const UserError& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Index);
    EXPECT_EQ(error.what(), toText(kText));
    return;
  }
  FAIL() << "nothing was thrown";
}

TEST(UserError, CarriesTextThatIsFinal) {
  UserError error(ErrorKind::Runtime, std::string("rank 3: the process ended"));
  EXPECT_EQ(error.kind(), ErrorKind::Runtime);
  EXPECT_STREQ(error.what(), "rank 3: the process ended");
}

TEST(UserError, NoPartMayBeEmpty) {
  for (std::string_view ErrorText::* part :
       {&ErrorText::op, &ErrorText::rule, &ErrorText::found, &ErrorText::wayOut}) {
    ErrorText text = kText;
    text.*part = "";
    EXPECT_THROW(toText(text), InternalError);
  }
}

TEST(RethrowNaming, PutsTheOpInPlaceOfWhatIsComputedBelowIt) {
  const auto renamed = [](const std::string& text) {
    try {
      rethrowNaming("cat", UserError(ErrorKind::Value, text));
    } catch (const UserError& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Value);
      return std::string(error.what());
    }
  };
  EXPECT_EQ(renamed("integer expression: sizes fit: 2 and 3 do not; use others"),
            "cat: sizes fit: 2 and 3 do not; use others");
  EXPECT_EQ(renamed("type promotion: a rule: got x; cast"), "cat: a rule: got x; cast");
  EXPECT_EQ(renamed("cast: a rule: got x; clamp"), "cat: a rule: got x; clamp");
  for (const char* other :
       {"cat: a rule: got x; do y", "cat(): arguments: got x; call it so", "no place"}) {
    EXPECT_EQ(renamed(other), other);
  }
}

TEST(InternalError, NamesTheInvariantAndThePlace) {
  try {
    internalCheck(false, "every value has an owner");
  } catch (const InternalError& error) {
    std::string text = error.what();
    EXPECT_EQ(text.find("internal error (a bug in meshfuse): every value has an owner does not "
                        "hold at "),
              0U);
    EXPECT_NE(text.find("error_test.cpp:"), std::string::npos);
    return;
  }
  FAIL() << "nothing was thrown";
}

TEST(InternalError, AnInvariantThatHoldsIsSilent) {
  EXPECT_NO_THROW(internalCheck(true, "every value has an owner"));
}

TEST(InternalError, IsNoUserError) {
  EXPECT_FALSE((std::is_base_of_v<UserError, InternalError>));
  EXPECT_FALSE((std::is_base_of_v<InternalError, UserError>));
}

}  // namespace
}  // namespace meshfuse
