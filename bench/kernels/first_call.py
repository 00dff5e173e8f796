"""The first call in a process: of a definition, or of the same operations in torch, one by one.

first_call.py KERNEL ROWSxCOLUMNS definition|torch     prints the seconds, the kernels, and whether they run by now as JSON
"""

import json
import sys
import time

import torch
from definitions import KERNELS
from meshfuse.kernels import kernel_statistics


def main() -> None:
    kernel = KERNELS[sys.argv[1]]
    rows, columns = (int(size) for size in sys.argv[2].split("x"))
    tensors = kernel.arguments((rows, columns), torch.float32)
    torch.add(tensors[0], 1.0)  # torch's threads start here
    if sys.argv[3] != "definition":
        steps = kernel.steps or kernel.eager
        steps = torch.compile(kernel.eager) if sys.argv[3] == "inductor" else steps
        start = time.perf_counter()
        steps(*tensors)
        print(json.dumps({"seconds": time.perf_counter() - start}))
        return
    fd = kernel.definition(tensors)
    start = time.perf_counter()
    (result,) = fd.execute(tensors)
    seconds = time.perf_counter() - start
    fd.compile(tensors)
    counts = kernel_statistics()
    (later,) = fd.execute(tensors)
    kernel.check(result, tensors)
    kernel.check(later, tensors)
    kernels = counts.compiled + counts.loaded_from_disk
    print(json.dumps({"seconds": seconds, "kernels": kernels, "compiled": counts.compiled}))


if __name__ == "__main__":
    main()
