#!/usr/bin/env python3
"""Writes python/meshfuse/ops.pyi, the types of fd.ops, from the op table of the built extension.

Type checkers see no types in an attribute that holds a module, so the functions are declared in a class that describes the
module, and the module's names are those of the class.

PYTHONPATH=build/release/python tools/generate_op_stubs.py            write
PYTHONPATH=build/release/python tools/generate_op_stubs.py --check    exit status 1 if the file is not up to date
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

STUB = Path(__file__).resolve().parent.parent / "python" / "meshfuse" / "ops.pyi"

HEADER = """\
# Written by tools/generate_op_stubs.py from the op table; not to be edited.
# fmt: off
from typing import overload

from meshfuse._C import DataType, Scalar, TensorView

_Number = bool | int | float | complex
_Operand = TensorView | Scalar | _Number
_ScalarOperand = Scalar | _Number
_Ints = list[int] | tuple[int, ...]

# What fd.ops holds; exists for type checkers alone.
class Operations:
"""

TYPES = {
    "Tensor": "TensorView",
    "Operand": "_Operand",
    "Int": "int",
    "Ints": "_Ints",
    "Bool": "bool",
    "DataType": "DataType",
}

Param = tuple[str, str, str | None]


def parameter(param: Param, operand_type: str) -> str:
    name, kind, default = param
    type_name = operand_type if kind == "Operand" else TYPES[kind]
    if default == "None":
        type_name += " | None"
    return f"{name}: {type_name}" + (f" = {default}" if default is not None else "")


def signature(
    name: str, params: list[Param], positional_only: int, operand_types: list[str], result: str
) -> str:
    parts = [parameter(param, kind) for param, kind in zip(params, operand_types, strict=True)]
    if positional_only:
        parts.insert(positional_only, "/")
    return f"def {name}({', '.join(parts)}) -> {result}: ..."


def operand_choices(params: list[Param]) -> list[tuple[list[str], bool]]:
    """The operand types of each signature of a call, and whether its result is a tensor: a tensor in any position makes one."""
    operands = [i for i, (_, kind, _) in enumerate(params) if kind == "Operand"]
    if not operands:
        return [([""] * len(params), True)]
    choices = []
    for tensor in operands:
        types = ["_Operand"] * len(params)
        types[tensor] = "TensorView"
        choices.append((types, True))
    choices.append((["_ScalarOperand"] * len(params), False))
    return choices


def stubs_of(name: str, overloads: list[tuple[list[Param], int]], output_count: int) -> list[str]:
    """The lines that declare one op."""
    signatures = []
    for params, positional_only in overloads:
        for operand_types, is_tensor in operand_choices(params):
            one = "TensorView" if is_tensor else "Scalar"
            result = one if output_count == 1 else f"tuple[{', '.join([one] * output_count)}]"
            signatures.append(signature(name, params, positional_only, operand_types, result))
    decorators = ["@staticmethod"] if len(signatures) == 1 else ["@overload", "@staticmethod"]
    return [f"    {line}" for text in signatures for line in (*decorators, text)]


def generate() -> str:
    from meshfuse import _C

    lines = [HEADER.rstrip()]
    for function in _C.op_functions:
        name = function.__name__
        lines += stubs_of(name, _C.op_overloads(name), _C.op_output_count(name))
    lines.append("")
    lines += [
        f"{function.__name__} = Operations.{function.__name__}" for function in _C.op_functions
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="only say whether the file is up to date"
    )
    text = generate()
    if parser.parse_args().check:
        if STUB.read_text() != text:
            print(f"{STUB} is not what the op table says; run tools/generate_op_stubs.py")
            return 1
        return 0
    STUB.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
