"""Sizes known at run time: size, shape, scalars as sizes, and the ops that take them."""

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch

from meshfuse import DataType, FusionDefinition

Build = Callable[..., Any]


def run(build: Build, inputs: list[Any]) -> tuple[FusionDefinition, torch.Tensor]:
    """Execute a definition made for symbolic sizes."""
    with FusionDefinition() as fd:
        handles = [
            fd.define_tensor([-1] * x.dim(), True)
            if isinstance(x, torch.Tensor)
            else fd.define_scalar(dtype=DataType.Int)
            for x in inputs
        ]
        fd.add_output(build(fd, *handles))
    return fd, fd.execute(inputs)[0]


@pytest.mark.parametrize("shape", [(4, 6), (1, 5), (0, 3), (7, 1)])
def test_size_and_shape_follow_the_input(shape: tuple[int, int]) -> None:
    x = torch.randn(shape)
    fd, got = run(lambda fd, a: fd.ops.mul(a, fd.ops.size(a, -1)), [x])
    torch.testing.assert_close(got, x * shape[1])
    other = torch.randn(3, 2)
    torch.testing.assert_close(fd.execute([other])[0], other * 2)
    _, flat = run(lambda fd, a: fd.ops.reshape(a, [fd.ops.mul(*fd.ops.shape(a))]), [x])
    torch.testing.assert_close(flat, x.flatten())


def test_mean_by_a_run_time_size() -> None:
    x = torch.randn(5, 8)
    fd, got = run(lambda fd, a: fd.ops.div(fd.ops.sum(a, 1), fd.ops.size(a, 1)), [x])
    torch.testing.assert_close(got, x.mean(1))
    longer = torch.randn(2, 3)
    torch.testing.assert_close(fd.execute([longer])[0], longer.mean(1))


def test_scalar_inputs_as_sizes_bind_again_when_they_change() -> None:
    x = torch.arange(24.0).reshape(4, 6)
    with FusionDefinition() as fd:
        a = fd.define_tensor([-1, -1], True)
        n = fd.define_scalar(dtype=DataType.Int)
        fd.add_output(fd.ops.reshape(a, [n, -1]))
        fd.add_output(fd.ops.full([n, 2], 1.5, DataType.Float))
        fd.add_output(fd.ops.mul(a, n))
    for rows in (2, 3, 24, 2):
        reshaped, filled, scaled = fd.execute([x, rows])
        torch.testing.assert_close(reshaped, x.reshape(rows, -1))
        torch.testing.assert_close(filled, torch.full((rows, 2), 1.5))
        torch.testing.assert_close(scaled, x * rows)
    with pytest.raises(RuntimeError, match="Total element counts across view operation must match"):
        fd.execute([x, 5])
    torch.testing.assert_close(fd.execute([x, 4])[0], x)


def test_slices_with_run_time_bounds_follow_python() -> None:
    x = torch.arange(10.0)
    with FusionDefinition() as fd:
        a = fd.define_tensor([-1], True)
        start = fd.define_scalar(dtype=DataType.Int)
        end = fd.define_scalar(dtype=DataType.Int)
        fd.add_output(fd.ops.slice(a, [start], [end]))
    for first, last in [(0, 10), (2, 5), (-4, -1), (3, 100), (7, 2), (-100, 3)]:
        torch.testing.assert_close(fd.execute([x, first, last])[0], x[first:last])


def test_slice() -> None:
    for dtype in (torch.float32, torch.int64, torch.bool, torch.complex64):
        x = torch.arange(24).reshape(4, 6).to(dtype)
        for layout in (x, x.t().contiguous().t(), x[:1].expand(4, 6)):
            for starts, ends in [([0, 0], [4, 6]), ([1, 2], [3, 100]), ([2, 3], [2, 6])]:
                _, got = run_static(lambda fd, a, s=starts, e=ends: fd.ops.slice(a, s, e), [layout])
                torch.testing.assert_close(got, layout[starts[0] : ends[0], starts[1] : ends[1]])


def run_static(build: Build, inputs: list[Any]) -> tuple[FusionDefinition, torch.Tensor]:
    with FusionDefinition() as fd:
        fd.add_output(build(fd, *[fd.from_pytorch(x) for x in inputs]))
    return fd, fd.execute(inputs)[0]


