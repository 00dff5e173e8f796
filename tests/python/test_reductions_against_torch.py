"""Reductions equal torch, for the dtypes they accept, over layouts and sizes 0, 1 and odd."""

import math
import time
from collections.abc import Callable

import pytest
import torch
from op_comparison import (
    ALL,
    BOOL,
    COMPLEX,
    LAYOUTS,
    REAL,
    WHOLE,
    check,
    is_whole,
    make,
    run,
    widened,
)

from meshfuse import DataType


def test_repeated_elements_are_reduced_once() -> None:
    """Reductions of expanded dimensions, alone and beside others; billions of elements cost nothing."""
    for dtype in REAL + WHOLE + COMPLEX + BOOL:
        for x in (
            make((1, 6), dtype).expand(5, 6),
            make((4, 1), dtype).expand(4, 7),
            make((1, 1), dtype).expand(3, 5),
            make((2, 1, 3), dtype).expand(2, 9, 3).transpose(0, 2),
        ):
            for dims in ([0], [1], [0, 1], [-1], [-2]):
                for keepdim in (False, True):
                    (got,) = run(lambda fd, a, d=dims, k=keepdim: fd.ops.sum(a, d, k), [x])
                    check(got, torch.sum(x, dims, keepdim))
                    if dtype not in COMPLEX:
                        (got,) = run(lambda fd, a, d=dims, k=keepdim: fd.ops.max(a, d, k), [x])
                        check(got, torch.amax(x, dims, keepdim))
                        (got,) = run(lambda fd, a, d=dims, k=keepdim: fd.ops.min(a, d, k), [x])
                        check(got, torch.amin(x, dims, keepdim))
    half = torch.tensor([60000.0], dtype=torch.float16).expand(3)
    (got,) = run(lambda fd, a: fd.ops.sum(a, [0]), [half])
    assert got.isinf()
    huge = torch.ones(1, dtype=torch.bool).expand(2**40)
    start = time.perf_counter()
    (got,) = run(lambda fd, a: fd.ops.sum(a, [0]), [huge])
    assert got.item() == 2**40
    assert time.perf_counter() - start < 1


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_halves_are_multiplied_as_floats_and_rounded_once(dtype):
    """torch rounds each factor's product, which overflows on the way to 1."""
    x = torch.cat([torch.full((9,), 4096.0), torch.full((9,), 1 / 4096), torch.full((100,), 0.999)])
    x = x.to(dtype)
    (got,) = run(lambda fd, a: fd.ops.prod(a, [0]), [x])
    check(got, x.double().prod().to(dtype))


def product(x: torch.Tensor, dims: list[int], keepdim: bool) -> torch.Tensor:
    for dim in sorted((d % x.dim() for d in dims), reverse=True):
        x = x.prod(dim, keepdim)
    return x


REDUCTIONS: dict[str, Callable[[torch.Tensor, list[int], bool], torch.Tensor]] = {
    "sum": torch.sum,
    "prod": product,
    "max": torch.amax,
    "min": torch.amin,
}


@pytest.mark.parametrize("name", sorted(REDUCTIONS))
def test_reductions(name: str) -> None:
    dtypes = REAL + WHOLE + BOOL + (COMPLEX if name in ("sum", "prod") else [])
    for dtype in dtypes:
        for shape in [(4, 6), (1, 5), (7, 3)]:
            for layout in LAYOUTS.values():
                for dims in ([0], [1], [-1], [0, 1]):
                    for keepdim in (False, True):
                        # Powers of two keep products of halves exact.
                        x = layout(
                            make(shape, dtype, -1, 2) * 4 if name == "prod" else make(shape, dtype)
                        )
                        (got,) = run(
                            lambda fd, a, d=dims, k=keepdim: getattr(fd.ops, name)(a, d, k), [x]
                        )
                        check(got, REDUCTIONS[name](x, dims, keepdim))


def test_products_over_some_dims_and_in_another_dtype() -> None:
    x = make((2, 3, 4), torch.float32, 1)
    for dims in ([0, 2], [1, 0], [-1, 1], [0, 1, 2]):
        (got,) = run(lambda fd, a, d=dims: fd.ops.prod(a, d), [x])
        check(got, product(x, dims, False))
    (got,) = run(lambda fd, a: fd.ops.prod(a, 1, dtype=DataType.Double), [x])
    check(got, x.double().prod(1))
    (got,) = run(lambda fd, a: fd.ops.prod(a, dtype=DataType.Int), [x])
    check(got, x.long().prod())
    (got,) = run(lambda fd, a: fd.ops.prod(a, [0], dtype=DataType.Bool), [x - 1])
    check(got, (x - 1).bool().all(0))


