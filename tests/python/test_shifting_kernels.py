"""Kernels that read operands at shifted positions (pad, cat, and slices on the way) compute what the evaluator and torch compute."""

from functools import partial

import pytest
import torch
from kernel_comparison import ALL_TYPES, FLOAT8, assert_same, calls_of, compare
from meshfuse.pytorch_utils import torch_dtype_to_nvfuser_dtype as dtype_of
from op_comparison import make

from meshfuse import DataType, FusionDefinition, ops


def numbers(sizes: tuple[int, ...], dtype: torch.dtype, seed: int = 0) -> torch.Tensor:
    wide = torch.complex64 if dtype.is_complex else torch.float32
    return make(sizes, wide, seed=seed).to(dtype)


def same(x: object) -> object:
    """A call after which a kernel goes on, and which changes nothing."""
    return ops.where(ops.eq(x, x), x, x)


WIDTHS = [
    ([1, 2], (7, 33)),
    ([0, 3], (7, 33)),
    ([-1, 2, 2, 0], (5, 6)),
    ([-2, -3], (4, 5)),
    ([-2, -2, 1, 1], (3, 5)),
    ([3, 3], (3, 0)),
    ([1, 1, 2, 0], (1, 1)),
    ([2, 1030], (3, 1100)),
    ([5, -7, -1, 3], (3, 4, 17)),
    ([0, 0, 1, 1], (3, 4, 17)),
]


@pytest.mark.parametrize("dtype", ALL_TYPES, ids=str)
def test_pad(monkeypatch, dtype):
    value = None if dtype == torch.bool else 2 if not dtype.is_floating_point else 1.5
    if dtype.is_complex:
        value = None

    def define(widths: list[int], rank: int) -> FusionDefinition:
        with FusionDefinition() as fd:
            x = fd.define_tensor([-1] * rank, dtype=dtype_of(dtype))
            fd.add_output(same(ops.pad(x, widths, value)))
        return fd

    for widths, sizes in WIDTHS if dtype in (torch.float32, torch.bfloat16) else WIDTHS[:3]:
        x = numbers(sizes, dtype)
        turned = x.permute(*reversed(range(x.dim()))).contiguous()
        calls = [
            [x],
            [turned.permute(*reversed(range(x.dim())))],
            [torch.stack([x, x], -1)[..., 0]],
        ]
        for (got,) in compare(monkeypatch, partial(define, widths, x.dim()), calls):
            if dtype not in FLOAT8:
                assert_same(got, torch.nn.functional.pad(x, widths, value=value or 0))


PARTS = [
    ([(7, 3), (7, 5)], 1),
    ([(2, 5), (3, 5), (1, 5)], 0),
    ([(3, 4), (3, 0), (3, 2)], 1),
    ([(2, 3, 1), (2, 3, 1100), (2, 3, 17)], 2),
    ([(2, 1, 5), (2, 1, 5)], 1),
    ([(0, 4), (0, 4)], 0),
    ([(6,)], 0),
    ([(5, 1100), (40, 1100)], 0),
    ([(3, 2), (3, 5), (3, 1), (3, 9)], 1),
]


@pytest.mark.parametrize("dtype", ALL_TYPES, ids=str)
def test_cat(monkeypatch, dtype):
    def define(ranks: list[int], dim: int) -> FusionDefinition:
        with FusionDefinition() as fd:
            xs = [fd.define_tensor([-1] * rank, dtype=dtype_of(dtype)) for rank in ranks]
            fd.add_output(same(ops.cat(xs, dim)))
        return fd

    for sizes, dim in PARTS if dtype in (torch.float32, torch.bfloat16) else PARTS[:3]:
        xs = [numbers(each, dtype, seed) for seed, each in enumerate(sizes)]
        turned = [x.permute(*reversed(range(x.dim()))).contiguous() for x in xs]
        turned = [x.permute(*reversed(range(x.dim()))) for x in turned]
        for (got,) in compare(
            monkeypatch, partial(define, [x.dim() for x in xs], dim), [xs, turned]
        ):
            if dtype not in FLOAT8:
                assert_same(got, torch.cat(xs, dim))