def test_slice_refuses() -> None:
    def text(*args: object) -> str:
        with pytest.raises(RuntimeError) as error, FusionDefinition() as fd:
            fd.ops.slice(fd.define_tensor([4, 6]), *args)
        return str(error.value)

    assert "must be greater than or equal to 0" in text([-1, 0], [4, 6])
    assert "must be greater than or equal to start_indices" in text([2, 0], [1, 6])
    assert "strides must be of const size 1" in text([0, 0], [4, 6], [2, 1])
    assert "don't match" in text([0], [4, 6])
    assert "don't match" in text([0, 0], [4, 6], [1])


@pytest.mark.parametrize("widths", [[], [1, 2], [0, 3, -1, 2], [-2, -4], [2, 0, 0, 0]])
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.float16, torch.bool])
def test_pad(widths: list[int], dtype: torch.dtype) -> None:
    x = torch.arange(24).reshape(4, 6).to(dtype)
    value = {torch.int64: 3, torch.bool: True}.get(dtype, 1.5)
    _, got = run_static(lambda fd, a: fd.ops.pad(a, widths), [x])
    torch.testing.assert_close(got, torch.nn.functional.pad(x, widths))
    if dtype != torch.bool:
        _, got = run_static(lambda fd, a: fd.ops.pad(a, widths, value), [x])
        torch.testing.assert_close(got, torch.nn.functional.pad(x, widths, value=value))


def test_pad_with_run_time_widths_and_refusals() -> None:
    x = torch.arange(6.0)
    with FusionDefinition() as fd:
        a = fd.define_tensor([-1], True)
        n = fd.define_scalar(dtype=DataType.Int)
        fd.add_output(fd.ops.pad(a, [n, 0], 2.0))
    for n in (0, 3, -2):
        torch.testing.assert_close(
            fd.execute([x, n])[0], torch.nn.functional.pad(x, [n, 0], value=2.0)
        )
    with pytest.raises(RuntimeError, match="Invalid resized domain extent"):
        fd.execute([x, -7])

    def text(*args: object) -> str:
        with pytest.raises(RuntimeError) as error, FusionDefinition() as fd:
            fd.ops.pad(fd.define_tensor([4, 6]), *args)
        return str(error.value)

    with pytest.raises(TypeError, match="pad: incompatible"), FusionDefinition() as fd:
        fd.ops.pad(fd.define_tensor([4]), [1, 1], fd.define_tensor([]))
    assert "Number of pad widths must be at most twice" in text([1] * 6)
    assert "Invalid number of padding widths" in text([1])
    assert "Tensor arg and pad value must have the same dtype." in text([1, 1], 2)
    assert "Invalid resized domain extent" in text([-4, -4])


def test_cat() -> None:
    for dtype in (torch.float32, torch.int64, torch.bool, torch.bfloat16):
        parts = [torch.arange(n * 4).reshape(n, 4).to(dtype) for n in (2, 0, 1, 3)]
        _, got = run_static(lambda fd, *a: fd.ops.cat(list(a)), parts)
        torch.testing.assert_close(got, torch.cat(parts))
        columns = [part.t() for part in parts]
        _, got = run_static(lambda fd, *a: fd.ops.cat(a, dim=-1), columns)
        torch.testing.assert_close(got, torch.cat(columns, -1))
    _, got = run_static(lambda fd, a: fd.ops.cat([a]), [parts[0]])
    torch.testing.assert_close(got, parts[0])


def test_cat_refuses() -> None:
    def text(shapes: list[list[int]], dim: int = 0, **types: object) -> str:
        with pytest.raises(RuntimeError) as error, FusionDefinition() as fd:
            fd.ops.cat([fd.define_tensor(shape) for shape in shapes], dim)
        return str(error.value)

    assert "No input tensor given" in text([])
    assert "Unexpected number of dimensions" in text([[2], [2, 3]])
    assert "Invalid dimension to cat" in text([[2, 3]], 2)
    assert "operand sizes must agree" in text([[2, 3], [2, 4]], 0)
    with pytest.raises(RuntimeError, match="same dtype"), FusionDefinition() as fd:
        fd.ops.cat([fd.define_tensor([2]), fd.define_tensor([2], dtype=DataType.Int)])
    with (
        pytest.raises(TypeError, match="incompatible function arguments"),
        FusionDefinition() as fd,
    ):
        fd.ops.cat([fd.define_tensor([2]), 1])


