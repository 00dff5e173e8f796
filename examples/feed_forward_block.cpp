// The feed-forward block of a transformer from C++: reads inputs and reference from a torch archive that save_block.py wrote,
// runs the block, prints the largest difference.
//
//   feed_forward_block block.pt
#include <cmath>
#include <fstream>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <vector>

#include <ATen/ATen.h>
#include <torch/csrc/jit/serialization/pickle.h>

#include "meshfuse/frontend/fusion_definition.h"
#include "meshfuse/frontend/ops.h"

namespace {

using namespace meshfuse;

struct Block {
  KernelArgumentHolder inputs;  // x and the six weights
  double eps = 0;
  at::Tensor reference;
};

Block readBlock(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw std::runtime_error("cannot read " + path);
  }
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file),
                                std::istreambuf_iterator<char>()};
  const auto archive = torch::jit::pickle_load(bytes).toGenericDict();
  Block block;
  for (const c10::IValue& tensor : archive.at("inputs").toListRef()) {
    block.inputs.push(tensor.toTensor());
  }
  block.eps = archive.at("eps").toDouble();
  block.reference = archive.at("reference").toTensor();
  return block;
}

/// Linear, gelu, linear, residual, layer norm.
void define(FusionDefinition& fd, double eps, int64_t hidden, int64_t intermediate) {
  using namespace meshfuse::lang;
  const ValueHandle x = fd.defineTensor({-1, -1, hidden}, true);
  const ValueHandle upWeight = fd.defineTensor({intermediate, hidden}, true);
  const ValueHandle upBias = fd.defineTensor({intermediate}, true);
  const ValueHandle downWeight = fd.defineTensor({hidden, intermediate}, true);
  const ValueHandle downBias = fd.defineTensor({hidden}, true);
  const ValueHandle normWeight = fd.defineTensor({hidden}, true);
  const ValueHandle normBias = fd.defineTensor({hidden}, true);

  const ValueHandle h = linear(x, upWeight, upBias);
  const ValueHandle gelu = mul(mul(h, 0.5), add(erf(mul(h, std::sqrt(0.5))), 1.0));
  const ValueHandle y = add(linear(gelu, downWeight, downBias), x);
  const auto [var, mean] = var_mean(y, {2}, 0, true);
  const ValueHandle normed = mul(sub(y, mean), rsqrt(add(var, eps)));
  fd.addOutput(add(mul(normed, normWeight), normBias));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 2) {
      throw std::runtime_error("usage: feed_forward_block ARCHIVE");
    }
    const Block block = readBlock(argv[1]);
    FusionDefinition fd;
    define(fd, block.eps, block.reference.size(-1), block.inputs[1].asTensor().size(0));
    const KernelArgumentHolder outputs = fd.execute(block.inputs);
    const at::Tensor& result = outputs[0].asTensor();
    const double difference = (result - block.reference).abs().max().item<double>();
    std::cout << "C++: " << result.sizes() << ", largest difference from PyTorch " << difference
              << "\n";
    return difference <= 1e-5 ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
