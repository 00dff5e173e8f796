"""validate: results against the same definition in double, or against the caller's references."""

import math

import pytest
import torch
from entry_definitions import error_of

from meshfuse import (
    DataType,
    FusionDefinition,
    get_val_tolerances,
    validate_with_auto_inferred_outputs,
)


def gelu_of_sum(dtype: DataType = DataType.Float) -> FusionDefinition:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], dtype=dtype)
        y = fd.ops.sum(x, [1])
        fd.add_output(fd.ops.mul(y, fd.ops.erf(y)))
        fd.add_output(fd.ops.gt(y, 0.0))
    return fd


def test_right_results_are_returned():
    x = torch.randn(5, 300)
    y = x.sum(1)
    outputs = gelu_of_sum().validate([x])
    torch.testing.assert_close(outputs[0], y * torch.erf(y))
    assert torch.equal(outputs[1], y > 0)
    # Given references, and an iterator of inputs.
    gelu_of_sum().validate(iter([x]), [y * torch.erf(y), y > 0])


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16, torch.complex64])
@pytest.mark.parametrize("layout", ["contiguous", "transposed", "strided", "expanded", "empty"])
def test_types_and_layouts(dtype: torch.dtype, layout: str) -> None:
    base = torch.randn(6, 8).to(dtype)
    x = {
        "contiguous": base,
        "transposed": base.t(),
        "strided": base[::2, 1::3],
        "expanded": base[:1].expand(4, 8),
        "empty": base[:0],
    }[layout]
    with FusionDefinition() as fd:
        a = fd.from_pytorch(x)
        fd.add_output(fd.ops.sum(fd.ops.mul(fd.ops.exp(a), a), [0]))
        fd.add_output(fd.ops.cast(a, DataType.ComplexFloat if dtype.is_complex else DataType.Half))
    before = x.clone()
    (total, _) = fd.validate([x])
    assert torch.equal(x, before)
    assert total.shape == x.shape[1:]


def test_scalars_lists_and_gradients():
    with FusionDefinition() as fd:
        a = fd.define_tensor([-1])
        n, m = fd.define_vector(2)
        s = fd.define_scalar(DataType.Float)
        fd.add_output(fd.ops.mul(fd.ops.add(a, fd.ops.mul(n, m)), s))
    x = torch.nn.Parameter(torch.randn(3))
    (output,) = fd.validate([x, [2, 3], 0.1])
    torch.testing.assert_close(output, ((x + 6) * 0.1).detach())
    assert not output.requires_grad


def test_a_wrong_result_is_told_with_its_place():
    fd = gelu_of_sum()
    x = torch.full((2, 4), 0.5)
    outputs = fd.execute([x])
    validate_with_auto_inferred_outputs(fd.fusion, outputs, [x])
    outputs[0][1] += 1e-3
    text = error_of(
        RuntimeError, lambda: validate_with_auto_inferred_outputs(fd.fusion, outputs, [x])
    )
    right = 2 * math.erf(2)
    assert text.startswith(
        "validate: results equal the definition evaluated operation by operation: output 0 differs in 1 of 2 elements, "
        f"first at [1]: {outputs[0][1].item()} instead of {right}"
    )
    outputs = fd.execute([x])
    outputs[1][0] = False
    text = error_of(
        RuntimeError, lambda: validate_with_auto_inferred_outputs(fd.fusion, outputs, [x])
    )
    assert "output 1 differs in 1 of 2 elements, first at [0]: False instead of True" in text
    text = error_of(
        RuntimeError, lambda: validate_with_auto_inferred_outputs(fd.fusion, outputs[:1], [x])
    )
    assert "there are 1 outputs and 2 references" in text


def test_a_rounding_that_the_tolerance_allows_passes_and_one_beyond_it_does_not():
    fd = gelu_of_sum()
    x = torch.randn(4, 256)
    outputs = fd.execute([x])
    (atol, rtol), _ = get_val_tolerances(fd.fusion, [x])
    limit = atol * outputs[0].abs().max() + rtol * outputs[0].abs()
    validate_with_auto_inferred_outputs(fd.fusion, [outputs[0] + 0.5 * limit, outputs[1]], [x])
    error_of(
        RuntimeError,
        lambda: validate_with_auto_inferred_outputs(
            fd.fusion, [outputs[0] + 3 * limit, outputs[1]], [x]
        ),
    )


def test_references_of_the_caller():
    x = torch.randn(3, 4)
    y = x.sum(1)
    good = [y * torch.erf(y), y > 0]
    for references, found in (
        (good[:1], "there are 2 outputs and 1 references"),
        ([good[0].view(3, 1), good[1]], "output 0 has sizes [3] instead of [3, 1]"),
        ([good[0].double(), good[1]], "output 0 has type torch.float32 instead of torch.float64"),
        ([good[0] + 1, good[1]], "output 0 differs in 3 of 3 elements, first at [0]"),
        ([good[0], ~good[1]], "output 1 differs in 3 of 3 elements, first at [0]"),
    ):
        text = error_of(AssertionError, lambda given=references: gelu_of_sum().validate([x], given))
        assert text.startswith(f"validate: results equal the references: {found}")


