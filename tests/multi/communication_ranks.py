"""The ranks of tests/python/test_communication.py, one function a scenario.

Reads requests `<scenario> <size> <store>` and answers each with one JSON line: every rank's end and reports.
"""

import gc
import json
import os
import signal
import sys
import tempfile
import threading
import time
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from collective_checks import collectives as collectives
from rank_processes import Rank, bind, run_ranks
from torch.testing._internal.distributed.fake_pg import FakeStore

from meshfuse import _C


def bindings(rank: Rank) -> None:
    """Which bindings there are, and which are refused."""
    rank.start()
    names = [dist.new_group(list(range(rank.size))).group_name for _ in range(2)]
    meshes = [
        _C.MeshBinding(list(range(rank.size)), [], [name], rank.rank)
        for name in (names[0], names[1], names[0])
    ]
    rank.reports["ids"] = [mesh.id for mesh in meshes]
    rank.reports["place"] = [meshes[0].rank, meshes[0].coordinate]
    rank.report_error("outside", lambda: _C.MeshBinding([7, 8], [], [names[0]], rank.rank))
    rank.report_error(
        "no group", lambda: _C.MeshBinding(list(range(rank.size)), [], ["none such"], rank.rank)
    )
    rank.report_error(
        "size", lambda: _C.MeshBinding([rank.rank, 7, 8, 9], [], [names[0]], rank.rank)
    )
    rank.report_error("axes", lambda: _C.MeshBinding(list(range(rank.size)), [], names, rank.rank))
    backwards = _C.MeshBinding(list(reversed(range(rank.size))), [], [names[0]], rank.rank)
    rank.report_error("order", lambda: backwards.all_gather(torch.ones(2)))
    rank.reports["after"] = meshes[0].all_reduce(torch.ones(1)).item()
    rank.report_error("no deadline", lambda: meshes[0].set_deadline(0))
    _C.release_groups()
    rank.reports["after release"] = meshes[1].all_reduce(torch.ones(1)).item()
    meshes[1].agree(3, "after release")
    dist.destroy_process_group()
    rank.report_error("destroyed", lambda: meshes[0].all_reduce(torch.ones(1)))
    rank.report_error("destroyed again", lambda: meshes[0].agree(1, "p"))
    dist.init_process_group("gloo", rank=rank.rank, world_size=rank.size, store=dist.FileStore(f"{tempfile.gettempdir()}/meshfuse-ranks-{rank.port}"),
                            timeout=timedelta(seconds=20))  # fmt: skip
    mesh = bind(rank)
    rank.reports["file store"] = mesh.all_reduce(torch.ones(1)).item()
    mesh.agree(9, "over a file")
    rank.report_error("old mesh", lambda: meshes[0].all_reduce(torch.ones(1)))
    dist.destroy_process_group()


def agreements(rank: Rank) -> None:
    """Programs that differ are named and the mesh goes on; also over two axes."""
    rank.start()
    mesh = bind(rank)
    for fingerprint in range(5):
        mesh.agree(fingerprint, f"program {fingerprint}")
    rank.report_error(
        "differ", lambda: mesh.agree(min(rank.rank, 1), "add" if rank.rank == 0 else "mul")
    )
    rank.reports["after"] = mesh.all_reduce(torch.ones(1)).item()
    start = time.monotonic()
    for _ in range(100):
        mesh.agree(1, "often")
    rank.reports["microseconds"] = (time.monotonic() - start) * 1e4
    if rank.size == 4:
        rows = dist.init_device_mesh("cpu", (2, 2))
        names = [rows.get_group(axis).group_name for axis in range(2)]
        square = _C.MeshBinding([0, 1, 2, 3], [2, 2], names, rank.rank)
        square.agree(5, "same")
        rank.report_error(
            "square", lambda: square.agree(int(rank.rank == 3), f"program {int(rank.rank == 3)}")
        )
        rank.reports["square after"] = [
            square.all_reduce(torch.tensor(float(rank.rank)), axis).item() for axis in range(2)
        ]
        square.set_deadline(1.0)
        if rank.rank != 3:
            rank.report_error("square missing", lambda: square.agree(6, "p"))
            rank.report_error("square poisoned", lambda: square.all_reduce(torch.ones(1), 0))
        dist.barrier()
        del rows
    dist.destroy_process_group()


