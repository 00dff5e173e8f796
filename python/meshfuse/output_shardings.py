"""How the results of an execution lie on a device mesh."""

import enum
from typing import Any, NamedTuple

__all__ = ["DeviceMesh", "ParallelType", "Sharding"]


class ParallelType(enum.Enum):
    """The axes of a mesh, from the innermost: the last one is mesh_x."""

    mesh_x = 1
    mesh_y = 2
    mesh_z = 3


class DeviceMesh:
    """The ranks that a result lies on."""

    def __init__(self, ranks: list[int], shape: list[int], text: str) -> None:
        self.ranks = ranks
        self.shape = shape
        self._text = text

    @property
    def size(self) -> int:
        """How many ranks there are."""
        return len(self.ranks)

    def __repr__(self) -> str:
        return self._text


class Sharding(NamedTuple):
    """The mesh of a result, and its placement on each axis in torch's classes."""

    mesh: DeviceMesh
    placements: tuple[Any, ...]

    def axis_sharded_on(self, parallel_type: ParallelType) -> int:
        """The dimension that is sharded on that axis of the mesh, -1 if none is."""
        if not isinstance(parallel_type, ParallelType):
            raise TypeError(
                "axis_sharded_on(): incompatible function arguments: "
                f"got {parallel_type!r}; pass ParallelType.mesh_x, mesh_y or mesh_z"
            )
        if parallel_type.value > len(self.placements):
            return -1
        placement = self.placements[-parallel_type.value]
        return int(placement.dim) if placement.is_shard() else -1


def shardings_of(parts: list[tuple[Any, ...]]) -> list[Sharding]:
    """From what the extension says of each."""
    if not parts:
        return []
    # Meshes come with the part of torch that is slow to load.
    from meshfuse._dtensor import placement_of

    return [
        Sharding(
            DeviceMesh(ranks, shape, text),
            tuple(placement_of(*placement) for placement in placements),
        )
        for ranks, shape, placements, text in parts
    ]
