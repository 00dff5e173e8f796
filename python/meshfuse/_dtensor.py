"""What the extension asks of torch's Python side about DTensors, meshes and tensor subclasses."""

import atexit
import functools
from typing import Any, NamedTuple, NoReturn

import torch
import torch.distributed as dist
from torch.distributed import distributed_c10d
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard
from torch.distributed.tensor._dtensor_spec import DTensorSpec, TensorMeta
from torch.distributed.tensor.placement_types import _StridedShard

__all__: list[str] = []

# The classes that the extension knows, by the number it knows them by (PlacementKind).
placement_classes = (Replicate, Shard, _StridedShard, Partial)


class MeshDescription(NamedTuple):
    ranks: list[int]
    shape: list[int]
    device_type: str
    group_names: list[str]
    rank: int


def _refuse_mesh(mesh: DeviceMesh, rule: str, found: str, way_out: str) -> NoReturn:
    raise RuntimeError(f"execute: {rule}: {found} {mesh}; {way_out}")


def describe_mesh(mesh: DeviceMesh) -> MeshDescription:
    """The ranks, and the process groups by name. RuntimeError where this process cannot run collectives on the mesh."""
    if not dist.is_initialized():
        _refuse_mesh(
            mesh,
            "a mesh needs its process groups",
            "torch.distributed is not initialized, or its process groups were destroyed, but an argument lies on",
            "initialize it and make the mesh and the DTensors anew",
        )
    if mesh.get_coordinate() is None:
        _refuse_mesh(
            mesh,
            "a process can use a mesh that it is in",
            f"this process is rank {dist.get_rank()}, which is not in",
            "execute on the ranks of the mesh only",
        )
    ranks = mesh.mesh
    return MeshDescription(
        ranks=ranks.flatten().tolist(),
        shape=list(ranks.shape),
        device_type=mesh.device_type,
        group_names=[_group_name(mesh, axis) for axis in range(ranks.ndim)],
        rank=dist.get_rank(),
    )


def _group_name(mesh: DeviceMesh, axis: int) -> str:
    try:
        group = mesh.get_group(axis)
        live = group in distributed_c10d._world.pg_map
    except (RuntimeError, ValueError, AssertionError, KeyError):
        live = False
    if not live:
        _refuse_mesh(
            mesh,
            "a mesh needs its process groups",
            f"the process group of axis {axis} was destroyed, or never made, of",
            "make the mesh and the DTensors anew",
        )
    return group.group_name


def make_spec(
    mesh: DeviceMesh,
    placements: list[tuple[int, int, int, str]],
    sizes: list[int],
    strides: list[int],
    dtype: torch.dtype,
) -> DTensorSpec:
    """A spec from the extension's placements: kind, dim, split factor, reduction."""
    return DTensorSpec(
        mesh,
        tuple(placement_of(*placement) for placement in placements),
        tensor_meta=TensorMeta(torch.Size(sizes), tuple(strides), dtype),
    )


def placement_of(kind: int, dim: int, split_factor: int, reduction: str) -> Any:
    cls = placement_classes[kind]
    if cls is Shard:
        return Shard(dim)
    if cls is _StridedShard:
        return _StridedShard(dim, split_factor=split_factor)
    if cls is Partial:
        return Partial(reduction)
    return Replicate()


class FakeArgumentError(TypeError):
    """An argument is a fake tensor: execute goes on with FusionDefinition._execute_on_fakes."""


def settle(tensor: torch.Tensor, position: int) -> torch.Tensor:
    """The plain tensor behind a subclass that only has to be waited for; TypeError naming the class of any other."""
    from torch.distributed._functional_collectives import AsyncCollectiveTensor

    if type(tensor) is AsyncCollectiveTensor:
        return tensor.wait()
    from torch._subclasses.fake_tensor import FakeTensor
    from torch._subclasses.functional_tensor import FunctionalTensor

    if isinstance(tensor, FakeTensor):
        raise FakeArgumentError(
            "execute: fake tensors go to FusionDefinition.execute, in a list or tuple: "
            f"argument {position} is a fake tensor; call fd.execute([a, b])"
        )
    if isinstance(tensor, FunctionalTensor):
        kind, way_out = "a functional tensor", "call execute outside functionalization"
    elif isinstance(tensor, DTensor):
        kind = f"a {type(tensor).__module__}.{type(tensor).__qualname__}, a subclass of DTensor that meshfuse does not know"
        way_out = "pass a DTensor"
    else:
        kind = f"a {type(tensor).__module__}.{type(tensor).__qualname__}, a tensor subclass that meshfuse does not know"
        way_out = "pass a torch.Tensor (tensor.as_subclass(torch.Tensor), if it has no behaviour of its own)"
    raise TypeError(
        f"execute: tensors must be torch.Tensor, Parameter or DTensor: argument {position} is {kind}; {way_out}"
    )


def install_release_hooks() -> None:
    """Let go of meshes and groups before torch destroys a process group, and before it is torn down at exit."""
    from meshfuse import _C

    original = distributed_c10d.destroy_process_group
    if getattr(original, "_meshfuse_releases", False):
        return

    @functools.wraps(original)
    def destroy_process_group(*args: Any, **kwargs: Any) -> None:
        _C._release_meshes()
        original(*args, **kwargs)

    # Marks the wrapper, so that it is installed once; a function takes attributes that its type does not list.
    destroy_process_group._meshfuse_releases = True  # type: ignore[attr-defined]  # a mark on the function
    distributed_c10d.destroy_process_group = destroy_process_group
    dist.destroy_process_group = destroy_process_group
    atexit.register(_C._release_meshes)
