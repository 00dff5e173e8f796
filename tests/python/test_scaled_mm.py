"""scaled_mm and grouped_mm with scales: against products of matrices scaled by torch, torch's own kernel, and what they refuse."""

from collections.abc import Callable

import pytest
import torch
from op_comparison import LAYOUTS, run

from meshfuse import DataType, FusionDefinition

FP8 = [torch.float8_e4m3fn, torch.float8_e5m2]
MATRICES = [*FP8, torch.float16, torch.bfloat16, torch.float32]
RESULTS = {
    DataType.Float: torch.float32,
    DataType.Half: torch.float16,
    DataType.BFloat16: torch.bfloat16,
}


@pytest.fixture
def fd():
    with FusionDefinition() as definition:
        yield definition


def numbers(shape: tuple[int, ...], dtype: torch.dtype, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator).to(dtype)


def scales(shape: tuple[int, ...], dtype: torch.dtype = torch.float32) -> torch.Tensor:
    powers = torch.randint(-3, 4, shape, generator=torch.Generator().manual_seed(sum(shape)))
    return (2.0**powers).to(dtype)


def spread(scale: torch.Tensor, shape: torch.Size) -> torch.Tensor:
    """One number for each element of the matrix."""
    wide = scale.double() if scale.dim() == 2 else scale.double().reshape(1, 1)
    for dim in range(wide.dim()):
        wide = wide.repeat_interleave(shape[dim] // max(wide.shape[dim], 1), dim)
    return wide


def product(a: torch.Tensor, b: torch.Tensor, s: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
    return (a.double() * spread(s, a.shape)) @ (b.double() * spread(t, b.shape))


def near(got: torch.Tensor, expected: torch.Tensor, dtype: torch.dtype) -> None:
    assert got.dtype == dtype
    torch.testing.assert_close(
        got, expected.to(dtype), rtol=1e-2 if dtype.itemsize == 2 else 1e-5, atol=1e-5
    )


@pytest.mark.parametrize("first", MATRICES)
@pytest.mark.parametrize("second", MATRICES)
def test_one_number_a_row_and_a_column(first: torch.dtype, second: torch.dtype) -> None:
    for m, k, n in ((4, 32, 6), (1, 7, 3), (5, 1, 1), (0, 4, 2), (3, 0, 2)):
        a, b = numbers((m, k), first), numbers((k, n), second, 1)
        for s, t in (
            (scales(()), scales(())),
            (scales((1,)), scales((1, 1))),
            (scales((m, 1)), scales((1, n))),
        ):
            for language, dtype in RESULTS.items():
                (got,) = run(
                    lambda fd, *x, d=language: fd.ops.scaled_mm(*x, dtype=d)[0], [a, b, s, t]
                )
                near(got, product(a, b, s, t), dtype)


@pytest.mark.parametrize("dtype", FP8)
@pytest.mark.parametrize("scale_dtype", [torch.float32, torch.float8_e8m0fnu, torch.float8_e4m3fn])
def test_one_number_a_block(dtype: torch.dtype, scale_dtype: torch.dtype) -> None:
    a, b = numbers((6, 64), dtype), numbers((64, 4), dtype, 1)
    for s, t in (((6, 2), (2, 4)), ((3, 4), (64, 1)), ((1, 64), (32, 2)), ((2, 1), (1, 4))):
        given = [a, b, scales(s, scale_dtype), scales(t, scale_dtype)]
        (got,) = run(lambda fd, *x: fd.ops.scaled_mm(*x, dtype=DataType.Float)[0], given)
        near(got, product(*given), torch.float32)


def test_layouts() -> None:
    for layout in LAYOUTS.values():
        a, b = layout(numbers((4, 6), torch.float32)), layout(numbers((6, 2), torch.float32, 1))
        given = [a.to(torch.float8_e4m3fn), b.to(torch.float8_e4m3fn)]
        given += [layout(scales((4, 3))), layout(scales((2, 2)))]
        (got,) = run(lambda fd, *x: fd.ops.scaled_mm(*x)[0], given)
        near(got, product(*given), torch.bfloat16)
    column_major = given[1].t().contiguous().t()
    (got,) = run(lambda fd, *x: fd.ops.scaled_mm(*x)[0], [given[0], column_major, *given[2:]])
    near(got, product(*given), torch.bfloat16)


def test_is_torchs_kernel() -> None:
    a, b = numbers((16, 32), FP8[0]), numbers((16, 32), FP8[0], 1).t()
    s, t = torch.tensor(0.5), torch.tensor(2.0)
    expected = torch._scaled_mm(a, b, scale_a=s, scale_b=t, out_dtype=torch.bfloat16)
    (got,) = run(lambda fd, *x: fd.ops.scaled_mm(*x)[0], [a, b, s, t])
    near(got, expected, torch.bfloat16)


def test_alpha_bias_and_beta() -> None:
    a, b = numbers((4, 8), FP8[0]), numbers((8, 6), FP8[1], 1)
    s, t, bias = scales((4, 1)), scales((1, 6)), numbers((6,), torch.bfloat16, 2)
    plain = product(a, b, s, t)
    (got,) = run(
        lambda fd, *x: fd.ops.scaled_mm(*x, dtype=DataType.Float, alpha=0.5)[0], [a, b, s, t]
    )
    near(got, plain * 0.5, torch.float32)
    with FusionDefinition() as fd:
        given = [fd.from_pytorch(x) for x in (a, b, s, t, bias)]
        alpha, beta = fd.define_tensor([]), fd.define_scalar(DataType.Double)
        for options in ((alpha, given[4], beta), (None, given[4], None), (2.0, given[4], alpha)):
            out, block_scales, gamma = fd.ops.scaled_mm(*given[:4], *options, DataType.Float)
            assert block_scales is None
            assert gamma is None
            fd.add_output(out)
    got = fd.execute([a, b, s, t, bias, torch.tensor(3.0), -0.5])
    for mine, theirs in zip(
        got,
        (3 * plain - 0.5 * bias.double(), plain + bias.double(), 2 * plain + 3 * bias.double()),
        strict=True,
    ):
        near(mine, theirs, torch.float32)


def test_symbolic_sizes() -> None:
    with FusionDefinition() as fd:
        a, b = (fd.define_tensor([-1, -1], dtype=DataType.Float8_e4m3fn) for _ in range(2))
        s, t = (fd.define_tensor([-1, -1]) for _ in range(2))
        fd.add_output(fd.ops.scaled_mm(a, b, s, t, dtype=DataType.Float)[0])
    for shapes in (((6, 8), (8, 4), (6, 2), (4, 4)), ((6, 8), (8, 4), (1, 1), (8, 1))):
        given = [numbers(shape, FP8[0]) for shape in shapes[:2]] + [scales(s) for s in shapes[2:]]
        near(fd.execute(given)[0], product(*given), torch.float32)
    bad = [numbers((6, 8), FP8[0]), numbers((8, 4), FP8[0]), scales((6, 3)), scales((1, 1))]
    text = "scaled_mm: a scale divides its matrix into equal blocks: got 3 numbers along dimension 1 of"
    with pytest.raises(RuntimeError, match=text):
        fd.execute(bad)
    bad[1] = numbers((7, 4), FP8[0])
    with pytest.raises(RuntimeError, match=r"scaled_mm: .*the contracted dimension is 8"):
        fd.execute(bad)


def test_refusals(fd: FusionDefinition) -> None:
    a, one = fd.define_tensor([4, 4], dtype=DataType.Float8_e4m3fn), fd.define_tensor([])
    vector, wide = fd.define_tensor([4]), fd.define_tensor([4, 4], dtype=DataType.Double)
    spiral = fd.define_tensor([4], dtype=DataType.ComplexFloat)
    cases: list[tuple[Callable[[], object], str]] = [
        (lambda: fd.ops.scaled_mm(vector, a, one, one), r"the matrices are \[m, k\] and \[k, n\]"),
        (lambda: fd.ops.scaled_mm(a, a, vector, one), "a scale is one number, or has the matrix's"),
        (
            lambda: fd.ops.scaled_mm(wide, a, one, one),
            "matrices are of Float4_e2m1fn, Float8_e4m3fn, Float8_e5m2",
        ),
        (lambda: fd.ops.scaled_mm(a, a, wide, one), "scales are of Float, Float8_e8m0fnu or"),
        (
            lambda: fd.ops.scaled_mm(a, a, one, one, vector),
            "alpha and beta are one real number each",
        ),
        (lambda: fd.ops.scaled_mm(a, a, one, one, 1j), "one of alpha and beta is a real number"),
        (lambda: fd.ops.scaled_mm(a, a, one, one, None, a), r"the bias is \[n\]"),
        (
            lambda: fd.ops.scaled_mm(a, a, one, one, None, spiral),
            "the bias is real: got tv.*; cast its",
        ),
        (lambda: fd.ops.scaled_mm(a, a, one, one, beta=1.0), "beta multiplies the bias"),
        (
            lambda: fd.ops.scaled_mm(a, a, one, one, dtype=DataType.Int),
            r"the result is of Float, Half or BFloat16: got dtype DataType\.Int",
        ),
        (
            lambda: fd.ops.scaled_mm(a, a, one, one, output_block_scale_size=16),
            "the result comes without scales of its own: got output_block_scale_size 16",
        ),
        (
            lambda: fd.ops.scaled_mm(a, a, one, one, output_gamma=True),
            "the result comes without scales of its own: .*output_gamma True",
        ),
        (
            lambda: fd.ops.scaled_mm(a, a, fd.define_tensor([3, 1]), one),
            "a scale divides its matrix into equal blocks: got 3 numbers along dimension 0 of size 4",
        ),
        (
            lambda: fd.ops.scaled_mm(a, a, one, one, None, fd.define_tensor([3])),
            "the bias and the columns of mat2 is 4 in one",
        ),
    ]
    for call, text in cases:
        with pytest.raises(RuntimeError, match=f"scaled_mm: .*{text}"):
            call()
    with pytest.raises(TypeError, match=r"scaled_mm\(\): incompatible function arguments"):
        fd.ops.scaled_mm(a, a, 1.0, one)


def grouped(
    a: torch.Tensor, b: torch.Tensor, ends: list[int], s: torch.Tensor, t: torch.Tensor
) -> torch.Tensor:
    """Each group's product, then its scales."""
    a, b, s, t = (x.double() for x in (a, b, s, t))
    groups = list(enumerate(zip([0, *ends[:-1]], ends, strict=True)))
    if a.dim() == 3:
        result = torch.zeros(a.shape[1], b.shape[1], dtype=torch.float64)
        for g, (i, j) in groups:
            result[:, i:j] = (a[g] @ b[:, i:j]) * s.expand(len(ends), -1, 1)[g]
        return result * t
    if b.dim() == 3:
        result = torch.zeros(a.shape[0], b.shape[2], dtype=torch.float64)
        for g, (i, j) in groups:
            result[i:j] = (a[i:j] @ b[g]) * t.expand(len(ends), 1, -1)[g]
        return result * s
    return torch.stack([a[:, i:j] @ b[i:j] for _, (i, j) in groups]) * s * t


GROUPED = [
    ((5, 8), (8, 3), [((3, 5, 1), (3, 1, 3)), ((1, 5, 1), (3, 1, 1))]),
    ((3, 5, 4), (4, 8), [((3, 5, 1), (1, 8)), ((1, 1, 1), (1, 1))]),
    ((8, 4), (3, 4, 5), [((8, 1), (3, 1, 5)), ((1, 1), (1, 1, 5))]),
]


@pytest.mark.parametrize("dtype", MATRICES)
@pytest.mark.parametrize(("first", "second", "shapes"), GROUPED)
def test_groups(
    dtype: torch.dtype, first: tuple[int, ...], second: tuple[int, ...], shapes
) -> None:
    for ends in ([2, 5, 8], [0, 8, 8], [1, 1, 6], [0, 0, 0]):
        for s_shape, t_shape in shapes:
            a, b = numbers(first, dtype), numbers(second, dtype, 1)
            s, t = scales(s_shape), scales(t_shape)
            offsets = torch.tensor(ends, dtype=torch.int32)
            for language, result in RESULTS.items():
                (got,) = run(
                    lambda fd, *x, d=language: fd.ops.grouped_mm(*x, dtype=d)[0],
                    [a, b, offsets, s, t],
                )
                near(got, grouped(a, b, ends, s, t), result)


def test_grouped_refusals(fd: FusionDefinition) -> None:
    a = fd.define_tensor([4, 4], dtype=DataType.Float8_e4m3fn)
    batch = fd.define_tensor([2, 4, 4], dtype=DataType.Float8_e4m3fn)
    offsets = fd.define_tensor([2], dtype=DataType.Int32)
    rows, columns = fd.define_tensor([4, 1]), fd.define_tensor([2, 1, 4])
    result = fd.ops.grouped_mm(a, batch, offsets, rows, columns)
    assert len(result) == 3
    assert result[1] is None
    assert result[2] is None
    for s, t, text in (
        (columns, columns, r"size 1 in place of k: got .*rank 2 is expected; pass \[m, 1\] or"),
        (fd.define_tensor([4, 4]), columns, "size 1 in place of k"),
        (rows, rows, r"size 1 in place of k: got .*rank 3 is expected; pass \[1, n\] or"),
        (fd.define_tensor([3, 1]), columns, "a scale and what it scales is 4 in one"),
        (rows, fd.define_tensor([3, 1, 4]), "a scale and what it scales is 2 in one"),
    ):
        with pytest.raises(RuntimeError, match=f"grouped_mm: .*{text}"):
            fd.ops.grouped_mm(a, batch, offsets, s, t)
    for options in ({"alpha": 2.0}, {"bias": rows, "beta": 1.0}):
        with pytest.raises(RuntimeError, match="scaled by scale1 and scale2 alone"):
            fd.ops.grouped_mm(a, batch, offsets, rows, columns, **options)
    with pytest.raises(RuntimeError, match="the result comes without scales of its own"):
        fd.ops.grouped_mm(a, batch, offsets, rows, columns, output_gamma=True)
    with pytest.raises(TypeError, match=r"grouped_mm\(\): incompatible function arguments"):
        fd.ops.grouped_mm(a, batch, offsets, rows)
    wide = fd.define_tensor([4, 4], dtype=DataType.Double)
    with pytest.raises(RuntimeError, match="matrices are of Float4_e2m1fn, Float8_e4m3fn"):
        fd.ops.grouped_mm(wide, batch, offsets, rows, columns)


def test_the_text_of_a_definition_rebuilds_it() -> None:
    a, b = numbers((4, 8), FP8[0]), numbers((8, 6), FP8[0], 1)
    given = [a, b, scales((4, 1)), scales((1, 6)), torch.tensor([3, 8], dtype=torch.int32)]
    with FusionDefinition() as fd:
        x, y, s, t, offsets = (fd.from_pytorch(g) for g in given)
        fd.add_output(fd.ops.scaled_mm(x, y, s, t)[0])
        wide = [fd.ops.broadcast(v, [True, False, False]) for v in (s, t)]
        fd.add_output(fd.ops.grouped_mm(x, y, offsets, *wide, dtype=DataType.Float)[0])
        fd.add_output(fd.ops.grouped_mm(x, y, offsets))
    text = repr(fd)
    scope = {"DataType": DataType, "FusionDefinition": FusionDefinition}
    exec(text, scope)
    with FusionDefinition() as again:
        scope["nvfuser_fusion"](again)
    for mine, theirs in zip(fd.execute(given), again.execute(given), strict=True):
        assert torch.equal(mine.float(), theirs.float())
    assert repr(again) == repr(fd)
