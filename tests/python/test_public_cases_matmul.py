"""Publicly reported failures of fusion runtimes, restated: products and attention."""

import math
from typing import Any

import torch
from public_cases import check_case, define, randn, strided

from meshfuse import DataType

BF16, F32 = torch.bfloat16, torch.float32


def outer_products(a_shape: list[int], b_shape: list[int]) -> None:
    rows = a_shape[1]
    a = strided(a_shape, [rows, 1, rows], F32)
    b = strided(b_shape, [b_shape[2], b_shape[2], 1], F32)

    def build(fd: Any, x: Any, y: Any) -> Any:
        return fd.ops.sum(y, [0, 1]), fd.ops.sum(fd.ops.matmul(x, y), [0])

    check_case(build, [a, b], lambda x, y: [y.sum((0, 1)), (x @ y).sum(0)])


def test_m01_a_contracted_dimension_of_one() -> None:
    outer_products([2, 32, 1], [2, 1, 16])


def test_m01_near_the_reported_sizes() -> None:
    outer_products([33, 256, 1], [33, 1, 1024])


def test_m03_a_square_weight_is_used_transposed() -> None:
    check_case(
        lambda fd, x, w, b: fd.ops.linear(x, w, b),
        [randn(5, 5), randn(5, 5, seed=1), randn(5, seed=2)],
        torch.nn.functional.linear,
    )


def test_m05_a_scaled_reshape_in_a_product() -> None:
    def build(fd: Any, a: Any) -> Any:
        blocks = fd.ops.reshape(a, [512, 9, 16])
        largest = fd.ops.max(blocks, [2])
        spread = fd.ops.broadcast_in_dim(largest, [512, 9, 16], [0, 1])
        scaled = fd.ops.reshape(fd.ops.div(blocks, spread), [512, 144])
        return fd.ops.matmul(fd.ops.permute(scaled, [1, 0]), largest)

    def reference(a: torch.Tensor) -> torch.Tensor:
        blocks = a.reshape(512, 9, 16)
        largest = blocks.amax(2)
        return (blocks / largest[..., None]).reshape(512, 144).t() @ largest

    check_case(build, [randn(512, 144).abs() + 0.1], reference)


def test_m07_a_declared_one_meets_a_size_that_turns_out_to_be_one() -> None:
    a, b = randn(4, 1), randn(1, 8, seed=1)
    check_case(lambda fd, x, y: fd.ops.matmul(x, y), [a, b], torch.matmul)
    fd = define(lambda fd, x: fd.ops.matmul(x, fd.define_tensor([-1, 8])), [a], False)
    for _ in range(2):
        torch.testing.assert_close(fd.execute([a, b])[0], a @ b)


def test_m09_what_beta_drops_is_not_read() -> None:
    """The language has no addmm; its beta is a choice and a product."""
    x = torch.full((1, 4), math.nan)

    def build(fd: Any, bias: Any, a: Any, b: Any, beta: Any, alpha: Any) -> Any:
        scaled = fd.ops.where(fd.ops.eq(beta, 0.0), 0.0, fd.ops.mul(bias, beta))
        return fd.ops.add(scaled, fd.ops.mul(fd.ops.matmul(a, b), alpha))

    def eager(bias: Any, a: Any, b: Any, beta: float, alpha: float) -> torch.Tensor:
        if a.dim() == 3:
            return torch.baddbmm(bias, a, b, beta=beta, alpha=alpha).double()
        return torch.addmm(bias, a, b, beta=beta, alpha=alpha).double()

    a, b = randn(1, 4), randn(4, 4, seed=1)
    batches = [torch.full((3, 2, 2), math.nan), randn(3, 2, 2), randn(3, 2, 2, seed=1)]
    for inputs in ([x, a, b], batches):
        for beta, alpha in ((0.0, 1.0), (0.0, 0.0), (1.0, 2.0)):
            values = [*inputs, beta, alpha]

            def reference(*values: Any) -> torch.Tensor:
                return eager(*values).float()

            check_case(as_float(build), values, reference)
    finite = eager(x, a, b, 0.0, 1.0)
    assert finite.isfinite().all()


def as_float(build: Any) -> Any:
    return lambda fd, *handles: fd.ops.cast(build(fd, *handles), DataType.Float)


def test_m11_attention_with_one_head_of_keys_and_an_odd_length() -> None:
    q = randn(1, 8, 33, 512, dtype=BF16)
    k, v = (strided([1, 8, 33, 512], [16896, 0, 512, 1], BF16) for _ in range(2))
    mask = randn(1, 1, 33, 33, seed=4) > 0
    mask[..., 0] = True

    def build(fd: Any, a: Any, b: Any, c: Any, m: Any) -> Any:
        return fd.ops.sdpfa_fwd(a, b, c, mask=m)[0]

    def reference(a: Any, b: Any, c: Any, m: Any) -> torch.Tensor:
        a, b, c = a.float(), b.float(), c.float()
        weights = (a @ b.transpose(-1, -2) / math.sqrt(512)).masked_fill(~m, -math.inf)
        return (weights.softmax(-1) @ c).to(BF16)

    check_case(build, [q, k, v, mask], reference)
