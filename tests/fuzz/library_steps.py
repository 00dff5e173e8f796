"""Steps of operations that are neither pointwise nor reductions nor views: some are part of kernels, others only libraries compute."""

from __future__ import annotations

from typing import TYPE_CHECKING

from programs import Dim, size_of
from vocabulary import FLOATS, WHOLE

if TYPE_CHECKING:
    from generation import Generator


def sizes_of(maker: Generator, dim: Dim) -> list[int]:
    return [size_of(dim, variant) for variant in range(maker.variants)]


def numbers_step(maker: Generator, kind: str, x: int) -> bool:
    """Numbers of no operand, in the sizes of one."""
    value = maker.values[x]
    rank = len(value.shape)
    sizes = ", ".join(f"fd.ops.size({{0}}, {dim})" for dim in range(rank))
    dtype = maker.random.choice(["Float", "Float", "Double", "Half", "BFloat16"])
    if kind == "full":
        call = f"fd.ops.full([{sizes}], 0.75, DataType.{value.dtype})"
        if value.dtype in (*WHOLE, "Bool"):
            call = f"fd.ops.full([{sizes}], True, DataType.{value.dtype})"
    elif kind == "iota":
        dtype = maker.random.choice([dtype, "Int", "Int32"])
        numbers = "3, -2" if dtype in WHOLE else "-0.5, 0.125"
        flags = [dim != rank - 1 for dim in range(rank)]
        call = f"fd.ops.iota(fd.ops.size({{0}}, {rank - 1}), {numbers}, DataType.{dtype})"
        call = f"fd.ops.broadcast({call}, {flags})" if rank > 1 else call
        row = (*(1 for _ in range(rank - 1)), value.shape[-1])
        return maker.try_step(call, [x], [row])
    else:
        call = maker.random.choice(
            [
                f"fd.ops.uniform(-1.0, 2.5, [{sizes}], dtype=DataType.{dtype})",
                f"fd.ops.normal(0.5, 2.0, [{sizes}], dtype=DataType.{dtype})",
                "fd.ops.rand_like({0})",
                "fd.ops.randn_like({0})",
            ]
        )
    return maker.try_step(call, [x], [value.shape])


def library_step(maker: Generator) -> bool:
    """One of those operations."""
    x = maker.pick(lambda value: len(value.shape) > 0)
    if x is None:
        return False
    shape = maker.values[x].shape
    rank = len(shape)
    at = maker.random.randrange(rank)
    dim = shape[at]
    sizes = [size_of(dim, variant) for variant in range(maker.variants)]
    kind = maker.random.choice(
        [
            "slice",
            "cat",
            "pad",
            "cumsum",
            "index_select",
            "matmul",
            "expand",
            "select",
            "triu",
            "gather",
            "embedding",
            "argsort",
            "linear",
            "triu",
            "full",
            "iota",
            "random",
            "random",
        ]
    )
    if kind == "slice" and dim != 1 and min(sizes) > 2:
        ends = ", ".join(
            f"fd.ops.size({{0}}, {d})" if d != at else str(min(sizes) - 1) for d in range(rank)
        )
        starts = [1 if d == at else 0 for d in range(rank)]
        steps = [2 if d == at and maker.random.random() < 0.5 else 1 for d in range(rank)]
        length = len(range(1, min(sizes) - 1, steps[at]))
        cut: Dim = 1 if length == 1 else (length,) * maker.variants
        return maker.try_step(
            f"fd.ops.slice({{0}}, {starts}, [{ends}], {steps})",
            [x],
            [(*shape[:at], cut, *shape[at + 1 :])],
        )
    if kind == "cat" and dim != 1:
        y = maker.pick(lambda value: value.shape == shape and value.dtype == maker.values[x].dtype)
        joined = tuple(2 * size for size in sizes)
        return y is not None and maker.try_step(
            f"fd.ops.cat([{{0}}, {{1}}], {at})",
            [x, y],
            [(*shape[:at], joined, *shape[at + 1 :])],
        )
    if kind == "pad" and shape[-1] != 1:
        front = maker.random.choice(
            [1, 0, 3] + ([-1] if min(sizes_of(maker, shape[-1])) > 0 else [])
        )
        longer = tuple(size + front + 2 for size in sizes_of(maker, shape[-1]))
        return maker.try_step(f"fd.ops.pad({{0}}, [{front}, 2])", [x], [(*shape[:-1], longer)])
    if kind == "cumsum":
        return maker.try_step(f"fd.ops.cumsum({{0}}, {at})", [x], [shape])
    if kind == "triu" and rank >= 2:
        return maker.try_step(f"fd.ops.triu({{0}}, {maker.random.randint(-2, 3)})", [x], [shape])
    if kind in ("full", "iota", "random"):
        return numbers_step(maker, kind, x)
    if kind == "select" and min(sizes) > 0:
        position = maker.random.choice([0, -1, min(sizes) - 1])
        return maker.try_step(
            f"fd.ops.select({{0}}, fd.define_scalar({position}), {at})",
            [x],
            [shape[:at] + shape[at + 1 :]],
        )
    if kind == "expand" and dim == 1:
        wide = maker.random.choice(maker.dims)
        if len(set(wide if isinstance(wide, tuple) else (wide,))) != 1 or wide[0] <= 1:
            return False
        texts = ", ".join(
            f"fd.ops.size({{0}}, {d})" if d != at else str(wide[0]) for d in range(rank)
        )
        return maker.try_step(
            f"fd.ops.expand({{0}}, [{texts}])", [x], [(*shape[:at], wide, *shape[at + 1 :])]
        )
    if kind == "index_select" and min(sizes) > 0 and dim != 1:
        length = maker.random.choice(maker.dims)
        # Once in a while the positions go beyond the end, for the error.
        beyond = 1 if maker.random.random() < 0.03 and maker.variants > 1 else 0
        index = maker.new_input((length,), "Int", min(sizes) + beyond)
        return maker.try_step(
            f"fd.ops.index_select({{0}}, {{1}}, {at})",
            [x, index],
            [(*shape[:at], length, *shape[at + 1 :])],
        )
    if kind == "gather" and min(sizes) > 0 and dim != 1:
        index = maker.new_input(shape, "Int", min(sizes))
        op = maker.random.choice(["gather", "take_along_axis"])
        return maker.try_step(f"fd.ops.{op}({{0}}, {{1}}, {at})", [x, index], [shape])
    if kind == "embedding" and rank == 2 and sizes[0] > 0:
        rows = [size_of(shape[0], variant) for variant in range(maker.variants)]
        if min(rows) == 0:
            return False
        wanted = maker.shape(maker.random.choice([0, 1, 2]))
        index = maker.new_input(wanted, "Int", min(rows))
        call = "fd.ops.embedding_fwd({1}, {0}, None, None, None, None, None)"
        return maker.try_step(call, [x, index], [(*wanted, shape[1])])
    if kind == "argsort":
        return maker.try_step(f"fd.ops.argsort({{0}}, {at}, stable=True)", [x], [shape])
    if kind in ("matmul", "linear") and rank == 2 and 1 not in shape:
        columns = maker.random.choice(maker.dims)
        dtype = maker.values[x].dtype
        if dtype not in FLOATS:
            return False
        if kind == "matmul":
            y = maker.new_input((shape[1], columns), dtype)
        else:
            y = maker.new_input((columns, shape[1]), dtype)
        return maker.try_step(f"fd.ops.{kind}({{0}}, {{1}})", [x, y], [(shape[0], columns)])
    return False
