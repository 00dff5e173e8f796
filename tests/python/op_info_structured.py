"""How samples of torch's OpInfo become calls of the structured ops. `op_info_calls.py` says what a way of calling is."""

import math
from contextlib import nullcontext
from collections.abc import Callable, Sequence
from typing import Any

import torch
from op_info_calls import (
    Call,
    LeftOut,
    Tensors,
    Way,
    check_types,
    data_type,
    number_for,
    wide,
)
from torch.nn.attention import SDPBackend, sdpa_kernel

from meshfuse import DataType


def arguments(sample: Any, **defaults: Any) -> list[Any]:
    """The values of the parameters after the first, given by position or by name; others are refused."""
    unknown = sample.kwargs.keys() - defaults.keys()
    if unknown:
        raise LeftOut(f"the op has no parameter {', '.join(sorted(unknown))}")
    given = dict(zip(defaults, sample.args, strict=False)) | sample.kwargs
    return [given.get(name, default) for name, default in defaults.items()]


def simple(build: Callable[..., Any], expected: Any, *tensors: torch.Tensor, **rest: Any) -> Call:
    check_types(tensors)
    return Call(list(tensors), build, expected, **rest)


# ---- reductions and scans ----


def every_dim(x: torch.Tensor) -> list[int]:
    return list(range(x.dim()))


def reduction(function: Callable[..., Any], *, indices: bool = False) -> Way:
    def way(name: str, info: Any, sample: Any) -> Call:
        x = sample.input
        if sample.args and isinstance(sample.args[0], torch.Tensor):
            raise LeftOut(f"{name} of two tensors is {name}imum")
        dim, keepdim, dtype = arguments(sample, dim=None, keepdim=False, dtype=None)
        whole = dim is None or dim == ()
        if whole and x.dim() == 0:
            raise LeftOut("a reduction names its dimensions, and a 0-dim tensor has none")
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
        raise LeftOut("a correction is a whole number")
    dims = [dim] if isinstance(dim, int) else list(every_dim(x) if dim is None else dim)
    if not dims:
        raise LeftOut("a reduction names its dimensions, and a 0-dim tensor has none")
    if correction < 0:
        raise LeftOut("a correction is not negative")
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
        raise LeftOut("the op is not defined on the element type")
    return simple(build, expected, x)


def scan(function: Callable[..., Any]) -> Way:
    def way(name: str, info: Any, sample: Any) -> Call:
        x = sample.input
        dim, dtype = arguments(sample, dim=None, dtype=None)
        if x.dim() == 0:
            raise LeftOut("a 0-dim tensor has no dimension to scan")

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


# ---- shapes ----


def to_shape(name: str, info: Any, sample: Any) -> Call:
    """reshape, expand and permute: one list of numbers."""
    x, (numbers,) = sample.input, sample.args
    if isinstance(numbers, torch.Tensor):
        numbers = tuple(numbers.shape)
    return simple(lambda fd, a: getattr(fd.ops, name)(a, numbers), lambda: info.op(x, numbers), x)


def expand_as(name: str, info: Any, sample: Any) -> Call:
    x, shape = sample.input, tuple(sample.args[0].shape)
    return simple(lambda fd, a: fd.ops.expand(a, shape), lambda: x.expand(shape), x)


def broadcast_in_dim(name: str, info: Any, sample: Any) -> Call:
    x, shape = sample.input, sample.args[0]
    sizes = list(x.expand(shape).shape)
    dims = list(range(len(sizes) - x.dim(), len(sizes)))
    return simple(
        lambda fd, a: fd.ops.broadcast_in_dim(a, sizes, dims), lambda: x.expand(sizes), x
    )


def unsqueezed(name: str, info: Any, sample: Any) -> Call:
    x, dim = sample.input, sample.args[0]
    dim = dim + x.dim() + 1 if dim < 0 else dim
    flags = [i == dim for i in range(x.dim() + 1)]
    return simple(lambda fd, a: fd.ops.broadcast(a, flags), lambda: x.unsqueeze(dim), x)


