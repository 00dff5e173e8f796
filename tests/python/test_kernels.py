"""Compiled kernels, from Python."""

import importlib.machinery

import pytest
from meshfuse.kernels import kernel_statistics

from meshfuse import _C, kernels


def test_the_numbers_have_names():
    counts = kernel_statistics()
    assert all(count >= 0 for count in counts)
    assert counts._fields == tuple(_C.kernel_statistics())
    assert counts.failed == 0


@pytest.mark.parametrize("installed", [True, False])
def test_the_compiler_of_the_ziglang_package_is_the_fallback(monkeypatch, installed):
    spec = importlib.machinery.ModuleSpec("ziglang", None, origin="/a folder/ziglang/__init__.py")
    given = []
    monkeypatch.setattr(kernels, "find_spec", lambda name: spec if installed else None)
    monkeypatch.setattr(_C, "set_fallback_compiler", given.append)
    kernels._find_fallback_compiler()
    assert given == ([["/a folder/ziglang/zig", "c++"]] if installed else [])
