"""Every op equals torch on the samples of torch's own OpInfo, for every element type that both accept.

All of `sample_inputs` run, with static and with symbolic sizes. MESHFUSE_TEST_OP_INFO=all runs `reference_inputs` as well
— layouts, special values, numbers as operands, mixed types, larger sizes — with static sizes; that takes minutes.
A sample that the language can't say is left out by a rule; `test_what_was_left_out` prints how many there were of each.
"""

import os
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from op_info_calls import TYPES, Call, LeftOutError
from op_info_table import TABLE, WITHOUT
from torch.testing._internal.common_methods_invocations import op_db

from meshfuse import FusionDefinition, ops

REFERENCE_INPUTS = os.environ.get("MESHFUSE_TEST_OP_INFO") == "all"
counts: dict[str, Counter[str]] = {}


def last_part(name: str) -> str:
    return name.rsplit(".", 1)[-1]


def infos_for(name: str) -> list[Any]:
    """The OpInfos of a row. A name stands for all of torch's variants of it."""
    return [info for info in op_db if info.name in TABLE[name].infos]


def test_every_op_that_torch_has_samples_of_is_in_the_table() -> None:
    ours = {name for name in dir(ops) if type(getattr(ops, name)) is type(ops.add)}
    assert TABLE.keys() <= ours
    assert ours - TABLE.keys() <= WITHOUT.keys()
    assert not TABLE.keys() & WITHOUT.keys()
    known = {info.name for info in op_db}
    compared = {info for row in TABLE.values() for info in row.infos}
    assert compared <= known
    # Reductions and scans of masked tensors are other functions of the same names.
    shared = {n for n in known if last_part(n) in ours and not n.startswith("masked.")}
    assert shared <= compared


def samples_of(info: Any) -> Iterator[tuple[torch.dtype, bool, Any]]:
    """(type, whether sizes are symbolic, sample)."""
    accepted = info.supported_dtypes("cpu")
    for dtype in TYPES:
        if dtype not in accepted:
            continue
        torch.manual_seed(0)
        # Called directly: the wrapper around it seeds every generator anew for each sample, which takes longer than the rest.
        for sample in info.sample_inputs_func(info, "cpu", dtype, requires_grad=False):
            yield dtype, True, sample
            yield dtype, False, sample
        if REFERENCE_INPUTS:
            for sample in info.reference_inputs("cpu", dtype, requires_grad=False):
                yield dtype, False, sample


def execute(call: Call, symbolic: bool) -> list[torch.Tensor]:
    with FusionDefinition() as fd:
        handles = [fd.from_pytorch(tensor, static_sizes=not symbolic) for tensor in call.tensors]
        results = call.build(fd, *handles)
        for result in results if isinstance(results, (list, tuple)) else (results,):
            fd.add_output(result)
    return fd.execute(call.tensors)


def compare(call: Call, symbolic: bool) -> None:
    before = [tensor.clone() for tensor in call.tensors]
    got = call.seen(execute(call, symbolic))
    expected = call.expected()
    expected = [expected] if isinstance(expected, torch.Tensor) else list(expected)
    for result, reference in zip(got, expected, strict=True):
        if result.dtype != reference.dtype or not torch.equal(result, reference):
            torch.testing.assert_close(result, reference, equal_nan=True)
    for tensor, copy in zip(call.tensors, before, strict=True):
        if not torch.equal(tensor, copy):
            torch.testing.assert_close(tensor, copy, rtol=0, atol=0, equal_nan=True)


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Samples are small: waking threads takes longer than their work."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize("name", sorted(TABLE))
def test_samples(name: str) -> None:
    said, count = 0, counts.setdefault(name, Counter())
    wrong = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for info in infos_for(name):
            for dtype, symbolic, sample in samples_of(info):
                try:
                    call = TABLE[name].way(name, info, sample)
                except LeftOutError as rule:
                    count[str(rule)] += 1
                    continue
                said += 1
                try:
                    compare(call, symbolic)
                except Exception as error:
                    kind = "symbolic" if symbolic else "static"
                    wrong.append(
                        f"{info.formatted_name} {dtype} {kind} {sample.summary()}:\n{error}"
                    )
    count[""] = said
    assert not wrong, f"{len(wrong)} of {said} differ:\n" + "\n".join(wrong[:10])
    assert said > 0


def test_what_was_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    total: Counter[str] = Counter()
    for count in counts.values():
        total.update(count)
    said = total.pop("", 0)
    with capsys.disabled():
        print(f"\nOpInfo: {said} samples, {total.total()} left out")
        for rule, number in sorted(total.items()):
            print(f"  {number:5} {rule}")
    assert said > 5 * total.total() or not counts  # run alone, it has nothing to say
