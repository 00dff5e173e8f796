#!/usr/bin/env python3
"""Checks the tree against tools/layers.toml: who includes whom, cycles, file sizes, own header first.

tools/check_layers.py [--root DIR]    check; one line per finding, exit status 1 when there are any
tools/check_layers.py --cmake         print the table as CMake settings (what CMake links by)
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SOURCE_SUFFIXES = (".h", ".cpp", ".def", ".inc")
SIZED_SUFFIXES = (*SOURCE_SUFFIXES, ".py", ".cu", ".cuh")
SIZED_FOLDERS = ("src", "tests", "bench", "examples", "python", "tools", "device")
GENERATED_HEADERS = {
    "meshfuse/ops/structured_ops.h": "ops",
    "meshfuse/ops/structured_ops.inc": "ops",
    "meshfuse/codegen/device_pieces.inc": "codegen",
}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^">]+)[">]', re.MULTILINE)


@dataclass(frozen=True)
class Layer:
    """One row of the permission table."""

    name: str
    folder: str
    uses: frozenset[str]  # whole layers
    headers: frozenset[str]  # single headers, "<layer>/<header>"
    third_party: frozenset[str]

    def linked(self) -> set[str]:
        return {*self.uses, *(header.split("/")[0] for header in self.headers)}


@dataclass(frozen=True)
class Table:
    """tools/layers.toml, read and checked."""

    layers: dict[str, Layer]
    third_party: dict[str, str]  # start of a header's name -> group
    op_folder: str
    op_files: dict[str, str]  # file name in a structured op's folder -> layer
    size_limit: int
    size_hard: int
    size_allowed: dict[str, str]

    def layer_of(self, path: str) -> str | None:
        """The layer of a file, by its path below src/meshfuse/; None where no layer has the folder."""
        parts = path.split("/")
        if len(parts) == 3 and parts[0] == self.op_folder:
            return self.op_files.get(parts[2], self.op_folder)
        found = [la for la in self.layers.values() if path.startswith(la.folder + "/")]
        return max(found, key=lambda la: len(la.folder)).name if found else None

    def third_party_group(self, header: str) -> str | None:
        starts = [start for start in self.third_party if header.startswith(start)]
        return self.third_party[max(starts, key=len)] if starts else None

    def link_order(self) -> list[str]:
        """Layer names, each after those it uses; exits with a message when the table has a cycle."""
        order: list[str] = []
        waiting: list[str] = []

        def place(name: str) -> None:
            if name in order:
                return
            if name in waiting:
                cycle = [*waiting[waiting.index(name) :], name]
                sys.exit(f"tools/layers.toml: the permissions form a cycle: {' -> '.join(cycle)}")
            waiting.append(name)
            for used in self.layers:
                if used in self.layers[name].linked():
                    place(used)
            waiting.pop()
            order.append(name)

        for name in self.layers:
            place(name)
        return order


def read_table(path: Path) -> Table:
    raw: dict[str, Any] = tomllib.loads(path.read_text())
    layers: dict[str, Layer] = {}
    for name, row in raw["layers"].items():
        may_use = row.get("may_use", [])
        layers[name] = Layer(
            name=name,
            folder=row.get("folder", name),
            uses=frozenset(entry for entry in may_use if "/" not in entry),
            headers=frozenset(entry for entry in may_use if "/" in entry),
            third_party=frozenset(row.get("third_party", [])),
        )
    groups = raw.get("third_party", {})
    for layer in layers.values():
        for unknown in sorted(layer.linked() - layers.keys()):
            sys.exit(
                f"tools/layers.toml: layer '{layer.name}' may use '{unknown}', which is no layer"
            )
        for unknown in sorted(layer.third_party - groups.keys()):
            sys.exit(
                f"tools/layers.toml: layer '{layer.name}' names the unknown third party '{unknown}'"
            )
    ops = raw.get("structured_ops", {})
    sizes = raw["sizes"]
    return Table(
        layers=layers,
        third_party={start: name for name, group in groups.items() for start in group["headers"]},
        op_folder=ops.get("folder", "ops"),
        op_files=ops.get("files", {}),
        size_limit=sizes["limit"],
        size_hard=sizes["hard"],
        size_allowed=sizes.get("allow", {}),
    )


def cmake_settings(table: Table) -> Iterator[str]:
    order = table.link_order()
    yield f"set(MESHFUSE_LAYERS {' '.join(order)})"
    for name in order:
        layer = table.layers[name]
        yield f"set(MESHFUSE_{name}_FOLDER {layer.folder})"
        yield f"set(MESHFUSE_{name}_USES {' '.join(used for used in order if used in layer.linked())})"
        yield f"set(MESHFUSE_{name}_TORCH {'ON' if 'torch' in layer.third_party else 'OFF'})"
    yield f"set(MESHFUSE_OP_FILES {' '.join(table.op_files)})"
    for file, layer_name in table.op_files.items():
        yield f"set(MESHFUSE_OP_FILE_LAYER_{file} {layer_name})"


@dataclass
class SourceFile:
    path: str  # below the root, "src/meshfuse/ir/val.h"
    layer: str | None
    includes: list[str] = field(default_factory=list)

    @property
    def header_name(self) -> str:
        """The name it is included by."""
        return self.path.removeprefix("src/")


def files_below(root: Path, folder: str, suffixes: tuple[str, ...]) -> Iterator[Path]:
    for directory, folders, names in os.walk(root / folder):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__")))
        yield from (Path(directory) / name for name in sorted(names) if name.endswith(suffixes))


def read_sources(root: Path, table: Table) -> dict[str, SourceFile]:
    """Every C++ file of src/meshfuse and tests/<layer>, keyed by the name it is included by."""
    sources: dict[str, SourceFile] = {}
    for folder in ("src/meshfuse", "tests"):
        for file in files_below(root, folder, SOURCE_SUFFIXES):
            path = file.relative_to(root).as_posix()
            layer = table.layer_of(path.removeprefix(folder + "/"))
            if layer is None and folder == "tests":
                continue  # not a layer's tests
            source = SourceFile(path, layer, INCLUDE.findall(file.read_text(errors="replace")))
            sources[source.header_name] = source
    return sources


def layer_of_header(header: str, table: Table) -> str | None:
    return GENERATED_HEADERS.get(header) or table.layer_of(header.removeprefix("meshfuse/"))


def check_permissions(sources: Iterable[SourceFile], table: Table) -> Iterator[str]:
    for source in sources:
        if source.layer is None:
            yield f"{source.path}: belongs to no layer of tools/layers.toml; move it to a layer's folder"
            continue
        layer = table.layers[source.layer]
        for header in source.includes:
            if header.startswith("meshfuse/"):
                used = layer_of_header(header, table)
                if used is None:
                    yield f"{source.path}: includes '{header}', which belongs to no layer"
                elif (
                    used != layer.name
                    and used not in layer.uses
                    and header.removeprefix("meshfuse/") not in layer.headers
                ):
                    allowed = ", ".join(sorted(layer.uses | layer.headers)) or "no other layer"
                    yield (
                        f"{source.path}: layer '{layer.name}' may not include '{header}' of layer "
                        f"'{used}'; it may use {allowed}"
                    )
                continue
            group = table.third_party_group(header)
            if group is not None and group not in layer.third_party:
                homes = [la.name for la in table.layers.values() if group in la.third_party]
                yield (
                    f"{source.path}: '{header}' ({group}) is confined to {', '.join(homes)}; "
                    f"layer '{layer.name}' may not include it"
                )


def find_cycles(graph: dict[str, set[str]]) -> list[list[str]]:
    """One cycle per strongly connected component with more than one node, or with a self loop."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    components: list[set[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for after in sorted(graph[node]):
            if after not in index:
                visit(after)
                low[node] = min(low[node], low[after])
            elif after in stack:
                low[node] = min(low[node], index[after])
        if low[node] == index[node]:
            cut = stack.index(node)
            component = set(stack[cut:])
            del stack[cut:]
            if len(component) > 1 or node in graph[node]:
                components.append(component)

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return [shortest_cycle(graph, component) for component in components]


