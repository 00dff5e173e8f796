"""The feed-forward block of all-MiniLM-L6-v2, written once, run on one process or tensor-parallel on several.

    torchrun --nproc-per-node 2 examples/tensor_parallel_block.py
    python examples/tensor_parallel_block.py

Prints the definition, each value's placement, the collectives that ran, the largest difference from PyTorch on one
process, and timings. Exits with 1 where the difference exceeds 1e-5.
"""

import gc
import os
import statistics
import time
from collections.abc import Callable

import torch
import torch.distributed as dist
from meshfuse.distributed import collective_log
from minilm import SENTENCES, FeedForward, MiniLM
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor

from meshfuse import FusionDefinition

LAYER = 5
TOLERANCE = 1e-5


def define(eps: float, hidden: int, intermediate: int) -> FusionDefinition:
    """Column-parallel linear, gelu, row-parallel linear, residual and layer norm. It knows nothing of meshes."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1, hidden], contiguity=True)
        up_weight = fd.define_tensor([intermediate, hidden], contiguity=True)
        up_bias = fd.define_tensor([intermediate], contiguity=True)
        down_weight = fd.define_tensor([hidden, intermediate], contiguity=True)
        down_bias = fd.define_tensor([hidden], contiguity=True)
        norm_weight = fd.define_tensor([hidden], contiguity=True)
        norm_bias = fd.define_tensor([hidden], contiguity=True)

        h = fd.ops.linear(x, up_weight, up_bias)
        half = fd.ops.mul(h, 0.5)
        gelu = fd.ops.mul(half, fd.ops.add(fd.ops.erf(fd.ops.mul(h, 0.5**0.5)), 1.0))
        y = fd.ops.add(fd.ops.linear(gelu, down_weight, down_bias), x)
        var, mean = fd.ops.var_mean(y, [2], 0, True)
        scale = fd.ops.rsqrt(fd.ops.add(var, eps))
        normed = fd.ops.mul(fd.ops.sub(y, mean), scale)
        fd.add_output(fd.ops.add(fd.ops.mul(normed, norm_weight), norm_bias))
    return fd


def distribute(inputs: list[torch.Tensor], mesh: DeviceMesh) -> list[torch.Tensor]:
    """The first linear is cut by columns, the second by rows; everything else is whole on every rank."""
    whole = Replicate()
    placements = [whole, Shard(0), Shard(0), Shard(1), whole, whole, whole]
    return [distribute_tensor(t, mesh, [p]) for t, p in zip(inputs, placements, strict=True)]


def eager(inputs: list[torch.Tensor], eps: float) -> torch.Tensor:
    x, up_weight, up_bias, down_weight, down_bias, norm_weight, norm_bias = inputs
    block = FeedForward(up_weight, up_bias, down_weight, down_bias, norm_weight, norm_bias, eps)
    return block.reference(x)


def median_microseconds(function: Callable[[], object], rounds: int = 30) -> float:
    times = []
    for _ in range(rounds):
        if dist.is_initialized():
            dist.barrier()
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e6


def run(mesh: DeviceMesh | None) -> float:
    """The whole example; returns the largest difference from PyTorch on one process."""
    first = mesh is None or mesh.get_rank() == 0
    model = MiniLM()
    block = model.feed_forward(LAYER)
    x = model.input_of_feed_forward(SENTENCES, LAYER)
    reference = block.reference(x)

    fd = define(block.eps, x.shape[-1], block.up_bias.numel())
    plain = [x, *block.tensors()]
    inputs = plain if mesh is None else distribute(plain, mesh)
    (output,) = fd.execute(inputs)
    collectives = [] if mesh is None else collective_log(mesh)

    whole = output if mesh is None else output.full_tensor()
    difference = (whole - reference).abs().max().item()
    ours = median_microseconds(lambda: fd.execute(inputs))
    theirs = median_microseconds(lambda: eager(inputs, block.eps))
    if first:
        print(f"--- definition\n{fd}")
        print(f"--- program, every value with its placement\n{fd.explain()}")
        print("--- collectives of one call")
        for record in collectives:
            print(
                f"{record.calls} x {record.kind}({record.reduce}) on mesh axis {record.axis}, {record.bytes} bytes"
            )
        if not collectives:
            print("none")
        print(
            f"--- result on {1 if mesh is None else mesh.size()} process(es): {tuple(whole.shape)}, {type(output).__name__}"
        )
        print(f"first values: {[round(v, 5) for v in whole[0, 0, :4].tolist()]}")
        print(f"largest difference from PyTorch on one process: {difference:.2e}")
        peer = "PyTorch eager" if mesh is None else "DTensor eager"
        print(
            f"time of a call: meshfuse {ours:.0f} us, {peer} {theirs:.0f} us (medians)", flush=True
        )
    return difference


def main() -> None:
    torch.manual_seed(0)
    world = int(os.environ.get("WORLD_SIZE", "1"))
    with torch.inference_mode():
        if world == 1:
            difference = run(None)
        else:
            dist.init_process_group("gloo")
            difference = run(init_device_mesh("cpu", (world,)))
            gc.collect()  # drops the last references to the mesh before its groups go
            dist.destroy_process_group()
    if not difference <= TOLERANCE:
        raise SystemExit(f"the difference from PyTorch, {difference}, exceeds {TOLERANCE}")


if __name__ == "__main__":
    main()