def test_a_pad_or_cat_alone_is_the_librarys(monkeypatch):
    def define() -> FusionDefinition:
        with FusionDefinition() as fd:
            x, y = (fd.define_tensor([-1, -1]) for _ in range(2))
            fd.add_output(ops.cat([x, y], 1))
            fd.add_output(ops.pad(x, [1, 1]))
            fd.add_output(ops.neg(y))
        return fd

    x, y = numbers((3, 5), torch.float32), numbers((3, 7), torch.float32)
    compare(monkeypatch, define, [[x, y]], ["cat", "pad"])


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.float64])
def test_a_rotary_embedding_is_one_kernel(monkeypatch, dtype):
    def define(half: int) -> FusionDefinition:
        with FusionDefinition() as fd:
            x = fd.define_tensor([-1, -1, 2 * half], dtype=dtype_of(dtype))
            cos, sin = (
                fd.define_tensor([1, -1, 2 * half], dtype=dtype_of(dtype)) for _ in range(2)
            )
            n, m = fd.ops.size(x, 0), fd.ops.size(x, 1)
            front = ops.slice(x, [0, 0, 0], [n, m, half])
            back = ops.slice(x, [0, 0, half], [n, m, 2 * half])
            turned = ops.cat([ops.cast(ops.neg(back), dtype_of(dtype)), front], 2)
            fd.add_output(ops.add(ops.mul(x, cos), ops.mul(turned, sin)))
        return fd

    for batch, rows, half in [(2, 3, 32), (1, 5, 64), (3, 1, 5), (2, 40, 600)]:
        x = numbers((batch, rows, 2 * half), dtype)
        cos, sin = (numbers((1, rows, 2 * half), dtype, seed) for seed in (1, 2))
        fd = define(half)
        monkeypatch.setenv("MESHFUSE_COMPILE", "1")
        (got,) = fd.execute([x, cos, sin])
        assert fd.explain().count("launch kernel") == 1
        assert calls_of(fd) == []
        turned = torch.cat([-x[..., half:], x[..., :half]], -1)
        want = (x.double() * cos.double() + turned.double() * sin.double()).to(got.dtype)
        torch.testing.assert_close(got, want)
        compare(monkeypatch, partial(define, half), [[x, cos, sin]])


def test_what_a_cat_reads_may_be_computed_elsewhere(monkeypatch):
    """Values with another user, of other kernels, reduced ones, and numbers of the call among what is computed on the way."""

    def define() -> FusionDefinition:
        with FusionDefinition() as fd:
            x, y = (fd.define_tensor([-1, -1]) for _ in range(2))
            number = fd.define_scalar(None, dtype=DataType.Double)
            double = ops.mul(x, 2.0)
            most = ops.max(y, [1], keepdim=True)
            parts = [
                ops.neg(double),
                ops.mul(most, number),
                ops.cast(ops.cast(y, DataType.Half), DataType.Float),
                ops.sub(x, x),
            ]
            joined = ops.cat(parts, 1)
            fd.add_output(ops.neg(joined))
            fd.add_output(double)
            fd.add_output(ops.max(ops.pad(ops.cat([ops.neg(x), y], 1), [2, 0, 1, 0], -1.0), [0]))
        return fd

    for sizes, other in [
        ((3, 5), (3, 7)),
        ((40, 33), (40, 1)),
        ((2, 1100), (2, 4)),
        ((4, 0), (4, 3)),
    ]:
        x, y = numbers(sizes, torch.float32), numbers(other, torch.float32, 1)
        for got in compare(monkeypatch, define, [[x, y, 0.5], [x, y, -2.0]]):
            assert_same(got[1], x * 2)


def test_a_cat_of_reduced_rows(monkeypatch):
    def define(dims: list[int]) -> FusionDefinition:
        with FusionDefinition() as fd:
            x, y = (fd.define_tensor([-1, -1]) for _ in range(2))
            joined = ops.cat([ops.neg(x), y], 1)
            most = ops.max(joined, dims, keepdim=True)
            fd.add_output(ops.sub(joined, most))
            fd.add_output(ops.max(ops.cat([x, x], 0), dims))
        return fd

    for dims in ([0], [1], [0, 1]):
        for sizes, other in [
            ((3, 5), (3, 7)),
            ((40, 33), (40, 1)),
            ((33, 1100), (33, 4)),
            ((2100, 3), (2100, 2)),
        ]:
            # Which of two zeros is the greatest is open.
            x, y = (numbers(s, torch.float32, i) + 0.125 for i, s in enumerate((sizes, other)))
            calls = [[x, y], [x.t().contiguous().t(), y]]
            for got in compare(monkeypatch, partial(define, dims), calls):
                joined = torch.cat([-x, y], 1)
                assert_same(got[0], joined - joined.amax(dims, keepdim=True))


def test_widths_of_the_call_are_bound(monkeypatch):
    """One definition and one class of sizes: other positions, and widths that are zero in one call alone."""

    def define() -> FusionDefinition:
        with FusionDefinition() as fd:
            x = fd.define_tensor([-1, -1])
            front = fd.define_scalar(None, dtype=DataType.Int)
            back = fd.define_scalar(None, dtype=DataType.Int)
            fd.add_output(ops.neg(ops.pad(x, [front, back])))
        return fd

    x = numbers((3, 8), torch.float32)
    calls = [
        [x, a, b] for a, b in [(1, 2), (2, 1), (0, 3), (-1, 1), (0, 0), (1, -1), (3, 0), (-2, 2)]
    ]
    for (_, a, b), (got,) in zip(calls, compare(monkeypatch, define, calls), strict=True):
        assert_same(got, -torch.nn.functional.pad(x, [a, b]))


