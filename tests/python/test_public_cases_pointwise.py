"""Publicly reported failures of fusion runtimes, restated: pointwise operations, shapes and broadcasts, NaN and infinity."""

import math
from typing import Any

import torch
from public_cases import check_case, define, randn, strided

from meshfuse import DataType, FusionDefinition

HALF, BF16, F32 = torch.float16, torch.bfloat16, torch.float32


def test_s01_cat_with_an_operand_of_no_width() -> None:
    a = strided([1, 32, 2048, 128], [8388608, 262144, 128, 1], F32)
    b = torch.empty_strided([1, 32, 2048, 0], [8388608, 262144, 128, 1])

    def build(fd: Any, x: Any, y: Any) -> Any:
        both = fd.ops.cat([fd.ops.mul(x, 2.0), y], -1)
        return both, fd.ops.mul(both, 1.0)

    check_case(build, [a, b], lambda x, y: [2 * x, 2 * x])


def test_s03_reshape_of_a_product_of_broadcasts_to_a_trailing_one() -> None:
    a = strided([3, 4, 5], [0, 0, 1], HALF)
    b, c = strided([3, 4], [1, 0], HALF), strided([3, 4], [0, 1], HALF)

    def build(fd: Any, x: Any, y: Any, z: Any) -> Any:
        product = fd.ops.cast(fd.ops.mul(y, z), DataType.Half)
        column = fd.ops.reshape(product, [3, 4, 1])
        spread = fd.ops.broadcast_in_dim(column, [3, 4, 5], [0, 1, 2])
        return fd.ops.cast(fd.ops.mul(spread, x), DataType.Half)

    check_case(build, [a, b, c], lambda x, y, z: x * (y * z).unsqueeze(-1))


def test_s05_slices_of_a_constant_without_inputs() -> None:
    def build(fd: Any) -> Any:
        ones = fd.ops.full([5], 1.0, DataType.Float)
        parts = fd.ops.slice(ones, [0], [2]), fd.ops.slice(ones, [2], [5])
        return [fd.ops.cast(part, DataType.Half) for part in parts]

    check_case(build, [], lambda: [torch.ones(2, dtype=HALF), torch.ones(3, dtype=HALF)])


def rotated(fd: Any, x: Any, leading: list[int], width: int) -> list[Any]:
    """The second half of the last dimension negated, then the first; sine plus cosine of it; it with nothing at its end."""
    starts, half = [0] * len(leading), width // 2
    first = fd.ops.slice(x, [*starts, 0], [*leading, half])
    second = fd.ops.slice(x, [*starts, half], [*leading, width])
    nothing = fd.ops.slice(x, [*starts, 0], [*leading, 0])
    turned = fd.ops.cat([fd.ops.cast(fd.ops.neg(second), DataType.BFloat16), first], -1)
    waves = fd.ops.add(fd.ops.sin(turned), fd.ops.cos(turned))
    return [waves, fd.ops.cat([turned, nothing], -1)]


def rotated_eagerly(x: torch.Tensor) -> list[torch.Tensor]:
    half = x.shape[-1] // 2
    turned = torch.cat([-x[..., half:], x[..., :half]], -1)
    return [turned.float().sin() + turned.float().cos(), turned]


def test_s07_slice_of_no_width_then_cat() -> None:
    x = randn(1, 32, 2048, 128, dtype=BF16)
    check_case(lambda fd, a: rotated(fd, a, [1, 32, 2048], 128), [x], rotated_eagerly)


def test_s07_after_a_norm_and_a_linear() -> None:
    x, w = randn(1, 16, 4096, dtype=BF16), randn(6144, 4096, dtype=BF16, seed=1) / 64

    def build(fd: Any, a: Any, weight: Any) -> Any:
        mean = fd.ops.mul(fd.ops.sum(fd.ops.mul(a, a), [2], keepdim=True), 1 / 4096)
        normal = fd.ops.mul(a, fd.ops.rsqrt(fd.ops.add(mean, 1e-5)))
        y = fd.ops.linear(fd.ops.cast(normal, DataType.BFloat16), weight)
        heads = fd.ops.permute(fd.ops.reshape(y, [1, 16, 48, 128]), [0, 2, 1, 3])
        return rotated(fd, heads, [1, 48, 16], 128)

    def reference(a: torch.Tensor, weight: torch.Tensor) -> list[torch.Tensor]:
        f = a.float()
        normal = (f * torch.rsqrt((f * f).sum(2, keepdim=True) * (1 / 4096) + 1e-5)).to(BF16)
        y = torch.nn.functional.linear(normal, weight)
        return rotated_eagerly(y.reshape(1, 16, 48, 128).permute(0, 2, 1, 3))

    check_case(build, [x, w], reference)


