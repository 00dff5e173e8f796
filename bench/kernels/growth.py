"""A program of many operations, made, compiled and run once.

    growth.py blocks N     alternating row and column softmax on 256x512
    growth.py chain N      a pointwise chain of N operations on 256x512

prints the seconds of definition and first call, and the kernels, as JSON.
"""

import json
import sys
import time
from typing import Any

import torch
from meshfuse.kernels import kernel_statistics

from meshfuse import FusionDefinition


def blocks(ops: Any, value: Any, count: int) -> Any:
    for i in range(count):
        dims = [1 - i % 2]
        powers = ops.exp(ops.sub(value, ops.max(value, dims, keepdim=True)))
        value = ops.truediv(powers, ops.sum(powers, dims, keepdim=True))
    return value


def blocks_in_torch(value: torch.Tensor, count: int) -> torch.Tensor:
    for i in range(count):
        value = torch.softmax(value, 1 - i % 2)
    return value


def chain(ops: Any, value: Any, count: int) -> Any:
    for i in range(count):
        value = (ops.abs(value), ops.mul(value, 0.999), ops.add(value, 0.001))[i % 3]
    return value


def chain_in_torch(value: torch.Tensor, count: int) -> torch.Tensor:
    for i in range(count):
        value = (value.abs, lambda x=value: x * 0.999, lambda x=value: x + 0.001)[i % 3]()
    return value


SHAPES = {"blocks": (blocks, blocks_in_torch), "chain": (chain, chain_in_torch)}


def main() -> None:
    define, reference = SHAPES[sys.argv[1]]
    count = int(sys.argv[2])
    x = torch.randn(256, 512, generator=torch.Generator().manual_seed(0))
    start = time.perf_counter()
    with FusionDefinition() as fd:
        fd.add_output(define(fd.ops, fd.from_pytorch(x), count))
    defined = time.perf_counter()
    (result,) = fd.execute([x])
    ended = time.perf_counter()
    torch.testing.assert_close(result, reference(x, count), rtol=1e-4, atol=1e-5)
    print(
        json.dumps(
            {
                "definition": defined - start,
                "first_call": ended - defined,
                "kernels": kernel_statistics().compiled,
            }
        )
    )


if __name__ == "__main__":
    main()
