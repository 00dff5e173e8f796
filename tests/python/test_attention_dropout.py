"""Dropout in sdpfa_fwd and sdpfa_bwd: which weights are dropped, what the others become, and the gradients."""

import math

import pytest
import torch

from meshfuse import DataType, FusionDefinition

SHAPE = (2, 3, 40, 24, 8)  # batch, heads, rows of the query, rows of the key, their size
TOLERANCES = {torch.float64: 1e-10, torch.float32: 1e-5, torch.float16: 2e-2, torch.bfloat16: 1e-1}


def operands(dtype: torch.dtype) -> list[torch.Tensor]:
    n, h, rows, key_rows, size = SHAPE
    generator = torch.Generator().manual_seed(7)
    sizes = [(n, h, rows, size), (n, h, key_rows, size), (n, h, key_rows, size)]
    return [torch.randn(s, generator=generator, dtype=torch.float64).to(dtype) for s in sizes]


def define(probability: float | None, causal: bool = False) -> FusionDefinition:
    """Inputs query, key, value, grad and, without a probability, one; outputs of both passes."""
    with FusionDefinition() as fd:
        q, k, v, grad = (fd.define_tensor([-1] * 4, dtype=DataType.Double) for _ in range(4))
        p = fd.define_scalar(DataType.Double) if probability is None else probability
        forward = fd.ops.sdpfa_fwd(q, k, v, dropout_p=p, is_causal=causal)
        output, logsumexp, seed, offset = forward
        backward = fd.ops.sdpfa_bwd(grad, q, k, v, output, logsumexp, p, causal, seed, offset, None)
        for result in (*forward, *backward):
            fd.add_output(result)
    return fd


def kept(fd: FusionDefinition, q: torch.Tensor, k: torch.Tensor, *rest: float) -> torch.Tensor:
    """Which weights stay: those that reach the output when the value is the identity."""
    eye = torch.eye(k.shape[2], dtype=q.dtype).expand(*k.shape[:3], k.shape[2]).contiguous()
    grad = torch.zeros(*q.shape[:3], k.shape[2], dtype=q.dtype)
    torch.manual_seed(5)
    return fd.execute([q, k, eye, grad, *rest])[0] != 0


def attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor, p: float, causal: bool
) -> torch.Tensor:
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if causal:
        scores = scores.masked_fill(
            ~torch.ones(scores.shape[-2:], dtype=torch.bool).tril(), -math.inf
        )
    return (scores.softmax(-1) * mask / (1 - p)) @ v


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("causal", [False, True])
def test_both_passes_drop_the_same_weights(p: float, causal: bool) -> None:
    q, k, v = operands(torch.float64)
    grad = torch.randn(q.shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    fd = define(p, causal)
    mask = kept(fd, q, k)
    if not causal:
        share = mask.double().mean().item()
        assert abs(share - (1 - p)) < 5 * math.sqrt(p * (1 - p) / mask.numel())
    torch.manual_seed(5)
    got = fd.execute([q, k, v, grad])
    leaves = [t.clone().requires_grad_() for t in (q, k, v)]
    expected = attention(*leaves, mask, p, causal)
    torch.testing.assert_close(got[0], expected.detach(), rtol=1e-10, atol=1e-10)
    for mine, theirs in zip(got[4:], torch.autograd.grad(expected, leaves, grad), strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-9, atol=1e-10)


def test_the_probability_may_be_known_at_run_time() -> None:
    q, k, v = operands(torch.float64)
    grad = torch.ones_like(q)
    fd, constant = define(None), define(0.25)
    for p in (0.25, 0.0, 1.0):
        torch.manual_seed(9)
        got = fd.execute([q, k, v, grad, p])
        if p == 0.25:
            torch.manual_seed(9)
            for mine, theirs in zip(got, constant.execute([q, k, v, grad]), strict=True):
                assert torch.equal(mine, theirs)
        elif p == 0.0:
            expected = torch.nn.functional.scaled_dot_product_attention(q, k, v)
            torch.testing.assert_close(got[0], expected, rtol=1e-10, atol=1e-10)
        else:
            assert all((result == 0).all() for result in (got[0], *got[4:]))
    with pytest.raises(RuntimeError, match=r"sdpfa_fwd: dropout_p is between 0 and 1: got 1\.5"):
        fd.execute([q, k, v, grad, 1.5])


@pytest.mark.parametrize("dtype", TOLERANCES)
def test_dtypes(dtype: torch.dtype) -> None:
    q, k, v = operands(dtype)
    wide = define(0.5)
    mask = kept(wide, q.double(), k.double())
    with FusionDefinition() as fd:
        given = [fd.from_pytorch(t) for t in (q, k, v)]
        output, logsumexp, seed, offset = fd.ops.sdpfa_fwd(*given, dropout_p=0.5)
        for result in (output, logsumexp, seed, offset):
            fd.add_output(result)
    torch.manual_seed(5)
    output, logsumexp, seed, offset = fd.execute([q, k, v])
    expected = attention(q.double(), k.double(), v.double(), mask, 0.5, causal=False)
    assert output.dtype == dtype
    torch.testing.assert_close(
        output.double(), expected, rtol=TOLERANCES[dtype], atol=TOLERANCES[dtype]
    )
    assert (seed.dtype, seed.shape) == (torch.uint64, (2,))
    assert (offset.dtype, offset.shape) == (torch.uint64, ())


def test_seeds_come_from_the_generator_and_only_with_dropout() -> None:
    q, k, v = operands(torch.float64)
    grad = torch.zeros_like(q)
    fd, plain = define(0.5), define(0.0)
    torch.manual_seed(3)
    first, second = (fd.execute([q, k, v, grad]) for _ in range(2))
    assert first[2].tolist() != second[2].tolist()
    assert not torch.equal(first[0], second[0])
    torch.manual_seed(3)
    plain.execute([q, k, v, grad])
    again = fd.execute([q, k, v, grad])
    assert again[2].tolist() == first[2].tolist()
    assert torch.equal(again[0], first[0])


def test_the_backward_pass_alone_takes_what_the_forward_pass_gave() -> None:
    q, k, v = operands(torch.float64)
    grad = torch.randn(q.shape, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    both = define(0.5).execute([q, k, v, grad])
    with FusionDefinition() as fd:
        args = [fd.define_tensor([-1] * 4, dtype=DataType.Double) for _ in range(5)]
        logsumexp = fd.define_tensor([-1] * 3, dtype=DataType.Double)
        seed = fd.define_tensor([2], dtype=DataType.UInt64)
        offset = fd.define_tensor([], dtype=DataType.UInt64)
        for result in fd.ops.sdpfa_bwd(*args, logsumexp, 0.5, False, seed, offset, None):
            fd.add_output(result)
    got = fd.execute([grad, q, k, v, both[0], both[1], both[2], both[3]])
    for mine, theirs in zip(got, both[4:], strict=True):
        assert torch.equal(mine, theirs)
