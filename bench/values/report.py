"""Prints the table of `bench_values` and checks its bars.

Usage: bench_values --benchmark_repetitions=15 --benchmark_enable_random_interleaving=true \
           --benchmark_out=values.json --benchmark_out_format=json
       python bench/values/report.py values.json [more.json ...]

Several files count as one set of repetitions: where memory happens to lie differs from process to process.
"""

import json
import statistics
import sys
from collections import defaultdict

ARGUMENTS = 32
SLACK_NS = 0.3  # never slower than IValue by more
EVEN_SLACK = 0.05  # an even distributed tensor costs what a tensor costs
CREATE_NS = 40.0
ARGUMENT_NS = 10.0


def medians(paths: list[str]) -> dict[str, dict[str, float]]:
    """Median nanoseconds by row and implementation; the holder's row is per argument."""
    runs = []
    for path in paths:
        with open(path) as file:
            runs += json.load(file)["benchmarks"]
    samples: dict[tuple[str, str], list[float]] = defaultdict(list)
    for run in runs:
        if run.get("run_type") == "iteration":
            row, _, who = run["run_name"].split(" ")[0].rpartition("/")
            scale = {"ns": 1.0, "us": 1e3, "ms": 1e6}[run["time_unit"]]
            count = ARGUMENTS if row.startswith("holder") else 1
            samples[row, who].append(run["cpu_time"] * scale / count)
    rows: dict[str, dict[str, float]] = defaultdict(dict)
    for (row, who), times in samples.items():
        rows[row][who] = statistics.median(times)
    return rows


def bar(row: str, times: dict[str, float], rows: dict[str, dict[str, float]]) -> tuple[str, bool]:
    """The row's bar in words, and whether it is met."""
    ours = times["ours"]
    words: list[str] = []
    met = True
    if "ivalue" in times:
        words.append(f"<= ivalue + {SLACK_NS} ns")
        met &= ours <= times["ivalue"] + SLACK_NS
    what, _, kind = row.partition("/")
    if kind == "Even":
        words.append(f"tensor within {EVEN_SLACK:.0%}")
        met &= ours <= rows[f"{what}/Tensor"]["ours"] * (1 + EVEN_SLACK)
    if what == "create":
        words.append(f"<= {CREATE_NS:.0f} ns")
        met &= ours <= CREATE_NS
    if what == "holder":
        words.append(f"<= {ARGUMENT_NS:.0f} ns an argument")
        met &= ours <= ARGUMENT_NS
    return ", ".join(words), met


def main(paths: list[str]) -> int:
    rows = medians(paths)
    print(
        f"{'row':<18}{'ours':>9}{'IValue':>9}{'variant':>9}{'ours/IValue':>13}  bar (ns, medians)"
    )
    all_met = True
    for row, times in sorted(rows.items()):
        words, met = bar(row, times, rows)
        all_met &= met
        cells = "".join(
            f"{times[who]:>9.2f}" if who in times else f"{'':>9}"
            for who in ("ours", "ivalue", "variant")
        )
        ratio = f"{times['ours'] / times['ivalue']:>13.2f}" if "ivalue" in times else f"{'':>13}"
        print(f"{row:<18}{cells}{ratio}  {'ok  ' if met else 'MISS'} {words}")
    return 0 if all_met else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
