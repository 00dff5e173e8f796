"""What ran on a device mesh, and how long it may take."""

from typing import NamedTuple

from torch.distributed.device_mesh import DeviceMesh

from meshfuse import _C
from meshfuse._dtensor import describe_mesh

__all__ = ["CollectiveRecord", "collective_log", "reset_collective_log", "set_collective_deadline"]


class CollectiveRecord(NamedTuple):
    """All collectives of one kind over one mesh axis: how many calls and the bytes they moved.

    ``bytes`` counts the axis-wide tensor on one rank: the input of an all-reduce or reduce-scatter, the result of an
    all-gather.
    """

    kind: str  # all_reduce, all_gather or reduce_scatter
    reduce: str  # sum, avg, max, min or product; empty for all_gather
    axis: int
    calls: int
    bytes: int


def _binding(mesh: DeviceMesh) -> _C.MeshBinding:
    # What is set or logged before the first call outlives the object that is returned.
    _C._remember_mesh(mesh)
    description = describe_mesh(mesh)
    return _C.MeshBinding(
        description.ranks, description.shape, description.group_names, description.rank
    )


def collective_log(mesh: DeviceMesh) -> list[CollectiveRecord]:
    """The collectives that meshfuse ran on this process for ``mesh`` since it was first used, or since the log was reset."""
    return [CollectiveRecord(*record) for record in _binding(mesh).records()]


def reset_collective_log(mesh: DeviceMesh) -> None:
    """Starts the log of ``mesh`` anew."""
    _binding(mesh).reset_records()


def set_collective_deadline(seconds: float | None, mesh: DeviceMesh | None = None) -> None:
    """Seconds that a collective may take, on ``mesh`` or on every mesh that has no deadline of its own.

    None goes back to MESHFUSE_COLLECTIVE_TIMEOUT_S or the process group's own timeout.
    """
    if mesh is None:
        _C.set_collective_deadline(seconds)
    else:
        _binding(mesh).set_deadline(seconds)
