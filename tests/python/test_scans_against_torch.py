"""Scans, sorts, triangles and clamp equal torch, for the dtypes they accept, over layouts and sizes 0, 1 and odd."""

import math

import pytest
import torch
from meshfuse.pytorch_utils import torch_dtype_to_nvfuser_dtype
from op_comparison import (
    ALL,
    BOOL,
    COMPLEX,
    LAYOUTS,
    REAL,
    SIZES,
    WHOLE,
    check,
    is_whole,
    make,
    run,
    scanned,
)

from meshfuse import DataType, FusionDefinition


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "cummax", "cummin"])
def test_scans(name: str) -> None:
    for dtype in REAL + WHOLE + BOOL + (COMPLEX if name in ("cumsum", "cumprod") else []):
        for shape in [*SIZES, (5, 0)]:
            for layout in LAYOUTS.values():
                for dim in (0, 1, -1, -2):
                    x = layout(make(shape, dtype))
                    (got,) = run(lambda fd, a, d=dim: getattr(fd.ops, name)(a, d), [x])
                    check(got, scanned(name, x, dim))
    special = torch.tensor([[2.0, math.nan, 3.0], [-math.inf, 0.0, math.inf]])
    for dim in (0, 1):
        (got,) = run(lambda fd, a, d=dim: getattr(fd.ops, name)(a, dim=d), [special])
        check(got, scanned(name, special, dim))


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "cummax", "cummin"])
def test_scans_start_from_a_number(name: str) -> None:
    for dtype in REAL + WHOLE + BOOL + (COMPLEX if name in ("cumsum", "cumprod") else []):
        numbers = (0, 3) if is_whole(dtype) or dtype == torch.bool else (0, -1.5)
        for number in numbers if dtype != torch.bool else (False, True):
            for shape in [*SIZES, (5, 0)]:
                for layout in LAYOUTS.values():
                    for dim in (0, -1):
                        x = layout(make(shape, dtype))
                        start = torch.full_like(x.sum(dim, keepdim=True, dtype=dtype), number)
                        (got,) = run(
                            lambda fd, a, d=dim, n=number, t=dtype: getattr(fd.ops, name)(
                                a, d, fd.define_scalar(n, dtype=torch_dtype_to_nvfuser_dtype(t))
                            ),
                            [x],
                        )
                        whole = scanned(name, torch.cat([start, x], dim), dim)
                        check(got, whole.narrow(dim, 1, x.shape[dim]))


def test_scans_start_from_a_number_known_at_run_time() -> None:
    with FusionDefinition() as fd:
        x, init = fd.define_tensor([-1]), fd.define_scalar(DataType.Double)
        for name in ("cumsum", "cumprod", "cummax", "cummin"):
            fd.add_output(getattr(fd.ops, name)(x, dim=0, init=init))
    x = torch.tensor([1.0, -2.0, 4.0])
    got = fd.execute([x, 0.5])
    check(got[0], torch.tensor([1.5, -0.5, 3.5]))
    check(got[1], torch.tensor([0.5, -1.0, -4.0]))
    check(got[2], torch.tensor([1.0, 1.0, 4.0]))
    check(got[3], torch.tensor([0.5, -2.0, -2.0]))
    check(fd.execute([x[:0], 7.0])[0], torch.empty(0))


def test_numbers_beyond_the_integers_of_the_operand_wrap() -> None:
    x = torch.tensor([1, 2], dtype=torch.int32)
    (got,) = run(lambda fd, a: fd.ops.cumsum(a, 0, fd.define_scalar(2**32 + 5)), [x])
    check(got, torch.tensor([6, 8], dtype=torch.int32))


@pytest.mark.parametrize("name", ["cummax", "cummin"])
def test_scans_that_compare_refuse_numbers_that_the_operand_has_no_place_for(name: str) -> None:
    x = torch.tensor([1, 2], dtype=torch.int32)
    for number in (2**31, -(2**31) - 1, 2**32 + 5):
        with pytest.raises(
            RuntimeError, match=f"{name}: a number is .*: init is {number}, which Int32 does"
        ):
            run(lambda fd, a, n=number: getattr(fd.ops, name)(a, 0, fd.define_scalar(n)), [x])
    for number in (2**31 - 1, -(2**31)):
        (got,) = run(lambda fd, a, n=number: getattr(fd.ops, name)(a, 0, fd.define_scalar(n)), [x])
        whole = torch.cat([torch.tensor([number], dtype=torch.int32), x])
        check(got, scanned(name, whole, 0)[1:])


