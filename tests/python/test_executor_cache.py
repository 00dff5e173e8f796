"""fd.fec, and caches that let equal definitions share an executor."""

import threading

import pytest
import torch
from entry_definitions import define, error_of
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import DTensor, Replicate, Shard

from meshfuse import (
    FusionDefinition,
    FusionExecutorCache,
    LRUCache,
    LruFusionCache,
    ParallelType,
)


def test_fec_exists_from_the_first_execution_on():
    fd = define("neg")
    text = error_of(AttributeError, lambda: fd.fec)
    assert text.startswith("fec: an executor exists from the first execution on")
    assert not hasattr(fd, "fec")
    x = torch.randn(2, 3)
    fd.execute([x])
    assert fd.fec is fd.fec
    assert isinstance(fd.fec, FusionExecutorCache)
    assert fd.fec.fusion() == fd.fusion
    for call in (
        lambda: fd.fec.execute([x]),
        lambda: fd.fec.execute((x,), device="cpu", _enable_options=["fast_math"]),
    ):
        assert torch.equal(call()[0], -x)
    with fd:
        fd.add_output(fd.ops.exp(fd.define_tensor([-1])))
    assert not hasattr(fd, "fec")
    fd.execute([torch.zeros(2)])
    assert torch.equal(fd.fec.execute([torch.zeros(2)])[0], torch.ones(2))


def test_whether_a_call_has_its_program():
    fd = define("neg")
    x, y = torch.randn(2, 3), torch.randn(3, 4)
    fd.execute([x])
    assert fd.fec.is_compiled([x])
    assert fd.fec.is_compiled([torch.ones(2, 3)], device="cpu")
    for others in ([y], [x.half()], [x, x], [2.0], []):
        assert not fd.fec.is_compiled(others)
    fd.execute([y])
    assert fd.fec.is_compiled([x])
    assert fd.fec.is_compiled([y])
    error_of(TypeError, lambda: fd.fec.is_compiled(x))


def test_how_results_lie(mesh: DeviceMesh):
    fd = define("neg")
    text = error_of(RuntimeError, lambda: FusionExecutorCache(fd.fusion).get_output_shardings())
    assert text.startswith(
        "get_output_shardings: results lie somewhere from the first execution on:"
    )
    x = torch.randn(2, 3)
    fd = define("neg")
    fd.execute([x])
    assert fd.fec.get_output_shardings() == []
    for placement, dim in ((Shard(1), 1), (Shard(0), 0), (Replicate(), -1)):
        fd.execute([DTensor.from_local(x, mesh, [placement])])
        (sharding,) = fd.fec.get_output_shardings()
        assert sharding.placements == (placement,)
        assert (sharding.mesh.shape, sharding.mesh.size, repr(sharding.mesh)) == (
            [1],
            1,
            "DeviceMesh{0}",
        )
        assert sharding.axis_sharded_on(ParallelType.mesh_x) == dim
        assert sharding.axis_sharded_on(ParallelType.mesh_y) == -1
    text = error_of(TypeError, lambda: sharding.axis_sharded_on("mesh_x"))
    assert text.startswith("axis_sharded_on(): incompatible function arguments: got 'mesh_x'; pass")


def test_an_executor_made_from_a_fusion_closes_it():
    with FusionDefinition() as fd:
        a = fd.define_tensor([-1])
        fd.add_output(fd.ops.neg(a))
        executor = FusionExecutorCache(fd.fusion, fusion_id=7, auto_schedule=True)
        assert executor.fusion_id == 7
        assert "an executed definition is closed" in error_of(
            AttributeError, lambda: fd.add_output(a)
        )
    assert torch.equal(executor.execute([torch.ones(2)])[0], -torch.ones(2))
    with FusionDefinition() as empty:
        empty.define_tensor([2])
    assert "Fusion is empty!" in error_of(
        NotImplementedError, lambda: FusionExecutorCache(empty.fusion)
    )
    assert "auto_schedule=False" in error_of(
        NotImplementedError, lambda: FusionExecutorCache(fd.fusion, auto_schedule=False)
    )


