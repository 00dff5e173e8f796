"""The examples of the README and of docs/ run, and print what they say."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(page for page in (ROOT / "docs").glob("*.md") if "```python" in page.read_text())


def run(code: str) -> str:
    """With kernels, as users have them."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "MESHFUSE_COMPILE": "1"},
    )
    assert done.stderr == ""
    return done.stdout


def test_the_example_prints_its_output() -> None:
    text = (ROOT / "README.md").read_text()
    code = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    output = re.search(r"```text\n(.*?)```", text, re.DOTALL)
    assert code is not None
    assert output is not None
    assert run(code[1]).rstrip() == output[1].rstrip()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_examples_of_a_page_run_one_after_another(page: Path) -> None:
    """Their assertions hold, and they print what the page's text blocks say."""
    text = page.read_text()
    code = "\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL))
    output = "".join(re.findall(r"```text\n(.*?)```", text, re.DOTALL))
    assert run(code).rstrip() == output.rstrip()


def test_the_page_for_users_of_nvfuser_is_among_them() -> None:
    assert "coming_from_nvfuser" in [page.stem for page in PAGES]
