"""add_output with alias_input: what is written, returned and counted."""

import pytest
import torch
from entry_definitions import error_of

from meshfuse import DataType, FusionDefinition, LruFusionCache, translate_fusion


def update(op: str = "neg", returned: bool = False, **form: object) -> FusionDefinition:
    """x <- op(x)"""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], **form)
        value = getattr(fd.ops, op)(x)
        fd.add_output(value, alias_input=x)
        if returned:
            fd.add_output(value)
    return fd


def test_results_and_order() -> None:
    with FusionDefinition() as fd:
        x, y = (fd.define_tensor([-1]) for _ in range(2))
        hidden, shown, plain = fd.ops.neg(x), fd.ops.exp(x), fd.ops.sin(x)
        fd.add_output(hidden, x)
        fd.add_output(shown, alias_input=y)
        fd.add_output(plain)
        # Added as an output after it was hidden, it takes its place at the end.
        fd.add_output(shown, None)
        assert fd.validate_definition() == (True, None)
        assert fd.fusion.outputs() == [hidden, plain, shown]
    a, b = torch.randn(3), torch.randn(3)
    old = a.clone()
    sine, exp = fd.execute([a, b])
    torch.testing.assert_close(sine, old.sin())
    assert exp is b
    torch.testing.assert_close(b, old.exp())
    assert torch.equal(a, -old)


def test_a_definition_that_only_writes_returns_nothing() -> None:
    fd = update()
    assert fd.validate_definition() == (True, None)
    x = torch.randn(2, 3)
    old = x.clone()
    assert fd.execute([x]) == []
    assert torch.equal(x, -old)
    assert x._version == 1
    assert "output tv1 into tv0" in fd.explain()


def test_inputs_swap_and_inputs_are_copied() -> None:
    with FusionDefinition() as fd:
        x, y = (fd.define_tensor([-1, -1]) for _ in range(2))
        fd.add_output(y, x)
        fd.add_output(x, y)
        fd.add_output(x)
    a, b = torch.randn(2, 3), torch.randn(3, 2).t()
    old_a, old_b = a.clone(), b.clone()
    (result,) = fd.execute([a, b])
    assert result is a
    assert torch.equal(a, old_b)
    assert torch.equal(b, old_a)


def test_one_value_into_two_inputs() -> None:
    with FusionDefinition() as fd:
        x, y = (fd.define_tensor([-1]) for _ in range(2))
        value = fd.ops.add(x, y)
        fd.add_output(value, x)
        fd.add_output(value, y)
        fd.add_output(value)
    a, b = torch.randn(3), torch.randn(3)
    wanted = a + b
    (result,) = fd.execute([a, b])
    assert result is b
    assert torch.equal(a, wanted)
    assert torch.equal(b, wanted)


@pytest.mark.parametrize("dtype", ["Float", "Double", "Half", "BFloat16", "Int", "Int32", "Bool"])
def test_types_and_layouts(dtype: str) -> None:
    base = (torch.arange(24).view(4, 6) % 5 - 2).to(
        {
            "Float": torch.float32,
            "Double": torch.float64,
            "Half": torch.float16,
            "BFloat16": torch.bfloat16,
            "Int": torch.int64,
            "Int32": torch.int32,
            "Bool": torch.bool,
        }[dtype]
    )
    for x in (
        base.clone(),
        base.clone().t(),
        torch.stack([base, base], -1)[..., 1],
        base.clone()[1:, ::2],
        base.clone()[:0],
    ):
        with FusionDefinition() as fd:
            a = fd.from_pytorch(x)
            flipped = fd.ops.eq(a, 0) if dtype == "Bool" else fd.ops.sub(0, a)
            fd.add_output(fd.ops.cast(flipped, getattr(DataType, dtype)), a)
        wanted = x == 0 if dtype == "Bool" else -x
        strides, address = x.stride(), x.data_ptr()
        fd.execute([x])
        assert torch.equal(x, wanted)
        assert (x.stride(), x.data_ptr()) == (strides, address)


def test_numbers_on_the_cpu_and_meta_tensors() -> None:
    with FusionDefinition() as fd:
        s = fd.define_tensor([], [], is_cpu=True, dtype=DataType.Int)
        fd.add_output(fd.ops.add(s, 1), s)
    step = torch.tensor(41)
    fd.execute([step])
    assert step.item() == 42
    meta = torch.empty(2, 3, device="meta")
    assert update().execute([meta]) == []
    assert meta._version == 1


def test_definitions_that_differ_in_writes_alone() -> None:
    @LruFusionCache(max_fusions=8)
    def define(written: bool) -> FusionDefinition:
        with FusionDefinition() as fd:
            x = fd.define_tensor([-1])
            y = fd.ops.neg(x)
            fd.add_output(y, x) if written else None
            fd.add_output(y)
        return fd

    for written in (True, False, True, False):
        x = torch.ones(3)
        (y,) = define(written).execute([x])
        assert torch.equal(y, -torch.ones(3))
        assert torch.equal(x, y if written else torch.ones(3))
    assert define.num_fusions() == 2
    x = torch.ones(3)
    assert define(True).fec.execute([x])[0] is x


def test_the_text_makes_the_same_definition() -> None:
    with FusionDefinition() as fd:
        x, y = (fd.define_tensor([-1]) for _ in range(2))
        value = fd.ops.exp(x)
        fd.add_output(value, y)
        fd.add_output(y, x)
        fd.add_output(fd.ops.neg(y))
        fd.add_output(value)
    text = repr(fd)
    assert (
        "    fd.add_output(tv2, alias_input=tv1)\n    fd.add_output(tv3, alias_input=tv0)\n" in text
    )
    assert translate_fusion(fd.fusion) == text
    names = {"DataType": DataType, "FusionDefinition": FusionDefinition}
    exec(text, names)
    with FusionDefinition() as again:
        names["nvfuser_fusion"](again)
    assert again.fusion == fd.fusion
    assert hash(again.fusion) == hash(fd.fusion)
    assert repr(again) == text


