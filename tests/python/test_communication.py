"""Collectives, agreement and faults over real Gloo groups: two to four ranks on this machine."""

import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

RANKS_FOLDER = Path(__file__).parent.parent / "multi"
sys.path.insert(0, str(RANKS_FOLDER))
from rank_server import RankServer  # noqa: E402  (found in the folder that the line above adds)

PROCESS = r"\(pid \d+ on host [^)]+\)"
GONE_BACKENDS = r"; the backend says '[^']+'"
AFTER_FAULT = (
    "; make the process group and the mesh again without the failed ranks, or restart all ranks; "
    "this group is not used again"
)
REUSED = "a process group is not used again after a fault: group '0' failed before: "


@pytest.fixture(scope="module")
def ranks() -> Iterator[RankServer]:
    server = RankServer("communication_ranks.py")
    yield server
    server.stop()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def check_text(error: dict[str, Any], kind: str, pattern: str) -> None:
    assert error["kind"] == kind, error
    assert re.fullmatch(pattern, error["text"]), error["text"]


@pytest.mark.parametrize("size", [2, 3])
def test_collectives_are_right_for_every_dtype_and_kind(size: int, ranks: RankServer) -> None:
    for rank in ranks.reports("collectives", size):
        assert rank["problems"] == []
        assert set(rank["refused"]) == {
            *(
                f"avg {dtype}"
                for dtype in ("int64", "int32", "int8", "uint8", "bool", "int16", "float8_e4m3fn")
            ),
            *(f"{kind} complex{bits}" for kind in ("max", "min", "product") for bits in (64, 128)),
            *(
                f"{kind} {dtype}"
                for kind in ("sum", "max", "min", "product")
                for dtype in ("int16", "float8_e4m3fn")
            ),
            "sum bool",
        }
        mesh = "DeviceMesh{" + " ".join(str(r) for r in range(size)) + "}"
        assert rank["refused"]["max complex64"] == (
            f"all_reduce(max) over axis 0 of {mesh} of 8 bytes: a reduction over ranks is one that backends do, or that "
            "can be put to them exactly: max of ComplexFloat is neither; cast the tensor before the operation that "
            "leaves it partial, or keep it replicated"
        )
        assert rank["uneven"]["text"] == (
            f"reduce_scatter(sum) over axis 0 of {mesh} of {8 * (size + 1)} bytes: the scattered dimension divides by "
            f"the ranks of the axis: dimension 0 has size {size + 1}, the axis {size} ranks; pad the dimension, or keep "
            "the tensor replicated"
        )
        assert rank["no such axis"] == rank["no such axis"] | {
            "kind": "IndexError",
            "text": "collective: a mesh axis counts from 0: got 1 of 1; pass a mesh axis that exists",
        }
        assert (
            rank["no tensor"]["text"]
            == "collective: it takes a torch.Tensor: got a str; pass the local tensor"
        )
        check_text(
            rank["meta"],
            "ValueError",
            r"process group '0': a collective needs a backend for its tensors' device: it has none for meta \(.*\); "
            "make the group with a backend for that device, or move the tensors",
        )
        assert rank["records"] == [
            ["all_reduce", "sum", 0, 2, 22 * 4],
            ["all_gather", "", 0, 1, 2 * size * 8],
            ["reduce_scatter", "max", 0, 1, 2 * size * 4],
        ]
        assert rank["alone"] == []


def test_bindings_follow_groups(ranks: RankServer) -> None:
    for rank, report in enumerate(ranks.reports("bindings", 2)):
        first, second, again = report["ids"]
        assert 0 < first == again
        assert second not in (0, first)
        assert report["place"] == [rank, [rank]]
        assert report["outside"]["text"] == (
            f"mesh binding: a process uses meshes that it is part of: this process is rank {rank}, which is not in "
            "DeviceMesh{7 8}; run distributed calls only on the mesh's own ranks, or make a mesh with this rank"
        )
        assert report["no group"] == report["no group"] | {
            "kind": "RuntimeError",
            "text": "process group 'none such': a mesh runs on groups that torch knows by name: torch has no group of that "
            "name; it was destroyed or never made; make the process group (and the mesh) again before using the mesh",
        }
        check_text(
            report["size"],
            "ValueError",
            r"mesh binding: the group of a mesh axis has the axis's ranks: axis 0 of DeviceMesh\{\d 7 8 9\} has 4 ranks, "
            r"process group '\w+' has 2; pass the process group that was made for this axis",
        )
        assert report["axes"]["text"] == (
            "mesh binding: a mesh has one process group an axis: got 2 groups for DeviceMesh{0 1} of 1 axes; pass the "
            "group of every axis, in the order of the axes"
        )
        check_text(
            report["order"],
            "ValueError",
            r"all_gather over axis 0 of DeviceMesh\{1 0\} of 16 bytes: the ranks of an axis's process group stand in the "
            r"order of the mesh: along axis 0 the mesh has ranks \[1, 0\], process group '\w+' has \[0, 1\]; make the mesh "
            "with ascending ranks along each axis, or the group in the mesh's order",
        )
        assert report["after"] == 2.0
        assert report["after release"] == 2.0
        assert report["no deadline"]["text"] == (
            "collective deadline: a deadline is at least one millisecond: got 0 ms; pass a positive time, or none for the "
            "default"
        )
        for name in ("destroyed", "destroyed again", "old mesh"):
            check_text(
                report[name],
                "RuntimeError",
                r"process group '\w+': a mesh is used while its process groups exist: the group was destroyed or released "
                "after the mesh was bound to it; make the process group and the mesh again, and distribute the tensors on "
                "that mesh",
            )
        assert report["file store"] == 2.0