def transposed(name: str, info: Any, sample: Any) -> Call:
    x, (first, second) = sample.input, sample.args
    dims = every_dim(x)
    if dims:
        dims[first], dims[second] = dims[second], dims[first]
    return simple(lambda fd, a: fd.ops.permute(a, dims), lambda: x.permute(dims), x)


def squeeze(name: str, info: Any, sample: Any) -> Call:
    """torch passes over dimensions that are not 1; the language is told only those that are."""
    x = sample.input
    (dim,) = arguments(sample, dim=None)
    dims = [dim] if isinstance(dim, int) else every_dim(x) if dim is None else list(dim)
    dims = [d for d in dims if x.dim() and x.shape[d] == 1]
    return simple(
        lambda fd, a: fd.ops.squeeze(a, dims) if dims else fd.ops.set(a),
        lambda: info.op(x, *sample.args),
        x,
    )


def pad(name: str, info: Any, sample: Any) -> Call:
    x = sample.input
    if "constant_pad_nd" in info.name:
        widths, value = arguments(sample, pad=None, value=0)
        mode = "constant"
    else:
        widths, mode, value = arguments(sample, pad=None, mode="constant", value=0)
    if mode != "constant":
        raise LeftOut(f"pad has no mode {mode}")
    value = number_for(x.dtype, value)
    return simple(
        lambda fd, a: fd.ops.pad(a, widths, constant(fd, value)),
        lambda: torch.constant_pad_nd(x, widths, value),
        x,
    )


def constant(fd: Any, value: complex) -> Any:
    """A Python bool is a whole number in the language unless its type is named."""
    return fd.define_scalar(value, dtype=DataType.Bool) if isinstance(value, bool) else value


def cat(name: str, info: Any, sample: Any) -> Call:
    tensors = list(sample.input)
    (dim,) = arguments(sample, dim=0)
    if len({tensor.dim() for tensor in tensors}) > 1:
        raise LeftOut("tensors to cat have one rank; torch passes over empty vectors")
    if len({tensor.dtype for tensor in tensors}) > 1:
        raise LeftOut("tensors to cat have one element type")
    return simple(
        lambda fd, *handles: fd.ops.cat(list(handles), dim),
        lambda: torch.cat(tensors, dim),
        *tensors,
    )


def slice_call(name: str, info: Any, sample: Any) -> Call:
    x = sample.input
    if info.name == "narrow":
        dim, start, length = sample.args
        start = int(start)
        start, step = start + x.shape[dim] if start < 0 else start, 1
        end = start + length
    else:
        dim, start, end, step = arguments(sample, dim=0, start=0, end=x.shape[0], step=1)
        start, end, step = slice(start, end, step).indices(x.shape[dim])
    if step != 1:
        raise LeftOut("a slice has step 1")
    starts, ends = [0] * x.dim(), list(x.shape)
    starts[dim], ends[dim] = start, max(start, end)
    return simple(
        lambda fd, a: fd.ops.slice(a, starts, ends), lambda: x.narrow(dim, start, end - start), x
    )


def triu(name: str, info: Any, sample: Any) -> Call:
    x = sample.input
    (diagonal,) = arguments(sample, diagonal=0)
    return simple(lambda fd, a: fd.ops.triu(a, diagonal), lambda: torch.triu(x, diagonal), x)


# ---- indexing ----


def select(name: str, info: Any, sample: Any) -> Call:
    x, (dim, index) = sample.input, sample.args
    return simple(
        lambda fd, a: fd.ops.select(a, fd.define_scalar(index), dim), lambda: x.select(dim, index), x
    )


def by_index(name: str, info: Any, sample: Any) -> Call:
    """gather and index_select: torch's order is dim, index."""
    x, (dim, index) = sample.input, sample.args
    if x.dim() == 0:
        raise LeftOut("a 0-dim tensor has no dimension to index")
    return simple(
        lambda fd, a, i: getattr(fd.ops, name)(a, i, dim),
        lambda: info.op(x, dim, index),
        *(x, index),
    )


