"""Single steps of a program on the evaluator."""

from __future__ import annotations

import os

import torch

from meshfuse import DataType, FusionDefinition


ERRORS = (ValueError, RuntimeError, TypeError, IndexError, ArithmeticError)


def operand(fd: FusionDefinition, x: object) -> object:
    return fd.from_pytorch(x) if isinstance(x, torch.Tensor) else fd.define_scalar(x)


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