def test_expand_and_broadcast_in_dim_with_run_time_sizes() -> None:
    x = torch.randn(4, 1)
    with FusionDefinition() as fd:
        a = fd.define_tensor([-1, 1], [True, None])
        n = fd.define_scalar(dtype=DataType.Int)
        fd.add_output(fd.ops.expand(a, [n, -1, n]))
        fd.add_output(fd.ops.broadcast_in_dim(a, [n, fd.ops.size(a, 0), 3], [1, 2]))
    for n in (2, 5):
        stretched, placed = fd.execute([x, n])
        torch.testing.assert_close(stretched, x.expand(n, -1, n))
        torch.testing.assert_close(placed, x.expand(4, 3).expand(n, 4, 3))
    with pytest.raises(RuntimeError, match="keeps the size"), FusionDefinition() as fd:
        fd.ops.expand(fd.define_tensor([3]), [-1, 3])
    with pytest.raises(RuntimeError, match="a size for each dimension"), FusionDefinition() as fd:
        fd.ops.expand(fd.define_tensor([3, 2]), [3])


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        (DataType.Float, 1.5),
        (DataType.Int, 7),
        (DataType.Bool, True),
        (DataType.Half, 2),
        (DataType.ComplexFloat, 1 + 2j),
    ],
)
def test_full(dtype: DataType, value: complex) -> None:
    for shape in ([], [3], [2, 0], [2, 1, 3]):
        with FusionDefinition() as fd:
            fd.add_output(fd.ops.full(shape, value, dtype))
        (got,) = fd.execute([])
        torch.testing.assert_close(got, torch.full(shape, value, dtype=got.dtype))
    with pytest.raises(RuntimeError, match="a size is not negative"), FusionDefinition() as fd:
        fd.ops.full([-1], 1.0, DataType.Float)


def test_iota() -> None:
    for length in (0, 1, 5):
        for start, step in [(0, 1), (3, -2), (-7, 4)]:
            with FusionDefinition() as fd:
                fd.add_output(fd.ops.iota(length, start, step))
                fd.add_output(fd.ops.iota(length, float(start), step / 4, dtype=DataType.Double))
            whole, real = fd.execute([])
            torch.testing.assert_close(whole, torch.arange(start, start + step * length, step))
            index = torch.arange(length, dtype=torch.float64)
            torch.testing.assert_close(real, start + index * (step / 4))

    def text(*args: object, **options: object) -> str:
        with pytest.raises(RuntimeError) as error, FusionDefinition() as fd:
            fd.ops.iota(*args, **options)
        return str(error.value)

    assert "length must be integer" in text(2.5)
    assert "start dtype does not match" in text(3, 1.0)
    assert "step dtype does not match" in text(3, 0, 1, dtype=DataType.Float).replace(
        "start dtype", "step dtype"
    )
    assert "must be finite" in text(3, math.inf, 1.0, dtype=DataType.Float)
    assert "must not equal zero" in text(3, 0, 0)
    assert "a size is not negative" in text(-1)


def test_select() -> None:
    x = torch.arange(24.0).reshape(4, 6)
    with FusionDefinition() as fd:
        a = fd.define_tensor([-1, -1], True)
        i = fd.define_scalar(dtype=DataType.Int)
        fd.add_output(fd.ops.select(a, i, 0))
        fd.add_output(fd.ops.select(a, i, dim=-1))
    for i in (0, 3, -1):
        row, column = fd.execute([x, i])
        torch.testing.assert_close(row, x[i])
        torch.testing.assert_close(column, x[:, i])
    with pytest.raises(RuntimeError, match="select: torch runs the operation"):
        fd.execute([x, 9])
    with (
        pytest.raises(TypeError, match="incompatible function arguments"),
        FusionDefinition() as fd,
    ):
        fd.ops.select(fd.define_tensor([4]), 1, 0)
    index = torch.tensor(2)
    with FusionDefinition() as fd:
        a, i = fd.from_pytorch(x), fd.from_pytorch(index)
        fd.add_output(fd.ops.select(a, i, 1))
    torch.testing.assert_close(fd.execute([x, index])[0], x[:, 2])
    torch.testing.assert_close(fd.execute([x, torch.tensor(-2)])[0], x[:, -2])
    with pytest.raises(IndexError, match="select"):
        fd.execute([x, torch.tensor(6)])


