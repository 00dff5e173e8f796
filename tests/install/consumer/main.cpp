// Uses a header and a function of the library, and torch through it.
#include <iostream>

#include <ATen/ATen.h>

#include "meshfuse/base/text.h"

int main() {
  const at::Tensor sum = at::ones({2, 3}).sum();
  std::cout << meshfuse::toText(sum.item<double>()) << '\n';
  return 0;
}