def take_along_axis(name: str, info: Any, sample: Any) -> Call:
    x, index = sample.input, sample.args[0]
    dim = sample.args[1] if len(sample.args) > 1 else None
    if x.dim() == 0:
        raise LeftOut("a 0-dim tensor has no dimension to index")
    if index.numel() and int(index.min()) < 0:
        raise LeftOut("an index counts from the start of its dimension")

    def build(fd: Any, a: Any, i: Any) -> Any:
        if dim is None:
            a, i = fd.ops.reshape(a, [-1]), fd.ops.reshape(i, [-1])
        return fd.ops.take_along_axis(a, i, dim or 0)

    return simple(build, lambda: torch.take_along_dim(x, index, dim), x, index)


def scatter(name: str, info: Any, sample: Any) -> Call:
    x = sample.input
    dim, index, source, reduce = arguments(sample, dim=None, index=None, src=None, reduce=None)
    if reduce is not None:
        raise LeftOut("scatter replaces, it does not combine")
    if x.dim() == 0:
        raise LeftOut("a 0-dim tensor has no dimension to index")

    number = None if isinstance(source, torch.Tensor) else number_for(x.dtype, source)

    def build(fd: Any, a: Any, i: Any, *rest: Any) -> Any:
        return fd.ops.scatter(a, i, rest[0] if rest else constant(fd, number), dim)

    tensors = [x, index, *([source] if isinstance(source, torch.Tensor) else [])]
    return simple(build, lambda: torch.scatter(x, dim, index, source), *tensors)


def embedding(name: str, info: Any, sample: Any) -> Call:
    weight, index = sample.input, sample.args[0]
    options = sample.kwargs

    def build(fd: Any, i: Any, w: Any) -> Any:
        values = {key: fd.define_scalar(value) for key, value in options.items()}
        return fd.ops.embedding_fwd(i, w, **values)

    def expected() -> torch.Tensor:
        # max_norm scales rows of the weight in place.
        return torch.nn.functional.embedding(index, weight.clone(), **options)

    return simple(build, expected, index, weight)


# ---- products ----


def product(name: str, info: Any, sample: Any) -> Call:
    operands = [sample.input, *sample.args]
    if name == "linear" and operands[1].dim() < 2:
        raise LeftOut("a weight has two dimensions")
    return simple(
        lambda fd, *handles: getattr(fd.ops, name)(*handles), lambda: info.op(*operands), *operands
    )


def attention(name: str, info: Any, sample: Any) -> Call:
    q, k, v = sample.input, *sample.args
    options = dict(sample.kwargs)
    mask = options.pop("attn_mask", None)
    if options.get("dropout_p"):
        raise LeftOut("dropout is random")
    if options.get("enable_gqa"):
        raise LeftOut("query, key and value have the same heads")
    if q.dim() not in (4, 5):
        raise LeftOut("attention takes four dimensions")
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


# ---- new tensors, copies and conversions ----


def full(name: str, info: Any, sample: Any) -> Call:
    shape, number, dtype = sample.input, sample.args[0], sample.kwargs["dtype"]
    return simple(
        lambda fd: fd.ops.full(shape, number, data_type(dtype)),
        lambda: torch.full(shape, number, dtype=dtype),
    )


def iota(name: str, info: Any, sample: Any) -> Call:
    start, (end, step) = sample.input, arguments_of_arange(sample)
    start, end = (0, start) if end is None else (start, end)
    expected = info.op(sample.input, *sample.args, **sample.kwargs)
    dtype = expected.dtype
    length = math.ceil((end - start) / step)
    if not dtype.is_floating_point and any(int(n) != n for n in (start, end, step)):
        raise LeftOut("whole numbers are counted by whole numbers")
    first, difference = number_for(dtype, start), number_for(dtype, step)
    return simple(
        lambda fd: fd.ops.iota(length, first, difference, data_type(dtype)), lambda: expected
    )


