#!/usr/bin/env python3
"""Turns the pieces of device/*.h into rows of a C++ table, which deviceText() selects from.

tools/embed_device_text.py OUTPUT    writes OUTPUT when it changes; an error exits with a message

A line `// piece: NAMES` begins a piece that provides NAMES; `// piece: NAMES, for TYPE` one that is left out of text that does not
name TYPE. A piece uses whatever names its text mentions. docs/device_text.md says more.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PIECE = re.compile(r"^// piece:(?P<names>[\w ]*)(?:, for (?P<type>\w+))?$")
INCLUDE = re.compile(r'^#include "device/(\w+\.h)"$', re.MULTILINE)
WORD = re.compile(r"[A-Za-z_]\w*")


@dataclass
class Piece:
    names: list[str]
    type: str
    text: str
    file: str


def in_order(folder: Path) -> list[Path]:
    """The files, each after those it includes."""
    order: list[Path] = []

    def place(file: Path) -> None:
        for included in INCLUDE.findall(file.read_text()):
            place(folder / included)
        if file not in order:
            order.append(file)

    for file in sorted(folder.glob("*.h")):
        place(file)
    return order


def pieces_of(file: Path) -> list[Piece]:
    pieces: list[Piece] = []
    for line in file.read_text().splitlines():
        begins = PIECE.match(line)
        if begins:
            pieces.append(Piece(begins["names"].split(), begins["type"] or "", "", file.name))
        elif line == "}  // namespace device":
            break
        elif pieces:
            code = line.split("//")[0].rstrip()
            pieces[-1].text += code + "\n" if code else ""
    return pieces


def check_order(pieces: list[Piece]) -> None:
    """What a piece uses stands before it, or the compiler does not find it."""
    all_names = {name for piece in pieces for name in piece.names}
    seen: set[str] = set()
    for piece in pieces:
        seen.update(piece.names)
        late = set(WORD.findall(piece.text)) & all_names - seen
        if late:
            sys.exit(
                f"device/{piece.file}: the piece {piece.names} uses {sorted(late)} before it is there"
            )


def row(piece: Piece, all_names: set[str]) -> str:
    uses = sorted(set(WORD.findall(piece.text)) & all_names - set(piece.names))
    return (
        f'{{"{" ".join(piece.names)}", "{piece.type}", "{" ".join(uses)}",\n'
        f'R"device({piece.text})device"}},\n'
    )


def main() -> None:
    output = Path(sys.argv[1])
    pieces = [piece for file in in_order(ROOT / "device") for piece in pieces_of(file)]
    check_order(pieces)
    all_names = {name for piece in pieces for name in piece.names}
    text = "// One row per piece of device/*.h: names, type, names used, text.\n"
    text += "".join(row(piece, all_names) for piece in pieces)
    if not output.exists() or output.read_text() != text:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(text)


if __name__ == "__main__":
    main()
