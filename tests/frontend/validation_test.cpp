// How many terms the results of a fusion combine.
#include "meshfuse/frontend/validation.h"

#include <string>

#include <gtest/gtest.h>

#include "meshfuse/base/error.h"
#include "meshfuse/ir/parse.h"
#include "meshfuse/ops/op_info.h"

namespace meshfuse {
namespace {

Fusion read(std::string_view text) { return parse(text, findOp); }

InputShape tensor(std::vector<int64_t> sizes) { return {.sizes = std::move(sizes)}; }

TEST(ReductionSizes, AreWhatIsSummedOnTheLongestWay) {
  const Fusion fusion = read(
      "input tv0: Float[i0, i1, i2] contiguity(t, t, t)\n"
      "tv1: Float[i0, i1] = sum(tv0, [2], False, Null)\n"
      "tv2: Float[i1] = max(tv1, [0], False, Null)\n"
      "tv3: Float[i1] = neg(tv2)\n"
      "tv4: Float[i1, i0] = permute(tv1, [1, 0])\n"
      "tv5: Float[i1, i1] = matmul(tv4, tv1)\n"
      "output tv0\n"
      "output tv1\n"
      "output tv3\n"
      "output tv4\n"
      "output tv5\n");
  const InputShape input = tensor({2, 3, 5});
  EXPECT_EQ(reductionSizes(fusion, {&input, 1}), (std::vector<int64_t>{1, 5, 5, 5, 7}));
  const InputShape empty = tensor({2, 3, 0});
  EXPECT_EQ(reductionSizes(fusion, {&empty, 1}), (std::vector<int64_t>{1, 1, 1, 1, 2}));
}

TEST(ReductionSizes, ValuesThatAreWrittenComeAfterTheOutputs) {
  const Fusion fusion = read(
      "input tv0: Float[i0, i1] contiguity(t, t)\n"
      "input tv1: Float[i2] contiguity(t)\n"
      "tv2: Float[i0] = sum(tv0, [1], False, Null)\n"
      "tv3: Float[i0, i1] = neg(tv0)\n"
      "output tv2 into tv1\n"
      "output tv3\n");
  const std::vector<InputShape> inputs{tensor({2, 3}), tensor({2})};
  EXPECT_EQ(reductionSizes(fusion, inputs), (std::vector<int64_t>{1, 3}));
}

TEST(ReductionSizes, SizesThatDoNotFitAreRefused) {
  const Fusion fusion = read(
      "input tv0: Float[4] contiguity(t)\n"
      "tv1: Float[4] = neg(tv0)\n"
      "output tv1\n");
  const InputShape input = tensor({5});
  try {
    reductionSizes(fusion, {&input, 1});
    FAIL() << "nothing was thrown";
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("an input has the sizes that the definition states"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace meshfuse
