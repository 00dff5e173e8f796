"""DTensors as arguments: every state and placement that one can be in, on one process."""

import gc
import sys
import weakref

import pytest
import torch
import torch.distributed as dist
from entry_definitions import define, define_sum, error_of, on
from torch.distributed import _functional_collectives as funcol
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard

from meshfuse import (
    DataType,
    FusionDefinition,
    execute_with_dtensors,
    validate_with_auto_inferred_outputs,
)


def on_fake_spec(mesh: DeviceMesh) -> object:
    from torch.distributed.tensor._dtensor_spec import DTensorSpec, TensorMeta

    return DTensorSpec(
        mesh, (Replicate(),), tensor_meta=TensorMeta(torch.Size([2, 3]), (3, 1), torch.float32)
    )


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
        assert (
            f"of class {type(placement).__qualname__}; redistribute it to one of those first"
            in text
        )
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
    assert text.startswith(
        "execute: distributed and plain tensors cannot be mixed in one call: input 0, tv0, is distributed"
    )
    assert (
        "make the plain one a DTensor (DTensor.from_local(tensor, mesh, [Replicate(), ...])" in text
    )
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
    text = error_of(RuntimeError, lambda d=d: fd.execute([d]))
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
    d = torch.Tensor._dtensor__new__(
        DTensor, torch.randn(2, 3), on_fake_spec(mesh), requires_grad=False
    )
    text = error_of(RuntimeError, lambda d=d: define().execute([d]))
    assert text.startswith(
        "execute: a process can use a mesh that it is in: this process is rank 0, which is not in DeviceMesh("
    )
    assert text.endswith("; execute on the ranks of the mesh only")
    del mesh, d
    gc.collect()
    dist.destroy_process_group()


def test_uneven_dtensor_on_each_rank_of_a_mesh() -> None:
    for rank, rows in enumerate((3, 2)):
        dist.init_process_group("fake", store=dist.HashStore(), rank=rank, world_size=2)
        mesh = DeviceMesh("cpu", [0, 1])
        local = torch.randn(rows, 4)
        d = DTensor.from_local(
            local, mesh, [Shard(0)], run_check=False, shape=torch.Size([5, 4]), stride=(4, 1)
        )
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


def test_reference_counts_of_dtensors(mesh: DeviceMesh) -> None:
    fd = define()
    d = on(mesh, torch.randn(4, 4))
    fd.execute([d])
    counted = (d, d._local_tensor, d._spec, d._spec.placements, mesh, d._spec.tensor_meta)
    before = [sys.getrefcount(value) for value in counted]
    for _ in range(10):
        fd.execute([d])
    assert [sys.getrefcount(value) for value in counted] == before
    (b,) = fd.execute([d])
    local = weakref.ref(b._local_tensor)
    del b
    assert local() is None


def test_a_local_part_of_other_sizes_than_its_placements_give(mesh: DeviceMesh) -> None:
    d = DTensor.from_local(
        torch.ones(1, 2), mesh, [Shard(0)], run_check=False, shape=torch.Size([8, 2]), stride=(2, 1)
    )
    for op in ("set", "neg"):
        text = error_of(ValueError, lambda op=op: define(op).execute([d]))
        assert (
            "of global sizes [8, 2] on DeviceMesh{0} cpu (S(0)) has local sizes [1, 2] instead of [8, 2]"
            in text
        )


def test_validate_compares_whole_tensors(mesh: DeviceMesh) -> None:
    x = torch.randn(4, 6)
    d = on(mesh, x)
    with FusionDefinition() as fd:
        a = fd.define_tensor([-1, -1])
        fd.add_output(fd.ops.exp(fd.ops.sum(a, [0])))
    (b,) = fd.validate([d])
    assert type(b) is DTensor
    wanted = x.sum(0).exp()
    for reference in (wanted, DTensor.from_local(wanted, mesh, [Replicate()])):
        fd.validate([d], [reference])
    assert "output 0 differs in 6 of 6 elements" in error_of(
        AssertionError, lambda: fd.validate([d], [wanted + 1])
    )
    validate_with_auto_inferred_outputs(fd.fusion, [b], [d])
    assert "output 0 differs in 6 of 6 elements" in error_of(
        RuntimeError, lambda: validate_with_auto_inferred_outputs(fd.fusion, [b + 1], [d])
    )


def test_execute_with_dtensors(mesh: DeviceMesh) -> None:
    x, y = torch.randn(4, 6), torch.randn(4, 6)
    fd = define_sum()
    (b,) = execute_with_dtensors(fd, (on(mesh, x), on(mesh, y)))
    assert type(b) is DTensor
    assert torch.equal(b.to_local(), x + y)
    assert "argument 1 is a Tensor" in error_of(
        AssertionError, lambda: execute_with_dtensors(fd, [on(mesh, x), y])
    )
    named = DeviceMesh("cpu", [0], mesh_dim_names=("tp",))
    assert "the same dimension names: got [None, ('tp',)]" in error_of(
        AssertionError, lambda: execute_with_dtensors(fd, [on(mesh, x), on(named, y)])
    )


def test_a_repro_has_no_dtensors(mesh: DeviceMesh) -> None:
    fd = define()
    d = on(mesh, torch.randn(4, 6))
    text = "a program of one process has plain tensors and numbers: argument 0 is a DTensor"
    assert text in error_of(TypeError, lambda: fd.repro_script_for([d]))
    assert text in error_of(TypeError, lambda: fd.execute([d], save_repro_inputs=True))
    assert torch.equal(fd.execute([d])[0].to_local(), d.to_local())
