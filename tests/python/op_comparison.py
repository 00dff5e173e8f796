"""What comparisons of ops with torch share: element types, layouts, sizes, inputs, and running one call."""

import math
from collections.abc import Callable

import torch

from meshfuse import FusionDefinition

REAL = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
WHOLE = [torch.int64, torch.int32]
COMPLEX = [torch.complex64, torch.complex128]
HALVES = (torch.float16, torch.bfloat16)
BOOL = [torch.bool]
ALL = REAL + WHOLE + COMPLEX + BOOL

LAYOUTS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "contiguous": lambda t: t,
    "transposed": lambda t: t.t().contiguous().t(),
    "strided": lambda t: torch.stack([t, t], -1)[..., 0],
    "offset": lambda t: torch.cat([t.flatten().new_zeros(3), t.flatten()])[3:].view(t.shape),
    "expanded": lambda t: t[:1].expand(t.shape),
}
SIZES = [(4, 6), (1, 5), (3, 1), (0, 4), (7, 3)]


def is_whole(dtype: torch.dtype) -> bool:
    return not dtype.is_floating_point and not dtype.is_complex


def widened(x: torch.Tensor) -> torch.Tensor:
    """Arithmetic on halves is done in float."""
    return x.float() if x.dtype in HALVES else x


def make(
    shape: tuple[int, ...], dtype: torch.dtype, low: int = -9, high: int = 9, seed: int = 0
) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed + math.prod(shape))
    whole = torch.randint(low, high, shape, generator=generator)
    if dtype == torch.bool:
        return whole > 0
    scale = 1 if is_whole(dtype) else 0.25
    x = (whole * scale).to(dtype)
    return x + 0.5j * x.flip(-1) if dtype.is_complex else x


def run(build: Callable[..., object], inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    with FusionDefinition() as fd:
        results = build(fd, *[fd.from_pytorch(t) for t in inputs])
        for result in results if isinstance(results, (tuple, list)) else (results,):
            fd.add_output(result)
    return fd.execute(inputs)


def scanned(name: str, x: torch.Tensor, dim: int) -> torch.Tensor:
    """torch's scan in the operand's own dtype, without indices."""
    if name in ("cummax", "cummin"):
        return getattr(torch, name)(x, dim).values
    if x.dtype == torch.bool:
        return getattr(torch, name)(x.long(), dim).bool()
    return getattr(torch, name)(x, dim, dtype=x.dtype)


def check(got: torch.Tensor, expected: torch.Tensor) -> None:
    torch.testing.assert_close(got, expected, equal_nan=True)
