"""How samples of torch's OpInfo become calls of the structured ops. `op_info_calls.py` says what a way of calling is."""

import math
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import torch
from op_info_calls import (
    Call,
    LeftOutError,
    Tensors,
    Way,
    check_types,
    data_type,
    number_for,
    wide,
)
from torch.nn.attention import SDPBackend, sdpa_kernel


def arguments(sample: Any, **defaults: Any) -> list[Any]:
    """The values of the parameters after the first, given by position or by name; others are refused."""
    unknown = sample.kwargs.keys() - defaults.keys()
    if unknown:
        raise LeftOutError(f"the op has no parameter {', '.join(sorted(unknown))}")
    given = dict(zip(defaults, sample.args, strict=False)) | sample.kwargs
    return [given.get(name, default) for name, default in defaults.items()]


def simple(build: Callable[..., Any], expected: Any, *tensors: torch.Tensor, **rest: Any) -> Call:
    check_types(tensors)
    return Call(list(tensors), build, expected, **rest)


# ---- reductions and scans ----


def every_dim(x: torch.Tensor) -> list[int]:
    return list(range(x.dim()))


def reduction(function: Callable[..., Any]) -> Way:
    def way(name: str, info: Any, sample: Any) -> Call:
        x = sample.input
        if sample.args and isinstance(sample.args[0], torch.Tensor):
            raise LeftOutError(f"{name} of two tensors is {name}imum")
        dim, keepdim, dtype = arguments(sample, dim=None, keepdim=False, dtype=None)
        whole = dim is None or dim == ()
        if whole and x.dim() == 0:
            raise LeftOutError("a reduction names its dimensions, and a 0-dim tensor has none")
        dims = every_dim(x) if whole else dim
        options = {} if dtype is None else {"dtype": data_type(dtype)}
        torch_options = {} if dtype is None else {"dtype": dtype}

        def expected() -> torch.Tensor:
            if name == "prod" and not isinstance(dims, int):
                return torch.prod(x, **torch_options)
            return function(x, dims, keepdim, **torch_options)

        def build(fd: Any, a: Any) -> Any:
            operation = getattr(fd.ops, name)
            if whole and not keepdim:
                return operation(a, **options)
            return operation(a, dims, keepdim, **options)

        return simple(build, expected, x)

    return way


def variance(name: str, info: Any, sample: Any) -> Call:
    """var, var_mean and welford: halves are cast to float first, as var_mean asks for."""
    x = sample.input
    if sample.args and isinstance(sample.args[0], bool):
        correction, dim, keepdim = int(sample.args[0]), None, False
    else:
        dim, correction, unbiased, keepdim = arguments(
            sample, dim=None, correction=1, unbiased=None, keepdim=False
        )
        correction = 1 if correction is None else correction
        correction = correction if unbiased is None else int(unbiased)
    if correction != int(correction):
        raise LeftOutError("a correction is a whole number")
    dims = [dim] if isinstance(dim, int) else list(every_dim(x) if dim is None else dim)
    if not dims:
        raise LeftOutError("a reduction names its dimensions, and a 0-dim tensor has none")
    if correction < 0:
        raise LeftOutError("a correction is not negative")
    correction, computed = int(correction), x.to(wide(x.dtype))

    def build(fd: Any, a: Any) -> Any:
        if x.dtype != computed.dtype:
            a = fd.ops.cast(a, data_type(computed.dtype))
        if name == "welford":
            return fd.ops.welford(a, dims)
        return getattr(fd.ops, name)(a, dims, correction, keepdim)

    keepdim = keepdim and name != "welford"

    def expected() -> Any:
        if name != "welford" and not (name == "var" and x.dtype.is_complex):
            return getattr(torch, name)(computed, dims, correction=correction, keepdim=keepdim)
        count = math.prod(computed.shape[d] for d in dims)
        mean = computed.mean(dims, keepdim=True)
        squares = ((computed - mean) ** 2).sum(dims, keepdim=keepdim)
        if name == "var":
            # The language's variance of complex numbers is of plain squares, torch's of magnitudes.
            return squares / max(count - correction, 0)
        # Of no elements the language's average is 0.
        average = mean.squeeze(dims) if count else torch.zeros_like(squares)
        return [average, squares, torch.full(squares.shape, count)]

    if name == "welford" and x.dtype.is_complex:
        raise LeftOutError("the op is not defined on the element type")
    return simple(build, expected, x)


