#!/usr/bin/env python3
"""Runs all linters over the tracked and new files: layers, clang-format, ruff, mypy, clang-tidy.

clang-tidy is the slow one. Its clean results are remembered in build/lint/tidy-cache by a hash of the file, our
headers it includes, its compile command and the configuration, so that a second run looks only at what changed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINT_BUILD = ROOT / "build/lint"
CACHE = LINT_BUILD / "tidy-cache"
TOOLS = Path(sys.executable).parent
OUR_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)
CPP_FOLDERS = ("src", "tests", "bench", "examples")
PYTHON_FOLDERS = ("python", "tests", "tools", "bench", "examples")
TYPED_FOLDERS = ("python", "tools", "examples")
# Flags that only the compiler of the build understands.
GCC_ONLY_FLAGS = {"-fno-semantic-interposition", "-fopenmp"}

BATCH_SIZE = 8


def run(command: list[str]) -> bool:
    return subprocess.run(command, cwd=ROOT, check=False).returncode == 0


def our_files(suffixes: tuple[str, ...], folders: tuple[str, ...]) -> list[str]:
    """Files of git's index and new ones that git does not ignore."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *folders],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    return sorted({name for name in listed if name.endswith(suffixes) and (ROOT / name).exists()})


def check_layers(_: argparse.Namespace) -> bool:
    return run([sys.executable, "tools/check_layers.py"])


def check_clang_format(arguments: argparse.Namespace) -> bool:
    files = our_files((".h", ".cpp"), CPP_FOLDERS)
    tool = str(TOOLS / "clang-format")
    if arguments.fix:
        return not files or run([tool, "-i", *files])
    done = subprocess.run(
        [tool, "--dry-run", *files], cwd=ROOT, check=False, capture_output=True, text=True
    )
    wrong = sorted(
        {line.split(":")[0] for line in done.stderr.splitlines() if ": warning: " in line}
    )
    for name in wrong:
        print(f"{name}: is not formatted as .clang-format says; 'make format' does it")
    return done.returncode == 0 and not wrong


def check_ruff(arguments: argparse.Namespace) -> bool:
    files = our_files((".py",), PYTHON_FOLDERS)
    fix = ["--fix"] if arguments.fix else []
    form = [] if arguments.fix else ["--check"]
    ruff = str(TOOLS / "ruff")
    checked = run([ruff, "check", "-q", *fix, *files])
    return run([ruff, "format", "-q", *form, *files]) and checked


def check_mypy(_: argparse.Namespace) -> bool:
    folders = [folder for folder in TYPED_FOLDERS if our_files((".py",), (folder,))]
    return run([str(TOOLS / "mypy"), *folders])


@dataclass(frozen=True)
class Unit:
    """One file to give to clang-tidy."""

    path: str
    command: str  # how the build compiles it
    key: str  # hash of everything its result depends on


@cache
def closure(path: Path) -> frozenset[Path]:
    """The file and those of our headers that it includes, directly or not."""
    found: set[Path] = set()
    waiting = [path]
    while waiting:
        file = waiting.pop()
        if file in found:
            continue
        found.add(file)
        for name in OUR_INCLUDE.findall(file.read_text(errors="replace")):
            for start in (ROOT / "src", LINT_BUILD / "generated", ROOT / "tests", file.parent):
                if (start / name).is_file():
                    waiting.append(start / name)
                    break
    return frozenset(found)


def units() -> Iterator[Unit]:
    configuration = b"".join(
        (ROOT / name).read_bytes() for name in (".clang-tidy", "tests/.clang-tidy")
    )
    configuration += version("clang-tidy").encode() + version("torch").encode()
    for entry in json.loads((LINT_BUILD / "compile_commands.json").read_text()):
        path = Path(entry["file"])
        if not path.is_relative_to(ROOT) or path.is_relative_to(ROOT / "build"):
            continue
        digest = hashlib.sha256(configuration + entry["command"].encode())
        for file in sorted(closure(path)):
            digest.update(file.as_posix().encode() + b"\0" + file.read_bytes())
        yield Unit(path.relative_to(ROOT).as_posix(), entry["command"], digest.hexdigest())


