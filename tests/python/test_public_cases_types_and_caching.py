"""Publicly reported failures of fusion runtimes, restated: element types, definitions called again, more than 2^31 elements.

Large cases are made of bools and of repeated elements, so that a few GiB hold them.
"""

import time
from typing import Any

import pytest
import torch
from public_cases import check_case, define, randn

from meshfuse import DataType, FusionDefinition, LRUCache, LruFusionCache

LOWEST = -(2**63)


@pytest.mark.parametrize(("count", "factor"), [(9, 1500000000), (11, 1000000000)])
def test_t01_whole_numbers_do_not_wrap_at_32_bits(count: int, factor: int) -> None:
    def build(fd: Any, a: Any) -> Any:
        return fd.ops.mul(fd.ops.iota(count), a), fd.ops.mul(fd.ops.iota(count), factor)

    check_case(
        build,
        [torch.tensor([factor])],
        lambda a: [torch.arange(count) * a] * 2,
        exact=True,
    )


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16])
def test_t03_t05_the_language_has_no_short_integers(dtype: torch.dtype) -> None:
    """They are refused by name, never widened in silence."""
    with FusionDefinition() as fd, pytest.raises((KeyError, TypeError), match=str(dtype)[6:10]):
        fd.from_pytorch(torch.ones(2, dtype=dtype))


def test_t05_products_wrap_factored_and_expanded() -> None:
    """As reported of int8, in the smallest integer type of the language."""
    x = torch.tensor([4, 2**29, -(2**30), 2**31 - 1], dtype=torch.int32)

    def build(fd: Any, a: Any) -> Any:
        factored = fd.ops.mul(fd.ops.add(fd.ops.mul(a, 6), a), 5)
        expanded = fd.ops.add(fd.ops.mul(fd.ops.mul(a, 6), 5), fd.ops.mul(a, 5))
        return factored, expanded

    check_case(build, [x], lambda a: [(a * 6 + a) * 5] * 2, exact=True)
    assert ((x * 6 + x) * 5).tolist() == [140, 1610612736, 1073741824, 2147483613]


FLOATS = [torch.float64, torch.float32, torch.float16, torch.bfloat16]
TYPES = {
    torch.float8_e4m3fn: DataType.Float8_e4m3fn,
    torch.float8_e5m2: DataType.Float8_e5m2,
    torch.float64: DataType.Double,
    torch.float32: DataType.Float,
    torch.float16: DataType.Half,
    torch.bfloat16: DataType.BFloat16,
}


@pytest.mark.parametrize("wide", FLOATS)
@pytest.mark.parametrize("narrow", [torch.float8_e4m3fn, torch.float8_e5m2])
def test_t07_eight_bit_floats_both_ways(narrow: torch.dtype, wide: torch.dtype) -> None:
    x = randn(5, 5).to(wide)

    def build(fd: Any, a: Any) -> Any:
        small = fd.ops.cast(a, TYPES[narrow])
        return fd.ops.cast(small, TYPES[wide])

    check_case(build, [x], lambda a: a.to(narrow).to(wide), exact=True)
    check_case(
        lambda fd, a: fd.ops.cast(a, TYPES[wide]), [x.to(narrow)], lambda a: a.to(wide), exact=True
    )
    (small,) = define(lambda fd, a: fd.ops.cast(a, TYPES[narrow]), [x], True).execute([x])
    assert small.dtype == narrow
    assert torch.equal(small.view(torch.uint8), x.to(narrow).view(torch.uint8))


@pytest.mark.parametrize("wide", FLOATS[1:])
def test_t07_powers_of_two(wide: torch.dtype) -> None:
    x = randn(5, 5).abs().to(wide) + 0.1

    def build(fd: Any, a: Any) -> Any:
        return fd.ops.cast(fd.ops.cast(a, DataType.Float8_e8m0fnu), TYPES[wide])

    for static in (True, False):
        fd = define(build, [x], static)
        for _ in range(2):
            (got,) = fd.execute([x])
            assert got.dtype == wide
            ratio = got.double() / x.double()
            assert bool(((ratio >= 0.5) & (ratio <= 2)).all())


def test_t09_division_of_mixed_signs() -> None:
    generator = torch.Generator().manual_seed(0)
    a = torch.randint(-1000, 1000, (1024,), generator=generator)
    b = torch.randint(1, 50, (1024,), generator=generator)
    b = torch.where(torch.arange(1024) % 2 == 0, b, -b)

    def reference(x: Any, y: Any) -> Any:
        return [torch.div(x, y, rounding_mode="trunc"), x.float() / y.float()]

    check_case(lambda fd, x, y: [fd.ops.div(x, y), fd.ops.truediv(x, y)], [a, b], reference)


def test_t09_the_lowest_number_by_minus_one_and_zero_divisors() -> None:
    a, b = torch.tensor([LOWEST, 7, -7]), torch.tensor([-1, -1, 2])
    check_case(
        lambda fd, x, y: [fd.ops.div(x, y), fd.ops.mod(x, y), fd.ops.remainder(x, y)],
        [a, b],
        lambda *_: [
            torch.tensor([LOWEST, -7, -3]),
            torch.tensor([0, 0, -1]),
            torch.tensor([0, 0, 1]),
        ],
        exact=True,
    )
    for name in ("div", "mod", "fmod", "remainder"):
        for static in (True, False):
            fd = define(lambda fd, x, y, n=name: getattr(fd.ops, n)(x, y), [a, b], static)
            # What torch raises, and what Python does.
            for kind in (RuntimeError, ZeroDivisionError):
                with pytest.raises(kind, match=f"{name}: .*ZeroDivisionError"):
                    fd.execute([a, torch.tensor([1, 0, 1])])
            assert fd.execute([a, b])[0].shape == (3,)


