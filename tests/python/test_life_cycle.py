"""The life of a FusionDefinition: entered, left, executed, entered again."""

import copy
import pickle
import threading

import pytest
import torch

import meshfuse
from meshfuse import FusionDefinition


def test_takes_no_arguments_and_any_attribute():
    with pytest.raises(TypeError):
        FusionDefinition(1)
    fd = FusionDefinition()
    fd.note = "kept"
    assert fd.note == "kept"
    assert fd.ops is meshfuse.ops


def test_the_block_gives_the_object_itself():
    fd = FusionDefinition()
    with fd as inside:
        assert inside is fd


def test_entering_again_starts_anew():
    fd = FusionDefinition()
    for shape in ([2], [3, 4]):
        with fd:
            fd.add_output(fd.ops.neg(fd.define_tensor(shape)))
    assert fd.fusion.print_math().startswith("input tv0: Float[3, 4]")
    assert len(fd.fusion.inputs()) == 1


def test_an_exception_is_printed_and_leaves_nothing(capsys):
    fd = FusionDefinition()
    error = ValueError("no such luck")

    def fail() -> None:
        with fd:
            fd.define_tensor([2])
            raise error

    with pytest.raises(ValueError, match="no such luck") as caught:
        fail()
    assert caught.value is error
    printed, to_stderr = capsys.readouterr()
    lines = printed.splitlines()
    assert lines[0] == "FusionDefinition: the definition ended with ValueError: no such luck"
    assert lines[1] == "Traceback (most recent call last):"
    assert lines[-1] == "ValueError: no such luck"
    assert to_stderr == ""
    with pytest.raises(NotImplementedError, match="Fusion does not exist!"):
        fd.execute([torch.ones(2)])
    assert fd.validate_definition() == (False, "Fusion does not exist!")
    with fd:
        fd.add_output(fd.ops.neg(fd.define_tensor([2])))
    assert torch.equal(fd.execute([torch.ones(2)])[0], -torch.ones(2))


def test_blocks_nest():
    with FusionDefinition() as outer:
        a = outer.define_tensor([2])
        with FusionDefinition() as inner:
            b = inner.define_scalar()
        outer.add_output(outer.ops.neg(a))
    assert inner.fusion.vals() == [b]
    assert len(outer.fusion.vals()) == 2


def test_each_thread_has_its_own_block():
    failures = []

    def define(size: int) -> None:
        try:
            for _ in range(50):
                with FusionDefinition() as fd:
                    fd.add_output(fd.ops.exp(fd.define_tensor([size])))
                assert f"Float[{size}]" in fd.fusion.print_math()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=define, args=(size,)) for size in range(2, 10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_validate_definition():
    fd = FusionDefinition()
    assert fd.validate_definition() == (False, "Fusion does not exist!")
    with fd:
        assert fd.validate_definition() == (False, "Fusion is empty!")
        a = fd.define_tensor([2])
        assert fd.validate_definition() == (False, "Fusion has no outputs!")
        fd.add_output(a)
    assert fd.validate_definition() == (True, None)


def test_the_first_execution_closes_it():
    with FusionDefinition() as fd:
        a = fd.define_tensor([2])
        fd.add_output(fd.ops.neg(a))
    fd.execute([torch.ones(2)])
    for call in (
        lambda: fd.define_tensor([2]),
        lambda: fd.define_scalar(),
        lambda: fd.define_vector(2),
        lambda: fd.from_pytorch(torch.ones(2)),
        lambda: fd.add_output(a),
        fd.validate_definition,
    ):
        with pytest.raises(AttributeError, match="an executed definition is closed"):
            call()
    assert fd.fusion.inputs() == [a]
    assert str(a) == "tv0: Float[2]"
    with fd:
        fd.add_output(fd.ops.exp(fd.define_tensor([3])))
    assert torch.equal(fd.execute([torch.zeros(3)])[0], torch.ones(3))


def test_an_operation_after_execution_in_the_block_is_refused():
    with FusionDefinition() as fd:
        a = fd.define_tensor([2])
        fd.add_output(fd.ops.neg(a))
        fd.execute([torch.ones(2)])
        with pytest.raises(RuntimeError, match="exp: an executed definition is closed"):
            fd.ops.exp(a)


def test_outputs_in_order_with_repetitions_and_inputs():
    x = torch.randn(3)
    with FusionDefinition() as fd:
        a = fd.from_pytorch(x)
        b = fd.ops.neg(a)
        for output in (b, a, b):
            fd.add_output(output)
    assert fd.fusion.outputs() == [b, a, b]
    results = fd.execute([x])
    for result, expected in zip(results, (-x, x, -x), strict=True):
        assert torch.equal(result, expected)


def negated(size: int) -> FusionDefinition:
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.neg(fd.define_tensor([size], True)))
    return fd


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy])
def test_copies_are_definitions_of_their_own(way):
    x = torch.arange(3.0)
    for executed in (False, True):
        fd = negated(3)
        fd.notes = {"of": [1]}
        if executed:
            fd.execute([x])
        again = way(fd)
        assert type(again) is FusionDefinition
        assert again.fusion == fd.fusion
        assert again.validate_definition() == (True, None)
        assert torch.equal(again.execute([x])[0], -x)
        assert again.notes == fd.notes
        assert (again.notes["of"] is fd.notes["of"]) == (way is copy.copy)
        with fd:
            fd.add_output(fd.ops.exp(fd.define_tensor([-1])))
        assert torch.equal(again.execute([x])[0], -x)
    assert way(FusionDefinition()).validate_definition() == (False, "Fusion does not exist!")
    fusion = way(again.fusion)
    assert fusion == again.fusion
    assert fusion is not again.fusion
    in_a_list = copy.deepcopy([again, again])
    assert in_a_list[0] is in_a_list[1]


def test_is_not_pickled():
    with pytest.raises(
        TypeError, match=r"FusionDefinition: a definition is not pickled: its progr.*; send repr"
    ):
        pickle.dumps(negated(2))


def test_print_math_of_what_outputs_need():
    with FusionDefinition() as fd:
        a = fd.define_tensor([4], True)
        fd.ops.exp(a)
        fd.add_output(fd.ops.mul(fd.ops.neg(a), 2.0))
    needed, everything = fd.fusion.print_math(), fd.fusion.print_math(from_outputs_only=False)
    assert "exp" not in needed
    assert "exp" in everything
    assert [line for line in everything.splitlines() if "exp" not in line] == needed.splitlines()
    assert fd.fusion.print_math(True) == needed
    assert str(fd.fusion) == everything
