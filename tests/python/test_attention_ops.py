"""sdpfa_fwd and sdpfa_bwd: against torch's attention, its gradients and the definition; and what they refuse."""

import math

import pytest
import torch
from test_ops_against_torch import REAL, run
from torch.nn.functional import scaled_dot_product_attention

from meshfuse import DataType, FusionDefinition

# Batch, heads, rows of the query, rows of the key, size of the query's and of the value's rows.
SHAPES = [
    (2, 3, 5, 7, 8, 8),
    (1, 2, 4, 4, 16, 16),
    (2, 1, 9, 3, 5, 5),
    (2, 2, 3, 4, 8, 6),
    (1, 1, 1, 1, 1, 1),
]
TOLERANCES = {
    torch.float64: 1e-10,
    torch.float32: 1e-5,
    torch.float16: 1e-2,
    torch.bfloat16: 5e-2,
}


@pytest.fixture
def fd():
    with FusionDefinition() as definition:
        yield definition


def operands(shape: tuple[int, ...], dtype: torch.dtype) -> list[torch.Tensor]:
    n, h, rows, key_rows, size, value_size = shape
    generator = torch.Generator().manual_seed(sum(shape))
    sizes = [(n, h, rows, size), (n, h, key_rows, size), (n, h, key_rows, value_size)]
    return [torch.randn(s, generator=generator, dtype=torch.float64).to(dtype) for s in sizes]


def near(got: torch.Tensor, expected: torch.Tensor, dtype: torch.dtype) -> None:
    tolerance = TOLERANCES[dtype]
    torch.testing.assert_close(
        got.double(), expected.double(), rtol=tolerance, atol=tolerance, equal_nan=True
    )


def scores(
    q: torch.Tensor, k: torch.Tensor, scale: float | None = None, causal: bool = False
) -> torch.Tensor:
    """In double precision, from the definition."""
    s = q.double() @ k.double().mT * (1 / math.sqrt(q.shape[-1]) if scale is None else scale)
    allowed = torch.ones(s.shape[-2:], dtype=torch.bool).tril()
    return s.masked_fill(~allowed, -math.inf) if causal else s


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("scale", [None, 0.3])
def test_forward(dtype: torch.dtype, causal: bool, scale: float | None) -> None:
    for shape in SHAPES:
        q, k, v = operands(shape, dtype)
        got = run(
            lambda fd, *args: fd.ops.sdpfa_fwd(*args, dropout_p=0.0, is_causal=causal, scale=scale),
            [q, k, v],
        )
        expected = scaled_dot_product_attention(
            q.double(), k.double(), v.double(), is_causal=causal, scale=scale
        )
        near(got[0], expected, dtype)
        assert got[0].dtype == dtype
        assert got[0].is_contiguous()
        wide = torch.float64 if dtype == torch.float64 else torch.float32
        assert got[1].dtype == wide
        assert got[1].is_contiguous()
        near(got[1], scores(q, k, scale, causal).logsumexp(-1), dtype)
        assert got[2].tolist() == [0, 0]
        assert got[2].dtype == torch.uint64
        assert got[3].item() == 0
        assert got[3].dtype == torch.uint64
        assert got[3].shape == ()


def test_options_are_numbers_scalars_or_none() -> None:
    q, k, v = operands(SHAPES[0], torch.float32)
    expected = scaled_dot_product_attention(q, k, v, is_causal=True, scale=0.5)
    with FusionDefinition() as fd:
        args = [fd.from_pytorch(t) for t in (q, k, v)]
        causal, scale = fd.define_scalar(DataType.Bool), fd.define_scalar(DataType.Double)
        for result in (
            fd.ops.sdpfa_fwd(*args, None, None, 0.0, True, 0.5),
            fd.ops.sdpfa_fwd(*args, None, None, None, 1, 0.5),
            fd.ops.sdpfa_fwd(*args, is_causal=causal, scale=scale),
        ):
            fd.add_output(result[0])
    for got in fd.execute([q, k, v, True, 0.5]):
        near(got, expected, torch.float32)
    near(
        fd.execute([q, k, v, False, 0.25])[2],
        scaled_dot_product_attention(q, k, v, scale=0.25),
        torch.float32,
    )


