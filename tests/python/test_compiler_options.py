"""What the environment asks of the compiler's passes: to print, to be left out, to be checked."""

import re

import pytest
import torch
from entry_definitions import error_of

from meshfuse import DataType, FusionDefinition

PASSES = ["clean", "segment", "outer", "recompute", "merge", "schedule", "build", "memory"]


@pytest.fixture(autouse=True)
def _compiling(monkeypatch):
    monkeypatch.setenv("MESHFUSE_COMPILE", "1")


def twice() -> FusionDefinition:
    """A sum of two equal calls."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], dtype=DataType.Float)
        fd.add_output(fd.ops.add(fd.ops.exp(x), fd.ops.exp(x)))
    return fd


def printed(monkeypatch, capfd, which: str, **variables: str) -> str:
    monkeypatch.setenv("MESHFUSE_PRINT", which)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    x = torch.randn(4, 6, generator=torch.Generator().manual_seed(0))
    (result,) = twice().execute([x])
    torch.testing.assert_close(result, x.exp() * 2)
    return capfd.readouterr().err


def test_each_pass_prints_what_it_gives(monkeypatch, capfd):
    text = printed(monkeypatch, capfd, "all")
    assert re.findall("^--- (.*)$", text, re.MULTILINE) == PASSES


def test_a_cleaned_program_is_printed_and_the_definition_stays(monkeypatch, capfd):
    text = printed(monkeypatch, capfd, "clean")
    assert text.count("exp(") == 1
    fd = twice()
    fd.execute([torch.ones(4, 6)])
    assert fd.explain().count("exp(") == 2


def test_times_are_printed_by_pass(monkeypatch, capfd):
    lines = printed(monkeypatch, capfd, "time").splitlines()
    assert lines[0] == "--- time"
    assert [line.split(":")[0] for line in lines[1:]] == PASSES
    assert all(re.fullmatch(r"\w+: \d+\.\d{3} ms", line) for line in lines[1:])


def test_passes_are_left_out(monkeypatch, capfd):
    text = printed(monkeypatch, capfd, "all", MESHFUSE_SKIP="clean,outer,recompute,merge")
    assert re.findall("^--- (.*)$", text, re.MULTILINE) == ["segment", *PASSES[5:]]
    assert text.split("--- segment\n")[1].splitlines()[0].count("exp(") == 2


def test_decisions_are_printed_with_their_figures(monkeypatch, capfd):
    def define() -> FusionDefinition:
        with FusionDefinition() as fd:
            halves = fd.define_tensor([-1, -1], dtype=DataType.BFloat16)
            small = [fd.define_tensor([-1], dtype=DataType.Float) for _ in range(2)]
            floats = fd.ops.cast(halves, DataType.Float)
            fd.add_output(fd.ops.sum(floats, [0]))
            fd.add_output(fd.ops.sum(floats, [1]))
            for value in small:
                fd.add_output(fd.ops.neg(value))
        return fd

    monkeypatch.setenv("MESHFUSE_PRINT", "cost")
    monkeypatch.setenv("MESHFUSE_SKIP", "outer")
    inputs = [torch.ones(4, 6, dtype=torch.bfloat16), torch.ones(5), torch.ones(5)]
    columns, rows, *negatives = define().execute(inputs)
    assert (columns.tolist(), rows.tolist()) == ([4.0] * 6, [6.0] * 4)
    assert [value.tolist() for value in negatives] == [[-1.0] * 5] * 2
    text = capfd.readouterr().err
    assert text.startswith("--- cost\nlevel-2 cache: ")
    assert "tv3 is computed again where it is read, by kernels: 1; an element takes 2 " in text
    assert "the kernel that makes tv7 joins the one that makes tv6: 85 additions of " in text
    monkeypatch.setenv("MESHFUSE_SKIP", "outer,recompute,merge")
    define().execute(inputs)
    assert "tv3 goes through memory: 96 bytes, read by 1 groups" in capfd.readouterr().err


@pytest.mark.parametrize("value", ["0", "1"])
def test_results_of_passes_are_checked_or_not(monkeypatch, capfd, value):
    printed(monkeypatch, capfd, "", MESHFUSE_VERIFY=value)


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        (
            "MESHFUSE_PRINT",
            "segment,sement",
            "MESHFUSE_PRINT: the variable lists passes of the compiler: got 'sement'; "
            "name some of clean, segment, outer, recompute, merge, schedule, build, memory, cost, time, all",
        ),
        (
            "MESHFUSE_SKIP",
            "segment",
            "MESHFUSE_SKIP: the variable lists passes of the compiler: got 'segment'; "
            "name some of clean, outer, recompute, merge, memory",
        ),
        (
            "MESHFUSE_VERIFY",
            "yes",
            "MESHFUSE_VERIFY: the variable is 0 or 1: got 'yes'; "
            "set it to 1 to check what each pass of the compiler gives",
        ),
    ],
)
def test_other_values_are_refused(monkeypatch, name, value, error):
    monkeypatch.setenv(name, value)
    assert error_of(ValueError, lambda: twice().execute([torch.ones(4, 6)])) == error
