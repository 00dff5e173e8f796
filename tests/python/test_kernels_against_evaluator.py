"""Kernels compute what the evaluator computes: every pointwise operation and every reduction, for each element type, in several
layouts and sizes. One kernel computes all operations of a type, so that there are few of them to compile."""

import functools
import math
from collections.abc import Iterator

import pytest
import torch
from kernel_comparison import execute
from kernel_operations import BINARY, DIVISIONS, INEXACT, INEXACT_ON_COMPLEX, OTHERS, UNARY
from meshfuse.kernels import kernel_statistics
from meshfuse.pytorch_utils import torch_dtype_to_nvfuser_dtype as dtype_of
from op_comparison import BOOL, COMPLEX, HALVES, REAL, WHOLE

from meshfuse import FusionDefinition, ops

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
        [
            math.nan,
            math.inf,
            -math.inf,
            -0.0,
            0.0,
            1.0,
            -1.0,
            tiny,
            -tiny,
            torch.finfo(dtype).max,
            2.0,
        ],
        dtype=torch.float64,
    )
    x = torch.where(picks, special[torch.randint(0, 11, sizes, generator=generator)], x)
    if dtype.is_complex:
        x = torch.complex(
            x.nan_to_num(1, 2, -2).clamp(-9, 9), torch.randn(sizes, generator=generator).double()
        )
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
}
PLACINGS = [("contiguous", dtype) for dtype in REAL + WHOLE + COMPLEX + BOOL] + [
    ("mixed", dtype) for dtype in (torch.float32, torch.bfloat16, torch.int64)
]


def arity_of(name: str) -> int:
    return 1 if name in UNARY else 2 if name in BINARY else 4 if name == "addcmul" else 3


@functools.cache
def accepted(dtype: torch.dtype) -> list[str]:
    """The operations that take operands of this type."""
    result = []
    for name in UNARY + BINARY + OTHERS:
        with FusionDefinition() as fd:
            x = [fd.define_tensor([-1, -1], dtype=dtype_of(dtype)) for _ in range(arity_of(name))]
            try:
                fd.add_output(getattr(ops, name)(*x))
                result.append(name)
            except RuntimeError:  # the type is refused
                fd.add_output(x[0])
    return result


def all_operations(dtype: torch.dtype, names: list[str] | None = None) -> FusionDefinition:
    with FusionDefinition() as fd:
        x = [fd.define_tensor([-1, -1], dtype=dtype_of(dtype)) for _ in range(4)]
        for name in names or accepted(dtype):
            fd.add_output(getattr(ops, name)(*x[: arity_of(name)]))
    return fd


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
    unit = (
        torch.maximum(wide.abs(), torch.tensor(info.smallest_normal, dtype=torch.float64))
        * info.eps
    )
    distance = ((wide - other).abs() / unit)[finite]
    return float(distance.max()) if distance.numel() else 0.0


def check(
    name: str, dtype: torch.dtype, want: torch.Tensor, got: torch.Tensor, exact: torch.Tensor
) -> None:
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    is_number = want.dtype.is_floating_point or want.dtype.is_complex
    if is_number and name in (INEXACT_ON_COMPLEX if dtype.is_complex else INEXACT):
        assert units_apart(want, got, exact) <= bound(want.dtype), name
        return
    assert torch.equal(want.isnan(), got.isnan()), name
    assert torch.equal(want[~want.isnan()], got[~got.isnan()]), name
    # Which of two zeros is the greater is nobody's business.
    if want.dtype.is_floating_point and name not in ("maximum", "minimum"):
        zeros = want == 0
        assert torch.equal(want[zeros].signbit(), got[zeros].signbit()), name