@pytest.mark.parametrize("size", [2, 3])
def test_different_programs_are_named_and_the_mesh_goes_on(size: int, ranks: RankServer) -> None:
    mesh = "DeviceMesh{" + " ".join(str(r) for r in range(size)) + "}"
    others = "rank 1 runs" if size == 2 else "ranks [1, 2] run"
    for rank, report in enumerate(ranks.reports("agreements", size)):
        check_text(
            report["differ"],
            "RuntimeError",
            re.escape(
                f"agreement of {mesh} on '{'add' if rank == 0 else 'mul'}': all ranks of a mesh run the same program: rank "
                f"0 runs 'add' (fingerprint 0x0), {others} 'mul' (fingerprint 0x1); run the same definition with the same "
                "global sizes, dtypes, placements and options on all ranks"
            ),
        )
        assert report["after"] == size


def test_agreement_reaches_over_both_axes_of_a_mesh(ranks: RankServer) -> None:
    for rank, report in enumerate(ranks.reports("agreements", 4)):
        assert (
            "ranks [0, 1, 2] run 'program 0' (fingerprint 0x0), rank 3 runs 'program 1' (fingerprint 0x1)"
            in report["square"]["text"]
        )
        assert report["square after"] == [[2.0, 1.0], [4.0, 1.0], [2.0, 5.0], [4.0, 5.0]][rank]
        if rank != 3:
            check_text(
                report["square missing"],
                "RuntimeError",
                r"agreement of DeviceMesh\{\(0 1\) \(2 3\)\} on 'p': every rank of the mesh comes to a program's call "
                rf"within 1 s: rank 3 has not come {PROCESS}; check that all ranks run the same calls in the same order; then "
                "make the process group and the mesh again, or restart the ranks",
            )
            assert report["square missing"]["seconds"] < 4
            assert "rank 3 has not come" in report["square poisoned"]["text"]


def test_a_late_rank_is_named_and_other_groups_go_on(ranks: RankServer) -> None:
    result = ranks.reports("late", 3)
    for rank in (0, 2):
        report = result[rank]
        check_text(
            report["late"],
            "RuntimeError",
            r"all_reduce\(sum\) over axis 0 of DeviceMesh\{0 1 2\} of 16 bytes: all ranks of the axis take part within 1 s: "
            rf"rank 1 is alive but has not come {PROCESS}: it has made 1 of 2 calls on this group{GONE_BACKENDS}{AFTER_FAULT}",
        )
        assert report["late"]["seconds"] < 1 + 3.5
        for name in ("poisoned", "poisoned agree"):
            assert "a process group is not used again after a fault" in report[name]["text"]
            assert report["late"]["text"] in report[name]["text"]
            assert report[name]["seconds"] < 0.1
        assert (
            "every rank of the mesh comes to a program's call within 1 s: rank 1 has not come"
            in report["not agreed"]["text"]
        )
        check_text(
            report["not met"],
            "RuntimeError",
            r"all_reduce\(sum\) over axis 0 of DeviceMesh\{0 1 2\} of 4 bytes: all ranks of process group '\w+' come to its "
            r"first use within 0.5 s: rank 1 has not come; check that every rank runs the same program up to here and that "
            "none has ended; raise MESHFUSE_COLLECTIVE_TIMEOUT_S if ranks start late",
        )
    assert re.search(
        "within 1 s: the others gave up before this rank came: rank 1 has not come",
        result[1]["too late"]["text"],
    )
    assert [report["other"] for report in result] == [3.0] * 3


def test_two_threads_on_one_group_are_refused_not_deadlocked(ranks: RankServer) -> None:
    result = ranks.reports("threads", 2)
    assert re.fullmatch(
        r"all_reduce\(sum\) over axis 0 of DeviceMesh\{0 1\} of 4 bytes: calls on one process group come one after the other, in the same order on "
        r"all ranks: another thread is using group '\w+' at this moment; make distributed calls from one thread, or give "
        "each thread a mesh with groups of its own",
        result[0]["refused"],
    )
    assert [report["one"] for report in result] == [[2.0], [2.0]]
    assert [report["two"] for report in result] == [2.0, 2.0]


