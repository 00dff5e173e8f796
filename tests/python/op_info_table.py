"""Which of torch's OpInfos each op is compared by, and how their samples become calls: one row per op of ours."""

from dataclasses import dataclass
from typing import Any

import op_info_placement as placement
import op_info_structured as structured
import torch
from op_comparison import is_whole
from op_info_calls import (
    LeftOutError,
    Way,
    floating,
    keep,
    logical,
    pointwise,
    positional,
    wide,
)


@dataclass(frozen=True)
class Row:
    way: Way
    infos: tuple[str, ...]  # names of OpInfos, as op_db has them


TABLE: dict[str, Row] = {}


def row(names: str, way: Way, *infos: str) -> None:
    """Each of `names` is compared by the OpInfo of its name, or by `infos`."""
    for name in names.split():
        TABLE[name] = Row(way, infos or (name,))


# ---- operands that are more than the positional ones ----


def scaled(sample: Any) -> list[Any]:
    if "alpha" in sample.kwargs:
        raise LeftOutError("the op has no parameter alpha")
    return positional(sample)


def with_value(sample: Any) -> list[Any]:
    return [sample.input, *sample.args, sample.kwargs.get("value", 1)]


def with_bound(sample: Any) -> list[Any]:
    return [sample.input, *sample.args, *sample.kwargs.values()]


def without_decimals(sample: Any) -> list[Any]:
    if sample.kwargs.get("decimals", 0) != 0:
        raise LeftOutError("rounding is to whole numbers")
    return [sample.input]


def condition_first(sample: Any) -> list[Any]:
    condition, other = sample.args
    return [condition, sample.input, other]


def truncating(sample: Any) -> list[Any]:
    """div truncates for whole numbers alone."""
    mode = sample.kwargs.get("rounding_mode")
    operands = [sample.input, *sample.args]
    types = [o.dtype for o in operands if isinstance(o, torch.Tensor)]
    whole = (
        bool(types)
        and all(map(is_whole, types))
        and not any(isinstance(o, float) for o in operands)
    )
    if mode == "floor" or (mode == "trunc" and not whole):
        raise LeftOutError(f"div has no rounding mode {mode}, but that whole numbers truncate")
    return operands


# ---- where the language differs from torch's function ----