def shortest_cycle(graph: dict[str, set[str]], component: set[str]) -> list[str]:
    start = min(component)
    paths = [[start]]
    seen: set[str] = set()
    while paths:
        path = paths.pop(0)
        for after in sorted(graph[path[-1]] & component):
            if after == start:
                return [*path, start]
            if after not in seen:
                seen.add(after)
                paths.append([*path, after])
    return [start]


def check_cycles(sources: dict[str, SourceFile]) -> Iterator[str]:
    known = {name: source for name, source in sources.items() if name.startswith("meshfuse/")}
    files = {name: {inc for inc in s.includes if inc in known} for name, s in known.items()}
    for cycle in find_cycles(files):
        yield f"include cycle of files: {' -> '.join(cycle)}"
    # A structured op's files belong to different libraries, so its folder stands for itself per layer.
    folders: dict[str, set[str]] = {}
    for name, source in known.items():
        place = f"{os.path.dirname(name)} [{source.layer}]"
        after = {f"{os.path.dirname(inc)} [{known[inc].layer}]" for inc in files[name]}
        folders.setdefault(place, set()).update(after - {place})
    for cycle in find_cycles(folders):
        yield f"include cycle of folders: {' -> '.join(cycle)}"


def check_own_header_first(sources: dict[str, SourceFile]) -> Iterator[str]:
    for name, source in sources.items():
        if not name.endswith(".cpp") or not name.startswith("meshfuse/"):
            continue
        own = name.removesuffix(".cpp") + ".h"
        if own in sources and (not source.includes or source.includes[0] != own):
            first = f"'{source.includes[0]}'" if source.includes else "nothing"
            yield f"{source.path}: must include its own header '{own}' first; it includes {first} first"


