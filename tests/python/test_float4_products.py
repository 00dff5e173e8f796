"""Quantization to 4-bit floats, their block scales in tiles, and products of them: against numpy, element by element."""

from typing import Any

import numpy as np
import pytest
import torch
from op_comparison import LAYOUTS, run
from packed_numbers import (
    BLOCK,
    E4M3,
    LARGEST,
    X2,
    Numbers,
    numbers_of,
    packed,
    quantized,
    rounded_scale,
    tiled,
    up,
)

from meshfuse import DataType, FusionDefinition

E4M3_TYPE = torch.float8_e4m3fn


def normal(shape: tuple[int, ...], dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Blocks of very different sizes."""
    generator = torch.Generator().manual_seed(sum(shape))
    powers = torch.randint(-8, 9, (*shape[:-1], 1), generator=generator)
    return (torch.randn(shape, generator=generator) * 2.0**powers).to(dtype)


def check_quantized(got: list[torch.Tensor], expected: tuple[Numbers, Numbers]) -> None:
    values, scales = got
    assert (values.dtype, scales.dtype) == (X2, E4M3_TYPE)
    np.testing.assert_array_equal(numbers_of(values), expected[0])
    np.testing.assert_array_equal(scales.double().numpy(), expected[1])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_blocks(dtype: torch.dtype, layout: str) -> None:
    for shape in ((4, 32), (1, 16), (7, 48), (0, 32), (3, 0)):
        x = LAYOUTS[layout](normal(shape, dtype))
        got = run(lambda fd, a: fd.ops.nv_block_quantize(a), [x])
        check_quantized(got, quantized(x.float().numpy()))


def test_blocks_of_one_and_three_dimensions() -> None:
    for shape in ((32,), (2, 3, 16), (1, 1, 16)):
        x = normal(shape)
        got = run(lambda fd, a: fd.ops.nv_block_quantize(a, None, False, 16), [x])
        check_quantized(got, quantized(x.numpy()))


def test_a_global_scale() -> None:
    x = normal((5, 64))
    for scale in (0.25, 1.0, 448 * 6 / x.abs().max().item(), 0.0, 1e30):
        got = run(lambda fd, a, s: fd.ops.nv_block_quantize(a, s), [x, torch.tensor(scale)])
        check_quantized(got, quantized(x.numpy(), scale))


def test_the_ends_of_the_range() -> None:
    rows = [
        [0.0, -0.0] * 8,
        [6.0 * 448] + [-6.0 * 448] * 15,
        [1e38, -1e30] * 8,
        [LARGEST, 1.0] * 8,
        [1e-45] + [0.0] * 15,
        [6.0 * 2**-9, 3.0 * 2**-9] * 8,
        [6.0 * 2**-10] * 16,
        [torch.inf, 1.0] * 8,
        [-torch.inf] * 16,
        [6.0, 5.0, 2.5, 0.25, 0.75, 1.25, 1.75, 3.5] * 2,
    ]
    x = torch.tensor(rows)
    check_quantized(run(lambda fd, a: fd.ops.nv_block_quantize(a), [x]), quantized(x.numpy()))
    x[2, 3] = torch.nan
    values, scales = run(lambda fd, a: fd.ops.nv_block_quantize(a), [x])
    assert scales.float().isnan().flatten().tolist() == [row == 2 for row in range(len(rows))]
    assert (numbers_of(values)[2] == 6).all()


@pytest.mark.parametrize("shape", [(6, 96), (1, 16), (128, 64), (129, 80), (300, 16), (0, 16)])
def test_scales_in_tiles(shape: tuple[int, int]) -> None:
    x = normal(shape)
    got = run(lambda fd, a: fd.ops.nv_block_quantize(a, swizzle_block_scales=True), [x])
    values, scales = quantized(x.numpy())
    assert got[1].shape == (up(shape[0], 128), up(shape[1] // 16, 4))
    check_quantized(got, (values, tiled(scales)))


def starts(sizes: list[int], multiple: int) -> list[int]:
    return [sum(up(size, multiple) for size in sizes[:i]) for i in range(len(sizes))]


def in_groups(scales: Numbers, sizes: list[int]) -> Numbers:
    """Each group's scales in tiles of their own."""
    rows = scales.shape[0] + 127 * len(sizes)
    result = np.zeros((rows, up(scales.shape[1], 4)))
    for size, begin, place in zip(sizes, starts(sizes, 1), starts(sizes, 128), strict=True):
        group = tiled(scales[begin : begin + size])
        result[place : place + len(group)] = group
    return result


def offsets(sizes: list[int], multiple: int) -> torch.Tensor:
    return torch.tensor(starts(sizes, multiple), dtype=torch.int32)


GROUPS = [[5, 3], [0, 7, 0], [130, 2, 129], [1], [0]]


@pytest.mark.parametrize("sizes", GROUPS)
def test_groups(sizes: list[int]) -> None:
    x = normal((sum(sizes), 80))
    inputs = [x, offsets(sizes, 1), offsets(sizes, 128)]
    values, scales = quantized(x.numpy())
    got = run(lambda fd, a, i, o: fd.ops.nv_grouped_block_quantize(a, i, o), inputs)
    check_quantized(got, (values, in_groups(scales, sizes)))
    got = run(
        lambda fd, a, i, o, s: fd.ops.nv_grouped_block_quantize(a, i, o, s),
        [*inputs, torch.tensor(0.5)],
    )
    values, scales = quantized(x.numpy(), 0.5)
    check_quantized(got, (values, in_groups(scales, sizes)))


@pytest.mark.parametrize("sizes", GROUPS)
def test_scales_of_groups(sizes: list[int]) -> None:
    for columns in (0, 1, 4, 6):
        scales = normal((sum(sizes), columns)).abs().clamp(max=400)
        for dtype in (E4M3_TYPE, torch.float8_e8m0fnu, torch.float32):
            given = scales.to(dtype)
            (got,) = run(
                lambda fd, a, i, o: fd.ops.preprocess_grouped_matmul_input_sf(a, i, o),
                [given, offsets(sizes, 1), offsets(sizes, 128)],
            )
            expected = in_groups(given.double().numpy(), sizes)
            assert got.dtype == dtype
            wide = got.double().numpy()
            if dtype == torch.float8_e8m0fnu:
                wide = np.where(got.view(torch.uint8).numpy() == 0, 0, wide)
            np.testing.assert_array_equal(wide, np.where(expected < 2.0**-126, 0, expected))


def matrix(rows: int, k: int, seed: int) -> tuple[torch.Tensor, Numbers, Numbers]:
    """In 4 bits [rows, k / 2], its scales, and what they stand for."""
    x = np.random.default_rng(seed).normal(size=(rows, k)).astype(np.float32)
    values, scales = quantized(x)
    return packed(values), scales, values * np.repeat(scales, BLOCK, 1)


def as_scales(scales: Numbers) -> torch.Tensor:
    return torch.from_numpy(scales).to(E4M3_TYPE)


@pytest.mark.parametrize("sizes", [(6, 48, 4), (1, 16, 2), (130, 80, 6), (0, 16, 2), (3, 32, 1)])
def test_scaled_mm(sizes: tuple[int, int, int]) -> None:
    m, k, n = sizes
    a, scale_a, wide_a = matrix(m, k, 1)
    b, scale_b, wide_b = matrix(n, k, 2)
    inputs = [a, b.t(), as_scales(tiled(scale_a)), as_scales(tiled(scale_b)), torch.tensor(0.5)]
    (got,) = run(
        lambda fd, p, q, s, t, alpha: fd.ops.scaled_mm(p, q, s, t, alpha, dtype=DataType.Float)[0],
        inputs,
    )
    torch.testing.assert_close(
        got.double(), torch.from_numpy(wide_a @ wide_b.T * 0.5), rtol=1e-5, atol=1e-4
    )
    one = torch.tensor(2.0)
    (got,) = run(
        lambda fd, p, q, s, t: fd.ops.scaled_mm(p, q, s, t, dtype=DataType.Float)[0],
        [a, b.t(), one, one],
    )
    plain = numbers_of(a) @ numbers_of(b.t(), 0) * 4
    torch.testing.assert_close(got.double(), torch.from_numpy(plain), rtol=1e-5, atol=1e-4)


def test_quantized_matrices_multiply() -> None:
    a, b = normal((6, 64)), normal((4, 64))
    with FusionDefinition() as fd:
        x, y = fd.define_tensor([-1, -1]), fd.define_tensor([-1, -1])
        (p, s), (q, t) = (fd.ops.nv_block_quantize(z, swizzle_block_scales=True) for z in (x, y))
        fd.add_output(fd.ops.scaled_mm(p, fd.ops.permute(q, [1, 0]), s, t, dtype=DataType.Float)[0])
    (got,) = fd.execute([a, b])
    wide = [v * np.repeat(s, BLOCK, 1) for v, s in (quantized(z.numpy()) for z in (a, b))]
    torch.testing.assert_close(
        got.double(), torch.from_numpy(wide[0] @ wide[1].T), rtol=1e-5, atol=1e-3
    )


def grouped_inputs(sizes: list[int], k: int, n: int) -> tuple[list[torch.Tensor], Numbers]:
    """The arguments of cutlass_nvfp4_grouped_mm, and the product."""
    m, g = sum(sizes), len(sizes)
    a, scales, wide = matrix(m, k, 3)
    second = [matrix(n, k, 10 + i) for i in range(g)]
    alpha = np.arange(1, g + 1) / 2
    result = np.zeros((m, n))
    for i, begin in enumerate(starts(sizes, 1)):
        rows = slice(begin, begin + sizes[i])
        result[rows] = wide[rows] @ second[i][2].T * alpha[i]
    return [
        a,
        torch.stack([b.view(torch.uint8) for b, _, _ in second]).view(X2).transpose(1, 2),
        as_scales(in_groups(scales, sizes)),
        torch.stack([as_scales(tiled(s)).view(torch.uint8) for _, s, _ in second]).view(E4M3_TYPE),
        torch.from_numpy(alpha).float(),
        torch.tensor([[size, n, k] for size in sizes], dtype=torch.int32),
        offsets(sizes, 1),
        offsets(sizes, 128),
    ], result


def grouped_mm(fd: FusionDefinition, *operands: Any) -> Any:
    return fd.ops.cutlass_nvfp4_grouped_mm(*operands, dtype=DataType.Float)


@pytest.mark.parametrize("sizes", GROUPS)
def test_grouped_products(sizes: list[int]) -> None:
    for k, n in ((16, 2), (80, 5), (64, 130)):
        inputs, expected = grouped_inputs(sizes, k, n)
        (got,) = run(grouped_mm, inputs)
        torch.testing.assert_close(got.double(), torch.from_numpy(expected), rtol=1e-5, atol=1e-3)
    (got,) = run(lambda fd, *t: fd.ops.cutlass_nvfp4_grouped_mm(*t), inputs)
    assert got.dtype == torch.bfloat16
    torch.testing.assert_close(got.double(), torch.from_numpy(expected), rtol=1e-2, atol=1e-2)


def test_rows_of_no_group_are_zero() -> None:
    inputs, expected = grouped_inputs([3, 4], 16, 2)
    inputs[5][:, 0] = torch.tensor([2, 4])
    expected[2] = 0
    (got,) = run(grouped_mm, inputs)
    torch.testing.assert_close(got.double(), torch.from_numpy(expected), rtol=1e-5, atol=1e-3)


def test_wrong_offsets_and_sizes() -> None:
    for position, wrong, text in (
        (
            6,
            [0, 9],
            r"groups follow each other within the rows: got \[0, 9\] for 7 rows and groups of",
        ),
        (6, [-1, 3], "groups follow each other"),
        (6, [4, 0], "groups follow each other"),
        (
            7,
            [0, 64],
            r"begin at a whole tile of 128 rows, after the last's: got \[0, 64\] for 261 row",
        ),
        (7, [0, 0], "begin at a whole tile of 128 rows"),
        (7, [0, 256], "begin at a whole tile of 128 rows"),
        (
            5,
            [[3, 2, 16], [4, 3, 16]],
            r"has the rows, n and k of each group: got \[4, 3, 16\] for n 2",
        ),
    ):
        inputs, _ = grouped_inputs([3, 4], 16, 2)
        inputs[position] = torch.tensor(wrong, dtype=torch.int32)
        with pytest.raises(IndexError, match=f"cutlass_nvfp4_grouped_mm: .*{text}"):
            run(grouped_mm, inputs)
    x = normal((7, 16))
    for first, second, text in (
        ([0, 8], [0, 128], "groups follow each other within the rows"),
        ([0, 3], [0, 100], "begin at a whole tile"),
    ):
        wrong = [torch.tensor(numbers, dtype=torch.int32) for numbers in (first, second)]
        with pytest.raises(IndexError, match=f"nv_grouped_block_quantize: .*{text}"):
            run(lambda fd, *t: fd.ops.nv_grouped_block_quantize(*t), [x, *wrong])


def test_numpy_rounds_scales_as_torch_does() -> None:
    """The tests' own arithmetic, where torch has it too."""
    numbers = torch.linspace(0, 448, 5000)
    expected = numbers.to(E4M3_TYPE).double().tolist()
    assert [rounded_scale(number) for number in numbers.tolist()] == expected
    assert torch.tensor(E4M3).to(E4M3_TYPE).view(torch.uint8).tolist() == list(range(127))
