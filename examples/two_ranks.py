"""The smallest distributed program: one definition, DTensors over two processes.

python -m torch.distributed.run --standalone --local-addr 127.0.0.1 --nproc-per-node 2 examples/two_ranks.py
"""

import gc

import torch
import torch.distributed as dist
from torch.distributed.tensor import Shard, distribute_tensor

from meshfuse import FusionDefinition


def main() -> None:
    dist.init_process_group("gloo")
    mesh = dist.init_device_mesh("cpu", (dist.get_world_size(),))

    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1])
        fd.add_output(fd.ops.relu(fd.ops.sum(x, 0)))

    whole = torch.arange(-12.0, 12.0).view(6, 4)
    rows = distribute_tensor(whole, mesh, [Shard(0)])
    (result,) = fd.execute([rows])  # relu needs the whole sum: one all-reduce
    if dist.get_rank() == 0:
        print(result.placements, result.to_local().tolist(), whole.sum(0).relu().tolist())
        print(fd.explain())

    # Meshes, and what holds them, go before their process groups do.
    del mesh, rows, result
    gc.collect()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
