"""The nine kernels once they are compiled, beside eager torch, torch.compile, copy_ of the same bytes and, for sums, a loop
that only reads.

    steady.py ROWSxCOLUMNS TURNS [NAME...]     prints the times as JSON
"""

import ctypes
import json
import os
import sys
from pathlib import Path
from typing import Any

import torch
from definitions import DTYPES, KERNELS, Kernel
from timing import Call, interleaved

import meshfuse

SECONDS = 0.003


def load_loops() -> Any:
    """The library with the loop by hand, built beside the package."""
    build = os.environ.get(
        "MESHFUSE_BENCH_BUILD", str(Path(meshfuse.__file__).parent.parent.parent)
    )
    path = Path(build) / "bench" / "_loops.so"
    if not path.exists():
        raise SystemExit(f"bench_kernels: no {path}; build the target meshfuse_bench_loops")
    read = ctypes.CDLL(str(path)).meshfuse_read
    read.argtypes = [ctypes.c_void_p, ctypes.c_int64]
    read.restype = ctypes.c_uint64
    return read


def calls_of(
    kernel: Kernel, shape: tuple[int, int], dtype: torch.dtype, read: Any
) -> dict[str, Call]:
    tensors = kernel.arguments(shape, dtype)
    fd = kernel.definition(tensors)
    (result,) = fd.execute(tensors)
    kernel.check(result, tensors)
    moved = sum(tensor.nbytes for tensor in [*tensors, result])
    source, target = (torch.zeros(moved // 2, dtype=torch.uint8) for _ in range(2))
    torch._dynamo.reset()
    compiled = torch.compile(kernel.eager)
    kernel.check(compiled(*tensors), tensors)
    x = tensors[0]
    calls: dict[str, Call] = {
        "ours": lambda: fd.execute(tensors),
        "inductor": lambda: compiled(*tensors),
        "eager": lambda: kernel.eager(*tensors),
        "copy": lambda: target.copy_(source),
    }
    if kernel.is_sum:
        calls["read"] = lambda: read(x.data_ptr(), x.nbytes)
    return calls


def main() -> None:
    rows, columns = (int(size) for size in sys.argv[1].split("x"))
    turns = int(sys.argv[2])
    read = load_loops()
    results = []
    for dtype_name, dtype in DTYPES.items():
        for name in sys.argv[3:] or KERNELS:
            calls = calls_of(KERNELS[name], (rows, columns), dtype, read)
            times = interleaved(calls, turns, SECONDS)
            results.append({"kernel": name, "dtype": dtype_name, "seconds": times})
            calls.clear()
    print(json.dumps(results))


if __name__ == "__main__":
    main()
