"""What add_output and execute refuse to write, with the inputs left alone."""

import pytest
import torch
from entry_definitions import error_of

from meshfuse import DataType, FusionDefinition


def update() -> FusionDefinition:
    """x <- -x"""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1])
        fd.add_output(fd.ops.neg(x), alias_input=x)
    return fd


def test_what_can_be_written_into_what() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 4])
        half = fd.define_tensor([-1, 4], dtype=DataType.Half)
        row = fd.define_tensor([1, 4])
        s = fd.define_scalar()
        value = fd.ops.neg(x)
        refused = [
            (TypeError, value, s, "'c0' is a scalar"),
            (TypeError, value, 2, "alias_input is 2; call it as add_output("),
            (TypeError, None, x, "output is None; call it as add_output("),
            (RuntimeError, s, x, "Non-TensorView outputs are not supported"),
            (RuntimeError, value, value, "alias_input is an input of the definition"),
            (RuntimeError, value, half, "a value has the element type of the input"),
            (RuntimeError, fd.ops.sum(x, 0), x, "a value has the sizes of the input"),
            (RuntimeError, row, fd.define_tensor([2, 4]), "a value has the sizes of the input"),
        ]
        before = repr(fd)
        for kind, output, alias, part in refused:
            text = error_of(kind, lambda o=output, a=alias: fd.add_output(o, a))
            assert part in text
            assert ": " in text
            assert "; " in text
        assert repr(fd) == before
        other = FusionDefinition()
        with other:
            foreign = other.define_tensor([-1, 4])
        text = error_of(RuntimeError, lambda: fd.add_output(value, foreign))
        assert "of another definition" in text
        fd.add_output(value, row)
    text = error_of(
        RuntimeError,
        lambda: fd.execute(
            [torch.ones(2, 4), torch.ones(2, 4).half(), torch.ones(1, 4), 1.0, torch.ones(2, 4)]
        ),
    )
    assert "got 'tv3' of type Float[2, 4] for the input 'tv2' of type Float[b1, 4]" in text


def written_tensors() -> dict[str, tuple[torch.Tensor, str]]:
    leaf = torch.randn(2, 3, requires_grad=True)
    with torch.inference_mode():
        inference = torch.randn(2, 3)
    return {
        "leaf": (leaf, "is written and is a leaf that requires grad"),
        "parameter": (torch.nn.Parameter(torch.randn(2, 3)), "is a leaf that requires grad"),
        "view of a leaf": (leaf[:], "is written and requires grad"),
        "computed": (leaf * 2, "is written and requires grad"),
        "inference": (inference, "is an inference tensor"),
        "expanded": (torch.randn(1, 3).expand(2, 3), "several elements lie at one address"),
        "windows": (
            torch.randn(4).as_strided((2, 3), (1, 1)),
            "several elements lie at one address",
        ),
    }


@pytest.mark.parametrize("name", list(written_tensors()))
def test_tensors_that_cannot_be_written(name: str) -> None:
    fd = update()
    good = torch.randn(2, 3)
    fd.execute([good])
    x, part = written_tensors()[name]
    old, version = x.detach().clone(), None if x.is_inference() else x._version
    for _ in range(2):
        text = error_of(RuntimeError, lambda: fd.execute([x]))
        assert part in text
        assert text.startswith("execute: an ")
        assert torch.equal(x.detach(), old)
        assert version is None or x._version == version
    fd.execute([good])


def test_tensors_of_forward_mode_and_lazy_views() -> None:
    import torch.autograd.forward_ad as forward_ad

    with forward_ad.dual_level():
        dual = forward_ad.make_dual(torch.ones(2, 3), torch.ones(2, 3))
        assert "carries a tangent" in error_of(RuntimeError, lambda: update().execute([dual]))
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], dtype=DataType.ComplexFloat)
        fd.add_output(fd.ops.neg(x), x)
    z = torch.tensor([1 + 2j])
    with FusionDefinition() as real:
        x = real.define_tensor([-1])
        real.add_output(real.ops.exp(x), x)
    for definition, lazy in ((fd, z.conj()), (real, z.conj().imag)):
        text = error_of(RuntimeError, lambda d=definition, t=lazy: d.execute([t]))
        assert "is a lazily conjugated or negated view" in text
    assert z.item() == 1 + 2j


def test_a_tensor_whose_memory_was_given_up() -> None:
    with FusionDefinition() as fd:
        x, y = (fd.define_tensor([-1]) for _ in range(2))
        fd.add_output(fd.ops.neg(y), x)
    freed = torch.zeros(4)
    freed.untyped_storage().resize_(0)
    assert "input 0, tv0, has elements, and a storage of 0 bytes" in error_of(
        RuntimeError, lambda: fd.execute([freed, torch.ones(4)])
    )


def test_the_count_and_kinds_of_arguments_are_checked_first() -> None:
    fd = update()
    assert "got 0 arguments" in error_of(RuntimeError, lambda: fd.execute([]))
    assert "to be an at::Tensor but got scalar" in error_of(RuntimeError, lambda: fd.execute([1.0]))
