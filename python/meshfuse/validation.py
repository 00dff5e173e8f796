"""Checks of a fusion's results against a reference: the same definition, operation by operation, in double."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import torch

from meshfuse._C import DataType, Fusion, FusionDefinitionBase
from meshfuse._tensor_memory import copy_of, flattened, is_packed, unpacked

__all__ = ["get_val_tolerances", "validate_with_auto_inferred_outputs"]

# How many units in the last place a chain of operations may lose, per term of a sum of random numbers.
_UNITS = 8.0
_EPSILON = {
    DataType.Double: 2.0**-52,
    DataType.ComplexDouble: 2.0**-52,
    DataType.Float: 2.0**-23,
    DataType.ComplexFloat: 2.0**-23,
    DataType.Half: 2.0**-10,
}
# Types with fewer bits than Half have ten times its tolerance.
_NARROW = 10 * _EPSILON[DataType.Half]
_EXACT = {
    DataType.Bool,
    DataType.Int,
    DataType.Int32,
    DataType.UInt64,
    DataType.Index,
}


def get_val_tolerances(fusion: Fusion, args: Iterable[Any]) -> list[tuple[float, float]]:
    """(atol, rtol) of each result for these arguments, by its type and by how many terms its elements combine.

    Integers and bools are exact. Others may lose 8 units in the last place, the absolute part times the square root of the
    number of terms that are summed on the way, as sums of random numbers do; types narrower than Half have ten times Half's
    tolerance. The absolute part is that of an output whose largest element is 1: checks multiply it by the largest element
    of the reference.
    """
    return _tolerances(fusion, flattened(args, "get_val_tolerances"))[0]


def _tolerances(
    fusion: Fusion, args: list[Any]
) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    """Of the results, and of the values that are written into inputs."""
    tolerances = [
        _tolerance(dtype, size)
        for dtype, size in zip(fusion._result_types(), fusion._reduction_sizes(args), strict=True)
    ]
    results = len(tolerances) - len(fusion._written_inputs())
    return tolerances[:results], tolerances[results:]


def _tolerance(dtype: DataType, terms: int) -> tuple[float, float]:
    if dtype in _EXACT:
        return 0.0, 0.0
    relative = _UNITS * _EPSILON.get(dtype, _NARROW)
    return relative * math.sqrt(terms), relative


def validate_with_auto_inferred_outputs(
    fusion: Fusion, fusion_outputs: Sequence[torch.Tensor], args: Iterable[Any]
) -> None:
    """RuntimeError unless ``fusion_outputs`` are what the fusion computes from ``args``, within get_val_tolerances().

    ``args`` are the inputs as they were before the execution, where the fusion writes some of them.
    An output is right that is close to the definition evaluated operation by operation in double. Where rounding decides
    what comes out (comparisons, conversions to integers, random numbers), it may be close to the same evaluation in the
    definition's own types instead. DTensors are compared as wholes with the undistributed evaluation.
    """
    _check(fusion, fusion_outputs, flattened(args, "validate"), None)


def _check(
    fusion: Fusion,
    outputs: Sequence[torch.Tensor],
    before: list[Any],
    after: list[Any] | None,
) -> None:
    """`after`: the arguments as the execution left them, where written inputs are to be checked as well."""
    inputs = [_whole(value) for value in before]
    references, written = _references(fusion, inputs)
    tolerances, tolerances_of_written = _tolerances(fusion, inputs)
    difference = compare([_whole(output) for output in outputs], references, tolerances)
    if difference is None and after is not None:
        positions = fusion._written_inputs()
        difference = compare(
            [_whole(after[position]) for position in positions],
            written,
            tolerances_of_written,
            names=[f"input {position}, which is written," for position in positions],
        )
    if difference is not None:
        raise RuntimeError(
            f"validate: results equal the definition evaluated operation by operation: {difference}; "
            "report the program that fd.repro_script_for(inputs) prints"
        )


class Validation:
    """Inputs as they are before an execution, which may write to them and draws random numbers."""

    def __init__(self, inputs: Iterable[Any]) -> None:
        self._executed = flattened(inputs, "validate")
        self.inputs = [_kept(value) for value in self._executed]
        self._generators = _generator_states(self.inputs)

    def check(self, fusion: Fusion, outputs: Sequence[torch.Tensor]) -> None:
        """validate_with_auto_inferred_outputs with the same inputs and random numbers; what was written is checked as well."""
        after = _generator_states(self.inputs)
        try:
            _restore(self._generators)
            _check(fusion, outputs, self.inputs, self._executed)
        finally:
            _restore(after)

    def check_against(
        self, fusion: Fusion, outputs: Sequence[torch.Tensor], references: Sequence[torch.Tensor]
    ) -> None:
        """AssertionError unless the outputs are the caller's references, within get_val_tolerances()."""
        difference = compare(
            [_whole(output) for output in outputs],
            [[_whole(reference)] for reference in references],
            get_val_tolerances(fusion, self.inputs),
            same_type=True,
        )
        if difference is not None:
            raise AssertionError(
                f"validate: results equal the references: {difference}; check the definition and the references"
            )


