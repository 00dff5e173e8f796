"""Single steps of a program on the evaluator."""

from __future__ import annotations

import os
from dataclasses import dataclass

import torch

from meshfuse import DataType, FusionDefinition

ERRORS = (ValueError, RuntimeError, TypeError, IndexError, ArithmeticError)


@dataclass(frozen=True)
class Number:
    """A number of the call, whose type counts in promotions."""

    value: float | int
    dtype: str


def operand(fd: FusionDefinition, x: object) -> object:
    if isinstance(x, Number):
        return fd.define_scalar(x.value, dtype=getattr(DataType, x.dtype))
    return fd.from_pytorch(x)


def run_step(template: str, operands: list) -> list[torch.Tensor] | Exception:
    """The results of one call, or what it threw."""
    os.environ["MESHFUSE_COMPILE"] = "0"
    refused: Exception | None = None
    try:
        with FusionDefinition() as fd:
            names = {f"v{i}": operand(fd, x) for i, x in enumerate(operands)}
            try:
                call = template.format(*names)
                results = eval(call, {"fd": fd, "DataType": DataType, **names})
                for result in results if isinstance(results, (tuple, list)) else (results,):
                    fd.add_output(result)
            except ERRORS as error:
                refused = error
        return refused or list(fd.execute([x for x in operands if isinstance(x, torch.Tensor)]))
    except ERRORS as error:
        return error
