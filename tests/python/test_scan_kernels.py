"""Scans in kernels, along the lane and along other loops, with what is computed before and after them in the same kernel."""

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from kernel_comparison import assert_same, calls_of, compare
from meshfuse.pytorch_utils import torch_dtype_to_nvfuser_dtype as dtype_of
from op_comparison import BOOL, COMPLEX, LAYOUTS, REAL, SIZES, WHOLE, make, scanned

from meshfuse import DataType, FusionDefinition, ops

SCANS = ["cumsum", "cumprod", "cummax", "cummin"]
# One row is longer than what kernels keep of it, and one has parts of a chunk left over.
LONG = [(3, 1100), (2, 20000), (70, 40)]


def names_for(dtype: torch.dtype) -> list[str]:
    return SCANS[:2] if dtype.is_complex else SCANS


def exact(sizes: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    """Numbers whose products keep all their bits, where torch may or may not round between the halves of a product."""
    if not dtype.is_complex:
        return make(sizes, dtype)
    return torch.tensor([1, -1, 1j, -1j], dtype=dtype)[make(sizes, torch.int64, 0, 4)]


def kernel_count(fd: FusionDefinition) -> int:
    return sum(line.startswith("launch ") for line in fd.explain().splitlines())


@pytest.mark.parametrize("dtype", REAL + WHOLE + BOOL + COMPLEX, ids=str)
def test_types_layouts_and_sizes(monkeypatch, dtype):
    def define() -> FusionDefinition:
        with FusionDefinition() as fd:
            x = fd.define_tensor([-1, -1], dtype=dtype_of(dtype))
            for name in names_for(dtype):
                for dim in (0, 1):
                    fd.add_output(getattr(ops, name)(x, dim))
        return fd

    inputs = [
        lay(exact(sizes, dtype))
        for name, lay in LAYOUTS.items()
        for sizes in SIZES + LONG
        if name != "expanded" and 1 not in sizes
    ]
    for x, results in zip(inputs, compare(monkeypatch, define, [[x] for x in inputs]), strict=True):
        got = iter(results)
        for name in names_for(dtype):
            for dim in (0, 1):
                assert_same(next(got), scanned(name, x, dim))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64], ids=str)
def test_special_numbers(monkeypatch, dtype):
    def define() -> FusionDefinition:
        with FusionDefinition() as fd:
            x = fd.define_tensor([-1, -1], dtype=dtype_of(dtype))
            for name in SCANS:
                for dim in (0, 1):
                    fd.add_output(getattr(ops, name)(x, dim))
        return fd

    odd = torch.tensor([math.nan, math.inf, -math.inf, -0.0, 0.0, 1.0, -1.0, 2.0])
    generator = torch.Generator().manual_seed(3)
    x = odd[torch.randint(1, 8, (40, 50), generator=generator)]
    x[torch.rand(40, 50, generator=generator) < 0.02] = math.nan
    (got,) = compare(monkeypatch, define, [[x.to(dtype)]])
    for i, name in enumerate(SCANS):
        for dim in (0, 1):
            assert_same(got[2 * i + dim], scanned(name, x.to(dtype), dim))


@pytest.mark.parametrize("dtype", REAL + WHOLE + BOOL, ids=str)
@pytest.mark.parametrize("name", SCANS)
def test_starts(monkeypatch, name, dtype):
    """From a number of the definition, one of the call, and a tensor without dimensions."""
    start = True if dtype == torch.bool else -3 if dtype in WHOLE else -1.5
    types = {torch.bool: DataType.Bool, torch.int32: DataType.Int, torch.int64: DataType.Int}
    given = types.get(dtype, DataType.Double)

    def define() -> FusionDefinition:
        with FusionDefinition() as fd:
            x = fd.define_tensor([-1, -1], dtype=dtype_of(dtype))
            number = fd.define_scalar(None, dtype=given)
            scan = getattr(ops, name)
            for init in (fd.define_scalar(start, dtype=given), number):
                for dim in (0, 1):
                    fd.add_output(scan(x, dim, init))
        return fd

    inputs = [make(sizes, dtype) for sizes in [(4, 6), (3, 1100), (0, 4), (7, 3)]]
    # A whole number of the call is looked at by the library alone.
    left = [name] * 2 if dtype == torch.int32 else []
    for x, results in zip(
        inputs, compare(monkeypatch, define, [[x, start] for x in inputs], left), strict=True
    ):
        for i, got in enumerate(results):
            sizes = list(x.shape)
            sizes[i % 2] = 1
            whole = torch.cat([torch.full(sizes, start, dtype=dtype), x], i % 2)
            assert_same(got, scanned(name, whole, i % 2).narrow(i % 2, 1, x.shape[i % 2]))


