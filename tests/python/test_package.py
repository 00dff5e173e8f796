"""The package: versions, module layout, documentation of every name, the alias for nvFuser's users."""

import importlib
import inspect
import os
import pkgutil
import re
import subprocess
import sys
import types
from pathlib import Path

import pytest
import torch
from entry_definitions import error_of
from meshfuse.nvfuser_direct_version import LanguageVersion
from packaging.version import Version

import meshfuse
from meshfuse import DataType, FusionDefinition, pytorch_utils

MODULES = [
    "meshfuse",
    *(
        f"meshfuse.{module.name}"
        for module in pkgutil.iter_modules(meshfuse.__path__)
        if not module.name.startswith(("_", "lib"))
    ),
]


def test_the_version_is_a_text_that_compares_as_a_version():
    version = meshfuse.version()
    assert isinstance(version, str)
    assert version is meshfuse.nvfuser_direct_version.__version__
    assert Version(version).local == f"meshfuse.{meshfuse.__version__}"
    assert Version(meshfuse.__version__) >= Version("0.1")
    # What callers ask for.
    assert version >= "0.2.34"
    assert version > Version("0.2.8")
    assert not version < "0.2.34"
    number = LanguageVersion("0.2.10+git1234567")
    assert number == "0.2.10"
    assert number == "0.2.10+other"
    assert number == Version("0.2.10")
    assert number != "0.2.9"
    assert "0.2.9" < number < "0.10"
    assert number <= "0.2.10" <= number
    assert len({number, LanguageVersion("0.2.10")}) == 1
    for compare in (
        lambda: number == 3,
        lambda: number != None,  # noqa: E711  (the comparison itself is tested)
        lambda: number < 0.2,
        lambda: number >= (0, 2),
    ):
        assert "a version compares with" in error_of(ValueError, compare)
    assert meshfuse.nvfuser_direct_version.Version is Version


def test_the_version_is_the_one_that_the_build_states():
    text = (Path(__file__).parents[2] / "CMakeLists.txt").read_text()
    found = re.search(r"project\(\s*meshfuse\s+VERSION ([0-9.]+)", text)
    assert found is not None
    assert meshfuse.__version__ == found[1]


def documentation(name: str, value: object) -> str:
    """The text of a docstring without the signatures that compiled functions have in theirs."""
    lines = (inspect.getdoc(value) or "").splitlines()
    return "\n".join(line for line in lines if not line.startswith(f"{name}(")).strip()


@pytest.mark.parametrize("name", MODULES)
def test_every_public_name_is_documented(name):
    module = importlib.import_module(name)
    assert module.__doc__
    missing = []
    for public in module.__all__:
        value = getattr(module, public)
        if isinstance(value, (str, types.ModuleType)):
            continue
        if not documentation(public, value):
            missing.append(public)
        if not inspect.isclass(value) or issubclass(value, (DataType, tuple)):
            continue
        for attribute in set(dir(value)) - set(dir(object)):
            member = getattr(value, attribute)
            is_documented = isinstance(member, types.ModuleType) or documentation(attribute, member)
            if not attribute.startswith("_") and attribute != "fake_inputs" and not is_documented:
                missing.append(f"{public}.{attribute}")
    assert missing == []


def test_every_public_name_is_in_an_example():
    """The examples themselves run in test_readme.py."""
    text = (Path(__file__).parents[2] / "docs/python.md").read_text()
    code = "\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL))
    names = set()
    for module in map(importlib.import_module, MODULES):
        if module is meshfuse.ops:
            continue  # described by the op table
        names |= set(module.__all__)
        for value in (getattr(module, name) for name in module.__all__):
            is_ours = getattr(value, "__module__", "").startswith("meshfuse")
            if is_ours and inspect.isclass(value) and not issubclass(value, (DataType, tuple)):
                names |= {name for name in set(dir(value)) - set(dir(object)) if name[0] != "_"}
    assert sorted(name for name in names if not re.search(rf"\b{name}\b", code)) == []


def test_names_that_do_not_exist_are_absent():
    for owner, names in (
        (
            meshfuse,
            [
                "FusionCache",
                "define_constant",
                "schedule",
                "idm",
                "KernelExecutor",
                "PythonProfiler",
            ],
        ),
        (
            FusionDefinition(),
            ["sched", "ke", "manual_execute", "define_constant", "last_cuda_code", "profile"],
        ),
        (pytorch_utils, ["none"]),
        (meshfuse.nvfuser_direct_version, ["none"]),
        (meshfuse.ops, ["at"]),
    ):
        for name in names:
            assert not hasattr(owner, name), name
            with pytest.raises(AttributeError):
                getattr(owner, name)


