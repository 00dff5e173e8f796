#include "meshfuse/codegen/device_text.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "meshfuse/base/error.h"

namespace meshfuse {
namespace {

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(DeviceText, HoldsWhatIsNamedAndWhatThatNeeds) {
  const std::array<std::string_view, 1> names{"silu"};
  const std::string text = deviceText(names);
  EXPECT_TRUE(contains(text, " silu(T x)"));
  EXPECT_TRUE(contains(text, "float exp(float x)"));
  EXPECT_LT(text.find("float exp(float x)"), text.find(" silu(T x)"));
  EXPECT_FALSE(contains(text, "tanh"));
  EXPECT_FALSE(contains(text, "struct bfloat16"));
}

TEST(DeviceText, HoldsFunctionsOfDoubleAndComplexOnlyWhereTheseAreNamed) {
  EXPECT_FALSE(contains(deviceTextFor("exp(x0)"), "double exp(double x)"));
  EXPECT_TRUE(contains(deviceTextFor("exp(double(x0))"), "double exp(double x)"));
  EXPECT_FALSE(contains(deviceTextFor("exp(x0)"), "struct complex"));
  EXPECT_TRUE(contains(deviceTextFor("sigmoid(complex<float>(x0))"), "__builtin_cexpf"));
}

TEST(DeviceText, IsTheSameForTheSameNamesInAnyOrder) {
  const std::array<std::string_view, 3> names{"erf", "bfloat16", "convert"};
  const std::array<std::string_view, 3> others{"convert", "erf", "bfloat16"};
  EXPECT_EQ(deviceText(names), deviceText(others));
  EXPECT_EQ(deviceText(names), deviceTextFor("convert<bfloat16>(erf(x0))"));
}

TEST(DeviceText, IncludesNothing) {
  const std::vector<std::string_view> names = deviceNames();
  EXPECT_GT(names.size(), 80U);
  EXPECT_FALSE(contains(deviceText(names), "#include"));
}

TEST(DeviceText, UnknownNamesAreFaults) {
  const std::array<std::string_view, 1> names{"cbrt"};
  EXPECT_THROW(deviceText(names), InternalError);
}

TEST(DeviceText, NamesEveryTypeOfWholeBytes) {
  const std::vector<std::string_view> names = deviceNames();
  for (const PrimType type : allPrimTypes()) {
    if (type == PrimType::Null || type == PrimType::Float4_e2m1fn) {
      EXPECT_THROW(deviceTypeName(type), InternalError);
      continue;
    }
    const std::string_view name = deviceTypeName(type);
    const bool isReduced = isReducedFloat(type) || type == PrimType::Bool;
    EXPECT_EQ(std::ranges::find(names, name) != names.end(), isReduced) << name;
    EXPECT_EQ(deviceComputeName(type) != name, isReduced) << name;
  }
}

}  // namespace
}  // namespace meshfuse
