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
