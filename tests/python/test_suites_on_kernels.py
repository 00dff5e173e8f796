"""The tests of what operations mean, which run on the evaluator, pass with kernels as well: every sample of every operation, for
each element type, in several layouts."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SUITES = sorted(
    [
        *HERE.glob("test_*_against_torch.py"),
        HERE / "test_indexing_ops.py",
        HERE / "test_layout_ops.py",
    ]
)


@pytest.mark.parametrize("suite", SUITES, ids=lambda path: path.stem)
def test_it_passes(suite: Path, tmp_path: Path) -> None:
    """In a process of its own, whose kernels are compiled in the shortest time: other tests have them as users do."""
    cache = tmp_path / "kernels"
    cache.mkdir(mode=0o700)
    variables = {
        "MESHFUSE_COMPILE": "1",
        "MESHFUSE_CXXFLAGS": "-O0",
        "MESHFUSE_CACHE_DIR": str(cache),
    }
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", str(suite)],
        capture_output=True,
        text=True,
        check=False,
        timeout=1800,
        env={**os.environ, **variables},
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
