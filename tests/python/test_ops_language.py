"""Calling operations: what each parameter accepts, and what comes back."""

import importlib.util
import pickle
import random
import re
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from meshfuse import _C, DataType, FusionDefinition, Scalar, TensorView, ops

POINTWISE = {1: ["neg", "exp", "relu"], 2: ["add", "sub", "lt"], 3: ["where"]}


def last_call(fd: FusionDefinition) -> str:
    """The right-hand side of the last call in the fusion's text."""
    lines = [
        line
        for line in fd.fusion.print_math(False).splitlines()
        if " = " in line and "constant" not in line
    ]
    return lines[-1].split(" = ")[1]


@pytest.fixture
def fd():
    with FusionDefinition() as definition:
        yield definition


class TestTable:
    def test_every_operation_is_there_under_its_name(self):
        assert len(ops.__all__) >= 28
        for function in _C.op_functions:
            assert getattr(ops, function.__name__) is function
            assert function.__module__ == "meshfuse.ops"
            assert function.__doc__.startswith(f"{function.__name__}(")
            assert repr(function) == f"<operation meshfuse.ops.{function.__name__}>"
            assert pickle.loads(pickle.dumps(function)) is function

    def test_names_that_do_not_exist_are_absent(self, fd):
        for name in ("softmax", "mean", "argmax", "Add", "linear_"):
            with pytest.raises(AttributeError, match=name):
                getattr(fd.ops, name)

    def test_operations_cannot_be_made_or_changed(self):
        with pytest.raises(TypeError):
            type(ops.add)()
        with pytest.raises(AttributeError):
            ops.add.__name__ = "plus"

    def test_the_typed_stubs_say_what_the_table_says(self):
        path = Path(__file__).resolve().parents[2] / "tools" / "generate_op_stubs.py"
        spec = importlib.util.spec_from_file_location("generate_op_stubs", path)
        generator = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(generator)
        assert Path(_C.__file__).with_name("ops.pyi").read_text() == generator.generate()


class TestElementwise:
    @pytest.mark.parametrize("name", ["ceil", "floor", "round", "trunc"])
    def test_truth_values_are_not_rounded(self, fd, name):
        with pytest.raises(
            RuntimeError,
            match=f"{name}: Integer or floating point input is required: got Bool; cast",
        ):
            getattr(fd.ops, name)(fd.define_tensor([2], dtype=DataType.Bool))

    @pytest.mark.parametrize(
        ("arity", "name"), [(n, name) for n, names in POINTWISE.items() for name in names]
    )
    def test_positional_only_and_exactly_as_many(self, fd, arity, name):
        operands = [
            fd.define_tensor([2], dtype=DataType.Bool if name == "where" else DataType.Float)
        ]
        operands += [fd.define_tensor([2]) for _ in range(arity - 1)]
        function = getattr(fd.ops, name)
        assert isinstance(function(*operands), TensorView)
        for wrong in (operands[1:], [*operands, operands[0]]):
            with pytest.raises(TypeError, match=rf"{name}\(\): incompatible function arguments"):
                function(*wrong)
        with pytest.raises(TypeError, match="incompatible function arguments"):
            function(**{f"x{i}": operand for i, operand in enumerate(operands)})

    @pytest.mark.parametrize(
        "number",
        [
            *(2, -(2**63), True, 0.5, float("-inf"), 1j),
            *(np.float64(0.25), np.float32(0.25), np.int32(7), np.complex64(2j)),
        ],
    )
    def test_numbers_keep_their_kind(self, fd, number):
        fd.ops.mul(fd.define_tensor([2], dtype=DataType.ComplexDouble), number)
        shown = last_call(fd)
        value = eval(
            shown.removeprefix("mul(tv0, ").removesuffix(")"), {"float": float, "complex": complex}
        )
        expected = int(number) if isinstance(number, bool) else number
        assert value == expected
        assert isinstance(
            value, {"i": int, "f": float, "c": complex}[np.asarray(expected).dtype.kind]
        )

    def test_any_mix_of_tensors_scalars_and_numbers(self, fd):
        a, s = fd.define_tensor([2]), fd.define_scalar()
        for left, right in ((a, s), (s, a), (a, 1), (1.0, a), (a, a)):
            assert isinstance(fd.ops.add(left, right), TensorView)
        for left, right in ((s, s), (s, 1), (2.0, s), (2.0, 1)):
            assert isinstance(fd.ops.add(left, right), Scalar)

    def test_constants_are_folded(self, fd):
        folded = fd.ops.mul(fd.define_scalar(6), 7)
        assert str(folded).endswith(": Int = 42")
        assert not folded.is_symbolic()

    def test_promotion_is_the_languages(self, fd):
        integers = fd.define_tensor([2], dtype=DataType.Int)
        halves = fd.define_tensor([2], dtype=DataType.Half)
        assert fd.ops.add(integers, 0.5).dtype() == DataType.Double
        assert fd.ops.add(halves, halves).dtype() == DataType.Float
        assert fd.ops.set(halves).dtype() == DataType.Half
        assert fd.ops.lt(integers, 3).dtype() == DataType.Bool
        mask = fd.define_tensor([2], dtype=DataType.Bool)
        assert fd.ops.where(mask, 3.0, 5.0).dtype() == DataType.Double
        assert fd.ops.where(mask, 3, 5).dtype() == DataType.Int

    @pytest.mark.parametrize(
        "operand", [None, "1", [1], (1,), torch.ones(2), np.ones(2), 2**63, DataType.Int, object()]
    )
    def test_anything_else_is_no_operand(self, fd, operand):
        a = fd.define_tensor([2])
        with pytest.raises(
            TypeError, match=r"add\(\): incompatible function arguments: got \(tv0: Float\[2\], "
        ):
            fd.ops.add(a, operand)