def compare(
    outputs: Sequence[torch.Tensor],
    references: Sequence[list[torch.Tensor]],
    tolerances: Sequence[tuple[float, float]],
    same_type: bool = False,
    names: Sequence[str] | None = None,
) -> str | None:
    """What differs; None when each output is close to one of its references. `names`: what to call them."""
    if len(outputs) != len(references):
        return f"there are {len(outputs)} outputs and {len(references)} references"
    for index, output in enumerate(outputs):
        differences = [
            _difference(output, reference, *tolerances[index], same_type)
            for reference in references[index]
        ]
        if all(differences):
            return f"{names[index] if names else f'output {index}'} {differences[0]}"
    return None


def _difference(
    output: torch.Tensor, reference: torch.Tensor, atol: float, rtol: float, same_type: bool
) -> str:
    if output.shape != reference.shape:
        return f"has sizes {list(output.shape)} instead of {list(reference.shape)}"
    if is_packed(output) != is_packed(reference) or (same_type and output.dtype != reference.dtype):
        return f"has type {output.dtype} instead of {reference.dtype}"
    if is_packed(output):
        output, reference = unpacked(output), unpacked(reference)
    if output.dtype.is_floating_point or output.dtype.is_complex:
        wide = torch.complex128 if output.dtype.is_complex else torch.float64
        actual, expected = output.to(wide), reference.to(output.device, wide)
        atol *= _magnitude(expected)
        close = torch.isclose(actual, expected, rtol=rtol, atol=atol, equal_nan=True)
        allowed = f"{atol:.3g} + {rtol:.3g} of the value"
    else:
        actual, expected = output, reference.to(output.device, output.dtype)
        close = actual == expected
        allowed = "exactly"
    wrong = torch.nonzero(~close)
    if len(wrong) == 0:
        return ""
    place = tuple(wrong[0].tolist())
    return (
        f"differs in {len(wrong)} of {output.numel()} elements, first at {list(place)}: {actual[place].item()} instead of "
        f"{expected[place].item()} (allowed: {allowed})"
    )


# Below it results count as differences of larger numbers, whose roundings they keep.
_LEAST_MAGNITUDE = 1e-3


def _magnitude(reference: torch.Tensor) -> float:
    """The largest finite element."""
    finite = reference[torch.isfinite(reference)].abs()
    return max(finite.max().item(), _LEAST_MAGNITUDE) if finite.numel() else 1.0


_References = list[list[torch.Tensor]]


def _references(fusion: Fusion, inputs: list[Any]) -> tuple[_References, _References]:
    """For each output, and for each written input, what it may be: in double, and in the definition's own types."""
    states = _generator_states(inputs)
    own = _op_by_op(fusion._copy(), [_kept(value) for value in inputs])
    results = len(own) - len(fusion._written_inputs())
    try:
        in_double = fusion._in_double()
        widened = [_widened(value) for value in inputs]
    except (RuntimeError, NotImplementedError, TypeError):
        # An operation, or torch's conversion, that knows the narrow type alone.
        single = [[reference] for reference in own]
        return single[:results], single[results:]
    _restore(states)
    pairs = [list(pair) for pair in zip(_op_by_op(in_double, widened), own, strict=True)]
    return pairs[:results], pairs[results:]


def _op_by_op(fusion: Fusion, inputs: list[Any]) -> list[torch.Tensor]:
    """The outputs, then the inputs that were written. `inputs` are copies that nobody else has."""
    runner = FusionDefinitionBase()
    runner._adopt(fusion)
    outputs = runner._execute_op_by_op(inputs)
    return [*outputs, *(inputs[position] for position in fusion._written_inputs())]


def _widened(value: Any) -> Any:
    if not isinstance(value, torch.Tensor):
        return value
    if value.dtype.is_complex:
        return copy_of(value, torch.complex128)
    if is_packed(value):
        return copy_of(value)
    return copy_of(value, torch.float64 if value.dtype.is_floating_point else None)


def _kept(value: Any) -> Any:
    """A copy of a tensor with its memory layout, so that an execution that writes to the original leaves it alone."""
    if not isinstance(value, torch.Tensor) or value.layout != torch.strided:
        return value
    return value.detach().clone() if _is_dtensor(value) else copy_of(value)


def _whole(value: Any) -> Any:
    return value.full_tensor() if _is_dtensor(value) else value


def _is_dtensor(value: Any) -> bool:
    if not isinstance(value, torch.Tensor) or type(value) is torch.Tensor:
        return False
    from torch.distributed.tensor import DTensor

    return isinstance(value, DTensor)


_GeneratorStates = dict[torch.device, torch.Tensor]


def _generator_states(inputs: list[Any]) -> _GeneratorStates:
    states = {torch.device("cpu"): torch.get_rng_state()}
    for value in inputs:
        if isinstance(value, torch.Tensor) and value.device.type == "cuda":
            states.setdefault(value.device, torch.cuda.get_rng_state(value.device))
    return states


def _restore(states: _GeneratorStates) -> None:
    for device, state in states.items():
        if device.type == "cpu":
            torch.set_rng_state(state)
        else:
            torch.cuda.set_rng_state(state, device)
