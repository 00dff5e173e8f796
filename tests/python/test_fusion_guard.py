"""Fusions that are built without a FusionDefinition: guards, declared values, inputs added by hand."""

import threading

import torch
from entry_definitions import error_of

import meshfuse
from meshfuse import DataType, Fusion, FusionDefinition, FusionExecutorCache, FusionGuard


def test_a_fusion_built_under_a_guard_equals_the_defined_one() -> None:
    fusion = Fusion()
    guard = FusionGuard(fusion)
    late = meshfuse.define_tensor([-1, 4], contiguity=True)
    x = meshfuse.define_tensor(sizes=[3, 4], strides=[4, 1], dtype=DataType.Float)
    s = meshfuse.define_scalar(DataType.Double)
    for value in (x, late, s):
        fusion.add_input(value)
    total = meshfuse.ops.add(meshfuse.ops.mul(x, s), late)
    fusion.add_output(total)
    fusion.add_output(total, x)
    del guard
    assert [str(value) for value in fusion.inputs()] == [str(value) for value in (x, late, s)]
    a, b = torch.randn(3, 4), torch.randn(3, 4)
    expected = a * 2.0 + b
    (result,) = FusionExecutorCache(fusion).execute([a, b, 2.0])
    assert result is a
    torch.testing.assert_close(a, expected)
    with FusionDefinition() as fd:
        x = fd.define_tensor(sizes=[3, 4], strides=[4, 1])
        y = fd.define_tensor([-1, 4], contiguity=True)
        s = fd.define_scalar(DataType.Double)
        total = fd.ops.add(fd.ops.mul(x, s), y)
        fd.add_output(total)
        fd.add_output(total, x)
    a = torch.randn(3, 4)
    expected = a * 3.0 + b
    (result,) = fd.execute([a, b, 3.0])
    torch.testing.assert_close(result, expected)


def test_constants_need_no_input_and_guards_nest() -> None:
    outer, inner = Fusion(), Fusion()
    outer_guard = FusionGuard(outer)
    x = meshfuse.define_tensor([-1])
    outer.add_input(x)
    inner_guard = FusionGuard(inner)
    y = meshfuse.define_tensor([-1])
    inner.add_input(y)
    inner.add_output(meshfuse.ops.neg(y))
    del inner_guard
    outer.add_output(meshfuse.ops.mul(x, meshfuse.define_scalar(3.0)))
    del outer_guard
    assert FusionExecutorCache(outer).execute([torch.ones(2)])[0].tolist() == [3.0, 3.0]
    assert FusionExecutorCache(inner).execute([torch.ones(2)])[0].tolist() == [-1.0, -1.0]


def test_what_is_neither_input_nor_computed_is_named() -> None:
    fusion = Fusion()
    guard = FusionGuard(fusion)
    x = meshfuse.define_tensor([2])
    y = meshfuse.define_tensor([2])
    fusion.add_input(x)
    fusion.add_output(meshfuse.ops.add(x, y))
    del guard
    assert error_of(RuntimeError, lambda: FusionExecutorCache(fusion)) == (
        "execute: values that are used are inputs or computed: tv1: Float[2] was declared and is neither; "
        "make it an input with add_input"
    )


def test_refusals() -> None:
    fusion = Fusion()
    guard = FusionGuard(fusion)
    x = meshfuse.define_tensor([2])
    fusion.add_input(x)
    rule = "add_input: an input is a declared value, once: "
    for value, found in (
        (x, "tv0: Float[2] is an input already"),
        (meshfuse.ops.neg(x), "tv1: Float[2] is computed"),
        (meshfuse.define_scalar(2.0), "c0: Double = 2.0 is a constant"),
    ):
        assert error_of(RuntimeError, lambda value=value: fusion.add_input(value)).startswith(
            rule + found
        )
    with FusionDefinition() as fd:
        other = fd.define_tensor([2])
        assert "values must belong to the definition that is being built" in error_of(
            RuntimeError, lambda: fusion.add_input(other)
        )
        fd.add_output(other)
    del guard
    for call in (lambda: meshfuse.define_tensor([2]), lambda: meshfuse.define_scalar(1.0)):
        assert "a value belongs to a definition: none is open on this thread" in error_of(
            RuntimeError, call
        )
    guard = FusionGuard(fusion)
    assert error_of(TypeError, lambda: meshfuse.define_tensor(dtype=torch.float16)).startswith(
        "define_tensor(): incompatible function arguments: got (dtype=torch.float16); call it as "
    )
    del guard
    fd.execute([torch.ones(2)])
    assert "FusionGuard: an executed definition is closed" in error_of(
        RuntimeError, lambda: FusionGuard(fd.fusion)
    )


def test_a_guard_is_its_threads_own() -> None:
    fusion = Fusion()
    guard = FusionGuard(fusion)
    texts = []
    thread = threading.Thread(
        target=lambda: texts.append(error_of(RuntimeError, lambda: meshfuse.define_tensor([2])))
    )
    thread.start()
    thread.join(30)
    assert "none is open on this thread" in texts[0]
    x = meshfuse.define_tensor([2])
    fusion.add_input(x)
    fusion.add_output(x)
    del guard
