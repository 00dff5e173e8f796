"""Every kind of tensor that a call can meet: taken, settled, or refused with the documented text."""

from collections.abc import Callable

import pytest
import torch
from entry_definitions import define, define_sum, error_of
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from meshfuse import DataType, FusionDefinition


@pytest.mark.parametrize("op", ["set", "neg"])
def test_tensor_and_parameter(op: str) -> None:
    fd = define(op)
    wanted: Callable[[torch.Tensor], torch.Tensor] = torch.clone if op == "set" else torch.neg
    for a in (
        torch.randn(4, 5),
        torch.nn.Parameter(torch.randn(4, 5)),
        torch.randn(4, 5, requires_grad=True),
    ):
        (b,) = fd.execute([a])
        assert type(b) is torch.Tensor
        assert torch.equal(b, wanted(a.detach()))
        assert not b.requires_grad
        assert b.grad_fn is None
        assert a._version == 0


@pytest.mark.parametrize("op", ["set", "neg"])
def test_inference_mode(op: str) -> None:
    fd = define(op)
    with torch.inference_mode():
        a = torch.randn(3, 3)
        (b,) = fd.execute([a])
        assert b.is_inference()
    (c,) = fd.execute([a])
    assert not c.is_inference()
    (d,) = fd.execute([c])
    assert torch.equal(b, c)
    assert torch.equal(fd.execute([d])[0], b if op == "set" else -d)


@pytest.mark.parametrize("op", ["set", "neg"])
def test_lazy_conjugate_and_negative(op: str) -> None:
    a = torch.randn(3, 4, dtype=torch.complex64)
    fd = define(op, dtype=DataType.ComplexFloat)
    wanted: Callable[[torch.Tensor], torch.Tensor] = torch.clone if op == "set" else torch.neg
    assert a.conj().is_conj()
    (b,) = fd.execute([a.conj()])
    assert not b.is_conj()
    assert torch.equal(b, wanted(a.conj().resolve_conj()))
    (b,) = fd.execute([torch._neg_view(a.conj())])
    assert not b.is_neg()
    assert torch.equal(b, wanted(-a.conj().resolve_conj()))

    imaginary = a.conj().imag
    assert imaginary.is_neg()
    (c,) = define(op).execute([imaginary])
    assert torch.equal(c, wanted(imaginary.resolve_neg()))


def test_lazy_and_plain_views_share_a_pointer_but_not_a_result() -> None:
    a = torch.randn(3, 4, dtype=torch.complex64)
    fd = define(dtype=DataType.ComplexFloat)
    for _ in range(3):
        assert torch.equal(fd.execute([a])[0], a)
        assert torch.equal(fd.execute([a.conj()])[0], a.conj().resolve_conj())


def test_strided_and_odd_layouts() -> None:
    fd = define()
    base = torch.randn(8, 9)
    for a in (
        base.t(),
        base[::2, 1::3],
        base[:1].expand(4, 9),
        base[:0],
        base.as_strided([3, 3], [1, 1]),
    ):
        (b,) = fd.execute([a])
        assert torch.equal(a, b)
        assert a.data_ptr() != b.data_ptr() or a.numel() == 0


START = "execute: tensors must be dense and in memory: argument 0 is "


def refused_tensors() -> list[tuple[str, Callable[[], torch.Tensor], str]]:
    a = torch.arange(6.0).view(2, 3)
    return [
        ("coo", a.to_sparse, START + "a tensor of layout torch.sparse_coo; pass tensor.to_dense()"),
        (
            "csr",
            a.to_sparse_csr,
            START + "a tensor of layout torch.sparse_csr; pass tensor.to_dense()",
        ),
        (
            "quantized",
            lambda: torch.quantize_per_tensor(a, 0.1, 0, torch.qint8),
            START + "a quantized tensor (QInt8); pass tensor.dequantize()",
        ),
        (
            "functional",
            lambda: torch._to_functional_tensor(a),
            START + "a functional tensor; call execute outside functionalization",
        ),
        (
            "zero",
            lambda: torch._efficientzerotensor(2, 3),
            START + "a zero tensor without memory; pass torch.zeros_like(tensor)",
        ),
        (
            "mkldnn",
            a.to_mkldnn,
            START + "a tensor of layout torch._mkldnn; pass tensor.to_dense()",
        ),
    ]


@pytest.mark.parametrize(
    ("make", "text"),
    [row[1:] for row in refused_tensors()],
    ids=[row[0] for row in refused_tensors()],
)
def test_tensors_that_are_no_plain_memory(make: Callable[[], torch.Tensor], text: str) -> None:
    fd = define()
    good = torch.randn(2, 3)
    assert torch.equal(fd.execute([good])[0], good)
    bad = make()
    assert type(bad) is torch.Tensor
    assert error_of(TypeError, lambda: fd.execute([bad])) == text
    assert torch.equal(fd.execute([good])[0], good)


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_nested_tensor() -> None:
    nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
    text = error_of(TypeError, lambda: define().execute([nested]))
    assert "argument 0 is a nested tensor" in text or "NestedTensor" in text


