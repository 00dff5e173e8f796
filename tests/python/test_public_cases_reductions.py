"""Publicly reported failures of fusion runtimes, restated: reductions and normalization."""

import math
import time
from typing import Any

import torch
from public_cases import check_case, define, randn, strided

from meshfuse import DataType

HALF, BF16, F32 = torch.float16, torch.bfloat16, torch.float32


def test_r01_sums_over_no_elements() -> None:
    a = torch.empty_strided([5, 0], [1, 0], dtype=BF16)
    b = torch.empty_strided([5, 0], [0, 1], dtype=BF16)
    ones = torch.ones(5, 0, dtype=BF16)

    def build(fd: Any, x: Any, y: Any, one: Any) -> Any:
        return fd.ops.sum(fd.ops.mul(y, one), [1]), fd.ops.sum(fd.ops.mul(x, one), [0])

    check_case(build, [a, b, ones], lambda *_: [torch.zeros(5), torch.zeros(0)], exact=True)


def test_r03_variance_of_one_half() -> None:
    def build(fd: Any, a: Any) -> Any:
        results = fd.ops.var_mean(fd.ops.cast(a, DataType.Float), [1], 0)
        return [fd.ops.cast(result, DataType.Half) for result in results]

    x = randn(2, 1, 2, dtype=HALF)
    check_case(build, [x], lambda a: [torch.zeros(2, 2, dtype=HALF), a[:, 0]], exact=True)


def test_r05_sum_of_a_number_seen_as_a_matrix() -> None:
    x = torch.tensor(1.0).expand(2, 3)

    def build(fd: Any, a: Any) -> Any:
        return fd.ops.sum(a, [0]), fd.ops.sum(a, [0], keepdim=True)

    check_case(build, [x], lambda _: [torch.full((3,), 2.0), torch.full((1, 3), 2.0)])


def test_r07_a_product_of_sums_summed() -> None:
    def build(fd: Any, a: Any, b: Any) -> Any:
        left = fd.ops.reshape(fd.ops.sum(a, [1, 0]), [4])
        right = fd.ops.reshape(fd.ops.sum(b, [1]), [4])
        return fd.ops.sum(fd.ops.mul(left, right))

    check_case(
        build,
        [randn(1, 3, 4), randn(4, 3, seed=1)],
        lambda a, b: (a.sum((1, 0)) * b.sum(1)).sum(),
    )


def test_r09_sum_of_swapped_storage() -> None:
    # Whole numbers, whose sums are the same in any order.
    x = (randn(2, 8, 8, 512, 16) * 8).round().transpose(-1, -2)

    def build(fd: Any, a: Any) -> Any:
        ones = fd.ops.full([2, 8, 8, 16, 512], 1.0, DataType.Float)
        return fd.ops.sum(fd.ops.mul(a, ones), [2, 4])

    check_case(build, [x], lambda a: a.sum((2, 4)), exact=True)


def test_r11_sum_of_a_sliced_dimension_that_a_reshape_made() -> None:
    def build(fd: Any, a: Any) -> Any:
        pairs = fd.ops.reshape(a, [12, 128, 25, 32, 2])
        firsts = fd.ops.slice(pairs, [0] * 5, [12, 128, 25, 32, 1])
        return fd.ops.sum(firsts, [4])

    check_case(build, [randn(12, 128, 25, 64)], lambda a: a[..., ::2], exact=True)


def test_r13_an_input_of_a_norm_as_its_output() -> None:
    def build(fd: Any, x: Any, mean: Any, variance: Any) -> Any:
        scale = fd.ops.rsqrt(fd.ops.add(variance, 1e-5))
        return fd.ops.mul(fd.ops.sub(x, mean), scale), mean, scale

    def reference(x: torch.Tensor, mean: torch.Tensor, variance: torch.Tensor) -> Any:
        scale = torch.rsqrt(variance + 1e-5)
        return [(x - mean) * scale, mean, scale]

    check_case(build, [randn(1, 5, 5, 5, 2), randn(2, seed=1), randn(2, seed=2).abs()], reference)