def test_a_start_that_the_type_has_no_place_for(monkeypatch):
    def define() -> FusionDefinition:
        with FusionDefinition() as fd:
            x = fd.define_tensor([-1, -1], dtype=DataType.Int32)
            fd.add_output(ops.cummax(ops.neg(x), 0, fd.define_scalar(None, dtype=DataType.Int)))
        return fd

    x = make((4, 6), torch.int32)
    assert not compare(monkeypatch, define, [[x, 2**31], [x, -(2**31) - 1]])


Chain = Callable[[Any, Any], list]
CHAINS: dict[str, tuple[Chain, Callable[[torch.Tensor, torch.Tensor], list[torch.Tensor]]]] = {
    "before and after": (
        lambda x, y: [ops.mul(ops.cumsum(ops.mul(x, y), 1), 0.5)],
        lambda x, y: [(x * y).cumsum(1) * 0.5],
    ),
    "much before and after": (
        lambda x, y: [ops.sub(ops.sin(ops.cumsum(ops.exp(ops.neg(ops.mul(x, x))), 1)), y)],
        lambda x, y: [(-(x * x)).exp().cumsum(1).sin() - y],
    ),
    "one after the other": (
        lambda x, y: [ops.exp(ops.neg(ops.cummax(ops.cos(ops.cumsum(ops.tanh(x), 1)), 1)))],
        lambda x, y: [(-x.tanh().cumsum(1).cos().cummax(1).values).exp()],
    ),
    "two side by side": (
        lambda x, y: [ops.sub(ops.cumsum(x, 1), ops.cummin(y, 1)), ops.cumprod(ops.tanh(x), 1)],
        lambda x, y: [x.cumsum(1) - y.cummin(1).values, x.tanh().cumprod(1)],
    ),
    "of what a reduction changes": (
        lambda x, y: [ops.cumsum(ops.sub(x, ops.max(x, [1], keepdim=True)), 1)],
        lambda x, y: [(x - x.amax(1, keepdim=True)).cumsum(1)],
    ),
    "beside and before reductions": (
        lambda x, y: [
            ops.sum(ops.cumsum(x, 1), [1]),
            ops.sub(ops.cumsum(x, 1), ops.max(ops.cumsum(x, 1), [1], keepdim=True)),
        ],
        lambda x, y: [x.cumsum(1).sum(1), x.cumsum(1) - x.cumsum(1).amax(1, keepdim=True)],
    ),
    "shares of a whole": (
        lambda x, y: [ops.truediv(ops.cumsum(ops.exp(x), 1), ops.sum(ops.exp(x), [1], True))],
        lambda x, y: [x.exp().cumsum(1) / x.exp().sum(1, keepdim=True)],
    ),
    "shares of a whole that are stable": (
        lambda x, y: [
            ops.truediv(
                ops.cumsum(ops.exp(ops.sub(x, ops.max(x, [1], True))), 1),
                ops.sum(ops.exp(ops.sub(x, ops.max(x, [1], True))), [1], True),
            )
        ],
        lambda x, y: [x.softmax(1).cumsum(1)],
    ),
    "of slices side by side": (
        lambda x, y: [ops.cumsum(ops.cat([ops.exp(x), ops.neg(y)], 1), 1)],
        lambda x, y: [torch.cat([x.exp(), -y], 1).cumsum(1)],
    ),
    "of permuted dimensions": (
        lambda x, y: [ops.add(ops.permute(ops.cumsum(ops.neg(x), 0), [1, 0]), 1.0)],
        lambda x, y: [(-x).cumsum(0).t() + 1],
    ),
}


