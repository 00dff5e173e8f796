"""Publicly reported failures of fusion runtimes, restated: indexing, scans and sorts."""

import time
from typing import Any

import pytest
import torch
from public_cases import check_case, randn

from meshfuse import DataType, FusionDefinition

BF16 = torch.bfloat16


def whole(*shape: int, bound: int, seed: int = 0) -> torch.Tensor:
    return torch.randint(0, bound, shape, generator=torch.Generator().manual_seed(seed))


def test_x01_rows_of_a_table_by_a_reshaped_index() -> None:
    def build(fd: Any, index: Any, table: Any) -> Any:
        rows = fd.ops.index_select(table, fd.ops.reshape(index, [25]), 0)
        return fd.ops.reshape(rows, [5, 5, 64])

    check_case(build, [whole(5, 5, bound=2016), randn(2016, 64)], lambda i, t: t[i], exact=True)


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_x03_gather_by_an_expanded_index(dim: int) -> None:
    x = randn(4, 5, 6)
    narrow = whole(4, 5, 1, bound=4)

    def build(fd: Any, a: Any, i: Any) -> Any:
        return fd.ops.gather(a, i, dim), fd.ops.gather(a, fd.ops.expand(i, [4, 5, 6]), dim)

    def reference(a: Any, i: Any) -> Any:
        return [a.gather(dim, i), a.gather(dim, i.expand(4, 5, 6))]

    check_case(build, [x, narrow], reference, exact=True)
    check_case(
        lambda fd, a, i: fd.ops.gather(a, i, dim),
        [x, narrow.expand(4, 5, 6)],
        lambda a, i: a.gather(dim, i),
        exact=True,
    )


def test_x05_elements_of_a_sum() -> None:
    check_case(
        lambda fd, a, i: fd.ops.index_select(fd.ops.sum(a, [1]), i, 0),
        [randn(100, 1000), torch.tensor([7, 99])],
        lambda a, i: a.sum(1)[i],
    )


def test_x07_rotary_tables_selected_by_position_are_defined_soon() -> None:
    frequencies, x = randn(16).abs(), randn(1, 512, 2560, dtype=BF16)

    def build(fd: Any, f: Any, a: Any) -> Any:
        ops = fd.ops
        positions = ops.cast(ops.iota(4096), DataType.Float)
        column = ops.broadcast_in_dim(positions, [4096, 16], [0])
        angles = ops.mul(column, ops.broadcast_in_dim(f, [4096, 16], [1]))
        angles = ops.cat([angles, angles], 1)
        index = ops.iota(512)
        tables = []
        for function in (ops.cos, ops.sin):
            rows = ops.index_select(ops.cast(function(angles), DataType.BFloat16), index, 0)
            tables.append(ops.broadcast_in_dim(rows, [1, 32, 512, 32], [2, 3]))
        heads = ops.permute(ops.reshape(a, [1, 512, 32, 80]), [0, 2, 1, 3])
        turned = ops.slice(heads, [0, 0, 0, 0], [1, 32, 512, 32])
        kept = ops.slice(heads, [0, 0, 0, 32], [1, 32, 512, 80])
        first = ops.slice(turned, [0, 0, 0, 0], [1, 32, 512, 16])
        second = ops.slice(turned, [0, 0, 0, 16], [1, 32, 512, 32])
        swapped = ops.cat([ops.cast(ops.neg(second), DataType.BFloat16), first], 3)
        rotated = ops.add(ops.mul(turned, tables[0]), ops.mul(swapped, tables[1]))
        return ops.cat([ops.cast(rotated, DataType.BFloat16), kept], 3)

    def reference(f: Any, a: Any) -> torch.Tensor:
        angles = torch.arange(4096).float()[:, None] * f[None]
        angles = torch.cat([angles, angles], 1)
        cos, sin = angles.cos().to(BF16)[:512].float(), angles.sin().to(BF16)[:512].float()
        heads = a.reshape(1, 512, 32, 80).permute(0, 2, 1, 3)
        turned, kept = heads[..., :32], heads[..., 32:]
        swapped = torch.cat([-turned[..., 16:], turned[..., :16]], -1)
        rotated = (turned.float() * cos + swapped.float() * sin).to(BF16)
        return torch.cat([rotated, kept], -1)

    check_case(build, [frequencies, x], reference)
    start = time.perf_counter()
    with FusionDefinition() as fd:
        build(fd, fd.from_pytorch(frequencies), fd.from_pytorch(x))
    assert time.perf_counter() - start < 1


