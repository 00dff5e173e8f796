"""Generated kernels beside eager torch, torch.compile and the machine: nine kernels at two sizes and types, first calls, growth
with the number of operations, new batch sizes, memory.

All figures that are compared are measured in turns in one process; they are medians over the turns, ratios those of a turn.
torch.compile is measured as it comes, and with the C library told to keep what is freed. Every program runs in a process of
its own, with a cache of kernels of its own.

    PYTHONPATH=build/release/python python bench/kernels/bench_kernels.py [--rows PART,...] [--kernels NAME,...] [--quick]
                                                                          [--json FILE] [--check]
"""

import argparse
import json
import statistics
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from bars import Bar, at_least, at_most
from definitions import DTYPES, KERNELS
from timing import Times, fresh_cache, geometric_mean, in_child, median, ratio

#: glibc keeps freed memory, as our pool does, instead of unmapping it.
KEEPING = "glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=4000000000"
LARGE, SMALL = "4096x4096", "64x512"
COPY_BARS = {"float32": (0.75, 0.5), "bfloat16": (0.60, 0.35)}  # geometric mean, least
TIERED_KERNELS = ("silu_mul", "softmax", "layer_norm")
BLOCKS = (2, 4, 8, 16, 64)
CHAINS = (1000, 10000)


@dataclass
class Report:
    """What was measured, and the bars."""

    quick: bool
    kernels: list[str]
    figures: dict[str, Any] = field(default_factory=dict)
    bars: list[Bar] = field(default_factory=list)

    def add(self, *bars: Bar) -> None:
        self.bars += bars
        for bar in bars:
            print(bar, flush=True)

    def steady(self, size: str, environment: dict[str, str]) -> list[dict[str, Any]]:
        """The rows of steady.py, printed."""
        turns = "3" if self.quick else "15"
        with fresh_cache() as cache:
            rows = in_child("steady.py", size, turns, *self.kernels, cache=cache, **environment)
        keeps = bool(environment)
        print(
            f"\n{size}, {'C library keeps freed memory' if keeps else 'torch.compile as it comes'}"
        )
        print(
            f"{'':26} {'ours':>9} {'inductor':>9} {'eager':>9} {'copy_':>9} us; by inductor, eager, copy_"
        )
        for row in rows:
            times = row["seconds"]
            names = ("ours", "inductor", "eager", "copy")
            print(
                f"{row['kernel']:16} {row['dtype']:9}",
                *(f"{median(times, name) * 1e6:9.1f}" for name in names),
                *(f"{ratio(times, name, 'ours'):7.2f}" for name in names[1:]),
            )
        self.figures[f"{size}{' keeping' if keeps else ''}"] = [
            row | {"seconds": {name: median(row["seconds"], name) for name in row["seconds"]}}
            for row in rows
        ]
        return list(rows)


def of_type(rows: list[dict[str, Any]], dtype: str, are_sums: bool) -> dict[str, Times]:
    return {
        row["kernel"]: row["seconds"]
        for row in rows
        if row["dtype"] == dtype and KERNELS[row["kernel"]].is_sum == are_sums
    }


def over(rows: dict[str, Times], peer: str) -> list[float]:
    return [ratio(times, peer, "ours") for times in rows.values()]


def large(report: Report) -> None:
    plain = report.steady(LARGE, {})
    keeping = report.steady(LARGE, {"GLIBC_TUNABLES": KEEPING})
    for dtype in DTYPES:
        mean_bar, least_bar = COPY_BARS[dtype]
        for rows, what, bar in ((plain, "as it comes", 4.0), (keeping, "keeping memory", 1.4)):
            kernels = of_type(rows, dtype, are_sums=False)
            if kernels:
                speeds = over(kernels, "inductor")
                report.add(
                    at_least(
                        f"{dtype}: inductor {what} / ours, geomean", geometric_mean(speeds), bar
                    ),
                    at_least(f"{dtype}: inductor {what} / ours, least", min(speeds), 0.95),
                )
            for name, times in of_type(rows, dtype, are_sums=True).items():
                report.add(
                    at_least(
                        f"{dtype} {name}: read / ours, {what}", ratio(times, "read", "ours"), 0.9
                    ),
                    at_least(
                        f"{dtype} {name}: inductor {what} / ours",
                        ratio(times, "inductor", "ours"),
                        1.0,
                    ),
                )
        kernels = of_type(plain, dtype, are_sums=False)
        if kernels:
            copies = over(kernels, "copy")
            report.add(
                at_least(f"{dtype}: copy_ / ours, geomean", geometric_mean(copies), mean_bar),
                at_least(f"{dtype}: copy_ / ours, least", min(copies), least_bar),
            )


def small(report: Report) -> None:
    rows = report.steady(SMALL, {})
    for dtype in DTYPES:
        kernels = of_type(rows, dtype, are_sums=False) | of_type(rows, dtype, are_sums=True)
        report.add(
            at_least(
                f"{dtype} {SMALL}: inductor / ours, geomean",
                geometric_mean(over(kernels, "inductor")),
                5.0,
            ),
            at_least(f"{dtype} {SMALL}: eager / ours, least", min(over(kernels, "eager")), 1.0),
        )


