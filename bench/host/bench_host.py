"""What a call costs the host: execute() beside the floor in C++ and beside eager PyTorch, with tensors and with DTensors.

All rows are timed in turns within one run; the figures are medians over the turns, in nanoseconds of this thread's processor
time, so that other work on the machine counts as little as possible.

    PYTHONPATH=build/release/python python bench/host/bench_host.py [--json FILE] [--check]
"""

import argparse
import gc
import importlib.util
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import DTensor, Shard

import meshfuse
from meshfuse import FusionDefinition

ARGUMENT_COUNTS = (1, 9, 17)
BLOCK_COUNTS = (1, 9)
CHAIN = "relu(a * b + 1) * 2"


def load_floor() -> Any:
    """The C++ loop, built beside the package."""
    folder = Path(meshfuse.__file__).parent.parent.parent / "bench"
    for path in sorted(folder.glob("_floor*.so")) + sorted(
        Path(__file__).parent.glob("_floor*.so")
    ):
        spec = importlib.util.spec_from_file_location("_floor", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    raise SystemExit(
        f"bench_host: no _floor module in {folder}; build the target meshfuse_bench_floor"
    )


def copy_definition(tensors: int, numbers: int = 0) -> FusionDefinition:
    """Copies its first tensor; the other inputs are only passed."""
    with FusionDefinition() as fd:
        inputs = [fd.define_tensor([-1, -1], contiguity=True) for _ in range(tensors)]
        for _ in range(numbers):
            fd.define_scalar()
        fd.add_output(fd.ops.set(inputs[0]))
    return fd


def sum_definition(tensors: int) -> FusionDefinition:
    """((t0 + t1) + t2) + …"""
    with FusionDefinition() as fd:
        inputs = [fd.define_tensor([-1, -1], contiguity=True) for _ in range(tensors)]
        total = fd.ops.set(inputs[0])
        for other in inputs[1:]:
            total = fd.ops.add(total, other)
        fd.add_output(total)
    return fd


def chain_definition() -> FusionDefinition:
    """relu(a * b + 1) * 2"""
    with FusionDefinition() as fd:
        a, b = (fd.define_tensor([-1, -1], contiguity=True) for _ in range(2))
        ops = fd.ops
        fd.add_output(ops.mul(ops.relu(ops.add(ops.mul(a, b), 1.0)), 2.0))
    return fd


def chain_in_torch(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.relu(a * b + 1) * 2


def blocks_definition(blocks: int) -> FusionDefinition:
    """Rows and columns divided by their sums in turn: what one kernel makes is read by the next in another order."""
    with FusionDefinition() as fd:
        value = fd.define_tensor([-1, -1], contiguity=True)
        for block in range(blocks):
            value = fd.ops.truediv(value, fd.ops.sum(value, [1 - block % 2], keepdim=True))
        fd.add_output(value)
    return fd


def kernels_of(fd: FusionDefinition) -> int:
    """How many kernels the program of the last call launches."""
    return sum(line.startswith("launch") for line in fd.explain().splitlines())


def statement(text: str, **names: Any) -> Callable[[int], float]:
    """Mean nanoseconds of a statement, compiled into the loop: no function call around it."""
    source = f"def measure(count):\n start = clock()\n for _ in range(count):\n  {text}\n return (clock() - start) / count\n"
    namespace = {"clock": time.thread_time_ns, **names}
    exec(compile(source, f"<{text}>", "exec"), namespace)
    return namespace["measure"]


def plain_rows(floor: Any) -> dict[str, Callable[[int], float]]:
    a = torch.randn(16, 16)
    rows: dict[str, Callable[[int], float]] = {
        "floor: unpack + allocate + wrap": lambda count: floor.nanoseconds(a, count),
        "execute: set": statement("fd.execute([a])", fd=copy_definition(1), a=a),
        "eager: clone()": statement("a.clone()", a=a),
        "execute: add": statement("fd.execute([a, a])", fd=sum_definition(2), a=a),
        "eager: a + a": statement("a + a", a=a),
        f"execute: {CHAIN}": statement("fd.execute([a, a])", fd=chain_definition(), a=a),
        f"eager: {CHAIN}": statement("run(a, a)", run=chain_in_torch, a=a),
        f"torch.compile: {CHAIN}": statement(
            "run(a, a)", run=torch.compile(chain_in_torch, dynamic=False), a=a
        ),
    }
    for count in BLOCK_COUNTS:
        fd = blocks_definition(count)
        fd.execute([a])
        rows[f"execute: {count} blocks, {kernels_of(fd)} kernels"] = statement(
            "fd.execute([a])", fd=fd, a=a
        )
    for count in ARGUMENT_COUNTS:
        tensors = [torch.randn(16, 16) for _ in range(count)]
        rows[f"execute: set, {count} tensors"] = statement(
            "fd.execute(args)", fd=copy_definition(count), args=tensors
        )
        rows[f"execute: set, 1 tensor, {count - 1} numbers"] = statement(
            "fd.execute(args)", fd=copy_definition(1, count - 1), args=[a, *([1.5] * (count - 1))]
        )
    return rows


def dtensor_rows(mesh: DeviceMesh) -> dict[str, Callable[[int], float]]:
    local = torch.randn(16, 16)
    d = DTensor.from_local(local, mesh, [Shard(0)], run_check=False)
    rows = {
        "torch: _dtensor__new__": statement(
            "new(DTensor, local, spec, requires_grad=False)",
            new=torch.Tensor._dtensor__new__,
            DTensor=DTensor,
            local=local,
            spec=d._spec,
        ),
        "execute: set, DTensor": statement("fd.execute([d])", fd=copy_definition(1), d=d),
        "eager: DTensor clone()": statement("d.clone()", d=d),
        "execute: add, DTensor": statement("fd.execute([d, d])", fd=sum_definition(2), d=d),
        "eager: DTensor d + d": statement("d + d", d=d),
        f"execute: {CHAIN}, DTensors": statement("fd.execute([d, d])", fd=chain_definition(), d=d),
        f"eager: {CHAIN}, DTensors": statement("run(d, d)", run=chain_in_torch, d=d),
        f"torch.compile: {CHAIN}, DTensors": statement(
            "run(d, d)", run=torch.compile(chain_in_torch, dynamic=False), d=d
        ),
    }
    for count in ARGUMENT_COUNTS:
        tensors = [
            DTensor.from_local(torch.randn(16, 16), mesh, [Shard(0)], run_check=False)
            for _ in range(count)
        ]
        rows[f"execute: set, {count} DTensors"] = statement(
            "fd.execute(args)", fd=copy_definition(count), args=tensors
        )
    return rows


def measure(
    rows: dict[str, Callable[[int], float]], turns: int, seconds: float
) -> dict[str, list[float]]:
    counts = {}
    for name, run in rows.items():
        run(200)
        counts[name] = max(20, int(seconds * 1e9 / run(200)))
    times: dict[str, list[float]] = {name: [] for name in rows}
    gc.disable()
    for _ in range(turns):
        for name, run in rows.items():
            times[name].append(run(counts[name]))
    gc.enable()
    return times


def bars(times: dict[str, list[float]]) -> list[tuple[str, float, float, bool]]:
    """(what, measured, bar, whether it is the most allowed). Each compares rows within a turn; the figures are medians over
    the turns."""
    first, last = ARGUMENT_COUNTS[0], ARGUMENT_COUNTS[-1]

    def median(of: Callable[..., float], *names: str) -> float:
        return statistics.median(
            of(*values) for values in zip(*(times[name] for name in names), strict=True)
        )

    def each_extra(row: str, base: str, count: int) -> float:
        return median(lambda many, one: (many - one) / count, row, base)

    def times_faster(row: str, peer: str) -> float:
        return median(lambda ours, theirs: theirs / ours, row, peer)

    floor, call = "floor: unpack + allocate + wrap", f"execute: {CHAIN}"
    few, many = (name for name in times if name.endswith("kernels"))
    more_kernels = int(many.split()[-2]) - int(few.split()[-2])
    return [
        ("execute set / floor", median(lambda a, b: a / b, "execute: set", floor), 1.8, True),
        (f"execute {CHAIN} / floor", median(lambda a, b: a / b, call, floor), 1.8, True),
        ("the same: eager / ours", times_faster(call, f"eager: {CHAIN}"), 5, False),
        (
            "the same: torch.compile / ours",
            times_faster(call, f"torch.compile: {CHAIN}"),
            12,
            False,
        ),
        *(
            (
                f"execute {what} with DTensors, ns",
                median(lambda a: a, f"execute: {what}{end}"),
                median(lambda a, b: a + 1.5 * b + 400, floor, "torch: _dtensor__new__"),
                True,
            )
            for what, end in (("set", ", DTensor"), (CHAIN, ", DTensors"))
        ),
        (
            "the same: torch.compile / ours",
            times_faster(f"{call}, DTensors", f"torch.compile: {CHAIN}, DTensors"),
            12,
            False,
        ),
        (
            "each extra tensor, ns",
            each_extra(
                f"execute: set, {last} tensors", f"execute: set, {first} tensors", last - first
            ),
            40,
            True,
        ),
        (
            "each extra number, ns",
            each_extra(
                f"execute: set, 1 tensor, {last - 1} numbers",
                f"execute: set, 1 tensor, {first - 1} numbers",
                last - first,
            ),
            40,
            True,
        ),
        ("each extra kernel, ns", each_extra(many, few, more_kernels), 400, True),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the figures here")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a bar is missed")
    parser.add_argument("--turns", type=int, default=31)
    parser.add_argument("--seconds", type=float, default=0.004, help="per row and turn")
    options = parser.parse_args()

    torch.set_num_threads(1)
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    rows = plain_rows(load_floor()) | dtensor_rows(DeviceMesh("cpu", [0]))
    turns = measure(rows, options.turns, options.seconds)
    rows.clear()
    gc.collect()
    dist.destroy_process_group()

    times = {name: statistics.median(values) for name, values in turns.items()}
    floor = times["floor: unpack + allocate + wrap"]
    for name, nanoseconds in times.items():
        print(f"{name:45} {nanoseconds:9.0f} ns {nanoseconds / floor:7.2f} x floor")
    last, first = ARGUMENT_COUNTS[-1], ARGUMENT_COUNTS[0]
    extra = (times[f"execute: set, {last} DTensors"] - times[f"execute: set, {first} DTensors"]) / (
        last - first
    )
    print(f"{'each extra DTensor':45} {extra:9.0f} ns")
    missed = 0
    for what, value, bar, at_most in bars(turns):
        is_met = value <= bar if at_most else value >= bar
        missed += not is_met
        sign = "<=" if at_most else ">="
        print(f"{what:45} {value:9.2f} {sign} {bar:8.2f} {'met' if is_met else 'missed'}")
    if options.json:
        figures = {
            "torch": torch.__version__,
            "nanoseconds": times,
            "bars": [
                {"what": what, "value": value, "bar": bar, "at_most": at_most}
                for what, value, bar, at_most in bars(turns)
            ],
        }
        options.json.write_text(json.dumps(figures, indent=1))
    return 1 if options.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