def test_x09_tokens_sorted_by_expert() -> None:
    tokens, k, experts = 12, 3, 5
    ids = whole(tokens, k, bound=experts)

    def build(fd: Any, a: Any) -> Any:
        ops = fd.ops
        flat = ops.reshape(a, [tokens * k])
        order = ops.argsort(flat, 0, descending=True, stable=True)
        names = ops.broadcast_in_dim(ops.iota(experts), [experts, tokens * k], [0])
        equal = ops.eq(names, ops.broadcast_in_dim(flat, [experts, tokens * k], [1]))
        counts = ops.sum(equal, [1])
        before = ops.sub(ops.cumsum(counts, 0), counts)
        return order, ops.div(order, k), counts, before

    def reference(a: torch.Tensor) -> Any:
        flat = a.flatten()
        order = torch.argsort(flat, descending=True, stable=True)
        counts = torch.bincount(flat, minlength=experts)
        return [order, order // k, counts, counts.cumsum(0) - counts]

    check_case(build, [ids], reference, exact=True)


def test_x11_a_read_follows_the_write_before_it() -> None:
    """The language's scatter replaces: sums are made first, then written, then read."""
    x, index = randn(8, 4), torch.zeros(8, dtype=torch.int64)

    def build(fd: Any, a: Any, i: Any) -> Any:
        zeros = fd.ops.full([1, 4], 0.0, DataType.Float)
        first = fd.ops.full([1, 4], 0, DataType.Int)
        written = fd.ops.scatter(zeros, first, fd.ops.sum(a, [0], keepdim=True), 0)
        return fd.ops.index_select(written, i, 0)

    def reference(a: Any, i: Any) -> torch.Tensor:
        return torch.zeros(1, 4).scatter_add(0, i[:, None].expand(8, 4), a)[i]

    check_case(build, [x, index], reference)


def test_x13_a_vector_is_not_written_as_rows() -> None:
    """The language has no index_add; scatter asks for equal ranks, as index_add asks for equal shapes."""
    x, index, source = torch.zeros(5, 5), torch.arange(5), torch.arange(5.0)
    with pytest.raises((RuntimeError, IndexError)):
        x.index_add(0, index, source)
    with FusionDefinition() as fd:
        handles = [fd.from_pytorch(tensor) for tensor in (x, index, source)]
        with pytest.raises(RuntimeError, match=r"scatter: .*rank"):
            fd.ops.scatter(*handles, 0)


def test_x15_whole_numbers_are_cut_off_before_they_are_summed() -> None:
    check_case(
        lambda fd, a: fd.ops.cumsum(fd.ops.cast(a, DataType.Int32), 0),
        [torch.tensor([0.9201, 0.1166])],
        lambda a: torch.cumsum(a.int(), 0, dtype=torch.int32),
        exact=True,
    )


def test_x17_rows_copied_by_index() -> None:
    def build(fd: Any, a: Any, i: Any, rows: Any) -> Any:
        index = fd.ops.broadcast_in_dim(i, [3, 3], [0])
        return fd.ops.scatter(a, index, rows, 0)

    check_case(
        build,
        [torch.zeros(3, 3), torch.arange(3), torch.ones(3, 3)],
        lambda a, i, rows: a.index_copy(0, i, rows),
        exact=True,
    )


def test_x19_repeated_rows_are_accumulated_in_float() -> None:
    """The language has no accumulating index: rows are compared and summed."""
    rows, index = randn(2048, 8, dtype=BF16).abs() + 1, whole(2048, bound=35)

    def build(fd: Any, a: Any, i: Any) -> Any:
        ops = fd.ops
        shape = [35, 2048, 8]
        names = ops.broadcast_in_dim(ops.iota(35), shape, [0])
        equal = ops.eq(names, ops.broadcast_in_dim(i, shape, [1]))
        spread = ops.broadcast_in_dim(ops.cast(a, DataType.Float), shape, [1, 2])
        return ops.sum(ops.where(equal, spread, 0.0), [1])

    def reference(a: Any, i: Any) -> torch.Tensor:
        return torch.zeros(35, 8, dtype=torch.float64).index_add(0, i, a.double()).float()

    check_case(build, [rows, index], reference)
