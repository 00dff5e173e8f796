"""The examples on the real weights: on two processes, on one, and from C++, with the same numbers."""

import os
import re
import subprocess
import sys
from pathlib import Path

import torch

EXAMPLES = Path(__file__).parents[2] / "examples"
BUILD = Path(os.environ["MESHFUSE_TEST_BUILD"])


def run(*command: str | Path) -> str:
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    result = subprocess.run(
        command, capture_output=True, text=True, timeout=240, check=False, env=environment
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


LAUNCHER = (
    "-m",
    "torch.distributed.run",
    "--standalone",
    "--local-addr",
    "127.0.0.1",
    "--nproc-per-node",
    "2",
)


def test_the_smallest_distributed_program() -> None:
    output = run(sys.executable, *LAUNCHER, EXAMPLES / "two_ranks.py")
    total = torch.arange(-12.0, 12.0).view(6, 4).sum(0).relu().tolist()
    assert output.startswith(f"(Replicate(),) {total} {total}\n")
    assert "all_reduce of 16 bytes" in output


def test_the_block_on_two_processes_and_on_one() -> None:
    script = EXAMPLES / "tensor_parallel_block.py"
    two = run(sys.executable, *LAUNCHER, script)
    one = run(sys.executable, script)
    first_values = re.compile(r"^first values: .*$", re.MULTILINE)
    assert first_values.findall(two) == first_values.findall(one) != []
    for output in (two, one):
        found = re.search(r"from PyTorch on one process: (\S+)", output)
        assert found is not None
        assert float(found[1]) <= 1e-5
    # One reduction: the row-parallel product, 4 sentences of 18 tokens of 384 floats.
    assert (
        f"--- collectives of one call\n1 x all_reduce(sum) on mesh axis 0, {4 * 18 * 384 * 4} bytes\n---"
        in two
    )
    assert "--- collectives of one call\nnone\n" in one


def test_the_block_from_cpp(tmp_path: Path) -> None:
    archive = tmp_path / "block.pt"
    run(sys.executable, EXAMPLES / "save_block.py", archive)
    output = run(BUILD / "examples" / "feed_forward_block", archive)
    found = re.search(r"largest difference from PyTorch (\S+)", output)
    assert found is not None
    assert float(found[1]) <= 1e-5


def test_norm_and_rope_are_one_kernel_and_equal_pytorch() -> None:
    environment = os.environ | {"MESHFUSE_COMPILE": "1"}
    script = (
        "import torch, norm_and_rope as n\n"
        "fd = n.define_norm_and_rope()\n"
        "x = torch.randn(5, n.HEADS, n.SIZE, dtype=torch.bfloat16)\n"
        "weight, angles = torch.rand(n.SIZE), torch.rand(5, n.SIZE // 2)\n"
        "inputs = [*x.chunk(2, -1), *weight.chunk(2), angles.cos(), angles.sin()]\n"
        "results = fd.execute(inputs)\n"
        "expected = n.reference(x, weight, angles.cos(), angles.sin())\n"
        "torch.testing.assert_close(results, list(expected))\n"
        "assert fd.explain().count('launch kernel') == 1, fd.explain()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=EXAMPLES,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
