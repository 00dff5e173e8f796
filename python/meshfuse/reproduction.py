"""Programs that repeat one execution: the definition, inputs like the ones it had, the call."""

import math
from collections.abc import Iterable
from typing import Any

import torch

from meshfuse._tensor_memory import flattened, is_packed, span_of

__all__: list[str] = []

# Tensors of at most so many elements are written out, so that the program gives the same results; of larger ones only the
# range is kept.
EXACT_ELEMENTS = 1000

_INTEGRAL_LIMIT = 10

_DRAWN_AS_BITS = {torch.float8_e8m0fnu, torch.uint64}


def fake_copies(inputs: Iterable[Any]) -> list[Any]:
    """What a call's arguments look like, without their data: fake tensors, and the numbers themselves."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    mode = FakeTensorMode()
    copies: list[Any] = []
    for position, value in enumerate(flattened(inputs, "execute")):
        _refuse_dtensor(value, position)
        is_tensor = isinstance(value, torch.Tensor)
        copies.append(mode.from_tensor(value.detach()) if is_tensor else value)
    return copies


def repro_script(definition: str, inputs: Iterable[Any] | None) -> str:
    """The program for a definition's text; without ``inputs``, only the definition."""
    lines = [
        *_environment(),
        "import torch",
        "from meshfuse import FusionDefinition, DataType",
        "",
        definition,
        "with FusionDefinition() as fd:",
        "    nvfuser_fusion(fd)",
    ]
    if inputs is not None:
        values = flattened(inputs, "repro_script_for")
        texts = [_value_text(value, position) for position, value in enumerate(values)]
        lines += [
            "",
            "torch.manual_seed(0)",
            "inputs = [",
            *(f"    {text}," for text in texts),
            "]",
            "outputs = fd.execute(inputs)",
        ]
    return "\n".join(lines) + "\n"


def _environment() -> list[str]:
    devices = [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]
    return [
        f"# CUDA devices: {', '.join(devices) or 'none'}",
        f"# torch version: {torch.__version__}",
        f"# CUDA version: {torch.version.cuda or 'none'}",
    ]


def _refuse_dtensor(value: Any, position: int) -> None:
    if not isinstance(value, torch.Tensor):
        return
    from torch.distributed.tensor import DTensor

    if isinstance(value, DTensor):
        raise TypeError(
            "repro_script_for: a program of one process has plain tensors and numbers: "
            f"argument {position} is a DTensor; pass its full_tensor()"
        )


def _value_text(value: Any, position: int) -> str:
    _refuse_dtensor(value, position)
    if isinstance(value, torch.Tensor):
        return _tensor_text(value.detach())
    if isinstance(value, (bool, int, float, complex)):
        return _number_text(value)
    raise TypeError(
        f"repro_script_for: arguments must be tensors or numbers: argument {position} is a {type(value).__name__}; "
        "pass what execute takes"
    )


def _number_text(value: complex) -> str:
    if isinstance(value, complex):
        return f"complex({_number_text(value.real)}, {_number_text(value.imag)})"
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    return repr(value) if type(value) in (bool, int, float) else repr(int(value))


def _list_text(values: Any) -> str:
    if isinstance(values, list):
        return "[" + ", ".join(map(_list_text, values)) + "]"
    return _number_text(values)


def _tensor_text(tensor: torch.Tensor) -> str:
    place = f"dtype={tensor.dtype}, device='{tensor.device}'"
    size, stride = tuple(tensor.size()), tuple(tensor.stride())
    if tensor.device.type == "meta" or tensor.numel() == 0:
        return f"torch.empty_strided({size}, {stride}, {place})"
    has_data = not _is_fake(tensor)
    if has_data:
        tensor = tensor.resolve_conj().resolve_neg()
        size, stride = tuple(tensor.size()), tuple(tensor.stride())
    if tensor.dtype in _DRAWN_AS_BITS or is_packed(tensor):
        # torch draws no such numbers: their bits are drawn or written out.
        bits = torch.uint8 if tensor.dtype.itemsize == 1 else torch.int64
        return f"{_tensor_text(tensor.view(bits))}.view({tensor.dtype})"
    if tensor.is_contiguous():
        if has_data and tensor.numel() <= EXACT_ELEMENTS:
            return _exact_text(tensor)
        return f"torch.testing.make_tensor({size}, {place}{_range_text(tensor, has_data)})"
    span = span_of(tensor)
    if has_data and span.numel() <= EXACT_ELEMENTS:
        text = _exact_text(span)
    elif tensor.dtype.is_floating_point or tensor.dtype.is_complex:
        # Drawn in a type that has a generator; the narrow ones have none.
        drawn = tensor.dtype if tensor.dtype.itemsize > 1 else torch.float32
        text = f"torch.randn({span.numel()}, dtype={drawn}, device='{tensor.device}')"
        if drawn != tensor.dtype:
            text += f".to({tensor.dtype})"
    else:
        low, high = _integral_range(tensor, has_data)
        text = f"torch.randint({low}, {high}, ({span.numel()},), {place})"
    return f"{text}.as_strided({size}, {stride})"


def _is_fake(tensor: torch.Tensor) -> bool:
    from torch._subclasses.fake_tensor import FakeTensor

    return isinstance(tensor, FakeTensor)


def _exact_text(tensor: torch.Tensor) -> str:
    place = f"dtype={tensor.dtype}, device='{tensor.device}'"
    if tensor.dtype.itemsize == 1 and tensor.dtype.is_floating_point:
        # Bytes, since torch makes no such tensors from numbers in every version.
        values = _list_text(tensor.view(torch.uint8).tolist())
        return f"torch.tensor({values}, dtype=torch.uint8, device='{tensor.device}').view({tensor.dtype})"
    return f"torch.tensor({_list_text(tensor.tolist())}, {place})"


def _integral_range(tensor: torch.Tensor, has_data: bool) -> tuple[int, int]:
    """From the smallest to one past the largest: indices stay within what they index."""
    if tensor.dtype == torch.bool:
        return 0, 2
    if not has_data:
        return 0, _INTEGRAL_LIMIT
    low, high = int(tensor.min()), int(tensor.max())
    return low, min(high + 1, torch.iinfo(tensor.dtype).max)


def _range_text(tensor: torch.Tensor, has_data: bool) -> str:
    if not has_data or tensor.dtype == torch.bool or tensor.dtype.is_complex:
        return ""
    if not tensor.dtype.is_floating_point:
        low, high = _integral_range(tensor, has_data)
        return f", low={low}, high={high}"
    if tensor.dtype.itemsize == 1:
        return ""
    finite = tensor[tensor.isfinite()]
    if finite.numel() == 0 or finite.min() == finite.max():
        return ""
    return f", low={finite.min().item()!r}, high={finite.max().item()!r}"