def test_infinities_and_not_a_numbers_are_results_too():
    with FusionDefinition() as fd:
        a = fd.define_tensor([-1])
        fd.add_output(fd.ops.log(a))
    fd.validate([torch.tensor([-1.0, 0.0, math.inf, math.nan])])
    with FusionDefinition() as fd:
        a = fd.define_tensor([-1], dtype=DataType.Half)
        fd.add_output(fd.ops.cast(fd.ops.mul(a, 2.0), DataType.Half))
    # Beyond Half, but not beyond double.
    (output,) = fd.validate([torch.tensor([60000.0]).half()])
    assert output.item() == math.inf


def test_where_rounding_decides():
    with FusionDefinition() as fd:
        a = fd.define_tensor([-1])
        third = fd.ops.div(a, 3.0)
        fd.add_output(fd.ops.eq(fd.ops.mul(third, 3.0), a))
        fd.add_output(fd.ops.floor(fd.ops.mul(fd.ops.div(a, 10.0), 10.0)))
    fd.validate([torch.arange(1.0, 200.0)])


def test_tolerances():
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1, -1])
        fd.add_output(fd.ops.exp(x))
        rows = fd.ops.sum(x, [2])
        fd.add_output(rows)
        fd.add_output(fd.ops.sum(fd.ops.neg(rows), [0]))
        fd.add_output(fd.ops.cast(rows, DataType.Half))
        fd.add_output(fd.ops.cast(rows, DataType.BFloat16))
        fd.add_output(fd.ops.cast(rows, DataType.Double))
        fd.add_output(fd.ops.cast(rows, DataType.Int))
        fd.add_output(fd.ops.gt(rows, 0.0))
        fd.add_output(fd.ops.permute(fd.ops.add(x, fd.ops.sum(x, [0, 1, 2])), [2, 1, 0]))
    tolerances = get_val_tolerances(fd.fusion, [torch.randn(4, 3, 25)])
    single = 8 * torch.finfo(torch.float32).eps
    half = 8 * torch.finfo(torch.float16).eps
    double = 8 * torch.finfo(torch.float64).eps
    expected = [
        (single, single),
        (single * 5, single),
        (single * math.sqrt(25 + 4), single),
        (half * 5, half),
        (10 * half * 5, 10 * half),
        (double * 5, double),
        (0, 0),
        (0, 0),
        (single * math.sqrt(300), single),
    ]
    assert len(tolerances) == len(expected)
    for got, wanted in zip(tolerances, expected, strict=True):
        assert got == pytest.approx(wanted)
    with FusionDefinition() as fd:
        a, b = fd.define_tensor([-1, -1]), fd.define_tensor([-1, -1])
        fd.add_output(fd.ops.matmul(a, b))
    (tolerance,) = get_val_tolerances(fd.fusion, [torch.randn(2, 49), torch.randn(49, 3)])
    assert tolerance == pytest.approx((single * 7, single))


def test_the_definition_stays_as_it_is():
    with FusionDefinition() as fd:
        a = fd.define_tensor([-1])
        fd.add_output(fd.ops.neg(a))
        get_val_tolerances(fd.fusion, [torch.ones(2)])
        validate_with_auto_inferred_outputs(fd.fusion, [-torch.ones(2)], [torch.ones(2)])
        fd.add_output(fd.ops.exp(a))
    fd.execute([torch.zeros(2)])
    program = fd.explain()
    fd.validate([torch.zeros(2)])
    assert fd.explain() == program
    assert [output.tolist() for output in fd.execute([torch.zeros(2)])] == [[0, 0], [1, 1]]


def test_execute_refuses_before_anything_is_compared():
    fd = gelu_of_sum()
    assert "inputs must be a list or tuple" in error_of(
        TypeError, lambda: fd.validate(torch.ones(2, 2))
    )
    assert "tensor of dtype float" in error_of(
        RuntimeError, lambda: fd.validate([torch.ones(2, 2, dtype=torch.float64)])
    )
    assert "Unrecognized enable_option" in error_of(
        RuntimeError, lambda: fd.validate([torch.ones(2, 2)], _enable_options=["none"])
    )
    assert "device must be the one" in error_of(
        ValueError, lambda: fd.validate([torch.ones(2, 2)], device="meta")
    )
    assert "Fusion does not exist!" in error_of(
        NotImplementedError, lambda: FusionDefinition().validate([])
    )


@pytest.mark.parametrize("width", [128, 1024, 8192])
def test_wrong_results_of_chained_reductions_are_found(width):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1])
        e = fd.ops.exp(fd.ops.sub(x, fd.ops.broadcast_in_dim(fd.ops.max(x, 1), [4, width], [0])))
        total = fd.ops.broadcast_in_dim(fd.ops.sum(e, 1), [4, width], [0])
        fd.add_output(fd.ops.div(e, total))
    x = torch.randn(4, width)
    right = torch.softmax(x, 1)
    fd.validate([x], [right])
    for wrong in (torch.zeros_like(right), torch.full_like(right, 1 / width), right * 1.001):
        assert "differs in" in error_of(AssertionError, lambda w=wrong: fd.validate([x], [w]))