def test_l01_small_then_more_than_32_bits_count_then_small() -> None:
    with FusionDefinition() as fd:
        a = fd.define_tensor([-1], contiguity=True, dtype=DataType.Bool)
        fd.add_output(fd.ops.logical_not(a))
    for count in (999, 2**31 - 1, 999):
        x = torch.zeros(count, dtype=torch.bool)
        x[[1, count - 1]] = True
        (got,) = fd.execute([x])
        assert got.shape == (count,)
        assert got[:3].tolist() == [True, False, True]
        assert got[-2:].tolist() == [True, False]
        assert int(got[-1000:].sum()) == (997 if count == 999 else 999)
        del got, x


def test_l03_more_than_32_bits_count_along_a_broadcast() -> None:
    """Reported for f32[4096,64,112,112] less f32[64]; bools here, the images one image repeated."""
    shape = [2688, 64, 112, 112]
    image = randn(1, 64, 112, 112) > 0
    channel = randn(64, seed=1) > 0
    x = image.expand(shape)
    assert x.numel() > 2**31

    def build(fd: Any, a: Any, b: Any) -> Any:
        return fd.ops.bitwise_xor(a, fd.ops.broadcast_in_dim(b, [1, 64, 1, 1], [1]))

    (got,) = define(build, [x, channel], False).execute([x, channel])
    assert got.shape == x.shape
    expected = image[0] ^ channel[:, None, None]
    for i in (0, 1, 1400, 2687):
        assert torch.equal(got[i], expected)


def test_l03_a_sum_over_more_than_32_bits_count() -> None:
    def total(fd: Any, a: Any) -> Any:
        return fd.ops.sum(a, [0])

    one = torch.ones(1, dtype=torch.bool)
    fd = define(total, [one.expand(7)], False)
    for count in (7, 2**31 + 2):
        assert fd.execute([one.expand(count)])[0].item() == count


def test_l05_a_hundred_additions() -> None:
    def chain(fd: Any, a: Any) -> Any:
        for _ in range(100):
            a = fd.ops.add(a, 1.0)
        return a

    start = time.perf_counter()
    check_case(chain, [torch.zeros(8)], lambda a: a + 100)
    assert time.perf_counter() - start < 5


def test_l07_a_new_batch_size_on_every_call() -> None:
    def build(fd: Any, x: Any, scale: Any, shift: Any) -> Any:
        ops = fd.ops
        variance, mean = ops.var_mean(x, [2], 0, keepdim=True)
        normal = ops.mul(ops.sub(x, mean), ops.rsqrt(ops.add(variance, 1e-5)))
        return ops.add(ops.mul(normal, ops.add(1.0, scale)), shift)

    def sample(batch: int) -> list[torch.Tensor]:
        return [randn(batch, 3, 16), randn(batch, 1, 16, seed=1), randn(batch, 1, 16, seed=2)]

    fd = define(build, sample(2), False)
    times = []
    for batch in [*range(2, 66), *range(2, 66)]:
        inputs = sample(batch)
        start = time.perf_counter()
        (got,) = fd.execute(inputs)
        times.append(time.perf_counter() - start)
        x, scale, shift = inputs
        normal = torch.nn.functional.layer_norm(x, (16,), eps=1e-5)
        torch.testing.assert_close(got, normal * (1 + scale) + shift)
    assert sorted(times)[len(times) // 2] < 0.01


def layer() -> FusionDefinition:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 16], contiguity=True)
        fd.add_output(fd.ops.sum(fd.ops.exp(x), [1]))
    return fd


def test_l09_the_same_definition_made_32_times_has_one_executor() -> None:
    cached = LruFusionCache(max_fusions=100)(layer)
    x = randn(4, 16)
    made = [cached() for _ in range(32)]
    for fd in made:
        torch.testing.assert_close(fd.execute([x])[0], x.exp().sum(1))
    assert len({id(fd.fec) for fd in made}) == 1
    lines = cached.stats().splitlines()
    assert [line for line in lines if line.startswith("\t")] == ["\t0 -> 31 hits"]
    cache = LRUCache(100)
    executors = {id(cache.cache_compile(layer().fusion)) for _ in range(32)}
    assert len(executors) == cache.num_fusions() == 1


def test_l11_first_on_one_device_then_on_another() -> None:
    """Devices beside the CPU: meta, and CUDA's where there are two."""
    devices = [torch.device("cpu"), torch.device("meta"), torch.device("cpu")]
    devices += [torch.device("cuda", i) for i in range(min(2, torch.cuda.device_count()))]
    x = randn(4, 16)
    fd = layer()
    for _ in range(2):
        for device in devices:
            (got,) = fd.execute([x.to(device)])
            assert got.device == device
            if device.type != "meta":
                torch.testing.assert_close(got.cpu(), x.exp().sum(1))
