"""Kernels that reduce rows and sum columns as well: normalizations backward, and sums of both kinds of anything."""

from typing import Any

import pytest
import torch
from kernel_comparison import calls_of
from meshfuse.pytorch_utils import torch_dtype_to_nvfuser_dtype as dtype_of

from meshfuse import DataType, FusionDefinition, ops

# Nothing, one row, few rows of many columns, many rows of few, rows too long to be kept, and parts with rows left over.
SIZES = [(0, 5), (4, 0), (1, 6), (6, 1), (3, 1100), (2, 20000), (1000, 7), (130, 65), (2100, 40)]
TOLERANCE = {torch.float32: 1e-4, torch.float64: 1e-12, torch.bfloat16: 2e-2, torch.float16: 3e-3}


def launches(fd: FusionDefinition) -> int:
    return sum(line.startswith("launch ") for line in fd.explain().splitlines())


def floats(value: Any, dtype: torch.dtype) -> Any:
    return value if dtype == torch.float64 else ops.cast(value, DataType.Float)


def layer_norm_backward(dtype: torch.dtype, sums_first: bool = False) -> FusionDefinition:
    """Of dy, x, the mean, the reciprocal deviation and the weight: the gradients of x, of the weight and of the bias."""
    wide = DataType.Double if dtype == torch.float64 else DataType.Float
    with FusionDefinition() as fd:
        dy, x = (fd.define_tensor([-1, -1], dtype=dtype_of(dtype)) for _ in range(2))
        mean, scale = (fd.define_tensor([-1], dtype=wide) for _ in range(2))
        weight = fd.define_tensor([-1], dtype=dtype_of(dtype))
        count = ops.size(x, 1)
        dy, x, weight = (floats(each, dtype) for each in (dy, x, weight))
        mean, scale = (ops.broadcast(each, [False, True]) for each in (mean, scale))
        normal = ops.mul(ops.sub(x, mean), scale)
        sums = [ops.sum(ops.mul(dy, normal), [0]), ops.sum(dy, [0])] if sums_first else []
        scaled = ops.mul(dy, ops.broadcast(weight, [True, False]))
        along = ops.truediv(ops.sum(ops.mul(scaled, normal), [1], True), count)
        level = ops.truediv(ops.sum(scaled, [1], True), count)
        dx = ops.mul(ops.sub(ops.sub(scaled, level), ops.mul(normal, along)), scale)
        sums = sums or [ops.sum(ops.mul(dy, normal), [0]), ops.sum(dy, [0])]
        for value in (dx, *sums):
            is_wide = dtype in (torch.float32, torch.float64)
            fd.add_output(value if is_wide else ops.cast(value, dtype_of(dtype)))
    return fd


def arguments(sizes: tuple[int, int], dtype: torch.dtype) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(sum(sizes))
    x, dy = (torch.randn(sizes, generator=generator, dtype=torch.float64) for _ in range(2))
    weight = torch.randn(sizes[1], generator=generator, dtype=torch.float64)
    wide = torch.float64 if dtype == torch.float64 else torch.float32
    x, dy, weight = (each.to(dtype) for each in (x, dy, weight))
    mean = x.double().mean(1)
    variance = (x.double() - mean[:, None]).square().mean(1)
    return [dy, x, mean.to(wide), (variance + 1e-5).rsqrt().to(wide), weight]


def expected(args: list[torch.Tensor]) -> list[torch.Tensor]:
    """In double, by torch's own gradients."""
    dy, x, _, _, weight = (each.double() for each in args)
    x, weight = x.requires_grad_(), weight.requires_grad_()
    bias = torch.zeros_like(weight).requires_grad_()
    with torch.enable_grad():
        torch.nn.functional.layer_norm(x, x.shape[1:], weight, bias, 1e-5).backward(dy)
    return [each.grad for each in (x, weight, bias)]


@pytest.fixture(autouse=True)
def _compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MESHFUSE_COMPILE", "1")


@pytest.mark.parametrize("sums_first", [False, True])
@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
def test_layer_norm_backward(dtype: torch.dtype, sums_first: bool) -> None:
    fd = layer_norm_backward(dtype, sums_first)
    for sizes in SIZES:
        args = arguments(sizes, dtype)
        results = fd.execute(args)
        assert not set(calls_of(fd)) - {"broadcast"}  # which is a view
        if 1 not in sizes:
            # Casts of the sums are kernels of their own.
            assert launches(fd) <= (1 if dtype in (torch.float32, torch.float64) else 3)
        if sizes[1] == 0:
            assert [list(each.shape) for each in results] == [[4, 0], [0], [0]]
            continue
        for got, want in zip(results, expected(args), strict=True):
            # Sums of so many terms of size 1 cancel down to errors of their own size.
            size = TOLERANCE[dtype] * max(1.0, float(want.abs().max() if want.numel() else 0))
            torch.testing.assert_close(got.double(), want, rtol=0, atol=size)
            assert got.is_contiguous()


def test_threads_do_not_change_a_bit() -> None:
    args = arguments((700, 300), torch.float32)
    threads = torch.get_num_threads()
    results = []
    try:
        for count in (1, 2, 3):
            torch.set_num_threads(count)
            results.append(layer_norm_backward(torch.float32).execute(args))
    finally:
        torch.set_num_threads(threads)
    for other in results[1:]:
        assert all(torch.equal(a, b) for a, b in zip(other, results[0], strict=True))