def late(rank: Rank) -> None:
    """Rank 1 does not come to a collective, then to an agreement; other groups go on."""
    rank.start()
    groups = [dist.new_group(list(range(rank.size))) for _ in range(3)]
    missed, unagreed, other = (bind(rank, group) for group in groups)
    for mesh in (missed, unagreed, other):
        mesh.set_deadline(1.0)
        mesh.all_reduce(torch.ones(1))
    dist.barrier()
    if rank.rank != 1:
        rank.report_error("late", lambda: missed.all_reduce(torch.ones(4)))
        rank.report_error("poisoned", lambda: missed.all_gather(torch.ones(4)))
        rank.report_error("poisoned agree", lambda: missed.agree(1, "p"))
        rank.report_error("not agreed", lambda: unagreed.agree(1, "p"))
    dist.barrier()
    if rank.rank == 1:
        rank.report_error("too late", lambda: unagreed.agree(1, "p"))
    rank.reports["other"] = other.all_reduce(torch.ones(1)).item()
    _C.set_collective_deadline(0.5)
    unmet = bind(rank, dist.new_group(list(range(rank.size))))
    if rank.rank != 1:
        rank.report_error("not met", lambda: unmet.all_reduce(torch.ones(1)))
    dist.barrier()
    dist.destroy_process_group()


def threads(rank: Rank) -> None:
    """Two threads on one group: one is refused, at once. Two groups: both run."""
    rank.start()
    one, two = (bind(rank, dist.new_group(list(range(rank.size)))) for _ in range(2))
    one.set_deadline(10.0)
    one.all_reduce(torch.ones(1))
    two.all_reduce(torch.ones(1))
    dist.barrier()
    if rank.rank == 0:
        results: list[float] = []
        errors: list[str] = []

        def call() -> None:
            try:
                results.append(one.all_reduce(torch.ones(1)).item())
            except RuntimeError as error:
                errors.append(str(error))

        # The other rank joins after the barrier, so whichever comes first is still there when the second comes.
        callers = [threading.Thread(target=call) for _ in range(2)]
        for caller in callers:
            caller.start()
        deadline = time.monotonic() + 8
        while not errors and time.monotonic() < deadline:
            time.sleep(0.01)
        rank.reports["refused"] = errors[0]
        rank.reports["two"] = two.all_reduce(torch.ones(1)).item()
        dist.barrier()
        for caller in callers:
            caller.join(10)
        rank.reports["one"] = results
    else:
        rank.reports["two"] = two.all_reduce(torch.ones(1)).item()
        dist.barrier()
        rank.reports["one"] = [one.all_reduce(torch.ones(1)).item()]
    dist.destroy_process_group()


def _after_a_victim(rank: Rank, victim: int, how: signal.Signals) -> None:
    rank.start()
    pair = dist.new_group([r for r in range(rank.size) if r != victim])
    mesh = bind(rank)
    mesh.set_deadline(2.0)
    mesh.all_reduce(torch.ones(4))
    if rank.rank == victim:
        os.kill(os.getpid(), how)
        return
    # Survivors notice at different times, on a loaded machine by seconds.
    others = bind(rank, pair)
    others.set_deadline(30.0)
    rank.report_error("fault", lambda: mesh.all_reduce(torch.ones(4)))
    rank.report_error("poisoned", lambda: mesh.all_reduce(torch.ones(4)))
    rank.report_error("agree", lambda: mesh.agree(1, "p"))
    rank.report_error("others", lambda: others.all_reduce(torch.ones(4)))


def killed_1(rank: Rank) -> None:
    _after_a_victim(rank, 1, signal.SIGKILL)


def killed_0(rank: Rank) -> None:
    _after_a_victim(rank, 0, signal.SIGKILL)


def stopped_1(rank: Rank) -> None:
    _after_a_victim(rank, 1, signal.SIGSTOP)


def stopped_0(rank: Rank) -> None:
    _after_a_victim(rank, 0, signal.SIGSTOP)