def arguments_of_arange(sample: Any) -> list[Any]:
    given = dict(sample.kwargs)
    for name in ("dtype", "device"):
        given.pop(name, None)
    return arguments(type(sample)(sample.input, args=sample.args, kwargs=given), end=None, step=1)


ORDERS = {torch.channels_last: [3, 0, 2, 1], torch.channels_last_3d: [4, 0, 3, 2, 1]}


def converted(name: str, info: Any, sample: Any) -> Call:
    """Casts and copies, with a memory order where one is asked for."""
    x, layout = sample.input, sample.kwargs.get("memory_format", torch.preserve_format)
    expected = info.op(x, *sample.args, **sample.kwargs)
    target = data_type(expected.dtype)

    def build(fd: Any, a: Any) -> Any:
        result = fd.ops.cast(a, target) if name == "cast" else getattr(fd.ops, name)(a)
        return result if layout == torch.preserve_format else ordered(fd, result)

    def ordered(fd: Any, result: Any) -> Any:
        return fd.ops.stride_order(result, ORDERS.get(layout, every_dim(x)[::-1]))

    return simple(build, lambda: expected, x)


def stride_order(name: str, info: Any, sample: Any) -> Call:
    x, expected = sample.input, info.op(sample.input, *sample.args, **sample.kwargs)
    order = ORDERS.get(sample.kwargs.get("memory_format"), every_dim(x)[::-1])

    def seen(results: Tensors) -> Tensors:
        return [results[0], strides_of(results[0])]

    return simple(
        lambda fd, a: fd.ops.stride_order(a, order),
        lambda: [expected, strides_of(expected)],
        x,
        seen=seen,
    )


def strides_of(x: torch.Tensor) -> torch.Tensor:
    """The strides that say something: those of sizes above 1 of a tensor with elements."""
    pairs = zip(x.shape, x.stride(), strict=True)
    return torch.tensor([stride for size, stride in pairs if size > 1 and x.numel()])


# ---- random numbers ----


def random(bounds: Callable[[Sequence[Any]], tuple[float, float]], *, like: bool = False) -> Way:
    """Numbers differ from torch's own; type, shape and bounds are compared."""

    def way(name: str, info: Any, sample: Any) -> Call:
        numbers = [sample.input, *sample.args]
        shapes = [n.shape for n in numbers if isinstance(n, torch.Tensor)]
        shapes += [n for n in numbers if isinstance(n, (list, tuple))]
        parameters = [n for n in numbers if isinstance(n, (int, float))]
        if not like and len(parameters) != 2:
            raise LeftOut("mean and deviation are numbers")
        dtype = sample.kwargs.get("dtype") or sample.input.dtype
        if dtype.is_complex:
            raise LeftOut("random numbers are real")
        if like and dtype != sample.input.dtype:
            raise LeftOut("random numbers have the type of what they are like")
        low, high = bounds(parameters)

        def build(fd: Any, *handles: Any) -> Any:
            if like:
                return getattr(fd.ops, name)(*handles)
            return getattr(fd.ops, name)(*parameters, list(shapes[0]), dtype=data_type(dtype))

        def seen(results: Tensors) -> Tensors:
            x = results[0]
            return [x.new_zeros(x.shape), ((x >= low) & (x <= high)).all()]

        def expected() -> Tensors:
            return [torch.zeros(shapes[0], dtype=dtype), torch.tensor(True)]

        return simple(build, expected, *([sample.input] if like else []), seen=seen)

    return way


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
    return simple(
        lambda fd, a: fd.ops.clamp(a, low, high), lambda: function(x, low, high), x
    )


def clamp_bool(x: torch.Tensor, low: Any, high: Any) -> torch.Tensor:
    return torch.clamp(x.int(), *(None if b is None else int(b) for b in (low, high))).bool()