@pytest.mark.parametrize("dtype", ALL_TYPES, ids=str)
def test_slices_are_read_where_they_lie(monkeypatch, dtype):
    def define(starts: list[int], ends: list[int], rank: int) -> FusionDefinition:
        with FusionDefinition() as fd:
            x = fd.define_tensor([-1] * rank, dtype=dtype_of(dtype))
            fd.add_output(same(ops.slice(x, starts, ends)))
            rest = ops.slice(x, [1] + [0] * (rank - 1), [2000] * rank)
            fd.add_output(same(ops.slice(rest, starts, ends)))
        return fd

    cases = [
        ([1, 2], [4, 6], (5, 7)),
        ([0, 3], [9, 4], (5, 7)),
        ([0, 0, 1], [3, 4, 1025], (3, 4, 1030)),
        ([0, 0], [2, 0], (3, 4)),
        ([0, 1], [1, 2], (1, 3)),
        ([2, 1], [3, 2], (3, 0)),
        ([1], [40], (33,)),
    ]
    for starts, ends, sizes in cases if dtype in (torch.float32, torch.bfloat16) else cases[:2]:
        x = numbers(sizes, dtype)
        turned = x.permute(*reversed(range(x.dim()))).contiguous()
        calls = [
            [x],
            [turned.permute(*reversed(range(x.dim())))],
            [torch.stack([x, x], -1)[..., 0]],
        ]
        where = tuple(slice(start, end) for start, end in zip(starts, ends, strict=True))
        results = compare(monkeypatch, partial(define, starts, ends, x.dim()), calls)
        for part, inner in results:
            if dtype not in FLOAT8:
                assert_same(part, x[where])
                assert_same(inner, x[1:][where])


def test_slices_of_one_tensor_are_one_kernel(monkeypatch):
    """Differences of neighbours, and a gated unit whose halves are slices of what a kernel made."""

    def differences() -> FusionDefinition:
        with FusionDefinition() as fd:
            x = fd.define_tensor([-1, -1])
            size = ops.shape(x)
            later, earlier = (
                ops.slice(x, [0, 1], [size[0], size[1]]),
                ops.slice(x, [0, 0], [size[0], ops.sub(size[1], 1)]),
            )
            difference = ops.sub(later, earlier)
            fd.add_output(difference)
            fd.add_output(ops.sum(ops.mul(difference, difference), [1]))
        return fd

    def gated() -> FusionDefinition:
        with FusionDefinition() as fd:
            x = ops.mul(fd.define_tensor([6, 64]), 0.5)
            halves = [ops.slice(x, [0, 32 * half], [6, 32 * half + 32]) for half in range(2)]
            fd.add_output(ops.mul(ops.relu(halves[0]), halves[1]))
        return fd

    batches = [[numbers(sizes, torch.float32)] for sizes in [(4, 9), (3, 1100), (1, 2), (2, 1)]]
    for (x,), (difference, squares) in zip(
        batches, compare(monkeypatch, differences, batches), strict=True
    ):
        assert_same(difference, x.diff(dim=1))
        torch.testing.assert_close(squares, x.diff(dim=1).square().sum(1))
    x = numbers((6, 64), torch.float32)
    ((got,),) = compare(monkeypatch, gated, [[x]])
    assert_same(got, (x[:, :32] * 0.5).relu() * (x[:, 32:] * 0.5))


def test_slices_that_others_read_are_views(monkeypatch):
    monkeypatch.setenv("MESHFUSE_COMPILE", "1")
    with FusionDefinition() as fd:
        x, weight = fd.define_tensor([5, 8]), fd.define_tensor([3, 4])
        part = ops.slice(x, [0, 2], [5, 5])
        fd.add_output(part)
        fd.add_output(ops.exp(part))
        fd.add_output(ops.matmul(part, weight))
        fd.add_output(ops.slice(ops.slice(x, [1, 0], [5, 8]), [0, 1], [2, 3]))
    a, w = torch.randn(5, 8), torch.randn(3, 4)
    part, power, product, inner = fd.execute([a, w])
    assert sorted(calls_of(fd)) == ["matmul", "slice", "slice", "slice"]
    for view, wanted in ((part, a[:, 2:5]), (inner, a[1:][:2, 1:3])):
        assert (view.data_ptr(), view.stride()) == (wanted.data_ptr(), wanted.stride())
        assert torch.equal(view, wanted)
    torch.testing.assert_close(power, a[:, 2:5].exp())
    torch.testing.assert_close(product, a[:, 2:5] @ w)
