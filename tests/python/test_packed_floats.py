"""Packed 4-bit floats: inputs, outputs, casts, what moves them, and what refuses them. Compared with numpy's bytes."""

import itertools
from collections.abc import Callable
from typing import Any

import meshfuse.dynamo  # noqa: F401 (torch.compile takes calls into its graphs from here on)
import numpy as np
import pytest
import torch
from op_comparison import LAYOUTS, SIZES, run
from packed_numbers import MAGNITUDES, X2, bytes_of, numbers_of, packed, pairs, rounded
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard

from meshfuse import DataType, FusionDefinition

FLOAT4 = DataType.Float4_e2m1fn


def as_float(fd: FusionDefinition, x: Any) -> Any:
    return fd.ops.cast(x, DataType.Float)


def check_numbers(got: torch.Tensor, expected: Any) -> None:
    assert got.dtype == torch.float32
    np.testing.assert_array_equal(got.numpy(), np.asarray(expected, np.float32))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", SIZES)
def test_inputs_of_every_layout(shape: tuple[int, ...], layout: str) -> None:
    x = LAYOUTS[layout](bytes_of(pairs(shape))).view(X2)
    with FusionDefinition() as fd:
        a = fd.from_pytorch(x)
        fd.add_output(as_float(fd, a))
        fd.add_output(fd.ops.set(a))
        fd.add_output(a)
    text = repr(fd)
    dim = 0 if "stride_order=[0, 1]" in text else 1
    numbers, copy, same = fd.execute([x])
    check_numbers(numbers, numbers_of(x, dim))
    assert torch.equal(bytes_of(copy), bytes_of(x))
    assert same is x
    scope: dict[str, Any] = {"FusionDefinition": FusionDefinition, "DataType": DataType}
    exec(text, scope)
    with FusionDefinition() as again:
        scope["nvfuser_fusion"](again)
    check_numbers(again.execute([x])[0], numbers_of(x, dim))


def test_inputs_of_one_and_three_dimensions_symbolic_and_static() -> None:
    for shape in ((5,), (2, 3, 4), (1, 1), (0,)):
        x = pairs(shape)
        for static in (False, True):
            with FusionDefinition() as fd:
                fd.add_output(as_float(fd, fd.from_pytorch(x, static_sizes=static)))
            check_numbers(fd.execute([x])[0], numbers_of(x))
    for dtype, shape in (
        (FLOAT4, [4, 12]),
        (DataType.Float4_e2m1fn_x2, [4, 6]),
        (FLOAT4, [-1, -1]),
    ):
        with FusionDefinition() as fd:
            fd.add_output(as_float(fd, fd.define_tensor(shape, True, dtype=dtype)))
        check_numbers(fd.execute([pairs((4, 6))])[0], numbers_of(pairs((4, 6))))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_every_half_rounds_to_the_nearest(dtype: torch.dtype) -> None:
    x = torch.arange(-(2**15), 2**15, dtype=torch.int16).view(dtype)
    (got,) = run(lambda fd, a: fd.ops.cast(a, FLOAT4), [x])
    assert (got.dtype, got.shape) == (X2, (2**15,))
    expected = np.array([rounded(number) for number in x.double().tolist()])
    result = numbers_of(got)
    np.testing.assert_array_equal(result, expected)
    np.testing.assert_array_equal(np.signbit(result), np.signbit(expected))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_neighbours_of_every_border(dtype: torch.dtype) -> None:
    borders = [(a + b) / 2 for a, b in itertools.pairwise(MAGNITUDES)] + MAGNITUDES
    exact = torch.tensor([*borders, 1e-45, 1e38], dtype=dtype)
    infinity = torch.full_like(exact, torch.inf)
    x = torch.stack([exact, exact.nextafter(infinity), exact.nextafter(-infinity)], -1).flatten()
    x = torch.cat([x, -x, infinity[:1], -infinity[:1], infinity[:1] * 0])
    x = torch.cat([x, x[:1]]) if len(x) % 2 else x
    (got,) = run(lambda fd, a: fd.ops.cast(a, FLOAT4), [x])
    np.testing.assert_array_equal(numbers_of(got), [rounded(number) for number in x.tolist()])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(4, 6), (1, 4), (3, 2), (0, 4), (7, 0)])