def test_fake_tensor() -> None:
    with FakeTensorMode() as mode:
        fake = torch.empty(3, 2).t()
    fd = define()
    with mode:
        (b,) = fd.execute([fake])
    assert isinstance(b, FakeTensor)
    assert (b.shape, b.stride(), b.dtype) == (fake.shape, fake.stride(), fake.dtype)
    assert b.device == torch.device("cpu")
    assert error_of(TypeError, lambda: fd.execute(iter([fake]))) == (
        "execute: fake tensors go to FusionDefinition.execute, in a list or tuple: argument 0 is a fake tensor; "
        "call fd.execute([a, b])"
    )
    assert fd.execute([torch.empty(2, 3, device="meta")])[0].is_meta
    a = torch.randn(2, 3)
    assert torch.equal(fd.execute([a])[0], a)


def test_real_tensor_under_fake_mode_is_the_modes_own_error() -> None:
    fd = define()
    a = torch.randn(2, 3)
    with FakeTensorMode(), pytest.raises(Exception, match=r"[Ff]ake"):
        fd.execute([a])
    assert torch.equal(fd.execute([a])[0], a)


class Doubled(torch.Tensor):
    """A subclass with a behaviour of its own."""


def test_unknown_subclass() -> None:
    a = torch.randn(2, 3).as_subclass(Doubled)
    assert error_of(TypeError, lambda: define().execute([a])) == (
        "execute: tensors must be torch.Tensor, Parameter or DTensor: argument 0 is a "
        f"{Doubled.__module__}.Doubled, a tensor subclass "
        "that meshfuse does not know; pass a torch.Tensor (tensor.as_subclass(torch.Tensor), if it has no behaviour of its own)"
    )


def test_inside_vmap() -> None:
    fd = define(rank=1)
    a = torch.randn(3, 4)
    text = (
        START
        + "a tensor of an active torch.func transform (vmap, grad); call execute outside the transform"
    )
    assert error_of(TypeError, lambda: torch.func.vmap(lambda x: fd.execute([x])[0])(a)) == text
    assert (
        error_of(TypeError, lambda: torch.func.grad(lambda x: fd.execute([x])[0].sum())(a[0]))
        == text
    )


class Recording(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.seen.append(str(func))
        return func(*args, **(kwargs or {}))


def test_dispatch_mode_sees_the_operations() -> None:
    fd = define_sum()
    a = torch.randn(2, 3)
    fd.execute([a, a])
    with Recording() as mode:
        (b,) = fd.execute([a, a])
    assert any("aten.add" in name for name in mode.seen)
    assert torch.equal(b, a + a)
    mode.seen.clear()
    fd.execute([a, a])
    assert not mode.seen


def test_error_of_a_dispatch_mode_arrives() -> None:
    class Failing(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            raise LookupError("from the mode")

    fd = define_sum()
    a = torch.randn(2, 3)
    with Failing(), pytest.raises(LookupError, match="from the mode"):
        fd.execute([a, a])
    assert torch.equal(fd.execute([a, a])[0], a + a)


def test_execute_inside_a_dispatch_mode_of_its_own_call() -> None:
    fd = define_sum()
    a = torch.randn(2, 3)
    inner: list[torch.Tensor] = []

    class Reentrant(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            inner.extend(fd.execute([a, a]))
            return func(*args, **(kwargs or {}))

    with Reentrant():
        (b,) = fd.execute([a, a])
    assert torch.equal(b, a + a)
    assert inner
    assert all(torch.equal(value, a + a) for value in inner)


def test_function_modes_and_default_device_change_nothing() -> None:
    class Refusing(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            raise AssertionError("no torch function is called")

    fd = define()
    a = torch.randn(2, 3)
    with torch.device("meta"):
        (b,) = fd.execute([a])
    assert torch.equal(a, b)
    with Refusing():
        (b,) = fd.execute([a])
    assert torch.equal(a, b)


def test_autocast_does_not_change_what_the_definition_says() -> None:
    with FusionDefinition() as fd:
        a, b = (fd.define_tensor([-1, -1]) for _ in range(2))
        fd.add_output(fd.ops.matmul(a, b))
    x = torch.randn(4, 4)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        (y,) = fd.execute([x, x])
    assert y.dtype == torch.float32
    assert torch.equal(y, x @ x)


def test_outputs_that_are_views_carry_no_graph() -> None:
    p = torch.ones(2, 3, requires_grad=True)
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1])
        fd.add_output(fd.ops.permute(x, [1, 0]))
        fd.add_output(fd.ops.reshape(x, [6]))
        fd.add_output(fd.ops.broadcast_in_dim(x, [4, 2, 3], [1, 2]))
        fd.add_output(fd.ops.neg(x))
    for output in fd.execute([p]):
        assert not output.requires_grad
        assert output.grad_fn is None
