"""The ranks of tests/python/test_execute_ranks.py: serves requests `<scenario> <size> <store>` on its input.

Prints one JSON line a request with every rank's end and reports.
"""

import gc
import json
import os
import sys
import threading

import torch
import torch.distributed as dist
from meshfuse.distributed import set_collective_deadline
from rank_processes import Rank, run_ranks
from torch.distributed.tensor import (
    DTensor,
    Partial,
    Placement,
    Replicate,
    Shard,
    distribute_tensor,
)

from meshfuse import _C, DataType, FusionDefinition


def define(*ops: str) -> FusionDefinition:
    """Unary operations one after the other."""
    with FusionDefinition() as fd:
        value = fd.define_tensor([-1, -1])
        for op in ops:
            value = fd.ops.sum(value, 0) if op == "sum" else getattr(fd.ops, op)(value)
        fd.add_output(value)
    return fd


def seeded(*shape: int) -> torch.Tensor:
    """The same whole numbers on every rank."""
    generator = torch.Generator().manual_seed(1)
    return torch.randint(-9, 9, shape, generator=generator).float()


def whole(d: DTensor) -> torch.Tensor:
    return d.full_tensor()


def local_operations(rank: Rank) -> None:
    """Shapes that divide evenly and that do not, empty shards included."""
    rank.start()
    mesh = dist.init_device_mesh("cpu", (rank.size,))
    problems = []
    for rows in range(2 * rank.size + 2):
        for placement in (Shard(0), Shard(1), Replicate()):
            full = seeded(rows, 5)
            d = distribute_tensor(full, mesh, [placement])
            for ops, wanted in ((("set",), full), (("neg", "exp"), (-full).exp())):
                (b,) = define(*ops).execute([d])
                ok = (
                    b.placements == (placement,)
                    and b.shape == full.shape
                    and b.stride() == full.stride()
                    and torch.equal(whole(b), wanted)
                )
                if not ok:
                    problems.append(f"{ops} of {rows} rows as {placement}: {b}")
    rank.reports["problems"] = problems
    dist.destroy_process_group()


def with_communication(rank: Rank) -> None:
    """A value that is partial has to be whole before a non-linear operation."""
    rank.start()
    mesh = dist.init_device_mesh("cpu", (rank.size,))
    full = seeded(2 * rank.size, 4 * rank.size)
    (b,) = define("sum", "relu").execute([distribute_tensor(full, mesh, [Shard(0)])])
    rank.reports["relu of sum"] = torch.equal(whole(b), full.sum(0).relu())
    partial = DTensor.from_local(full, mesh, [Partial()], run_check=False)
    (b,) = define("relu").execute([partial])
    rank.reports["relu of partial"] = torch.equal(whole(b), (full * rank.size).relu())
    for first in ("set", "neg"):
        (b,) = define(first, "relu").execute([partial])
        wanted = (full if first == "set" else -full) * rank.size
        rank.reports[f"relu of {first} of partial"] = torch.equal(whole(b), wanted.relu())
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1])
        fd.add_output(fd.ops.relu(fd.ops.sum(fd.ops.add(x, x), 0)))
        fd.add_output(fd.ops.add(fd.ops.add(x, x), 1.0))
    (a, b) = fd.execute([distribute_tensor(full, mesh, [Shard(0)])])
    rank.reports["after a sum"] = torch.equal(whole(a), (full + full).sum(0).relu())
    (a, b) = fd.execute([partial])
    rank.reports["a number after a sum of partial"] = torch.equal(
        whole(b), full * 2 * rank.size + 1
    )
    (b,) = define("sum", "exp").validate([distribute_tensor(full, mesh, [Shard(0)])])
    rank.reports["validated"] = torch.allclose(whole(b), full.sum(0).exp())
    dist.destroy_process_group()


def two_axes(rank: Rank) -> None:
    rank.start()
    mesh = dist.init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
    full = seeded(8, 12)
    placements: list[tuple[Placement, ...]] = [
        (Shard(0), Shard(1)),
        (Shard(0), Shard(0)),
        (Replicate(), Shard(1)),
    ]
    problems = []
    for both in placements:
        d = distribute_tensor(full, mesh, both)
        (b,) = define("neg").execute([d])
        if not torch.equal(whole(b), -full) or b.placements != both or b.device_mesh is not mesh:
            problems.append(f"{both}: {b}")
    row = DTensor.from_local(seeded(3, 3), mesh["tp"], [Replicate()], run_check=False)
    (b,) = define("neg").execute([row])
    if b.device_mesh != mesh["tp"] or not torch.equal(b.to_local(), -seeded(3, 3)):
        problems.append(f"submesh: {b}")
    rank.reports["problems"] = problems
    dist.destroy_process_group()


