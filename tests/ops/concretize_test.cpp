// Symbolic sizes become the sizes of one call; what does not fit is named.
#include "meshfuse/ops/concretize.h"

#include <gtest/gtest.h>

#include "meshfuse/base/error.h"
#include "meshfuse/ops/op_info.h"

namespace meshfuse {
namespace {

std::string errorOf(const Fusion& fusion, std::vector<InputShape> shapes) {
  try {
    concretize(fusion, shapes);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Concretize, EveryExtentBecomesAConstant) {
  Fusion fusion;
  const ValId x =
      fusion.addInputTensor(PrimType::Float, std::vector<int64_t>{-1, -1}, {true, true});
  const ValId y = addCall(fusion, *findOp("reshape"), {x, Ints{-1, 4}})[0];
  const ValId z = addCall(fusion, *findOp("sum"), {y, Ints{0}})[0];
  fusion.addOutput(z);
  const Fusion concrete = concretize(fusion, std::vector<InputShape>{{{6, 2}}});
  EXPECT_EQ(toText(concrete.val(x).tensor()), "Float[6, 2]");
  EXPECT_EQ(toText(concrete.val(y).tensor()), "Float[3, 4]");
  EXPECT_EQ(toText(concrete.val(z).tensor()), "Float[4]");
  EXPECT_NE(
      errorOf(fusion, {{{3, 3}}}).find("Total element counts across view operation must match"),
      std::string::npos);
}

TEST(Concretize, ASymbolicSizeOfOneDoesNotStretch) {
  Fusion fusion;
  const ValId x = fusion.addInputTensor(PrimType::Float, std::vector<int64_t>{-1}, {true});
  const ValId y = fusion.addInputTensor(PrimType::Float, std::vector<int64_t>{-1}, {true});
  fusion.addOutput(addCall(fusion, *findOp("add"), {x, y})[0]);
  EXPECT_EQ(errorOf(fusion, {{{3}}, {{3}}}), "no error");
  EXPECT_NE(errorOf(fusion, {{{3}}, {{1}}}).find("add: operand sizes must agree"),
            std::string::npos);
}

TEST(Concretize, AStaticSizeMustBeMet) {
  Fusion fusion;
  const ValId x = fusion.addInputTensor(PrimType::Float, std::vector<int64_t>{4}, {true});
  fusion.addOutput(addCall(fusion, *findOp("neg"), {x})[0]);
  EXPECT_EQ(errorOf(fusion, {{{5}}}),
            "execute: an input has the sizes that the definition states: tv0 is Float[4] but got "
            "sizes [5]; pass that size, "
            "or define the dimension as -1");
}

}  // namespace
}  // namespace meshfuse
