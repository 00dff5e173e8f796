"""Executions inside graphs that torch captures: the operators ``torch.ops.meshfuse.execute`` and ``execute_in_place``, and what
they give on fake tensors."""

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
    #: The positions of the inputs that are written, ascending.
    written: tuple[int, ...] = ()
    #: For each result the position of the written input that is given back as it, or -1.
    given_back: tuple[int, ...] = ()


class Definition:
    """What one block defined, under a name of its own."""

    def __init__(self, definition: Any) -> None:
        self.runner = FusionDefinitionBase()
        self.runner._adopt(definition.fusion)
        fusion = self.runner.fusion
        written = tuple(sorted(fusion._written_inputs()))
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


def _inputs(
    written: Sequence[torch.Tensor],
    tensors: Sequence[torch.Tensor],
    numbers: Sequence[Any],
    kinds: str,
) -> list[Any]:
    """`kinds` says for each input whether it is the next that is written (w), the next tensor (t) or the next number (n)."""
    remaining = {"w": iter(written), "t": iter(tensors), "n": iter(numbers)}
    return [next(remaining[kind]) for kind in kinds]


def _computed(definition: Definition, outputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """The outputs without the written inputs among them, which whoever calls the operator has."""
    given_back = definition.form.given_back
    return [
        output for index, output in enumerate(outputs) if not given_back or given_back[index] < 0
    ]


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
_library.define(
    "execute_in_place(str definition, Tensor(a!)[] written, Tensor[] tensors, Scalar[] numbers, str kinds) -> Tensor[]"
)


@torch.library.impl(_library, "execute", "CompositeExplicitAutograd")
def _execute(
    definition: str, tensors: list[torch.Tensor], numbers: list[Any], kinds: str
) -> list[torch.Tensor]:
    outputs = _definition(definition).runner.execute(_inputs((), tensors, numbers, kinds))
    return _own_memory(outputs, tensors)


@torch.library.impl(_library, "execute_in_place", "CompositeExplicitAutograd")
def _execute_in_place(
    definition: str,
    written: list[torch.Tensor],
    tensors: list[torch.Tensor],
    numbers: list[Any],
    kinds: str,
) -> list[torch.Tensor]:
    what = _definition(definition)
    outputs = what.runner.execute(_inputs(written, tensors, numbers, kinds))
    return _own_memory(_computed(what, outputs), [*written, *tensors])


@torch.library.register_fake("meshfuse::execute", lib=_library)
def _execute_on_fakes(
    definition: str, tensors: list[torch.Tensor], numbers: list[Any], kinds: str
) -> list[torch.Tensor]:
    return _execute_in_place_on_fakes(definition, [], tensors, numbers, kinds)


@torch.library.register_fake("meshfuse::execute_in_place", lib=_library)
def _execute_in_place_on_fakes(
    definition: str,
    written: list[torch.Tensor],
    tensors: list[torch.Tensor],
    numbers: list[Any],
    kinds: str,
) -> list[torch.Tensor]:
    from torch._subclasses.fake_tensor import unset_fake_temporarily

    what = _definition(definition)
    if definition in _defined:
        _captured[definition] = _defined[definition]
    # The results' form comes from an execution on meta tensors. Its sizes are numbers, so a graph holds for the sizes that
    # it was captured with.
    given = [*written, *tensors]
    forms = [([int(n) for n in t.size()], [int(n) for n in t.stride()], t.dtype) for t in given]
    plain = [_plain(number) for number in numbers]
    with unset_fake_temporarily():
        metas = [
            torch.empty_strided(size, stride, dtype=dtype, device="meta")
            for size, stride, dtype in forms
        ]
        count = len(written)
        outputs = what.runner.execute(_inputs(metas[:count], metas[count:], plain, kinds))
        outputs = _own_memory(_computed(what, outputs), metas)
    device = _device_of(given)
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
    written, tensors, numbers, kinds = [], [], [], ""
    for position, value in enumerate(values):
        if not isinstance(value, torch.Tensor):
            numbers.append(value)
            kinds += "n"
        elif position in form.written:
            _check_writable(value, position)
            written.append(value.detach())
            kinds += "w"
        else:
            tensors.append(value.detach())
            kinds += "t"
    if not form.written:
        return torch.ops.meshfuse.execute(form.name, tensors, numbers, kinds)
    computed = torch.ops.meshfuse.execute_in_place(form.name, written, tensors, numbers, kinds)
    if not form.given_back:
        return computed
    results, used = [], 0
    for position in form.given_back:
        results.append(values[position] if position >= 0 else computed[used])
        used += position < 0
    return results


def _check_writable(tensor: torch.Tensor, position: int) -> None:
    if tensor.requires_grad and torch.is_grad_enabled():
        raise RuntimeError(
            "execute: an input that is written takes no part in autograd, which could not follow the write: "
            f"input {position} is written and requires grad; call execute under torch.no_grad(), or pass tensor.detach()"
        )
