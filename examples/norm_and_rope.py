"""A kernel generator: RMS norm and rotary embedding of attention heads as one kernel, on the CPU.

Queries are (tokens, heads, head size). Each head is normalized, scaled, and its halves are rotated by the token's angles.
PyTorch runs this as a dozen operations; here the program is written once, compiled at the first call, and then any number
of tokens is one kernel launch.

    python examples/norm_and_rope.py
"""

import time
from collections.abc import Callable

import torch

from meshfuse import DataType, FusionDefinition

HEADS, SIZE = 16, 128
EPSILON = 1e-6


def define_norm_and_rope() -> FusionDefinition:
    """The program, for any number of tokens. The halves of a head are inputs of their own: views that cost nothing."""
    with FusionDefinition() as fd:
        ops = fd.ops
        first, second = (
            fd.define_tensor(
                shape=[-1, HEADS, SIZE // 2],
                contiguity=[True, False, True],
                dtype=DataType.BFloat16,
            )
            for _ in range(2)
        )
        weights = [fd.define_tensor(shape=[SIZE // 2], contiguity=True) for _ in range(2)]
        cosine, sine = (fd.define_tensor(shape=[-1, SIZE // 2], contiguity=True) for _ in range(2))

        a, b = ops.cast(first, DataType.Float), ops.cast(second, DataType.Float)
        squares = ops.sum(ops.add(ops.mul(a, a), ops.mul(b, b)), [2], keepdim=True)
        scale = ops.rsqrt(ops.add(ops.mul(squares, 1.0 / SIZE), EPSILON))
        a = ops.mul(ops.mul(a, scale), weights[0])
        b = ops.mul(ops.mul(b, scale), weights[1])
        c, s = (ops.broadcast(angle, [False, True, False]) for angle in (cosine, sine))
        fd.add_output(ops.cast(ops.sub(ops.mul(a, c), ops.mul(b, s)), DataType.BFloat16))
        fd.add_output(ops.cast(ops.add(ops.mul(b, c), ops.mul(a, s)), DataType.BFloat16))
    return fd


def reference(
    x: torch.Tensor, weight: torch.Tensor, cosine: torch.Tensor, sine: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """The same in PyTorch."""
    wide = x.float()
    normal = wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + EPSILON) * weight
    a, b = normal.chunk(2, -1)
    c, s = cosine[:, None], sine[:, None]
    return (a * c - b * s).to(x.dtype), (b * c + a * s).to(x.dtype)


def microseconds(call: Callable[[], object]) -> float:
    call()
    times = []
    for _ in range(50):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return sorted(times)[len(times) // 2] * 1e6


def compare(fd: FusionDefinition, tokens: int) -> str:
    """One line: the largest difference from PyTorch, and what a call takes of each."""
    x = torch.randn(tokens, HEADS, SIZE, dtype=torch.bfloat16)
    weight = torch.rand(SIZE)
    angles = torch.outer(torch.arange(tokens), 10000.0 ** (-torch.arange(SIZE // 2) / (SIZE // 2)))
    cosine, sine = angles.cos(), angles.sin()
    inputs = [*x.chunk(2, -1), *weight.chunk(2), cosine, sine]
    expected = reference(x, weight, cosine, sine)
    pairs = zip(fd.execute(inputs), expected, strict=True)
    difference = max(float((ours - theirs).abs().max()) for ours, theirs in pairs)
    ours = microseconds(lambda: fd.execute(inputs))
    theirs = microseconds(lambda: reference(x, weight, cosine, sine))
    return (
        f"{tokens:3} tokens: largest difference {difference:.1e}, "
        f"{ours:.0f} us, PyTorch {theirs:.0f} us"
    )


def main() -> None:
    fd = define_norm_and_rope()
    for tokens in (1, 7, 64):
        print(compare(fd, tokens))


if __name__ == "__main__":
    main()