@pytest.mark.parametrize("dtype", REAL)
def test_bias_and_mask(dtype: torch.dtype) -> None:
    q, k, v = operands((2, 3, 5, 7, 8, 8), dtype)
    generator = torch.Generator().manual_seed(1)
    for size in ((2, 3, 5, 7), (1, 3, 5, 7), (5, 7), (1, 7), (2, 1, 5, 1)):
        bias = torch.randn(size, generator=generator).to(dtype)
        (got, *_) = run(lambda fd, *args: fd.ops.sdpfa_fwd(*args), [q, k, v, bias])
        near(
            got,
            scaled_dot_product_attention(
                q.double(), k.double(), v.double(), attn_mask=bias.double()
            ),
            dtype,
        )
        mask = torch.rand(size, generator=generator) < 0.7
        got, logsumexp, *_ = run(
            lambda fd, a, b, c, m: fd.ops.sdpfa_fwd(a, b, c, mask=m), [q, k, v, mask]
        )
        weights = scores(q, k).masked_fill(~mask, -math.inf)
        expected = weights.softmax(-1).nan_to_num(0.0) @ v.double()
        near(got, expected, dtype)
        near(logsumexp, weights.logsumexp(-1), dtype)


def test_a_row_that_attends_nowhere_gives_zero() -> None:
    q, k, v = operands((2, 3, 4, 5, 8, 8), torch.float32)
    mask = torch.ones(4, 5, dtype=torch.bool)
    mask[1] = False
    output, logsumexp, *_ = run(
        lambda fd, a, b, c, m: fd.ops.sdpfa_fwd(a, b, c, mask=m), [q, k, v, mask]
    )
    assert (output[:, :, 1] == 0).all()
    assert (logsumexp[:, :, 1] == -math.inf).all()
    near(output, scaled_dot_product_attention(q, k, v, attn_mask=mask), torch.float32)


def test_bias_mask_and_causality_combine() -> None:
    q, k, v = operands((1, 2, 4, 4, 8, 8), torch.float64)
    bias = torch.arange(16.0, dtype=torch.float64).reshape(4, 4) / 8
    mask = torch.tensor([True, False, True, True]).expand(4, 4).contiguous()
    (got, *_) = run(
        lambda fd, a, b, c, x, m: fd.ops.sdpfa_fwd(a, b, c, x, m, is_causal=True),
        [q, k, v, bias, mask],
    )
    weights = scores(q, k, causal=True) + bias
    near(got, weights.masked_fill(~mask, -math.inf).softmax(-1) @ v, torch.float64)


def test_empty_operands() -> None:
    for shape in ((0, 2, 3, 4, 8, 8), (2, 2, 0, 4, 8, 8), (2, 2, 3, 4, 8, 0)):
        q, k, v = operands(shape, torch.float32)
        got = run(lambda fd, *args: fd.ops.sdpfa_fwd(*args), [q, k, v])
        assert got[0].shape == (*q.shape[:3], v.shape[3])
    q, k, v = operands((2, 2, 3, 0, 8, 8), torch.float32)
    output, logsumexp, *_ = run(lambda fd, *args: fd.ops.sdpfa_fwd(*args), [q, k, v])
    assert (output == torch.zeros(2, 2, 3, 8)).all()
    assert (logsumexp == -math.inf).all()


def gradients(
    inputs: list[torch.Tensor], grad: torch.Tensor, causal: bool, scale: float | None
) -> list[torch.Tensor]:
    leaves = [t.double().requires_grad_() for t in inputs]
    output = scaled_dot_product_attention(*leaves, is_causal=causal, scale=scale)
    return list(torch.autograd.grad(output, leaves, grad.double()))


def both_passes(fd: FusionDefinition, args: list, causal: bool, scale: float | None) -> tuple:
    q, k, v, grad = args
    output, logsumexp, seed, offset = fd.ops.sdpfa_fwd(
        q, k, v, dropout_p=0.0, is_causal=causal, scale=scale
    )
    return fd.ops.sdpfa_bwd(grad, q, k, v, output, logsumexp, 0.0, causal, seed, offset, scale)


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("scale", [None, 0.3])
def test_backward(dtype: torch.dtype, causal: bool, scale: float | None) -> None:
    for shape in SHAPES:
        inputs = operands(shape, dtype)
        grad = operands(shape, dtype)[0][..., :1].expand(*shape[:3], shape[5]).contiguous()
        got = run(lambda fd, *args: both_passes(fd, list(args), causal, scale), [*inputs, grad])
        for mine, theirs, operand in zip(
            got, gradients(inputs, grad, causal, scale), inputs, strict=True
        ):
            near(mine, theirs, dtype)
            assert mine.dtype == dtype
            assert mine.stride() == operand.stride()


