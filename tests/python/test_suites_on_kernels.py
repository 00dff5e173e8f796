"""The tests of what operations mean, which run on the evaluator, pass with kernels as well: every operation, for each element type,
in several layouts."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
# Scans have a file of their own for this.
SUITES = [
    "test_indexing_ops.py",
    "test_layout_ops.py",
    "test_ops_against_torch.py",
    "test_reductions_against_torch.py",
]


@pytest.mark.parametrize("suite", SUITES)
def test_it_passes(suite: str, tmp_path: Path) -> None:
    """In a process of its own, whose kernels are compiled in the shortest time: other tests have them as users do."""
    cache = tmp_path / "kernels"
    cache.mkdir(mode=0o700)
    variables = {
        "MESHFUSE_COMPILE": "1",
        "MESHFUSE_CXXFLAGS": "-O0",
        "MESHFUSE_CACHE_DIR": str(cache),
    }
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", str(HERE / suite)],
        capture_output=True,
        text=True,
        check=False,
        timeout=1800,
        env={**os.environ, **variables},
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