@pytest.mark.parametrize(
    ("scenario", "store", "why", "seconds"),
    [
        ("killed_1", "rank0", "has ended", 3.5),
        ("killed_0", "rank0", "has ended", 3.5),
        ("killed_0", "elsewhere", "has ended", 3.5),
        ("stopped_1", "rank0", "is stopped", 3.5),
        ("stopped_0", "rank0", "is stopped", 3.5),
    ],
)
def test_a_dead_or_stopped_rank_is_named_within_the_deadline(
    scenario: str, store: str, why: str, seconds: float, ranks: RankServer
) -> None:
    run = ranks.run(scenario, 3, store)
    victim = int(scenario[-1])
    assert run[victim]["end"] == ("signal 9" if why == "has ended" else "stopped")
    for rank in {0, 1, 2} - {victim}:
        assert run[rank]["end"] == "exit 0", run
        report = run[rank]["reports"]
        check_text(
            report["fault"],
            "RuntimeError",
            r"all_reduce\(sum\) over axis 0 of DeviceMesh\{0 1 2\} of 16 bytes: all ranks of the axis take part within 2 s: "
            rf"rank {victim} {why} {PROCESS}{GONE_BACKENDS}{AFTER_FAULT}",
        )
        assert report["fault"]["seconds"] < seconds
        for name in ("poisoned", "agree"):
            assert REUSED + report["fault"]["text"] in report[name]["text"]
            assert report[name]["seconds"] < 0.1
        if victim != 0 or store != "rank0":  # meeting for the first time needs the store
            assert report["others"]["kind"] == "none", report["others"]


def test_a_rank_that_dies_before_an_agreement_is_named_at_once(ranks: RankServer) -> None:
    run = ranks.run("killed_before_agreement", 3)
    for rank in (0, 2):
        error = run[rank]["reports"]["fault"]
        assert re.search(rf"within 20 s: rank 1 has ended {PROCESS}; check", error["text"])
        assert error["seconds"] < 3


def test_a_lost_store_names_its_host(ranks: RankServer) -> None:
    for rank in ranks.run("store_killed", 2, "elsewhere"):
        assert rank["end"] == "exit 0"
        report = rank["reports"]
        assert report["collective"] == 2.0
        check_text(
            report["agree"],
            "RuntimeError",
            r"agreement of DeviceMesh\{0 1\} on 'p': every rank of the mesh comes to a program's call within 5 s: the "
            r"store at 127.0.0.1:\d+ is lost \([^)]+\); check that all ranks run the same calls in the same order; then make "
            "the process group and the mesh again, or restart the ranks",
        )
        assert report["agree"]["seconds"] < 5
        assert report["agree"]["text"] in report["poisoned"]["text"]


def test_the_fake_group_of_torch_plays_one_rank_of_many(ranks: RankServer) -> None:
    (report,) = ranks.reports("fake_group", 1)
    assert report["shapes"] == [[2, 3], [2, 192], [2, 3]]
    assert [record[0] for record in report["records"]] == [
        "all_reduce",
        "all_gather",
        "reduce_scatter",
    ]


def test_a_forked_child_is_refused(ranks: RankServer) -> None:
    for report in ranks.reports("fork_child", 2):
        parent, child = report["pids"]
        assert report["child"] == (
            "all_reduce(sum) over axis 0 of DeviceMesh{0 1} of 4 bytes: a process group is used by the process that made "
            f"it: process {child} is a fork of process {parent}, which made group '0'; start ranks by spawning (torchrun, "
            "or multiprocessing's spawn), not by forking"
        )
        assert report["parent"] == 2.0


ENDS = {
    "end_destroy": 0,
    "end_holding": 0,
    "end_none": 0,
    "end_sys_exit": 3,
    "end_exception": 1,
}


@pytest.mark.parametrize("scenario", ENDS)
def test_processes_end_cleanly_right_after_their_last_collective(
    scenario: str, ranks: RankServer
) -> None:
    """RANK_PROCESS_ENDS=50 is the long form; each end is the whole end of an interpreter."""
    runs = int(os.environ.get("RANK_PROCESS_ENDS", "6"))
    ends = [rank["end"] for _ in range(runs) for rank in ranks.run(scenario, 2)]
    assert ends == [f"exit {ENDS[scenario]}"] * (2 * runs)


def test_spawned_processes_end_cleanly_too() -> None:
    script = RANKS_FOLDER / "communication_ranks.py"
    processes = []
    for scenario, code in ENDS.items():
        port = str(free_port())
        for rank in "01":
            command = [sys.executable, str(script), scenario, rank, "2", port]
            process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
            processes.append((scenario, code, process))
    for scenario, code, process in processes:
        errors = process.communicate(timeout=120)[1]
        assert process.returncode == code, f"{scenario}: {errors}"
        assert ("LookupError: the end" in errors) == (scenario == "end_exception"), errors
