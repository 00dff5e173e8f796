"""What the comparison of random fusions takes for a difference, and what it doesn't."""

import itertools
import math

import pytest
import torch
from comparison import moved, random_direction
from products import product_in_some_order
from programs import Step

DRAWS = 200


def drawn(operand: torch.Tensor) -> list[float]:
    """What a product of all elements is taken to be."""
    generator = torch.Generator().manual_seed(0)
    result = operand.prod().double()
    return [float(product_in_some_order(operand, [0], result, generator)) for _ in range(DRAWS)]


def in_each_order(operand: torch.Tensor) -> set[float]:
    """Brute force: factors one after the other."""
    results = set()
    for factors in itertools.permutations(operand.float().tolist()):
        product = torch.tensor(1.0)
        for factor in factors:
            product = product * factor
        results.add(float(product))
    return results


@pytest.mark.parametrize(
    "factors",
    [
        [1e30, -1e30, 1e-30, 1e-30],
        [1e30, 1e30, 0.0],
        [1e-30, 1e-30, math.inf],
        [1e-30, 1e-30, 1e20],
        [1e30, 1e30, 1e30],
        [2.0, -3.0, 0.5],
        [math.inf, 0.0, 1.0],
        [1e30, math.nan, 1e30],
    ],
    ids=str,
)
def test_a_product_is_what_some_order_of_its_factors_gives(factors):
    operand = torch.tensor(factors)
    draws = drawn(operand)
    kinds = {(math.isnan(x), math.isinf(x), x == 0) for x in draws}
    finite = [x for x in draws if math.isfinite(x)]
    for x in in_each_order(operand):
        if math.isfinite(x) and x != 0:
            assert min(finite) <= x <= max(finite)
        else:
            assert (math.isnan(x), math.isinf(x), x == 0) in kinds


def test_a_product_that_no_order_changes_is_that_number():
    for factors in ([2.0, -3.0, 0.5], [math.inf, 2.0], [0.0, 3.0], [1e20, 1e-20, 1e10]):
        operand = torch.tensor(factors)
        assert set(drawn(operand)) == {float(operand.double().float().prod())}
    assert all(math.isnan(x) for x in drawn(torch.tensor([math.inf, 0.0])))


def test_a_sum_of_complex_numbers_is_exact_but_for_infinite_ones():
    x = torch.tensor([1 + 2j, complex(math.inf, 1), complex(-3, math.inf)], dtype=torch.complex64)
    step = Step("fd.ops.add({0}, {1})", (0, 0), (1,))
    generator = torch.Generator().manual_seed(0)
    draws = torch.stack([moved(step, [x, x], x + x, generator, 1.0) for _ in range(DRAWS)])
    assert bool((draws[:, 0] == 2 + 4j).all())
    assert bool(draws[:, 1:].isnan().any(0).all())


def test_errors_are_as_large_as_they_may_be_and_smaller():
    x = random_direction(torch.Size([1000]), torch.Generator().manual_seed(0))
    assert {-1.0, 0.0, 1.0} <= set(x.tolist())
    assert len(set(x.tolist())) > 300
    assert float(x.abs().max()) == 1


def test_the_terms_of_a_lerp_may_cancel():
    start, end = torch.tensor([1000.0], dtype=torch.float64), torch.tensor([-1.0])
    step = Step("fd.ops.lerp({0}, {1}, 0.999)", (0, 1), (2,))
    generator = torch.Generator().manual_seed(0)
    result = torch.lerp(start, end.double(), 0.999)
    draws = [float(moved(step, [start, end], result, generator, 1.0)) for _ in range(DRAWS)]
    eps = torch.finfo(torch.float64).eps
    assert 1000 * eps < max(abs(x - float(result)) for x in draws) < 30000 * eps


def test_remainders_of_large_quotients_are_unknown():
    x, y = torch.tensor([3.0, 3.0, 7.5]), torch.tensor([1e-42, 2.0, -2.0])
    step = Step("fd.ops.mod({0}, {1})", (0, 1), (2,))
    generator = torch.Generator().manual_seed(0)
    result = torch.tensor([1e-43, 1.0, 1.5])
    draws = torch.stack([moved(step, [x, y], result, generator, 1.0) for _ in range(DRAWS)])
    assert bool(draws[:, 0].isnan().any())
    assert {0.0, float(result[0])} <= set(draws[:, 0].tolist())
    assert torch.equal(draws[:, 1:], result[1:].expand(DRAWS, 2))
