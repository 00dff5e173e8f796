"""Packed 4-bit floats and their block scales written with numpy alone, which tests compare with."""

import numpy as np
import torch
from numpy.typing import NDArray

X2 = torch.float4_e2m1fn_x2
MAGNITUDES = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]
NUMBERS = np.array(MAGNITUDES + [-m for m in MAGNITUDES])
LARGEST = float(np.finfo(np.float32).max)
BLOCK = 16

Numbers = NDArray[np.float64]


def pairs(shape: tuple[int, ...], seed: int = 0) -> torch.Tensor:
    """Random bytes of two 4-bit floats each."""
    generator = torch.Generator().manual_seed(seed + sum(shape))
    return torch.randint(0, 256, shape, generator=generator).to(torch.uint8).view(X2)


def bytes_of(tensor: torch.Tensor) -> torch.Tensor:
    assert tensor.dtype == X2
    return tensor.view(torch.uint8)


def numbers_of(tensor: torch.Tensor, dim: int = -1) -> Numbers:
    """The numbers, two for a byte along `dim`, the one of the lower four bits first."""
    codes = np.moveaxis(bytes_of(tensor).numpy(), dim, -1)
    both = np.stack([NUMBERS[codes & 15], NUMBERS[codes >> 4]], -1)
    return np.moveaxis(both.reshape(*codes.shape[:-1], 2 * codes.shape[-1]), -1, dim)


def nearest(number: float, candidates: list[float]) -> int:
    """Of ascending candidates, ties to the one at an even place."""
    gaps = [abs(number - candidate) for candidate in candidates]
    best = min(gaps)
    places = [place for place, gap in enumerate(gaps) if gap == best]
    return next((place for place in places if place % 2 == 0), places[0])


def rounded(number: float) -> float:
    """To 4 bits."""
    if np.isnan(number):
        return 6.0
    magnitude = MAGNITUDES[nearest(min(abs(number), 6.0), MAGNITUDES)]
    return float(np.copysign(magnitude, number))


# 4 bits of exponent with bias 7, 3 of fraction; the last pattern is NaN.
E4M3 = [
    (code & 7) * 2.0**-9 if code < 8 else (1 + (code & 7) / 8) * 2.0 ** ((code >> 3) - 7)
    for code in range(127)
]


def rounded_scale(number: float) -> float:
    """A number from 0 on, to Float8_e4m3fn; the largest for what is beyond."""
    return E4M3[nearest(min(number, E4M3[-1]), E4M3)]


def quantized(x: NDArray[np.float32], global_scale: float | None = None) -> tuple[Numbers, Numbers]:
    """[..., k] in 4 bits and the scales [..., k / 16]: in numbers of 32 bits, operation by operation."""
    one = np.float32
    blocks = x.reshape(-1, BLOCK).astype(one)
    values, scales = [], []
    with np.errstate(all="ignore"):
        for block in blocks:
            wanted = np.abs(block).max() / one(6)
            if global_scale is not None:
                wanted = wanted * one(global_scale)
            scale = rounded_scale(float(min(wanted, one(LARGEST))))
            divisor = one(scale) if global_scale is None else one(scale) / one(global_scale)
            factor = min(one(1) / divisor, one(LARGEST))
            values.append([rounded(float(number * factor)) for number in block])
            scales.append(scale)
    return (
        np.array(values, np.float64).reshape(x.shape),
        np.array(scales, np.float64).reshape(*x.shape[:-1], x.shape[-1] // BLOCK),
    )


def up(size: int, multiple: int) -> int:
    return -(-size // multiple) * multiple


def tiled(scales: Numbers) -> Numbers:
    """Scales of rows by blocks in tiles of 128 by 4, element by element."""
    rows, columns = up(scales.shape[0], 128), up(scales.shape[1], 4)
    flat = np.zeros(rows * columns)
    for row in range(scales.shape[0]):
        for column in range(scales.shape[1]):
            tile = (row // 128) * (columns // 4) + column // 4
            place = (row % 32) * 16 + (row % 128) // 32 * 4 + column % 4
            flat[tile * 512 + place] = scales[row, column]
    return flat.reshape(rows, columns)


def packed(numbers: Numbers) -> torch.Tensor:
    """Along the last dimension."""
    codes = np.zeros(numbers.shape, np.uint8)
    for place in np.ndindex(*numbers.shape):
        sign = 8 if np.signbit(numbers[place]) else 0
        codes[place] = MAGNITUDES.index(abs(float(numbers[place]))) + sign
    return torch.from_numpy(codes[..., 0::2] | codes[..., 1::2] << 4).view(X2)
