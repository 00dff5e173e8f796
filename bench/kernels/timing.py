"""Calls timed in turns, so that a busy moment of the machine touches all of them alike; and programs run in processes of
their own."""

import gc
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
Call = Callable[[], object]
Times = dict[str, list[float]]


def interleaved(calls: dict[str, Call], turns: int, seconds: float) -> Times:
    """Seconds per call, turn by turn. A turn of one takes about that many seconds, or one call. The result of a call is
    dropped within its time."""
    counts: dict[str, int] = {}
    for name, call in calls.items():
        call()
        start = time.perf_counter()
        call()
        counts[name] = max(1, int(seconds / (time.perf_counter() - start)))
    times: Times = {name: [] for name in calls}
    names = list(calls)
    gc.disable()
    for turn in range(turns):
        # No call always follows the same one.
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            call, count = calls[name], counts[name]
            start = time.perf_counter()
            for _ in range(count):
                call()
            times[name].append((time.perf_counter() - start) / count)
    gc.enable()
    return times


def ratio(times: Times, over: str, under: str) -> float:
    """Median over the turns of the first's time by the second's."""
    return statistics.median(a / b for a, b in zip(times[over], times[under], strict=True))


def median(times: Times, name: str) -> float:
    return statistics.median(times[name])


def geometric_mean(values: Sequence[float]) -> float:
    return statistics.geometric_mean(values)


def in_child(script: str, *arguments: str, cache: str, **environment: str) -> Any:
    """What a script of this folder prints last, as JSON, with its kernels in that cache directory."""
    done = subprocess.run(
        [sys.executable, str(FOLDER / script), *arguments],
        env=os.environ | {"MESHFUSE_CACHE_DIR": cache} | environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def fresh_cache() -> tempfile.TemporaryDirectory[str]:
    """An empty cache of kernels, private as the library wants it."""
    return tempfile.TemporaryDirectory(prefix="meshfuse-bench-")
