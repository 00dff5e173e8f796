"""Reshapes and stride orders inside kernels: one kernel, torch's numbers, and strides as of the evaluator."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as nnf
from kernel_comparison import execute
from meshfuse.pytorch_utils import torch_dtype_to_nvfuser_dtype as dtype_of

from meshfuse import DataType, FusionDefinition, ops

Build = Callable[[FusionDefinition], None]


def definition_of(build: Build) -> FusionDefinition:
    with FusionDefinition() as fd:
        build(fd)
    return fd


def significant_strides(x: torch.Tensor) -> list[int]:
    return [
        stride for size, stride in zip(x.shape, x.stride(), strict=True) if size != 1 and x.numel()
    ]


def check_one_kernel(
    monkeypatch: pytest.MonkeyPatch,
    build: Build,
    inputs: list[torch.Tensor],
    want: torch.Tensor,
    kernels: int = 1,
) -> None:
    compiling, evaluating = definition_of(build), definition_of(build)
    (got,) = execute(monkeypatch, compiling, inputs, compiled=True)
    (evaluated,) = execute(monkeypatch, evaluating, inputs, compiled=False)
    text = compiling.explain()
    assert text.count("launch kernel") == kernels, text
    assert "\ncall " not in text, text
    torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-5)
    assert significant_strides(got) == significant_strides(evaluated)


def sizes_of(x: Any, dims: range) -> list[Any]:
    return [ops.size(x, dim) for dim in dims]


@pytest.mark.parametrize("sizes", [(2, 5, 12), (3, 7, 64), (1, 4, 8)])
def test_heads_are_turned_in_one_kernel(monkeypatch, sizes):
    b, s, c = sizes
    for x in (torch.randn(b, s, c), torch.randn(s, b, c).transpose(0, 1), torch.randn(b, c, s).mT):

        def build(fd: FusionDefinition) -> None:
            v = fd.define_tensor([b, s, c])
            heads = ops.reshape(ops.exp(v), [b, s, 4, c // 4])
            fd.add_output(ops.neg(ops.permute(heads, [0, 2, 1, 3])))

        want = -x.exp().reshape(b, s, 4, c // 4).permute(0, 2, 1, 3)
        check_one_kernel(monkeypatch, build, [x], want)


def test_heads_are_joined_in_one_kernel(monkeypatch):
    x = torch.randn(2, 3, 5, 8)

    def build(fd: FusionDefinition) -> None:
        v = ops.permute(ops.tanh(fd.define_tensor([2, 3, 5, 8])), [0, 2, 1, 3])
        fd.add_output(ops.mul(ops.reshape(v, [2, 5, 24]), 2.0))

    check_one_kernel(monkeypatch, build, [x], x.tanh().permute(0, 2, 1, 3).reshape(2, 5, 24) * 2.0)


@pytest.mark.parametrize("is_wide", [False, True])
def test_rms_norm_of_heads_is_one_kernel(monkeypatch, is_wide):
    x, weight = torch.randn(2, 5, 3 * 16), torch.randn(48 if is_wide else 16)

    def build(fd: FusionDefinition) -> None:
        v = fd.define_tensor([2, 5, 48])
        w = fd.define_tensor([48 if is_wide else 16])
        heads = ops.reshape(v, [2, 5, 3, 16])
        mean = ops.mul(ops.sum(ops.mul(heads, heads), [3], keepdim=True), 1 / 16)
        normal = ops.mul(heads, ops.rsqrt(ops.add(mean, 1e-6)))
        if is_wide:
            normal = ops.mul(ops.reshape(normal, [2, 5, 48]), ops.broadcast(w, [True, True, False]))
        else:
            normal = ops.reshape(
                ops.mul(normal, ops.broadcast(w, [True, True, True, False])), [2, 5, 48]
            )
        fd.add_output(normal)

    heads = nnf.rms_norm(x.reshape(2, 5, 3, 16), (16,), eps=1e-6)
    want = heads.reshape(2, 5, 48) * (weight if is_wide else weight.repeat(3))
    check_one_kernel(monkeypatch, build, [x, weight], want)


GROUPED = [(2, 8, 3, 5, 4), (1, 6, 4, 4, 2), (3, 4, 1, 7, 4), (2, 6, 5, 1, 1), (2, 6, 31, 40, 3)]


@pytest.mark.parametrize("sizes", GROUPED, ids=str)
def test_group_norm_is_one_kernel(monkeypatch, sizes):
    n, c, h, w, groups = sizes
    x, weight = torch.randn(n, c, h, w), torch.randn(c)

    def build(fd: FusionDefinition) -> None:
        v = fd.define_tensor([n, c, h, w])
        scale = ops.broadcast(fd.define_tensor([c]), [True, False, True, True])
        grouped = ops.reshape(v, [n, groups, -1])
        variance, mean = ops.var_mean(grouped, [2], 0, True)
        normal = ops.mul(ops.sub(grouped, mean), ops.rsqrt(ops.add(variance, 1e-5)))
        fd.add_output(ops.mul(ops.reshape(normal, [n, c, h, w]), scale))

    for layout in (
        x,
        x.contiguous(memory_format=torch.channels_last),
        x.permute(3, 2, 1, 0).clone().permute(3, 2, 1, 0),
    ):
        check_one_kernel(
            monkeypatch, build, [layout, weight], nnf.group_norm(x, groups, weight, None)
        )


def test_softmax_of_joined_dimensions_is_one_kernel(monkeypatch):
    x = torch.randn(4, 6, 10)

    def build(fd: FusionDefinition) -> None:
        rows = ops.reshape(ops.mul(fd.define_tensor([4, 6, 10]), 3.0), [4, 60])
        powers = ops.exp(ops.sub(rows, ops.max(rows, [1], keepdim=True)))
        result = ops.truediv(powers, ops.sum(powers, [1], keepdim=True))
        fd.add_output(ops.reshape(result, [4, 6, 10]))

    check_one_kernel(
        monkeypatch, build, [x], torch.softmax((x * 3).reshape(4, 60), 1).reshape(4, 6, 10)
    )


def test_one_definition_for_sizes_with_other_factors(monkeypatch):
    """The sizes decide which factors dimensions have in common: none, one side's or the other's."""

    def build(fd: FusionDefinition) -> None:
        v = fd.define_tensor([-1, -1])
        like = fd.define_tensor([-1, -1])
        turned = ops.permute(ops.reshape(ops.exp(v), sizes_of(like, range(2))), [1, 0])
        fd.add_output(ops.sub(turned, ops.permute(like, [1, 0])))

    compiling, evaluating = definition_of(build), definition_of(build)
    parts = (2, 3, 4, 6, 8, 12)
    pairs = [((a, 24 // a), (b, 24 // b)) for a in parts for b in parts]
    pairs += [((0, 7), (5, 0)), ((5, 0), (0, 7)), ((48, 5), (3, 80)), ((72, 24), (24, 72))]
    for sizes, others in pairs:
        for x in (torch.randn(sizes), torch.randn(sizes[::-1]).t()):
            like = torch.randn(others)
            (got,) = execute(monkeypatch, compiling, [x, like], compiled=True)
            (want,) = execute(monkeypatch, evaluating, [x, like], compiled=False)
            torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-5)
            torch.testing.assert_close(got, x.exp().reshape(like.shape).t() - like.t())
            assert significant_strides(got) == significant_strides(want)


LAYOUTS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "contiguous": lambda x: x,
    "reversed": lambda x: x.permute(2, 1, 0).clone().permute(2, 1, 0),
    "turned": lambda x: x.permute(2, 0, 1).clone().permute(1, 2, 0),
    "strided": lambda x: torch.stack([x, x], -1)[..., 0],
    "expanded": lambda x: x[:, :1].expand(x.shape),
    "gaps": lambda x: torch.cat([x, x], 1)[:, : x.shape[1]],
}
PROGRAMS: dict[str, Callable[[Any, Any], list[Any]]] = {
    "sum": lambda a, b: [ops.add(a, b), ops.add(b, ops.neg(a))],
    "cast": lambda a, b: [
        ops.cast(ops.mul(a, b), DataType.Half),
        ops.cast(ops.neg(a), DataType.Double),
    ],
    "deviation": lambda a, b: [
        ops.sub(a, ops.sum(b, [1], keepdim=True)),
        ops.mul(ops.max(a, [0], keepdim=True), b),
    ],
    "turned": lambda a, b: [
        ops.exp(ops.permute(a, [2, 0, 1])),
        ops.permute(ops.add(a, b), [1, 0, 2]),
    ],
    "ordered": lambda a, b: [
        ops.stride_order(ops.add(a, b), [0, 2, 1]),
        ops.neg(ops.stride_order(a, [1, 0, 2])),
        ops.stride_order(b, [2, 1, 0]),
    ],
    "joined": lambda a, b: [
        ops.neg(ops.reshape(ops.add(a, b), [4, 30])),
        ops.exp(ops.reshape(b, [20, 6])),
    ],
    "divided": lambda a, b: [
        ops.add(ops.reshape(ops.neg(a), [2, 2, 5, 6]), ops.reshape(b, [2, 2, 5, 6])),
        ops.mul(ops.permute(ops.reshape(a, [4, 5, 3, 2]), [0, 2, 1, 3]), 2.0),
    ],
    "both": lambda a, b: [
        ops.add(a, b),
        ops.permute(ops.add(a, b), [2, 1, 0]),
        ops.reshape(a, [20, 6]),
    ],
}


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("first", LAYOUTS)
def test_results_lie_where_the_evaluator_puts_them(monkeypatch, first, program):
    def build(fd: FusionDefinition) -> None:
        for result in PROGRAMS[program](fd.define_tensor([4, 5, 6]), fd.define_tensor([4, 5, 6])):
            fd.add_output(result)

    compiling, evaluating = definition_of(build), definition_of(build)
    for second in LAYOUTS.values():
        inputs = [LAYOUTS[first](torch.randn(4, 5, 6)), second(torch.randn(4, 5, 6))]
        wanted = execute(monkeypatch, evaluating, inputs, compiled=False)
        for got, want in zip(
            execute(monkeypatch, compiling, inputs, compiled=True), wanted, strict=True
        ):
            torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-5)
            assert got.stride() == want.stride()


TURNED = [(33, 70), (8, 8), (64, 512), (700, 1030), (5, 200, 90), (1, 9, 130), (2, 3, 40, 50)]


@pytest.mark.parametrize(
    "dtype",
    [
        torch.float32,
        torch.bfloat16,
        torch.float64,
        torch.int64,
        torch.bool,
        torch.complex64,
        torch.complex128,
    ],
    ids=str,
)
def test_what_is_read_along_another_dimension_is_turned(monkeypatch, dtype):
    """With one that is not turned, and one that is a row of it."""
    monkeypatch.setenv("MESHFUSE_COMPILE", "1")
    for sizes in TURNED:
        turned = (*sizes[:-2], sizes[-1], sizes[-2])
        rank = len(sizes)

        def build(fd: FusionDefinition, rank: int = rank) -> None:
            x, y, row = (fd.define_tensor([-1] * rank, dtype=dtype_of(dtype)) for _ in range(3))
            order = [*range(rank - 2), rank - 1, rank - 2]
            value = ops.where(ops.eq(x, row), x, ops.permute(y, order))
            fd.add_output(ops.stride_order(value, list(range(rank))[::-1]))

        x, y, row = (
            torch.randint(0, 3, size, generator=torch.Generator().manual_seed(i)).to(dtype)
            for i, size in enumerate((sizes, turned, (*sizes[:-2], sizes[-2], 1)))
        )
        row = row.expand(sizes)
        compiling = definition_of(build)
        (got,) = compiling.execute([x, y, row])
        assert "in tiles" in compiling.explain()
        assert got.is_contiguous()
        assert torch.equal(got, torch.where(x == row, x, y.mT))
