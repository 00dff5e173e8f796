"""How a sample of torch's OpInfo becomes a call in our language: pointwise ops, and what every kind of op shares.

A way of calling takes an op's name, the OpInfo and one sample, and gives a Call; or it raises LeftOutError with the rule that the
sample can't be said by. References follow from the language: operands are cast to the type that the operation computes in,
then torch's own function is called.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from meshfuse.pytorch_utils import torch_dtype_to_nvfuser_dtype
from op_comparison import HALVES, is_whole

from meshfuse import DataType, FusionDefinition, TensorView

TYPES = [
    *(torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32),
    *(torch.complex64, torch.complex128, torch.bool),
]
Tensors = Sequence[torch.Tensor]


class LeftOutError(Exception):
    """The rule by which a sample can't be said in the language."""


@dataclass(frozen=True)
class Call:
    """One sample in our language."""

    tensors: list[torch.Tensor]
    build: Callable[..., Any]  # (fd, a handle for each tensor) -> one result or several
    expected: Callable[[], torch.Tensor | Tensors]
    seen: Callable[[Tensors], torch.Tensor | Tensors] = list  # what of the results is compared


Way = Callable[[str, Any, Any], Call]


def data_type(dtype: torch.dtype) -> DataType:
    if dtype not in TYPES:
        raise LeftOutError("the language has no such element type")
    return torch_dtype_to_nvfuser_dtype(dtype)


def check_types(tensors: Sequence[torch.Tensor]) -> None:
    for tensor in tensors:
        data_type(tensor.dtype)


def number_for(dtype: torch.dtype, number: complex) -> complex:
    """Numbers that stand beside a tensor have its category; torch converts them."""
    if dtype == torch.bool:
        return bool(number)
    if dtype.is_complex:
        return complex(number)
    real = number.real if isinstance(number, complex) else number
    return float(real) if dtype.is_floating_point else int(real)


def combine(high: torch.dtype, low: torch.dtype) -> torch.dtype:
    """What operands of a group give beside those of a group that ranks lower."""
    if high.is_complex:
        return high
    if low.is_complex and high.is_floating_point:
        if high in HALVES:
            raise LeftOutError("a half type has no complex type")
        return high.to_complex()
    if high.is_floating_point:
        return high
    if high == torch.bool or low.is_complex or low.is_floating_point:
        return torch.promote_types(high, low)
    return high


def group_of(operand: Any) -> int:
    return (0 if operand.dim() else 1) if isinstance(operand, torch.Tensor) else 2


def type_of(operand: Any) -> torch.dtype:
    if isinstance(operand, torch.Tensor):
        return operand.dtype
    types = {bool: torch.int64, int: torch.int64, float: torch.float64, complex: torch.complex128}
    return types[type(operand)]


def promoted(operands: Sequence[Any]) -> torch.dtype:
    """The language's promotion: tensors with dimensions, then those without, then numbers."""
    groups: list[torch.dtype | None] = [None, None, None]
    for operand in operands:
        group, dtype = group_of(operand), type_of(operand)
        before = groups[group]
        groups[group] = dtype if before is None else torch.promote_types(before, dtype)
    present = [dtype for dtype in groups if dtype is not None]
    result = present.pop()
    while present:
        result = combine(present.pop(), result)
    return result


def keep(dtype: torch.dtype) -> torch.dtype:
    return dtype


def wide(dtype: torch.dtype) -> torch.dtype:
    """Arithmetic on halves is done in float."""
    return torch.float32 if dtype in HALVES else dtype


def floating(dtype: torch.dtype) -> torch.dtype:
    """Functions that are not defined on whole numbers compute in float."""
    return torch.float32 if is_whole(dtype) else wide(dtype)


def logical(_: torch.dtype) -> torch.dtype:
    return torch.bool


def cast(operand: Any, dtype: torch.dtype) -> torch.Tensor:
    if isinstance(operand, torch.Tensor):
        return operand.real.to(dtype) if drops_imaginary(operand, dtype) else operand.to(dtype)
    return torch.tensor(number_for(dtype, operand), dtype=dtype)


def drops_imaginary(tensor: torch.Tensor, dtype: torch.dtype) -> bool:
    return tensor.is_complex() and not dtype.is_complex and dtype != torch.bool


def as_output(fd: FusionDefinition, result: Any) -> TensorView:
    """A call with numbers alone gives a number; a fusion gives tensors."""
    return result if isinstance(result, TensorView) else fd.ops.full([], result, result.dtype())


def handed(operands: Sequence[Any], handles: Sequence[Any]) -> list[Any]:
    """The operands with a handle in place of each tensor."""
    rest = iter(handles)
    return [next(rest) if isinstance(operand, torch.Tensor) else operand for operand in operands]


def positional(sample: Any) -> list[Any]:
    if sample.kwargs:
        raise LeftOutError(f"the op has no parameter {', '.join(sample.kwargs)}")
    return [sample.input, *sample.args]


def pointwise(
    compute: Callable[[torch.dtype], torch.dtype] = floating,
    function: Callable[..., torch.Tensor] | None = None,
    operands_of: Callable[[Any], list[Any]] = positional,
    typed: slice = slice(None),
    accepted: Callable[[torch.dtype], bool] = lambda dtype: True,
) -> Way:
    """The operands, cast to `compute` of what those in `typed` promote to, go to torch's own function unless the
    language's differs. Operands before the typed ones stay as they are."""

    def way(name: str, info: Any, sample: Any) -> Call:
        operands = operands_of(sample)
        tensors = [operand for operand in operands if isinstance(operand, torch.Tensor)]
        check_types(tensors)
        dtype = compute(promoted(operands[typed]))
        if not accepted(dtype):
            raise LeftOutError("the op is not defined on the element type")
        first = typed.start or 0

        def expected() -> torch.Tensor:
            cast_ones = [cast(operand, dtype) for operand in operands[first:]]
            return (function or info.op)(*operands[:first], *cast_ones)

        def build(fd: FusionDefinition, *handles: TensorView) -> TensorView:
            return as_output(fd, getattr(fd.ops, name)(*handed(operands, handles)))

        return Call(tensors, build, expected)

    return way
