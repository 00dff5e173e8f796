"""Random fusions do the same compiled and evaluated: the first 1,500 of them. `make fuzz` runs more."""

import os
import subprocess
import sys
from pathlib import Path

FUZZ = Path(__file__).parents[1] / "fuzz" / "fuzz.py"
COUNT = int(os.environ.get("MESHFUSE_FUZZ_COUNT", "1500"))


def test_random_fusions_do_the_same_compiled_and_evaluated(tmp_path: Path) -> None:
    """Kernels are compiled with few optimizations, which takes half the time: other tests have them as users do."""
    cache = tmp_path / "kernels"
    cache.mkdir(mode=0o700)
    variables = {"MESHFUSE_CXXFLAGS": "-O1", "MESHFUSE_CACHE_DIR": str(cache)}
    done = subprocess.run(
        [sys.executable, str(FUZZ), "--count", str(COUNT), "--no-shrink", "--most-steps", "14"],
        capture_output=True,
        text=True,
        check=False,
        timeout=2400,
        env={**os.environ, "MESHFUSE_VERIFY": "1", **variables},
    )
    assert done.returncode == 0, done.stdout[-20000:] + done.stderr[-2000:]
    assert f"{COUNT} programs, 0 failures" in done.stdout