@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("chain", CHAINS)
def test_what_stands_around_them(monkeypatch, chain, dim):
    """Rows that are kept, that are too long to be kept, and columns."""
    build, expected = CHAINS[chain]

    def define() -> FusionDefinition:
        with FusionDefinition() as fd:
            x, y = (fd.define_tensor([-1, -1], dtype=DataType.Double) for _ in range(2))
            if dim == 0:
                x, y = (ops.permute(each, [1, 0]) for each in (x, y))
            for value in build(x, y):
                fd.add_output(value)
        return fd

    for sizes in [(4, 6), (3, 1100), (2, 20000), (70, 40), (5, 0)]:
        generator = torch.Generator().manual_seed(math.prod(sizes))
        x, y = (torch.randn(sizes, generator=generator).double() for _ in range(2))
        if sizes[1] == 0 and "reduc" in chain:
            continue
        inputs = [each.t().contiguous() if dim == 0 else each for each in (x, y)]
        fd = define()
        monkeypatch.setenv("MESHFUSE_COMPILE", "1")
        results = fd.execute(inputs)
        assert not set(calls_of(fd)) - {"permute"}  # which is a view
        for got, want in zip(results, expected(x, y), strict=True):
            torch.testing.assert_close(got, want, rtol=1e-11, atol=1e-11)
            assert got.shape == want.shape


def test_one_kernel_has_it_all(monkeypatch):
    monkeypatch.setenv("MESHFUSE_COMPILE", "1")
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1])
        powers = ops.exp(ops.sub(x, ops.max(x, [1], keepdim=True)))
        fd.add_output(ops.truediv(ops.cumsum(powers, 1), ops.sum(powers, [1], keepdim=True)))
    x = make((5, 300), torch.float32)
    (got,) = fd.execute([x])
    torch.testing.assert_close(got, x.softmax(1).cumsum(1))
    assert calls_of(fd) == []
    assert kernel_count(fd) == 1


def test_threads_do_not_change_a_bit(monkeypatch):
    def define() -> FusionDefinition:
        with FusionDefinition() as fd:
            x = fd.define_tensor([-1, -1])
            for dim in (0, 1):
                fd.add_output(ops.mul(ops.cumsum(ops.exp(x), dim), 0.5))
        return fd

    monkeypatch.setenv("MESHFUSE_COMPILE", "1")
    x = torch.randn(300, 1000, generator=torch.Generator().manual_seed(0))
    threads = torch.get_num_threads()
    try:
        results = []
        for count in (1, 2, 3):
            torch.set_num_threads(count)
            results.append(define().execute([x]))
    finally:
        torch.set_num_threads(threads)
    for other in results[1:]:
        for got, want in zip(other, results[0], strict=True):
            assert torch.equal(got, want)


@pytest.mark.parametrize("scale", [1.0, 1e17])
def test_variances_that_are_taken_once_more(monkeypatch, scale):
    """Squares of large floats overflow, and the pass over the row is repeated in double: its scans begin anew."""
    monkeypatch.setenv("MESHFUSE_COMPILE", "1")
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1])
        for summed in (ops.cumsum(x, 1), ops.mul(ops.cumsum(ops.sin(ops.tanh(x)), 1), scale)):
            fd.add_output(ops.var(summed, [1], 0))
    x = torch.randn(6, 1500, generator=torch.Generator().manual_seed(1)) * scale
    plain, scaled = fd.execute([x])
    assert calls_of(fd) == []
    wide = x.double()
    for got, want in ((plain, wide.cumsum(1)), (scaled, wide.tanh().sin().cumsum(1) * scale)):
        torch.testing.assert_close(got.double(), want.var(1, correction=0), rtol=1e-4, atol=0)
