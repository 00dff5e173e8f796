"""Executions inside graphs that torch captures: the operator ``torch.ops.meshfuse.execute`` and what it gives on fake tensors.

The operator writes nothing: what a definition writes into its inputs is returned by it, and copied by ``copy_``, as torch's
tracers know it.
"""

import atexit
import itertools
import weakref
from collections.abc import Sequence
from typing import Any, NamedTuple

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


class Form(NamedTuple):
    """What a graph has to know of a definition. Plain data, which torch.compile captures anew where it differs."""

    name: str = ""
    #: The positions of the inputs that are written, in the order of the writes.
    written: tuple[int, ...] = ()
    #: For each result the position of the written input that is given back as it, or -1.
    given_back: tuple[int, ...] = ()


class Definition:
    """What one block defined, under a name of its own."""

    def __init__(self, definition: Any) -> None:
        fusion = definition.fusion
        written = tuple(fusion._written_inputs())
        self.runner = FusionDefinitionBase()
        self.runner._adopt(fusion._without_writes() if written else fusion)
        returned = fusion._returned_inputs() if written else []
        self.form = Form(
            f"definition_{next(_numbers)}",
            written,
            tuple(position if position in written else -1 for position in returned),
        )
        _defined[self.form.name] = self


def _definition(name: str) -> Definition:
    definition = _captured.get(name) or _defined.get(name)
    if definition is None:
        raise RuntimeError(
            f"meshfuse::execute: a graph runs in the process that captured it: got the unknown definition '{name}'; "
            "capture the graph again"
        )
    return definition


def _inputs(tensors: Sequence[torch.Tensor], numbers: Sequence[Any], kinds: str) -> list[Any]:
    """`kinds` says for each input whether it is the next tensor (t) or the next number (n)."""
    remaining = {"t": iter(tensors), "n": iter(numbers)}
    return [next(remaining[kind]) for kind in kinds]


def _results(definition: Definition, inputs: list[Any]) -> list[torch.Tensor]:
    """What is computed: the outputs but for those that are written inputs, then the values to be written."""
    outputs = definition.runner.execute(inputs)
    given_back = definition.form.given_back
    computed = [
        output
        for index, output in enumerate(outputs)
        if index >= len(given_back) or given_back[index] < 0
    ]
    return _own_memory(computed, [value for value in inputs if isinstance(value, torch.Tensor)])


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
    return _results(_definition(definition), _inputs(tensors, numbers, kinds))


@torch.library.register_fake("meshfuse::execute", lib=_library)
def _execute_on_fakes(
    definition: str, tensors: list[torch.Tensor], numbers: list[Any], kinds: str
) -> list[torch.Tensor]:
    from torch._subclasses.fake_tensor import unset_fake_temporarily

    what = _definition(definition)
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
        outputs = _results(what, _inputs(metas, plain, kinds))
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


def execute_captured(form: Form, inputs: Sequence[Any]) -> list[torch.Tensor]:
    """``execute`` as the operator: what a graph records."""
    values: list[Any] = []
    for item in inputs:
        values.extend(item if isinstance(item, (list, tuple)) else [item])
    tensors, numbers, kinds = [], [], ""
    for value in values:
        if isinstance(value, torch.Tensor):
            tensors.append(value.detach())
            kinds += "t"
        else:
            numbers.append(value)
            kinds += "n"
    for position in form.written:
        if position < len(values) and isinstance(values[position], torch.Tensor):
            _check_written(values[position], position)
    computed = torch.ops.meshfuse.execute(form.name, tensors, numbers, kinds)
    if not form.written:
        return computed
    outputs = len(computed) - len(form.written)
    for position, value in zip(form.written, computed[outputs:], strict=True):
        values[position].copy_(value)
    if not form.given_back:
        return computed[:outputs]
    results, used = [], 0
    for position in form.given_back:
        results.append(values[position] if position >= 0 else computed[used])
        used += position < 0
    return results


def _check_written(tensor: torch.Tensor, position: int) -> None:
    """What execute refuses, before anything is recorded."""
    if tensor.requires_grad and torch.is_grad_enabled():
        raise RuntimeError(
            "execute: an input that is written takes no part in autograd, which could not follow the write: "
            f"input {position} is written and requires grad; call execute under torch.no_grad(), or pass tensor.detach()"
        )
    if any(
        size > 1 and step == 0 for size, step in zip(tensor.shape, tensor.stride(), strict=True)
    ):
        raise RuntimeError(
            "execute: an input that is written has memory of its own for each element: "
            f"input {position} has a stride of 0; pass tensor.clone(memory_format=torch.contiguous_format)"
        )
