"""Local indices, sizes, offsets, strides and shard orders are torch's: an arange is split by torch's own placements.

The C++ answers come from tests/mesh/local_runs_driver.cpp, started once with all questions of a test.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch.distributed.tensor._dtensor_spec import DTensorSpec, ShardOrderEntry
from torch.distributed.tensor._utils import (
    _compute_local_shape_and_global_offset,
    compute_local_tensor_info,
)
from torch.distributed.tensor.placement_types import Placement, Replicate, Shard, _StridedShard

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("MESHFUSE_TEST_BUILD", ROOT / "build" / "release"))
MESHES = [(1,), (2,), (3,), (8,), (2, 2), (2, 3), (2, 2, 2)]


class MeshOfShape:
    """What torch's shard arithmetic asks of a mesh."""

    def __init__(self, shape: Sequence[int]) -> None:
        self.shape = tuple(shape)

    def size(self, mesh_dim: int) -> int:
        return self.shape[mesh_dim]


def ask(questions: Iterable[str]) -> list[Any]:
    driver = BUILD / "tests" / "meshfuse_local_runs_driver"
    text = "".join(f"{question}\n" for question in questions)
    done = subprocess.run(
        [driver], input=text, capture_output=True, text=True, check=True, timeout=120
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def join(values: Iterable[int]) -> str:
    return "x".join(map(str, values)) or "-"


def name(placement: Placement) -> str:
    if isinstance(placement, _StridedShard):
        return f"_S{placement.dim}:{placement.split_factor}"
    return f"S{placement.dim}" if isinstance(placement, Shard) else "R"


def question(mesh: Sequence[int], placements: Sequence[Placement], sizes: Sequence[int]) -> str:
    return f"local {join(mesh)} {','.join(map(name, placements))} {join(sizes)}"


def coordinates(mesh: Sequence[int]) -> list[tuple[int, ...]]:
    return list(itertools.product(*map(range, mesh)))


def split_by_torch(
    mesh: Sequence[int], placements: Sequence[Placement], size: int
) -> dict[tuple[int, ...], list[int]]:
    """The global indices each coordinate holds of dimension 0."""
    held: dict[tuple[int, ...], torch.Tensor] = {(): torch.arange(size)}
    for extent, placement in zip(mesh, placements, strict=True):
        split: dict[tuple[int, ...], torch.Tensor] = {}
        for coordinate, tensor in held.items():
            if isinstance(placement, Shard | _StridedShard):
                parts, _ = placement._split_tensor(
                    tensor, extent, with_padding=False, contiguous=False
                )
            else:
                parts = [tensor] * extent
            split |= {(*coordinate, i): part for i, part in enumerate(parts)}
        held = split
    return {coordinate: tensor.tolist() for coordinate, tensor in held.items()}


def placement_lists(
    mesh: Sequence[int], choices: Sequence[Placement]
) -> Iterable[tuple[Placement, ...]]:
    return itertools.product(choices, repeat=len(mesh))


def test_every_rank_holds_what_torch_gives_it() -> None:
    choices = [
        Replicate(),
        Shard(0),
        _StridedShard(0, split_factor=2),
        _StridedShard(0, split_factor=3),
    ]
    cases = [
        (mesh, placements, size)
        for mesh in MESHES
        for placements in placement_lists(mesh, choices)
        for size in range(18)
    ]
    answers = ask(question(mesh, placements, [size]) for mesh, placements, size in cases)
    assert len(answers) == len(cases) == 2016
    for (mesh, placements, size), ranks in zip(cases, answers, strict=True):
        torch_holds = split_by_torch(mesh, placements, size)
        assert list(torch_holds) == coordinates(mesh)
        for indices, (local_sizes, _, (runs,)) in zip(torch_holds.values(), ranks, strict=True):
            ours = [index for begin, end in runs for index in range(begin, end)]
            assert ours == indices, (mesh, placements, size)
            assert local_sizes == [len(indices)]


def test_local_sizes_and_offsets_are_torchs() -> None:
    choices = [
        Replicate(),
        Shard(0),
        Shard(1),
        _StridedShard(0, split_factor=2),
        _StridedShard(1, split_factor=3),
    ]
    shapes = [(0, 5), (1, 17), (8, 12), (13, 2)]
    cases = [(m, p, shape) for m in MESHES for p in placement_lists(m, choices) for shape in shapes]
    for (mesh, placements, shape), ranks in zip(
        cases, ask(question(*case) for case in cases), strict=True
    ):
        for coordinate, (sizes, offsets, _) in zip(coordinates(mesh), ranks, strict=True):
            expected = _compute_local_shape_and_global_offset(
                shape, mesh, list(coordinate), placements
            )
            assert (tuple(sizes), tuple(offsets)) == expected, (mesh, placements, shape, coordinate)


def test_local_strides_are_torchs() -> None:
    cases = []
    for order in itertools.permutations(range(3)):
        tensor = torch.empty([(4, 6, 8)[dim] for dim in order]).permute(
            [order.index(dim) for dim in range(3)]
        )
        assert tensor.shape == (4, 6, 8)
        for mesh in [(2,), (2, 2)]:
            for placements in placement_lists(mesh, [Replicate(), Shard(0), Shard(2)]):
                local = compute_local_tensor_info(tensor, MeshOfShape(mesh), placements)
                cases.append((tensor, *local))
    questions = [
        f"strides {join(t.shape)} {join(t.stride())} {join(sizes)}" for t, sizes, _ in cases
    ]
    for (tensor, sizes, strides), ours in zip(cases, ask(questions), strict=True):
        assert ours == strides, (tensor.shape, tensor.stride(), sizes)


def test_shard_orders_become_the_placements_torch_makes_of_them() -> None:
    cases = []
    for mesh in [(2, 2), (2, 3), (3, 1), (2, 2, 2), (4, 3, 2), (2, 3, 2, 5)]:
        for dims in itertools.product([-1, 0], repeat=len(mesh)):
            axes = [axis for axis, dim in enumerate(dims) if dim == 0]
            cases += [(mesh, dims, order) for order in itertools.permutations(axes) if axes]
    questions = [f"order {join(mesh)} {join(dims)} {join(order)}" for mesh, dims, order in cases]
    for (mesh, dims, order), ours in zip(cases, ask(questions), strict=True):
        placements = tuple(Replicate() if dim < 0 else Shard(dim) for dim in dims)
        torch_order = (ShardOrderEntry(tensor_dim=0, mesh_dims=order),)
        expected = DTensorSpec._convert_shard_order_to_StridedShard(
            torch_order,
            placements,
            MeshOfShape(mesh),
        )
        assert ours == [str(placement) for placement in expected], (mesh, dims, order)


def test_shard_orders_split_evenly_divisible_sizes_as_applied_one_by_one() -> None:
    for mesh in [(2, 2), (2, 3), (2, 2, 2)]:
        size = 2 * math.prod(mesh)
        for order in itertools.permutations(range(len(mesh))):
            placements = tuple(Shard(0) for _ in mesh)
            strided = DTensorSpec._convert_shard_order_to_StridedShard(
                (ShardOrderEntry(tensor_dim=0, mesh_dims=order),),
                placements,
                MeshOfShape(mesh),
            )
            (ranks,) = ask([question(mesh, strided, [size])])
            for coordinate, (_, _, (runs,)) in zip(coordinates(mesh), ranks, strict=True):
                held = torch.arange(size)
                for axis in order:
                    held = held.chunk(mesh[axis])[coordinate[axis]]
                assert [i for begin, end in runs for i in range(begin, end)] == held.tolist()