def test_casts_to_and_from(shape: tuple[int, ...], layout: str) -> None:
    generator = torch.Generator().manual_seed(sum(shape))
    x = LAYOUTS[layout](torch.randn(shape, generator=generator) * 4)
    for wide in (DataType.Float, DataType.Double, DataType.Half, DataType.BFloat16):

        def both(fd: FusionDefinition, a: Any, wide: DataType = wide) -> list[Any]:
            narrow = fd.ops.cast(fd.ops.cast(a, wide), FLOAT4)
            return [narrow, as_float(fd, fd.ops.cast(narrow, wide)), fd.ops.cast(narrow, FLOAT4)]

        narrow, numbers, again = run(both, [x])
        given = x.to(
            {DataType.Half: torch.half, DataType.BFloat16: torch.bfloat16}.get(wide, x.dtype)
        )
        expected = np.array([rounded(n) for n in given.double().flatten().tolist()]).reshape(shape)
        np.testing.assert_array_equal(numbers_of(narrow), expected)
        check_numbers(numbers, expected)
        assert torch.equal(bytes_of(again), bytes_of(narrow))


MOVES: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "slice": (lambda fd, a: fd.ops.slice(a, [1, 1], [3, 7]), lambda x: x[1:3, 1:7]),
    "reshape": (lambda fd, a: fd.ops.reshape(a, [6, 8]), lambda x: x.reshape(6, 8)),
    "permute": (
        lambda fd, a: fd.ops.stride_order(fd.ops.permute(a, [1, 0]), [1, 0]),
        lambda x: x.T,
    ),
    "cat": (lambda fd, a: fd.ops.cat([a, a], 1), lambda x: np.concatenate([x, x], 1)),
    "broadcast": (
        lambda fd, a: fd.ops.expand(fd.ops.broadcast(a, [True, False, False]), [3, 4, 12]),
        lambda x: np.broadcast_to(x, (3, 4, 12)),
    ),
    "select": (lambda fd, a: fd.ops.select(a, fd.define_scalar(2), 0), lambda x: x[2]),
    "triu": (lambda fd, a: fd.ops.triu(a), np.triu),
    "where": (
        lambda fd, a: fd.ops.where(fd.ops.gt(a, 0.0), a, fd.ops.slice(a, [0, 0], [4, 12])),
        lambda x: x,
    ),
}


@pytest.mark.parametrize("name", MOVES)
def test_what_moves_elements(name: str) -> None:
    ours, numpys = MOVES[name]
    x = pairs((4, 6))
    with FusionDefinition() as fd:
        moved = ours(fd, fd.define_tensor([4, 12], True, dtype=FLOAT4))
        fd.add_output(moved)
        fd.add_output(as_float(fd, moved))
    got, wide = fd.execute([x])
    expected = numpys(numbers_of(x))
    np.testing.assert_array_equal(numbers_of(got), expected)
    check_numbers(wide, expected)


def test_what_moves_elements_by_indices() -> None:
    x, index = pairs((4, 6)), torch.tensor([3, 0, 3])
    wide = index[:, None].expand(3, 12).contiguous()

    def moves(fd: FusionDefinition, a: Any, i: Any, w: Any) -> list[Any]:
        return [
            fd.ops.index_select(a, i, 0),
            fd.ops.gather(a, w, 0),
            fd.ops.take_along_axis(a, w, 0),
        ]

    for got in run(moves, [x, index, wide]):
        np.testing.assert_array_equal(numbers_of(got), numbers_of(x)[[3, 0, 3]])


def test_the_innermost_dimension_of_a_result_is_packed() -> None:
    x = pairs((4, 6))
    with FusionDefinition() as fd:
        a = fd.from_pytorch(x)
        fd.add_output(fd.ops.permute(a, [1, 0]))
        fd.add_output(fd.ops.stride_order(a, [0, 1]))
    turned, columns = fd.execute([x])
    assert torch.equal(bytes_of(turned), bytes_of(x).t())
    assert (columns.shape, columns.stride()) == ((2, 12), (1, 2))
    np.testing.assert_array_equal(numbers_of(columns, 0), numbers_of(x))


def test_arithmetic_is_in_float() -> None:
    x, y = pairs((3, 4)), pairs((3, 4), seed=7)
    a, b = (torch.from_numpy(numbers_of(t)).float() for t in (x, y))
    for name, operands, expected in (
        ("add", 2, a + b),
        ("mul", 2, a * b),
        ("neg", 1, -a),
        ("exp", 1, a.exp()),
        ("maximum", 2, a.maximum(b)),
    ):
        (got,) = run(lambda fd, *t, name=name, n=operands: getattr(fd.ops, name)(*t[:n]), [x, y])
        torch.testing.assert_close(got, expected)
    (less,) = run(lambda fd, p, q: fd.ops.lt(p, q), [x, y])
    assert torch.equal(less, a < b)
    (total,) = run(lambda fd, p, q: fd.ops.sum(p, [1], dtype=DataType.Float), [x, y])
    torch.testing.assert_close(total, a.sum(1))
    (order,) = run(lambda fd, p, q: fd.ops.argsort(p, 1, stable=True), [x, y])
    assert torch.equal(order, a.argsort(dim=1, stable=True))


