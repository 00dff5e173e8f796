"""Kernels compute what the evaluator computes: every pointwise operation and every reduction, for each element type, in several
layouts and sizes. One kernel computes all operations of a type, so that there are few of them to compile."""

import functools
import math
from collections.abc import Iterator

import pytest
import torch
from meshfuse.kernels import kernel_statistics
from meshfuse.pytorch_utils import torch_dtype_to_nvfuser_dtype as dtype_of
from op_comparison import BOOL, COMPLEX, HALVES, REAL, WHOLE

from meshfuse import FusionDefinition, ops

UNARY = """abs acos acosh asin asinh atan atanh bitwise_not ceil cos cosh erf erfc erfcinv erfinv exp exp2 expm1 floor frac imag
isfinite isinf isnan isneginf isposinf isreal lgamma log log10 log1p log2 logical_not neg real reciprocal relu round rsqrt
set sigmoid sign signbit silu sin sinh sqrt tan tanh trunc""".split()
BINARY = """add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor complex div eq fmod gcd ge gt le
logical_and logical_or logical_right_shift lt maximum minimum mod mul ne nextafter pow remainder sub truediv""".split()
OTHERS = ["lerp", "threshold", "addcmul"]
DIVISIONS = ["div", "mod", "fmod", "remainder"]
INEXACT = set(
    """acos acosh asin asinh atan atanh cos cosh erf erfc erfcinv erfinv exp exp2 expm1 lgamma log log10 log1p log2 rsqrt sigmoid
    silu sin sinh sqrt tan tanh atan2 pow""".split()
)
# Quotients and products of complex numbers have several formulas.
INEXACT_ON_COMPLEX = INEXACT | {"abs", "reciprocal", "sign", "div", "truediv", "mul", "addcmul"}

# Sizes 0, 1 and odd; a row longer than a chunk of 1,024; enough for several threads.
SIZES = [(17, 33), (0, 4), (4, 0), (1, 5), (3, 1), (1, 1), (3, 1100), (40, 2100)]


def values(sizes: tuple[int, ...], dtype: torch.dtype, seed: int, divides: bool) -> torch.Tensor:
    """Of both signs, with infinities, NaN, zeros of both signs, the least and the greatest numbers."""
    generator = torch.Generator().manual_seed(seed)
    if dtype == torch.bool:
        return torch.rand(sizes, generator=generator) < 0.5
    picks = torch.rand(sizes, generator=generator) < 0.1
    if not dtype.is_floating_point and not dtype.is_complex:
        x = torch.randint(-70, 70, sizes, generator=generator)
        limits = torch.iinfo(dtype)
        special = torch.tensor([limits.min, limits.max, limits.min + 1, -1, 1, 64, 31])
        x = torch.where(picks, special[torch.randint(0, 7, sizes, generator=generator)], x)
        return torch.where(x == 0, 3, x).to(dtype) if divides else x.to(dtype)
    x = torch.randn(sizes, generator=generator, dtype=torch.float64) * 2
    tiny = torch.finfo(dtype).smallest_normal
    special = torch.tensor(
        [math.nan, math.inf, -math.inf, -0.0, 0.0, 1.0, -1.0, tiny, -tiny, torch.finfo(dtype).max, 2.0],
        dtype=torch.float64,
    )
    x = torch.where(picks, special[torch.randint(0, 11, sizes, generator=generator)], x)
    if dtype.is_complex:
        x = torch.complex(x.nan_to_num(1, 2, -2).clamp(-9, 9), torch.randn(sizes, generator=generator).double())
    return x.to(dtype)


LAYOUTS = {
    "contiguous": lambda x: x,
    "transposed": lambda x: x.t().contiguous().t(),
    "strided": lambda x: torch.stack([x, x], -1)[..., 0],
    "expanded": lambda x: x[:1].expand(x.shape),
    "offset": lambda x: torch.cat([x.flatten()[:0], x.new_zeros(3), x.flatten()])[3:].view(x.shape),
}
# The layouts of the four operands.
PLACED = {
    "contiguous": ["contiguous"] * 4,
    "mixed": ["strided", "offset", "expanded", "transposed"],
    "transposed": ["transposed"] * 4,
}


@functools.cache
def accepted(dtype: torch.dtype) -> list[str]:
    """The operations that take operands of this type."""
    result = []
    for name in UNARY + BINARY + OTHERS:
        arity = 1 if name in UNARY else 2 if name in BINARY else 4 if name == "addcmul" else 3
        with FusionDefinition() as fd:
            x = [fd.define_tensor([-1, -1], dtype=dtype_of(dtype)) for _ in range(arity)]
            try:
                fd.add_output(getattr(ops, name)(*x))
                result.append(name)
            except RuntimeError as error:
                assert "input is required" in str(error) or "the operand is" in str(error)
                fd.add_output(x[0])
    return result


def all_operations(dtype: torch.dtype) -> FusionDefinition:
    with FusionDefinition() as fd:
        x = [fd.define_tensor([-1, -1], dtype=dtype_of(dtype)) for _ in range(4)]
        for name in accepted(dtype):
            arity = 1 if name in UNARY else 2 if name in BINARY else 4 if name == "addcmul" else 3
            fd.add_output(getattr(ops, name)(*x[:arity]))
    return fd