def test_iota_of_int32_refuses_numbers_beyond_it() -> None:
    for length, start, step in (
        (3, 2**31, 1),
        (2, 0, 2**31),
        (3, 2**31 - 2, 1),
        (2, -(2**31), -1),
        (1, 2**40, 1),
    ):
        with FusionDefinition() as fd:
            fd.add_output(fd.ops.iota(length, start, step, DataType.Int32))
        text = f"iota: the numbers are ones of dtype: got {length} from {start} by {step}, which Int32 does"
        with pytest.raises(RuntimeError, match=text):
            fd.execute([])
    for length, start, step in ((2, 2**31 - 2, 1), (2, 0, -(2**31)), (0, 2**40, 1), (1, 5, 2**40)):
        with FusionDefinition() as fd:
            fd.add_output(fd.ops.iota(length, start, step, DataType.Int32))
        expected = torch.arange(length) * step + start
        check(fd.execute([])[0], expected.to(torch.int32))


def test_scans_of_integers_wrap() -> None:
    x = torch.full((3,), 2**30, dtype=torch.int32)
    (got,) = run(lambda fd, a: fd.ops.cumsum(a, 0), [x])
    check(got, torch.tensor([2**30, -(2**31), -(2**30)], dtype=torch.int32))


def test_argsort() -> None:
    for dtype in REAL + WHOLE + BOOL:
        for shape in [*SIZES, (5, 0)]:
            for layout in LAYOUTS.values():
                for dim in (0, 1, -1):
                    for descending in (False, True):
                        x = layout(make(shape, dtype))
                        (got,) = run(
                            lambda fd, a, d=dim, s=descending: fd.ops.argsort(a, d, s, stable=True),
                            [x],
                        )
                        check(got, torch.argsort(x, dim=dim, descending=descending, stable=True))
                        (got,) = run(
                            lambda fd, a, d=dim, s=descending: fd.ops.argsort(a, d, s), [x]
                        )
                        check(x.gather(dim, got), x.sort(dim, descending).values)
    special = torch.tensor([math.nan, 1.0, -math.inf, math.inf, 0.5])
    (got,) = run(lambda fd, a: fd.ops.argsort(a, 0), [special])
    check(got, torch.argsort(special, 0))
    for dim in (0, -1):
        (got,) = run(lambda fd, a, d=dim: fd.ops.argsort(a, d), [torch.tensor(3.0)])
        check(got, torch.tensor(0))


def test_topk() -> None:
    for dtype in REAL + WHOLE + BOOL:
        for shape, dim, counts in (
            ((4, 6), -1, (0, 1, 2, 6)),
            ((4, 6), 0, (1, 3, 4)),
            ((1, 5), 0, (0, 1)),
            ((0, 4), 1, (2,)),
            ((7, 3), 1, (2, 3)),
        ):
            for count in counts:
                for layout in LAYOUTS.values():
                    for largest in (True, False):
                        x = layout(make(shape, dtype))
                        values, indices = run(
                            lambda fd, a, c=count, d=dim, s=largest: fd.ops.topk(
                                a, fd.define_scalar(c), d, s, sorted=True
                            ),
                            [x],
                        )
                        best = x.sort(dim, descending=largest).values.narrow(dim, 0, count)
                        check(values, best)
                        assert indices.dtype == torch.int64
                        check(x.gather(dim, indices), best)


def test_topk_corners() -> None:
    x = torch.tensor([3.0, math.nan, 1.0, 2.0])
    values, indices = run(lambda fd, a: fd.ops.topk(a, fd.define_scalar(2)), [x])
    assert {str(v) for v in values.tolist()} == {"nan", "3.0"}
    assert set(indices.tolist()) == {0, 1}
    for dim in (0, -1):
        values, indices = run(
            lambda fd, a, d=dim: fd.ops.topk(a, fd.define_scalar(1), d), [torch.tensor(3.0)]
        )
        check(values, torch.tensor(3.0))
        check(indices, torch.tensor(0))
    with FusionDefinition() as fd:
        values, _ = fd.ops.topk(fd.define_tensor([-1, -1]), fd.define_scalar(3))
        fd.add_output(values)
    assert fd.execute([torch.ones(2, 3)])[0].shape == (2, 3)
    with pytest.raises(RuntimeError, match="topk: selected index k out of range: got k = 3 for "):
        fd.execute([torch.ones(2, 2)])