def test_results_follow_the_operands_in_memory() -> None:
    n, h, rows, size = 2, 3, 5, 8
    packed = torch.randn(n, rows, 3, h, size)
    q, k, v = (packed[:, :, i].transpose(1, 2) for i in range(3))
    grad = torch.randn(n, h, rows, size)
    for causal in (False, True):
        (got, *_) = run(lambda fd, *args, c=causal: fd.ops.sdpfa_fwd(*args, is_causal=c), [q, k, v])
        near(got, scaled_dot_product_attention(q, k, v, is_causal=causal), torch.float32)
        assert got.stride() == (rows * h * size, size, h * size, 1)
        results = run(
            lambda fd, *args, c=causal: both_passes(fd, list(args), c, None), [q, k, v, grad]
        )
        for mine, theirs in zip(results, gradients([q, k, v], grad, causal, None), strict=True):
            near(mine, theirs, torch.float32)
            assert mine.stride() == (rows * h * size, size, h * size, 1)
    # Rows with gaps between their elements.
    strided = [t.repeat_interleave(2, -1)[..., ::2] for t in (q, k, v)]
    (got, *_) = run(lambda fd, *args: fd.ops.sdpfa_fwd(*args), strided)
    near(got, scaled_dot_product_attention(q, k, v), torch.float32)


def test_a_leading_dimension_for_devices() -> None:
    flat = operands((4, 3, 5, 7, 8, 8), torch.float32)
    q, k, v = (t.unflatten(0, (2, 2)) for t in flat)
    grad = torch.ones(2, 2, 3, 5, 8)
    output, logsumexp, *_ = run(lambda fd, *args: fd.ops.sdpfa_fwd(*args), [q, k, v])
    near(output, scaled_dot_product_attention(q, k, v), torch.float32)
    near(logsumexp, scores(q, k).logsumexp(-1), torch.float32)
    results = run(lambda fd, *args: both_passes(fd, list(args), False, None), [q, k, v, grad])
    for mine, theirs in zip(results, gradients([q, k, v], grad, False, None), strict=True):
        near(mine, theirs, torch.float32)