class TestReductions:
    @pytest.fixture
    def tensor(self, fd):
        return fd.define_tensor([2, 3, 4])

    def shape(self, value: TensorView) -> str:
        return str(value).split(": ")[1]

    def test_all_dimensions(self, fd, tensor):
        assert self.shape(fd.ops.sum(tensor)) == "Float[]"
        assert self.shape(fd.ops.sum(tensor, DataType.Double)) == "Double[]"
        assert self.shape(fd.ops.sum(tensor, dtype=DataType.Double)) == "Double[]"

    def test_dim_is_an_integer(self, fd, tensor):
        for call in (
            lambda: fd.ops.sum(tensor, 1),
            lambda: fd.ops.sum(tensor, dim=1),
            lambda: fd.ops.sum(tensor, -2),
            lambda: fd.ops.sum(tensor, np.int64(1)),
            lambda: fd.ops.sum(tensor, 1, False, DataType.Null),
        ):
            assert self.shape(call()) == "Float[2, 4]"

    def test_dims_is_a_list_or_a_tuple(self, fd, tensor):
        for dims in ([0, 2], (0, -1), torch.Size([2, 0])):
            assert self.shape(fd.ops.max(tensor, dims)) == "Float[3]"
            assert self.shape(fd.ops.max(tensor, dims=dims, keepdim=True)) == "Float[b1, 3, b1]"

    def test_the_first_argument_by_name(self, fd, tensor):
        assert self.shape(fd.ops.sum(arg=tensor, dims=[0])) == "Float[3, 4]"

    def test_two_results_come_as_a_tuple(self, fd, tensor):
        result = fd.ops.var_mean(tensor, [1], correction=0, keepdim=True)
        assert type(result) is tuple
        assert [self.shape(value) for value in result] == ["Float[2, b1, 4]"] * 2

    @pytest.mark.parametrize(
        ("arguments", "keywords"),
        [
            ((), {"dim": [0]}),
            ((), {"dims": 0}),
            ((), {"axis": 0}),
            ((0.0,), {}),
            ((0,), {"dim": 0}),
            (([0.5],), {}),
            (({0},), {}),
            (("01",), {}),
            ((np.array([0, 1]),), {}),
            ((0, 1), {}),
            ((0, None), {}),
            ((0, False, torch.float32), {}),
            ((None,), {}),
        ],
    )
    def test_what_fits_no_call_is_a_type_error(self, fd, tensor, arguments, keywords):
        with pytest.raises(
            TypeError,
            match=r"sum\(\): incompatible function arguments: got \(.*call it as sum\(arg: ",
        ):
            fd.ops.sum(tensor, *arguments, **keywords)

    def test_the_operand_is_a_tensor(self, fd):
        for operand in (fd.define_scalar(), 1.0):
            with pytest.raises(TypeError, match="incompatible function arguments"):
                fd.ops.sum(operand)
        with pytest.raises(TypeError, match="incompatible function arguments"):
            fd.ops.sum()


