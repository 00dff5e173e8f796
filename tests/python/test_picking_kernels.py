"""Kernels read at computed positions what the evaluator and torch read there, and nothing outside of a tensor."""

from functools import partial

import pytest
import torch
from kernel_comparison import ALL_TYPES, FLOAT8, assert_same, calls_of, compare
from meshfuse.pytorch_utils import torch_dtype_to_nvfuser_dtype as dtype_of
from op_comparison import make

from meshfuse import DataType, FusionDefinition, ops


def index_of(
    sizes: tuple[int, ...], below: int, dtype: torch.dtype = torch.int64, seed: int = 0
) -> torch.Tensor:
    return torch.randint(0, max(1, below), sizes, generator=torch.Generator().manual_seed(seed)).to(
        dtype
    )


def taking(op: str, dtype: torch.dtype, rank: int, dim: int, kind: torch.dtype) -> FusionDefinition:
    """The elements, and a sum of numbers computed from them."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1] * rank, dtype=dtype_of(dtype))
        index_rank = 1 if op == "index_select" else rank
        index = fd.define_tensor([-1] * index_rank, dtype=dtype_of(kind))
        fd.add_output(getattr(ops, op)(x, index, dim))
        moved = ops.sub(index, 1)
        moved = ops.where(ops.lt(moved, 0), 0, moved)
        taken = getattr(ops, op)(x, moved, dim)
        fd.add_output(ops.where(ops.eq(taken, taken), taken, taken))
    return fd


TAKINGS = [
    ("gather", (7, 33), (5, 20), 0),
    ("gather", (7, 33), (7, 40), 1),
    ("gather", (3, 5, 17), (3, 4, 17), 1),
    ("gather", (3, 1), (3, 6), 1),
    ("gather", (3, 5), (0, 5), 0),
    ("take_along_axis", (7, 33), (20, 33), 0),
    ("take_along_axis", (5, 3, 1100), (5, 3, 40), 2),
    ("index_select", (7, 33), (40,), 0),
    ("index_select", (7, 33), (5,), 1),
    ("index_select", (3, 5, 17), (1,), 1),
    ("index_select", (3, 5), (0,), 0),
    ("index_select", (600, 64), (500,), 0),
]


@pytest.mark.parametrize(("op", "sizes", "index_sizes", "dim"), TAKINGS, ids=str)
def test_elements_at_computed_positions(monkeypatch, op, sizes, index_sizes, dim):
    for dtype in ALL_TYPES if sizes == (7, 33) else [torch.float32]:
        x = make(sizes, torch.complex64 if dtype.is_complex else torch.float32).to(dtype)
        for kind in (torch.int64, torch.int32) if dtype == torch.float32 else (torch.int64,):
            index = index_of(index_sizes, sizes[dim], kind)
            turned = (
                x.permute(*reversed(range(x.dim()))).contiguous().permute(*reversed(range(x.dim())))
            )
            gaps = torch.stack([x, x], -1)[..., 1]
            calls = [[x, index], [turned, index], [gaps, torch.stack([index, index], -1)[..., 0]]]
            for got in compare(monkeypatch, partial(taking, op, dtype, x.dim(), dim, kind), calls):
                if dtype in FLOAT8:
                    continue
                wide = index.long()
                want = (
                    torch.index_select(x, dim, wide)
                    if op == "index_select"
                    else torch.gather(x, dim, wide)
                )
                assert_same(got[0], want)


@pytest.mark.parametrize("op", ["gather", "take_along_axis", "index_select"])
def test_a_position_outside_is_an_error(monkeypatch, op):
    """With the evaluator's text, whichever element it is, and the inputs stay as they are."""

    def define() -> FusionDefinition:
        with FusionDefinition() as fd:
            x = fd.define_tensor([-1, -1])
            index = fd.define_tensor([-1] if op == "index_select" else [-1, -1], dtype=DataType.Int)
            y = ops.mul(x, 2.0)
            fd.add_output(ops.neg(getattr(ops, op)(x, ops.add(index, 0), 1)))
            fd.add_output(y, alias_input=x)
        return fd

    x = make((3, 40), torch.float32)
    fd = define()
    for at, value in [(0, -1), (1099, 40), (500, 2**62), (7, -(2**63))]:
        index = index_of((1100,) if op == "index_select" else (3, 1100), 40)
        index[..., at] = value
        kept = x.clone()
        compare(monkeypatch, define, [[kept, index]])
        assert torch.equal(kept, x)
    monkeypatch.setenv("MESHFUSE_COMPILE", "1")
    with pytest.raises(IndexError, match="got index -5 for dimension 1 of size 40"):
        fd.execute([x, torch.full_like(index, -5)])


