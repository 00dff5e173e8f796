"""Executions inside graphs that torch captures: the operator ``torch.ops.meshfuse.execute`` and what it gives on fake tensors."""

import atexit
import itertools
import weakref
from collections.abc import Sequence
from typing import Any

import torch

from meshfuse._C import FusionDefinitionBase

__all__: list[str] = []

_numbers = itertools.count()
# What was defined, by the name that graphs have for it, as long as its FusionDefinition lives ...
_defined: weakref.WeakValueDictionary[str, "Definition"] = weakref.WeakValueDictionary()
# ... and as long as the process where a graph holds the name.
_captured: dict[str, "Definition"] = {}
# torch keeps this module's functions, and with them its globals, beyond the end of the interpreter.
atexit.register(_captured.clear)


class Definition:
    """What one block defined, under a name of its own."""

    def __init__(self, definition: Any) -> None:
        self.name = f"definition_{next(_numbers)}"
        self.runner = FusionDefinitionBase()
        self.runner._adopt(definition.fusion)
        _defined[self.name] = self


def _runner(name: str) -> Any:
    definition = _captured.get(name) or _defined.get(name)
    if definition is None:
        raise RuntimeError(
            f"meshfuse::execute: a graph runs in the process that captured it: got the unknown definition '{name}'; "
            "capture the graph again"
        )
    return definition.runner


def _inputs(tensors: Sequence[torch.Tensor], numbers: Sequence[Any], kinds: str) -> list[Any]:
    """`kinds` says for each input whether it is the next tensor (t) or the next number (n)."""
    remaining = {"t": iter(tensors), "n": iter(numbers)}
    return [next(remaining[kind]) for kind in kinds]


def _own_memory(
    outputs: Sequence[torch.Tensor], inputs: Sequence[torch.Tensor]
) -> list[torch.Tensor]:
    """The outputs, copied where they share memory with an input or another output: graphs assume that none does."""
    # Told by the storage object: those of meta tensors have no address.
    taken = {tensor.untyped_storage()._cdata for tensor in inputs}
    results = []
    for output in outputs:
        shares = output.untyped_storage()._cdata in taken
        results.append(output.clone() if shares else output)
        taken.add(results[-1].untyped_storage()._cdata)
    return results


_library = torch.library.Library("meshfuse", "DEF")
_library.define(
    "execute(str definition, Tensor[] tensors, Scalar[] numbers, str kinds) -> Tensor[]"
)


@torch.library.impl(_library, "execute", "CompositeExplicitAutograd")
def _execute(
    definition: str, tensors: list[torch.Tensor], numbers: list[Any], kinds: str
) -> list[torch.Tensor]:
    outputs = _runner(definition).execute(_inputs(tensors, numbers, kinds))
    return _own_memory(outputs, tensors)


@torch.library.register_fake("meshfuse::execute", lib=_library)
def _execute_on_fakes(
    definition: str, tensors: list[torch.Tensor], numbers: list[Any], kinds: str
) -> list[torch.Tensor]:
    from torch._subclasses.fake_tensor import unset_fake_temporarily

    runner = _runner(definition)
    if definition in _defined:
        _captured[definition] = _defined[definition]
    # The results' form comes from an execution on meta tensors. Its sizes are numbers, so a graph holds for the sizes that
    # it was captured with.
    forms = [([int(n) for n in t.size()], [int(n) for n in t.stride()], t.dtype) for t in tensors]
    plain = [_plain(number) for number in numbers]
    with unset_fake_temporarily():
        metas = [
            torch.empty_strided(size, stride, dtype=dtype, device="meta")
            for size, stride, dtype in forms
        ]
        outputs = _own_memory(runner.execute(_inputs(metas, plain, kinds)), metas)
    device = _device_of(tensors)
    return [
        torch.empty_strided(output.size(), output.stride(), dtype=output.dtype, device=device)
        for output in outputs
    ]


def _plain(number: Any) -> Any:
    if isinstance(number, torch.SymInt):
        return int(number)  # sizes may depend on it
    return 1.0 if isinstance(number, torch.SymFloat) else number


def _device_of(tensors: Sequence[torch.Tensor]) -> torch.device:
    """Where the results lie: with the tensors, which a 0-dim CPU tensor may accompany anywhere."""
    for tensor in tensors:
        if tensor.dim() > 0 or tensor.device.type != "cpu":
            return tensor.device
    return torch.device("cpu")


def execute_captured(name: str, inputs: Sequence[Any]) -> list[torch.Tensor]:
    """``execute`` as the operator: what a graph records."""
    tensors, numbers, kinds = [], [], ""
    for item in inputs:
        for value in item if isinstance(item, (list, tuple)) else [item]:
            if isinstance(value, torch.Tensor):
                tensors.append(value.detach())
                kinds += "t"
            else:
                numbers.append(value)
                kinds += "n"
    return torch.ops.meshfuse.execute(name, tensors, numbers, kinds)