def batches(stale: list[Unit]) -> Iterator[list[Unit]]:
    """Files that are compiled alike, a few at a time: most of a file's time goes into torch's headers."""
    alike: dict[str, list[Unit]] = {}
    for unit in stale:
        alike.setdefault(re.sub(r" -o .*", "", unit.command), []).append(unit)
    for group in alike.values():
        count = -(-len(group) // BATCH_SIZE)
        yield from (group[start::count] for start in range(count))


def batch_file(number: int, batch: list[Unit]) -> Path:
    folder = LINT_BUILD / "tidy" / ("tests" if batch[0].path.startswith("tests/") else "")
    return folder / f"batch_{number}.cpp"


def write_tidy_commands(batched: list[list[Unit]]) -> None:
    """compile_commands.json as clang understands it, with one entry more for each batch."""
    folder = LINT_BUILD / "tidy"
    folder.mkdir(exist_ok=True)
    entries = json.loads((LINT_BUILD / "compile_commands.json").read_text())
    # A batch of tests lies below a copy of their configuration.
    (folder / "tests").mkdir(exist_ok=True)
    shutil.copy(ROOT / "tests/.clang-tidy", folder / "tests/.clang-tidy")
    for number, batch in enumerate(batched):
        source = batch_file(number, batch)
        source.write_text("".join(f'#include "{ROOT / unit.path}"\n' for unit in batch))
        command = re.sub(r" -o .*", f" -o batch.o -c {source}", batch[0].command)
        entries.append({"directory": str(LINT_BUILD), "file": str(source), "command": command})
    for entry in entries:
        words = [word for word in shlex.split(entry["command"]) if word not in GCC_ONLY_FLAGS]
        entry["command"] = shlex.join(words)
    (folder / "compile_commands.json").write_text(json.dumps(entries))


def clang_tidy(path: str, *flags: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(TOOLS / "clang-tidy"), "-p", str(LINT_BUILD / "tidy"), "--quiet", *flags, path],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )


def tidy(number: int, batch: list[Unit]) -> dict[str, str]:
    """What clang-tidy says about each file of a batch that is not clean.

    A batch that is clean as one file means clean files. One that is not is looked at file by file, as its files may
    only disagree among themselves (two helpers of one name).
    """
    if len(batch) > 1:
        together = batch_file(number, batch)
        if clang_tidy(str(together), "--checks=-bugprone-suspicious-include").returncode == 0:
            for unit in batch:
                (CACHE / unit.key).touch()
            return {}
    told: dict[str, str] = {}
    for unit in batch:
        done = clang_tidy(unit.path)
        if done.returncode == 0:
            (CACHE / unit.key).touch()
        else:
            told[unit.path] = done.stdout if done.stdout.strip() else done.stderr
    return told


def check_clang_tidy(arguments: argparse.Namespace) -> bool:
    if arguments.fix:
        return True
    CACHE.mkdir(exist_ok=True)
    all_units = list(units())
    stale = [unit for unit in all_units if not (CACHE / unit.key).exists()]
    batched = list(batches(stale))
    write_tidy_commands(batched)
    print(
        f"   {len(stale)} of {len(all_units)} files have changed since they were clean", flush=True
    )
    # Bindings and torch files first: they take longest, and the last ones should be short.
    order = sorted(
        range(len(batched)),
        key=lambda n: ("frontend" not in batched[n][0].path, "torch" not in batched[n][0].command),
    )
    clean = True
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for done in as_completed([pool.submit(tidy, n, batched[n]) for n in order]):
            for text in done.result().values():
                clean = False
                print(text.rstrip(), flush=True)
    live = {unit.key for unit in all_units}
    for entry in CACHE.iterdir():
        if entry.name not in live:
            entry.unlink()
    return clean


CHECKS: dict[str, Callable[[argparse.Namespace], bool]] = {
    "check_layers": check_layers,
    "clang-format": check_clang_format,
    "ruff": check_ruff,
    "mypy": check_mypy,
    "clang-tidy": check_clang_tidy,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--jobs", type=int, default=2, help="clang-tidy processes at a time")
    parser.add_argument("--fix", action="store_true", help="rewrite files (clang-format, ruff)")
    parser.add_argument("checks", nargs="*", metavar="check", help=f"of {', '.join(CHECKS)}")
    arguments = parser.parse_args()
    unknown = set(arguments.checks) - CHECKS.keys()
    if unknown:
        parser.error(f"no such check: {', '.join(sorted(unknown))}")
    failed: list[str] = []
    for name in arguments.checks or CHECKS:
        start = time.monotonic()
        print(f"== {name}", flush=True)
        if not CHECKS[name](arguments):
            failed.append(name)
        print(f"   {time.monotonic() - start:.1f} s", flush=True)
    print(f"lint: failed: {', '.join(failed)}" if failed else "lint: clean")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
