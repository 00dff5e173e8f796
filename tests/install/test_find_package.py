"""Another CMake project builds against an installed meshfuse and runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

CONSUMER = Path(__file__).parent / "consumer"
BUILD = Path(os.environ.get("MESHFUSE_TEST_BUILD", "build/release")).resolve()


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def configure(prefix: Path, build: Path) -> subprocess.CompletedProcess[str]:
    return run(
        *("cmake", "-G", "Ninja", "-S", str(CONSUMER), "-B", str(build)),
        f"-DCMAKE_PREFIX_PATH={prefix}",
        f"-DPython_EXECUTABLE={sys.executable}",
    )


def install(prefix: Path) -> None:
    done = run("cmake", "--install", str(BUILD), "--prefix", str(prefix), "--component", "cpp")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_project_finds_links_and_runs_an_installed_meshfuse(tmp_path: Path) -> None:
    install(tmp_path / "prefix")
    build = tmp_path / "build"
    for done in (configure(tmp_path / "prefix", build), run("cmake", "--build", str(build))):
        assert done.returncode == 0, done.stdout + done.stderr
    done = run(str(build / "consumer"))
    assert (done.returncode, done.stdout) == (0, "6.0\n"), done.stderr


def test_another_torch_than_the_one_built_against_is_refused(tmp_path: Path) -> None:
    install(tmp_path / "prefix")
    (config,) = (tmp_path / "prefix").rglob("meshfuseConfig.cmake")
    text = config.read_text()
    start = text.index('TORCH_VERSION STREQUAL "') + len('TORCH_VERSION STREQUAL "')
    version = text[start : text.index('"', start)]
    config.write_text(text.replace(version, "1.0.0"))
    done = configure(tmp_path / "prefix", tmp_path / "build")
    assert done.returncode != 0
    words = " ".join(done.stderr.split())  # CMake breaks lines where it likes
    assert "meshfuse was built against torch 1.0.0, but" in words
    assert f"has torch {version}; use that torch, or build meshfuse again" in words