def check_op_folders(root: Path, table: Table) -> Iterator[str]:
    ops = root / "src/meshfuse" / table.op_folder
    for folder in sorted(ops.iterdir()) if ops.is_dir() else []:
        if not folder.is_dir():
            continue
        names = {file.name for file in folder.iterdir() if file.is_file()}
        place = folder.relative_to(root).as_posix()
        for missing in sorted(table.op_files.keys() - names):
            yield f"{place}: the structured op '{folder.name}' lacks {missing}"
        for extra in sorted(names - table.op_files.keys()):
            yield f"{place}/{extra}: a structured op's folder holds only {', '.join(table.op_files)}"


def check_sizes(root: Path, table: Table) -> Iterator[str]:
    counted: dict[str, int] = {}
    for folder in SIZED_FOLDERS:
        for file in files_below(root, folder, SIZED_SUFFIXES):
            counted[file.relative_to(root).as_posix()] = file.read_bytes().count(b"\n")
    for path, lines in counted.items():
        if lines > table.size_hard:
            yield f"{path}: {lines} lines; no file may have more than {table.size_hard}: split it"
        elif lines > table.size_limit and path not in table.size_allowed:
            yield (
                f"{path}: {lines} lines; above {table.size_limit} a file needs a reason under [sizes.allow] "
                "in tools/layers.toml, or a split"
            )
    for path, reason in table.size_allowed.items():
        if not reason.strip():
            yield f"tools/layers.toml: [sizes.allow] gives no reason for {path}"
        if counted.get(path, 0) <= table.size_limit:
            yield f"tools/layers.toml: [sizes.allow] names {path}, which does not need it; remove the entry"


def check(root: Path, table: Table) -> list[str]:
    table.link_order()
    sources = read_sources(root, table)
    return [
        *check_permissions(sources.values(), table),
        *check_cycles(sources),
        *check_own_header_first(sources),
        *check_op_folders(root, table),
        *check_sizes(root, table),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    parser.add_argument("--cmake", action="store_true", help="print the table as CMake settings")
    arguments = parser.parse_args()
    table = read_table(arguments.root / "tools/layers.toml")
    if arguments.cmake:
        print("\n".join(cmake_settings(table)))
        return 0
    findings = check(arguments.root, table)
    for finding in findings:
        print(finding)
    if findings:
        print(f"check_layers: {len(findings)} finding(s)")
        return 1
    print("check_layers: clean")
    return 0


if __name__ == "__main__":
    sys.exit(main())
