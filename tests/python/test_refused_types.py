"""A call on element types either runs or is refused when it is defined, in four parts that start with the op."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from op_comparison import ALL, make

from meshfuse import DataType, FusionDefinition, define_scalar, ops

STRUCTURED: dict[str, Callable[..., Any]] = {
    "argsort": lambda a: ops.argsort(a, 0),
    "cast": lambda a: ops.cast(a, DataType.Float),
    "cat": lambda a: ops.cat([a, a]),
    "clamp": lambda a: ops.clamp(a, 0, 1),
    "cummax": lambda a: ops.cummax(a, 0),
    "cummin": lambda a: ops.cummin(a, 0),
    "cumprod": lambda a: ops.cumprod(a, 0),
    "cumsum": lambda a: ops.cumsum(a, 0),
    "linear": lambda a: ops.linear(a, a),
    "matmul": lambda a: ops.matmul(a, ops.permute(a, [1, 0])),
    "max": lambda a: ops.max(a, [0]),
    "min": lambda a: ops.min(a, [0]),
    "pad": lambda a: ops.pad(a, [1, 1]),
    "prod": lambda a: ops.prod(a, [0]),
    "rand_like": lambda a: ops.rand_like(a),
    "randn_like": lambda a: ops.randn_like(a),
    "sum": lambda a: ops.sum(a, [0]),
    "topk": lambda a: ops.topk(a, define_scalar(1), 0),
    "triu": lambda a: ops.triu(a),
    "var": lambda a: ops.var(a, [0]),
    "var_mean": lambda a: ops.var_mean(a, [0]),
    "welford": lambda a: ops.welford(a, [0]),
}


def arity(name: str) -> int:
    """Of a pointwise op, whose parameters are x0, x1 and so on; 0 for the others."""
    signature = getattr(ops, name).__doc__.splitlines()[0]
    return sum(f"x{i}:" in signature for i in range(4))


POINTWISE = sorted(n for n in dir(ops) if type(getattr(ops, n)) is type(ops.add) and arity(n))


def call(name: str, handles: list[Any]) -> Any:
    return STRUCTURED[name](*handles) if name in STRUCTURED else getattr(ops, name)(*handles)


def test_pointwise_ops_are_found() -> None:
    assert len(POINTWISE) > 70
    assert arity("addcmul") == 4


def outcome(name: str, inputs: list[torch.Tensor]) -> str:
    """The text of a refusal; nothing if the call runs."""
    with FusionDefinition() as fd:
        handles = [fd.from_pytorch(tensor) for tensor in inputs]
        try:
            results = call(name, handles)
        except RuntimeError as error:
            fd.add_output(handles[0])
            return str(error)
        for result in results if isinstance(results, tuple) else (results,):
            fd.add_output(result)
    fd.execute(inputs)
    return ""


@pytest.mark.parametrize("name", [*POINTWISE, *STRUCTURED])
def test_a_type_is_refused_at_once_or_runs(name: str) -> None:
    texts = []
    for dtype in ALL:
        inputs = [make((2, 3), dtype, 1, 5) for _ in range(max(arity(name), 1))]
        if name == "where":
            inputs[0] = inputs[0].bool()
        texts.append(outcome(name, inputs))
    assert "" in texts
    for text in filter(None, texts):
        assert text.startswith(f"{name}: ")
        assert ": got " in text
        assert "; " in text


REFUSED = {
    "erf": (torch.complex64, "Real input is required: got ComplexFloat; cast the operands first"),
    "atan2": (torch.complex128, "Real input is required: got ComplexDouble, ComplexDouble; "),
    "maximum": (torch.complex64, "Real input is required: got ComplexFloat, ComplexFloat; "),
    "lt": (torch.complex64, "Real input is required: got ComplexFloat, ComplexFloat; "),
    "signbit": (torch.complex64, "Real input is required: got ComplexFloat; "),
    "threshold": (torch.complex64, "Real input is required: got ComplexFloat; "),
    "fmod": (torch.bool, "Integer or floating point input is required: got Bool, Bool; "),
    "lerp": (torch.bool, "Input other than Bool is required: got Bool, Bool, Bool; "),
    "matmul": (torch.bool, "products are summed in the operands' type: got Bool; cast the oper"),
    "linear": (torch.bool, "products are summed in the operands' type: got Bool; cast the oper"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_said(name: str) -> None:
    dtype, text = REFUSED[name]
    with FusionDefinition() as fd:
        handles = [fd.from_pytorch(make((2, 2), dtype))] * max(arity(name), 1)
        with pytest.raises(RuntimeError) as caught:
            call(name, handles)
    assert str(caught.value).startswith(f"{name}: {text}")


def refusal(build: Callable[[FusionDefinition], Any], kind: type[Exception]) -> str:
    with FusionDefinition() as fd, pytest.raises(kind) as caught:
        build(fd)
    return str(caught.value)


LARGE = 2**62
OVERFLOW = "sizes and their products must fit in 64 bits: "


def test_promotion_names_the_op() -> None:
    text = refusal(lambda fd: fd.ops.mul(fd.define_tensor([2], dtype=DataType.Half), 1j), TypeError)
    assert text.startswith("mul: a complex number needs a Float or Double tensor beside it: got ")
    text = refusal(
        lambda fd: fd.ops.lt(
            fd.define_tensor([2], dtype=DataType.UInt64), fd.define_tensor([2], dtype=DataType.Int)
        ),
        TypeError,
    )
    assert text == (
        "lt: UInt64 combines with no signed integer type: got UInt64 and Int; cast one of the two"
    )


def test_numbers_that_a_type_does_not_hold_name_the_op() -> None:
    text = refusal(lambda fd: fd.define_scalar(1e30, DataType.Int), ValueError)
    assert text.startswith("define_scalar: a number that becomes Int must be finite")
    text = refusal(lambda fd: fd.ops.cast(fd.define_scalar(1e30), DataType.Int), ValueError)
    assert text.startswith("cast: a number that becomes Int must be finite")


def test_sizes_that_overflow_name_the_op() -> None:
    for name, build in (
        ("pad", lambda fd: fd.ops.pad(fd.define_tensor([4]), [LARGE, 2 * LARGE - 1])),
        ("reshape", lambda fd: fd.ops.reshape(fd.define_tensor([LARGE, LARGE]), [-1])),
        ("cat", lambda fd: fd.ops.cat([fd.define_tensor([LARGE])] * 2)),
    ):
        text = refusal(build, ValueError)
        assert text.startswith(f"{name}: {OVERFLOW}")
        assert text.endswith(" overflows; use smaller sizes")


def test_sizes_that_overflow_when_executed_name_the_op() -> None:
    with FusionDefinition() as fd:
        width = fd.define_scalar(DataType.Int)
        fd.add_output(fd.ops.pad(fd.define_tensor([-1]), [width, 1]))
    with pytest.raises(ValueError, match=f"pad: {OVERFLOW}the sum of "):
        fd.execute([2**63 - 1, torch.ones(3)])
    assert fd.execute([1, torch.ones(3)])[0].tolist() == [0, 1, 1, 1, 0]


@pytest.mark.parametrize(
    "build",
    [
        lambda a, b: ops.minimum(a, b),
        lambda a, b: ops.lt(a, b),
        lambda a, b: ops.eq(a, b),
        lambda a, b: ops.where(ops.lt(a, 2), a, b),
        lambda a, b: ops.threshold(a, b, 0),
    ],
)
@pytest.mark.parametrize("number", [2**40, -(2**31) - 1])
def test_numbers_are_not_wrapped_where_they_are_compared(
    build: Callable[[Any, Any], Any], number: int
) -> None:
    for constant in (True, False):
        with FusionDefinition() as fd:
            a = fd.define_tensor([-1], dtype=DataType.Int32)
            b = fd.define_scalar(number) if constant else fd.define_scalar(DataType.Int)
            fd.add_output(build(a, b))
        inputs = [torch.tensor([1, 3], dtype=torch.int32)] + ([] if constant else [number])
        with pytest.raises(RuntimeError, match="which Int32 does not hold; cast the tensors"):
            fd.execute(inputs)


@pytest.mark.parametrize("name", ["sum", "prod"])
def test_uint64_has_no_sum(name: str) -> None:
    with FusionDefinition() as fd:
        a = fd.define_tensor([-1], dtype=DataType.UInt64)
        b = fd.define_tensor([-1], dtype=DataType.Int)
        with pytest.raises(RuntimeError, match=f"{name}: Input and dtype other than UInt64"):
            getattr(ops, name)(a, [0])
        with pytest.raises(RuntimeError, match=f"{name}: Input and dtype other than UInt64"):
            getattr(ops, name)(b, [0], dtype=DataType.UInt64)
        fd.add_output(a)


def test_bounds_of_powers_of_two_and_ranges_of_small_types() -> None:
    x = torch.tensor([0.25, 1.0, 8.0]).to(torch.float8_e8m0fnu)
    with FusionDefinition() as fd:
        a = fd.define_tensor([-1], dtype=DataType.Float8_e8m0fnu)
        fd.add_output(ops.clamp(a, None, None))
        fd.add_output(ops.clamp(a, 1.0, None))
        fd.add_output(ops.clamp(a, None, 2.0))
    kept, raised, lowered = (result.float().tolist() for result in fd.execute([x]))
    assert (kept, raised, lowered) == ([0.25, 1, 8], [1, 1, 8], [0.25, 1, 2])
    for dtype in (DataType.Float8_e4m3fn, DataType.Float8_e5m2, DataType.Half, DataType.BFloat16):
        with FusionDefinition() as fd:
            low, high = fd.define_scalar(-1.0), fd.define_scalar(0.0)
            fd.add_output(ops.uniform(low, high, [4000], dtype=dtype))
        (numbers,) = fd.execute([])
        assert ((numbers.float() >= -1) & (numbers.float() < 0)).all()
    with FusionDefinition() as fd:
        low, high = fd.define_scalar(0.0), fd.define_scalar(1e10)
        fd.add_output(ops.uniform(low, high, [4], dtype=DataType.Half))
    with pytest.raises(RuntimeError, match="uniform: the range is finite in the type"):
        fd.execute([])