def run(code: str, *path: str) -> str:
    environment = dict(os.environ)
    environment["PYTHONPATH"] = os.pathsep.join([*path, environment.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_alias():
    run(
        """
import sys
import meshfuse
try:
    import nvfuser_direct
    raise SystemExit("nvfuser_direct exists before it is asked for")
except ModuleNotFoundError:
    pass
meshfuse.enable_nvfuser_alias()
meshfuse.enable_nvfuser_alias()
import nvfuser_direct
import nvfuser_direct as nvf
import nvfuser_direct.pytorch_utils
from nvfuser_direct import DataType, FusionDefinition, LruFusionCache, ops
from nvfuser_direct.pytorch_utils import torch_dtype_to_nvfuser_dtype
from nvfuser_direct.nvfuser_direct_version import Version, __version__
from nvfuser_direct._C_DIRECT import TensorView
import nvfuser_direct.distributed
assert nvfuser_direct is meshfuse
assert FusionDefinition is meshfuse.FusionDefinition
assert ops is meshfuse.ops and FusionDefinition().ops is ops
assert sys.modules["nvfuser_direct.pytorch_utils"] is meshfuse.pytorch_utils
assert sys.modules["nvfuser_direct.distributed"] is sys.modules["meshfuse.distributed"]
assert TensorView is meshfuse.TensorView
assert nvfuser_direct.version() >= "0.2.34" and __version__ == nvfuser_direct.version()
assert meshfuse.__name__ == "meshfuse" == meshfuse.__spec__.name
assert meshfuse.pytorch_utils.__spec__.name == "meshfuse.pytorch_utils"
for name in ("schedule", "multidevice", "benchmark_utils"):
    try:
        __import__("nvfuser_direct." + name)
        raise SystemExit(name)
    except ModuleNotFoundError as error:
        assert error.name == "nvfuser_direct." + name, error
        assert str(error) == f"No module named 'nvfuser_direct.{name}'", error
try:
    from nvfuser_direct import schedule
    raise SystemExit("schedule")
except ImportError:
    pass
"""
    )


def test_the_alias_leaves_a_loaded_nvfuser_alone(tmp_path):
    (tmp_path / "nvfuser_direct.py").write_text("real = True\n")
    run(
        """
import nvfuser_direct
import meshfuse
try:
    meshfuse.enable_nvfuser_alias()
    raise SystemExit("enabled")
except RuntimeError as error:
    assert "the name nvfuser_direct must be free" in str(error), error
    assert "nvfuser_direct.py" in str(error), error
import nvfuser_direct
assert nvfuser_direct.real
""",
        str(tmp_path),
    )


def test_dtypes_of_python_and_torch():
    for python_type, dtype in (
        (bool, DataType.Bool),
        (int, DataType.Int),
        (float, DataType.Double),
        (complex, DataType.ComplexDouble),
    ):
        assert pytorch_utils.torch_dtype_to_nvfuser_dtype(python_type) == dtype
        assert pytorch_utils.python_scalar_to_nvfuser_dtype(python_type(1)) == dtype
    for torch_dtype, dtype in (
        (torch.cdouble, DataType.ComplexDouble),
        (torch.cfloat, DataType.ComplexFloat),
        (torch.double, DataType.Double),
        (torch.float, DataType.Float),
        (torch.half, DataType.Half),
        (torch.bfloat16, DataType.BFloat16),
        (torch.float8_e4m3fn, DataType.Float8_e4m3fn),
        (torch.float8_e5m2, DataType.Float8_e5m2),
        (torch.float8_e8m0fnu, DataType.Float8_e8m0fnu),
        (torch.long, DataType.Int),
        (torch.int, DataType.Int32),
        (torch.bool, DataType.Bool),
        (torch.float4_e2m1fn_x2, DataType.Float4_e2m1fn_x2),
    ):
        assert pytorch_utils.torch_dtype_to_nvfuser_dtype(torch_dtype) == dtype
        assert pytorch_utils.nvfuser_dtype_to_torch_dtype(dtype) == torch_dtype
    for unmapped in (
        torch.int8,
        torch.uint8,
        torch.int16,
        torch.uint16,
        torch.uint32,
        torch.uint64,
    ):
        assert str(unmapped) in error_of(
            KeyError, lambda given=unmapped: pytorch_utils.torch_dtype_to_nvfuser_dtype(given)
        )
    assert "a number is a bool" in error_of(
        KeyError, lambda: pytorch_utils.python_scalar_to_nvfuser_dtype("1")
    )
    assert "has no dtype for it" in error_of(
        KeyError, lambda: pytorch_utils.nvfuser_dtype_to_torch_dtype(DataType.Null)
    )


def test_device_properties():
    if not torch.cuda.is_available():
        assert pytorch_utils.DEVICE_PROPERTIES is None
        with pytest.raises((OSError, RuntimeError, AssertionError)):
            pytorch_utils.get_device_properties()
        return
    properties = pytorch_utils.DEVICE_PROPERTIES
    assert properties == pytorch_utils.get_device_properties()
    torchs = torch.cuda.get_device_properties(torch.cuda.current_device())
    assert properties["gpu_name"] == torchs.name
    assert properties["gpu_sm_count"] == torchs.multi_processor_count
    assert properties["gpu_compute_capability_major"] == torchs.major
    assert properties["gpu_compute_capability_minor"] == torchs.minor
    assert properties["gpu_gmem_bytes"] == torchs.total_memory
    assert properties["gpu_l2_bytes"] == torchs.L2_cache_size
    assert properties["gpu_max_threads_per_sm"] == torchs.max_threads_per_multi_processor
    assert properties["gpu_regs_per_block"] > 0
    assert properties["gpu_smem_bytes_per_block"] == torchs.shared_memory_per_block
    assert properties["gpu_max_threads_per_block"] == 1024
    assert properties["gpu_clock_rate_khz"] > 0
    assert properties["gpu_peak_bandwidth_gbps"] == pytest.approx(
        2 * properties["gpu_mem_bus_width"] * properties["gpu_mem_clock_khz"] / 8e6
    )


def test_a_test_out_of_memory_runs_once_more_and_then_is_skipped():
    calls = []

    @pytorch_utils.retry_on_oom_or_skip_test
    def needs(attempts: int) -> str:
        calls.append(attempts)
        if len(calls) < attempts:
            raise torch.OutOfMemoryError("no memory")
        return "done"

    assert needs(1) == "done"
    calls.clear()
    assert needs(2) == "done"
    assert len(calls) == 2
    calls.clear()
    with pytest.raises(pytest.skip.Exception, match="out of GPU memory twice: no memory"):
        needs(5)
    assert len(calls) == 2


def test_translate_fusion_gives_the_source():
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.exp(fd.define_tensor([-1])))
    assert meshfuse.translate_fusion(fd.fusion) == repr(fd)
