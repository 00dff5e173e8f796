"""Contiguous CPU tensors that are copied or added first: everything after it runs as itself."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from meshfuse import FusionDefinition, ops

AFTER: dict[str, tuple[Callable[[Any], Any], Callable[[torch.Tensor], torch.Tensor]]] = {
    "neg": (ops.neg, torch.neg),
    "relu": (ops.relu, torch.relu),
    "exp": (ops.exp, torch.exp),
    "mul": (lambda a: ops.mul(a, a), lambda a: a * a),
    "sub": (lambda a: ops.sub(a, 3.0), lambda a: a - 3.0),
    "add": (lambda a: ops.add(a, 3.0), lambda a: a + 3.0),
    "sum": (lambda a: ops.sum(a, [1]), lambda a: a.sum(1)),
    "permute": (lambda a: ops.permute(a, [1, 0]), lambda a: a.T),
    "reshape": (lambda a: ops.reshape(a, [4, 3]), lambda a: a.reshape(4, 3)),
    "gt": (lambda a: ops.gt(a, 0.5), lambda a: a > 0.5),
    "softmax": (
        lambda a: ops.truediv(ops.exp(a), ops.sum(ops.exp(a), [1], True)),
        lambda a: a.exp() / a.exp().sum(1, True),
    ),
}
BEFORE: dict[str, tuple[Callable[[Any, Any], Any], Callable[..., torch.Tensor]]] = {
    "set": (lambda a, _: ops.set(a), lambda a, _: a),
    "add": (ops.add, torch.add),
    "add a number": (lambda a, _: ops.add(a, 2.0), lambda a, _: a + 2.0),
    "set set": (lambda a, _: ops.set(ops.set(a)), lambda a, _: a),
    "add add": (lambda a, b: ops.add(ops.add(a, b), b), lambda a, b: a + b + b),
}


@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("after", AFTER)
def test_what_comes_after(before: str, after: str) -> None:
    first, first_wanted = BEFORE[before]
    then, then_wanted = AFTER[after]
    for shape in ((3, 4), (1, 12), (12, 1)):
        x, y = torch.randn(shape), torch.randn(shape)
        with FusionDefinition() as fd:
            a, b = (fd.define_tensor(list(shape), contiguity=True) for _ in range(2))
            fd.add_output(then(first(a, b)))
        for _ in range(2):
            (result,) = fd.execute([x, y])
            torch.testing.assert_close(result, then_wanted(first_wanted(x, y)))