def test_what_computes_refuses_them_by_name() -> None:
    with FusionDefinition() as fd:
        a = fd.define_tensor([-1, -1], dtype=FLOAT4)
        calls: dict[str, Callable[[], Any]] = {
            "relu": lambda: fd.ops.relu(a),
            "abs": lambda: fd.ops.abs(a),
            "clamp": lambda: fd.ops.clamp(a, 0.0, 1.0),
            "sum": lambda: fd.ops.sum(a, [0]),
            "max": lambda: fd.ops.max(a, [0]),
            "cumsum": lambda: fd.ops.cumsum(a, 0),
            "topk": lambda: fd.ops.topk(a, fd.define_scalar(1)),
            "matmul": lambda: fd.ops.matmul(a, a),
            "pad": lambda: fd.ops.pad(a, [1, 1]),
            "full": lambda: fd.ops.full([4], 1.0, FLOAT4),
            "iota": lambda: fd.ops.iota(4, 0.0, 1.0, FLOAT4),
            "uniform": lambda: fd.ops.uniform(0.0, 1.0, [4], dtype=FLOAT4),
            "randn_like": lambda: fd.ops.randn_like(a),
        }
        for name, call in calls.items():
            with pytest.raises(
                RuntimeError, match=rf"^{name}: .*4-bit floats.*; cast|^{name}: .*; draw"
            ):
                call()
        whole = fd.define_tensor([-1], dtype=DataType.Int)
        for call, found in (
            (lambda: fd.ops.cast(a, DataType.Int), r"got tv0 .* and DataType\.Int; cast to DataT"),
            (lambda: fd.ops.cast(whole, FLOAT4), r"got tv\d+ .* and DataType\.Float4_e2m1fn; cast"),
            (lambda: fd.ops.cast(1.0, FLOAT4), "got a number and"),
        ):
            with pytest.raises(
                RuntimeError, match=f"cast: tensors of packed 4-bit floats.*{found}"
            ):
                call()
        with pytest.raises(RuntimeError, match="cast: the target must be an element type"):
            fd.ops.cast(a, DataType.Float4_e2m1fn_x2)
        with pytest.raises(
            RuntimeError, match="full: Float4_e2m1fn_x2 is how inputs may be stated"
        ):
            fd.ops.full([4], 1.0, DataType.Float4_e2m1fn_x2)


def test_odd_sizes_are_refused() -> None:
    rule = "the packed dimension of 4-bit floats holds two elements a byte"
    with FusionDefinition() as fd:
        for shape in ([4, 3], [1], [2, 1]):
            with pytest.raises(
                RuntimeError, match=f"define_tensor: {rule}: got shape .* with size"
            ):
                fd.define_tensor(shape, dtype=FLOAT4)
        with pytest.raises(RuntimeError, match="has at least one dimension: got shape \\[\\] of"):
            fd.define_tensor([], dtype=FLOAT4)
        with pytest.raises(
            RuntimeError, match="no expanded broadcast: got contiguity None for the"
        ):
            fd.define_tensor([4, 6], [True, None], dtype=FLOAT4)
        a = fd.define_tensor([4, 6], True, dtype=FLOAT4)
        with pytest.raises(
            RuntimeError, match=f"add_output: {rule}: got Float4_e2m1fn.* with size 3"
        ):
            fd.add_output(fd.ops.slice(a, [0, 0], [4, 3]))
        with pytest.raises(RuntimeError, match=r"add_output: .* at least one dimension"):
            fd.add_output(
                fd.ops.select(fd.ops.select(a, fd.define_scalar(0), 0), fd.define_scalar(0), 0)
            )
        fd.add_output(fd.ops.cast(fd.define_tensor([-1], dtype=DataType.Float), FLOAT4))
    with pytest.raises(RuntimeError, match=f"execute: {rule}: got output 0 of type .* with size 3"):
        fd.execute([pairs((4, 3)), torch.ones(3)])
    (got,) = fd.execute([pairs((4, 3)), torch.ones(4)])
    assert bytes_of(got).tolist() == [0x22, 0x22]


def test_other_tensors_are_refused() -> None:
    with FusionDefinition() as fd:
        fd.add_output(as_float(fd, fd.define_tensor([-1, 12], True, dtype=FLOAT4)))
    for x, text in (
        (
            torch.ones(4, 12),
            "Expected input 0, tv0, to be bound to a tensor of dtype __e2m1, but got a",
        ),
        (
            bytes_of(pairs((4, 6))),
            "tensor of dtype __e2m1, .*; pass a tensor of torch.float4_e2m1fn_x2",
        ),
        (pairs((4, 5)), r"to have size 12, but got a tensor of sizes \[4, 10\]"),
        (pairs((6,)), "to be bound to a tensor of rank 2"),
        (pairs((4, 12))[:, ::2], "stride mismatch with contiguity info"),
    ):
        with pytest.raises(RuntimeError, match=text):
            fd.execute([x])


