"""DTensors in, DTensors out on real process groups: results, refusals, and how processes end."""

import os
import re
from collections.abc import Iterator

import pytest
from rank_server import RankServer


@pytest.fixture(scope="module")
def ranks() -> Iterator[RankServer]:
    server = RankServer("execute_ranks.py")
    yield server
    server.stop()


@pytest.mark.parametrize("size", [2, 3])
def test_operations_without_communication_for_even_uneven_and_empty_shards(
    size: int, ranks: RankServer
) -> None:
    for report in ranks.reports("local_operations", size):
        assert report["problems"] == []


@pytest.mark.parametrize("size", [2, 3])
def test_operations_with_communication(size: int, ranks: RankServer) -> None:
    for report in ranks.reports("with_communication", size):
        assert report == {
            "relu of sum": True,
            "relu of partial": True,
            "relu of set of partial": True,
            "relu of neg of partial": True,
            "after a sum": True,
            "a number after a sum of partial": True,
            "validated": True,
        }


def test_meshes_of_two_axes_and_their_parts(ranks: RankServer) -> None:
    for report in ranks.reports("two_axes", 4):
        assert report["problems"] == []


def test_ranks_with_different_definitions_are_named_and_go_on(ranks: RankServer) -> None:
    for report in ranks.reports("different_definitions", 2):
        assert report["mixed"]["kind"] == "RuntimeError"
        assert "rank 0" in report["mixed"]["text"] or "ranks 0" in report["mixed"]["text"]
        assert report["mixed"]["seconds"] < 20
        assert report["same"]


@pytest.mark.parametrize("size", [2, 3])
def test_ranks_that_call_different_known_definitions_are_named_and_go_on(
    size: int, ranks: RankServer
) -> None:
    others = "rank 1 runs" if size == 2 else r"ranks \[1, 2\] run"
    calls = {
        "known": ("sum, relu", "sum, exp"),
        "known sizes": ("sum, relu", "sum, relu"),
        "known and new": ("sum, relu", "sum, neg, relu"),
        "without calls": ("sum, relu", "neg"),
    }
    for report in ranks.reports("different_known_definitions", size):
        for name, (first, second) in calls.items():
            assert report[name]["kind"] == "RuntimeError", report
            assert re.search(
                rf"all ranks of a mesh run the same program: rank 0 runs '{first} of [^']*' .*, {others} '{second} of ",
                re.sub(r", reshard", "", report[name]["text"]),
            ), report[name]["text"]
            assert report[name]["seconds"] < 10
        for name in ("numbers", "known numbers"):
            text = report[name]["text"]
            assert "called with 2.0' (fingerprint" in text, text
            assert "called with 3.0' (fingerprint" in text, text
        text = report["constants"]["text"]
        assert re.search(r"rank 0 runs '[^']*' with 'tv\d+: [^']* = mul\(tv\d+, 2\.0\)'", text), (
            text
        )
        assert re.search(r"runs? '[^']*' with 'tv\d+: [^']* = mul\(tv\d+, 3\.0\)'", text), text
        assert report["after"] == [True, True]


@pytest.mark.parametrize("size", [2, 3])
def test_inputs_are_written_where_they_lie(size: int, ranks: RankServer) -> None:
    for report in ranks.reports("in_place", size):
        assert report["problems"] == []


def test_no_rank_writes_when_another_could_not(ranks: RankServer) -> None:
    reports = ranks.reports("in_place_refused", 2)
    by_zero = [report["a division by zero on the last rank"] for report in reports]
    assert [error["kind"] for error in by_zero] == ["RuntimeError", "IntegerZeroDivisionError"]
    assert "ZeroDivisionError" in by_zero[1]["text"]
    assert "no input was written, as not every rank has computed" in by_zero[0]["text"]
    assert "rank 1 runs 'failed: " in by_zero[0]["text"]
    assert all(error["seconds"] < 4 for error in by_zero)
    for report in reports:
        assert report["untouched"]
        assert report["then"]
        gather = report["an uneven gather"]
        assert gather["kind"] == "RuntimeError"
        assert gather["text"].startswith(
            "add_output: an operand must lie as the op needs it: operand tv2, to be written into tv1 on "
            "DeviceMesh{0 1} cpu (R), of type Int[5] @ DeviceMesh{0 1} cpu (S(0)): gathering unequal shards"
        )
        assert report["a parameter"]["kind"] == "RuntimeError"
        assert "is a leaf that requires grad" in report["a parameter"]["text"]
        assert report["parameter"]
    alone = reports[0]["alone"]
    assert alone["kind"] == "RuntimeError"
    assert "no input was written" in alone["text"]
    assert "rank 1" in alone["text"]
    assert alone["seconds"] < 15
    assert reports[0]["untouched alone"]


def test_a_deadline_set_before_the_first_call_holds(ranks: RankServer) -> None:
    report = ranks.reports("early_deadline", 2)[0]["early"]
    assert report["kind"] == "RuntimeError"
    assert "within 1 s: rank 1 has" in report["text"]
    assert report["seconds"] < 5


def test_a_rank_that_dies_is_named_and_plain_calls_go_on(ranks: RankServer) -> None:
    survivor = ranks.run("rank_dies", 2)[0]
    assert survivor["reports"]["after"]["kind"] == "RuntimeError", survivor
    assert "rank 1" in survivor["reports"]["after"]["text"]
    assert survivor["reports"]["after"]["seconds"] < 10
    assert survivor["reports"]["plain"]


def test_many_threads_after_the_ranks_have_agreed(ranks: RankServer) -> None:
    for report in ranks.reports("threads", 2):
        assert report["wrong"] == 0


@pytest.mark.parametrize(
    ("scenario", "end"),
    [
        ("end_tidy", "exit 0"),
        ("end_destroy", "exit 0"),
        ("end_holding", "exit 0"),
        ("end_none", "exit 0"),
        ("end_exception", "exit 1"),
    ],
)
def test_processes_end_cleanly_right_after_their_last_call(
    scenario: str, end: str, ranks: RankServer
) -> None:
    runs = int(os.environ.get("RANK_PROCESS_ENDS", "3"))
    ends = [rank["end"] for _ in range(runs) for rank in ranks.run(scenario, 2)]
    assert ends == [end] * (2 * runs)
