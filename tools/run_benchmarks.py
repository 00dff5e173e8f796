#!/usr/bin/env python3
"""Runs every benchmark of a build, folder by folder of bench/: the binary bench_<folder>, report.py on its times where
there is one, then each bench_*.py with the built package. Figures are written to <build>/bench/*.json."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

# Medians of interleaved repetitions: a busy moment of the machine touches every row alike.
REPETITIONS = (
    "--benchmark_repetitions=15",
    "--benchmark_enable_random_interleaving=true",
    "--benchmark_min_time=0.05",
    "--benchmark_report_aggregates_only=false",
    "--benchmark_display_aggregates_only=true",
)
ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True, help="a configured and built folder")
    parser.add_argument("names", nargs="*", help="only these folders of bench/ (default: all)")
    arguments = parser.parse_args()
    build = arguments.build.resolve()

    environment = os.environ | {
        "PYTHONPATH": str(build / "python"),
        "MESHFUSE_BENCH_BUILD": str(build),
    }

    def run(*command: str | Path) -> bool:
        print(f"\n== {' '.join(str(word) for word in command)}", flush=True)
        words = [str(word) for word in command]
        return subprocess.run(words, cwd=ROOT, env=environment, check=False).returncode == 0

    results: list[bool] = []
    for folder in sorted(path for path in (ROOT / "bench").glob("*") if path.is_dir()):
        if arguments.names and folder.name not in arguments.names:
            continue
        binary = build / "bench" / f"bench_{folder.name}"
        if binary.exists():
            times = build / "bench" / f"{folder.name}.json"
            results.append(
                run(binary, *REPETITIONS, f"--benchmark_out={times}", "--benchmark_out_format=json")
            )
            report = folder / "report.py"
            if results[-1] and report.exists():
                results.append(run(sys.executable, report, times))
        for script in sorted(folder.glob("bench_*.py")):
            figures = build / "bench" / f"{script.stem}.json"
            results.append(run(sys.executable, script, "--json", figures))
    if not results:
        print("run_benchmarks: nothing to run")
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
