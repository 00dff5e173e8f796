#!/usr/bin/env python3
"""Write what torch.promote_types and torch.result_type answer for all pairs of the language's types.

The table is committed as tests/types/torch_promotion.txt and read by the C++ tests; a Python test compares it with the
installed torch. Usage: dump_torch_promotion.py [FILE] (default: that file).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "tests" / "types" / "torch_promotion.txt"
TYPES = ROOT / "src" / "meshfuse" / "types" / "data_types.def"
SCALARS = {"Bool": True, "Int": 1, "Double": 1.0, "ComplexDouble": 1j}


def torch_types() -> dict[str, torch.dtype]:
    """The language's types that torch has, by the language's name."""
    rows = re.findall(
        r"^MESHFUSE_DATA_TYPE\((\w+), .*?\"(\w*)\", \"[^\"]*\"\)", TYPES.read_text(), re.MULTILINE
    )
    return {name: getattr(torch, torch_name) for name, torch_name in rows if torch_name}


def operands(types: dict[str, torch.dtype]) -> list[tuple[str, object]]:
    """One operand of each group and type, with the text that names it."""
    made: list[tuple[str, object]] = []
    made += [(f"dim {name}", torch.empty(2, dtype=dtype)) for name, dtype in types.items()]
    made += [(f"zero-dim {name}", torch.empty((), dtype=dtype)) for name, dtype in types.items()]
    made += [(f"scalar {name}", value) for name, value in SCALARS.items()]
    return made


def rows() -> list[str]:
    """One line per question: the operands, then the type, `refused`, or a type that the language lacks."""
    types = torch_types()
    names = {dtype: name for name, dtype in types.items()}

    def answer(ask: Callable[..., torch.dtype], a: object, b: object) -> str:
        try:
            dtype = ask(a, b)
        except RuntimeError:
            return "refused"
        return names.get(dtype, str(dtype))

    lines = [
        f"promote {a} {b} {answer(torch.promote_types, types[a], types[b])}"
        for a in types
        for b in types
    ]
    made = operands(types)
    lines += [
        f"result {a} {b} {answer(torch.result_type, left, right)}"
        for a, left in made
        for b, right in made
    ]
    return lines


def main() -> None:
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else TABLE
    head = (
        f"# Made by tools/dump_torch_promotion.py with torch {torch.__version__.split('+')[0]}.\n"
    )
    target.write_text(head + "\n".join(rows()) + "\n")


if __name__ == "__main__":
    main()
