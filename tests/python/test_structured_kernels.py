"""Kernels of operations that are neither pointwise nor reductions compute what the evaluator and torch compute."""

import math
from functools import partial

import pytest
import torch
from kernel_comparison import ALL_TYPES, FLOAT8, assert_same, calls_of, compare
from meshfuse.pytorch_utils import torch_dtype_to_nvfuser_dtype as dtype_of
from op_comparison import BOOL, COMPLEX, LAYOUTS, REAL, SIZES, WHOLE, make

from meshfuse import DataType, FusionDefinition, ops


def special(sizes: tuple[int, ...], dtype: torch.dtype, seed: int = 0) -> torch.Tensor:
    """Small numbers; floats with infinities, NaN and zeros of both signs among them."""
    generator = torch.Generator().manual_seed(seed)
    if dtype == torch.bool:
        return torch.rand(sizes, generator=generator) < 0.5
    if not dtype.is_floating_point:
        return torch.randint(-9, 9, sizes, generator=generator).to(dtype)
    x = torch.randn(sizes, generator=generator, dtype=torch.float64) * 2
    odd = torch.tensor([math.nan, math.inf, -math.inf, -0.0, 0.0, 1.0])
    picked = odd[torch.randint(0, 6, sizes, generator=generator)].double()
    return torch.where(torch.rand(sizes, generator=generator) < 0.2, picked, x).to(dtype)


BOUNDS = [(-0.5, 1.5), (None, 1), (0, None), (1.0, -1.0), (0.0, -0.0), (-3, 2)]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", REAL + WHOLE + BOOL + FLOAT8, ids=str)
def test_clamp(monkeypatch, dtype, layout):
    bounds = BOUNDS + ([(math.nan, 1.0), (0.0, math.nan)] if dtype.is_floating_point else [])

    def define() -> FusionDefinition:
        with FusionDefinition() as fd:
            x = fd.define_tensor([-1, -1], dtype=dtype_of(dtype))
            for low, high in bounds:
                fd.add_output(ops.clamp(x, low, high))
        return fd

    inputs = [LAYOUTS[layout](special(sizes, dtype)) for sizes in [*SIZES, (3, 1100)]]
    results = compare(monkeypatch, define, [[x] for x in inputs])
    if dtype in (*FLOAT8, torch.bool):
        return
    for x, got in zip(inputs, results, strict=True):
        for (low, high), each in zip(bounds, got, strict=True):
            if dtype in WHOLE:
                low, high = (None if b is None else int(b) for b in (low, high))
            assert_same(each, torch.clamp(x, low, high))


@pytest.mark.parametrize(
    "bound", [(DataType.Double, 0.5), (DataType.Int, 1), (DataType.Double, math.nan)]
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64, torch.int32])
def test_clamp_by_numbers_of_the_call(monkeypatch, dtype, bound):
    def define() -> FusionDefinition:
        with FusionDefinition() as fd:
            x = fd.define_tensor([-1, -1], dtype=dtype_of(dtype))
            low = fd.define_scalar(None, dtype=bound[0])
            fd.add_output(ops.neg(ops.clamp(ops.neg(x), low, 2)))
            fd.add_output(ops.neg(ops.clamp(ops.neg(x), None, low)))
        return fd

    runs = dtype.is_floating_point or (dtype == torch.int64 and bound[0] == DataType.Int)
    x = special((7, 33), dtype)
    compare(
        monkeypatch, define, [[x, bound[1]], [x, -bound[1]]], [] if runs else ["clamp", "clamp"]
    )


