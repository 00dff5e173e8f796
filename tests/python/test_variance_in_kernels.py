"""The variance of floats is finite, and exact, wherever it is a float: sums of squares on the way to it have no such bounds."""

import pytest
import torch
from kernel_comparison import calls_of, execute

from meshfuse import FusionDefinition, ops

# Reduced along the lane, along serial loops around it, along both, and in parts that several threads take.
CASES = [
    ((6, 1500), [1]),
    ((1500, 6), [0]),
    ((7, 40, 33), [0, 2]),
    ((300, 257), [0, 1]),
    ((1 << 20,), [0]),
]
# The square of the last but one and the sum of the last one are no floats.
SCALES = [1e-30, 1e-19, 1e-10, 1.0, 1e10, 1e17, 1e18, 1.5e19, 1e37]
# One rounding a term, side by side, and those of the mean and of the result.
UNITS = 200


def statistics_of(rank: int, dims: list[int]) -> FusionDefinition:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1] * rank)
        fd.add_output(ops.var(x, dims, 0))
        for result in ops.var_mean(x, dims, 1, True):
            fd.add_output(result)
    return fd


def exact_statistics(x: torch.Tensor, dims: list[int]) -> list[torch.Tensor]:
    """In double, from the definition."""
    x = x.double()
    count = torch.tensor(x.shape)[dims].prod()
    mean = x.sum(dims, keepdim=True) / count
    squares = ((x - mean) ** 2).sum(dims, keepdim=True)
    return [(squares / count).squeeze(dims), squares / (count - 1), mean]


def assert_close(got: torch.Tensor, want: torch.Tensor, size: torch.Tensor) -> None:
    """Within roundings of numbers as large as `size`; infinite where the exact number has no place in the type."""
    info = torch.finfo(got.dtype)
    fits = want.abs() <= info.max
    assert torch.equal(torch.isfinite(got), fits)
    error = (got.double() - want).abs()[fits]
    assert bool(
        (error <= UNITS * info.eps * size.expand(want.shape)[fits] + 2 * info.smallest_normal).all()
    )


@pytest.mark.parametrize(("shape", "dims"), CASES, ids=str)
def test_a_variance_is_finite_where_it_is_a_float(monkeypatch, shape, dims):
    fd = statistics_of(len(shape), dims)
    for seed, scale in enumerate(SCALES):
        generator = torch.Generator().manual_seed(seed)
        x = (torch.randn(shape, generator=generator, dtype=torch.float64) + 0.3) * scale
        got = execute(monkeypatch, fd, [x.float()], compiled=True)
        assert calls_of(fd) == []
        want = exact_statistics(x.float(), dims)
        sizes = [want[0], want[1], want[1].sqrt() + want[2].abs()]
        for a, b, size in zip(got, want, sizes, strict=True):
            assert_close(a, b, size)


def test_one_large_square_among_many_small_numbers(monkeypatch):
    fd = statistics_of(2, [1])
    x = torch.ones(4, 3000)
    x[1, 7] = 3e19
    x[2, 2999] = -3e19
    got = execute(monkeypatch, fd, [x], compiled=True)
    for a, b in zip(got, exact_statistics(x, [1]), strict=True):
        torch.testing.assert_close(a.double(), b, rtol=1e-5, atol=0)


def test_a_row_that_is_computed_before_it_is_kept(monkeypatch):
    """Values that later passes read back from a buffer."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1])
        y = ops.mul(ops.exp(x), 1e18)
        variance, mean = ops.var_mean(y, [1], 0, True)
        fd.add_output(variance)
        fd.add_output(ops.truediv(ops.sub(y, mean), ops.sqrt(variance)))
    x = torch.randn(5, 2600)
    got = execute(monkeypatch, fd, [x], compiled=True)
    y = x.double().exp() * 1e18
    exact, _, mean = exact_statistics(y, [1])
    exact = exact.reshape(5, 1)
    torch.testing.assert_close(got[0].double(), exact, rtol=1e-5, atol=0)
    torch.testing.assert_close(got[1].double(), (y - mean) / exact.sqrt(), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("odd", [float("inf"), -float("inf"), float("nan")])
def test_what_is_not_finite_stays_so(monkeypatch, odd):
    fd = statistics_of(2, [1])
    x = torch.ones(3, 1200)
    x[1, 1100] = odd
    got = execute(monkeypatch, fd, [x], compiled=True)
    for result, want in zip(got, exact_statistics(x, [1]), strict=True):
        assert torch.equal(torch.isfinite(result), torch.isfinite(want))
    assert torch.equal(got[2].isnan(), x.mean(1, keepdim=True).isnan())
