"""Runs a definition on the evaluator and as kernels, and holds the results against each other."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from op_comparison import BOOL, COMPLEX, REAL, WHOLE

from meshfuse import FusionDefinition

FLOAT8 = [torch.float8_e4m3fn, torch.float8_e5m2]
ALL_TYPES = REAL + WHOLE + BOOL + COMPLEX + FLOAT8

Definition = Callable[[], FusionDefinition]


def calls_of(fd: FusionDefinition) -> list[str]:
    """The operations that the compiled definition leaves to the library."""
    lines = fd.explain().splitlines()
    assert "compiled:" in lines, fd.explain()
    return [line.split()[1] for line in lines if line.startswith("call ")]


def execute(
    monkeypatch: pytest.MonkeyPatch,
    fd: FusionDefinition,
    inputs: Sequence[Any],
    compiled: bool,
) -> list[torch.Tensor]:
    """The results of kernels, or of the evaluator."""
    monkeypatch.setenv("MESHFUSE_COMPILE", "1" if compiled else "0")
    return fd.execute(list(inputs))


def run(
    monkeypatch: pytest.MonkeyPatch, fd: FusionDefinition, inputs: Sequence, compiled: bool
) -> list[torch.Tensor] | Exception:
    """The results from torch's generator as after `manual_seed(7)`, or what was thrown."""
    torch.manual_seed(7)
    try:
        return execute(monkeypatch, fd, inputs, compiled)
    except (RuntimeError, ValueError, IndexError) as error:
        return error


def assert_same(got: torch.Tensor, want: torch.Tensor) -> None:
    """The same numbers, zeros of the same sign, NaN in the same places."""
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    if want.element_size() == 1 and want.dtype.is_floating_point:
        got, want = got.float(), want.float()
    known = ~want.isnan()
    assert torch.equal(got.isnan(), want.isnan())
    assert torch.equal(got[known], want[known])
    if want.dtype.is_floating_point:
        assert torch.equal(got[known].signbit(), want[known].signbit())


def compare(
    monkeypatch: pytest.MonkeyPatch,
    define: Definition,
    calls: Sequence[Sequence],
    left: Sequence[str] = (),
) -> list[list[torch.Tensor]]:
    """Runs each list of inputs both ways, asserts that nothing differs, errors and torch's generator included, and that the
    operations `left` alone are left to the library. Returns what the kernels gave."""
    evaluating, compiling = define(), define()
    results = []
    for inputs in calls:
        want = run(monkeypatch, evaluating, inputs, compiled=False)
        state = torch.get_rng_state()
        got = run(monkeypatch, compiling, inputs, compiled=True)
        if isinstance(want, Exception) or isinstance(got, Exception):
            assert (type(got), str(got)) == (type(want), str(want)), (got, want)
            continue
        assert torch.equal(torch.get_rng_state(), state)
        assert calls_of(compiling) == list(left)
        for a, b in zip(got, want, strict=True):
            assert_same(a, b)
        results.append(got)
    return results
