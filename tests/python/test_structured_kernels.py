"""Kernels of operations that are neither pointwise nor reductions compute what the evaluator and torch compute."""

import math

import pytest
import torch
from kernel_comparison import assert_same, compare
from meshfuse.pytorch_utils import torch_dtype_to_nvfuser_dtype as dtype_of
from op_comparison import BOOL, LAYOUTS, REAL, SIZES, WHOLE

from meshfuse import DataType, FusionDefinition, ops

FLOAT8 = [torch.float8_e4m3fn, torch.float8_e5m2]


def special(sizes: tuple[int, ...], dtype: torch.dtype, seed: int = 0) -> torch.Tensor:
    """Small numbers; floats with infinities, NaN and zeros of both signs among them."""
    generator = torch.Generator().manual_seed(seed)
    if dtype == torch.bool:
        return torch.rand(sizes, generator=generator) < 0.5
    if not dtype.is_floating_point:
        return torch.randint(-9, 9, sizes, generator=generator).to(dtype)
    x = torch.randn(sizes, generator=generator, dtype=torch.float64) * 2
    odd = torch.tensor([math.nan, math.inf, -math.inf, -0.0, 0.0, 1.0])
    picked = odd[torch.randint(0, 6, sizes, generator=generator)].double()
    return torch.where(torch.rand(sizes, generator=generator) < 0.2, picked, x).to(dtype)


BOUNDS = [(-0.5, 1.5), (None, 1), (0, None), (1.0, -1.0), (0.0, -0.0), (-3, 2)]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", REAL + WHOLE + BOOL + FLOAT8, ids=str)
def test_clamp(monkeypatch, dtype, layout):
    bounds = BOUNDS + ([(math.nan, 1.0), (0.0, math.nan)] if dtype.is_floating_point else [])

    def define() -> FusionDefinition:
        with FusionDefinition() as fd:
            x = fd.define_tensor([-1, -1], dtype=dtype_of(dtype))
            for low, high in bounds:
                fd.add_output(ops.clamp(x, low, high))
        return fd

    inputs = [LAYOUTS[layout](special(sizes, dtype)) for sizes in [*SIZES, (3, 1100)]]
    results = compare(monkeypatch, define, [[x] for x in inputs])
    if dtype in (*FLOAT8, torch.bool):
        return
    for x, got in zip(inputs, results, strict=True):
        for (low, high), each in zip(bounds, got, strict=True):
            if dtype in WHOLE:
                low, high = (None if b is None else int(b) for b in (low, high))
            assert_same(each, torch.clamp(x, low, high))


@pytest.mark.parametrize(
    "bound", [(DataType.Double, 0.5), (DataType.Int, 1), (DataType.Double, math.nan)]
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64, torch.int32])
def test_clamp_by_numbers_of_the_call(monkeypatch, dtype, bound):
    def define() -> FusionDefinition:
        with FusionDefinition() as fd:
            x = fd.define_tensor([-1, -1], dtype=dtype_of(dtype))
            low = fd.define_scalar(None, dtype=bound[0])
            fd.add_output(ops.neg(ops.clamp(ops.neg(x), low, 2)))
            fd.add_output(ops.neg(ops.clamp(ops.neg(x), None, low)))
        return fd

    runs = dtype.is_floating_point or (dtype == torch.int64 and bound[0] == DataType.Int)
    x = special((7, 33), dtype)
    compare(
        monkeypatch, define, [[x, bound[1]], [x, -bound[1]]], [] if runs else ["clamp", "clamp"]
    )