def make(size: int, number: float = 1.0) -> FusionDefinition:
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.add(fd.define_tensor([size]), number))
    return fd


def test_the_decorated_function_grows_its_cache_by_one_for_each_new_definition():
    cached = LruFusionCache(max_fusions=10)(make)
    assert cached.__name__ == "make"
    assert cached.num_fusions() == 0
    assert cached.stats().splitlines()[0].endswith("10")
    assert len(cached.stats().splitlines()) == 2
    executors = []
    for count, arguments in enumerate([(2,), (3,), (2, 2.0)], start=1):
        for _ in range(3):
            fd = cached(*arguments)
            assert cached.num_fusions() == count
            executors.append(fd.fec)
            x = torch.randn(arguments[0])
            number = arguments[1] if len(arguments) > 1 else 1.0
            assert torch.equal(fd.execute([x])[0], x + number)
            assert torch.equal(fd.fec.execute([x])[0], x + number)
    assert len({id(executor) for executor in executors}) == 3
    lines = cached.stats().splitlines()
    assert lines[1].endswith(": 3")
    assert lines[2].endswith(": 3")
    assert lines[4:7] == ["\t2 -> 2 hits", "\t1 -> 2 hits", "\t0 -> 2 hits"]
    assert lines[7].endswith(": 9")
    assert lines[8].endswith(": 6")
    assert lines[9].endswith(": 66.67%")


def test_equal_definitions_are_bound_once():
    cached = LruFusionCache()(make)
    programs = set()
    for _ in range(32):
        fd = cached(4)
        fd.execute([torch.zeros(4)])
        programs.add(id(fd.fec))
    assert len(programs) == 1
    assert cached.num_fusions() == 1


def test_a_shared_definition_is_closed_and_can_be_defined_anew():
    cached = LruFusionCache()(make)
    first, fd = cached(2), cached(2)
    assert "an executed definition is closed" in error_of(
        AttributeError, lambda: fd.define_tensor([2])
    )
    assert repr(fd) == repr(first)
    assert fd.fusion == first.fusion
    with fd:
        fd.add_output(fd.ops.neg(fd.define_tensor([2])))
    assert torch.equal(fd.execute([torch.ones(2)])[0], -torch.ones(2))
    assert torch.equal(first.execute([torch.ones(2)])[0], torch.full((2,), 2.0))


def test_the_least_recently_used_one_is_dropped():
    cache = LRUCache(2)
    two, three = cache.cache_compile(make(2).fusion), cache.cache_compile(make(3).fusion)
    assert cache.cache_compile(make(2).fusion) is two
    cache.cache_compile(make(4).fusion)
    assert cache.num_fusions() == 2
    assert cache.cache_compile(make(2).fusion) is two
    assert cache.cache_compile(make(3).fusion) is not three
    # Dropped from the cache, still good for whoever holds it.
    assert torch.equal(three.execute([torch.zeros(3)])[0], torch.ones(3))


def test_what_is_refused():
    assert "max_fusions must be positive: got 0" in error_of(RuntimeError, lambda: LRUCache(0))
    assert "max_fusions must be positive: got -1" in error_of(
        RuntimeError, lambda: LruFusionCache(-1)
    )
    text = error_of(TypeError, LruFusionCache()(lambda: 3))
    assert "the function returns a FusionDefinition" in text
    assert "returned a int" in text
    assert "Fusion does not exist!" in error_of(
        NotImplementedError, LruFusionCache()(FusionDefinition)
    )
    failing = LruFusionCache()(lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        failing()
    assert failing.num_fusions() == 0


def test_threads_share_one_executor():
    cached = LruFusionCache()(make)
    found: list[int] = []
    start = threading.Barrier(8)

    def work() -> None:
        start.wait()
        for size in range(2, 20):
            fd = cached(size)
            if torch.equal(fd.execute([torch.zeros(size)])[0], torch.ones(size)):
                found.append(id(fd.fec))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(found) == 8 * 18
    assert len(set(found)) == cached.num_fusions() == 18