def test_a_repro_starts_from_the_inputs_before_the_call() -> None:
    fd = update("exp", returned=True)
    x = torch.randn(2, 3)
    script = fd.repro_script_for([x])
    fd.execute([x])
    program: dict[str, object] = {}
    exec(script, program)
    assert torch.equal(program["outputs"][0], x)


def test_validate_compares_with_what_the_old_inputs_give() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], dtype=DataType.Half)
        y = fd.define_tensor([-1], dtype=DataType.Float)
        value = fd.ops.cast(fd.ops.exp(x), DataType.Half)
        fd.add_output(value, x)
        fd.add_output(fd.ops.add(y, 1.0), y)
        fd.add_output(value)
        fd.add_output(fd.ops.neg(x))
    a, b = torch.randn(2, 3).half(), torch.randn(4)
    old_a, old_b = a.clone(), b.clone()
    first, second = fd.validate([a, b])
    assert first is a
    assert torch.equal(second, -old_a.float())
    torch.testing.assert_close(a, old_a.exp())
    torch.testing.assert_close(b, old_b + 1)


def test_validate_finds_a_wrong_write(monkeypatch: pytest.MonkeyPatch) -> None:
    fd = update()
    x = torch.randn(2, 3)
    execute = FusionDefinition.execute

    def execute_and_spoil(self: FusionDefinition, inputs: list[torch.Tensor], **options: object):
        results = execute(self, inputs, **options)
        inputs[0][1, 2] += 1
        return results

    monkeypatch.setattr(FusionDefinition, "execute", execute_and_spoil)
    text = error_of(RuntimeError, lambda: fd.validate([x]))
    assert "input 0, which is written, differs in 1 of 6 elements, first at [1, 2]" in text


def test_what_torch_allows_in_place() -> None:
    fd = update()
    leaf = torch.ones(2, 3, requires_grad=True)
    computed = leaf * 2
    with torch.no_grad():
        fd.execute([leaf])
        fd.execute([computed])
    assert leaf._version == computed._version == 1
    assert torch.equal(leaf.detach(), -torch.ones(2, 3))
    # What a graph has saved and a write changed is found by its version.
    w = torch.ones(2, 3, requires_grad=True)
    saved = torch.ones(2, 3)
    product = w * saved
    fd.execute([saved])
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.sum().backward()
    with torch.inference_mode():
        inference = torch.ones(2, 3)
        fd.execute([inference])
        fd.execute([saved])
    assert torch.equal(inference, -torch.ones(2, 3))
    assert torch.equal(saved, torch.ones(2, 3))
    assert saved._version == 2


def test_inputs_that_share_memory() -> None:
    base = torch.randn(4, 6)
    with FusionDefinition() as fd:
        x, y = (fd.define_tensor([-1, -1]) for _ in range(2))
        fd.add_output(fd.ops.add(x, y), x)
        fd.add_output(fd.ops.permute(y, [1, 0]))
    # A written one and one that is read: everything is read first.
    for make in (lambda b: (b, b), lambda b: (b[:, :4], b[:, 2:]), lambda b: (b[1:], b[:-1])):
        memory, old = base.clone(), base.clone()
        wanted = memory.clone()
        new, (read_x, read_y) = make(wanted)[0], make(old)
        new.copy_(read_x + read_y)
        (result,) = fd.execute(list(make(memory)))
        assert torch.equal(memory, wanted)
        assert torch.equal(result, read_y.t())
    with FusionDefinition() as both:
        x, y = (both.define_tensor([-1, -1]) for _ in range(2))
        both.add_output(both.ops.neg(x), x)
        both.add_output(both.ops.exp(y), y)
    for pair in ((base, base), (base[:, :4], base[:, 2:]), (base, base.t()[:, :].t())):
        old = base.clone()
        text = error_of(RuntimeError, lambda p=pair: both.execute(list(p)))
        assert "input 0, tv0, and input 1, tv1, are both written and share memory" in text
        assert torch.equal(base, old)
    old = base.clone()
    both.execute([base[:, ::2], base[:, 1::2]])
    assert torch.equal(base[:, ::2], -old[:, ::2])
    torch.testing.assert_close(base[:, 1::2], old[:, 1::2].exp())


def test_memory_that_torch_does_not_know_to_be_shared() -> None:
    numpy = pytest.importorskip("numpy")
    array = numpy.arange(6, dtype=numpy.float32)
    x, y = torch.from_numpy(array), torch.from_numpy(array)
    with FusionDefinition() as fd:
        a, b = (fd.define_tensor([-1]) for _ in range(2))
        fd.add_output(fd.ops.neg(a), a)
        fd.add_output(fd.ops.reshape(b, [2, 3]))
    (result,) = fd.execute([x, y])
    assert result.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert array.tolist() == [0, -1, -2, -3, -4, -5]


def test_dispatch_modes_see_the_copy() -> None:
    from torch.utils._python_dispatch import TorchDispatchMode

    seen = []

    class Seen(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(str(func))
            return func(*args, **(kwargs or {}))

    fd = update()
    x = torch.ones(2, 3)
    with Seen():
        fd.execute([x])
    assert seen == ["aten.neg.default", "aten.copy_.default"]
    assert torch.equal(x, -torch.ones(2, 3))