def test_the_definition_is_rebuilt_by_its_text() -> None:
    with FusionDefinition() as fd:
        a = fd.define_tensor([-1, -1], True)
        n = fd.define_scalar(dtype=DataType.Int)
        b = fd.ops.reshape(a, [n, -1])
        c = fd.ops.cat([b, fd.ops.full([n, fd.ops.size(b, 1)], 0.5, DataType.Float)], dim=1)
        fd.add_output(fd.ops.pad(fd.ops.slice(c, [0, 0], [n, 2]), [1, 0]))
    names: dict[str, Any] = {"FusionDefinition": FusionDefinition, "DataType": DataType}
    exec(repr(fd), names)
    with FusionDefinition() as again:
        names["nvfuser_fusion"](again)
    assert repr(again) == repr(fd)
    x = torch.randn(4, 6)
    torch.testing.assert_close(again.execute([x, 3])[0], fd.execute([x, 3])[0])


def test_results_of_size_one_broadcast_as_declared_ones_do() -> None:
    x, y, z = torch.randn(2), torch.randn(3), torch.randn(4, 3)

    def check(build: Build, inputs: list[Any], expected: torch.Tensor) -> None:
        _, got = run_static(build, inputs)
        torch.testing.assert_close(got, expected)
        _, got = run(build, inputs)
        torch.testing.assert_close(got, expected)

    check(lambda fd, a, b: fd.ops.mul(fd.ops.pad(a, [0, -1]), b), [x, y], x[:1] * y)
    check(lambda fd, a, b: fd.ops.mul(fd.ops.slice(a, [0], [1]), b), [x, y], x[:1] * y)
    check(
        lambda fd, a, b: fd.ops.mul(
            fd.ops.cat([fd.ops.slice(a, [0], [0]), fd.ops.slice(a, [1], [2])]), b
        ),
        [x, y],
        x[1:] * y,
    )
    check(
        lambda fd, a: fd.ops.expand(fd.ops.slice(a, [0, 0], [1, 3]), [5, 3]),
        [z],
        z[:1].expand(5, 3),
    )
    with FusionDefinition() as fd:
        a, b = fd.define_tensor([-1], True), fd.define_tensor([-1], True)
        n = fd.define_scalar(dtype=DataType.Int)
        fd.add_output(fd.ops.mul(fd.ops.slice(a, [0], [n]), b))
    torch.testing.assert_close(fd.execute([x, y, 1])[0], x[:1] * y)
    with pytest.raises(RuntimeError, match="operand sizes must agree"):
        fd.execute([x, y, 2])
    torch.testing.assert_close(fd.execute([y, y, 3])[0], y * y)


def test_run_time_numbers_are_checked_as_constants_are() -> None:
    def text(build: Build, value: float) -> str:
        dtype = DataType.Int if isinstance(value, int) else DataType.Double
        with FusionDefinition() as fd:
            x = fd.define_tensor([1])
            fd.add_output(build(fd, x, fd.define_scalar(dtype=dtype)))
        with pytest.raises(RuntimeError) as error:
            fd.execute([torch.ones(1), value])
        return str(error.value)

    assert "full: a size is not negative: got -3" in text(
        lambda fd, x, n: fd.ops.full([n], 1.0, DataType.Float), -3
    )
    assert "expand: a size is -1 or not negative: got -5" in text(
        lambda fd, x, n: fd.ops.expand(x, [n]), -5
    )
    assert "iota: a size is not negative: got -3" in text(lambda fd, x, n: fd.ops.iota(n), -3)
    assert "step must not equal zero" in text(lambda fd, x, n: fd.ops.iota(3, 0, n), 0)
    assert "start must be finite" in text(
        lambda fd, x, n: fd.ops.iota(3, n, 1.0, dtype=DataType.Float), math.inf
    )
    for value in (2**40, 1e30, math.nan):
        assert "the fill value is one that the element type holds" in text(
            lambda fd, x, n: fd.ops.full([2], n, DataType.Int32), value
        )
        with pytest.raises(RuntimeError, match="element type holds"), FusionDefinition() as fd:
            fd.ops.full([2], value, DataType.Int32)


def test_pad_keeps_the_order_in_memory() -> None:
    x = torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last)
    _, got = run_static(lambda fd, a: fd.ops.pad(a, [1, 1]), [x])
    assert got.stride() == torch.nn.functional.pad(x, [1, 1]).stride()
