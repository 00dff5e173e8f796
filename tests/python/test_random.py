"""Random ops: reproducible, advancing, within their range, and distributed as they say."""

import pytest
import torch
from meshfuse.pytorch_utils import torch_dtype_to_nvfuser_dtype

from meshfuse import DataType, FusionDefinition


def draws(seeded: bool = False) -> FusionDefinition:
    with FusionDefinition() as fd:
        options = {}
        if seeded:
            options = {
                "rng_seed": fd.define_scalar(dtype=DataType.Int),
                "rng_offset": fd.define_scalar(dtype=DataType.Int),
            }
        fd.add_output(fd.ops.uniform(-1.0, 3.0, [100, 50], **options))
        fd.add_output(fd.ops.normal(2.0, 0.5, [100, 50], **options))
    return fd


def test_the_generator_decides_and_advances() -> None:
    fd = draws()
    torch.manual_seed(5)
    first, second = fd.execute([]), fd.execute([])
    assert not torch.equal(first[0], second[0])
    for _ in range(2):
        torch.manual_seed(5)
        again = fd.execute([])
        torch.testing.assert_close(again[0], first[0], rtol=0, atol=0)
        torch.testing.assert_close(again[1], first[1], rtol=0, atol=0)
    torch.manual_seed(6)
    assert not torch.equal(fd.execute([])[0], first[0])


def test_a_seed_and_an_offset_leave_the_generator_alone() -> None:
    fd = draws(seeded=True)
    torch.manual_seed(1)
    before = torch.get_rng_state()
    first = fd.execute(
        [
            7,
            0,
        ][:2]
    )
    assert torch.equal(torch.get_rng_state(), before)
    torch.testing.assert_close(fd.execute([7, 0])[0], first[0], rtol=0, atol=0)
    assert not torch.equal(fd.execute([7, 4])[0], first[0])
    assert not torch.equal(fd.execute([8, 0])[0], first[0])


def test_threads_make_no_difference() -> None:
    fd = draws(seeded=True)
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        one = fd.execute([3, 0])
        torch.set_num_threads(2)
        two = fd.execute([3, 0])
    finally:
        torch.set_num_threads(threads)
    assert torch.equal(one[0], two[0])
    assert torch.equal(one[1], two[1])


def test_distributions() -> None:
    torch.manual_seed(0)
    uniform, normal = draws().execute([])
    assert uniform.min() >= -1
    assert uniform.max() < 3
    # Five standard errors of 5,000 draws.
    assert abs(uniform.mean() - 1) < 5 * (4 / 12**0.5) / 5000**0.5
    assert abs(normal.mean() - 2) < 5 * 0.5 / 5000**0.5
    assert abs(normal.std() - 0.5) < 5 * 0.5 / (2 * 5000) ** 0.5
    quartiles = ((uniform[..., None] < torch.tensor([0.0, 1.0, 2.0])).float().mean((0, 1))).tolist()
    assert all(abs(q - e) < 0.04 for q, e in zip(quartiles, (0.25, 0.5, 0.75), strict=True))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-1.0, 0.0), (-3.0, -2.0), (100.0, 101.0)])
def test_the_upper_bound_is_never_drawn(dtype: torch.dtype, low: float, high: float) -> None:
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.uniform(low, high, [20000], dtype=torch_dtype_to_nvfuser_dtype(dtype)))
    torch.manual_seed(0)
    (got,) = fd.execute([])
    assert got.dtype == dtype
    assert got.min() >= low
    assert got.max() < high


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_like_the_operand(dtype: torch.dtype) -> None:
    x = torch.zeros(64, 33, dtype=dtype)
    with FusionDefinition() as fd:
        a = fd.from_pytorch(x)
        fd.add_output(fd.ops.rand_like(a))
        fd.add_output(fd.ops.randn_like(a))
    uniform, normal = fd.execute([x])
    assert uniform.shape == normal.shape == x.shape
    assert uniform.dtype == normal.dtype == dtype
    assert uniform.min() >= 0
    assert uniform.max() < 1
    assert normal.min() < -1
    assert normal.max() > 1


def test_refusals() -> None:
    with (
        pytest.raises(RuntimeError, match="Random distributions only create floating point types"),
        FusionDefinition() as fd,
    ):
        fd.ops.uniform(0.0, 1.0, [3], dtype=DataType.Int)
    with pytest.raises(RuntimeError, match="must be provided together"), FusionDefinition() as fd:
        fd.ops.normal(0.0, 1.0, [3], rng_seed=fd.define_scalar(dtype=DataType.Int))
    with pytest.raises(TypeError, match="incompatible function"), FusionDefinition() as fd:
        fd.ops.uniform(0.0, 1.0, [3], rng_seed=1, rng_offset=2)
    with (
        pytest.raises(
            TypeError, match=r"normal\(mean: .*, \*, rng_seed: Scalar \| TensorView = None"
        ),
        FusionDefinition() as fd,
    ):
        fd.ops.normal(0.0, 1.0, [3], fd.define_scalar(1), fd.define_scalar(2))
    with (
        pytest.raises(RuntimeError, match="Random distributions only create floating point types"),
        FusionDefinition() as fd,
    ):
        fd.ops.rand_like(fd.define_tensor([3], dtype=DataType.Int))
    with FusionDefinition() as fd:
        powers = fd.define_tensor([3], dtype=DataType.Float8_e8m0fnu)
        for name, call in (
            ("uniform", lambda: fd.ops.uniform(0.0, 1.0, [3], dtype=DataType.Float8_e8m0fnu)),
            ("normal", lambda: fd.ops.normal(0.0, 1.0, [3], dtype=DataType.Float8_e8m0fnu)),
            ("rand_like", lambda: fd.ops.rand_like(powers)),
            ("randn_like", lambda: fd.ops.randn_like(powers)),
        ):
            text = f"{name}: random numbers have a sign and a fraction, of which powers of two have neither: got"
            with pytest.raises(RuntimeError, match=text):
                call()


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [
        ("uniform", -3e38, 3e38),
        ("uniform", 0.0, float("inf")),
        ("uniform", 3.0, 1.0),
        ("normal", 3.0, -1.0),
        ("normal", float("nan"), 1.0),
    ],
)
def test_distributions_that_do_not_exist_are_refused(
    name: str, first: float, second: float
) -> None:
    with FusionDefinition() as fd:
        fd.add_output(getattr(fd.ops, name)(first, second, [4]))
    with pytest.raises(
        RuntimeError, match=f"{name}: the range is finite in the type and not reversed"
    ):
        fd.execute([])


def test_the_order_in_memory_is_that_of_the_operand() -> None:
    x = torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last)
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.rand_like(fd.from_pytorch(x)))
    assert fd.execute([x])[0].stride() == x.stride()
