"""What writing a definition costs: 1,000 operations, beside a torch.fx graph of the same operations, and beside running them
on meta tensors, which infers the same shapes and types.

All rows are timed in turns within one run; the figures are medians over the turns, in milliseconds of this thread's processor
time, so that other work on the machine counts as little as possible.

    PYTHONPATH=build/release/python python bench/definition/bench_definition.py [--json FILE] [--check]
"""

import argparse
import gc
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch

from meshfuse import FusionDefinition, LruFusionCache

OPERATIONS = 1000
BAR_MS = 2.0


def chain() -> FusionDefinition:
    """Additions of a number: each operation infers a shape, promotes types and is recorded."""
    with FusionDefinition() as fd:
        value = fd.define_tensor([-1, -1])
        add = fd.ops.add
        for _ in range(OPERATIONS):
            value = add(value, 1.0)
        fd.add_output(value)
    return fd


def mixed() -> FusionDefinition:
    """Unrolled layers: products, broadcasts, a sum that keeps its dimension, a view there and back."""
    with FusionDefinition() as fd:
        x, w = fd.define_tensor([-1, 16]), fd.define_tensor([16])
        ops = fd.ops
        for _ in range(OPERATIONS // 10):
            scaled = ops.mul(x, ops.broadcast_in_dim(w, [1, 16], [1]))
            total = ops.sum(ops.mul(scaled, scaled), [1], True)
            normal = ops.mul(scaled, ops.rsqrt(ops.add(ops.mul(total, 1 / 16), 1e-5)))
            x = ops.permute(ops.permute(normal, [1, 0]), [1, 0])
        fd.add_output(x)
    return fd


def fx_chain() -> torch.fx.Graph:
    graph = torch.fx.Graph()
    value = graph.placeholder("x")
    for _ in range(OPERATIONS):
        value = graph.call_function(torch.add, (value, 1.0))
    graph.output(value)
    return graph


def fx_mixed() -> torch.fx.Graph:
    graph = torch.fx.Graph()
    x, w = graph.placeholder("x"), graph.placeholder("w")
    call = graph.call_function
    for _ in range(OPERATIONS // 10):
        scaled = call(torch.mul, (x, call(torch.reshape, (w, (1, 16)))))
        total = call(torch.sum, (call(torch.mul, (scaled, scaled)), (1,), True))
        shifted = call(torch.add, (call(torch.mul, (total, 1 / 16)), 1e-5))
        normal = call(torch.mul, (scaled, call(torch.rsqrt, (shifted,))))
        x = call(torch.permute, (call(torch.permute, (normal, (1, 0))), (1, 0)))
    graph.output(x)
    return graph


def meta_chain() -> torch.Tensor:
    value = torch.empty(4, 16, device="meta")
    for _ in range(OPERATIONS):
        value = torch.add(value, 1.0)
    return value


@LruFusionCache(max_fusions=8)
def cached_chain() -> FusionDefinition:
    return chain()


ROWS: dict[str, Callable[[], object]] = {
    "definition: 1,000 additions": chain,
    "torch.fx graph: 1,000 additions": fx_chain,
    "meta tensors: 1,000 additions": meta_chain,
    "definition: 1,000 mixed operations": mixed,
    "torch.fx graph: 1,000 mixed operations": fx_mixed,
    "definition found in the cache: 1,000 additions": cached_chain,
}


def milliseconds(make: Callable[[], object]) -> float:
    start = time.thread_time_ns()
    made = make()
    elapsed = time.thread_time_ns() - start
    del made
    return elapsed / 1e6


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the figures here")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a bar is missed")
    parser.add_argument("--turns", type=int, default=31)
    options = parser.parse_args()

    turns: dict[str, list[float]] = {name: [] for name in ROWS}
    for make in ROWS.values():
        make()
    for _ in range(options.turns):
        for name, make in ROWS.items():
            gc.collect()
            gc.disable()
            turns[name].append(milliseconds(make))
            gc.enable()
    times = {name: statistics.median(values) for name, values in turns.items()}
    for name, value in times.items():
        print(f"{name:50} {value:8.3f} ms")
    executors = len({id(cached_chain().fec) for _ in range(32)})
    bars = [
        (f"{name}, ms", times[name], BAR_MS)
        for name in ("definition: 1,000 additions", "definition: 1,000 mixed operations")
    ]
    bars.append(("executors of one definition made 32 times", float(executors), 1.0))
    for what, value, bar in bars:
        print(f"{what:50} {value:8.3f}, bar {bar:.0f} {'missed' if value > bar else 'met'}")
    for what in ("1,000 additions", "1,000 mixed operations"):
        pairs = zip(turns[f"definition: {what}"], turns[f"torch.fx graph: {what}"], strict=True)
        ratio = statistics.median(ours / fx for ours, fx in pairs)
        print(f"{'definition / torch.fx, ' + what:50} {ratio:8.3f}")
    if options.json:
        figures = {
            "torch": torch.__version__,
            "milliseconds": times,
            "bars": [{"what": what, "value": value, "bar": bar} for what, value, bar in bars],
        }
        options.json.write_text(json.dumps(figures, indent=1))
    return 1 if options.check and any(value > bar for _, value, bar in bars) else 0


if __name__ == "__main__":
    sys.exit(main())
