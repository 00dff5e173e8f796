"""Publicly reported failures of in-place updates, aliasing and random numbers, as cases: with static and symbolic sizes, at the
first call and at the second."""

from collections.abc import Callable, Sequence

import pytest
import torch

from meshfuse import DataType, FusionDefinition, TensorView

Build = Callable[..., None]
pytestmark = pytest.mark.parametrize("static", [False, True], ids=["symbolic", "static"])


def seeded(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


class Calls:
    """A definition, called twice on new inputs."""

    def __init__(self, build: Build, inputs: Sequence[torch.Tensor], static: bool) -> None:
        with FusionDefinition() as self.fd:
            build(self.fd, *(self.fd.from_pytorch(t, static_sizes=static) for t in inputs))

    def __call__(self, *inputs: torch.Tensor) -> list[torch.Tensor]:
        versions = [t._version for t in inputs]
        written = self.fd.fusion._written_inputs()
        results = self.fd.execute(inputs)
        for position, (tensor, version) in enumerate(zip(inputs, versions, strict=True)):
            assert tensor._version == version + (position in written)
        return results


def runs(make: Callable[[int], list[torch.Tensor]]) -> list[list[torch.Tensor]]:
    return [make(seed) for seed in range(2)]


def test_a01_a_counter_is_read_where_it_is_advanced(static: bool) -> None:
    def build(fd: FusionDefinition, v: TensorView, s: TensorView) -> None:
        n = fd.ops.add(s, 1.0)
        fd.add_output(n, alias_input=s)
        fd.add_output(fd.ops.mul(v, n))

    cases = runs(lambda seed: [seeded(4194304, seed=seed), torch.tensor(float(seed))])
    call = Calls(build, cases[0], static)
    for v, s in cases:
        wanted = v * (s + 1)
        next_s = s + 1
        (out,) = call(v, s)
        torch.testing.assert_close(out, wanted, rtol=0, atol=0)
        assert torch.equal(s, next_s)


def test_a03_two_values_from_the_old_ones(static: bool) -> None:
    def build(fd: FusionDefinition, v: TensorView, s: TensorView, t: TensorView) -> None:
        fd.add_output(fd.ops.sum(fd.ops.add(v, s)), t)
        fd.add_output(fd.ops.add(t, 1.0), s)

    cases = runs(lambda seed: [seeded(1000, seed=seed), torch.tensor(2.0), torch.tensor(5.0)])
    call = Calls(build, cases[0], static)
    for v, s, t in cases:
        wanted = (v.double() + 2).sum()
        assert call(v, s, t) == []
        torch.testing.assert_close(t.double(), wanted, rtol=1e-5, atol=1e-3)
        assert s.item() == 6


def test_a05_a_view_that_is_written_and_returned_is_one_output(static: bool) -> None:
    def build(fd: FusionDefinition, x: TensorView, y: TensorView) -> None:
        r = fd.ops.reshape(x, [1, 576])
        fd.add_output(r, alias_input=y)
        fd.add_output(r)

    cases = runs(
        lambda seed: [
            seeded(1, 1, 576, seed=seed).bfloat16(),
            torch.zeros(1, 576, dtype=torch.bfloat16),
        ]
    )
    call = Calls(build, cases[0], static)
    for x, y in cases:
        before = x.clone()
        (r,) = call(x, y)
        assert r.data_ptr() == y.data_ptr()
        assert torch.equal(y, before.view(1, 576))
        assert torch.equal(x, before)


def test_a07_what_reads_the_written_input_reads_the_old_value(static: bool) -> None:
    def build(fd: FusionDefinition, x: TensorView, y: TensorView) -> None:
        fd.add_output(fd.ops.relu(x), x)
        fd.add_output(fd.ops.add(fd.ops.broadcast_in_dim(x, [2, 10, 2], [1, 2]), y))

    cases = runs(lambda seed: [seeded(10, 2, seed=seed), seeded(2, 10, 2, seed=seed + 9)])
    call = Calls(build, cases[0], static)
    for x, y in cases:
        old = x.clone()
        (out,) = call(x, y)
        assert torch.equal(out, old + y)
        assert torch.equal(x, old.relu())


def test_a09_the_last_of_two_copies_into_one_input_stays(static: bool) -> None:
    def build(fd: FusionDefinition, x: TensorView) -> None:
        a = fd.ops.sin(x)
        fd.add_output(a, x)
        b = fd.ops.cos(a)
        fd.add_output(b, x)
        fd.add_output(a)
        fd.add_output(b)

    cases = runs(lambda seed: [seeded(2, 3, 4, seed=seed)])
    call = Calls(build, cases[0], static)
    for (x,) in cases:
        sine = x.sin()
        a, b = call(x)
        torch.testing.assert_close(a, sine)
        torch.testing.assert_close(x, sine.cos())
        assert b is x


def test_a11_a_result_of_the_old_value_beside_the_same_in_place(static: bool) -> None:
    def build(fd: FusionDefinition, x: TensorView) -> None:
        fd.add_output(fd.ops.log(x))
        fd.add_output(fd.ops.log(x), x)

    call = Calls(build, [torch.tensor(3.0)], static)
    for _ in range(2):
        x = torch.tensor(3.0)
        (y,) = call(x)
        assert y.item() == pytest.approx(1.0986, abs=1e-4)
        assert y.data_ptr() != x.data_ptr()
        assert torch.equal(x, y)


def test_a13_another_type_s_view_of_the_written_memory_is_read_as_it_was(static: bool) -> None:
    def build(fd: FusionDefinition, x: TensorView, words: TensorView) -> None:
        y = fd.ops.cast(fd.ops.add(fd.ops.mul(words, 2), 4), DataType.Int32)
        left, right = fd.ops.slice(x, [0, 0], [4, 2]), fd.ops.slice(x, [0, 5], [4, 6])
        twos = fd.ops.full([4, 3], 2, DataType.Int)
        fd.add_output(fd.ops.cat([left, twos, right], 1), x)
        fd.add_output(y)

    def make() -> torch.Tensor:
        return torch.arange(-12, 12).view(4, 6)

    call = Calls(build, [make(), make().view(torch.int32)], static)
    for _ in range(2):
        x = make()
        (y,) = call.fd.execute([x, x.view(torch.int32)])
        assert torch.equal(y, 2 * make().view(torch.int32) + 4)
        wanted = make()
        wanted[:, 2:5] = 2
        assert torch.equal(x, wanted)


def test_a15_an_update_of_what_is_the_input_itself_reaches_the_caller(static: bool) -> None:
    def update(fd: FusionDefinition, x: TensorView) -> None:
        y = fd.ops.set(x)
        fd.add_output(fd.ops.add(y, y), x)

    def identity(fd: FusionDefinition, x: TensorView) -> None:
        fd.add_output(x)

    cases = runs(lambda seed: [seeded(2, 2, seed=seed)])
    update_call, identity_call = (Calls(f, cases[0], static) for f in (update, identity))
    for (x,) in cases:
        old = x.clone()
        assert update_call(x) == []
        assert torch.equal(x, old * 2)
        (y,) = identity_call(x)
        y += y
        assert y is x
        assert torch.equal(x, old * 4)


def test_a17_all_that_is_the_input_shares_its_address(static: bool) -> None:
    def build(fd: FusionDefinition, x: TensorView) -> None:
        r = fd.ops.relu(x)
        fd.add_output(r)
        fd.add_output(r, x)
        fd.add_output(r)
        fd.add_output(x)

    cases = runs(lambda seed: [seeded(1, 2, 3, 4, seed=seed)])
    call = Calls(build, cases[0], static)
    for (x,) in cases:
        wanted = x.relu()
        results = call(x)
        assert len(results) == 3
        assert {r.data_ptr() for r in results} == {x.data_ptr()}
        assert torch.equal(x, wanted)


@pytest.mark.parametrize("dtype", [DataType.BFloat16, DataType.Half])
def test_a19_uniform_numbers_in_halves_are_below_one(static: bool, dtype: DataType) -> None:
    with FusionDefinition() as fd:
        n = 1024 if static else fd.define_scalar(DataType.Int)
        fd.add_output(fd.ops.uniform(0.0, 1.0, [16, n], dtype=dtype))
    for seed in range(50):
        torch.manual_seed(seed)
        (x,) = fd.execute([] if static else [1024])
        assert x.shape == (16, 1024)
        assert x.min() >= 0
        assert x.max() < 1


def test_a21_a_number_that_is_broadcast_is_drawn_once(static: bool) -> None:
    n, m = 40, 7
    with FusionDefinition() as fd:
        x = fd.from_pytorch(torch.ones(n, m), static_sizes=static)
        y = fd.from_pytorch(torch.ones(n, m).t().contiguous().t(), static_sizes=static)
        rows, columns = (n, m) if static else fd.ops.shape(x)
        mask = fd.ops.lt(fd.ops.uniform(0.0, 1.0, [rows, 1]), 0.5)
        for t in (x, y):
            fd.add_output(fd.ops.where(fd.ops.expand(mask, [rows, columns]), t, 0.0))
        fd.add_output(mask)
    for seed in range(2):
        torch.manual_seed(seed)
        first, second, mask = fd.execute([torch.ones(n, m), torch.ones(n, m).t().contiguous().t()])
        assert torch.equal(first, mask.float().expand(n, m))
        assert torch.equal(second, first)
        assert 0 < mask.sum() < n
