// Text of lists and of doubles.
#include "meshfuse/base/text.h"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace meshfuse {
namespace {

TEST(Text, ListsOfIntegers) {
  EXPECT_EQ(toText(std::vector<int64_t>{}), "[]");
  EXPECT_EQ(toText(std::vector<int64_t>{-7}), "[-7]");
  EXPECT_EQ(toText(std::vector<int64_t>{2, 3}), "[2, 3]");
}

TEST(Text, JoinedParts) {
  EXPECT_EQ(joinText(std::vector<std::string>{}, ", "), "");
  EXPECT_EQ(joinText(std::vector<std::string>{"a"}, ", "), "a");
  EXPECT_EQ(joinText(std::vector<std::string>{"a", "", "b"}, ", "), "a, , b");
}

TEST(Text, DoublesAsPythonWritesThem) {
  const std::pair<double, const char*> rows[] = {
      {0.0, "0.0"},
      {-0.0, "-0.0"},
      {2.0, "2.0"},
      {-1.5, "-1.5"},
      {100.0, "100.0"},
      {1e5, "100000.0"},
      {123456.75, "123456.75"},
      {1e15, "1000000000000000.0"},
      {9999999999999998.0, "9999999999999998.0"},
      {1e16, "1e+16"},
      {1.5e300, "1.5e+300"},
      {0.1, "0.1"},
      {0.1 + 0.2, "0.30000000000000004"},
      {0.0001, "0.0001"},
      {0.00012345, "0.00012345"},
      {0.00001, "1e-05"},
      {1.25e-7, "1.25e-07"},
      {5e-324, "5e-324"},
      {1.7976931348623157e308, "1.7976931348623157e+308"},
      {1e-310, "1e-310"},
      {std::numeric_limits<double>::infinity(), "inf"},
      {-std::numeric_limits<double>::infinity(), "-inf"},
      {std::numeric_limits<double>::quiet_NaN(), "nan"},
  };
  for (const auto& [value, text] : rows) {
    EXPECT_EQ(toText(value), text);
  }
}

TEST(Text, DoublesReadBackAsThemselves) {
  std::mt19937_64 random(20);
  for (int i = 0; i < 200000; ++i) {
    double value = std::bit_cast<double>(random());
    if (i % 2 == 0) {  // half of them near 1, where the notation changes
      value =
          std::ldexp(static_cast<double>(random() % 2000000) - 1e6, static_cast<int>(i % 80) - 40);
    }
    if (!std::isfinite(value)) {
      continue;
    }
    std::string text = toText(value);
    EXPECT_EQ(std::bit_cast<uint64_t>(std::strtod(text.c_str(), nullptr)),
              std::bit_cast<uint64_t>(value))
        << text;
    EXPECT_NE(text.find_first_of(".e"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace meshfuse