@pytest.mark.parametrize("dtype", ALL_TYPES, ids=str)
def test_triu(monkeypatch, dtype):
    def define(diagonal: int, rank: int) -> FusionDefinition:
        with FusionDefinition() as fd:
            x = fd.define_tensor([-1] * rank, dtype=dtype_of(dtype))
            fd.add_output(ops.triu(x, diagonal))
            fd.add_output(ops.triu(ops.permute(x, [*range(rank - 2), rank - 1, rank - 2]), 1))
        return fd

    for diagonal, sizes in [
        (0, (7, 5)),
        (1, (5, 7)),
        (-2, (6, 6)),
        (3, (2, 3)),
        (-1, (3, 4, 33)),
        (0, (2, 0, 3)),
    ]:
        x = make(sizes, torch.complex64 if dtype.is_complex else torch.float32).to(dtype)
        if dtype not in FLOAT8 + COMPLEX + BOOL and dtype.is_floating_point:
            x = special(sizes, dtype)
        ((upper, lower),) = compare(monkeypatch, partial(define, diagonal, len(sizes)), [[x]])
        if dtype not in FLOAT8:
            assert_same(upper, torch.triu(x, diagonal))
            assert_same(lower, torch.triu(x.mT, 1))


def test_a_triangle_of_what_a_kernel_computes_is_part_of_it(monkeypatch):
    def define() -> FusionDefinition:
        with FusionDefinition() as fd:
            x = fd.define_tensor([-1, -1, -1])
            y = ops.triu(ops.mul(x, 2.0), 0)
            fd.add_output(ops.sum(ops.exp(y), [2]))
            fd.add_output(ops.sum(ops.triu(ops.neg(x), 1), [0, 1]))
        return fd

    xs = [
        make(sizes, torch.float32) / 8
        for sizes in [(3, 17, 33), (2, 40, 1100), (1, 1, 5), (2, 3, 0)]
    ]
    for x in xs:
        want = [torch.triu(x * 2).exp().sum(2), torch.triu(-x, 1).sum([0, 1])]
        fd = define()
        monkeypatch.setenv("MESHFUSE_COMPILE", "1")
        got = fd.execute([x])
        assert calls_of(fd) == []
        torch.testing.assert_close(got, want)


@pytest.mark.parametrize("dtype", ALL_TYPES, ids=str)
def test_full(monkeypatch, dtype):
    value = (
        True
        if dtype == torch.bool
        else 3
        if dtype in WHOLE
        else 1 - 2j
        if dtype.is_complex
        else 0.3
    )

    def define() -> FusionDefinition:
        with FusionDefinition() as fd:
            x = fd.define_tensor([-1, -1], dtype=dtype_of(dtype))
            n = fd.ops.size(x, 1)
            row = fd.ops.full([n], value, dtype_of(dtype))
            fd.add_output(ops.where(ops.eq(x, x), row, x))
            fd.add_output(ops.set(fd.ops.full([2, n], value, dtype_of(dtype))))
        return fd

    compare(
        monkeypatch,
        define,
        [
            [LAYOUTS["contiguous"](special(s, dtype) if not dtype.is_complex else make(s, dtype))]
            for s in SIZES
        ],
    )


@pytest.mark.parametrize("dtype", REAL + WHOLE + FLOAT8, ids=str)
def test_iota(monkeypatch, dtype):
    numbers = (
        [(0, 1), (5, -3), (-7, 2)] if dtype in WHOLE else [(0.0, 1.0), (2.5, -0.1), (-1.0, 1e-3)]
    )

    def define() -> FusionDefinition:
        with FusionDefinition() as fd:
            x = fd.define_tensor([-1, -1], dtype=dtype_of(dtype))
            n, m = fd.ops.size(x, 0), fd.ops.size(x, 1)
            for start, step in numbers:
                row = fd.ops.iota(m, start, step, dtype_of(dtype))
                column = ops.broadcast(fd.ops.iota(n, start, step, dtype_of(dtype)), [False, True])
                fd.add_output(ops.where(ops.eq(x, x), row, column))
                fd.add_output(ops.where(ops.ne(x, x), row, column))
                fd.add_output(ops.neg(fd.ops.iota(1100, start, step, dtype_of(dtype))))
        return fd

    results = compare(monkeypatch, define, [[special(sizes, dtype)] for sizes in SIZES])
    if dtype in (torch.float64, torch.int64):
        for got in results:
            for (start, step), each in zip(numbers, got[2::3], strict=True):
                assert_same(each, -(torch.arange(1100, dtype=dtype) * step + start))


