"""repro_script_for: the printed program, run alone, gives the same outputs."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from entry_definitions import define, error_of
from torch._subclasses.fake_tensor import FakeTensor

from meshfuse import DataType, FusionDefinition


def run_alone(script: str, tmp_path: Path) -> list[torch.Tensor]:
    """The outputs of the program in a fresh process."""
    file = tmp_path / "outputs.pt"
    program = tmp_path / "program.py"
    program.write_text(f"{script}torch.save(outputs, {str(file)!r})\n")
    run = subprocess.run(
        [sys.executable, program], capture_output=True, text=True, timeout=120, check=False
    )
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    return torch.load(file)


def run_here(script: str) -> dict[str, Any]:
    scope: dict[str, Any] = {}
    exec(script, scope)
    return scope


def everything(fd: FusionDefinition, x: torch.Tensor) -> None:
    a = fd.from_pytorch(x)
    s = fd.define_scalar(DataType.Double)
    n, m = fd.define_vector(2)
    flag = fd.define_scalar(DataType.Bool)
    b = fd.ops.where(flag, fd.ops.mul(a, s), fd.ops.add(a, fd.ops.mul(n, m)))
    fd.add_output(b)
    fd.add_output(fd.ops.sum(b, [0]))


LAYOUTS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "contiguous": lambda x: x,
    "transposed": lambda x: x.t(),
    "strided": lambda x: x[1::2, ::3],
    "expanded": lambda x: x[:1].expand(4, -1),
    "empty": lambda x: x[:0],
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_same_outputs_in_a_fresh_process(layout: str, tmp_path: Path) -> None:
    x = LAYOUTS[layout](torch.randn(6, 9))
    with FusionDefinition() as fd:
        everything(fd, x)
    inputs = [x, 1.5, [2, 3], True]
    script = fd.repro_script_for(inputs)
    outputs = fd.execute(inputs)
    for output, again in zip(outputs, run_alone(script, tmp_path), strict=True):
        assert again.dtype == output.dtype
        assert again.stride() == output.stride()
        assert torch.equal(again, output)


@pytest.mark.parametrize(
    "dtype",
    [
        torch.float64,
        torch.float16,
        torch.bfloat16,
        torch.complex64,
        torch.complex128,
        torch.int64,
        torch.int32,
        torch.bool,
        torch.float8_e4m3fn,
        torch.float8_e5m2,
        torch.float8_e8m0fnu,
    ],
    ids=str,
)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_small_inputs_are_written_out(dtype: torch.dtype, layout: str) -> None:
    x = LAYOUTS[layout](torch.randn(4, 6).mul(3).to(dtype))
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.set(fd.from_pytorch(x)))
    (again,) = run_here(fd.repro_script_for([x]))["inputs"]
    assert again.dtype == dtype
    assert again.stride() == x.stride()
    assert torch.equal(again.to(torch.complex128), x.to(torch.complex128))


def test_numbers_and_special_values() -> None:
    with FusionDefinition() as fd:
        total = fd.define_tensor([-1])
        for dtype in (DataType.Double, DataType.Double, DataType.ComplexDouble, DataType.Int):
            total = fd.ops.add(total, fd.define_scalar(dtype))
        fd.add_output(total)
    inputs = [
        torch.tensor([float("inf"), float("-inf"), float("nan"), -0.0]),
        float("inf"),
        float("-inf"),
        complex(float("nan"), -0.0),
        -(2**63),
    ]
    script = fd.repro_script_for(inputs)
    assert 'float("inf"),' in script
    again = run_here(script)["inputs"]
    assert repr(again) == repr(inputs)
    assert 'complex(float("nan"), -0.0)' in script


@pytest.mark.parametrize(
    "dtype",
    [
        torch.float32,
        torch.bfloat16,
        torch.complex64,
        torch.int64,
        torch.bool,
        torch.float8_e5m2,
        torch.float8_e8m0fnu,
    ],
    ids=str,
)
def test_large_inputs_keep_their_form_and_range(dtype: torch.dtype) -> None:
    base = torch.rand(60, 40).mul(7).add(5).to(dtype)
    for x in (base, base.t(), base[::2]):
        with FusionDefinition() as fd:
            fd.add_output(fd.ops.set(fd.from_pytorch(x)))
        script = fd.repro_script_for([x])
        assert len(script) < 1500
        (again,) = run_here(script)["inputs"]
        assert (again.dtype, again.shape, again.stride()) == (x.dtype, x.shape, x.stride())
        assert torch.equal(run_here(script)["inputs"][0].cfloat(), again.cfloat())
        if dtype == torch.int64 or (x.is_contiguous() and dtype in (torch.float32, torch.bfloat16)):
            assert again.min() >= x.min()
            assert again.max() <= x.max()


@pytest.mark.parametrize("shape", [(4, 6), (60, 40)])
def test_inputs_of_64_bits_without_sign(shape: tuple[int, int]) -> None:
    base = torch.arange(shape[0] * shape[1]).view(shape).mul(2**40).sub(3).view(torch.uint64)
    for x in (base, base.t(), base[::2]):
        with FusionDefinition() as fd:
            a = fd.define_tensor([-1, -1], dtype=DataType.UInt64)
            fd.add_output(fd.ops.set(a))
        results = run_here(fd.repro_script_for([x]))
        (again,), (got,) = results["inputs"], results["outputs"]
        assert (again.dtype, again.shape, again.stride()) == (x.dtype, x.shape, x.stride())
        assert torch.equal(got.view(torch.int64), again.view(torch.int64))
        if x.numel() < 1000:
            assert torch.equal(again.view(torch.int64), x.view(torch.int64))


def test_the_form() -> None:
    fd = define("neg")
    script = fd.repro_script_for([torch.tensor([[1.5, -2.0]])])
    lines = script.splitlines()
    assert [line.partition(":")[0] for line in lines[:3]] == [
        "# CUDA devices",
        "# torch version",
        "# CUDA version",
    ]
    assert lines[3:5] == ["import torch", "from meshfuse import FusionDefinition, DataType"]
    assert repr(fd) in script
    assert script.endswith(
        "with FusionDefinition() as fd:\n"
        "    nvfuser_fusion(fd)\n"
        "\n"
        "torch.manual_seed(0)\n"
        "inputs = [\n"
        "    torch.tensor([[1.5, -2.0]], dtype=torch.float32, device='cpu'),\n"
        "]\n"
        "outputs = fd.execute(inputs)\n"
    )
    without = fd.repro_script_for()
    assert without == fd.repro_script_for(None)
    assert script.startswith(without)
    assert "inputs" not in without
    run_here(without)


def test_the_last_inputs_that_were_saved() -> None:
    with FusionDefinition() as fd:
        a, b = fd.define_tensor([-1, -1]), fd.define_tensor([-1])
        fd.add_output(fd.ops.add(a, b))
        fd.add_output(fd.ops.mul(a, fd.define_scalar()))
    x, y = torch.randn(3, 4).t(), torch.nn.Parameter(torch.randn(3))
    assert "cannot provide a repro" in error_of(AssertionError, fd.last_repro_script)
    fd.execute([x, y, 2.5])
    assert "cannot provide a repro" in error_of(AssertionError, fd.last_repro_script)
    outputs = fd.execute(iter([x, y, 2.5]), save_repro_inputs=True)
    assert torch.equal(outputs[0], (x + y).detach())
    assert [type(value) for value in fd.fake_inputs[:1]] == [FakeTensor]
    fd.execute([x[:1], y, 2.5], save_repro_inputs=None)
    again = run_here(fd.last_repro_script())
    assert [tuple(value.shape) for value in again["inputs"][:2]] == [(4, 3), (3,)]
    assert again["inputs"][0].stride() == x.stride()
    assert again["inputs"][2] == 2.5
    assert [output.shape for output in again["outputs"]] == [output.shape for output in outputs]
    with fd:
        fd.add_output(fd.ops.neg(fd.define_tensor([-1])))
    assert "cannot provide a repro" in error_of(AssertionError, fd.last_repro_script)


def test_inputs_are_saved_before_a_call_that_fails() -> None:
    fd = define("neg", rank=1)
    error_of(RuntimeError, lambda: fd.execute([torch.ones(2, 2)], save_repro_inputs=True))
    assert re.search(r"make_tensor\(\(2, 2\), ", fd.last_repro_script())
    assert "inputs must be a list or tuple" in error_of(
        TypeError, lambda: fd.execute(torch.ones(2), save_repro_inputs=True)
    )
    assert "inputs must be a list or tuple" in error_of(
        TypeError, lambda: fd.execute(3, save_repro_inputs=True)
    )


def test_other_values_are_refused() -> None:
    fd = define("neg")
    assert error_of(TypeError, lambda: fd.repro_script_for([np.zeros(3)])) == (
        "repro_script_for: arguments must be tensors or numbers: argument 0 is a ndarray; pass what execute takes"
    )
    assert "inputs must be a list or tuple" in error_of(
        TypeError, lambda: fd.repro_script_for(torch.ones(2))
    )
