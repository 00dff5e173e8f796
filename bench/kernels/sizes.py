"""64 batch sizes swept through one definition: what is compiled, and what a new size costs over a seen one.

sizes.py KERNEL     prints compilations and microseconds, medians over the sizes, as JSON
"""

import gc
import json
import statistics
import sys
import time
from collections.abc import Callable

import torch
from definitions import KERNELS
from meshfuse.kernels import kernel_statistics

FIRST, SIZES, COLUMNS = 5, 64, 64


def microseconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1e6


def main() -> None:
    torch.set_num_threads(1)
    kernel = KERNELS[sys.argv[1]]
    batches = [
        kernel.arguments((FIRST + size, COLUMNS), torch.float32) for size in range(SIZES + 1)
    ]
    fd = kernel.definition(batches[0])
    fd.execute(batches[0])
    gc.disable()
    new, seen = [], []
    for batch in batches[1:]:
        new.append(microseconds(lambda batch=batch: fd.execute(batch)))
        seen.append(microseconds(lambda batch=batch: fd.execute(batch)))
    for batch in batches:
        kernel.check(fd.execute(batch)[0], batch)
    print(
        json.dumps(
            {
                "compilations": kernel_statistics().compiled,
                "new": statistics.median(new),
                "seen": statistics.median(seen),
            }
        )
    )


if __name__ == "__main__":
    main()
