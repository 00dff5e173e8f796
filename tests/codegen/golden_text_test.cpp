// Whole kernels as C++ text, as they stand in tests/codegen/golden/. After a change that is meant, MESHFUSE_WRITE_GOLDEN=1 writes
// the files anew, whose differences tell what it does.
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "meshfuse/codegen/cpu_text.h"
#include "meshfuse/ir/parse.h"
#include "meshfuse/ops/op_info.h"
#include "meshfuse/scheduling/segment.h"

namespace meshfuse {
namespace {

/// The text behind the device functions, for tensors of [8, 600] and rows of 600 elements.
std::string kernelOf(const std::string& fusionText) {
  const Fusion fusion = parse(fusionText, [](std::string_view name) { return findOp(name); });
  const std::vector<Group> groups = segment(fusion);
  EXPECT_EQ(groups.size(), 1U);
  KernelGraph graph = buildGraph(fusion, groups.at(0));
  Nest nest{{8, 600}, {0, 1}, {}, 20, 4};
  for (const auto* tensors : {&graph.reads, &graph.writes}) {
    for (const GraphTensor& tensor : *tensors) {
      const bool isRow = tensor.loops.size() == 1 || tensor.loops.front().empty();
      nest.accesses.push_back({4, tensors == &graph.writes, {isRow ? 0 : 600, 1}});
    }
  }
  const std::string text = cpuText(lower(std::move(graph), chooseSchedule(nest, {})));
  const size_t begin = text.find("extern \"C\"");
  EXPECT_NE(begin, std::string::npos);
  return text.substr(begin);
}

void expectGolden(const std::string& name, const std::string& text) {
  const std::string path = "tests/codegen/golden/" + name + ".txt";
  if (std::getenv("MESHFUSE_WRITE_GOLDEN") != nullptr) {
    std::ofstream(path) << text;
  }
  std::ifstream file(path);
  ASSERT_TRUE(file.good()) << path << " is missing";
  std::stringstream golden;
  golden << file.rdbuf();
  EXPECT_EQ(text, golden.str());
}

TEST(GoldenText, ASoftmaxOfRows) {
  expectGolden("softmax", kernelOf("input tv0: Float[8, 600] contiguity(t, t)\n"
                                   "tv1: Float[8, b1] = max(tv0, [1], True, Null)\n"
                                   "tv2: Float[8, 600] = sub(tv0, tv1)\n"
                                   "tv3: Float[8, 600] = exp(tv2)\n"
                                   "tv4: Float[8, b1] = sum(tv3, [1], True, Null)\n"
                                   "tv5: Float[8, 600] = truediv(tv3, tv4)\n"
                                   "output tv5\n"));
}

TEST(GoldenText, ALayerNormOfRows) {
  expectGolden("layer_norm",
               kernelOf("input tv0: Float[8, 600] contiguity(t, t)\n"
                        "input tv1: Float[600] contiguity(t)\n"
                        "input tv2: Float[600] contiguity(t)\n"
                        "tv3: Float[8, b1], tv4: Float[8, b1] = var_mean(tv0, [1], 0, True)\n"
                        "tv5: Float[8, b1] = add(tv3, 1e-05)\n"
                        "tv6: Float[8, b1] = rsqrt(tv5)\n"
                        "tv7: Float[8, 600] = sub(tv0, tv4)\n"
                        "tv8: Float[8, 600] = mul(tv7, tv6)\n"
                        "tv9: Float[8, 600] = mul(tv8, tv1)\n"
                        "tv10: Float[8, 600] = add(tv9, tv2)\n"
                        "output tv10\n"));
}

TEST(GoldenText, SharesOfARowUpToEachElement) {
  expectGolden("scan", kernelOf("input tv0: Float[8, 600] contiguity(t, t)\n"
                                "tv1: Float[8, 600] = exp(tv0)\n"
                                "tv2: Float[8, 600] = cumsum(tv1, 1, None)\n"
                                "tv3: Float[8, 600] = tanh(tv2)\n"
                                "tv4: Float[8, b1] = sum(tv1, [1], True, Null)\n"
                                "tv5: Float[8, 600] = truediv(tv3, tv4)\n"
                                "output tv5\n"));
}

}  // namespace
}  // namespace meshfuse
