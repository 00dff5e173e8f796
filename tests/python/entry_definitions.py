"""Small definitions that the tests of execute share."""

from collections.abc import Callable

import pytest
import torch
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import DTensor, Placement, Shard

from meshfuse import DataType, FusionDefinition


def define(op: str = "set", *, rank: int = 2, dtype: DataType = DataType.Float) -> FusionDefinition:
    with FusionDefinition() as fd:
        a = fd.define_tensor([-1] * rank, dtype=dtype)
        fd.add_output(getattr(fd.ops, op)(a))
    return fd


def define_sum(dtype: DataType = DataType.Float) -> FusionDefinition:
    with FusionDefinition() as fd:
        a, b = (fd.define_tensor([-1, -1], dtype=dtype) for _ in range(2))
        fd.add_output(fd.ops.add(a, b))
    return fd


def error_of(kind: type[Exception], call: Callable[[], object]) -> str:
    with pytest.raises(kind) as caught:
        call()
    assert caught.type is kind
    return str(caught.value)


def on(mesh: DeviceMesh, local: torch.Tensor, placement: Placement | None = None) -> DTensor:
    return DTensor.from_local(local, mesh, [placement or Shard(0)], run_check=False)