def scan(function: Callable[..., Any]) -> Way:
    def way(name: str, info: Any, sample: Any) -> Call:
        x = sample.input
        dim, dtype = arguments(sample, dim=None, dtype=None)
        if x.dim() == 0:
            raise LeftOutError("a 0-dim tensor has no dimension to scan")

        def build(fd: Any, a: Any) -> Any:
            a = a if dtype is None else fd.ops.cast(a, data_type(dtype))
            return getattr(fd.ops, name)(a, dim)

        return simple(build, lambda: function(x if dtype is None else x.to(dtype), dim), x)

    return way


def keeping_type(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, dim: function(x, dim, dtype=x.dtype)


def values_of(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, dim: function(x, dim).values


# ---- order ----


def argsort(name: str, info: Any, sample: Any) -> Call:
    x = sample.input
    dim, descending, stable = arguments(sample, dim=-1, descending=False, stable=False)

    def expected() -> Tensors:
        values, indices = torch.sort(x, dim=dim, descending=descending, stable=True)
        return [values, *([indices] if stable else [])]

    def seen(results: Tensors) -> Tensors:
        # Equal elements come in any order unless the sort is stable.
        return [x.gather(dim, results[0]), *(results if stable else [])]

    return simple(lambda fd, a: fd.ops.argsort(a, dim, descending, stable), expected, x, seen=seen)


def topk(name: str, info: Any, sample: Any) -> Call:
    x = sample.input
    k, dim, largest, ordered = arguments(sample, k=None, dim=-1, largest=True, sorted=True)

    def in_order(values: torch.Tensor) -> torch.Tensor:
        return torch.sort(values, dim, descending=largest).values

    def seen(results: Tensors) -> Tensors:
        values, indices = results
        both = [values, x.gather(dim, indices)]
        return both if ordered else [in_order(each) for each in both]

    def expected() -> Tensors:
        return [in_order(torch.topk(x, k, dim, largest).values)] * 2

    return simple(
        lambda fd, a: fd.ops.topk(a, fd.define_scalar(k), dim, largest, ordered),
        expected,
        x,
        seen=seen,
    )


# ---- products ----


def product(name: str, info: Any, sample: Any) -> Call:
    operands = [sample.input, *sample.args]
    if name == "linear" and operands[1].dim() < 2:
        raise LeftOutError("a weight has two dimensions")
    return simple(
        lambda fd, *handles: getattr(fd.ops, name)(*handles), lambda: info.op(*operands), *operands
    )


def attention(name: str, info: Any, sample: Any) -> Call:
    q, k, v = sample.input, *sample.args
    options = dict(sample.kwargs)
    mask = options.pop("attn_mask", None)
    if options.get("dropout_p"):
        raise LeftOutError("dropout is random")
    if options.get("enable_gqa"):
        raise LeftOutError("query, key and value have the same heads")
    if q.dim() not in (4, 5):
        raise LeftOutError("attention takes four dimensions")
    masks = [] if mask is None else [mask]
    parameter = "mask" if mask is not None and mask.dtype == torch.bool else "bias"

    def build(fd: Any, a: Any, b: Any, c: Any, *rest: Any) -> Any:
        named = {parameter: rest[0]} if rest else {}
        return fd.ops.sdpfa_fwd(a, b, c, **named, **options)[0]

    def expected() -> torch.Tensor:
        # With a mask or a bias both compute step by step; otherwise both take what torch takes.
        steps = sdpa_kernel(SDPBackend.MATH) if masks else nullcontext()
        with steps:
            return info.op(q, k, v, **sample.kwargs)

    return simple(build, expected, *(q, k, v), *masks)


# ---- bounds ----


def first_number(operand: Any) -> Any:
    """Bounds are numbers in the language: a tensor of bounds stands for its first element."""
    if not isinstance(operand, torch.Tensor):
        return operand
    return operand.flatten()[0].item() if operand.numel() else 0


def clamp(name: str, info: Any, sample: Any) -> Call:
    x, bounds = sample.input, [first_number(bound) for bound in sample.args]
    if info.name == "clamp_max":
        bounds = [None, *bounds]
    bounds = [None if bound is None else number_for(x.dtype, bound) for bound in bounds]
    low, high = [*bounds, None][:2]
    function = torch.clamp if x.dtype != torch.bool else clamp_bool
    return simple(lambda fd, a: fd.ops.clamp(a, low, high), lambda: function(x, low, high), x)


def clamp_bool(x: torch.Tensor, low: Any, high: Any) -> torch.Tensor:
    return torch.clamp(x.int(), *(None if b is None else int(b) for b in (low, high))).bool()