def different_definitions(rank: Rank) -> None:
    rank.start()
    mesh = dist.init_device_mesh("cpu", (rank.size,))
    d = distribute_tensor(seeded(4, 4), mesh, [Shard(0)])
    rank.report_error("mixed", lambda: define("neg" if rank.rank == 0 else "exp").execute([d]))
    same = define("neg")
    for _ in range(2):
        (b,) = same.execute([d])
    rank.reports["same"] = torch.equal(whole(b), -seeded(4, 4))
    dist.destroy_process_group()


def different_known_definitions(rank: Rank) -> None:
    """Ranks that call different programs, all of which they have run together before; and known beside new ones."""
    rank.start()
    mesh = dist.init_device_mesh("cpu", (rank.size,))
    d = distribute_tensor(seeded(2 * rank.size, 4 * rank.size), mesh, [Shard(0)])
    wide = distribute_tensor(seeded(2 * rank.size, 12 * rank.size), mesh, [Shard(0)])
    relu, exp, new = define("sum", "relu"), define("sum", "exp"), define("sum", "neg", "relu")
    for fd in (relu, exp):
        for argument in (d, wide):
            fd.execute([argument])
    first = rank.rank == 0
    rank.report_error("known", lambda: (relu if first else exp).execute([d]))
    rank.report_error("known sizes", lambda: relu.execute([d if first else wide]))
    rank.report_error("known and new", lambda: (relu if first else new).execute([d]))
    with FusionDefinition() as scaled:
        x, k = scaled.define_tensor([-1, -1]), scaled.define_scalar(DataType.Double)
        scaled.add_output(scaled.ops.relu(scaled.ops.mul(scaled.ops.sum(x, 0), k)))
    rank.report_error("numbers", lambda: scaled.execute([d, 2.0 if first else 3.0]))
    scaled.execute([d, 2.0])
    rank.report_error("known numbers", lambda: scaled.execute([d, 2.0 if first else 3.0]))
    with FusionDefinition() as constant:
        x = constant.define_tensor([-1, -1])
        product = constant.ops.mul(constant.ops.sum(x, 0), 2.0 if first else 3.0)
        constant.add_output(constant.ops.relu(product))
    rank.report_error("constants", lambda: constant.execute([d]))
    rank.report_error("without calls", lambda: (relu if first else define("neg")).execute([d]))
    rank.reports["after"] = [
        torch.equal(whole(relu.execute([d])[0]), whole(d).sum(0).relu()) for _ in range(2)
    ]
    dist.destroy_process_group()


def in_place(rank: Rank) -> None:
    """Writes into inputs: local values, values that lie otherwise, uneven and empty shards."""
    rank.start()
    mesh = dist.init_device_mesh("cpu", (rank.size,))
    with FusionDefinition() as fd:
        x, y = (fd.define_tensor([-1, -1]) for _ in range(2))
        value = fd.ops.add(x, y)
        fd.add_output(value, x)
        fd.add_output(fd.ops.neg(x))
        fd.add_output(value)
    problems = []
    even, uneven = 2 * rank.size, 2 * rank.size + 1
    for rows, placements in (
        (even, (Shard(0), Shard(0))),
        (even, (Shard(0), Replicate())),
        (even, (Replicate(), Shard(0))),
        (even, (Shard(0), Partial())),
        (even, (Partial(), Replicate())),
        (uneven, (Shard(0), Shard(0))),
        (1, (Shard(0), Shard(0))),
    ):
        full, other = seeded(rows, 2 * rank.size), seeded(rows, 2 * rank.size) * 3
        # A replicated tensor may have the caller's memory.
        a = distribute_tensor(full.clone(), mesh, [placements[0]])
        b = distribute_tensor(other.clone(), mesh, [placements[1]])
        local, version = a.to_local(), a._version
        negative, result = fd.execute([a, b])
        checks = {
            "written": torch.allclose(whole(a), full + other),
            "result": torch.allclose(whole(negative), -full),
            "other": torch.allclose(whole(b), other),
            "itself": result is a,
            "version": a._version == version + 1,
            "address": a.to_local().data_ptr() == local.data_ptr(),
        }
        problems += [f"{rows} rows as {placements}: {k}" for k, good in checks.items() if not good]
    a, b = (distribute_tensor(seeded(even, 2 * rank.size), mesh, [Shard(0)]) for _ in range(2))
    fd.validate([a, b])
    rank.reports["problems"] = problems
    dist.destroy_process_group()


