"""What a product of many numbers may come out as: its factors pass through numbers that are too large or too small in one order of
them, and not in another."""

from __future__ import annotations

import ast
import math
import re

import torch


def dims_of(template: str) -> list[int]:
    """The dimensions that a call reduces."""
    found = re.search(r"dims=(\[[^]]*\])", template)
    assert found is not None, template
    return list(ast.literal_eval(found[1]))


def along(x: torch.Tensor, dims: list[int], shape: torch.Size) -> torch.Tensor:
    """The reduced elements of each result side by side, in the last dimension."""
    kept = [dim for dim in range(x.dim()) if dim not in dims]
    count = math.prod(x.shape[dim] for dim in dims)
    return x.permute(*kept, *dims).reshape(*shape, count)


def product_in_some_order(
    operand: torch.Tensor, dims: list[int], result: torch.Tensor, generator: torch.Generator
) -> torch.Tensor:
    """The result (in float64 or complex128) as it might be for another order of factors: where part of them overflow, it may be an
    infinity, where part of them vanish, zero, in both cases a number that has lost its bits, and NaN where the two can meet."""
    factors = along(operand, dims, result.shape)
    # Halves are multiplied as floats.
    info = torch.finfo(torch.promote_types(operand.dtype, torch.float32))
    sizes = factors.to(torch.complex128 if operand.dtype.is_complex else torch.float64).abs()
    is_zero, is_infinite = sizes == 0, torch.isinf(sizes)
    logs = torch.where(is_zero | ~torch.isfinite(sizes), 1.0, sizes).log2()
    overflows = logs.clamp(min=0).sum(-1) > math.log2(info.max) - 0.01
    vanishes = logs.clamp(max=0).sum(-1) < math.log2(info.smallest_normal) + 0.01
    has_zero, has_infinite = is_zero.any(-1), is_infinite.any(-1)
    is_certain = sizes.isnan().any(-1) | (has_zero & has_infinite)
    # Without regard to order; of complex numbers the parts lie anywhere within that size.
    product = logs.sum(-1).exp2() * 2 * torch.rand(result.shape, generator=generator)
    if operand.dtype.is_complex:
        product = torch.complex(product, product) * torch.randint(
            -1, 2, result.shape, generator=generator
        )
        infinity = torch.full_like(result, complex(math.inf, math.nan))
    else:
        sign = torch.where((factors < 0).sum(-1) % 2 == 1, -1.0, 1.0)
        product, infinity = product * sign, (sign * math.inf).to(result.dtype)
    pick = torch.randint(0, 5, result.shape, generator=generator)
    has_nothing = ~has_zero & ~has_infinite
    other = torch.where((pick == 1) & (overflows | vanishes) & has_nothing, product, result)
    other = torch.where((pick == 2) & (has_zero | vanishes) & ~has_infinite, 0, other)
    other = torch.where((pick == 3) & (has_infinite | overflows) & ~has_zero, infinity, other)
    can_meet = (has_zero | vanishes) & (has_infinite | overflows)
    other = torch.where((pick == 4) & can_meet, math.nan, other)
    return torch.where(is_certain, result, other)
