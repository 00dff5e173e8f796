"""The memory that large CPU results live in: what is in use, what is kept for the next results, and how much may be.

Freed blocks larger than 64 KiB are kept and given out again, since fresh memory costs a page fault for every page of it.
"""

from typing import NamedTuple

from meshfuse import _C

__all__ = [
    "MemoryStatistics",
    "memory_statistics",
    "reset_peak_memory",
    "set_memory_cap",
    "trim_memory",
]


class MemoryStatistics(NamedTuple):
    """The numbers of this process; hits, misses and what was given back count from its start."""

    in_use_bytes: int  # asked for by the tensors that are alive
    peak_in_use_bytes: int  # the most of that since the start or reset_peak_memory()
    kept_bytes: int  # in freed blocks that wait for the next result
    kept_blocks: int
    reserved_bytes: int  # had from the system: blocks in use, each up to an eighth larger than asked for, and kept ones
    cap_bytes: int  # the most that is kept; 0: switched off
    hits: int  # results that were given a kept block
    misses: int  # results that took new memory
    given_back_bytes: int  # returned to the system
    given_back_blocks: int


def memory_statistics() -> MemoryStatistics:
    """The numbers of now."""
    return MemoryStatistics(**_C.memory_statistics())


def reset_peak_memory() -> None:
    """Starts ``peak_in_use_bytes`` anew from what is in use."""
    _C.reset_peak_memory()


def trim_memory(keep_bytes: int = 0) -> int:
    """Gives kept blocks back to the system until at most ``keep_bytes`` are kept, those freed longest ago first.

    Returns the bytes that went. Blocks in use are not touched.
    """
    return _C.trim_memory(_whole_bytes("trim_memory", keep_bytes))


def set_memory_cap(bytes: int) -> None:
    """Sets the most that is kept; 0 switches recycling off.

    What is kept above the cap is given back at once. The cap at the start is MESHFUSE_POOL_BYTES, or a quarter of the
    machine's memory and at most 4 GiB.
    """
    _C.set_memory_cap(_whole_bytes("set_memory_cap", bytes))


def _whole_bytes(call: str, count: int) -> int:
    if isinstance(count, bool) or not isinstance(count, int):
        raise TypeError(
            f"{call}: it takes a whole number of bytes: got {count!r}; pass an int of at least 0"
        )
    if not 0 <= count < 1 << 63:
        raise ValueError(
            f"{call}: a number of bytes is from 0 to 2**63 - 1: got {count}; "
            "pass 0 to keep nothing, or a larger number"
        )
    return count
