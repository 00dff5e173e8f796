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
CPP_FOLDERS = ("src", "tests", "bench", "examples", "device")
PYTHON_FOLDERS = ("python", "tests", "tools", "bench", "examples")
TYPED_FOLDERS = ("python", "tools", "examples")
# Flags that only the compiler of the build understands.
GCC_ONLY_FLAGS = {
    "-floop-unroll-and-jam",
    "-fno-semantic-interposition",
    "-fno-thread-jumps",
    "-fno-tree-pre",
    "-fopenmp",
    "-fpeel-loops",
    "-funswitch-loops",
    "-fvect-cost-model=dynamic",
}

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
    flags: str  # the compiler and the flags that the build gives it
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
        flags = re.sub(r" -o .*", "", entry["command"])
        digest = hashlib.sha256(configuration + flags.encode())
        for file in sorted(closure(path)):
            digest.update(file.as_posix().encode() + b"\0" + file.read_bytes())
        yield Unit(path.relative_to(ROOT).as_posix(), flags, digest.hexdigest())


def batches(stale: list[Unit]) -> Iterator[list[Unit]]:
    """Files that are compiled alike, a few at a time: most of a file's time goes into torch's headers."""
    alike: dict[str, list[Unit]] = {}
    for unit in stale:
        alike.setdefault(unit.flags, []).append(unit)
    for group in alike.values():
        count = -(-len(group) // BATCH_SIZE)
        yield from (group[start::count] for start in range(count))


def clang_tidy(batch: list[Unit]) -> tuple[bool, str]:
    """Runs clang-tidy over the files of a batch as if they were one; whether they are clean, and what it says."""
    folder = LINT_BUILD / "tidy"
    if batch[0].path.startswith("tests/"):
        folder /= "tests"  # below a copy of the configuration of tests
    flags = [word for word in shlex.split(batch[0].flags)[1:] if word not in GCC_ONLY_FLAGS]
    path = ROOT / batch[0].path
    command = [str(TOOLS / "clang-tidy"), "--quiet"]
    # Device text has no branches: `&` of two bools is meant.
    flags.append("-Wno-bitwise-instead-of-logical")
    if len(batch) > 1:
        path = (
            folder
            / f"batch_{hashlib.sha256(''.join(u.key for u in batch).encode()).hexdigest()[:16]}.cpp"
        )
        path.write_text("".join(f'#include "{ROOT / unit.path}"\n' for unit in batch))
        command.append("--checks=-bugprone-suspicious-include")
    done = subprocess.run(
        [*command, str(path), "--", *flags], cwd=ROOT, check=False, capture_output=True, text=True
    )
    if len(batch) > 1:
        path.unlink()
    return done.returncode == 0, done.stdout if done.stdout.strip() else done.stderr


def tidy(batch: list[Unit]) -> list[str]:
    """What clang-tidy says about a batch; clean files are remembered.

    Files that do not compile together (two helpers of one name, say) are split until they do.
    """
    clean, text = clang_tidy(batch)
    if clean:
        for unit in batch:
            (CACHE / unit.key).touch()
        return []
    if len(batch) > 1 and "[clang-diagnostic-error]" in text:
        middle = len(batch) // 2
        return tidy(batch[:middle]) + tidy(batch[middle:])
    return [text]


def check_clang_tidy(arguments: argparse.Namespace) -> bool:
    if arguments.fix:
        return True
    CACHE.mkdir(parents=True, exist_ok=True)
    all_units = list(units())
    stale = [unit for unit in all_units if not (CACHE / unit.key).exists()]
    print(
        f"   {len(stale)} of {len(all_units)} files have changed since they were clean", flush=True
    )
    (LINT_BUILD / "tidy/tests").mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / "tests/.clang-tidy", LINT_BUILD / "tidy/tests/.clang-tidy")
    # Bindings and torch files first: they take longest, and the last ones should be short.
    batched = sorted(
        batches(stale), key=lambda b: ("frontend" not in b[0].path, "torch" not in b[0].flags)
    )
    clean = True
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for done in as_completed([pool.submit(tidy, batch) for batch in batched]):
            for text in done.result():
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