def test_r15_variance_of_a_number() -> None:
    x = torch.tensor(1.5)

    def build(fd: Any, a: Any) -> Any:
        return fd.ops.var_mean(a, [0])

    check_case(build, [x], lambda a: [torch.tensor(math.nan), a])


def test_r17_the_largest_of_minus_infinities() -> None:
    def build(fd: Any, a: Any) -> Any:
        return fd.ops.mul(fd.ops.max(a, [0]), 0.1)

    check_case(build, [torch.full((4,), -math.inf)], lambda _: torch.tensor(-math.inf))


def test_r19_backward_of_an_rms_norm() -> None:
    w, g, x = randn(32), randn(1, 2048, 32, seed=1), randn(1, 2048, 32, seed=2)
    r = randn(1, 2048, 1, seed=3).abs() + 0.5

    def build(fd: Any, weight: Any, grad: Any, a: Any, scale: Any) -> Any:
        ops = fd.ops
        h = ops.mul(weight, grad)
        s = ops.sum(ops.mul(a, h), [0, 2])
        s = ops.broadcast_in_dim(s, [1, 2048, 1], [1])
        k = ops.mul(ops.mul(ops.mul(-0.5, s), ops.pow(scale, 3.0)), 1 / 32)
        out0 = ops.add(ops.mul(scale, h), ops.mul(ops.mul(2.0, a), k))
        out2 = ops.sum(ops.mul(ops.mul(a, scale), grad), [0, 1])
        return out0, ops.reshape(out0, [2048, 32]), out2

    def reference(weight: Any, grad: Any, a: Any, scale: Any) -> Any:
        h = weight * grad
        s = (a * h).sum((0, 2))[None, :, None]
        out0 = scale * h + 2 * a * (-0.5 * s * scale**3 / 32)
        return [out0, out0.reshape(2048, 32), (a * scale * grad).sum((0, 1))]

    check_case(build, [w, g, x, r], reference)


def test_r21_backward_of_a_group_norm_and_silu() -> None:
    x = randn(4, 32, 10, 64, 64)
    weight, bias = randn(320, seed=1), randn(320, seed=2)
    padded = randn(4, 320, 66, 66, seed=3)
    variance, mean = torch.var_mean(x, (2, 3, 4), correction=0)
    mean, scale = mean.t().contiguous().t(), torch.rsqrt(variance + 1e-5)[:, :, None, None, None]
    count = 10 * 64 * 64

    def build(fd: Any, a: Any, m: Any, s: Any, w: Any, b: Any, p: Any) -> Any:
        ops = fd.ops
        groups, channels = [4, 32, 10, 64, 64], [4, 320, 64, 64]
        grad = ops.reshape(ops.pad(p, [-1, -1, -1, -1]), groups)
        w, b = (
            ops.broadcast_in_dim(ops.reshape(v, [32, 10]), [1, 32, 10, 1, 1], [1, 2])
            for v in (w, b)
        )
        normal = ops.mul(ops.sub(a, ops.broadcast_in_dim(m, [4, 32, 1, 1, 1], [0, 1])), s)
        y = ops.add(ops.mul(normal, w), b)
        gate = ops.sigmoid(y)
        slope = ops.mul(gate, ops.add(1.0, ops.mul(y, ops.sub(1.0, gate))))
        dy = ops.mul(grad, slope)
        dn = ops.mul(dy, w)
        first = ops.mul(ops.sum(dn, [2, 3, 4], keepdim=True), 1 / count)
        second = ops.mul(ops.sum(ops.mul(dn, normal), [2, 3, 4], keepdim=True), 1 / count)
        dx = ops.mul(ops.sub(ops.sub(dn, first), ops.mul(normal, second)), s)
        dx = ops.reshape(dx, channels)
        rows = ops.reshape(ops.permute(dx, [0, 2, 3, 1]), [16384, 320])
        dw = ops.reshape(ops.sum(ops.mul(dy, normal), [0, 3, 4]), [320])
        db = ops.reshape(ops.sum(dy, [0, 3, 4]), [320])
        return dx, rows, ops.permute(rows, [1, 0]), ops.sum(rows, [0]), dw, db

    def reference(a: Any, m: Any, s: Any, w: Any, b: Any, p: Any) -> Any:
        a, w, b = (v.double().requires_grad_() for v in (a.reshape(4, 320, 64, 64), w, b))
        y = torch.nn.functional.silu(torch.nn.functional.group_norm(a, 32, w, b, 1e-5))
        grads = torch.autograd.grad(y, (a, w, b), p[:, :, 1:-1, 1:-1].double())
        dx, dw, db = (grad.float() for grad in grads)
        rows = dx.permute(0, 2, 3, 1).reshape(16384, 320)
        return [dx, rows, rows.t(), grads[0].sum((0, 2, 3)).float(), dw, db]

    # Sums over 16384 rounded terms: errors of units in the last place of what is summed.
    inputs = [x, mean, scale, weight, bias, padded]
    expected = reference(*inputs)
    for static in (True, False):
        fd = define(build, inputs, static)
        for _ in range(2):
            for got, wanted in zip(fd.execute(inputs), expected, strict=True):
                assert got.shape == wanted.shape
                torch.testing.assert_close(got, wanted, rtol=1e-4, atol=2e-3)