def compared(
    name: str,
    inputs: list[torch.Tensor],
    want: torch.Tensor,
    got: torch.Tensor,
    exact: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The elements that both can be right about."""
    if name in ("fmod", "mod", "remainder") and want.dtype.is_floating_point:
        # torch's vectors of remainders are NaN for large quotients.
        known = ~((inputs[0] / inputs[1]).abs() > 1e6)
        return want[known], got[known], exact[known]
    if name == "gcd":
        # The least number has no absolute value, and torch's divisors of it any sign.
        known = torch.stack([x != torch.iinfo(x.dtype).min for x in inputs[:2]]).all(0)
        return want[known], got[known], exact[known]
    if name in ("lerp", "addcmul", "lgamma") and (want.is_floating_point() or want.is_complex()):
        # Their errors are relative to what is added, which may cancel.
        wide = [x.to(torch.complex128 if x.is_complex() else torch.float64) for x in inputs]
        x0, x1, x2, x3 = wide
        size = {
            "lerp": x0.abs() + x1.abs() + (x2 * (x1 - x0)).abs(),
            "addcmul": x0.abs() + (x1 * x2 * x3).abs(),
            "lgamma": x0.abs().clamp(min=1),
        }[name]
        info = torch.finfo(want.dtype)
        difference = (want.to(x0.dtype) - got.to(x0.dtype)).abs()
        apart = (difference > 8 * info.eps * size) | difference.isnan()
        apart &= size < info.max / 8
        return want[apart], got[apart], exact[apart]
    return want, got, exact


def bound(dtype: torch.dtype) -> float:
    """Units in the last place between a kernel and the reference: the device text has at most 4; the reference for halves and
    floats is computed in double, that for others may have as many itself. A half is rounded once more."""
    if dtype in HALVES:
        return 1.0
    return 4.5 if dtype == torch.float32 else 8.0 if dtype == torch.float64 else 32.0


@pytest.fixture(autouse=True)
def _count_kernels() -> Iterator[None]:
    failed = kernel_statistics().failed
    yield
    assert kernel_statistics().failed == failed


@pytest.mark.parametrize(("placing", "dtype"), PLACINGS, ids=str)
def test_every_pointwise_operation(monkeypatch, placing, dtype):
    evaluating, compiling = (all_operations(dtype) for _ in range(2))
    for sizes in SIZES:
        inputs = [
            LAYOUTS[layout](values(sizes, dtype, 10 * i + len(placing), divides=i == 1))
            for i, layout in enumerate(PLACED[placing])
        ]
        want = execute(monkeypatch, evaluating, inputs, compiled=False)
        got = execute(monkeypatch, compiling, inputs, compiled=True)
        exact = want
        if dtype in (*HALVES, torch.float32):
            wide = all_operations(torch.float64, accepted(dtype))
            exact = execute(monkeypatch, wide, [x.double() for x in inputs], compiled=False)
            exact = [
                x.to(y.dtype) if dtype in HALVES else x for x, y in zip(exact, want, strict=True)
            ]
        failures = []
        for name, a, b, c in zip(accepted(dtype), want, got, exact, strict=True):
            try:
                check(name, dtype, *compared(name, inputs, a, b, c))
            except AssertionError as error:
                failures.append(f"{name} {sizes}: {str(error)[:150]}")
        assert not failures, "\n".join(failures)


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64], ids=str)
@pytest.mark.parametrize("op", DIVISIONS)
def test_a_zero_among_divisors_is_an_error(monkeypatch, op, dtype):
    def definition() -> FusionDefinition:
        with FusionDefinition() as fd:
            x, y = (fd.define_tensor([-1], dtype=dtype_of(dtype)) for _ in range(2))
            fd.add_output(getattr(ops, op)(x, y))
        return fd

    x, y = (torch.arange(1, 2201, dtype=dtype) for _ in range(2))
    y[2100] = 0
    texts = []
    for compiled in (False, True):
        with pytest.raises(RuntimeError, match="ZeroDivisionError") as raised:
            execute(monkeypatch, definition(), [x, y], compiled)
        texts.append(str(raised.value))
    assert texts[0] == texts[1]


def test_the_first_of_two_divisions_by_zero_is_the_error(monkeypatch):
    def definition() -> FusionDefinition:
        with FusionDefinition() as fd:
            x, y = (fd.define_tensor([-1], dtype=dtype_of(torch.int64)) for _ in range(2))
            fd.add_output(ops.mod(ops.div(x, y), y))
        return fd

    x, y = torch.arange(5), torch.tensor([1, 2, 0, 3, 4])
    for compiled in (False, True):
        with pytest.raises(RuntimeError, match=r"^div: the divisor of an integer division"):
            execute(monkeypatch, definition(), [x, y], compiled)


@pytest.mark.parametrize(
    ("wide", "narrow"),
    [
        (torch.complex128, torch.complex64),
        (torch.float64, torch.float32),
        (torch.float64, torch.bfloat16),
        (torch.float32, torch.float16),
    ],
    ids=str,
)
@pytest.mark.parametrize("count", [1, 2, 7, 33, 1100])
def test_a_cast_to_fewer_bits_rounds(monkeypatch, wide, narrow, count):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], dtype=dtype_of(wide))
        fd.add_output(ops.sub(x, ops.cast(ops.cast(x, dtype_of(narrow)), dtype_of(wide))))
    x = torch.randn(count, dtype=wide)
    (got,) = execute(monkeypatch, fd, [x], compiled=True)
    assert torch.equal(got, x - x.to(narrow).to(wide))


SETS = [[2], [0], [0, 1, 2], [1], [0, 1], [1, 2], [0, 2]]
REDUCED = [(torch.float32, dims) for dims in SETS] + [
    (dtype, dims)
    for dtype in (torch.float64, torch.bfloat16, torch.int64, torch.bool, torch.complex64)
    for dims in SETS[:3]
]


def reductions(dtype: torch.dtype, dims: list[int]) -> tuple[FusionDefinition, list[str]]:
    """All reductions, with and without the dimensions kept."""
    names = []
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1, -1], dtype=dtype_of(dtype))
        for keepdim in (False, True):
            for name in ("sum", "prod", *(("max", "min") if not dtype.is_complex else ())):
                names.append(name)
                fd.add_output(getattr(ops, name)(x, dims, keepdim))
        if dtype in (torch.float32, torch.float64):
            for results in (
                ops.var_mean(x, dims, 1, True),
                ops.welford(x, dims),
                [ops.var(x, dims, 0)],
            ):
                for result in results:
                    names.append("var")
                    fd.add_output(result)
    return fd, names


@pytest.mark.parametrize(("dtype", "dims"), REDUCED, ids=str)
def test_every_reduction(monkeypatch, dtype, dims):
    """Sums of quarters and products of powers of two are exact in any order."""
    (evaluating, names), (compiling, _) = reductions(dtype, dims), reductions(dtype, dims)
    for seed, sizes in enumerate(
        [(3, 17, 33), (2, 5, 1100), (1100, 3, 2), (1, 4, 1), (3, 0, 2), (1, 1, 1)]
    ):
        generator = torch.Generator().manual_seed(seed)
        wide = dtype.is_floating_point or dtype.is_complex
        x = torch.randint(-8, 9, sizes, generator=generator)
        x = (x / 4 if wide else x).to(dtype)
        for layout in (x, x.permute(2, 1, 0).contiguous().permute(2, 1, 0)):
            want = execute(monkeypatch, evaluating, [layout], compiled=False)
            got = execute(monkeypatch, compiling, [layout], compiled=True)
            count = max(1, layout.numel() // max(1, want[0].numel()))
            for name, a, b in zip(names, want, got, strict=True):
                assert a.dtype == b.dtype
                assert a.shape == b.shape
                if name in ("sum", "max", "min") or not wide:
                    assert torch.equal(a, b), name
                else:
                    # One rounding a factor or term, in the type that is accumulated in; halves are rounded once more.
                    eps = torch.finfo(torch.float32 if dtype in HALVES else dtype).eps
                    rtol = (count + 8) * eps + (torch.finfo(dtype).eps if dtype in HALVES else 0)
                    finite = torch.isfinite(a) & torch.isfinite(b)
                    tiny = 4 * float(
                        torch.finfo(dtype).eps
                    )  # deviations of elements of up to 2 may cancel
                    torch.testing.assert_close(b[finite], a[finite], rtol=rtol, atol=tiny)
                    assert dtype.is_complex or torch.equal(a.isnan(), b.isnan()), name