def test_s09_cat_with_an_empty_vector_of_integers() -> None:
    a, e = torch.tensor([-3, 4]), torch.empty(0, dtype=torch.int64)

    def build(fd: Any, x: Any, empty: Any) -> Any:
        chosen = fd.ops.where(fd.ops.lt(x, 0), 5, 0)
        t = fd.ops.add(fd.ops.add(x, chosen), 0)
        u = fd.ops.cat([empty, t])
        inner = fd.ops.cat([empty, fd.ops.add(u, 0)])
        return fd.ops.add(u, 10), fd.ops.cat([inner, fd.ops.add(u, 5)])

    def reference(x: torch.Tensor, empty: torch.Tensor) -> list[torch.Tensor]:
        u = torch.cat([empty, x + torch.where(x < 0, 5, 0)])
        return [u + 10, torch.cat([torch.cat([empty, u]), u + 5])]

    check_case(build, [a, e], reference, exact=True)


def test_s11_slice_of_a_slice() -> None:
    def build(fd: Any, x: Any) -> Any:
        first = fd.ops.neg(fd.ops.slice(x, [0], [5]))
        return first, fd.ops.neg(fd.ops.slice(first, [0], [2]))

    check_case(build, [randn(10)], lambda x: [-x[:5], x[:2]], exact=True)


def test_s13_a_broadcast_takes_two_sizes() -> None:
    z, x, y = randn(1, 2, 3), randn(1, 4, 2, 3, seed=1), randn(1, 5, 2, 3, seed=2)

    def build(fd: Any, c: Any, a: Any, b: Any) -> Any:
        wide = fd.ops.broadcast(c, [False, True, False, False])
        return [
            fd.ops.add(fd.ops.expand(wide, [1, n, 2, 3]), other) for n, other in ((4, a), (5, b))
        ] + [fd.ops.add(wide, a), fd.ops.add(wide, b)]

    check_case(build, [z, x, y], lambda c, a, b: [c[:, None] + a, c[:, None] + b] * 2)


def test_s15_a_causal_mask_without_inputs() -> None:
    lowest = -3.38953e38

    def build(fd: Any) -> Any:
        row = fd.ops.broadcast_in_dim(fd.ops.iota(129), [1, 129], [1])
        column = fd.ops.broadcast_in_dim(fd.ops.iota(128), [128, 1], [0])
        value = fd.define_scalar(lowest, dtype=DataType.BFloat16)
        later = fd.ops.ge(fd.ops.sub(row, column), 1)
        masked = fd.ops.cast(fd.ops.where(later, value, 0.0), DataType.BFloat16)
        return fd.ops.gt(row, column), masked

    def reference() -> list[torch.Tensor]:
        later = torch.arange(129)[None] > torch.arange(128)[:, None]
        return [later, torch.where(later, torch.tensor(lowest), torch.tensor(0.0)).to(BF16)]

    check_case(build, [], reference, exact=True)
    assert reference()[1].isfinite().all()


def test_s17_cropped_to_one_then_stretched() -> None:
    def build(fd: Any, a: Any, b: Any) -> Any:
        return fd.ops.mul(fd.ops.pad(a, [0, -1]), b)

    check_case(build, [randn(2), randn(3, seed=1)], lambda a, b: a[:1] * b)


def test_s19_expanded_to_its_own_sizes_then_sliced_and_squeezed() -> None:
    def build(fd: Any, a: Any) -> Any:
        same = fd.ops.expand(fd.ops.expand(a, fd.ops.shape(a)), [9, 5])
        return fd.ops.squeeze(fd.ops.slice(same, [0, 2], [9, 3]), [1])

    check_case(build, [randn(9, 5)], lambda a: a[:, 2], exact=True)


def test_s21_views_of_an_operand_that_meets_broadcasts() -> None:
    def build(fd: Any, a: Any, b: Any) -> Any:
        e = fd.ops.exp(fd.ops.sub(a, a))
        p = fd.ops.mul(e, fd.ops.reciprocal(e))
        heads = fd.ops.permute(fd.ops.reshape(b, [1, 1, 16, 64]), [0, 2, 1, 3])
        view = fd.ops.squeeze(heads, [0])
        columns = fd.ops.permute(view, [0, 2, 1])
        spread = fd.ops.broadcast_in_dim(p, [16, 64, 1], [0, 1, 2])
        product = fd.ops.squeeze(fd.ops.mul(spread, columns), [2])
        back = fd.ops.permute(fd.ops.reshape(product, [1, 16, 1, 64]), [0, 2, 1, 3])
        return p, view, fd.ops.reshape(back, [1, 1, 1024])

    def reference(a: torch.Tensor, b: torch.Tensor) -> list[torch.Tensor]:
        return [torch.ones(16, 1, 1), b.reshape(16, 1, 64), b]

    check_case(build, [randn(16, 1, 1), randn(1, 1, 1024, seed=1)], reference)


