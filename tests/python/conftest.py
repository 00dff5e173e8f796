"""What the tests of several files are given."""

import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh

# What the language means is tested on the evaluator, which compiles nothing; kernels have tests of their own, which compare
# with it.
os.environ.setdefault("MESHFUSE_COMPILE", "0")

# Random programs and the tests of kernels share their lists of operations.
sys.path.append(str(Path(__file__).parents[1] / "fuzz"))


@pytest.fixture
def mesh() -> Iterator[DeviceMesh]:
    """A mesh of this process alone."""
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    yield DeviceMesh("cpu", [0])
    gc.collect()
    dist.destroy_process_group()