def execute(
    monkeypatch: pytest.MonkeyPatch, fd: FusionDefinition, inputs: list[torch.Tensor], compiled: bool
) -> list[torch.Tensor]:
    monkeypatch.setenv("MESHFUSE_COMPILE", "1" if compiled else "0")
    return fd.execute(inputs)


def units_apart(want: torch.Tensor, got: torch.Tensor, exact: torch.Tensor) -> float:
    """The largest distance of `got` from `exact`, in units in the last place; infinite where one is no number and the other is."""
    overflown = torch.isinf(exact.to(want.dtype))
    exact = torch.where(overflown, exact.to(want.dtype).to(exact.dtype), exact)
    if want.dtype.is_complex:
        wide, other = exact.to(torch.complex128), got.to(torch.complex128)
        finite = torch.isfinite(wide) & torch.isfinite(other)
        both = finite | (~torch.isfinite(wide) & ~torch.isfinite(other))
    else:
        wide, other = exact.double(), got.double()
        finite = torch.isfinite(wide) & torch.isfinite(other)
        both = finite | (wide == other) | (wide.isnan() & other.isnan())
    if not bool(both.all()):
        return math.inf
    info = torch.finfo(want.dtype)
    unit = torch.maximum(wide.abs(), torch.tensor(info.smallest_normal, dtype=torch.float64)) * info.eps
    distance = ((wide - other).abs() / unit)[finite]
    return float(distance.max()) if distance.numel() else 0.0


def check(name: str, dtype: torch.dtype, want: torch.Tensor, got: torch.Tensor, exact: torch.Tensor) -> None:
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    is_number = want.dtype.is_floating_point or want.dtype.is_complex
    if is_number and name in (INEXACT_ON_COMPLEX if dtype.is_complex else INEXACT):
        assert units_apart(want, got, exact) <= bound(want.dtype), name
        return
    assert torch.equal(want.isnan(), got.isnan()), name
    assert torch.equal(want[~want.isnan()], got[~got.isnan()]), name
    if want.dtype.is_floating_point:
        zeros = want == 0
        assert torch.equal(want[zeros].signbit(), got[zeros].signbit()), name


def compared(
    name: str, inputs: list[torch.Tensor], want: torch.Tensor, got: torch.Tensor, exact: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The elements that both can be right about."""
    if name in ("fmod", "mod", "remainder") and want.dtype.is_floating_point:
        # torch's vectors of remainders are NaN for large quotients.
        known = ~((inputs[0] / inputs[1]).abs() > 1e6)
        return want[known], got[known], exact[known]
    if name == "lerp":
        # Its error is relative to what is added, which may cancel.
        wide = [x.to(torch.complex128 if x.is_complex() else torch.float64) for x in inputs[:3]]
        size = wide[0].abs() + (wide[2] * (wide[1] - wide[0])).abs() + wide[1].abs()
        near = (want.to(wide[0].dtype) - got.to(wide[0].dtype)).abs() <= (
            4 * torch.finfo(want.dtype).eps * size
        )
        return want[~near], got[~near], exact[~near]
    return want, got, exact


def bound(dtype: torch.dtype) -> float:
    """Units in the last place between a kernel and the reference: the device text has at most 4; the reference for halves and
    floats is computed in double, that for others may have as many itself. A half is rounded once more."""
    if dtype in HALVES:
        return 1.0
    return 4.5 if dtype == torch.float32 else 8.0 if dtype == torch.float64 else 16.0


@pytest.fixture(autouse=True)
def _count_kernels() -> Iterator[None]:
    failed = kernel_statistics().failed
    yield
    assert kernel_statistics().failed == failed


@pytest.mark.parametrize("placing", PLACED)
@pytest.mark.parametrize("dtype", REAL + WHOLE + COMPLEX + BOOL, ids=str)
def test_every_pointwise_operation(monkeypatch, dtype, placing):
    if placing == "transposed" and dtype not in (torch.float32, torch.int32):
        pytest.skip("two types show the layout")
    evaluating, compiling, wide = (all_operations(dtype) for _ in range(3))
    for sizes in SIZES:
        inputs = [
            LAYOUTS[layout](values(sizes, dtype, 10 * i + len(placing), divides=i == 1))
            for i, layout in enumerate(PLACED[placing])
        ]
        want = execute(monkeypatch, evaluating, inputs, compiled=False)
        got = execute(monkeypatch, compiling, inputs, compiled=True)
        exact = want
        if dtype in (*HALVES, torch.float32):
            with FusionDefinition() as wide:
                x = [wide.define_tensor([-1, -1], dtype=dtype_of(torch.float64)) for _ in range(4)]
                for name in accepted(dtype):
                    arity = 1 if name in UNARY else 2 if name in BINARY else 4 if name == "addcmul" else 3
                    wide.add_output(getattr(ops, name)(*x[:arity]))
            exact = execute(monkeypatch, wide, [x.double() for x in inputs], compiled=False)
            exact = [x.to(y.dtype) if dtype in HALVES else x for x, y in zip(exact, want, strict=True)]
        failures = []
        for name, a, b, c in zip(accepted(dtype), want, got, exact, strict=True):
            try:
                check(name, dtype, *compared(name, inputs, a, b, c))
            except AssertionError as error:
                failures.append(f"{name} {sizes}: {str(error)[:150]}")
        assert not failures, "\n".join(failures)
