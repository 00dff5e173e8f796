"""The README's example runs and prints what the README says."""

import re
import subprocess
import sys
from pathlib import Path


def test_the_example_prints_its_output() -> None:
    text = (Path(__file__).parents[2] / "README.md").read_text()
    code = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    output = re.search(r"```text\n(.*?)```", text, re.DOTALL)
    assert code is not None
    assert output is not None
    run = subprocess.run(
        [sys.executable, "-c", code[1]], capture_output=True, text=True, timeout=120, check=False
    )
    assert run.stderr == ""
    assert run.stdout.rstrip() == output[1].rstrip()
