"""Random fusions, compiled and evaluated: `fuzz.py --count 200 --seed 0`. Ends with 1 where one differs; prints it, shrunk."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import torch
from comparison import compare
from generation import Settings, generate
from meshfuse.kernels import kernel_statistics
from programs import Program, define, run
from shrinking import shrunk

# How the last line of a worker that has gone through its seeds begins.
ENDED = "compiled"


def failure_of(program: Program) -> str | None:
    """What is wrong with the compiled program."""
    evaluating, compiling = define(program.definition()), define(program.definition())
    for variant in range(program.variants):
        evaluated = run(program, variant, evaluating, compiled=False)
        compiled = run(program, variant, compiling, compiled=True)
        if isinstance(evaluated, Exception) or isinstance(compiled, Exception):
            if str(evaluated) != str(compiled) or type(evaluated) is not type(compiled):
                return (
                    f"variant {variant}: compiled {compiled!r:.800}, evaluated {evaluated!r:.300}"
                )
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


def work(options: argparse.Namespace) -> int:
    """Seeds one after another in this process; the number of failures."""
    torch.set_num_threads(2)
    end = time.monotonic() + options.seconds
    failures = 0
    settings = Settings(steps=(options.least_steps, options.most_steps))
    for seed in range(options.seed, options.seed + options.count * options.stride, options.stride):
        if time.monotonic() > end:
            break
        print(f"seed {seed}", flush=True)
        program = generate(seed, settings)
        failure = failure_of(program)
        if failure is not None:
            failures += 1
            report(seed, program, failure, not options.no_shrink)
    counts = kernel_statistics()
    print(f"{ENDED} {counts.compiled} kernels in {counts.seconds_compiling:.1f} s", flush=True)
    return failures


@dataclass
class Outcome:
    programs: int
    failures: int
    text: str


def run_worker(options: argparse.Namespace, first: int) -> Outcome:
    """A process of its own for every `jobs`-th seed, started again after the seed that ends it."""
    stride = options.jobs
    last = options.seed + options.count
    end = time.monotonic() + options.seconds
    outcome = Outcome(0, 0, "")
    while first < last and time.monotonic() < end:
        command = [
            sys.executable,
            __file__,
            "--worker",
            "--stride",
            str(stride),
            "--seed",
            str(first),
        ]
        command += ["--count", str(len(range(first, last, stride)))]
        command += ["--seconds", str(end - time.monotonic())]
        command += [
            "--least-steps",
            str(options.least_steps),
            "--most-steps",
            str(options.most_steps),
        ]
        command += ["--no-shrink"] if options.no_shrink else []
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        seeds = [line for line in done.stdout.splitlines() if line.startswith("seed ")]
        outcome.programs += len(seeds)
        others = [line for line in done.stdout.splitlines() if not line.startswith("seed ")]
        outcome.text += "\n".join(others) + "\n"
        outcome.failures += sum(line.startswith("FAILED") for line in others)
        if done.returncode in (0, 1) and any(line.startswith(ENDED) for line in others):
            break
        seed = int(seeds[-1].split()[1]) if seeds else first
        settings = Settings(steps=(options.least_steps, options.most_steps))
        outcome.failures += 1
        outcome.text += f"FAILED seed {seed}: the process ended with {done.returncode}\n"
        outcome.text += done.stderr[-2000:] + generate(seed, settings).script()
        first = seed + stride
    return outcome


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200, help="how many programs")
    parser.add_argument("--seed", type=int, default=0, help="of the first; the others follow it")
    parser.add_argument("--seconds", type=float, default=1e9, help="no program begins later")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--least-steps", type=int, default=4)
    parser.add_argument("--most-steps", type=int, default=25)
    parser.add_argument("--no-shrink", action="store_true")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--stride", type=int, default=1, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        return 1 if work(options) else 0
    begin = time.monotonic()
    with ThreadPoolExecutor(options.jobs) as pool:
        outcomes = list(
            pool.map(lambda at: run_worker(options, options.seed + at), range(options.jobs))
        )
    for outcome in outcomes:
        print(outcome.text, end="")
    failures = sum(outcome.failures for outcome in outcomes)
    programs = sum(outcome.programs for outcome in outcomes)
    print(f"{programs} programs, {failures} failures in {time.monotonic() - begin:.1f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