def test_iota_of_numbers_of_the_call_is_the_librarys(monkeypatch):
    def define() -> FusionDefinition:
        with FusionDefinition() as fd:
            start = fd.define_scalar(None, dtype=DataType.Int)
            fd.add_output(ops.neg(fd.ops.iota(7, start, 2, DataType.Int)))
        return fd

    ((got,),) = compare(monkeypatch, define, [[4]], ["iota"])
    assert_same(got, -torch.arange(4, 18, 2))


@pytest.mark.parametrize("dtype", REAL, ids=str)
def test_random_numbers_are_those_of_the_evaluator(monkeypatch, dtype):
    """Bit by bit, with seeds drawn and given, in kernels with other calls and in calls of their own."""
    kind = dtype_of(dtype)

    def define() -> FusionDefinition:
        with FusionDefinition() as fd:
            x = fd.define_tensor([-1, -1], dtype=kind)
            seed = fd.define_scalar(None, dtype=DataType.Int)
            n, m = fd.ops.size(x, 0), fd.ops.size(x, 1)
            two = fd.define_scalar(2, dtype=DataType.Int)
            fd.add_output(ops.rand_like(x))
            fd.add_output(ops.neg(ops.randn_like(ops.neg(x))))
            fd.add_output(fd.ops.uniform(-1.5, 2.75, [n, m], dtype=kind))
            fd.add_output(
                fd.ops.uniform(0.0, 1.0, [n, m], rng_seed=seed, rng_offset=two, dtype=kind)
            )
            fd.add_output(
                ops.neg(fd.ops.normal(1.0, 0.5, [m], rng_seed=two, rng_offset=seed, dtype=kind))
            )
            fd.add_output(
                ops.add(
                    fd.ops.normal(-1.0, 2.0, [n, m], dtype=kind),
                    fd.ops.uniform(1.0, 1.0, [m], dtype=kind),
                )
            )
            fd.add_output(ops.argsort(ops.rand_like(ops.permute(x, [1, 0])), 0, stable=True))
            fd.add_output(ops.rand_like(x))
        return fd

    calls = [
        [layout(special(sizes, dtype)), seed]
        for layout in LAYOUTS.values()
        for sizes, seed in zip(
            [*SIZES, (1, 1), (3, 1100), (40, 2100)], [0, 1, -1, 2**62, 7, 8, 9, 10], strict=True
        )
    ]
    compare(monkeypatch, define, calls, ["argsort"])


def test_random_numbers_stay_below_their_bound(monkeypatch):
    def define(low: float, high: float, dtype: DataType) -> FusionDefinition:
        with FusionDefinition() as fd:
            fd.add_output(fd.ops.uniform(low, high, [1000, 100], dtype=dtype))
        return fd

    for dtype in (DataType.Half, DataType.BFloat16, DataType.Float):
        for low, high in [
            (0.0, 1.0),
            (-1.0, 0.0),
            (1.0, 1.0 + 2**-7),
            (-2.0, -1.0),
            (0.1, 0.3),
            (-1e-7, 1e-7),
            (0.0, 1e-9),
        ]:
            ((x,),) = compare(monkeypatch, partial(define, low, high, dtype), [[]])
            assert bool((x.double() < high).all())


def test_what_random_numbers_are_like_is_computed(monkeypatch):
    """Nothing else needs the quotients; an error in them is one of the call all the same."""

    def define() -> FusionDefinition:
        with FusionDefinition() as fd:
            x, y = (fd.define_tensor([-1], dtype=DataType.Int) for _ in range(2))
            fd.add_output(ops.rand_like(ops.cast(ops.div(x, y), dtype=DataType.Float)))
        return fd

    x = torch.arange(1, 101)
    compare(monkeypatch, define, [[x, x], [x, x - 50]])


def test_a_sum_of_numbers_of_no_operand(monkeypatch):
    def define() -> FusionDefinition:
        with FusionDefinition() as fd:
            fd.add_output(ops.sum(ops.neg(fd.ops.iota(1100, 0, 1, DataType.Int)), [0]))
            fd.add_output(ops.max(fd.ops.uniform(0.0, 1.0, [33, 17], dtype=DataType.Float), [1]))
            fd.add_output(ops.sum(ops.neg(fd.ops.full([7, 3], 2, DataType.Int)), [0]))
        return fd

    compare(monkeypatch, define, [[]])
