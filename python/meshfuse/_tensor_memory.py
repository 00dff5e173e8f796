"""Copies of tensors that lie in memory as the originals do: strides, gaps and repeated elements are kept."""

from typing import Any

import torch

__all__: list[str] = []


def span_of(tensor: torch.Tensor) -> torch.Tensor:
    """The memory from the first to the last element of a strided tensor, as a view with one dimension."""
    last = sum(
        (size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True)
    )
    elements = 0 if tensor.numel() == 0 else last + 1
    return tensor.as_strided((elements,), (1,), tensor.storage_offset())


def copy_of(tensor: torch.Tensor, dtype: torch.dtype | None = None) -> torch.Tensor:
    """A copy, converted to ``dtype``, of the same sizes and strides."""
    settled = tensor.detach().resolve_conj().resolve_neg()
    span = span_of(settled)
    copied = span.to(dtype, copy=True) if dtype is not None else span.clone()
    return copied.as_strided(tensor.size(), tensor.stride())


def is_packed(tensor: torch.Tensor) -> bool:
    """Whether the elements are pairs of 4-bit floats, which older versions of torch do not have."""
    return tensor.dtype == getattr(torch, "float4_e2m1fn_x2", None)


_FLOAT4 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)


def unpacked(tensor: torch.Tensor) -> torch.Tensor:
    """The numbers of a tensor of pairs of 4-bit floats, in Double; a last dimension tells the two apart."""
    codes = tensor.view(torch.uint8)
    pairs = torch.stack([codes & 15, codes >> 4], -1).long()
    numbers = (*_FLOAT4, *(-number for number in _FLOAT4))
    return torch.tensor(numbers, dtype=torch.float64, device=tensor.device)[pairs]


def flattened(inputs: Any, name: str) -> list[Any]:
    """The arguments of a call in a list: sequences among them are flattened one level, as execute does."""
    if isinstance(inputs, (torch.Tensor, str, bytes)):
        raise TypeError(
            f"{name}: inputs must be a list or tuple of arguments: got a {type(inputs).__name__}; pass {name}([a, b])"
        )
    flat: list[Any] = []
    for item in inputs:
        if isinstance(item, (list, tuple)):
            flat.extend(item)
        else:
            flat.append(item)
    return flat
