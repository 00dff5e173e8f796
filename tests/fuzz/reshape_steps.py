"""Steps that divide and join dimensions, and steps that lay tensors out anew."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from programs import Dim, size_of

if TYPE_CHECKING:
    from generation import Generator


def reshape_step(maker: Generator) -> bool:
    kind = maker.random.choice(["divide", "divide", "join", "join", "flatten", "like", "layout"])
    if kind == "like":
        return reshape_like(maker)
    x = maker.pick(lambda value: len(value.shape) > 0)
    if x is None:
        return False
    shape = maker.values[x].shape
    rank = len(shape)
    if kind == "layout":
        order = maker.random.sample(range(rank), rank)
        return maker.try_step(f"fd.ops.stride_order({{0}}, {order})", [x], [shape])
    # Broadcasts are kept apart from dimensions that happen to have one element.
    if any(dim == 1 or 0 in all_sizes(maker, dim) for dim in shape):
        return False
    at = maker.random.randrange(rank)
    if kind == "divide":
        return divide(maker, x, at)
    first, last = (at, at + 1) if kind == "join" else (0, rank - 1)
    if last >= rank or first == last:
        return False
    joined: Dim = tuple(
        math.prod(size_of(dim, variant) for dim in shape[first : last + 1])
        for variant in range(maker.variants)
    )
    new = [*sizes_text(range(first)), "-1", *sizes_text(range(last + 1, rank))]
    result = (*shape[:first], joined, *shape[last + 1 :])
    return maker.try_step(f"fd.ops.reshape({{0}}, [{', '.join(new)}])", [x], [result])


def all_sizes(maker: Generator, dim: Dim) -> list[int]:
    return [size_of(dim, variant) for variant in range(maker.variants)]


def sizes_text(dims: range) -> list[str]:
    return [f"fd.ops.size({{0}}, {dim})" for dim in dims]


def divide(maker: Generator, x: int, at: int) -> bool:
    """One dimension as two, one of them of a fixed size."""
    shape = maker.values[x].shape
    sizes = all_sizes(maker, shape[at])
    parts = [
        part
        for part in range(2, 65)
        if all(size % part == 0 and size // part > 1 for size in sizes)
    ]
    if not parts or len(shape) > 4:
        return False
    part = maker.random.choice(parts)
    fixed: Dim = (part,) * maker.variants
    rest: Dim = tuple(size // part for size in sizes)
    pair, texts = ((fixed, rest), [str(part), "-1"])
    if maker.random.random() < 0.5:
        pair, texts = ((rest, fixed), ["-1", str(part)])
    new = [*sizes_text(range(at)), *texts, *sizes_text(range(at + 1, len(shape)))]
    result = (*shape[:at], *pair, *shape[at + 1 :])
    return maker.try_step(f"fd.ops.reshape({{0}}, [{', '.join(new)}])", [x], [result])


def reshape_like(maker: Generator) -> bool:
    """The sizes of another value with as many elements: often those that were there before another reshape."""

    def counts(shape: tuple[Dim, ...]) -> list[int]:
        return [
            math.prod(size_of(dim, variant) for dim in shape) for variant in range(maker.variants)
        ]

    x = maker.pick(lambda value: len(value.shape) > 0 and 1 not in value.shape)
    if x is None or 0 in counts(maker.values[x].shape):
        return False
    shape = maker.values[x].shape
    y = maker.pick(
        lambda value: (
            value.shape != shape and 1 not in value.shape and counts(value.shape) == counts(shape)
        )
    )
    if y is None:
        return False
    like = maker.values[y].shape
    new = [f"fd.ops.size({{1}}, {dim})" for dim in range(len(like))]
    return maker.try_step(f"fd.ops.reshape({{0}}, [{', '.join(new)}])", [x, y], [like])
