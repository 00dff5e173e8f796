"""Every op equals torch, for the dtypes it accepts, over layouts and sizes 0, 1 and odd. Casts are the language's own."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import pytest
import torch
from meshfuse.pytorch_utils import torch_dtype_to_nvfuser_dtype
from op_comparison import (
    ALL,
    BOOL,
    COMPLEX,
    LAYOUTS,
    REAL,
    SIZES,
    WHOLE,
    check,
    is_whole,
    make,
    run,
    widened,
)

from meshfuse import ops


def floated(x: torch.Tensor) -> torch.Tensor:
    """Functions that are not defined on integers compute in float."""
    return x.float() if is_whole(x.dtype) else widened(x)


def divide(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    mode = "trunc" if is_whole(a.dtype) else None
    return torch.div(widened(a), widened(b), rounding_mode=mode)


def modulus(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.fmod(widened(a), widened(b))


def power(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.pow(widened(a), widened(b))


def logical_right_shift(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    bits = 64 if a.dtype == torch.int64 else 32
    values = [
        (int(x) % 2**bits) >> int(n) if 0 <= n < bits else 0
        for x, n in zip(a.flatten().tolist(), b.flatten().tolist(), strict=True)
    ]
    signed = [x - 2**bits if x >= 2 ** (bits - 1) else x for x in values]
    return torch.tensor(signed, dtype=a.dtype).reshape(a.shape)


def whole_or(
    function: Callable[[torch.Tensor], torch.Tensor], other: Callable[[torch.Tensor], torch.Tensor]
) -> Callable[[torch.Tensor], torch.Tensor]:
    return lambda a: other(a) if is_whole(a.dtype) else function(a)


def unary_float(name: str) -> Callable[[torch.Tensor], torch.Tensor]:
    return lambda a: getattr(torch, name)(floated(a))


def inverse_erfc(a: torch.Tensor) -> torch.Tensor:
    return torch.erfinv(1 - floated(a).double()).to(floated(a).dtype)


def lerp(a: torch.Tensor, b: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    a, b, w = widened(a), widened(b), widened(w)
    return a + w * (b - a) if is_whole(a.dtype) else torch.lerp(a, b, w)


def addcmul(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return widened(a) + widened(b) * widened(c) * widened(v)


def threshold(a: torch.Tensor, bound: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    return torch.where(a <= bound.to(a.dtype), value.to(a.dtype), a)


@dataclass(frozen=True)
class Pointwise:
    """What a pointwise op is compared with: operands from [low, high) in quarters, or whole numbers."""

    count: int
    dtypes: list[torch.dtype]
    reference: Callable[..., torch.Tensor]
    low: int = -9
    high: int = 9


POINTWISE: dict[str, Pointwise] = {
    "abs": Pointwise(1, ALL, lambda a: a if a.dtype == torch.bool else a.abs()),
    "add": Pointwise(2, REAL + WHOLE + COMPLEX, lambda a, b: widened(a) + widened(b)),
    "addcmul": Pointwise(4, REAL + WHOLE + COMPLEX, addcmul),
    "atan2": Pointwise(2, REAL + WHOLE, lambda a, b: torch.atan2(floated(a), floated(b))),
    "bitwise_and": Pointwise(2, WHOLE + BOOL, torch.bitwise_and),
    "bitwise_left_shift": Pointwise(2, WHOLE, torch.bitwise_left_shift, 0),
    "bitwise_not": Pointwise(1, WHOLE + BOOL, torch.bitwise_not),
    "bitwise_or": Pointwise(2, WHOLE + BOOL, torch.bitwise_or),
    "bitwise_right_shift": Pointwise(2, WHOLE, torch.bitwise_right_shift, 0),
    "bitwise_xor": Pointwise(2, WHOLE + BOOL, torch.bitwise_xor),
    "complex": Pointwise(2, [torch.float32, torch.float64], torch.complex),
    "div": Pointwise(2, REAL + WHOLE + COMPLEX, divide, 1),
    "eq": Pointwise(2, ALL, torch.eq),
    "erfcinv": Pointwise(1, [torch.float32, torch.float64], inverse_erfc, 1, 8),
    "erfinv": Pointwise(1, REAL + WHOLE, unary_float("erfinv"), -4, 5),
    "fmod": Pointwise(2, REAL + WHOLE, modulus, 1),
    "frac": Pointwise(1, REAL + WHOLE, whole_or(torch.frac, torch.zeros_like)),
    "gcd": Pointwise(2, WHOLE, torch.gcd),
    "ge": Pointwise(2, REAL + WHOLE, torch.ge),
    "gt": Pointwise(2, REAL + WHOLE, torch.gt),
    "imag": Pointwise(1, COMPLEX, lambda a: a.imag),
    "isneginf": Pointwise(1, REAL + WHOLE, torch.isneginf),
    "isposinf": Pointwise(1, REAL + WHOLE, torch.isposinf),
    "le": Pointwise(2, REAL + WHOLE, torch.le),
    "lerp": Pointwise(3, REAL + WHOLE + COMPLEX, lerp),
    "logical_and": Pointwise(2, ALL, torch.logical_and),
    "logical_not": Pointwise(1, ALL, torch.logical_not),
    "logical_or": Pointwise(2, ALL, torch.logical_or),
    "logical_right_shift": Pointwise(2, WHOLE, logical_right_shift),
    "lt": Pointwise(2, REAL + WHOLE, torch.lt),
    "maximum": Pointwise(2, REAL + WHOLE, lambda a, b: torch.maximum(widened(a), widened(b))),
    "minimum": Pointwise(2, REAL + WHOLE, lambda a, b: torch.minimum(widened(a), widened(b))),
    "mod": Pointwise(2, REAL + WHOLE, modulus, 1),
    "mul": Pointwise(2, REAL + WHOLE + COMPLEX, lambda a, b: widened(a) * widened(b)),
    "ne": Pointwise(2, ALL, torch.ne),
    "neg": Pointwise(1, REAL + WHOLE + COMPLEX, lambda a: -widened(a)),
    "nextafter": Pointwise(2, [torch.float32, torch.float64], torch.nextafter),
    "pow": Pointwise(2, REAL + WHOLE + COMPLEX, power),
    "real": Pointwise(1, ALL, lambda a: a.real if a.is_complex() else a),
    "relu": Pointwise(1, REAL + WHOLE, torch.relu),
    "remainder": Pointwise(
        2, REAL + WHOLE, lambda a, b: torch.remainder(widened(a), widened(b)), 1
    ),
    "segment_set": Pointwise(1, ALL, torch.clone),
    "set": Pointwise(1, ALL, torch.clone),
    "sign": Pointwise(1, REAL + WHOLE, lambda a: torch.sign(torch.nan_to_num(a, 0.0))),
    "signbit": Pointwise(1, REAL + WHOLE, torch.signbit),
    "silu": Pointwise(1, REAL + COMPLEX, torch.nn.functional.silu),
    "sub": Pointwise(2, REAL + WHOLE + COMPLEX, lambda a, b: widened(a) - widened(b)),
    "threshold": Pointwise(3, REAL + WHOLE, threshold),
    "truediv": Pointwise(
        2, REAL + WHOLE + COMPLEX, lambda a, b: torch.true_divide(floated(a), floated(b)), 1
    ),
}
for _name in ("ceil", "floor", "round", "trunc"):
    POINTWISE[_name] = Pointwise(1, REAL + WHOLE, whole_or(getattr(torch, _name), torch.clone))
for _name in ("isfinite", "isinf", "isnan", "isreal"):
    POINTWISE[_name] = Pointwise(1, ALL, getattr(torch, _name))
for _name in ("erf", "erfc", "lgamma"):
    POINTWISE[_name] = Pointwise(1, REAL + WHOLE, unary_float(_name))
for _name in ("asinh", "atan", "cos", "cosh", "exp", "exp2", "expm1", "reciprocal", "rsqrt"):
    POINTWISE[_name] = Pointwise(1, REAL + WHOLE + COMPLEX, unary_float(_name))
for _name in ("log", "log10", "log1p", "log2", "sigmoid", "sin", "sinh", "sqrt", "tan", "tanh"):
    POINTWISE[_name] = Pointwise(1, REAL + WHOLE + COMPLEX, unary_float(_name))
for _name in ("acos", "asin", "atanh"):
    POINTWISE[_name] = Pointwise(1, REAL + WHOLE + COMPLEX, unary_float(_name), -4, 5)
POINTWISE["acosh"] = Pointwise(1, REAL + WHOLE + COMPLEX, unary_float("acosh"), 4)
STRUCTURED = {
    # test_sizes.py
    "size",
    "full",
    "iota",
    "expand",
    "slice",
    "pad",
    "cat",
    "select",
    # test_random.py
    "uniform",
    "normal",
    "rand_like",
    "randn_like",
    # below
    "where",
    "cast",
    "broadcast_in_dim",
    "permute",
    "reshape",
    # in test_layout_ops.py
    "broadcast",
    "squeeze",
    "stride_order",
    # in test_indexing_ops.py
    "embedding_fwd",
    "gather",
    "index_select",
    "scatter",
    "take_along_axis",
    # in test_attention_ops.py, test_grouped_mm.py and test_scaled_mm.py
    "sdpfa_bwd",
    "sdpfa_fwd",
    "grouped_mm",
    "scaled_mm",
    # in test_block_quantize.py
    "nv_block_quantize",
    "nv_grouped_block_quantize",
    "preprocess_grouped_matmul_input_sf",
    "cutlass_nvfp4_grouped_mm",
    "sum",
    "prod",
    "max",
    "min",
    "var",
    "var_mean",
    "welford",
    "cumsum",
    "cumprod",
    "cummax",
    "cummin",
    "argsort",
    "topk",
    "triu",
    "clamp",
    "matmul",
    "linear",
}


def test_every_op_is_compared_with_torch() -> None:
    names = {name for name in dir(ops) if type(getattr(ops, name)) is type(ops.add)}
    assert set(POINTWISE) | STRUCTURED == names


@pytest.mark.parametrize("name", sorted(POINTWISE))
def test_pointwise(name: str) -> None:
    row = POINTWISE[name]
    for dtype in row.dtypes:
        for shape in SIZES:
            for layout in LAYOUTS.values():
                inputs = [
                    layout(make(shape, dtype, row.low, row.high, seed)) for seed in range(row.count)
                ]
                (got,) = run(lambda fd, *args: getattr(fd.ops, name)(*args), inputs)
                check(got, row.reference(*inputs))


@pytest.mark.parametrize(
    "name",
    [name for name, row in POINTWISE.items() if row.count == 2 and torch.float32 in row.dtypes],
)
def test_pointwise_with_numbers_and_broadcasts(name: str) -> None:
    reference = POINTWISE[name].reference
    a, row, column = (
        make((4, 6), torch.float32),
        make((1, 6), torch.float32, 1),
        make((4, 1), torch.float32, 1),
    )
    operation = getattr(ops, name)
    for b in (row, column, row[0]):
        (got,) = run(lambda fd, x, y: operation(x, y), [a, b])
        check(got, reference(a, b))
    (got,) = run(lambda fd, x: operation(x, 1.5), [a])
    check(got, reference(a, torch.tensor(1.5)))
    (got,) = run(lambda fd, x: operation(2.5, x), [a + 20])
    check(got, reference(torch.tensor(2.5), a + 20))


def test_special_values_pass_as_torch_passes_them() -> None:
    special = torch.tensor([math.nan, math.inf, -math.inf, -0.0, 0.0, 1e-45, 3e38])
    other = torch.tensor([1.0, math.nan, math.inf, 0.0, -0.0, -1.0, 3e38])
    for name, row in POINTWISE.items():
        if torch.float32 not in row.dtypes or name == "erfcinv":
            continue
        inputs = [special, other, other, other][: row.count]
        (got,) = run(lambda fd, *args, name=name: getattr(fd.ops, name)(*args), inputs)
        check(got, row.reference(*inputs))


def test_where() -> None:
    for dtype in REAL + WHOLE + COMPLEX + [torch.bool]:
        for shape in SIZES:
            condition, a, b = (
                make(shape, torch.bool),
                make(shape, dtype, seed=1),
                make(shape, dtype, seed=2),
            )
            (got,) = run(lambda fd, c, x, y: fd.ops.where(c, x, y), [condition, a, b])
            check(got, torch.where(condition, a, b))


def test_cast_between_all_types() -> None:
    types = REAL + WHOLE + COMPLEX + [torch.bool]
    for source in types:
        for target in types:
            x = make((3, 5), source)
            (got,) = run(
                lambda fd, a, t=target: fd.ops.cast(a, torch_dtype_to_nvfuser_dtype(t)), [x]
            )
            real = (
                x.real
                if source.is_complex and not target.is_complex and target != torch.bool
                else x
            )
            check(got, real.to(target))


def test_shape_ops() -> None:
    for dtype in (torch.float32, torch.int64, torch.complex64, torch.bool):
        for layout in LAYOUTS.values():
            x = layout(make((4, 6), dtype))
            (got,) = run(lambda fd, a: fd.ops.permute(a, [1, 0]), [x])
            check(got, x.permute(1, 0))
            (got,) = run(lambda fd, a: fd.ops.reshape(a, [3, 8]), [x])
            check(got, x.reshape(3, 8))
            (got,) = run(lambda fd, a: fd.ops.reshape(a, [2, -1, 3]), [x])
            check(got, x.reshape(2, -1, 3))
            (got,) = run(lambda fd, a: fd.ops.broadcast_in_dim(a, [4, 5, 6], [0, 2]), [x])
            check(got, x[:, None, :].expand(4, 5, 6))


def test_matmul_and_linear() -> None:
    shapes = [
        ((4, 6), (6, 2)),
        ((2, 4, 6), (6, 3)),
        ((2, 1, 3, 4), (5, 4, 2)),
        ((6,), (6, 4)),
        ((4, 6), (6,)),
        ((6,), (6,)),
    ]
    for dtype in REAL + WHOLE + COMPLEX:
        for a_shape, b_shape in shapes:
            a, b = make(a_shape, dtype), make(b_shape, dtype, seed=1)
            (got,) = run(lambda fd, x, y: fd.ops.matmul(x, y), [a, b])
            check(got, torch.matmul(a, b))
    for dtype in REAL:
        for shape in [(4, 6), (2, 3, 6), (6,), (0, 6)]:
            x, w, bias = make(shape, dtype), make((5, 6), dtype, seed=1), make((5,), dtype, seed=2)
            (got,) = run(lambda fd, a, b, c: fd.ops.linear(a, b, c), [x, w, bias])
            check(got, torch.nn.functional.linear(x, w, bias))
            (got,) = run(lambda fd, a, b: fd.ops.linear(a, b), [x, w])
            check(got, torch.nn.functional.linear(x, w))