def test_topk_of_a_count_known_at_run_time() -> None:
    with FusionDefinition() as fd:
        x, k = fd.define_tensor([-1, -1]), fd.define_scalar(DataType.Int)
        values, indices = fd.ops.topk(x, k, dim=1, sorted=True)
        fd.add_output(values)
        fd.add_output(indices)
        fd.add_output(fd.ops.full([fd.ops.size(values, 1)], 2.0, DataType.Float))
        # A count that is computed.
        fd.add_output(fd.ops.topk(x, fd.ops.sub(fd.ops.size(x, 0), k), dim=0, sorted=True)[0])
    x = torch.randn(6, 5, generator=torch.Generator().manual_seed(3))
    for count in (2, 5, 1, 0, 2):
        got = fd.execute([x, count])
        expected = torch.topk(x, count, 1)
        check(got[0], expected.values)
        check(got[1], expected.indices)
        check(got[2], torch.full((count,), 2.0))
        check(got[3], torch.topk(x, 6 - count, 0).values)
    for count in (6, -1):
        text = f"topk: selected index k out of range: got k = {count} for dimension 1 of size 5"
        with pytest.raises(RuntimeError, match=text):
            fd.execute([x, count])
    check(fd.execute([x, 3])[0], torch.topk(x, 3, 1).values)


def test_triu() -> None:
    for dtype in ALL:
        for shape in [*SIZES, (2, 3, 4), (2, 1, 3, 3)]:
            for diagonal in (0, 1, -1, 2, -9, 9):
                for layout in LAYOUTS.values():
                    x = make(shape, dtype)
                    x = layout(x) if x.dim() == 2 else x
                    (got,) = run(lambda fd, a, d=diagonal: fd.ops.triu(a, d), [x])
                    check(got, torch.triu(x, diagonal))
    (got,) = run(lambda fd, a: fd.ops.triu(a), [make((3, 3), torch.float32)])
    check(got, torch.triu(make((3, 3), torch.float32)))


def limits(dtype: torch.dtype) -> tuple[float, float]:
    if dtype == torch.bool:
        return 0, 1
    if is_whole(dtype):
        return torch.iinfo(dtype).min, torch.iinfo(dtype).max
    return -math.inf, math.inf


def clamped(x: torch.Tensor, low: float | None, high: float | None) -> torch.Tensor:
    """Each element by itself, in Python; bounds are cut off for whole numbers."""
    lowest, highest = limits(x.dtype)
    bounds = [lowest if low is None else low, highest if high is None else high]
    if is_whole(x.dtype):
        bounds = [math.trunc(min(max(bound, lowest), highest)) for bound in bounds]
    values = [
        math.nan if math.nan in (v, *bounds) or v != v else min(max(v, bounds[0]), bounds[1])
        for v in x.flatten().tolist()
    ]
    return torch.tensor(values, dtype=x.dtype).reshape(x.shape)


BOUNDS: list[tuple[float | None, float | None]] = [
    (-1.5, 1.25),
    (0, None),
    (None, 1),
    (None, None),
    (-math.inf, math.inf),
    (2, -2),
    (-1e30, 1e30),
    (-(2**40), 2**40),
]


def test_clamp() -> None:
    for dtype in REAL + WHOLE + BOOL:
        for shape in SIZES:
            for layout in LAYOUTS.values():
                x = layout(make(shape, dtype))
                for low, high in BOUNDS:
                    (got,) = run(lambda fd, a, lo=low, hi=high: fd.ops.clamp(a, lo, hi), [x])
                    check(got, clamped(x, low, high))
    special = torch.tensor([math.nan, math.inf, -math.inf, 0.5])
    for low, high in [*BOUNDS, (math.nan, 1.0), (0.0, math.nan)]:
        (got,) = run(lambda fd, a, lo=low, hi=high: fd.ops.clamp(a, lo, hi), [special])
        check(got, clamped(special, low, high))


def test_clamp_of_and_by_scalars_known_at_run_time() -> None:
    x = make((4, 6), torch.float32)
    with FusionDefinition() as fd:
        a, low, s = fd.from_pytorch(x), fd.define_scalar(), fd.define_scalar()
        bounded = fd.ops.clamp(s, None, 0.5)
        fd.add_output(fd.ops.add(fd.ops.clamp(a, low, None), bounded))
    check(fd.execute([x, -0.25, 3.0])[0], x.clamp(min=-0.25) + 0.5)
    check(fd.execute([x, 0.5, -2.0])[0], x.clamp(min=0.5) - 2.0)
    with FusionDefinition() as fd:
        a, low = fd.from_pytorch(x.int()), fd.define_scalar()
        fd.add_output(fd.ops.clamp(a, low, None))
    check(fd.execute([x.int(), 0.75])[0], x.int().clamp(min=0))
    with pytest.raises(
        ValueError, match="clamp: a bound of whole numbers or bools is not NaN: got NaN"
    ):
        fd.execute([x.int(), math.nan])
