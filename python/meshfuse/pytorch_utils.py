"""Between torch's dtypes and the language's."""

from typing import Any

import torch

from meshfuse._C import DataType, torch_dtype_names

__all__ = [
    "nvfuser_dtype_to_torch_dtype",
    "python_scalar_to_nvfuser_dtype",
    "torch_dtype_to_nvfuser_dtype",
]

_TO_TORCH: dict[DataType, torch.dtype] = {
    data_type: getattr(torch, name) for data_type, name in torch_dtype_names if hasattr(torch, name)
}
if DataType.Float4_e2m1fn_x2 in _TO_TORCH:
    # torch holds 4-bit floats in pairs.
    _TO_TORCH[DataType.Float4_e2m1fn] = _TO_TORCH[DataType.Float4_e2m1fn_x2]

_FROM_PYTHON: dict[torch.dtype | type, DataType] = {
    bool: DataType.Bool,
    int: DataType.Int,
    float: DataType.Double,
    complex: DataType.ComplexDouble,
}

# UInt64 is a type of results only: the language takes no uint64 tensors.
_NO_INPUT_TYPES = {DataType.UInt64, DataType.Float4_e2m1fn}

_FROM_TORCH: dict[torch.dtype | type, DataType] = {
    **{
        dtype: data_type
        for data_type, dtype in _TO_TORCH.items()
        if data_type not in _NO_INPUT_TYPES
    },
    **_FROM_PYTHON,
}


def torch_dtype_to_nvfuser_dtype(dtype: torch.dtype | type) -> DataType:
    """The DataType of a torch dtype, or of Python's bool, int, float or complex; KeyError naming any other."""
    try:
        return _FROM_TORCH[dtype]
    except KeyError:
        known = ", ".join(
            sorted(str(known) for known in _FROM_TORCH if isinstance(known, torch.dtype))
        )
        raise KeyError(
            f"torch_dtype_to_nvfuser_dtype: the language has no such element type: got {dtype}; convert to one of {known}"
        ) from None


def python_scalar_to_nvfuser_dtype(value: Any) -> DataType:
    """The DataType of a number, by its exact Python type; KeyError for anything else."""
    try:
        return _FROM_PYTHON[type(value)]
    except KeyError:
        raise KeyError(
            "python_scalar_to_nvfuser_dtype: a number is a bool, an int, a float or a complex: "
            f"got a {type(value).__name__}; convert it to one of them"
        ) from None


def nvfuser_dtype_to_torch_dtype(data_type: DataType) -> torch.dtype:
    """The torch dtype that holds a DataType; KeyError naming one that torch has none for."""
    try:
        return _TO_TORCH[data_type]
    except KeyError:
        raise KeyError(
            f"nvfuser_dtype_to_torch_dtype: torch {torch.__version__} has no dtype for it: got {data_type}; "
            "use a type that torch has"
        ) from None