def first(report: Report) -> None:
    """Cold, from a warm cache in a new process, and tiered."""
    print("\nfirst calls")
    repeats = 1 if report.quick else 5
    figures = report.figures["first calls"] = {}

    def call(name: str, size: str, what: str, cache: str, **environment: str) -> dict[str, Any]:
        return dict(in_child("first_call.py", name, size, what, cache=cache, **environment))

    def cold(name: str, size: str, what: str, **environment: str) -> dict[str, Any]:
        with fresh_cache() as cache:
            return call(name, size, what, cache, **environment)

    def seconds(measure: Callable[[], dict[str, Any]]) -> float:
        return statistics.median(measure()["seconds"] for _ in range(repeats))

    def inductor(name: str) -> float:
        """Seconds, with an empty cache of its own."""
        with fresh_cache() as cache:
            return float(
                call(name, SMALL, "inductor", cache, TORCHINDUCTOR_CACHE_DIR=cache)["seconds"]
            )

    for name in report.kernels:
        calls = [cold(name, SMALL, "definition") for _ in range(repeats)]
        each = statistics.median(row["seconds"] / max(1, row["kernels"]) for row in calls)
        with fresh_cache() as cache:
            call(name, SMALL, "definition", cache)
            warm = seconds(lambda name=name, cache=cache: call(name, SMALL, "definition", cache))
        figures[name] = {"cold, a kernel": each, "warm": warm, "kernels": calls[0]["kernels"]}
        report.add(
            at_most(f"{name}: first call, cold, ms a kernel", each * 1e3, 250),
            at_most(f"{name}: first call, new process, warm disk cache, ms", warm * 1e3, 20),
        )
    for name in (name for name in TIERED_KERNELS if name in report.kernels):
        peer = figures[name]["inductor"] = inductor(name)
        speed = peer / figures[name]["cold, a kernel"]
        print(f"{name}: torch.compile's first call {peer:.2f} s, {speed:.0f} x a kernel of ours")
        for size in (SMALL, LARGE):
            tiered = seconds(
                lambda name=name, size=size: cold(name, size, "definition", MESHFUSE_TIERED="1")
            )
            eager = seconds(lambda name=name, size=size: cold(name, size, "torch"))
            figures[f"{name} {size} tiered"] = {"ours": tiered, "eager": eager}
            report.add(
                at_most(f"{name} {size}: first call tiered / eager's first", tiered / eager, 2.0)
            )


def growth(report: Report) -> None:
    print("\ngrowth")

    figures = report.figures["growth"] = {}

    def once(what: str, count: int) -> dict[str, float]:
        with fresh_cache() as cache:
            return dict(in_child("growth.py", what, str(count), cache=cache))

    def seconds(what: str, count: int) -> float:
        rows = [once(what, count) for _ in range(1 if report.quick else 3)]
        total = statistics.median(row["definition"] + row["first_call"] for row in rows)
        figures[f"{what} {count}"] = {"seconds": total, "kernels": rows[0]["kernels"]}
        print(f"{what} {count}: {total:.3f} s, {rows[0]['kernels']} kernels", flush=True)
        return total

    blocks = {count: seconds("blocks", count) for count in BLOCKS}
    chains = {count: seconds("chain", count) for count in CHAINS}
    short, long = CHAINS
    report.add(
        at_most("16 normalization blocks, s", blocks[16], 1.0),
        at_most("64 blocks / 16 blocks", blocks[64] / blocks[16], 1.5),
        at_most("chain of 10,000, s", chains[long], 4.0),
        at_most(
            "chain: time an operation, 10,000 / 1,000",
            (chains[long] / long) / (chains[short] / short),
            1.25,
        ),
    )


def sizes(report: Report) -> None:
    print("\n64 batch sizes")
    for name in report.kernels:
        with fresh_cache() as cache:
            row = in_child("sizes.py", name, cache=cache)
        report.figures.setdefault("sizes", {})[name] = row
        report.add(
            at_most(f"{name}: compilations", row["compilations"], 4),
            at_most(f"{name}: a new size over a seen one, us", row["new"] - row["seen"], 60),
        )


def memory(report: Report) -> None:
    """Intermediates and partial sums come from the pool as results do: they count in the peak, and not as allocations where the
    pool has a block for them."""
    print("\nmemory")
    for size in (SMALL, LARGE):
        with fresh_cache() as cache:
            result = in_child(
                "memory.py", size, *report.kernels, cache=cache, KINETO_LOG_LEVEL="99"
            )
        report.figures[f"memory {size}"] = result
        rows = result["rows"]
        for row in rows:
            print(
                f"{row['kernel']:16} {row['dtype']:9} {size}: output {row['output']:>10}, "
                f"allocated {row['allocated']:>10}, peak {row['peak']:>10}, eager's {row['eager_peak']:>10}"
            )
        report.add(
            at_most(
                f"{size}: blocks from the system in later calls",
                max(row["from_system"] for row in rows),
                0,
            ),
            *(
                at_most(
                    f"{row['kernel']} {row['dtype']} {size}: peak / eager's",
                    row["peak"] / row["eager_peak"],
                    1.0,
                )
                for row in rows
            ),
            at_most(f"{size}: kept / cap of the pool", result["most_kept"] / result["cap"], 1.0),
        )


PARTS = {
    "large": large,
    "small": small,
    "first": first,
    "growth": growth,
    "sizes": sizes,
    "memory": memory,
}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", default=",".join(PARTS), help=f"parts of it: {', '.join(PARTS)}")
    parser.add_argument("--kernels", default=",".join(KERNELS), help=f"of {', '.join(KERNELS)}")
    parser.add_argument("--quick", action="store_true", help="few turns: to see that it runs")
    parser.add_argument("--json", type=Path, help="write the figures here")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a bar is missed")
    options = parser.parse_args()
    report = Report(options.quick, options.kernels.split(","))
    for part in options.rows.split(","):
        PARTS[part](report)
    missed = [bar for bar in report.bars if not bar.is_met]
    print(f"\n{len(report.bars) - len(missed)} bars met, {len(missed)} missed")
    if options.json:
        figures = {
            "torch": torch.__version__,
            "threads": torch.get_num_threads(),
            **report.figures,
            "bars": [bar.as_json() for bar in report.bars],
        }
        options.json.write_text(json.dumps(figures, indent=1))
    return 1 if options.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
