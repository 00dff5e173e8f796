// The functions that the aten column of pointwise.def calls where ATen has no operation of just that meaning.
#pragma once

#include <ATen/core/Tensor.h>

namespace meshfuse::pointwise_functions {

/// torch.abs; a bool is its own magnitude.
at::Tensor absoluteOf(const at::Tensor& x);
/// torch.frac; zero for whole numbers.
at::Tensor fractionOf(const at::Tensor& x);
/// A copy of the real part.
at::Tensor realPartOf(const at::Tensor& x);
/// scipy.special.erfcinv.
at::Tensor inverseErfcOf(const at::Tensor& x);
/// x0 - x1; bools are subtracted modulo two, where torch asks for another operator.
at::Tensor differenceOf(const at::Tensor& x0, const at::Tensor& x1);
/// torch.neg; modulo two for bools.
at::Tensor negativeOf(const at::Tensor& x);
/// torch.div, truncating for whole numbers. The most negative number divided by -1, which traps in the processor, wraps.
at::Tensor quotientOf(const at::Tensor& x0, const at::Tensor& x1);
/// torch.fmod, without that trap.
at::Tensor modulusOf(const at::Tensor& x0, const at::Tensor& x1);
/// torch.remainder, without that trap.
at::Tensor remainderOf(const at::Tensor& x0, const at::Tensor& x1);
/// torch.pow; for bools, false only where false is raised to true.
at::Tensor powerOf(const at::Tensor& x0, const at::Tensor& x1);
/// Right shift that fills with zeros; zero for a shift by the width or more.
at::Tensor logicalRightShiftOf(const at::Tensor& x0, const at::Tensor& x1);
/// torch.lerp, for whole numbers as well.
at::Tensor interpolationOf(const at::Tensor& x0, const at::Tensor& x1, const at::Tensor& x2);

}  // namespace meshfuse::pointwise_functions
