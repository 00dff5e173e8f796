"""Examples of inputs, which a definition is compiled for without being run."""

from collections.abc import Iterable
from typing import Any

import torch

__all__ = ["with_memory"]


def with_memory(inputs: Iterable[Any]) -> Any:
    """The inputs with unwritten tensors in place of those that have no elements: meta tensors, which stand for tensors on the
    CPU, and fake ones."""
    if not isinstance(inputs, (list, tuple)):
        return inputs
    return [
        with_memory(value) if isinstance(value, (list, tuple)) else _with_memory(value)
        for value in inputs
    ]


def _with_memory(value: Any) -> Any:
    if not isinstance(value, torch.Tensor):
        return value
    from torch._subclasses.fake_tensor import FakeTensor, unset_fake_temporarily

    if isinstance(value, FakeTensor):
        device = value.fake_device
    elif type(value) is torch.Tensor and value.is_meta:
        device = torch.device("cpu")
    else:
        return value
    with unset_fake_temporarily():
        return torch.empty_strided(
            [int(size) for size in value.size()],
            [int(stride) for stride in value.stride()],
            dtype=value.dtype,
            device="cpu" if device.type == "meta" else device,
        )