def killed_before_agreement(rank: Rank) -> None:
    rank.start()
    mesh = bind(rank)
    mesh.set_deadline(20.0)
    mesh.all_reduce(torch.ones(4))
    if rank.rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    rank.report_error("fault", lambda: mesh.agree(1, "p"))


def store_killed(rank: Rank) -> None:
    """The process that hosts the store ends; the groups' own connections live on."""
    rank.start()
    mesh = bind(rank)
    mesh.set_deadline(5.0)
    mesh.agree(1, "p")
    dist.barrier()
    if rank.rank == 0:
        os.kill(rank.store_host, signal.SIGKILL)
    dist.barrier()
    rank.reports["collective"] = mesh.all_reduce(torch.ones(1)).item()
    mesh.agree(2, "p")
    rank.report_error("agree", lambda: mesh.agree(rank.rank, "p"))
    rank.report_error("poisoned", lambda: mesh.all_reduce(torch.ones(1)))


def fake_group(rank: Rank) -> None:
    """torch's fake group plays one rank of many: nothing is exchanged, nothing waits."""
    dist.init_process_group("fake", rank=3, world_size=64, store=FakeStore())
    mesh = _C.MeshBinding(list(range(64)), [], [dist.group.WORLD.group_name], 3)
    mesh.agree(1, "alone")
    rank.reports["shapes"] = [
        list(mesh.all_reduce(torch.ones(2, 3)).shape),
        list(mesh.all_gather(torch.ones(2, 3), 0, 1).shape),
        list(mesh.reduce_scatter(torch.ones(128, 3), 0, 0).shape),
    ]
    rank.reports["records"] = mesh.records()
    dist.destroy_process_group()


def fork_child(rank: Rank) -> None:
    """A fork of a rank may not use the rank's groups."""
    rank.start()
    mesh = bind(rank)
    mesh.all_reduce(torch.ones(1))
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            mesh.all_reduce(torch.ones(1))
        except RuntimeError as error:
            os.write(writer, str(error).encode())
        os._exit(0)
    os.close(writer)
    os.waitpid(pid, 0)
    rank.reports["child"] = os.read(reader, 4096).decode()
    rank.reports["pids"] = [os.getpid(), pid]
    rank.reports["parent"] = mesh.all_reduce(torch.ones(1)).item()
    dist.destroy_process_group()


def _work_before_end(rank: Rank) -> Any:
    """A rank that holds a DeviceMesh, a binding and results, right after its last collective."""
    rank.start()
    torch_mesh = dist.init_device_mesh("cpu", (rank.size,))
    mesh = bind(rank, torch_mesh.get_group())
    mesh.agree(1, "p")
    kept = [mesh.all_reduce(torch.ones(8)), mesh.all_gather(torch.ones(8))]
    globals()["held_at_exit"] = (torch_mesh, mesh, kept)


def end_destroy(rank: Rank) -> None:
    _work_before_end(rank)
    _C.release_groups()
    globals().pop("held_at_exit")
    gc.collect()
    dist.destroy_process_group()


def end_holding(rank: Rank) -> None:
    _work_before_end(rank)
    dist.destroy_process_group()


def end_none(rank: Rank) -> None:
    _work_before_end(rank)


def end_sys_exit(rank: Rank) -> None:
    _work_before_end(rank)
    sys.exit(3)


def end_exception(rank: Rank) -> None:
    _work_before_end(rank)
    raise LookupError("the end")


def main() -> None:
    """Serve requests `<scenario> <size> <store>`, one a line; with arguments `<scenario> <rank> <size> <port>`, be that rank."""
    if len(sys.argv) > 1:
        rank, size, port = map(int, sys.argv[2:])
        globals()[sys.argv[1]](Rank(rank, size, port, hosts_store=True))
        return
    while request := sys.stdin.readline().split():
        scenario, size, store = globals()[request[0]], int(request[1]), request[2]
        results = run_ranks(scenario, size, hosts_store=store == "rank0")
        if results is None:
            return
        print(json.dumps(results), flush=True)


if __name__ == "__main__":
    main()
