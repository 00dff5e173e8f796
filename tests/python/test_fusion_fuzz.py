"""Random fusions do the same compiled and evaluated: the first 90 of them. `make fuzz` runs more."""

import os
import subprocess
import sys
from pathlib import Path

FUZZ = Path(__file__).parents[1] / "fuzz" / "fuzz.py"
COUNT = int(os.environ.get("MESHFUSE_FUZZ_COUNT", "90"))
SECONDS = int(os.environ.get("MESHFUSE_FUZZ_SECONDS", "150"))


def test_random_fusions_do_the_same_compiled_and_evaluated():
    done = subprocess.run(
        [
            sys.executable,
            str(FUZZ),
            "--count",
            str(COUNT),
            "--seconds",
            str(SECONDS),
            "--no-shrink",
            "--most-steps",
            "14",
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=1200,
    )
    assert done.returncode == 0, done.stdout[-20000:] + done.stderr[-2000:]
    assert " programs, 0 failures" in done.stdout
