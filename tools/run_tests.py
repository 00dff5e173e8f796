#!/usr/bin/env python3
"""Runs the C++ tests of a build and the Python tests, prints totals, and ends with `N passed, N failed`."""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTEST_LIMIT_S = 1500


@dataclass
class Counts:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped
        )

    def __str__(self) -> str:
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        return f"{self.passed} passed, {self.failed} failed{skipped}"


def junit_counts(report: Path) -> Counts:
    """Counts of a JUnit report, as GoogleTest, CTest and pytest write it."""
    counts = Counts()
    for case in ElementTree.parse(report).iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            counts.failed += 1
        elif case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
            counts.skipped += 1
        else:
            counts.passed += 1
    return counts


def run_cpp_tests(build: Path) -> Counts:
    """CTest runs one binary per layer; the counts are of the test cases inside them."""
    reports = build / "reports"
    shutil.rmtree(reports, ignore_errors=True)
    reports.mkdir()
    summary = reports / "ctest.xml"
    done = subprocess.run(
        ["ctest", "--test-dir", str(build), "--output-on-failure", "--output-junit", str(summary)],
        check=False,
    )
    counts = Counts()
    if not summary.exists():
        print(
            "run_tests: this build has no C++ tests (GoogleTest was missing when it was configured)"
        )
        return Counts(failed=1) if done.returncode else counts
    for binary in ElementTree.parse(summary).iter("testcase"):
        report = reports / f"{binary.get('name')}.xml"
        inside = junit_counts(report) if report.exists() else Counts()
        if binary.find("failure") is not None and inside.failed == 0:
            inside.failed = 1  # crashed or ran out of time before it could report
        counts += inside
    return counts


def run_python_tests(build: Path, selection: list[str]) -> Counts:
    if importlib.util.find_spec("pytest") is None:
        print(f"run_tests: {sys.executable} has no pytest, the Python tests are left out")
        return Counts()
    folders = selection or sorted(
        {file.parent.relative_to(ROOT).as_posix() for file in ROOT.glob("tests/*/test_*.py")}
    )
    report = build / "reports/pytest.xml"
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(
            filter(None, [str(build / "python"), os.environ.get("PYTHONPATH")])
        ),
        "MESHFUSE_TEST_BUILD": str(build),
    }
    command = [sys.executable, "-m", "pytest", "-q", f"--junitxml={report}", *folders]
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, timeout=PYTEST_LIMIT_S, check=False
        )
        status = done.returncode
    except subprocess.TimeoutExpired:
        print(f"run_tests: pytest was ended after {PYTEST_LIMIT_S} s")
        status = 1
    counts = junit_counts(report) if report.exists() else Counts()
    if status != 0 and counts.failed == 0:
        counts.failed = 1  # pytest itself did not come to an end
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True, help="a configured and built folder")
    parser.add_argument("python_tests", nargs="*", help="only these Python tests (default: all)")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    cpp = run_cpp_tests(build)
    python = run_python_tests(build, arguments.python_tests)
    total = cpp + python
    print(f"\nC++:    {cpp}\nPython: {python}\n\n{total}", flush=True)
    return 1 if total.failed or not total.passed else 0


if __name__ == "__main__":
    sys.exit(main())