def test_whole_numbers_are_summed_exactly() -> None:
    """Every row and every column is counted once, whatever the parts are."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1])
        rows = ops.sum(x, [1], keepdim=True)
        fd.add_output(ops.mul(x, rows))
        fd.add_output(ops.sum(x, [0]))
        fd.add_output(ops.sum(ops.mul(x, rows), [0]))
        fd.add_output(ops.neg(ops.sum(ops.mul(rows, x), [0])))
    for sizes in [(5, 3), (31, 64), (32, 65), (33, 2), (64, 200), (2047, 9), (2049, 130)]:
        x = torch.randint(-2, 3, sizes, generator=torch.Generator().manual_seed(1)).float()
        scaled, columns, products, negative = fd.execute([x])
        assert launches(fd) == 2
        assert torch.equal(scaled, x * x.sum(1, keepdim=True))
        assert torch.equal(columns, x.sum(0))
        assert torch.equal(products, (x * x.sum(1, keepdim=True)).sum(0))
        assert torch.equal(negative, -products)


def test_equal_sums() -> None:
    """Are one for the kernel and several results."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1])
        y = ops.sub(x, ops.max(x, [1], keepdim=True))
        for _ in range(2):
            fd.add_output(ops.sum(y, [0]))
            fd.add_output(ops.sum(x, [0]))
    x = torch.randn(300, 70, generator=torch.Generator().manual_seed(2))
    first, second, *others = fd.execute([x])
    assert launches(fd) == 1
    torch.testing.assert_close(first, (x - x.amax(1, keepdim=True)).sum(0), rtol=1e-5, atol=1e-4)
    torch.testing.assert_close(second, x.sum(0), rtol=1e-5, atol=1e-4)
    assert torch.equal(first, others[0])
    assert torch.equal(second, others[1])


def test_what_is_done_with_a_sum() -> None:
    """Stays a kernel of its own, and so does all that needs whole rows of it."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1])
        y = ops.sub(x, ops.max(x, [1], keepdim=True))
        total = ops.sum(y, [0])
        fd.add_output(ops.exp(y))
        fd.add_output(ops.tanh(ops.mul(total, 0.01)))
        fd.add_output(ops.mul(y, ops.broadcast(total, [True, False])))
    x = torch.randn(300, 70, generator=torch.Generator().manual_seed(2))
    powers, bent, product = fd.execute([x])
    y = x - x.amax(1, keepdim=True)
    torch.testing.assert_close(powers, y.exp())
    torch.testing.assert_close(bent, (y.sum(0) * 0.01).tanh())
    torch.testing.assert_close(product, y * y.sum(0))


def test_several_dimensions_are_summed() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1, -1])
        scale = ops.rsqrt(ops.add(ops.sum(ops.mul(x, x), [2], keepdim=True), 1.0))
        fd.add_output(ops.mul(x, scale))
        fd.add_output(ops.sum(ops.mul(x, scale), [0, 1]))
    for sizes in [(3, 50, 33), (7, 4, 1000), (2, 1, 5), (0, 3, 4)]:
        x = torch.randn(sizes, generator=torch.Generator().manual_seed(3))
        normal, total = fd.execute([x])
        want = x * (x.square().sum(2, keepdim=True) + 1).rsqrt()
        torch.testing.assert_close(normal, want)
        torch.testing.assert_close(total, want.sum((0, 1)), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("place", ["transposed", "strided", "expanded", "offset"])
def test_other_layouts(place: str) -> None:
    lay = {
        "transposed": lambda t: t.t().contiguous().t(),
        "strided": lambda t: torch.stack([t, t], -1)[..., 0],
        "expanded": lambda t: t[:1].expand(t.shape),
        "offset": lambda t: torch.cat([t.new_zeros(3), t.flatten()])[3:].view(t.shape),
    }[place]
    fd = layer_norm_backward(torch.float32)
    for sizes in [(130, 65), (40, 3)]:
        plain = arguments(sizes, torch.float32)
        for first, second in ((lay, lay), (lay, torch.clone), (torch.clone, lay)):
            args = [first(plain[0]), second(plain[1]), *plain[2:]]
            _, weight, bias = fd.execute(args)
            normal = (args[1] - args[2][:, None]) * args[3][:, None]
            torch.testing.assert_close(weight, (args[0] * normal).sum(0), rtol=1e-4, atol=1e-4)
            torch.testing.assert_close(bias, args[0].sum(0), rtol=1e-4, atol=1e-4)


def test_sums_that_are_needed_before_the_rows_are_stay_before_them() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1])
        columns = ops.sum(x, [0], keepdim=True)
        y = ops.sub(x, columns)
        fd.add_output(ops.truediv(y, ops.sum(ops.mul(x, y), [1], keepdim=True)))
        fd.add_output(columns)
    x = torch.randn(90, 70, generator=torch.Generator().manual_seed(4)).double().float()
    got, columns = fd.execute([x])
    wide = x.double()
    y = wide - wide.sum(0, keepdim=True)
    want = y / (wide * y).sum(1, keepdim=True)
    torch.testing.assert_close(got.double(), want, rtol=1e-3, atol=1e-5)
    torch.testing.assert_close(columns.double(), wide.sum(0, keepdim=True), rtol=1e-4, atol=1e-4)