def test_s23_broadcast_to_nothing() -> None:
    def build(fd: Any, a: Any, b: Any) -> Any:
        return fd.ops.expand(a, [0, 0]), fd.ops.expand(b, [0, 0])

    check_case(build, [randn(1, 0), randn(1, 1)], lambda a, b: [torch.empty(0, 0)] * 2)


def test_s25_rows_selected_by_a_column_then_reshaped() -> None:
    i = torch.tensor([3, 0, 2, 1])
    weight, bias = randn(32, 1440), randn(4, 1440, dtype=BF16, seed=1)

    def build(fd: Any, index: Any, w: Any, b: Any) -> Any:
        wrap = fd.ops.cast(fd.ops.where(fd.ops.lt(index, 0), 32, 0), DataType.Int32)
        column = fd.ops.broadcast_in_dim(fd.ops.add(index, wrap), [4, 1], [0])
        rows = fd.ops.index_select(w, column, 0)
        return fd.ops.reshape(fd.ops.add(fd.ops.cast(b, DataType.Float), rows), [4, 720, 2])

    check_case(build, [i, weight, bias], lambda n, w, b: (b.float() + w[n]).reshape(4, 720, 2))


def test_s25_the_least_of_it() -> None:
    def build(fd: Any, a: Any, b: Any) -> Any:
        column = fd.ops.broadcast_in_dim(b, [4, 1], [0])
        return fd.ops.reshape(fd.ops.add(a, column), [4, 2, 4])

    check_case(
        build, [randn(4, 8), randn(4, seed=1)], lambda a, b: (a + b[:, None]).reshape(4, 2, 4)
    )


def test_s27_special_functions_stacked_on_the_last_dimension() -> None:
    stored, y = randn(4, 8, 32), randn(4, 8, seed=1).abs() + 0.5
    u, v = randn(8, seed=2), randn(8, seed=3).abs()

    def build(fd: Any, table: Any, b: Any, c: Any, d: Any) -> Any:
        ops = fd.ops
        x = ops.select(table, fd.define_scalar(16), 2)
        softplus = ops.add(ops.log1p(ops.exp(ops.neg(ops.abs(x)))), ops.relu(x))
        xlogy = ops.where(ops.eq(d, 0.0), 0.0, ops.mul(d, ops.log(b)))
        results = [
            ops.mul(softplus, c),
            ops.add(ops.lgamma(b), ops.erf(ops.mul(x, c))),
            ops.add(xlogy, x),
        ]
        return ops.cat([ops.reshape(r, [4, 8, 1]) for r in results], -1)

    def reference(table: Any, b: Any, c: Any, d: Any) -> torch.Tensor:
        x = table[..., 16]
        return torch.stack(
            [
                torch.nn.functional.softplus(x) * c,
                torch.lgamma(b) + torch.erf(x * c),
                torch.xlogy(d, b) + x,
            ],
            -1,
        )

    check_case(build, [stored, y, u, v], reference)


def test_n01_clamp_lets_infinity_pass() -> None:
    x = torch.tensor([1.0, math.inf, 2.0, math.inf])

    def build(fd: Any, a: Any) -> Any:
        return fd.ops.mul(fd.ops.clamp(a, 1.0, None), 0.1)

    check_case(build, [x], lambda a: a.clamp(min=1) * 0.1)
    assert define(build, [x], True).execute([x])[0].isinf().tolist() == [False, True] * 2


def test_n03_nothing_is_at_least_nan() -> None:
    x = randn(2, 5)
    for build, inputs in (
        (lambda fd, a: fd.ops.ge(a, math.nan), [x]),
        (lambda fd, a, s: fd.ops.ge(a, s), [x, math.nan]),
    ):
        check_case(build, inputs, lambda a, *_: torch.zeros(2, 5, dtype=torch.bool))
    with FusionDefinition() as fd:
        value = fd.ops.ge(fd.define_scalar(1.0), math.nan)
        fd.add_output(fd.ops.full([1], value, DataType.Bool))
    assert not fd.execute([])[0].any()
