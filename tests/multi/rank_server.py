"""The test's end of a process that has imported torch once and forks ranks on request."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

Run = list[dict[str, Any]]


class RankServer:
    """Runs the scenarios of a script in this folder, which serves requests `<scenario> <size> <store>` on its input."""

    def __init__(self, script: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).parent / script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, scenario: str, size: int, store: str = "rank0") -> Run:
        """Every rank's end and reports; ranks that hang are ended after a minute.

        The ranks' store is hosted by rank 0, or by a process of its own when `store` is `elsewhere`.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{scenario} {size} {store}\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def reports(self, scenario: str, size: int) -> list[dict[str, Any]]:
        """The reports of ranks that all end well."""
        run = self.run(scenario, size)
        assert [rank["end"] for rank in run] == ["exit 0"] * size, run
        return [rank["reports"] for rank in run]

    def stop(self) -> None:
        self._process.communicate(timeout=60)