IDENTITY: dict[str, dict[torch.dtype, float]] = {
    "sum": {torch.float32: 0.0, torch.int64: 0, torch.bool: 0},
    "prod": {torch.float32: 1.0, torch.int64: 1, torch.bool: 1},
    "max": {torch.float32: -math.inf, torch.int64: -(2**63), torch.int32: -(2**31), torch.bool: 0},
    "min": {torch.float32: math.inf, torch.int64: 2**63 - 1, torch.int32: 2**31 - 1, torch.bool: 1},
}


@pytest.mark.parametrize("name", sorted(IDENTITY))
def test_reductions_over_no_elements_give_the_identity(name: str) -> None:
    for dtype, value in IDENTITY[name].items():
        result = torch.int64 if name in ("sum", "prod") and is_whole(dtype) else dtype
        for dims, shape in (([0], (4,)), ([0, 1], ()), ([1], (0,))):
            (got,) = run(lambda fd, a, d=dims: getattr(fd.ops, name)(a, d), [make((0, 4), dtype)])
            check(got, torch.full(shape, value, dtype=result))


def test_reduction_corners() -> None:
    for name in ("max", "min"):
        y = torch.tensor([1.0, math.nan, 2.0])
        (got,) = run(lambda fd, a, n=name: getattr(fd.ops, n)(a), [y])
        assert got.isnan()
    for name in REDUCTIONS:
        z = torch.tensor(3.0)
        (got,) = run(lambda fd, a, n=name: getattr(fd.ops, n)(a, [0]), [z])
        check(got, z)
    (got,) = run(lambda fd, a: fd.ops.sum(a, dtype=DataType.Double), [make((4, 6), torch.float32)])
    check(got, make((4, 6), torch.float32).double().sum())


VARIANCES: list[tuple[list[int], int, bool]] = [
    ([0], 0, False),
    ([1], 1, True),
    ([0, 1], 2, False),
    ([0], 3, True),
]


def test_var() -> None:
    for dtype in ALL:
        for layout in LAYOUTS.values():
            for dims, correction, keepdim in VARIANCES:
                x = layout(make((4, 6), dtype))
                (got,) = run(
                    lambda fd, a, d=dims, c=correction, k=keepdim: fd.ops.var(a, d, c, k), [x]
                )
                if dtype.is_complex:
                    squares = (x - x.mean(dims, keepdim=True)) ** 2
                    count = math.prod(x.shape[d] for d in dims) - correction
                    check(got, squares.sum(dims, keepdim) / count)
                else:
                    wide = x.double() if is_whole(dtype) else widened(x)
                    check(got, torch.var(wide, dims, correction=correction, keepdim=keepdim))


def test_variance_divides_by_no_negative_number() -> None:
    x = make((4, 6), torch.float32)
    (got,) = run(lambda fd, a: fd.ops.var(a, [0], 5), [x])
    check(got, torch.full((6,), math.inf))
    (got,) = run(lambda fd, a: fd.ops.var(a, [0]), [x[:1]])
    check(got, torch.full((6,), math.nan))


def test_welford() -> None:
    for dtype in REAL + COMPLEX:
        for shape in [(4, 6), (1, 5), (7, 3)]:
            for layout in LAYOUTS.values():
                for dims in ([0], [-1], [0, 1]):
                    x = layout(make(shape, dtype))
                    got = run(lambda fd, a, d=dims: fd.ops.welford(a, d), [x])
                    wide = widened(x)
                    squares = (wide - wide.mean(dims, keepdim=True)) ** 2
                    check(got[0], wide.mean(dims).to(dtype))
                    check(got[1], squares.sum(dims).to(dtype))
                    count = math.prod(shape[d] for d in dims)
                    check(got[2], torch.full(got[0].shape, count))
    got = run(lambda fd, a: fd.ops.welford(a, [0]), [make((0, 4), torch.float32)])
    for value, dtype in zip(got, (torch.float32, torch.float32, torch.int64), strict=True):
        check(value, torch.zeros(4, dtype=dtype))
    got = run(lambda fd, a: fd.ops.welford(a, [0]), [torch.tensor(3.0)])
    for value, number in zip(got, (3.0, 0.0, 1), strict=True):
        check(value, torch.tensor(number))


def test_var_mean() -> None:
    for dtype in (torch.float32, torch.float64, *COMPLEX):
        for layout in LAYOUTS.values():
            for dims, correction, keepdim in VARIANCES:
                x = layout(make((4, 6), dtype))
                got = run(
                    lambda fd, a, d=dims, c=correction, k=keepdim: fd.ops.var_mean(a, d, c, k), [x]
                )
                expected = torch.var_mean(x, dims, correction=correction, keepdim=keepdim)
                check(got[0], expected[0])
                check(got[1], expected[1])