def test_positions_in_what_is_empty(monkeypatch):
    """The evaluator looks at positions even where nothing is read."""

    def define() -> FusionDefinition:
        with FusionDefinition() as fd:
            x = fd.define_tensor([-1, -1])
            index = fd.define_tensor([-1], dtype=DataType.Int)
            y = ops.neg(ops.index_select(x, index, 0))
            fd.add_output(y)
            fd.add_output(ops.sum(y, [1]))
        return fd

    index = torch.tensor([0, 2])
    compare(
        monkeypatch,
        define,
        [
            [torch.ones(3, 0), index],
            [torch.ones(2, 0), index],
            [torch.ones(0, 4), index],
            [torch.ones(0, 4), index[:0]],
            [torch.ones(0, 0), index[:0]],
            [torch.ones(0, 0), index],
        ],
    )


def test_a_computed_value_is_in_memory_before_its_elements_are_picked(monkeypatch):
    def define() -> FusionDefinition:
        with FusionDefinition() as fd:
            x = fd.define_tensor([-1, -1])
            index = fd.define_tensor([-1, -1], dtype=DataType.Int)
            y = ops.exp(ops.div(x, 16.0))
            z = ops.gather(y, index, 1)
            fd.add_output(ops.add(y, z))
            fd.add_output(ops.sum(ops.mul(z, y), [0]))
            fd.add_output(ops.sub(y, ops.max(y, [1], keepdim=True)))
        return fd

    for sizes in [(7, 33), (1, 5), (40, 1), (3, 2100)]:
        x, index = make(sizes, torch.float32), index_of(sizes, sizes[1])
        y = (x / 16).exp()
        z = torch.gather(y, 1, index)
        monkeypatch.setenv("MESHFUSE_COMPILE", "1")
        fd = define()
        got = fd.execute([x, index])
        assert calls_of(fd) == []
        torch.testing.assert_close(got, [y + z, (z * y).sum(0), y - y.max(1, keepdim=True).values])


@pytest.mark.parametrize("kind", ["constant", "number", "tensor"])
def test_select_in_a_kernel(monkeypatch, kind):
    def define(at: int) -> FusionDefinition:
        with FusionDefinition() as fd:
            x = fd.define_tensor([-1, -1, -1])
            if kind == "tensor":
                index = fd.define_tensor([], dtype=DataType.Int32)
            else:
                index = fd.define_scalar(at if kind == "constant" else None, dtype=DataType.Int)
            fd.add_output(ops.neg(ops.select(x, index, 1)))
            fd.add_output(
                ops.add(ops.neg(x), ops.broadcast(ops.select(x, index, 0), [True, False, False]))
            )
        return fd

    x = make((3, 3, 33), torch.float32)
    for layout in (x, x.permute(2, 1, 0).contiguous().permute(2, 1, 0)):
        for at in (0, 2, -1, -3, 3, -4):
            given = {
                "constant": [],
                "number": [at],
                "tensor": [torch.tensor(at, dtype=torch.int32)],
            }[kind]
            for got in compare(monkeypatch, partial(define, at), [[layout, *given]]):
                assert_same(got[0], -x[:, at])
                assert_same(got[1], -x + x[at])


def test_a_selected_row_that_is_a_result_as_well(monkeypatch):
    """It is a view of what a library makes, at a position that the kernel converts on the way."""

    def define() -> FusionDefinition:
        with FusionDefinition() as fd:
            x = fd.define_tensor([-1, -1])
            index = ops.cast(fd.define_tensor([], dtype=DataType.Int32), DataType.Int)
            row = ops.select(ops.argsort(x, 0), index, 0)
            fd.add_output(ops.neg(row))
            fd.add_output(row)
        return fd

    x, at = make((4, 5), torch.float32), torch.tensor(2, dtype=torch.int32)
    ((negative, row),) = compare(monkeypatch, define, [[x, at]], ["argsort", "cast", "select"])
    assert_same(row, x.argsort(0)[2])
    assert_same(negative, -row)


def test_embedding(monkeypatch):
    def define(padding: int | None, norm: float | None) -> FusionDefinition:
        with FusionDefinition() as fd:
            index = fd.define_tensor([-1, -1], dtype=DataType.Int)
            weight = fd.define_tensor([-1, -1])
            number = fd.define_scalar(padding, dtype=DataType.Int) if padding is not None else None
            most = fd.define_scalar(norm, dtype=DataType.Double) if norm is not None else None
            rows = ops.embedding_fwd(index, weight, number, most, None, None, None)
            fd.add_output(ops.mul(rows, 2.0))
            fd.add_output(ops.max(ops.neg(rows), [2]))
        return fd

    weight = make((33, 40), torch.float32)
    for padding, norm in [(None, None), (3, None), (-1, None), (33, None), (None, 1.0)]:
        calls = [[index_of(sizes, 33), weight] for sizes in [(3, 7), (1, 1), (0, 3), (20, 60)]]
        calls += [[index_of((3, 7), 40), weight]]
        left = ["embedding_fwd"] if norm is not None or padding == 33 else []
        for call, got in zip(
            calls, compare(monkeypatch, partial(define, padding, norm), calls, left), strict=False
        ):
            if norm is None:
                assert_same(got[0], torch.nn.functional.embedding(call[0], weight) * 2)