def divide(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    if a.dtype == torch.bool:
        return torch.div(a, b).bool()
    return torch.div(a, b, rounding_mode="trunc" if is_whole(a.dtype) else None)


def addcmul(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return a + b * c * v


def threshold(a: torch.Tensor, bound: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    return torch.where(a <= bound, value, a)


def sign(a: torch.Tensor) -> torch.Tensor:
    return torch.sign(torch.nan_to_num(a, 0.0)) if a.is_floating_point() else torch.sign(a)


def logical_right_shift(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Word by word, in Python."""
    bits = 64 if a.dtype == torch.int64 else 32
    a, b = torch.broadcast_tensors(a, b)
    words = [
        (int(x) % 2**bits) >> int(n) if 0 <= n < bits else 0
        for x, n in zip(a.flatten().tolist(), b.flatten().tolist(), strict=True)
    ]
    signed = [x - 2**bits if x >= 2 ** (bits - 1) else x for x in words]
    return torch.tensor(signed, dtype=a.dtype).reshape(a.shape)


row(
    "acos acosh asin asinh atan atanh cos cosh erf erfc erfinv exp exp2 expm1 lgamma log log10 log1p log2 reciprocal rsqrt "
    "sigmoid sin sinh sqrt tan tanh atan2",
    pointwise(floating),
)
row("truediv", pointwise(floating, torch.true_divide), "true_divide")
row("neg mul fmod remainder maximum minimum pow lerp eq ne lt le gt ge", pointwise(wide))
row("add sub", pointwise(wide, operands_of=scaled))
row("div", pointwise(wide, divide, truncating))
row("mod", pointwise(wide, torch.fmod), "fmod")
row("addcmul", pointwise(wide, addcmul, with_value))
row("logical_and logical_or logical_not", pointwise(logical))
row(
    "bitwise_and bitwise_or bitwise_xor bitwise_not bitwise_left_shift bitwise_right_shift gcd",
    pointwise(keep),
)
row("logical_right_shift", pointwise(keep, logical_right_shift), "bitwise_right_shift")
row("abs ceil floor frac trunc", pointwise(keep))
row("round", pointwise(keep, torch.round, without_decimals))
row("relu", pointwise(keep), "nn.functional.relu")
row("silu", pointwise(keep), "nn.functional.silu")
row("sign", pointwise(keep, sign))
row("threshold", pointwise(keep, threshold, with_bound, slice(0, 1)), "nn.functional.threshold")
row("isfinite isinf isnan isneginf isposinf isreal signbit real imag", pointwise(keep))
row(
    "complex nextafter",
    pointwise(keep, accepted=lambda dtype: dtype in (torch.float32, torch.float64)),
)
row("where", pointwise(keep, torch.where, condition_first, slice(1, None)))
row("clamp", structured.clamp, "clamp", "clamp_max", "clamp_min")

row("sum", structured.reduction(torch.sum))
row("prod", structured.reduction(torch.prod))
row("max", structured.reduction(torch.amax), "amax", "max")
row("min", structured.reduction(torch.amin), "amin", "min")
row("var var_mean", structured.variance)
row("welford", structured.variance, "var_mean")
row("cumsum", structured.scan(structured.keeping_type(torch.cumsum)))
row("cumprod", structured.scan(structured.keeping_type(torch.cumprod)))
row("cummax", structured.scan(structured.values_of(torch.cummax)))
row("cummin", structured.scan(structured.values_of(torch.cummin)))
row("argsort", structured.argsort)
row("topk", structured.topk)

row("reshape", placement.to_shape, "reshape", "reshape_as", "view")
row("expand", placement.to_shape, "expand", "expand_as")
row("permute", placement.permuted, "permute", "transpose")
row("broadcast_in_dim", placement.broadcast_in_dim, "broadcast_to")
row("broadcast", placement.unsqueezed, "unsqueeze")
row("squeeze", placement.squeeze)
row("pad", placement.pad, "nn.functional.pad", "constant_pad_nd")
row("cat", placement.cat)
row("slice", placement.slice_call, "slice", "narrow")
row("triu", placement.triu)
row("stride_order", placement.stride_order, "contiguous")
row("set segment_set", placement.converted, "clone")
row(
    "cast",
    placement.converted,
    *("to", "bool", "int", "long", "half", "bfloat16", "float", "double", "cfloat", "cdouble"),
)

row("select", placement.select)
row("gather index_select", placement.by_index)
row("take_along_axis", placement.take_along_axis, "take_along_dim")
row("scatter", placement.scatter)
row("embedding_fwd", placement.embedding, "nn.functional.embedding")

row("matmul", structured.product, "matmul", "mm", "bmm", "mv", "dot")
row("linear", structured.product, "nn.functional.linear")
row("sdpfa_fwd", structured.attention, "nn.functional.scaled_dot_product_attention")

row("full", placement.full)
row("iota", placement.iota, "arange")
row("uniform", placement.random(lambda numbers: (numbers[0], numbers[1])))
row("normal", placement.random(lambda numbers: (-torch.inf, torch.inf)))
row("rand_like", placement.random(lambda numbers: (0, 1), like=True))
row("randn_like", placement.random(lambda numbers: (-torch.inf, torch.inf), like=True))

# Ops that torch's samples on a CPU say nothing about.
WITHOUT = {
    "erfcinv": "torch has no such function",
    "size": "gives a number",
    "sdpfa_bwd": "no OpInfo; the gradients of sdpfa_fwd",
    "grouped_mm": "no OpInfo",
    "scaled_mm": "an OpInfo for CUDA alone",
    "nv_block_quantize": "torch has no such function",
    "cutlass_nvfp4_grouped_mm": "torch has no such function",
    "nv_grouped_block_quantize": "torch has no such function",
    "preprocess_grouped_matmul_input_sf": "torch has no such function",
}
