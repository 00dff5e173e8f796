"""Writes into DTensors on one process: what counts as written, what is given back, what is refused."""

import pytest
import torch
from entry_definitions import error_of, on
from torch.distributed import _functional_collectives as funcol
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import Partial, Replicate, Shard

from meshfuse import DataType, FusionDefinition, validate_with_auto_inferred_outputs


def negate(dtype: DataType = DataType.Float) -> FusionDefinition:
    """x <- -x, which is returned with x itself and the old x's double."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], dtype=dtype)
        value = fd.ops.neg(x)
        fd.add_output(value, x)
        fd.add_output(value)
        fd.add_output(fd.ops.mul(x, 2.0))
        fd.add_output(x)
    return fd


def test_the_dtensor_is_written_counted_and_given_back(mesh: DeviceMesh) -> None:
    fd = negate()
    for placement in (Shard(0), Shard(1), Replicate(), Partial()):
        local = torch.randn(4, 6)
        old = local.clone()
        d = on(mesh, local, placement)
        for version in (1, 2):
            before = local.clone()
            value, double, same = fd.execute([d])
            assert value is same is d
            assert d._version == version
            assert d.placements == (placement,)
            assert torch.equal(local, -before)
            assert torch.equal(double.full_tensor(), before * 2)
        assert torch.equal(local, old)


def test_versions_count_as_torch_counts_its_own_update(mesh: DeviceMesh) -> None:
    d, e = on(mesh, torch.randn(4, 6)), on(mesh, torch.randn(4, 6))
    weight = torch.ones(4, 6, requires_grad=True)
    products = [(on(mesh, weight) * t).to_local().sum() for t in (d, e)]
    negate().execute([d])
    e.neg_()
    assert d._version == e._version == 1
    for product in products:
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            product.backward()


def test_one_dtensor_beside_others(mesh: DeviceMesh) -> None:
    with FusionDefinition() as fd:
        s = fd.define_scalar()
        x, y, z = (fd.define_tensor([-1, -1]) for _ in range(3))
        fd.add_output(fd.ops.add(fd.ops.mul(x, s), z), z)
        fd.add_output(y)
    a, b, c = (on(mesh, torch.randn(4, 6), p) for p in (Shard(0), Replicate(), Shard(1)))
    wanted = a.full_tensor() * 2 + c.full_tensor()
    (result,) = fd.execute([2.0, a, b, c])
    assert result is b
    assert torch.equal(c.full_tensor(), wanted)
    assert (a._version, b._version, c._version) == (0, 0, 1)


def test_a_pending_local_tensor_is_waited_for_and_written(mesh: DeviceMesh) -> None:
    d = on(mesh, torch.ones(4, 4))
    d._local_tensor = funcol.all_reduce(torch.ones(4, 4), "sum", mesh)
    negate().execute([d])
    assert torch.equal(d.to_local() * 1, -torch.ones(4, 4))


def test_what_cannot_be_written_is_refused(mesh: DeviceMesh) -> None:
    fd = negate()
    parameter = torch.nn.Parameter(on(mesh, torch.ones(4, 6)))
    for tensor in (parameter, parameter * 2):
        text = error_of(RuntimeError, lambda t=tensor: fd.execute([t]))
        assert "requires grad; call execute under torch.no_grad()" in text
    assert parameter._version == 0
    with torch.no_grad():
        assert fd.execute([parameter])[0] is parameter
    assert parameter.requires_grad
    assert torch.equal(parameter.to_local().detach(), -torch.ones(4, 6))
    assert parameter._version == 1
    z = torch.ones(4, 6, dtype=torch.complex64)
    d = on(mesh, z)
    d._local_tensor = z.conj()
    text = error_of(RuntimeError, lambda: negate(DataType.ComplexFloat).execute([d]))
    assert "is a lazily conjugated or negated view" in text
    expanded = on(mesh, torch.ones(1, 6).expand(4, 6))
    assert "several elements lie at one address" in error_of(
        RuntimeError, lambda: fd.execute([expanded])
    )


def test_validation_compares_with_the_old_values(mesh: DeviceMesh) -> None:
    fd = negate()
    d = on(mesh, torch.randn(4, 6))
    old = d.full_tensor().clone()
    outputs = fd.validate([d])
    assert outputs[0] is d
    assert torch.equal(d.full_tensor(), -old)
    validate_with_auto_inferred_outputs(fd.fusion, outputs, [old])
