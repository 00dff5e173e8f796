"""The generated reference page says what calls really do."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest
import torch

from meshfuse import _C, DataType, FusionDefinition

PAGE = Path(_C.__file__).with_name("op_reference.md").read_text()
TORCH_NAMES = [
    (data_type.name, name)
    for data_type, name in _C.torch_dtype_names
    if data_type != DataType.Float4_e2m1fn_x2
]
NAMES = [function.__name__ for function in _C.op_functions]


def section(name: str) -> str:
    found = re.search(rf"^## {name}\n(.*?)(?=^## )", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None, name
    return found.group(1)


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    path = Path(__file__).resolve().parents[2] / "tools" / "generate_op_reference.py"
    spec = importlib.util.spec_from_file_location("generate_op_reference", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_the_one_of_this_op_table(generator: ModuleType) -> None:
    assert generator.generate() == PAGE
    assert all(f"{name}(" in section(name) for name in NAMES)


@pytest.mark.parametrize("name", [name for name in NAMES if _C.op_result(name) != "scalar"])
def test_every_operation_has_signatures_types_and_shardings(name: str) -> None:
    text = section(name)
    assert "On a mesh axis:" in text
    takes_tensors = any(
        kind in ("Tensor", "Tensors")
        for params, *_ in _C.op_overloads(name)
        for _, kind, _ in params
    )
    assert "Element types of" in text or not takes_tensors


def test_shardings_are_those_of_the_mathematics() -> None:
    for name, lines in {
        "matmul": ["S(1), S(0) -> P(sum)", "S(0), R -> S(0)", "R, S(1) -> S(1)"],
        "exp": ["R -> R", "S(0) -> S(0)"],
        "max": ["S(0) -> P(max)", "P(max) -> P(max)"],
        "neg": ["P(sum) -> P(sum)", "P(max) -> P(min)"],
        "mul": ["P(sum), R -> P(sum)"],
    }.items():
        for line in lines:
            assert f"\n{line}\n" in section(name), (name, line)
    assert "P(sum)" not in section("exp")
    assert "P(" not in section("cos")


def test_operands_with_a_type_of_their_own_are_told_apart() -> None:
    """Attention's backward takes halves, with logsumexp in Float."""
    assert "BFloat16 (logsumexp: Float)" in section("sdpfa_bwd")


def test_types_that_decide_nothing_are_not_said_to() -> None:
    """An index and a condition have types of their own, whatever the result's is."""
    for name, operand, types in (
        ("where", "x0", "Bool"),
        ("gather", "index", "Int, Int32"),
        ("embedding_fwd", "input", "Int, Int32"),
    ):
        _, text = section(name).split(f"Element types of `{operand}`:\n\n")
        assert text.startswith(f"- {types}: accepted\n"), name
    assert ": gives Int\n" in section("argsort")
    assert ": gives Bool\n" in section("eq")


def test_shape_is_there() -> None:
    assert "shape(arg, /)" in section("shape")


def test_refused_types_carry_the_text_of_the_error() -> None:
    with FusionDefinition() as fd:
        a = fd.define_tensor([6, 5], [True, True], dtype=DataType.Float)
        b = fd.define_tensor([6, 12], [True, True], dtype=DataType.Float)
        with pytest.raises(RuntimeError) as caught:
            fd.ops.gather(a, b, 1)
        fd.add_output(a)
    rule = str(caught.value).split(": got ")[0]
    assert f"`{rule}: got " in section("gather")


ONES = {DataType[name]: torch.ones(3).to(getattr(torch, dtype)) for name, dtype in TORCH_NAMES}
# 1 has the bits 0010; two of them are in a byte.
ONES[DataType.Float4_e2m1fn] = torch.full((3,), 0x22, dtype=torch.uint8).view(
    torch.float4_e2m1fn_x2
)


UNARY = [
    name
    for name in NAMES
    if [[kind for _, kind, _ in params] for params, *_ in _C.op_overloads(name)] == [["Operand"]]
]


def test_unary_operations_are_found() -> None:
    assert len(UNARY) > 40


@pytest.mark.parametrize("name", UNARY)
def test_element_types_of_results_are_those_of_torch_tensors(name: str) -> None:
    """The types that the page gives for a unary operation are those its evaluation returns."""
    ((_, results, _),) = _C.op_operand_types(name)
    for given, result in results:
        with FusionDefinition() as fd:
            fd.add_output(getattr(fd.ops, name)(fd.define_tensor([-1], dtype=DataType[given])))
        (out,) = fd.execute([ONES[DataType[given]]])
        assert out.dtype == ONES[DataType[result]].dtype, given
