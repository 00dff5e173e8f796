"""The committed table of torch's promotion, which the C++ tests read, is what the installed torch answers."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]


def load_dump_tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "dump_torch_promotion", ROOT / "tools" / "dump_torch_promotion.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_committed_table_is_what_torch_answers() -> None:
    tool = load_dump_tool()
    head, *committed = tool.TABLE.read_text().splitlines()
    assert head.startswith("# Made by tools/dump_torch_promotion.py with torch ")
    current = tool.rows()
    differing = [(old, new) for old, new in zip(committed, current, strict=True) if old != new]
    assert differing == []


def test_table_covers_all_pairs() -> None:
    tool = load_dump_tool()
    types = len(tool.torch_types())
    operands = 2 * types + len(tool.SCALARS)
    assert types == 14
    assert len(tool.rows()) == types**2 + operands**2
