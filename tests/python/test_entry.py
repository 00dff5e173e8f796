"""Every kind of argument that a call can meet: taken, settled, or refused with the text that the documentation gives."""

import enum
import gc
import sys
import threading
import weakref
from collections.abc import Callable, Iterator

import numpy as np
import pytest
import torch
import torch.distributed as dist
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed import _functional_collectives as funcol
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import DTensor, Partial, Placement, Replicate, Shard
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from meshfuse import DataType, FusionDefinition


def define(op: str = "set", *, rank: int = 2, dtype: DataType = DataType.Float) -> FusionDefinition:
    with FusionDefinition() as fd:
        a = fd.define_tensor([-1] * rank, dtype=dtype)
        fd.add_output(getattr(fd.ops, op)(a))
    return fd


def define_sum(dtype: DataType = DataType.Float) -> FusionDefinition:
    with FusionDefinition() as fd:
        a, b = (fd.define_tensor([-1, -1], dtype=dtype) for _ in range(2))
        fd.add_output(fd.ops.add(a, b))
    return fd


def error_of(kind: type[Exception], call: Callable[[], object]) -> str:
    with pytest.raises(kind) as caught:
        call()
    assert caught.type is kind
    return str(caught.value)


@pytest.fixture
def mesh() -> Iterator[DeviceMesh]:
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    yield DeviceMesh("cpu", [0])
    gc.collect()
    dist.destroy_process_group()


def on(mesh: DeviceMesh, local: torch.Tensor, placement: Placement | None = None) -> DTensor:
    return DTensor.from_local(local, mesh, [placement or Shard(0)], run_check=False)


# Tensors that are taken as they are, or settled first.


@pytest.mark.parametrize("op", ["set", "neg"])
def test_tensor_and_parameter(op: str) -> None:
    fd = define(op)
    wanted: Callable[[torch.Tensor], torch.Tensor] = torch.clone if op == "set" else torch.neg
    for a in (torch.randn(4, 5), torch.nn.Parameter(torch.randn(4, 5)), torch.randn(4, 5, requires_grad=True)):
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


def test_async_collective_tensor(mesh: DeviceMesh) -> None:
    a = torch.randn(4, 4)
    pending = funcol.all_reduce(a, "sum", mesh)
    assert type(pending) is funcol.AsyncCollectiveTensor
    assert torch.equal(define().execute([pending])[0], a)


@pytest.mark.parametrize("op", ["set", "neg"])
def test_dtensor_with_a_pending_local(mesh: DeviceMesh, op: str) -> None:
    a = torch.randn(4, 4)
    d = on(mesh, a)
    d._local_tensor = funcol.all_reduce(a, "sum", mesh)
    assert type(d._local_tensor) is funcol.AsyncCollectiveTensor
    (b,) = define(op).execute([d])
    assert torch.equal(b.to_local(), a if op == "set" else -a)


def test_dtensor_with_a_lazy_local(mesh: DeviceMesh) -> None:
    a = torch.randn(3, 4, dtype=torch.complex64)
    d = on(mesh, a)
    d._local_tensor = a.conj()
    (b,) = define(dtype=DataType.ComplexFloat).execute([d])
    assert torch.equal(b.to_local(), a.conj().resolve_conj())


def test_strided_and_odd_layouts() -> None:
    fd = define()
    base = torch.randn(8, 9)
    for a in (base.t(), base[::2, 1::3], base[:1].expand(4, 9), base[:0], base.as_strided([3, 3], [1, 1])):
        (b,) = fd.execute([a])
        assert torch.equal(a, b)
        assert a.data_ptr() != b.data_ptr() or a.numel() == 0


# Tensors that are refused by name, after which the definition still works.

START = "execute: tensors must be dense and in memory: argument 0 is "


