"""Runs ranks as forks of one process that has imported torch once.

A rank is a whole life of a process: it makes its groups, and ends as an interpreter ends. Only the import is shared.
"""

import json
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import torch.distributed as dist

from meshfuse import _C

Scenario = Callable[["Rank"], None]


@dataclass
class Rank:
    """One rank's view of its run, and what it reports to the test."""

    rank: int
    size: int
    port: int
    hosts_store: bool
    store_host: int = 0  # the process that hosts the store when no rank does
    reports: dict[str, Any] = field(default_factory=dict)

    def start(self, timeout: float = 20.0) -> dist.ProcessGroup:
        """Make the default process group."""
        store = dist.TCPStore(
            "127.0.0.1", self.port, self.size, self.hosts_store and self.rank == 0
        )
        dist.init_process_group(
            "gloo",
            rank=self.rank,
            world_size=self.size,
            store=store,
            timeout=timedelta(seconds=timeout),
        )
        return dist.group.WORLD

    def report_error(self, name: str, call: Callable[[], Any]) -> None:
        """Report what `call` raises and after how many seconds."""
        start = time.monotonic()
        try:
            call()
            kind, text = "none", ""
        except Exception as error:
            kind, text = type(error).__name__, str(error)
        self.reports[name] = {"kind": kind, "text": text, "seconds": time.monotonic() - start}


def bind(rank: Rank, group: dist.ProcessGroup | None = None) -> Any:
    """A 1-d mesh of a group's ranks."""
    group = group or dist.group.WORLD
    ranks = dist.get_process_group_ranks(group)
    return _C.MeshBinding(ranks, [], [group.group_name], rank.rank)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _end_text(status: int) -> str:
    return (
        f"signal {os.WTERMSIG(status)}"
        if os.WIFSIGNALED(status)
        else f"exit {os.WEXITSTATUS(status)}"
    )


def _is_stopped(pid: int) -> bool:
    with open(f"/proc/{pid}/stat") as stat:
        return stat.read().rpartition(")")[2].split()[0] == "T"


def _wait_for(children: list[int], seconds: float) -> dict[int, str]:
    """How each child ended. Children that only wait stopped are killed, and all when the time is over."""
    until = time.monotonic() + seconds
    ends: dict[int, str] = {}
    while len(ends) < len(children):
        for pid in children:
            if pid not in ends:
                found, status = os.waitpid(pid, os.WNOHANG)
                if found:
                    ends[pid] = _end_text(status)
        left = [pid for pid in children if pid not in ends]
        over = time.monotonic() > until
        if left and (over or all(_is_stopped(pid) for pid in left)):
            for pid in left:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                ends[pid] = "hung" if over else "stopped"
        time.sleep(0.01)
    return ends


def _collect(children: list[int], pipes: list[int], seconds: float) -> list[dict[str, Any]]:
    ends = _wait_for(children, seconds)
    results = []
    for pid, pipe in zip(children, pipes, strict=True):
        with os.fdopen(pipe) as reader:
            text = reader.read()
        results.append({"end": ends[pid], "reports": json.loads(text) if text else {}})
    return results


def _host_store() -> tuple[int, int]:
    """A process that hosts a store until it is killed: its number and the port."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        store = dist.TCPStore("127.0.0.1", 0, None, True, wait_for_workers=False)
        os.write(writer, str(store.port).encode())
        os.close(writer)
        while True:
            signal.pause()
    os.close(writer)
    with os.fdopen(reader) as port:
        return pid, int(port.read())


def run_ranks(
    scenario: Scenario, size: int, seconds: float = 60.0, hosts_store: bool = True
) -> list[dict[str, Any]] | None:
    """Run `scenario` on `size` ranks; rank 0 hosts the store, or a process of its own.

    Gives each rank's end and reports; None in a rank, which must then simply end.
    """
    host, port = (0, free_port()) if hosts_store else _host_store()
    children, pipes = [], []
    for rank in range(size):
        reader, writer = os.pipe()
        sys.stdout.flush()
        pid = os.fork()
        if pid == 0:
            _live(Rank(rank, size, port, hosts_store, host), scenario, writer)
            return None
        os.close(writer)
        children.append(pid)
        pipes.append(reader)
    results = _collect(children, pipes, seconds)
    if host:
        os.kill(host, signal.SIGKILL)
        os.waitpid(host, 0)
    return results


def _live(rank: Rank, scenario: Scenario, writer: int) -> None:
    """The scenario ends as it likes, reports are written before it does."""
    try:
        scenario(rank)
    finally:
        os.write(writer, json.dumps(rank.reports).encode())
        os.close(writer)
