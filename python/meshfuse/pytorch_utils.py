"""Between torch's dtypes and the language's, and what tests and benchmarks ask of the device."""

import functools
import gc
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import torch

from meshfuse._C import DataType, torch_dtype_names
from meshfuse.device_properties import get_device_properties

__all__ = [
    "get_device_properties",
    "nvfuser_dtype_to_torch_dtype",
    "python_scalar_to_nvfuser_dtype",
    "retry_on_oom_or_skip_test",
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


@functools.cache
def _device_properties() -> dict[str, Any] | None:
    return get_device_properties() if torch.cuda.is_available() else None


def __getattr__(name: str) -> Any:
    # Read when it is asked for, since it starts the CUDA driver.
    if name == "DEVICE_PROPERTIES":
        return _device_properties()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


_Params = ParamSpec("_Params")
_Result = TypeVar("_Result")


def retry_on_oom_or_skip_test(function: Callable[_Params, _Result]) -> Callable[_Params, _Result]:
    """Decorates a test: out of GPU memory, it runs once more with all caches emptied, then counts as skipped."""

    @functools.wraps(function)
    def wrapper(*args: _Params.args, **kwargs: _Params.kwargs) -> _Result:
        try:
            return function(*args, **kwargs)
        except torch.OutOfMemoryError:
            pass  # retried below, where the failed call's tensors are gone
        gc.collect()
        torch.cuda.empty_cache()
        try:
            return function(*args, **kwargs)
        except torch.OutOfMemoryError as error:
            import pytest

            pytest.skip(f"out of GPU memory twice: {error}")

    return wrapper
