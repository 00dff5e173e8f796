#!/usr/bin/env python3
"""Writes the reference page of all operations, op_reference.md, from the op table of the built extension; the build runs it.

PYTHONPATH=build/release/python tools/generate_op_reference.py OUTPUT
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

INTRODUCTION = """\
# The operations of `fd.ops`

Written from the op table by `tools/generate_op_reference.py`; everything here was found by asking the table and by trying sample calls.

For each operation: its calls; the element types of its operands with those of the results, and those it refuses; how it runs on one axis of a
device mesh without communication; the errors of calls that don't fit.

Placements are written as torch prints them: `R` is Replicate, `S(0)` Shard(0), `P(sum)` Partial(sum). Where the placements of a call's operands
are in no line, the operands are brought to those of the line that moves the fewest bytes (docs/sharding.md). That is refused where it would take a
gather or scatter of unequal or strided shards, and the error names the operation, the operand and its placement. A dimension named as
*needed whole* is such a case: equal shards of it are gathered, others are refused. The refusals are listed once more at the end.
"""

Pairs = list[tuple[str, str]]


def grouped(pairs: Pairs) -> list[tuple[list[str], str]]:
    """Firsts by second, in order of appearance."""
    groups: dict[str, list[str]] = {}
    for first, second in pairs:
        groups.setdefault(second, []).append(first)
    return [(firsts, second) for second, firsts in groups.items()]


def without_type(text: str, type_name: str) -> str:
    """An error text that is the same for all types it names."""
    return text.replace(type_name, "(type)")


def types_section(groups: list[tuple[list[str], Pairs, Pairs]]) -> list[str]:
    lines = []
    # Where the result's type follows some operands', those of the others do not decide it: an index's, a condition's.
    follows = [len({result for _, result in results}) > 1 for _, results, _ in groups]
    for (operands, results, refusals), decides in zip(groups, follows, strict=True):
        names = ", ".join(f"`{name}`" for name in operands)
        lines += [f"Element types of {names}:", ""]
        if any(follows) and not decides:
            lines.append(f"- {', '.join(given for given, _ in results)}: accepted")
            results = []
        same = [given for given, result in results if set(result.split(", ")) == {given}]
        if same:
            lines.append(f"- {', '.join(same)}: the result has the same")
        others = [(given, result) for given, result in results if given not in same]
        lines += [f"- {', '.join(given)}: gives {result}" for given, result in grouped(others)]
        texts = [(name, without_type(text, name)) for name, text in refusals]
        lines += [f"- refused: {', '.join(given)}: `{text}`" for given, text in grouped(texts)]
        lines.append("")
    return lines


def shape_section() -> list[str]:
    """`shape` is `size` of each dimension: it is written in Python and in no row of the table."""
    from meshfuse import ops

    doc = ops.shape.__doc__
    assert doc is not None
    return ["## shape", "", "```python", "shape(arg, /) -> list[Scalar]", "```", "", doc, ""]


def sharding_section(calls: list[tuple[str, Pairs, list[tuple[str, int]]]]) -> list[str]:
    lines = ["On a mesh axis:", ""] if calls else []
    for call, rules, whole in calls:
        lines += ["```", *call.strip().splitlines(), ""]
        lines += [f"{operands or 'no operands'} -> {results}" for operands, results in rules]
        lines += ["```", ""]
        if whole:
            dims = ", ".join(f"dimension {dim} of `{operand}`" for operand, dim in whole)
            lines += [f"Needed whole: {dims}.", ""]
    return lines


def op_section(name: str, doc: str) -> list[str]:
    from meshfuse import _C

    signatures, _, description = doc.partition("\n\n")
    lines = [f"## {name}", "", "```python", *signatures.splitlines(), "```", "", description, ""]
    lines += types_section(_C.op_operand_types(name))
    lines += sharding_section(_C.op_call_shardings(name))
    # One of those that differ in numbers alone.
    kinds = {re.sub(r"\d+", "", text): text for text in reversed(_C.op_argument_errors(name))}
    errors = list(reversed(kinds.values()))
    if errors:
        lines += ["Errors of calls that do not fit, for example:", ""]
        lines += [f"- `{text}`" for text in errors]
        lines.append("")
    return lines


def refusals_section(names: list[str]) -> list[str]:
    """What is needed whole, by operation: the reason behind every refusal of uneven or strided shards."""
    from meshfuse import _C

    lines = ["## Dimensions that have to be whole", ""]
    lines += ["Dimensions of operands in the sample calls above, by operation.", ""]
    lines += ["| operation | needed whole |", "|---|---|"]
    for name in names:
        whole: dict[str, set[int]] = {}
        for _, _, dims in _C.op_call_shardings(name):
            for operand, dim in dims:
                whole.setdefault(operand, set()).add(dim)
        texts = [
            f"{operand} {', '.join(map(str, sorted(dims)))}" for operand, dims in whole.items()
        ]
        if texts:
            lines.append(f"| [{name}](#{name}) | {'; '.join(texts)} |")
    return [*lines, ""]


def generate() -> str:
    from meshfuse import _C

    names = [function.__name__ for function in _C.op_functions]
    sections = {
        function.__name__: (function.__name__, function.__doc__) for function in _C.op_functions
    }
    listed = sorted([*names, "shape"])
    lines = [INTRODUCTION, " · ".join(f"[{name}](#{name})" for name in listed), ""]
    for name in listed:
        lines += shape_section() if name == "shape" else op_section(*sections[name])
    return "\n".join(lines + refusals_section(names))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("output", type=Path)
    output = parser.parse_args().output
    output.unlink(missing_ok=True)
    output.write_text(generate())


if __name__ == "__main__":
    main()
