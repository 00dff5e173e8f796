"""nv_block_quantize: against the formula of the MX formats, block by block in exact numbers, and what it refuses."""

import math
from fractions import Fraction

import pytest
import torch
from op_comparison import LAYOUTS, run

from meshfuse import DataType, FusionDefinition

BLOCK = 32
QUANTIZED = {"block_size": BLOCK, "dtype": DataType.Float8_e4m3fn}


def exponent_of(largest: float) -> int:
    """Of the least power of two that is not below largest / 448, as far as Float8_e8m0fnu goes."""
    if math.isinf(largest):
        return 127
    exponent = -127
    while exponent < 127 and Fraction(2) ** exponent < Fraction(largest) / 448:
        exponent += 1
    return exponent


def check_quantized(x: torch.Tensor, got: list[torch.Tensor]) -> None:
    values, scales = got
    assert (values.dtype, scales.dtype) == (torch.float8_e4m3fn, torch.float8_e8m0fnu)
    assert values.shape == x.shape
    assert scales.shape == (*x.shape[:-1], x.shape[-1] // BLOCK)
    blocks = x.double().reshape(-1, BLOCK)
    exponents = [exponent_of(block.abs().max().item()) for block in blocks]
    assert scales.flatten().float().tolist() == [2.0**e for e in exponents]
    powers = torch.tensor([2.0**e for e in exponents], dtype=torch.float64)
    # Division by a power of two is exact in double; torch rounds to the nearest 8-bit number.
    divided = (blocks / powers[:, None]).clamp(-448, 448).float()
    expected = divided.to(torch.float8_e4m3fn).float()
    torch.testing.assert_close(values.float().reshape(-1, BLOCK), expected, rtol=0, atol=0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_blocks(dtype: torch.dtype) -> None:
    generator = torch.Generator().manual_seed(1)
    for shape in ((4, 64), (1, 32), (7, 96), (0, 64), (3, 0)):
        for layout in LAYOUTS.values():
            wide = torch.randn(shape, generator=generator) * 2.0 ** torch.randint(
                -12, 13, shape, generator=generator
            )
            x = layout(wide.to(dtype))
            check_quantized(x, run(lambda fd, a: fd.ops.nv_block_quantize(a, **QUANTIZED), [x]))
    for shape in ((64,), (2, 3, 32)):
        x = torch.randn(shape, generator=generator).to(dtype)
        check_quantized(x, run(lambda fd, a: fd.ops.nv_block_quantize(a, **QUANTIZED), [x]))


def test_the_ends_of_the_range() -> None:
    rows = [
        [0.0] * BLOCK,
        [448.0, *[1.0] * 31],
        [math.nextafter(448.0, 512.0), *[-3.0] * 31],
        [449.0, -449.0, *[0.1] * 30],
        [3e38, -1e38, *[1e30] * 30],
        [1e-45, *[0.0] * 31],
        [2.0**-118, *[2.0**-126] * 31],
        [-896.0, *[-0.0] * 31],
        [math.inf, -math.inf, *[1.0] * 30],
    ]
    x = torch.tensor(rows)
    check_quantized(x, run(lambda fd, a: fd.ops.nv_block_quantize(a, **QUANTIZED), [x]))
    x[0, 3] = math.nan
    values, scales = run(lambda fd, a: fd.ops.nv_block_quantize(a, **QUANTIZED), [x])
    assert scales[0].isnan().all()
    assert values[0, 3].isnan()
    assert not scales[1:].isnan().any()


def test_scales_multiply_back() -> None:
    a, b = (torch.randn(n, 64, generator=torch.Generator().manual_seed(n)) for n in (6, 4))
    with FusionDefinition() as fd:
        x, y = fd.define_tensor([-1, -1]), fd.define_tensor([-1, -1])
        (p, s), (q, t) = (fd.ops.nv_block_quantize(z, **QUANTIZED) for z in (x, y))
        q, t = (fd.ops.permute(z, [1, 0]) for z in (q, t))
        fd.add_output(fd.ops.scaled_mm(p, q, s, t, dtype=DataType.Float)[0])
    (got,) = fd.execute([a, b])
    # Three bits of fraction: each factor is off by 1/16 at most.
    bound = a.abs() @ b.abs().T * (1 - (15 / 16) ** 2)
    assert ((got - a @ b.T).abs() <= bound).all()


def test_symbolic_sizes() -> None:
    with FusionDefinition() as fd:
        for result in fd.ops.nv_block_quantize(fd.define_tensor([-1, -1]), **QUANTIZED):
            fd.add_output(result)
    for shape in ((3, 64), (1, 32), (2, 0), (5, 96)):
        x = torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))
        check_quantized(x, fd.execute([x]))
    text = "nv_block_quantize: the last dimension consists of blocks of 32 elements: got size 40"
    with pytest.raises(RuntimeError, match=text):
        fd.execute([torch.ones(2, 40)])


def test_refusals() -> None:
    with FusionDefinition() as fd:
        x, one = fd.define_tensor([4, 64]), fd.define_tensor([])
        wide = fd.define_tensor([4, 64], dtype=DataType.Double)
        for arguments, options, text in (
            (
                (x,),
                {"dtype": DataType.Half},
                r"quantized to Float4_e2m1fn or .*: got dtype DataType\.Half",
            ),
            (
                (x,),
                {**QUANTIZED, "block_size": 16},
                "a block of Float8_e4m3fn has 32 elements: got block_size 16",
            ),
            ((x, one), QUANTIZED, "stand alone, in the order of the blocks: got global_scale"),
            ((x, None, True), QUANTIZED, "stand alone, in the order of the blocks: got global_"),
            ((one,), QUANTIZED, "the input is of Float, Half or BFloat16 and has dimensions"),
            ((wide,), QUANTIZED, "the input is of Float, Half or BFloat16 and has dimensions: got"),
            (
                (fd.define_tensor([64, 4]),),
                QUANTIZED,
                "consists of blocks of 32 elements: got size 4",
            ),
        ):
            with pytest.raises(RuntimeError, match=f"nv_block_quantize: .*{text}"):
                fd.ops.nv_block_quantize(*arguments, **options)
        with pytest.raises(TypeError, match=r"nv_block_quantize\(\): incompatible function arg"):
            fd.ops.nv_block_quantize(x, 1.0)
