"""Random fusions, compiled and evaluated: `fuzz.py --count 200 --seed 0`. Ends with 1 where one differs; prints it, shrunk."""

from __future__ import annotations

import argparse
import sys
import time

import torch
from comparison import compare
from generation import Settings, generate
from programs import Program, define, run
from shrinking import shrunk


def failure_of(program: Program) -> str | None:
    """What is wrong with the compiled program."""
    evaluating, compiling = define(program.definition()), define(program.definition())
    for variant in range(program.variants):
        evaluated = run(program, variant, evaluating, compiled=False)
        compiled = run(program, variant, compiling, compiled=True)
        if isinstance(evaluated, Exception) or isinstance(compiled, Exception):
            if str(evaluated) != str(compiled) or type(evaluated) is not type(compiled):
                return f"variant {variant}: compiled {compiled!r:.800}, evaluated {evaluated!r:.300}"
            continue
        failure = compare(program, variant, evaluated, compiled)
        if failure is not None:
            return f"variant {variant}: {failure}"
    return None


def report(seed: int, program: Program, failure: str, shrinks: bool) -> None:
    print(f"FAILED seed {seed}: {failure}", flush=True)
    if shrinks:
        program = shrunk(program, lambda candidate: failure_of(candidate) is not None)
        print(f"as small as it gets: {failure_of(program)}")
    print(program.script(), flush=True)


def work(first: int, count: int, stride: int, settings: Settings, shrinks: bool, end: float) -> int:
    """Seeds first, first + stride, …; the number of failures."""
    torch.set_num_threads(2)
    failures = 0
    for seed in range(first, first + count * stride, stride):
        if time.monotonic() > end:
            break
        print(f"seed {seed}", flush=True)
        program = generate(seed, settings)
        failure = failure_of(program)
        if failure is not None:
            failures += 1
            report(seed, program, failure, shrinks)
    return failures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--no-shrink", action="store_true")
    options = parser.parse_args()
    begin = time.monotonic()
    failures = work(
        options.seed, options.count, 1, Settings(), not options.no_shrink, begin + options.seconds
    )
    print(f"{failures} failures in {time.monotonic() - begin:.1f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
