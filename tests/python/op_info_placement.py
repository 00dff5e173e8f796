"""How samples of torch's OpInfo become calls of the ops that place, pick or make elements. `op_info_calls.py` says what a way
of calling is."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from op_info_calls import Call, LeftOutError, Tensors, Way, data_type, number_for
from op_info_structured import arguments, every_dim, simple

from meshfuse import DataType

# ---- shapes ----


def to_shape(name: str, info: Any, sample: Any) -> Call:
    """reshape and expand: one list of numbers, or a tensor of that shape."""
    x, (given,) = sample.input, sample.args
    shape = tuple(given.shape) if isinstance(given, torch.Tensor) else given
    return simple(lambda fd, a: getattr(fd.ops, name)(a, shape), lambda: getattr(x, name)(shape), x)


def broadcast_in_dim(name: str, info: Any, sample: Any) -> Call:
    x, shape = sample.input, sample.args[0]
    sizes = list(x.expand(shape).shape)
    dims = list(range(len(sizes) - x.dim(), len(sizes)))
    return simple(lambda fd, a: fd.ops.broadcast_in_dim(a, sizes, dims), lambda: x.expand(sizes), x)


def unsqueezed(name: str, info: Any, sample: Any) -> Call:
    x, dim = sample.input, sample.args[0]
    dim = dim + x.dim() + 1 if dim < 0 else dim
    flags = [i == dim for i in range(x.dim() + 1)]
    return simple(lambda fd, a: fd.ops.broadcast(a, flags), lambda: x.unsqueeze(dim), x)


def permuted(name: str, info: Any, sample: Any) -> Call:
    x = sample.input
    dims = every_dim(x)
    if info.name == "permute":
        dims = list(sample.args[0])
    elif dims:
        first, second = sample.args
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
        raise LeftOutError(f"pad has no mode {mode}")
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
        raise LeftOutError("tensors to cat have one rank; torch passes over empty vectors")
    if len({tensor.dtype for tensor in tensors}) > 1:
        raise LeftOutError("tensors to cat have one element type")
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
        raise LeftOutError("a slice has step 1")
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
        lambda fd, a: fd.ops.select(a, fd.define_scalar(index), dim),
        lambda: x.select(dim, index),
        x,
    )


def by_index(name: str, info: Any, sample: Any) -> Call:
    """gather and index_select: torch's order is dim, index."""
    x, (dim, index) = sample.input, sample.args
    if x.dim() == 0:
        raise LeftOutError("a 0-dim tensor has no dimension to index")
    return simple(
        lambda fd, a, i: getattr(fd.ops, name)(a, i, dim),
        lambda: info.op(x, dim, index),
        *(x, index),
    )


def take_along_axis(name: str, info: Any, sample: Any) -> Call:
    x, index = sample.input, sample.args[0]
    dim = sample.args[1] if len(sample.args) > 1 else None
    if x.dim() == 0:
        raise LeftOutError("a 0-dim tensor has no dimension to index")
    if index.numel() and int(index.min()) < 0:
        raise LeftOutError("an index counts from the start of its dimension")

    def build(fd: Any, a: Any, i: Any) -> Any:
        if dim is None:
            a, i = fd.ops.reshape(a, [-1]), fd.ops.reshape(i, [-1])
        return fd.ops.take_along_axis(a, i, dim or 0)

    return simple(build, lambda: torch.take_along_dim(x, index, dim), x, index)


def scatter(name: str, info: Any, sample: Any) -> Call:
    x = sample.input
    dim, index, source, reduce = arguments(sample, dim=None, index=None, src=None, reduce=None)
    if reduce is not None:
        raise LeftOutError("scatter replaces, it does not combine")
    if x.dim() == 0:
        raise LeftOutError("a 0-dim tensor has no dimension to index")

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
        raise LeftOutError("whole numbers are counted by whole numbers")
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
            raise LeftOutError("mean and deviation are numbers")
        dtype = sample.kwargs.get("dtype") or sample.input.dtype
        if dtype.is_complex:
            raise LeftOutError("random numbers are real")
        if like and dtype != sample.input.dtype:
            raise LeftOutError("random numbers have the type of what they are like")
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
