"""Execution on DTensors under the name that nvFuser's users know."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch.distributed.tensor import DTensor

    from meshfuse.fusion_definition import FusionDefinition

__all__ = ["execute_with_dtensors"]


def execute_with_dtensors(
    fd: "FusionDefinition", in_dtensors: Iterable["DTensor"]
) -> list["DTensor"]:
    """``fd.execute`` for DTensors alone. AssertionError for other arguments and for meshes whose dimension names differ.

    ``fd.execute`` takes DTensors as well, together with numbers, on meshes of any number of dimensions.
    """
    from torch.distributed.tensor import DTensor

    inputs = list(in_dtensors)
    for position, dtensor in enumerate(inputs):
        if not isinstance(dtensor, DTensor):
            raise AssertionError(
                f"execute_with_dtensors: arguments must be DTensors: argument {position} is a {type(dtensor).__name__}; "
                "use fd.execute, or distribute it"
            )
    names = [dtensor.device_mesh.mesh_dim_names for dtensor in inputs]
    if any(other != names[0] for other in names):
        raise AssertionError(
            f"execute_with_dtensors: meshes must have the same dimension names: got {names}; "
            "put the arguments on one mesh"
        )
    return fd.execute(inputs)
