#!/usr/bin/env python3
"""Writes the types of fd.ops, ops.pyi, from the op table of the built extension; the build runs it.

    PYTHONPATH=build/release/python tools/generate_op_stubs.py OUTPUT

Type checkers see no types in an attribute that holds a module, so the functions are declared in a class that describes the
module, and the module's names are those of the class.
"""

from __future__ import annotations

import argparse
from pathlib import Path

HEADER = """\
# Written by tools/generate_op_stubs.py from the op table; not to be edited.
from typing import overload

from meshfuse._C import DataType, Scalar, TensorView

_Number = bool | int | float | complex
_Operand = TensorView | Scalar | _Number
_ScalarOperand = Scalar | _Number
_Ints = list[int] | tuple[int, ...]
_Size = int | Scalar
_Sizes = list[_Size] | list[int] | list[Scalar] | tuple[_Size, ...]
_Tensors = list[TensorView] | tuple[TensorView, ...]

# What fd.ops holds; exists for type checkers alone.
class Operations:
"""

TYPES = {
    "Tensor": "TensorView",
    "Tensors": "_Tensors",
    "Operand": "_Operand",
    "Value": "Scalar | TensorView",
    "Int": "int",
    "Ints": "_Ints",
    "Size": "_Size",
    "Sizes": "_Sizes",
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
    name: str,
    params: list[Param],
    positional_only: int,
    keyword_only: int,
    operand_types: list[str],
    result: str,
) -> str:
    parts = [parameter(param, kind) for param, kind in zip(params, operand_types, strict=True)]
    if keyword_only:
        parts.insert(len(parts) - keyword_only, "*")
    if positional_only:
        parts.insert(positional_only, "/")
    return f"def {name}({', '.join(parts)}) -> {result}: ..."


def operand_choices(params: list[Param], result: str) -> list[tuple[list[str], bool]]:
    """The operand types of each signature of a call, and whether its result is a tensor. Where it can be either, a tensor in any
    position makes one."""
    operands = [i for i, (_, kind, _) in enumerate(params) if kind == "Operand"]
    if result != "either":
        return [(["_Operand"] * len(params), result == "tensor")]
    choices = []
    for tensor in operands:
        types = ["_Operand"] * len(params)
        types[tensor] = "TensorView"
        choices.append((types, True))
    choices.append((["_ScalarOperand"] * len(params), False))
    return choices


def stubs_of(
    name: str,
    overloads: list[tuple[list[Param], int, int, int]],
    output_count: int,
    result_kind: str,
) -> list[str]:
    """The lines that declare one op."""
    signatures = []
    for params, positional_only, keyword_only, absent in overloads:
        for operand_types, is_tensor in operand_choices(params, result_kind):
            results = ["TensorView" if is_tensor else "Scalar"] * output_count + ["None"] * absent
            result = results[0] if len(results) == 1 else f"tuple[{', '.join(results)}]"
            signatures.append(
                signature(name, params, positional_only, keyword_only, operand_types, result)
            )
    decorators = ["@staticmethod"] if len(signatures) == 1 else ["@overload", "@staticmethod"]
    return [f"    {line}" for text in signatures for line in (*decorators, text)]


def generate() -> str:
    from meshfuse import _C

    lines = [HEADER.rstrip()]
    for function in _C.op_functions:
        name = function.__name__
        lines += stubs_of(name, _C.op_overloads(name), _C.op_output_count(name), _C.op_result(name))
    lines += ["    @staticmethod", "    def shape(arg: TensorView, /) -> list[Scalar]: ..."]
    lines.append("")
    names = [function.__name__ for function in _C.op_functions]
    lines += [f"{name} = Operations.{name}" for name in (*names, "shape")]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("output", type=Path)
    output = parser.parse_args().output
    output.unlink(missing_ok=True)
    output.write_text(generate())


if __name__ == "__main__":
    main()
