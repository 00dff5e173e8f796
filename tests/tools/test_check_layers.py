"""tools/check_layers.py on small trees that must fail, one per rule, and on one that must not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CHECKER = Path(__file__).resolve().parents[2] / "tools/check_layers.py"

TABLE = """
[layers.base]
may_use = []
[layers.values]
may_use = ["base"]
third_party = ["torch"]
[layers.ir]
may_use = ["base"]
[layers.ops]
may_use = ["base", "ir"]
[layers.evaluator]
may_use = ["base", "ir", "ops", "values"]
third_party = ["torch"]
[layers.communication]
may_use = ["base", "evaluator/collectives.h"]
third_party = ["torch", "c10d"]
[layers.python]
folder = "frontend/python"
may_use = ["base", "values", "ir", "ops", "evaluator"]
third_party = ["torch", "python"]
[third_party.torch]
headers = ["ATen/", "c10/", "torch/"]
[third_party.c10d]
headers = ["torch/csrc/distributed/"]
[third_party.python]
headers = ["Python.h", "nanobind/", "torch/csrc/autograd/python_"]
[structured_ops]
folder = "ops"
files = { "op.h" = "ops", "op.cpp" = "ops", "eval.cpp" = "evaluator" }
[sizes]
limit = 10
hard = 20
[sizes.allow]
"""

Tree = dict[str, str]


def run_checker(root: Path, *arguments: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, str(CHECKER), "--root", str(root), *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def check(root: Path, tree: Tree, table: str = TABLE) -> tuple[int, str]:
    for path, text in ({"tools/layers.toml": table} | tree).items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return run_checker(root)


def including(*headers: str) -> str:
    return "".join(
        f"#include <{h}>\n" if h == "Python.h" or "/" not in h else f'#include "{h}"\n'
        for h in headers
    )


SUM_FOLDER = {
    "src/meshfuse/ops/sum/op.h": including("meshfuse/ir/val.h"),
    "src/meshfuse/ops/sum/op.cpp": including("meshfuse/ops/sum/op.h"),
    "src/meshfuse/ops/sum/eval.cpp": including(
        "meshfuse/ops/sum/op.h", "meshfuse/values/value.h", "ATen/ATen.h"
    ),
}


def test_a_tree_within_the_rules_is_clean(tmp_path: Path) -> None:
    status, text = check(
        tmp_path,
        SUM_FOLDER
        | {
            "src/meshfuse/base/error.h": including("string"),
            "src/meshfuse/base/error.cpp": including("meshfuse/base/error.h", "vector"),
            "src/meshfuse/ir/val.h": including("meshfuse/base/error.h"),
            "src/meshfuse/values/value.h": including("meshfuse/base/error.h", "ATen/ATen.h"),
            "src/meshfuse/evaluator/collectives.h": including("meshfuse/values/value.h"),
            "src/meshfuse/evaluator/ops.cpp": including("meshfuse/ops/structured_ops.h"),
            "src/meshfuse/communication/c10d.cpp": including(
                "meshfuse/evaluator/collectives.h", "torch/csrc/distributed/c10d/Work.hpp"
            ),
            "src/meshfuse/frontend/python/module.cpp": including(
                "Python.h", "torch/csrc/autograd/python_variable.h", "meshfuse/ir/val.h"
            ),
            "tests/ir/val_test.cpp": including("meshfuse/ir/val.h", "gtest/gtest.h"),
        },
    )
    assert (status, text) == (0, "check_layers: clean\n")


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        pytest.param(
            {
                "src/meshfuse/ir/val.cpp": including("meshfuse/values/value.h"),
                "src/meshfuse/values/value.h": "",
            },
            "src/meshfuse/ir/val.cpp: layer 'ir' may not include 'meshfuse/values/value.h' of layer "
            "'values'; it may use base",
            id="a layer that is not in the list",
        ),
        pytest.param(
            {"src/meshfuse/base/error.h": including("meshfuse/ir/val.h")},
            "src/meshfuse/base/error.h: layer 'base' may not include 'meshfuse/ir/val.h' of layer 'ir'; "
            "it may use no other layer",
            id="a layer above",
        ),
        pytest.param(
            {"src/meshfuse/communication/c.cpp": including("meshfuse/evaluator/program.h")},
            "src/meshfuse/communication/c.cpp: layer 'communication' may not include "
            "'meshfuse/evaluator/program.h' of layer 'evaluator'; it may use base, evaluator/collectives.h",
            id="a header beside the one that is permitted",
        ),
        pytest.param(
            {"tests/ir/val_test.cpp": including("meshfuse/values/value.h")},
            "tests/ir/val_test.cpp: layer 'ir' may not include 'meshfuse/values/value.h' of layer 'values'",
            id="a test that reaches past its layer",
        ),
        pytest.param(
            SUM_FOLDER
            | {
                "src/meshfuse/ops/sum/op.cpp": including(
                    "meshfuse/ops/sum/op.h", "meshfuse/values/value.h"
                )
            },
            "src/meshfuse/ops/sum/op.cpp: layer 'ops' may not include 'meshfuse/values/value.h' of layer "
            "'values'; it may use base, ir",
            id="a structured op's file with the permissions of another suffix",
        ),
        pytest.param(
            {"src/meshfuse/helpers/text.cpp": ""},
            "src/meshfuse/helpers/text.cpp: belongs to no layer of tools/layers.toml",
            id="a folder that is no layer",
        ),
        pytest.param(
            {"src/meshfuse/base/error.cpp": including("meshfuse/helpers/text.h")},
            "src/meshfuse/base/error.cpp: includes 'meshfuse/helpers/text.h', which belongs to no layer",
            id="a header of no layer",
        ),
        pytest.param(
            {"src/meshfuse/ir/val.cpp": including("ATen/ATen.h")},
            "src/meshfuse/ir/val.cpp: 'ATen/ATen.h' (torch) is confined to values, evaluator, "
            "communication, python; layer 'ir' may not include it",
            id="torch in a layer without torch",
        ),
        pytest.param(
            {"src/meshfuse/evaluator/run.cpp": including("torch/csrc/distributed/c10d/Work.hpp")},
            "src/meshfuse/evaluator/run.cpp: 'torch/csrc/distributed/c10d/Work.hpp' (c10d) is confined to "
            "communication; layer 'evaluator' may not include it",
            id="c10d outside communication",
        ),
        pytest.param(
            {"src/meshfuse/values/value.cpp": including("torch/csrc/autograd/python_variable.h")},
            "src/meshfuse/values/value.cpp: 'torch/csrc/autograd/python_variable.h' (python) is confined to "
            "python; layer 'values' may not include it",
            id="torch's Python headers outside the bindings",
        ),
        pytest.param(
            {"src/meshfuse/values/value.cpp": including("Python.h")},
            "src/meshfuse/values/value.cpp: 'Python.h' (python) is confined to python",
            id="Python outside the bindings",
        ),
        pytest.param(
            {
                "src/meshfuse/ir/a.h": including("meshfuse/ir/b.h"),
                "src/meshfuse/ir/b.h": including("meshfuse/ir/c.h"),
                "src/meshfuse/ir/c.h": including("meshfuse/ir/a.h"),
            },
            "include cycle of files: meshfuse/ir/a.h -> meshfuse/ir/b.h -> meshfuse/ir/c.h -> "
            "meshfuse/ir/a.h",
            id="a cycle of headers",
        ),
        pytest.param(
            {
                "src/meshfuse/ir/a.h": including("meshfuse/ir/passes/p.h"),
                "src/meshfuse/ir/b.h": "",
                "src/meshfuse/ir/passes/p.h": "",
                "src/meshfuse/ir/passes/q.h": including("meshfuse/ir/b.h"),
            },
            "include cycle of folders: meshfuse/ir [ir] -> meshfuse/ir/passes [ir] -> meshfuse/ir [ir]",
            id="a cycle of folders without one of files",
        ),
        pytest.param(
            {
                "src/meshfuse/ir/val.h": "",
                "src/meshfuse/ir/val.cpp": including("vector", "meshfuse/ir/val.h"),
            },
            "src/meshfuse/ir/val.cpp: must include its own header 'meshfuse/ir/val.h' first; it includes "
            "'vector' first",
            id="own header not first",
        ),
        pytest.param(
            {"src/meshfuse/ir/val.h": "", "src/meshfuse/ir/val.cpp": "int x;\n"},
            "src/meshfuse/ir/val.cpp: must include its own header 'meshfuse/ir/val.h' first; it includes "
            "nothing first",
            id="own header not at all",
        ),
        pytest.param(
            SUM_FOLDER | {"src/meshfuse/ops/sum/op.cpp": including("vector")},
            "src/meshfuse/ops/sum/op.cpp: must include its own header 'meshfuse/ops/sum/op.h' first",
            id="a structured op's own header",
        ),
        pytest.param(
            {k: v for k, v in SUM_FOLDER.items() if not k.endswith("eval.cpp")},
            "src/meshfuse/ops/sum: the structured op 'sum' lacks eval.cpp",
            id="a structured op without a file",
        ),
        pytest.param(
            SUM_FOLDER | {"src/meshfuse/ops/sum/more.cpp": ""},
            "src/meshfuse/ops/sum/more.cpp: a structured op's folder holds only op.h, op.cpp, eval.cpp",
            id="a structured op with a file too many",
        ),
        pytest.param(
            {"src/meshfuse/ir/val.h": "\n" * 11},
            "src/meshfuse/ir/val.h: 11 lines; above 10 a file needs a reason under [sizes.allow]",
            id="a long file",
        ),
        pytest.param(
            {"python/meshfuse/long.py": "\n" * 21},
            "python/meshfuse/long.py: 21 lines; no file may have more than 20",
            id="a file over the hard limit",
        ),
    ],
)
def test_a_tree_against_one_rule_fails(tmp_path: Path, tree: Tree, message: str) -> None:
    status, text = check(tmp_path, tree)
    assert status == 1
    assert message in text
    assert text.endswith("finding(s)\n")


def test_the_allow_list_permits_a_long_file_but_not_beyond_the_hard_limit(tmp_path: Path) -> None:
    table = TABLE + '"src/meshfuse/ir/val.h" = "one table"\n'
    assert check(tmp_path, {"src/meshfuse/ir/val.h": "\n" * 11}, table) == (
        0,
        "check_layers: clean\n",
    )
    status, text = check(tmp_path, {"src/meshfuse/ir/val.h": "\n" * 21}, table)
    assert status == 1
    assert "no file may have more than 20" in text


def test_the_allow_list_has_reasons_and_no_leftovers(tmp_path: Path) -> None:
    table = TABLE + '"src/meshfuse/ir/val.h" = " "\n"src/meshfuse/ir/gone.h" = "one table"\n'
    status, text = check(tmp_path, {"src/meshfuse/ir/val.h": "\n" * 11}, table)
    assert status == 1
    assert "[sizes.allow] gives no reason for src/meshfuse/ir/val.h" in text
    assert "[sizes.allow] names src/meshfuse/ir/gone.h, which does not need it" in text


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            'may_use = ["ir"]',
            "tools/layers.toml: the permissions form a cycle: base -> ir -> base",
        ),
        (
            'may_use = ["nowhere"]',
            "tools/layers.toml: layer 'base' may use 'nowhere', which is no layer",
        ),
        (
            'may_use = []\nthird_party = ["boost"]',
            "tools/layers.toml: layer 'base' names the unknown third party 'boost'",
        ),
    ],
)
def test_a_table_that_makes_no_sense_is_refused(tmp_path: Path, row: str, message: str) -> None:
    table = TABLE.replace("may_use = []", row, 1)
    status, text = check(tmp_path, {}, table)
    assert status == 1
    assert message in text


def test_cmake_reads_the_same_table(tmp_path: Path) -> None:
    check(tmp_path, {})
    status, text = run_checker(tmp_path, "--cmake")
    assert status == 0
    lines = text.splitlines()
    assert lines[0] == "set(MESHFUSE_LAYERS base values ir ops evaluator communication python)"
    assert "set(MESHFUSE_communication_USES base evaluator)" in lines
    assert "set(MESHFUSE_ir_TORCH OFF)" in lines
    assert "set(MESHFUSE_values_TORCH ON)" in lines
    assert "set(MESHFUSE_python_FOLDER frontend/python)" in lines
    assert "set(MESHFUSE_OP_FILE_LAYER_eval.cpp evaluator)" in lines
