"""Recycled memory: exact numbers, bounds, and tensors that behave as any other."""

import os
import subprocess
import sys
import threading

import pytest
import torch
from entry_definitions import error_of
from meshfuse.memory import (
    memory_statistics,
    reset_peak_memory,
    set_memory_cap,
    trim_memory,
)

from meshfuse import DataType, FusionDefinition

KI = 1024
MI = 1024 * KI


def adder() -> FusionDefinition:
    with FusionDefinition() as fd:
        a, b = (fd.define_tensor([-1], dtype=DataType.Float) for _ in range(2))
        fd.add_output(fd.ops.add(a, b))
    return fd


ADDER = adder()


def result(size: int, value: float = 1.0) -> torch.Tensor:
    """A float tensor of ``size`` bytes whose memory is the pool's."""
    x = torch.full((size // 4,), value)
    (y,) = ADDER.execute([x, x])
    return y


@pytest.fixture(autouse=True)
def _fresh_pool(monkeypatch):
    # What the evaluator makes is torch's.
    monkeypatch.setenv("MESHFUSE_COMPILE", "1")
    before = memory_statistics().cap_bytes
    set_memory_cap(256 * MI)
    trim_memory()
    yield
    set_memory_cap(before)


def test_the_numbers_are_exact():
    reset_peak_memory()
    start = memory_statistics()
    a, b = result(3 * MI), result(1000 * KI)
    now = memory_statistics()
    assert now.in_use_bytes - start.in_use_bytes == 3 * MI + 1000 * KI
    assert now.reserved_bytes - start.reserved_bytes == 3 * MI + 1024 * KI
    assert (now.hits - start.hits, now.misses - start.misses) == (0, 2)
    address = a.data_ptr()
    del a
    now = memory_statistics()
    assert (now.kept_bytes, now.kept_blocks) == (3 * MI, 1)
    assert now.in_use_bytes - start.in_use_bytes == 1000 * KI
    assert now.peak_in_use_bytes - start.in_use_bytes == 3 * MI + 1000 * KI
    reset_peak_memory()
    assert memory_statistics().peak_in_use_bytes - start.in_use_bytes == 1000 * KI
    a = result(3 * MI, 2.0)
    assert a.data_ptr() == address
    assert a.eq(4).all()
    assert memory_statistics().hits - start.hits == 1
    del a, b
    assert trim_memory(keep_bytes=1024 * KI) == 3 * MI
    assert trim_memory() == 1024 * KI
    now = memory_statistics()
    assert (now.kept_bytes, now.kept_blocks) == (0, 0)
    assert now.reserved_bytes == start.reserved_bytes
    assert now.given_back_bytes - start.given_back_bytes == 4 * MI
    assert now.given_back_blocks - start.given_back_blocks == 2


def test_a_steady_loop_takes_no_new_memory():
    result(MI)
    misses = memory_statistics().misses
    for _ in range(50):
        result(MI)
    assert memory_statistics().misses == misses


def test_the_cap_bounds_what_is_kept():
    set_memory_cap(2 * MI)
    for size in (MI, MI + 512 * KI, 3 * MI):
        result(size)
        assert memory_statistics().kept_bytes <= 2 * MI
    set_memory_cap(0)
    start = memory_statistics()
    assert (start.kept_bytes, start.cap_bytes) == (0, 0)
    assert result(MI).eq(2).all()
    assert memory_statistics() == start


@pytest.mark.parametrize("call", [trim_memory, set_memory_cap])
def test_odd_numbers_of_bytes_are_refused(call):
    start = memory_statistics()
    name = call.__name__
    for odd in (1.5, "1", True, None):
        expected = (
            f"{name}: it takes a whole number of bytes: got {odd!r}; pass an int of at least 0"
        )
        assert error_of(TypeError, lambda odd=odd: call(odd)) == expected
    for odd in (-1, 1 << 63):
        expected = f"{name}: a number of bytes is from 0 to 2**63 - 1: got {odd}; "
        assert error_of(ValueError, lambda odd=odd: call(odd)).startswith(expected)
    call((1 << 63) - 1)
    set_memory_cap(start.cap_bytes)


def test_results_behave_as_other_tensors():
    y = result(MI, 2.0).resize_(MI)  # four times as large
    assert y[: MI // 4].eq(4).all()
    array = y.numpy()
    del y
    trim_memory()
    assert (array[: MI // 4] == 4).all()
    shared = result(MI, 3.0).share_memory_()
    assert shared.is_shared()
    assert shared.eq(6).all()
    z = result(MI)
    view = z.view(-1, 4)[1:]
    kept = z.numpy()
    del z
    result(MI, 5.0)
    assert view.eq(2).all()
    assert (kept == 2).all()
    z = result(MI)
    storage = z.untyped_storage()
    assert storage.nbytes() == MI
    storage.resize_(0)
    storage.resize_(MI)
    assert z.fill_(1).sum() == MI // 4


@pytest.mark.parametrize("size", [64, KI, MI, 3 * MI])
def test_copies_on_write(size):
    original = result(size)
    first, second = torch._lazy_clone(original), torch._lazy_clone(original)
    assert first.add_(1).eq(3).all()
    assert original.eq(2).all()
    del first, original
    assert second.add_(2).eq(4).all()  # the last one takes the memory over
    assert result(size).eq(2).all()
    assert second.eq(4).all()


def test_freed_on_another_thread():
    start = memory_statistics()
    held = [result(2 * MI)]
    thread = threading.Thread(target=held.clear)
    thread.start()
    thread.join()
    assert memory_statistics().in_use_bytes == start.in_use_bytes
    assert memory_statistics().kept_bytes == 2 * MI


def test_a_forked_child_has_a_pool_of_its_own():
    y = result(2 * MI)
    result(3 * MI)
    child = os.fork()
    if child == 0:
        good = bool(y.numpy()[-1] == 2) and trim_memory() == 3 * MI
        os._exit(0 if good else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert y.eq(2).all()
    assert memory_statistics().kept_bytes == 3 * MI


def test_profiles_count_it():
    x = torch.ones(MI // 4)
    ADDER.execute([x, x])
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True
    ) as profile:
        with torch.profiler.record_function("the call"):
            (y,) = ADDER.execute([x, x])
        with torch.profiler.record_function("the release"):
            del y
    memory = {event.key: event.self_cpu_memory_usage for event in profile.key_averages()}
    assert memory["the call"] == MI
    assert memory["the release"] == -MI


@pytest.mark.parametrize(
    ("variable", "expected"),
    [("123456789", "123456789"), ("0", "0"), ("4 GB", "error"), ("-1", "error")],
)
def test_the_environment_sets_the_cap(variable, expected):
    code = """
from meshfuse.memory import memory_statistics
try:
    print(memory_statistics().cap_bytes)
except ValueError as error:
    assert "MESHFUSE_POOL_BYTES: it is a whole number of bytes: got '" in str(error), error
    print("error")
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "MESHFUSE_POOL_BYTES": variable},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stdout.strip() == expected


def test_the_first_cap_is_a_part_of_the_memory():
    code = "from meshfuse.memory import memory_statistics; print(memory_statistics().cap_bytes)"
    environment = {k: v for k, v in os.environ.items() if k != "MESHFUSE_POOL_BYTES"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert 0 < int(done.stdout) <= min(machine // 4, 4 << 30)


@pytest.mark.parametrize(("skipped", "intermediates"), [("", 2), ("memory", 3)])
def test_the_peak_is_what_the_sizes_say(monkeypatch, skipped, intermediates):
    """Reductions of rows and columns in turn: a kernel reads what the one before wrote, so that two intermediates live at the same
    time. The third lies where the first did, unless the pass is left out that says so. The result is a tensor of its own."""
    monkeypatch.setenv("MESHFUSE_SKIP", skipped)
    shape = (16, 32, 768)
    each = 16 * 32 * 768 * 4
    with FusionDefinition() as fd:
        value = fd.define_tensor(list(shape), dtype=DataType.Float)
        for dim in (2, 1, 2, 1):
            value = fd.ops.sub(value, fd.ops.max(value, [dim], keepdim=True))
        fd.add_output(value)
    x = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    want = x
    for dim in (2, 1, 2, 1):
        want = want - want.amax(dim, keepdim=True)
    fd.execute([x])
    reset_peak_memory()
    start = memory_statistics().in_use_bytes
    (result,) = fd.execute([x])
    now = memory_statistics()
    assert torch.equal(result, want)
    assert now.peak_in_use_bytes - start == intermediates * each + each
    assert now.in_use_bytes - start == each