def in_place_refused(rank: Rank) -> None:
    """What a rank alone cannot do, no rank does."""
    rank.start(timeout=5)
    mesh = dist.init_device_mesh("cpu", (rank.size,))
    with FusionDefinition() as fd:
        x, y = (fd.define_tensor([-1], dtype=DataType.Int) for _ in range(2))
        fd.add_output(fd.ops.div(x, y), x)
    full = torch.arange(1, 2 * rank.size + 1)
    a = distribute_tensor(full, mesh, [Shard(0)])
    zero = distribute_tensor(torch.where(full == 2 * rank.size, 0, 1), mesh, [Shard(0)])
    twos = distribute_tensor(torch.full_like(full, 2), mesh, [Shard(0)])
    rank.report_error("a division by zero on the last rank", lambda: fd.execute([a, zero]))
    rank.reports["untouched"] = torch.equal(whole(a), full) and a._version == 0
    fd.execute([a, twos])
    rank.reports["then"] = torch.equal(whole(a), full // 2)
    uneven = distribute_tensor(torch.arange(2 * rank.size + 1), mesh, [Shard(0)])
    replicated = distribute_tensor(torch.ones(2 * rank.size + 1).long(), mesh, [Replicate()])
    with FusionDefinition() as gather:
        x, y = (gather.define_tensor([-1], dtype=DataType.Int) for _ in range(2))
        gather.add_output(gather.ops.neg(x), y)
    rank.report_error("an uneven gather", lambda: gather.execute([uneven, replicated]))
    parameter = torch.nn.Parameter(distribute_tensor(torch.ones(4), mesh, [Replicate()]))
    with FusionDefinition() as negate:
        x = negate.define_tensor([-1])
        negate.add_output(negate.ops.neg(x), x)
    rank.report_error("a parameter", lambda: negate.execute([parameter]))
    with torch.no_grad():
        negate.execute([parameter])
    rank.reports["parameter"] = parameter.to_local().tolist() == [-1.0] * 4
    # One rank does not come.
    if rank.rank == 0:
        rank.report_error("alone", lambda: fd.execute([a, twos]))
        rank.reports["untouched alone"] = a._version == 1


def early_deadline(rank: Rank) -> None:
    """A deadline that is set before a mesh's first call holds for it."""
    rank.start()
    mesh = dist.init_device_mesh("cpu", (rank.size,))
    set_collective_deadline(1.0, mesh)
    d = distribute_tensor(seeded(4, 4), mesh, [Shard(0)])
    afterwards = dist.new_group([0, 1])
    if rank.rank == 0:
        rank.report_error("early", lambda: define("sum", "relu").execute([d]))
    dist.barrier(afterwards)
    dist.destroy_process_group()


def rank_dies(rank: Rank) -> None:
    rank.start(timeout=5)
    mesh = dist.init_device_mesh("cpu", (rank.size,))
    d = distribute_tensor(seeded(4, 4), mesh, [Shard(0)])
    fd = define("sum", "relu")
    fd.execute([d])
    if rank.rank == 1:
        os._exit(0)
    rank.report_error("after", lambda: [fd.execute([d]) for _ in range(3)])
    # A plain call goes on.
    (b,) = fd.execute([seeded(4, 4)])
    rank.reports["plain"] = torch.equal(b, seeded(4, 4).sum(0).relu())


def threads(rank: Rank) -> None:
    """Operations that need no other rank, from many threads at once, after the ranks have agreed."""
    rank.start()
    mesh = dist.init_device_mesh("cpu", (rank.size,))
    fd = define("neg")
    d = distribute_tensor(seeded(4, 4), mesh, [Shard(0)])
    fd.execute([d])
    wrong = []

    def work() -> None:
        for _ in range(100):
            (b,) = fd.execute([d])
            if not torch.equal(b.to_local(), -d.to_local()):
                wrong.append(1)

    workers = [threading.Thread(target=work) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    rank.reports["wrong"] = len(wrong) + sum(worker.is_alive() for worker in workers)
    dist.destroy_process_group()


def _work_before_end(rank: Rank) -> None:
    """A rank that holds a mesh, a definition and its results, right after its last collective."""
    rank.start()
    mesh = dist.init_device_mesh("cpu", (rank.size,))
    fd = define("sum", "relu")
    d = distribute_tensor(seeded(4, 4), mesh, [Shard(0)])
    globals()["held_at_exit"] = (mesh, fd, d, fd.execute([d]))


def end_tidy(rank: Rank) -> None:
    _work_before_end(rank)
    globals().pop("held_at_exit")
    _C._release_meshes()
    gc.collect()
    dist.destroy_process_group()


def end_destroy(rank: Rank) -> None:
    """Drops its own, destroys: what a careful program does."""
    _work_before_end(rank)
    globals().pop("held_at_exit")
    dist.destroy_process_group()


def end_holding(rank: Rank) -> None:
    _work_before_end(rank)
    dist.destroy_process_group()


def end_none(rank: Rank) -> None:
    _work_before_end(rank)


def end_exception(rank: Rank) -> None:
    _work_before_end(rank)
    raise LookupError("the end")


def main() -> None:
    while request := sys.stdin.readline().split():
        results = run_ranks(globals()[request[0]], int(request[1]))
        if results is None:
            return
        print(json.dumps(results), flush=True)


if __name__ == "__main__":
    main()
