#!/usr/bin/env python3
"""Runs every benchmark: the bench_* binaries of a build, then bench/*/bench_*.py with the built package."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True, help="a configured and built folder")
    parser.add_argument("names", nargs="*", help="only these folders of bench/ (default: all)")
    arguments = parser.parse_args()
    build = arguments.build.resolve()

    commands: list[list[str]] = []
    for folder in sorted(path for path in (ROOT / "bench").glob("*") if path.is_dir()):
        if arguments.names and folder.name not in arguments.names:
            continue
        binary = build / "bench" / f"bench_{folder.name}"
        if binary.exists():
            commands.append([str(binary)])
        commands += [[sys.executable, str(script)] for script in sorted(folder.glob("bench_*.py"))]
    if not commands:
        print("run_benchmarks: nothing to run")
        return 1
    environment = os.environ | {
        "PYTHONPATH": str(build / "python"),
        "MESHFUSE_BENCH_BUILD": str(build),
    }
    failed = 0
    for command in commands:
        print(
            f"\n== {Path(command[-1]).relative_to(build if len(command) == 1 else ROOT)}",
            flush=True,
        )
        failed += subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode != 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