def test_r23_round_trips_through_bfloat16_are_kept() -> None:
    x, g = randn(1, 512, 4096, dtype=BF16), randn(1, 512, 4096, dtype=BF16, seed=1)
    w = randn(4096, dtype=BF16, seed=2).expand(1, 512, 4096)

    def build(fd: Any, a: Any, grad: Any, weight: Any) -> Any:
        ops = fd.ops

        def rounded(value: Any) -> Any:
            return ops.cast(ops.cast(value, DataType.BFloat16), DataType.Float)

        f, h = ops.cast(a, DataType.Float), rounded(ops.mul(grad, weight))
        mean = ops.mul(ops.sum(rounded(ops.mul(f, f)), [2], keepdim=True), 1 / 4096)
        scale = rounded(ops.rsqrt(ops.add(mean, 1e-5)))
        k = ops.sum(rounded(ops.mul(h, f)), [2], keepdim=True)
        k = rounded(ops.mul(ops.mul(ops.pow(scale, 3.0), k), 1 / 4096))
        dx = ops.sub(rounded(ops.mul(h, scale)), rounded(ops.mul(f, k)))
        return ops.cast(dx, DataType.BFloat16)

    def reference(a: Any, grad: Any, weight: Any) -> torch.Tensor:
        f, h = a.float(), (grad.float() * weight.float()).to(BF16).float()
        mean = (f * f).to(BF16).float().sum(2, keepdim=True) * (1 / 4096)
        scale = torch.rsqrt(mean + 1e-5).to(BF16).float()
        k = (h * f).to(BF16).float().sum(2, keepdim=True)
        k = (scale**3 * k * (1 / 4096)).to(BF16).float()
        return ((h * scale).to(BF16).float() - (f * k).to(BF16).float()).to(BF16)

    check_case(build, [x, g, w], reference, exact=True)


def test_r25_two_reductions_with_a_copy_between_them_are_ready_soon() -> None:
    def build(fd: Any, a: Any) -> Any:
        return fd.ops.sum(fd.ops.set(fd.ops.sum(a, [3])), [1])

    start = time.perf_counter()
    check_case(build, [randn(16, 32, 3, 5)], lambda a: a.sum(3).sum(1))
    assert time.perf_counter() - start < 5


def test_strided_halves_are_summed_in_float() -> None:
    """R23's kind: a long sum of halves does not stop growing."""
    x = strided([4, 3000], [1, 4], F32).abs().to(HALF)
    check_case(
        lambda fd, a: fd.ops.sum(fd.ops.cast(a, DataType.Float), [1]),
        [x],
        lambda a: a.double().sum(1).float(),
    )
