"""The memory of the nine kernels: the peak of a call beside eager torch's, what later calls take from the system, and what
the pool keeps.

    memory.py ROWSxCOLUMNS [NAME...]     prints, for each kernel and type, bytes as JSON
"""

import json
import sys
from collections.abc import Callable
from functools import partial

import torch
from definitions import DTYPES, KERNELS
from meshfuse.memory import memory_statistics, set_memory_cap, trim_memory
from torch.profiler import ProfilerActivity, profile

CALLS = 20


def peak_bytes(call: Callable[[], object]) -> int:
    """The most that is allocated at once during a call, its results included, as torch's profiler counts it."""
    call()
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as record:
        call()
    events = [
        event for event in record.profiler.kineto_results.events() if event.name() == "[memory]"
    ]
    now = peak = 0
    for event in sorted(events, key=lambda event: event.start_ns()):
        now += event.nbytes()
        peak = max(peak, now)
    return peak


def allocated_bytes(call: Callable[[], object]) -> int:
    """Everything that a call allocates, as torch's profiler counts it."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as record:
        call()
    return sum(
        max(event.nbytes(), 0)
        for event in record.profiler.kineto_results.events()
        if event.name() == "[memory]"
    )


def main() -> None:
    rows, columns = (int(size) for size in sys.argv[1].split("x"))
    results = []
    for dtype_name, dtype in DTYPES.items():
        for name in sys.argv[2:] or KERNELS:
            kernel = KERNELS[name]
            tensors = kernel.arguments((rows, columns), dtype)
            fd = kernel.definition(tensors)
            (result,) = fd.execute(tensors)
            output = result.nbytes
            del result
            before = memory_statistics()
            for _ in range(CALLS):
                fd.execute(tensors)
            after = memory_statistics()
            results.append(
                {
                    "kernel": name,
                    "dtype": dtype_name,
                    "output": output,
                    "allocated": allocated_bytes(partial(fd.execute, tensors)),
                    "from_system": after.misses - before.misses,
                    "peak": peak_bytes(partial(fd.execute, tensors)),
                    "eager_peak": peak_bytes(partial(kernel.eager, *tensors)),
                }
            )
    cap = 2 * rows * columns  # less than one float32 result
    set_memory_cap(cap)
    kept = []
    for name in sys.argv[2:] or KERNELS:
        tensors = KERNELS[name].arguments((rows, columns), torch.float32)
        fd = KERNELS[name].definition(tensors)
        for count in (1, 3):
            held = [fd.execute(tensors) for _ in range(count)]
            held.clear()
            kept.append(memory_statistics().kept_bytes)
    trim_memory()
    print(json.dumps({"rows": results, "cap": cap, "most_kept": max(kept)}))


if __name__ == "__main__":
    main()