def test_an_input_that_is_written() -> None:
    x, y = pairs((4, 6)).t(), pairs((6, 4), seed=3)
    with FusionDefinition() as fd:
        target, source = fd.from_pytorch(x), fd.define_tensor([12, 4], True, dtype=DataType.Float)
        fd.add_output(fd.ops.cast(source, FLOAT4), target)
        fd.add_output(fd.ops.mul(source, 1.0))
    numbers = numbers_of(y, 0)
    version = x._version
    fd.execute([x, torch.from_numpy(np.ascontiguousarray(numbers)).float()])
    np.testing.assert_array_equal(numbers_of(x, 0), numbers)
    assert x._version == version + 1


def test_validate_repr_and_programs() -> None:
    x = torch.linspace(-7, 7, 24).view(2, 12)
    with FusionDefinition() as fd:
        a, p = fd.from_pytorch(x), fd.from_pytorch(pairs((2, 6)))
        fd.add_output(fd.ops.cast(fd.ops.mul(a, p), FLOAT4))
        fd.add_output(fd.ops.add(a, p))
    inputs = [x, pairs((2, 6))]
    outputs = fd.validate(inputs)
    fd.validate(inputs, outputs)
    wrong = packed(numbers_of(outputs[0])[::-1].copy())
    with pytest.raises(AssertionError, match="output 0 differs in"):
        fd.validate(inputs, [wrong, outputs[1]])
    scope: dict[str, Any] = {}
    exec(fd.repro_script_for(inputs), scope)
    assert torch.equal(bytes_of(scope["outputs"][0]), bytes_of(outputs[0]))
    torch.testing.assert_close(scope["outputs"][1], outputs[1])


def test_programs_with_large_and_strided_inputs_run() -> None:
    for x in (pairs((60, 40)), pairs((4, 12))[:, ::2], pairs((60, 80))[:, ::2]):
        with FusionDefinition() as fd:
            fd.add_output(as_float(fd, fd.from_pytorch(x)))
        scope: dict[str, Any] = {}
        exec(fd.repro_script_for([x]), scope)
        (given,), (got,) = scope["inputs"], scope["outputs"]
        assert (given.dtype, given.shape, given.stride()) == (x.dtype, x.shape, x.stride())
        check_numbers(got, numbers_of(given))
        if x.numel() <= 1000:
            assert torch.equal(bytes_of(given), bytes_of(x))


def test_fake_tensors_and_graphs() -> None:
    with FusionDefinition() as fd:
        a = fd.define_tensor([-1, -1], True, dtype=FLOAT4)
        fd.add_output(as_float(fd, a))
        fd.add_output(fd.ops.set(a))
        fd.add_output(fd.ops.permute(a, [1, 0]))
    x = pairs((4, 6))
    real = fd.execute([x])
    with FakeTensorMode() as mode:
        fakes = fd.execute([mode.from_tensor(x)])
    for fake, result in zip(fakes, real, strict=True):
        assert (fake.dtype, fake.shape, fake.stride()) == (
            result.dtype,
            result.shape,
            result.stride(),
        )
    for meta, result in zip(fd.execute([x.to("meta")]), real, strict=True):
        assert (meta.dtype, meta.shape, meta.stride()) == (
            result.dtype,
            result.shape,
            result.stride(),
        )


def test_in_a_compiled_function() -> None:
    with FusionDefinition() as fd:
        fd.add_output(as_float(fd, fd.define_tensor([-1, -1], True, dtype=FLOAT4)))
    torch._dynamo.reset()
    compiled = torch.compile(lambda t: fd.execute([t])[0] + 1, backend="eager", fullgraph=True)
    for x in (pairs((4, 6)), pairs((3, 2))):
        check_numbers(compiled(x), numbers_of(x) + 1)


def test_distributed_tensors(mesh: DeviceMesh) -> None:
    x = pairs((4, 6))
    with FusionDefinition() as fd:
        a = fd.define_tensor([-1, -1], dtype=FLOAT4)
        fd.add_output(as_float(fd, a))
        fd.add_output(fd.ops.set(a))
    for placement in (Shard(0), Shard(1), Replicate()):
        wide, same = fd.execute([DTensor.from_local(x, mesh, [placement])])
        assert wide.shape == (4, 12)
        check_numbers(wide.to_local(), numbers_of(x))
        assert same.shape == (4, 6)
        assert torch.equal(bytes_of(same.to_local()), bytes_of(x))
    with pytest.raises(
        RuntimeError, match="execute: packed 4-bit floats have no sums to be part of"
    ):
        fd.execute([DTensor.from_local(x, mesh, [Partial()])])
