// Kernels as C++ text: the parts that decide what a loop does, and that the same kernel has the same text.
#include "meshfuse/codegen/cpu_text.h"

#include <string>

#include <gtest/gtest.h>

#include "meshfuse/ir/parse.h"
#include "meshfuse/ops/op_info.h"
#include "meshfuse/scheduling/segment.h"

namespace meshfuse {
namespace {

/// The text of a fusion's only kernel, whose tensors are all [8, 600], row-major, or rows of them.
std::string textOf(const std::string& fusionText, int64_t rowBytes) {
  const Fusion fusion = parse(fusionText, [](std::string_view name) { return findOp(name); });
  const std::vector<Group> groups = segment(fusion);
  EXPECT_EQ(groups.size(), 1U);
  KernelGraph graph = buildGraph(fusion, groups.at(0));
  Nest nest{{8, 600}, {0, groups[0].loops[1].isReduced}, {}, 20, rowBytes};
  for (size_t i = 0; i < graph.reads.size() + graph.writes.size(); ++i) {
    nest.accesses.push_back({4, i >= graph.reads.size(), {600, 1}});
  }
  for (const GraphIndex& index : graph.indices) {
    nest.accesses.push_back({0, false, {index.strides.empty() ? 600 : index.strides[0], 1}});
  }
  return cpuText(lower(std::move(graph), chooseSchedule(nest, {})));
}

/// What follows the device functions.
std::string kernelIn(const std::string& text) {
  const size_t begin = text.find("extern \"C\"");
  return begin == std::string::npos ? "no kernel" : text.substr(begin);
}

bool holdsInOrder(const std::string& text, const std::vector<std::string>& parts) {
  size_t at = 0;
  for (const std::string& part : parts) {
    at = text.find(part, at);
    if (at == std::string::npos) {
      ADD_FAILURE() << part << " is not where it belongs in\n" << text;
      return false;
    }
    at += part.size();
  }
  return true;
}

const std::string kPointwise =
    "input tv0: Float[8, 600] contiguity(t, t)\n"
    "tv1: Float[8, 600] = exp(tv0)\n"
    "tv2: Float[8, 600] = add(tv1, tv0)\n"
    "output tv2\n";

TEST(CpuText, APointwiseKernelIsOneVectorLoop) {
  const std::string text = textOf(kPointwise, 0);
  EXPECT_TRUE(
      holdsInOrder(kernelIn(text),
                   {"meshfuse_kernel(", "for (int64 t = begin; t < end; ++t)", "#pragma omp simd",
                    "op_exp<float>(v0)", "op_add<float>(v1, v0)", " = v2;"}));
  EXPECT_EQ(text.find("op_sub"), std::string::npos);
}

TEST(CpuText, ASoftmaxAccumulatesTwiceAndReadsItsRowBack) {
  const std::string text = textOf(
      "input tv0: Float[8, 600] contiguity(t, t)\n"
      "tv1: Float[8, b1] = max(tv0, [1], True, Null)\n"
      "tv2: Float[8, 600] = sub(tv0, tv1)\n"
      "tv3: Float[8, 600] = exp(tv2)\n"
      "tv4: Float[8, b1] = sum(tv3, [1], True, Null)\n"
      "tv5: Float[8, 600] = truediv(tv3, tv4)\n"
      "output tv5\n",
      4);
  EXPECT_TRUE(holdsInOrder(kernelIn(text), {"maximum<float>(", "op_exp<float>", "quotientBy("}));
}

TEST(CpuText, APositionIsANumberOfTheVectorLoop) {
  EXPECT_TRUE(
      holdsInOrder(kernelIn(textOf("input tv0: Float[8, 600] contiguity(t, t)\n"
                                   "tv1: Float[8, 600] = rand_like(tv0)\n"
                                   "tv2: Float[8, 600] = mul(tv0, tv1)\n"
                                   "output tv2\n",
                                   0)),
                   {"const int64 t2 = 0;", " = numbers[0].integer;", "const int64 a2 = t2 + first;",
                    "const int64 b2 = a2 + base;", "#pragma omp simd", "const int64 v3 = b2 + j;",
                    "uniform<float>(uint64(v1), uint64(v2), uint64(v3), v4, v5)"}));
}

// Outside of the tensor the first element is read, and the kernel says so when it has run.
TEST(CpuText, APositionIsCheckedBeforeItIsRead) {
  EXPECT_TRUE(holdsInOrder(
      kernelIn(textOf("input tv0: Float[8, 600] contiguity(t, t)\n"
                      "input tv1: Int[8, 600] contiguity(t, t)\n"
                      "tv2: Float[8, 600] = gather(tv0, tv1, 0)\n"
                      "output tv2\n",
                      0)),
      {"int64 outside = 0;", "#pragma omp simd reduction(|:outside)", "const int64 x1 = v0;",
       "const bool o1 = (x1 < 0) | (x1 >= s[9]);", "outside |= o1;",
       "const int64 y1 = (o1 ? 0 : x1) * s[10];", "const float v1 = b1[j + y1];",
       "if (outside != 0) {", "((int64*)p[0])[2] = 1;"}));
}

// In a segment of the lane a part is read all along or not at all: there, zeros are.
TEST(CpuText, APaddedRowIsReadBySegments) {
  EXPECT_TRUE(holdsInOrder(
      kernelIn(textOf("input tv0: Float[8, 590] contiguity(t, t)\n"
                      "tv1: Float[8, 600] = pad(tv0, [4, 6], 1.5)\n"
                      "tv2: Float[8, 600] = neg(tv1)\n"
                      "output tv2\n",
                      0)),
      {"(const float*)p[1] + s[", "const int64 t2 = s[", "static const float z0[1024] = {};",
       "for (int64 cut = 0, stop = m; cut < m; cut = stop, stop = m)",
       "stop = segmentEnd(b2 + cut, s[", "const bool v1 = (b2 + cut >= 0) & (b2 + cut < s[",
       "d0 = v1 ? b0 + cut : z0;", "#pragma omp simd", "for (int64 j = cut; j < stop; ++j)",
       "= d0[j - cut];", "op_where<float>(int32(j) < l1, v2, v0)"}));
}

TEST(CpuText, TheSameKernelHasTheSameText) {
  EXPECT_EQ(textOf(kPointwise, 0), textOf(kPointwise, 0));
}

TEST(CpuText, ATransposedReadIsTurnedIntoABufferTileByTile) {
  const Fusion fusion = parse(kPointwise, [](std::string_view name) { return findOp(name); });
  KernelGraph graph = buildGraph(fusion, segment(fusion).at(0));
  const Nest nest{{8, 600}, {0, 0}, {{4, false, {1, 8}}, {4, true, {600, 1}}}, 20, 0};
  EXPECT_TRUE(holdsInOrder(
      kernelIn(cpuText(lower(std::move(graph), chooseSchedule(nest, {})))),
      {"alignas(64) float y0[32768];", "for (int64 t = begin; t < end; ++t)", "transposeTile(o0, ",
       "for (int64 row = 0; row < rows; ++row)", "a0 = y0 + row * ", "b0[j]"}));
}

}  // namespace
}  // namespace meshfuse