def refused_tensors() -> list[tuple[str, Callable[[], torch.Tensor], str]]:
    a = torch.arange(6.0).view(2, 3)
    return [
        ("coo", a.to_sparse, START + "a tensor of layout torch.sparse_coo; pass tensor.to_dense()"),
        ("csr", a.to_sparse_csr, START + "a tensor of layout torch.sparse_csr; pass tensor.to_dense()"),
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


@pytest.mark.parametrize(("make", "text"), [row[1:] for row in refused_tensors()], ids=[row[0] for row in refused_tensors()])
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
        fake = torch.empty(2, 3)
    text = (
        "execute: tensors must be torch.Tensor, Parameter or DTensor: argument 0 is a fake tensor, which has no data; "
        "execute on meta tensors (torch.empty_like(t, device='meta'))"
    )
    fd = define()
    assert error_of(TypeError, lambda: fd.execute([fake])) == text
    with mode:
        assert error_of(TypeError, lambda: fd.execute([fake])) == text
    assert fd.execute([torch.empty(2, 3, device="meta")])[0].is_meta


def test_real_tensor_under_fake_mode_is_the_modes_own_error() -> None:
    fd = define()
    a = torch.randn(2, 3)
    with FakeTensorMode(), pytest.raises(Exception, match="[Ff]ake"):
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
    text = START + "a tensor of an active torch.func transform (vmap, grad); call execute outside the transform"
    assert error_of(TypeError, lambda: torch.func.vmap(lambda x: fd.execute([x])[0])(a)) == text
    assert error_of(TypeError, lambda: torch.func.grad(lambda x: fd.execute([x])[0].sum())(a[0])) == text


# Modes.


class Recording(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
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
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
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
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
            inner.extend(fd.execute([a, a]))
            return func(*args, **(kwargs or {}))

    with Reentrant():
        (b,) = fd.execute([a, a])
    assert torch.equal(b, a + a)
    assert inner
    assert all(torch.equal(value, a + a) for value in inner)


def test_function_modes_and_default_device_change_nothing() -> None:
    class Refusing(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
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


# DTensors.


def test_dtensor_in_and_out(mesh: DeviceMesh) -> None:
    for op, wanted in (("set", torch.clone), ("neg", torch.neg)):
        fd = define(op)
        for placement in (Shard(0), Shard(1), Replicate()):
            local = torch.randn(4, 6)
            d = on(mesh, local, placement)
            for _ in range(2):
                (b,) = fd.execute([d])
                assert type(b) is DTensor
                assert b.placements == (placement,)
                assert b.device_mesh is mesh
                assert b.shape == d.shape
                assert b.stride() == d.stride()
                assert not b.requires_grad
                assert type(b.to_local()) is torch.Tensor
                assert torch.equal(b.to_local(), wanted(local))
                assert torch.equal((b + b).to_local(), wanted(local) * 2)


def test_partial_dtensor_stays_partial_where_the_operation_allows(mesh: DeviceMesh) -> None:
    local = torch.randn(4, 6)
    (b,) = define("neg").execute([on(mesh, local, Partial())])
    assert b.placements == (Partial(),)
    assert torch.equal(b.to_local(), -local)


def test_dtensor_parameter_and_requires_grad(mesh: DeviceMesh) -> None:
    d = on(mesh, torch.randn(4, 6))
    for a in (torch.nn.Parameter(d), d.detach().requires_grad_()):
        (b,) = define().execute([a])
        assert not b.requires_grad
        assert torch.equal(b.to_local(), d.to_local())


def test_dtensor_with_a_freed_spec(mesh: DeviceMesh) -> None:
    fd = define()
    d = on(mesh, torch.randn(4, 6))
    fd.execute([d])
    spec = d._spec
    del d._spec
    assert error_of(RuntimeError, lambda: fd.execute([d])) == (
        "execute: a DTensor must have a spec and a local tensor: argument 0 has lost its spec; make it with "
        "DTensor.from_local or distribute_tensor"
    )
    d._spec = spec
    assert torch.equal(fd.execute([d])[0].to_local(), d.to_local())


def test_specs_that_are_freed_and_made_again_are_never_confused(mesh: DeviceMesh) -> None:
    fd = define()
    for i in range(300):
        placement = (Shard(0), Replicate(), Shard(1))[i % 3]
        local = torch.randn(2 + i % 5, 3)
        (b,) = fd.execute([on(mesh, local, placement)])
        assert b.placements == (placement,)
        assert b.shape == local.shape


def test_a_spec_that_is_changed_in_place_is_read_anew(mesh: DeviceMesh) -> None:
    fd = define()
    d = on(mesh, torch.randn(4, 6))
    assert fd.execute([d])[0].placements == (Shard(0),)
    d._spec.placements = (Replicate(),)
    d._spec.shard_order = ()
    assert fd.execute([d])[0].placements == (Replicate(),)


def test_unknown_placements_are_refused_by_name(mesh: DeviceMesh) -> None:
    from torch.distributed.tensor.placement_types import _MaskPartial

    class MyShard(Shard):
        pass

    fd = define()
    for placement in (_MaskPartial(offset_shape=torch.Size([4]), offset_dim=0), MyShard(0)):
        d = on(mesh, torch.randn(4, 6))
        d._spec.placements = (placement,)
        text = error_of(TypeError, lambda d=d: fd.execute([d]))
        assert text.startswith(
            "execute: placements must be Replicate, Shard, _StridedShard or Partial: argument 0 has placement "
        )
        assert f"of class {type(placement).__qualname__}; redistribute it to one of those first" in text
    d = on(mesh, torch.randn(4, 6))
    d._spec.placements = (Partial("my_sum"),)
    assert error_of(RuntimeError, lambda: fd.execute([d])) == (
        "execute: partial values combine by sum, avg, max, min or product: argument 0 has placement Partial('my_sum'); "
        "redistribute it to Replicate() or Shard(dim) first"
    )


def test_two_meshes_that_compare_equal_with_different_groups(mesh: DeviceMesh) -> None:
    other = DeviceMesh.from_group(dist.new_group([0]), "cpu", mesh=[0])
    assert other == mesh
    assert other.get_group().group_name != mesh.get_group().group_name
    fd = define_sum()
    a, b = on(mesh, torch.randn(2, 3)), on(other, torch.randn(2, 3))
    assert fd.execute([a, a])[0].device_mesh is mesh
    assert fd.execute([b, b])[0].device_mesh is other
    assert fd.execute([a, a])[0].device_mesh is mesh
    assert error_of(RuntimeError, lambda: fd.execute([a, b])) == (
        "execute: distributed tensors must lie over one mesh: argument 1 is on DeviceMesh{0}, which is equal to the mesh of "
        "the ones before but runs on other process groups; make all DTensors of a call with one DeviceMesh object"
    )


def test_mixed_dtensor_and_plain_tensors(mesh: DeviceMesh) -> None:
    fd = define_sum()
    a = torch.randn(2, 3)
    d = on(mesh, a)
    text = error_of(RuntimeError, lambda: fd.execute([d, a]))
    assert text.startswith("execute: distributed and plain tensors cannot be mixed in one call: input 0, tv0, is distributed")
    assert "make the plain one a DTensor (DTensor.from_local(tensor, mesh, [Replicate(), ...])" in text
    with FusionDefinition() as mixed:
        x, y = mixed.define_tensor([-1, -1]), mixed.define_tensor([], is_cpu=True)
        mixed.add_output(mixed.ops.add(x, y))
    text = error_of(RuntimeError, lambda: mixed.execute([d, torch.tensor(2.0)]))
    assert "pass a Python number for a 0-dim tensor" in text
    assert torch.equal(fd.execute([d, d])[0].to_local(), a + a)
    assert torch.equal(fd.execute([a, a])[0], a + a)


def test_subclass_of_dtensor(mesh: DeviceMesh) -> None:
    class MyDTensor(DTensor):
        pass

    d = on(mesh, torch.randn(2, 3))
    mine = torch.Tensor._dtensor__new__(MyDTensor, d._local_tensor, d._spec, requires_grad=False)
    text = error_of(TypeError, lambda: define().execute([mine]))
    assert "MyDTensor, a subclass of DTensor that meshfuse does not know; pass a DTensor" in text


def test_destroyed_process_group() -> None:
    fd = define()
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    mesh = DeviceMesh("cpu", [0])
    a = torch.randn(2, 3)
    d = on(mesh, a)
    fd.execute([d])
    dist.destroy_process_group()
    text = error_of(RuntimeError, lambda: fd.execute([d]))
    assert text.startswith(
        "execute: a mesh needs its process groups: torch.distributed is not initialized, or its process groups were "
        "destroyed, but an argument lies on DeviceMesh("
    )
    assert text.endswith("; initialize it and make the mesh and the DTensors anew")
    assert torch.equal(fd.execute([a])[0], a)

    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    fresh = on(DeviceMesh("cpu", [0]), a)
    assert torch.equal(fd.execute([fresh])[0].to_local(), a)
    del mesh, d, fresh
    gc.collect()
    dist.destroy_process_group()


def test_nothing_keeps_a_mesh_alive_after_its_group_is_destroyed() -> None:
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    mesh = DeviceMesh("cpu", [0])
    alive = weakref.ref(mesh)
    fd = define()
    results = fd.execute([on(mesh, torch.randn(2, 3))])
    del mesh, results
    gc.collect()
    assert alive() is not None  # the caches recognize it by its identity
    dist.destroy_process_group()
    gc.collect()
    assert alive() is None


def test_mesh_without_this_process() -> None:
    dist.init_process_group("fake", store=dist.HashStore(), rank=0, world_size=4)
    mesh = DeviceMesh("cpu", [2, 3])
    d = torch.Tensor._dtensor__new__(DTensor, torch.randn(2, 3), on_fake_spec(mesh), requires_grad=False)
    text = error_of(RuntimeError, lambda: define().execute([d]))
    assert text.startswith("execute: a process can use a mesh that it is in: this process is rank 0, which is not in DeviceMesh(")
    assert text.endswith("; execute on the ranks of the mesh only")
    del mesh, d
    gc.collect()
    dist.destroy_process_group()


def on_fake_spec(mesh: DeviceMesh) -> object:
    from torch.distributed.tensor._dtensor_spec import DTensorSpec, TensorMeta

    return DTensorSpec(mesh, (Replicate(),), tensor_meta=TensorMeta(torch.Size([2, 3]), (3, 1), torch.float32))


def test_uneven_dtensor_on_each_rank_of_a_mesh() -> None:
    for rank, rows in enumerate((3, 2)):
        dist.init_process_group("fake", store=dist.HashStore(), rank=rank, world_size=2)
        mesh = DeviceMesh("cpu", [0, 1])
        local = torch.randn(rows, 4)
        d = DTensor.from_local(local, mesh, [Shard(0)], run_check=False, shape=torch.Size([5, 4]), stride=(4, 1))
        (b,) = define().execute([d])
        assert b.shape == (5, 4)
        assert b.stride() == (4, 1)
        assert torch.equal(b.to_local(), local)
        # The same local sizes as part of another global tensor.
        e = DTensor.from_local(local, mesh, [Shard(0)], run_check=False)
        assert define().execute([e])[0].shape == (2 * rows, 4)
        del mesh, d, b, e
        gc.collect()
        dist.destroy_process_group()


# Numbers and other objects.


def define_number(dtype: DataType) -> FusionDefinition:
    with FusionDefinition() as fd:
        a = fd.define_tensor([-1], dtype=DataType.Double if dtype != DataType.ComplexDouble else dtype)
        fd.add_output(fd.ops.add(a, fd.define_scalar(dtype)))
    return fd


def test_numbers_are_classified_by_their_python_type() -> None:
    class Level(enum.IntEnum):
        HIGH = 7

    a = torch.zeros(2, dtype=torch.float64)
    for dtype, values in (
        (DataType.Bool, [True, False]),
        (DataType.Int, [3, -(2**63), 2**63 - 1, Level.HIGH]),
        (DataType.Double, [1.5, float("inf"), 1e308, np.float64(2.5)]),
    ):
        fd = define_number(dtype)
        for value in values:
            assert torch.equal(fd.execute([a, value])[0], a + value)
    assert define_number(DataType.Double).execute([a, float("nan")])[0].isnan().all()
    z = torch.zeros(2, dtype=torch.complex128)
    assert torch.equal(define_number(DataType.ComplexDouble).execute([z, 1 + 2j])[0], z + (1 + 2j))


def test_numbers_of_another_kind_are_refused() -> None:
    a = torch.zeros(2, dtype=torch.float64)
    for dtype, value, name in (
        (DataType.Double, 3, "double"),
        (DataType.Double, True, "double"),
        (DataType.Double, 1j, "double"),
        (DataType.Int, 1.0, "int64_t"),
        (DataType.Int, True, "int64_t"),
        (DataType.Bool, 1, "bool"),
    ):
        fd = define_number(dtype)
        text = error_of(RuntimeError, lambda fd=fd, value=value: fd.execute([a, value]))
        assert f"Scalar value {value} is not compatible with the expected data type: {name}." in text.replace("(0+1j)", "1j") or (
            isinstance(value, complex) and "is not compatible with the expected data type: double." in text
        )
        good = {DataType.Double: 1.0, DataType.Int: 1, DataType.Bool: True}[dtype]
        assert torch.equal(fd.execute([a, good])[0], a + 1)


def test_integers_beyond_64_bits() -> None:
    fd = define_number(DataType.Int)
    a = torch.zeros(2, dtype=torch.float64)
    assert error_of(ValueError, lambda: fd.execute([a, 2**63])) == (
        "execute: integers must fit 64 bits: argument 1 is 9223372036854775808; pass an integer between -2**63 and 2**63 - 1, "
        "or a float"
    )


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (None, "None"),
        ("text", "a str"),
        (np.zeros(3), "a numpy.ndarray"),
        (np.int64(3), "a numpy.int64"),
        ({}, "a dict"),
        ([[torch.ones(2, 3)]], "a list"),
        (object(), "a object"),
    ],
    ids=str,
)
def test_other_objects(value: object, found: str) -> None:
    fd = define()
    assert error_of(TypeError, lambda: fd.execute([value])) == (
        f"execute: arguments must be tensors or numbers: argument 0 is {found}; pass a tensor, a bool, an int, a float, a "
        "complex number, or a list of those"
    )
    a = torch.randn(2, 3)
    assert torch.equal(fd.execute([a])[0], a)


def test_lists_and_tuples_are_flattened_one_level() -> None:
    fd = define_sum()
    a, b = torch.randn(2, 3), torch.randn(2, 3)
    for inputs in ([a, b], (a, b), [[a, b]], [(a,), b], ([a], [b]), [a, [], b], iter([a, b]), {0: a, 1: b}.values()):
        assert torch.equal(fd.execute(inputs)[0], a + b)


def test_inputs_that_are_no_list() -> None:
    fd = define()
    for inputs, found in ((torch.ones(2, 3), "torch.Tensor"), (3, "int"), ("ab", "str"), (None, "NoneType")):
        assert error_of(TypeError, lambda inputs=inputs: fd.execute(inputs)) == (
            f"execute: inputs must be a list or tuple of arguments: got a {found}; pass execute([a, b])"
        )


# The call itself.


def test_parameters_of_execute() -> None:
    fd = define()
    a = torch.randn(2, 3)
    for call in (
        lambda: fd.execute(inputs=[a]),
        lambda: fd.execute([a], device=None),
        lambda: fd.execute([a], device="cpu"),
        lambda: fd.execute([a], device=torch.device("cpu")),
        lambda: fd.execute([a], save_repro_inputs=False, _enable_options=[], _disable_options=[]),
    ):
        results = call()
        assert type(results) is list
        assert torch.equal(results[0], a)
    for call, found in (
        (lambda: fd.execute(), "got no 'inputs'"),
        (lambda: fd.execute([a], [a]), "got 2 positional arguments"),
        (lambda: fd.execute([a], inputs=[a]), "got 'inputs' twice"),
        (lambda: fd.execute([a], other=1), "got an unexpected keyword 'other'"),
    ):
        text = error_of(TypeError, call)
        assert text.startswith(f"execute(): incompatible function arguments: {found}; call it as execute(inputs, *, device=None")
    assert error_of(ValueError, lambda: fd.execute([a], device="meta")) == (
        "execute: device must be the one that the tensors are on: got device meta and tensors on cpu; leave device out, or "
        "move the tensors"
    )
    assert "Unrecognized enable_option" in error_of(RuntimeError, lambda: fd.execute([a], _enable_options=["x"]))
    assert "Unrecognized disable_option" in error_of(RuntimeError, lambda: fd.execute([a], _disable_options=["x"]))


def test_definitions_that_cannot_run() -> None:
    assert "Fusion does not exist!" in error_of(NotImplementedError, lambda: FusionDefinition().execute([]))
    with FusionDefinition() as fd:
        fd.define_tensor([-1, -1])
    assert "Fusion is empty!" in error_of(NotImplementedError, lambda: fd.execute([torch.ones(2, 2)]))
    left = FusionDefinition()
    with pytest.raises(ZeroDivisionError), left:
        left.add_output(left.ops.set(left.define_tensor([-1, -1])))
        _ = 1 // 0
    assert "Fusion does not exist!" in error_of(NotImplementedError, lambda: left.execute([torch.ones(2, 2)]))
    with left:
        left.add_output(left.ops.set(left.define_tensor([-1, -1])))
    assert torch.equal(left.execute([torch.ones(2, 2)])[0], torch.ones(2, 2))


def test_reference_counts() -> None:
    a = torch.randn(4, 4)
    for op in ("set", "neg"):
        fd = define(op)
        inputs = [a, ]
        before = sys.getrefcount(a), sys.getrefcount(inputs), sys.getrefcount(fd)
        for _ in range(10):
            fd.execute(inputs)
        assert (sys.getrefcount(a), sys.getrefcount(inputs), sys.getrefcount(fd)) == before
        (b,) = fd.execute(inputs)
        assert sys.getrefcount(b) == 2
        gone = weakref.ref(b)
        del b
        assert gone() is None


def test_reference_counts_of_dtensors(mesh: DeviceMesh) -> None:
    fd = define()
    d = on(mesh, torch.randn(4, 4))
    fd.execute([d])
    counted = (d, d._local_tensor, d._spec, d._spec.placements, mesh, Py := d._spec.tensor_meta)
    before = [sys.getrefcount(value) for value in counted]
    for _ in range(10):
        fd.execute([d])
    assert [sys.getrefcount(value) for value in counted] == before
    assert Py is d._spec.tensor_meta
    (b,) = fd.execute([d])
    local = weakref.ref(b._local_tensor)
    del b
    assert local() is None


def test_eight_threads() -> None:
    fd = define_sum()
    start = threading.Barrier(8)
    wrong: list[int] = []

    def work(number: int) -> None:
        start.wait()
        for i in range(200):
            rows = 1 + (i + number) % 7
            a = torch.full((rows, 4), float(number))
            b = torch.full((4, rows), float(i)).t()
            if not torch.equal(fd.execute([a, b])[0], a + b):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not wrong
    assert not any(thread.is_alive() for thread in threads)


def test_large_calls_let_other_threads_run() -> None:
    fd = define()
    a = torch.randn(2048, 2048)
    ticks = 0
    done = threading.Event()

    def count() -> None:
        nonlocal ticks
        while not done.is_set():
            ticks += 1

    interval = sys.getswitchinterval()
    sys.setswitchinterval(60)  # a thread gets the lock only when it is given up
    thread = threading.Thread(target=count)
    try:
        thread.start()
        fd.execute([a])
        done.set()
    finally:
        sys.setswitchinterval(interval)
    thread.join(60)
    assert ticks > 0


def test_a_definition_made_anew_while_it_runs() -> None:
    fd = define_sum()
    a = torch.randn(3, 4)

    class Redefining(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
            with fd:
                fd.add_output(fd.ops.neg(fd.define_tensor([-1, -1])))
            return func(*args, **(kwargs or {}))

    with Redefining():
        (b,) = fd.execute([a, a])
    assert torch.equal(b, a + a)
    assert torch.equal(fd.execute([a])[0], -a)