class TestRefusals:
    def test_dropout(self, fd):
        q = fd.define_tensor([2, 3, 5, 8])
        for probability, found in ((-0.5, "-0.5"), (1.5, "1.5"), (math.nan, "float")):
            text = rf"sdpfa_fwd: dropout_p is between 0 and 1: got {found}"
            with pytest.raises(RuntimeError, match=text):
                fd.ops.sdpfa_fwd(q, q, q, dropout_p=probability)
        for name in ("dropout_p", "is_causal", "scale"):
            with pytest.raises(
                RuntimeError, match=r"sdpfa_fwd: one of dropout_p, .* is a real num"
            ):
                fd.ops.sdpfa_fwd(q, q, q, **{name: 1j})
        output, logsumexp, seed, offset = fd.ops.sdpfa_fwd(q, q, q, dropout_p=0.5)
        for given in ((None, offset), (seed, None)):
            with pytest.raises(RuntimeError, match="sdpfa_bwd: philox_seed and philox_offset say"):
                fd.ops.sdpfa_bwd(q, q, q, q, output, logsumexp, 0.5, False, *given, None)
        with pytest.raises(RuntimeError, match="sdpfa_bwd: philox_seed has two whole numbers"):
            fd.ops.sdpfa_bwd(q, q, q, q, output, logsumexp, 0.5, False, q, offset, None)
        with pytest.raises(RuntimeError, match=r"sdpfa_bwd: philox_seed has .*philox_offset one"):
            fd.ops.sdpfa_bwd(q, q, q, q, output, logsumexp, 0.5, False, seed, seed, None)

    def test_tensors_are_no_numbers(self, fd):
        q = fd.define_tensor([2, 3, 5, 8])
        for arguments, options in (((q, q, 3.0), {}), ((q, q, q), {"bias": 1.0})):
            with pytest.raises(
                TypeError,
                match=r"sdpfa_fwd\(\): incompatible function arguments: got \(.*; call it",
            ):
                fd.ops.sdpfa_fwd(*arguments, **options)
        with pytest.raises(TypeError, match=r"sdpfa_bwd\(\): incompatible function arguments: got"):
            fd.ops.sdpfa_bwd(q, q, q, q, q, 1.0, 0.0, False, None, None, None)

    def test_ranks_and_sizes(self, fd):
        q, other = fd.define_tensor([2, 3, 5, 8]), fd.define_tensor([2, 4, 5, 8])
        flat = fd.define_tensor([6, 5, 8])
        with pytest.raises(RuntimeError, match="query, key and value have 4 dimensions, or 5"):
            fd.ops.sdpfa_fwd(flat, flat, flat)
        with pytest.raises(RuntimeError, match="query, key and value have the same rank"):
            fd.ops.sdpfa_fwd(q, fd.define_tensor([1, 2, 3, 5, 8]), q)
        with pytest.raises(RuntimeError, match=r"sdpfa_fwd: .*dimension 1 is 3 in one.* and 4"):
            fd.ops.sdpfa_fwd(q, other, other)
        with pytest.raises(RuntimeError, match="the number of the key's rows is 5"):
            fd.ops.sdpfa_fwd(q, q, fd.define_tensor([2, 3, 4, 8]))
        with pytest.raises(RuntimeError, match="the size of the query's rows is 8"):
            fd.ops.sdpfa_fwd(q, fd.define_tensor([2, 3, 5, 4]), q)

    def test_dtypes(self, fd):
        q, half = (
            fd.define_tensor([2, 3, 5, 8]),
            fd.define_tensor([2, 3, 5, 8], dtype=DataType.Half),
        )
        whole = fd.define_tensor([2, 3, 5, 8], dtype=DataType.Int)
        with pytest.raises(RuntimeError, match="query, key and value have the same dtype"):
            fd.ops.sdpfa_fwd(q, half, q)
        with pytest.raises(RuntimeError, match="attention is computed on Half, BFloat16, Float"):
            fd.ops.sdpfa_fwd(whole, whole, whole)
        scores = fd.define_tensor([5, 5])
        with pytest.raises(RuntimeError, match="a mask is True where a row attends, so it is Bool"):
            fd.ops.sdpfa_fwd(q, q, q, mask=scores)
        with pytest.raises(RuntimeError, match="a bias is added to the scores"):
            fd.ops.sdpfa_fwd(q, q, q, bias=fd.define_tensor([5, 5], dtype=DataType.Bool))
        with pytest.raises(RuntimeError, match=r"dimension 3 of the scores is 5 .* and 4"):
            fd.ops.sdpfa_fwd(q, q, q, bias=fd.define_tensor([5, 4]))
        with pytest.raises(TypeError, match="one of dropout_p, is_causal and scale is tv"):
            fd.ops.sdpfa_fwd(q, q, q, scale=fd.define_tensor([]))

    def test_what_the_backward_pass_gets(self, fd):
        q = fd.define_tensor([2, 3, 5, 8])
        output, logsumexp, seed, offset = fd.ops.sdpfa_fwd(q, q, q)
        half = fd.define_tensor([2, 3, 5, 8], dtype=DataType.Half)
        rest = (0.0, False, seed, offset, None)
        with pytest.raises(RuntimeError, match="sdpfa_bwd: grad_output is as the output"):
            fd.ops.sdpfa_bwd(half, q, q, q, output, logsumexp, *rest)
        with pytest.raises(RuntimeError, match="sdpfa_bwd: output is sdpfa_fwd's"):
            fd.ops.sdpfa_bwd(q, q, q, q, logsumexp, logsumexp, *rest)
        with pytest.raises(RuntimeError, match="sdpfa_bwd: logsumexp is sdpfa_fwd's"):
            fd.ops.sdpfa_bwd(q, q, q, q, output, output, *rest)