class TestShapes:
    def test_keywords_of_the_reference(self, fd):
        a = fd.define_tensor([2, 3])
        assert str(fd.ops.permute(a, dims=[1, 0])).endswith("Float[3, 2]")
        assert str(fd.ops.reshape(a, new_shape=(6,))).endswith("Float[6]")
        assert str(fd.ops.broadcast_in_dim(a, shape=[2, 5, 3], broadcast_dims=[0, 2])).endswith(
            "Float[2, b5, 3]"
        )
        assert str(fd.ops.cast(a, dtype=DataType.Half)).endswith("Half[2, 3]")
        assert isinstance(fd.ops.cast(fd.define_scalar(), DataType.Int), Scalar)

    def test_an_optional_tensor_may_be_none(self, fd):
        a, w, b = fd.define_tensor([2, 3]), fd.define_tensor([4, 3]), fd.define_tensor([4])
        for result in (
            fd.ops.linear(a, w),
            fd.ops.linear(a, w, None),
            fd.ops.linear(a, arg2=w, bias=b),
        ):
            assert str(result).endswith("Float[2, 4]")

    def test_a_torch_dtype_is_no_data_type(self, fd):
        with pytest.raises(TypeError, match=r"cast\(\): incompatible function arguments"):
            fd.ops.cast(fd.define_tensor([2]), torch.float16)


def test_results_run():
    x = torch.randn(4, 6, dtype=torch.float64)
    with FusionDefinition() as fd:
        a = fd.from_pytorch(x)
        s = fd.define_scalar()
        scaled = fd.ops.mul(a, fd.ops.add(s, 1))
        variance, mean = fd.ops.var_mean(scaled, dims=[1], correction=0, keepdim=True)
        normal = fd.ops.mul(fd.ops.sub(scaled, mean), fd.ops.rsqrt(fd.ops.add(variance, 1e-5)))
        fd.add_output(normal)
    (result,) = fd.execute([x, 2.0])
    torch.testing.assert_close(
        result, torch.nn.functional.layer_norm(x * 3.0, (6,)), rtol=1e-12, atol=1e-12
    )


def test_a_call_takes_microseconds():
    """A definition of 1,000 operations takes 2 ms on a quiet machine; a shared one gets a wide margin."""
    best = float("inf")
    for _ in range(20):
        with FusionDefinition() as fd:
            value = fd.define_tensor([-1, -1])
            add = fd.ops.add
            start = time.perf_counter()
            for _ in range(1000):
                value = add(value, 1.0)
            best = min(best, time.perf_counter() - start)
    assert best < 0.02


def test_random_calls_end_in_a_value_or_a_user_error():
    seed = 20261130
    rng = random.Random(seed)
    names = [
        "arg",
        "dims",
        "dim",
        "keepdim",
        "dtype",
        "bias",
        "x0",
        "shape",
        "correction",
        "nothing",
    ]
    with FusionDefinition() as other:
        foreign = other.define_tensor([2])
    for _ in range(200):
        with FusionDefinition() as fd:
            pool = [
                *(fd.define_tensor([2, 3]), fd.define_tensor([-1, 3], True, DataType.Half)),
                *(
                    fd.define_tensor([], dtype=DataType.Bool),
                    fd.define_scalar(),
                    fd.define_scalar(3),
                ),
                *(
                    foreign,
                    None,
                    True,
                    0,
                    -1,
                    2**70,
                    0.5,
                    float("nan"),
                    1j,
                    "x",
                    DataType.Int,
                    DataType.Null,
                ),
                *(
                    [],
                    [0],
                    (1, 0),
                    [2, 3],
                    [-1, 0.5],
                    [None],
                    torch.ones(2),
                    object(),
                    np.float32(1),
                ),
            ]
            for _ in range(20):
                function = rng.choice(_C.op_functions)
                arguments = rng.choices(pool, k=rng.randrange(5))
                keywords = {name: rng.choice(pool) for name in rng.sample(names, rng.randrange(3))}
                try:
                    function(*arguments, **keywords)
                except (TypeError, RuntimeError, ValueError, IndexError) as error:
                    text = str(error)
                    # The op, the rule, what was found, the way out.
                    form = rf"{function.__name__}(\(\))?: .+: .+; .+"
                    assert re.fullmatch(form, text, re.DOTALL), (seed, text)
                    assert "internal" not in text, (seed, text)
            assert fd.fusion.print_math(False)
            assert repr(fd)
