"""Running a publicly reported failure, restated in our language, against eager torch: static and symbolic sizes, twice."""

from collections.abc import Callable, Sequence
from typing import Any

import torch

from meshfuse import DataType, FusionDefinition

Results = torch.Tensor | Sequence[torch.Tensor]


def as_list(results: Any) -> list[Any]:
    return list(results) if isinstance(results, (list, tuple)) else [results]


def input_of(fd: FusionDefinition, value: Any, static: bool) -> Any:
    if isinstance(value, torch.Tensor):
        return fd.from_pytorch(value, static_sizes=static)
    types = {int: DataType.Int, float: DataType.Double, complex: DataType.ComplexDouble}
    return fd.define_scalar(types[type(value)])


def define(build: Callable[..., Any], inputs: Sequence[Any], static: bool) -> FusionDefinition:
    with FusionDefinition() as fd:
        handles = [input_of(fd, value, static) for value in inputs]
        for result in as_list(build(fd, *handles)):
            fd.add_output(result)
    return fd


def check_results(
    got: Sequence[torch.Tensor], expected: Sequence[torch.Tensor], exact: bool
) -> None:
    assert len(got) == len(expected)
    for result, reference in zip(got, expected, strict=True):
        assert result.shape == reference.shape
        tolerance = {"rtol": 0.0, "atol": 0.0} if exact else {}
        torch.testing.assert_close(result, reference, equal_nan=True, **tolerance)


def check_case(
    build: Callable[..., Any],
    inputs: Sequence[Any],
    reference: Callable[..., Results],
    *,
    exact: bool = False,
) -> None:
    """`build(fd, *handles)` gives what `reference(*inputs)` gives, whose element types are the language's."""
    expected = as_list(reference(*inputs))
    tensors = [value for value in inputs if isinstance(value, torch.Tensor)]
    before = [tensor.clone() for tensor in tensors]
    for static in (True, False):
        fd = define(build, inputs, static)
        for _ in range(2):
            check_results(fd.execute(inputs), expected, exact)
    for tensor, copy in zip(tensors, before, strict=True):
        torch.testing.assert_close(tensor, copy, rtol=0, atol=0, equal_nan=True)


def randn(*shape: int, dtype: torch.dtype = torch.float32, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def strided(shape: Sequence[int], strides: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
    """Random numbers in a layout; dimensions of stride 0 repeat."""
    storage = 1 + sum((size - 1) * step for size, step in zip(shape, strides, strict=True) if size)
    return randn(max(storage, 1), dtype=dtype).as_strided(shape, strides)
