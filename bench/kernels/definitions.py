"""The nine kernels: as definitions, as the torch function that a user calls, and, for some, as torch operations one by one."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as nnf

from meshfuse import DataType, FusionDefinition

Tensors = list[torch.Tensor]


class Body:
    """What definitions are written with: float math on tensors of any type, results in the type of the inputs."""

    def __init__(self, fd: FusionDefinition, tensors: Tensors) -> None:
        self.ops = fd.ops
        self.columns = tensors[0].shape[1]
        self._is_half = tensors[0].dtype == torch.bfloat16
        self._fd = fd

    def input(self, like: torch.Tensor) -> Any:
        value = self._fd.from_pytorch(like)
        value = self.ops.cast(value, DataType.Float) if self._is_half else value
        # A row stretches over however many rows the matrix has: one definition serves all sizes.
        return value if like.dim() == 2 else self.ops.broadcast(value, [True, False])

    def output(self, value: Any) -> None:
        self._fd.add_output(self.ops.cast(value, DataType.BFloat16) if self._is_half else value)

    def float_output(self, value: Any) -> None:
        self._fd.add_output(value)


def silu_mul(body: Body, x: Any, y: Any) -> None:
    body.output(body.ops.mul(body.ops.silu(x), y))


def bias_gelu_tanh(body: Body, x: Any, bias: Any) -> None:
    ops = body.ops
    z = ops.add(x, bias)
    cubic = ops.add(z, ops.mul(ops.mul(ops.mul(z, z), z), 0.044715))
    tanh = ops.tanh(ops.mul(cubic, math.sqrt(2 / math.pi)))
    body.output(ops.mul(ops.mul(z, 0.5), ops.add(tanh, 1.0)))


def gelu_erf(body: Body, x: Any) -> None:
    ops = body.ops
    body.output(ops.mul(ops.mul(x, 0.5), ops.add(ops.erf(ops.mul(x, 1 / math.sqrt(2))), 1.0)))


def softmax(body: Body, x: Any) -> None:
    ops = body.ops
    powers = ops.exp(ops.sub(x, ops.max(x, [1], keepdim=True)))
    body.output(ops.truediv(powers, ops.sum(powers, [1], keepdim=True)))


def layer_norm(body: Body, x: Any, weight: Any, bias: Any) -> None:
    ops = body.ops
    variance, mean = ops.var_mean(x, [1], 0, True)
    normal = ops.mul(ops.sub(x, mean), ops.rsqrt(ops.add(variance, 1e-5)))
    body.output(ops.add(ops.mul(normal, weight), bias))


def rms_norm(body: Body, x: Any, weight: Any) -> None:
    ops = body.ops
    mean = ops.mul(ops.sum(ops.mul(x, x), [1], keepdim=True), 1.0 / body.columns)
    body.output(ops.mul(ops.mul(x, ops.rsqrt(ops.add(mean, 1e-6))), weight))


def transpose_add(body: Body, x: Any) -> None:
    ops = body.ops
    body.output(ops.stride_order(ops.add(ops.permute(x, [1, 0]), 1.0), [1, 0]))


def row_sum(body: Body, x: Any) -> None:
    body.float_output(body.ops.sum(x, [1]))


def column_sum(body: Body, x: Any) -> None:
    body.float_output(body.ops.sum(x, [0]))


def softmax_steps(x: torch.Tensor) -> torch.Tensor:
    powers = torch.exp(x - torch.amax(x, 1, keepdim=True))
    return powers / powers.sum(1, keepdim=True)


def layer_norm_steps(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    variance, mean = torch.var_mean(x, 1, correction=0, keepdim=True)
    return (x - mean) * torch.rsqrt(variance + 1e-5) * weight + bias


@dataclass(frozen=True)
class Kernel:
    """`tensors`: its inputs, `x` and `y` matrices, the others rows. `steps`: the operations of the definition, run by torch."""

    name: str
    define: Callable[..., None]
    eager: Callable[..., torch.Tensor]
    tensors: str = "x"
    is_sum: bool = False
    steps: Callable[..., torch.Tensor] | None = None

    def definition(self, tensors: Tensors) -> FusionDefinition:
        with FusionDefinition() as fd:
            body = Body(fd, tensors)
            self.define(body, *(body.input(tensor) for tensor in tensors))
        return fd

    def arguments(self, shape: tuple[int, int], dtype: torch.dtype) -> Tensors:
        generator = torch.Generator().manual_seed(0)
        sizes = {"x": shape, "y": shape, "w": shape[1:], "b": shape[1:]}
        return [torch.randn(sizes[name], generator=generator).to(dtype) for name in self.tensors]

    def check(self, result: torch.Tensor, tensors: Tensors) -> None:
        """AssertionError where the result is not what torch computes in float."""
        expected = self.eager(*(tensor.float() for tensor in tensors))
        tolerance = 1e-2 if tensors[0].dtype == torch.bfloat16 else 1e-4
        torch.testing.assert_close(
            result.float(), expected, rtol=tolerance, atol=2e-2 if self.is_sum else tolerance
        )


KERNELS = {
    kernel.name: kernel
    for kernel in (
        Kernel("silu_mul", silu_mul, lambda x, y: nnf.silu(x) * y, "xy"),
        Kernel(
            "bias_gelu_tanh", bias_gelu_tanh, lambda x, w: nnf.gelu(x + w, approximate="tanh"), "xw"
        ),
        Kernel("gelu_erf", gelu_erf, lambda x: nnf.gelu(x)),
        Kernel("softmax", softmax, lambda x: torch.softmax(x, 1), steps=softmax_steps),
        Kernel(
            "layer_norm",
            layer_norm,
            lambda x, w, b: nnf.layer_norm(x, w.shape, w, b, 1e-5),
            "xwb",
            steps=layer_norm_steps,
        ),
        Kernel("rms_norm", rms_norm, lambda x, w: nnf.rms_norm(x, w.shape, w, 1e-6), "xw"),
        Kernel("transpose_add", transpose_add, lambda x: (x.t() + 1.0).contiguous()),
        Kernel("row_sum", row_sum, lambda x: torch.sum(x, 1, dtype=torch.float32), is_sum=True),
        Kernel(
            "column_sum", column_sum, lambda x: torch.sum(x, 0, dtype=torch.float32), is_sum=True
        ),
    )
}
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}
