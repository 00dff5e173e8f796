"""The compiled kernels of this process: how many there are and where they came from."""

import atexit
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from meshfuse import _C

__all__ = ["KernelStatistics", "kernel_statistics"]


class KernelStatistics(NamedTuple):
    """Numbers since the process started."""

    compiled: int
    loaded_from_disk: int
    found_in_memory: int  # asked for again, or while another thread compiled it
    failed: int  # refused by the compiler, or nowhere to build
    seconds_compiling: float  # over all compilers, also those that ran at the same time
    seconds_loading_from_disk: float


def kernel_statistics() -> KernelStatistics:
    """The numbers of now."""
    return KernelStatistics(**_C.kernel_statistics())


# Before the interpreter goes, and with it what a thread may need.
atexit.register(_C.end_background_thread)


def _find_fallback_compiler() -> None:
    """Where the ziglang package is installed, its compiler is there for systems that have none."""
    package = find_spec("ziglang")
    if package is not None and package.origin is not None:
        _C.set_fallback_compiler([str(Path(package.origin).with_name("zig")), "c++"])
