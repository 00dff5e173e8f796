// Whole numbers, random numbers and streaming stores of device/.
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/core/PhiloxRNGEngine.h>
#include <gtest/gtest.h>

#include "device/compiled_text.h"
#include "meshfuse/codegen/device_text.h"
#include "meshfuse/evaluator/random_numbers.h"

namespace meshfuse {
namespace {

/// A function of the text `body`, compiled with what it needs.
CompiledText compiled(const std::string& body) {
  return CompiledText(deviceTextFor(body) + "using namespace device;\n" + body);
}

/// The quotient, remainder and floored remainder of all pairs, where C++ defines them.
template <class T>
void checkDivisions(const char* name) {
  const std::string type = name;
  const CompiledText text =
      compiled("extern \"C\" int divisions(" + type + "* results, " + type + " x, " + type +
               " y) {\n  results[0] = divide(x, y);\n  results[1] = modulus(x, y);\n"
               "  results[2] = flooredModulus(x, y);\n  return isZeroDivisor(y);\n}\n");
  auto* const divisions = text.function<int(T*, T, T)>("divisions");
  ASSERT_NE(divisions, nullptr);
  const T least = std::numeric_limits<T>::min();
  const T greatest = std::numeric_limits<T>::max();
  for (const T x : {least, T(-7), T(-1), T(0), T(1), T(7), greatest}) {
    for (const T y : {least, T(-3), T(-1), T(0), T(1), T(3), greatest}) {
      T results[3] = {};
      EXPECT_EQ(divisions(results, x, y), y == 0);
      if (y == 0 || (x == least && y == -1)) {
        EXPECT_EQ(results[0], y == 0 ? T(0) : least);
        EXPECT_EQ(results[1], 0);
        EXPECT_EQ(results[2], 0);
        continue;
      }
      EXPECT_EQ(results[0], x / y) << x << " / " << y;
      EXPECT_EQ(results[1], x % y) << x << " % " << y;
      const T rest = x % y;
      EXPECT_EQ(results[2], rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest)
          << x << " by " << y;
    }
  }
}

TEST(Numbers, DivisionsOfInt32DoNotTrap) { checkDivisions<int32_t>("int32"); }
TEST(Numbers, DivisionsOfInt64DoNotTrap) { checkDivisions<int64_t>("int64"); }

TEST(Numbers, OnlyWholeNumbersHaveZeroDivisors) {
  const CompiledText text = compiled(
      "extern \"C\" int found() {\n  return isZeroDivisor(0.0F) + isZeroDivisor(false) + "
      "isZeroDivisor(complex<double>(0.0)) + 2 * isZeroDivisor(uint64(0));\n}\n");
  EXPECT_EQ(text.function<int()>("found")(), 2);
}

TEST(Random, BitsArePhilox) {
  const CompiledText text = compiled(
      "extern \"C\" void bits(uint32* to, uint64 seed, uint64 offset, uint64 index) {\n"
      "  const Philox x = philox(seed, offset, index);\n  to[0] = x.a;\n  to[1] = x.b;\n  to[2] = "
      "x.c;\n"
      "  to[3] = x.d;\n}\n");
  auto* const bits = text.function<void(uint32_t*, uint64_t, uint64_t, uint64_t)>("bits");
  ASSERT_NE(bits, nullptr);
  for (const uint64_t seed : {uint64_t{0}, uint64_t{0x123456789abcdef}, ~uint64_t{0}}) {
    for (const uint64_t offset : {uint64_t{0}, uint64_t{5}, uint64_t{0x123456789}}) {
      for (const uint64_t index : {uint64_t{0}, uint64_t{77}, uint64_t{0x100000001}}) {
        at::Philox4_32 engine(seed, index, offset);
        uint32_t got[4];
        bits(got, seed, offset, index);
        for (const uint32_t word : got) {
          EXPECT_EQ(word, engine()) << seed << " " << offset << " " << index;
        }
      }
    }
  }
}

template <class T>
void checkDistributions(const char* name) {
  constexpr int64_t kCount = 10007;
  const std::string type = name;
  const std::string loop =
      "  for (int64 i = 0; i < " + std::to_string(kCount) + "; ++i) {\n    to[i] = ";
  const CompiledText text = compiled(
      "extern \"C\" void uniformNumbers(" + type + "* to) {\n#pragma omp simd\n" + loop +
      "below(uniform(77, 3, i, " + type + "(-1), " + type + "(2)), " + type + "(2), " + type +
      "(1));\n  }\n}\nextern \"C\" void normalNumbers(" + type + "* to) {\n#pragma omp simd\n" +
      loop + "normal(77, 3, i, " + type + "(1), " + type + "(2));\n  }\n}\n");
  const at::ScalarType dtype = c10::CppTypeToScalarType<T>::value;
  const at::Tensor got = at::empty({kCount}, dtype);
  text.function<void(T*)>("uniformNumbers")(got.data_ptr<T>());
  EXPECT_TRUE(at::equal(got, uniformNumbers({77, 3}, {kCount}, -1.0, 2.0, dtype, at::kCPU)));
  text.function<void(T*)>("normalNumbers")(got.data_ptr<T>());
  EXPECT_TRUE(at::equal(got, normalNumbers({77, 3}, {kCount}, 1.0, 2.0, dtype, at::kCPU)));
}

TEST(Random, FloatsAreTheEvaluatorsToTheBit) { checkDistributions<float>("float"); }
TEST(Random, DoublesAreTheEvaluatorsToTheBit) { checkDistributions<double>("double"); }

TEST(Memory, StreamOutCopiesAnyLengthToAnyPlace) {
  const CompiledText text = compiled(
      "extern \"C\" void copy(void* to, const void* from, int64 bytes) {\n  streamOut(to, from, "
      "bytes);\n"
      "  streamFence();\n}\n");
  auto* const copy = text.function<void(void*, const void*, int64_t)>("copy");
  ASSERT_NE(copy, nullptr);
  std::vector<char> source(512);
  std::iota(source.begin(), source.end(), static_cast<char>(1));
  for (size_t to = 0; to < 65; to += 3) {
    for (const size_t from : {0, 1, 4, 16}) {
      for (const size_t bytes : {0, 1, 2, 7, 15, 16, 17, 63, 64, 65, 200, 333}) {
        std::vector<char> target(512, '\0');
        copy(target.data() + to, source.data() + from, static_cast<int64_t>(bytes));
        std::vector<char> wanted(512, '\0');
        std::memcpy(wanted.data() + to, source.data() + from, bytes);
        EXPECT_EQ(target, wanted) << to << " " << from << " " << bytes;
      }
    }
  }
}

}  // namespace
}  // namespace meshfuse
