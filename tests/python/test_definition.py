"""Defining a fusion: inputs, dtypes and handles."""

import gc

import pytest
import torch

import meshfuse
from meshfuse import DataType, FusionDefinition, Scalar, TensorView, Val, compute_tensor_descriptor
from meshfuse import pytorch_utils as pu

T, F, N = True, False, None


def text_of(define) -> str:
    """The text of the fusion that `define` makes."""
    with FusionDefinition() as fd:
        define(fd)
    return fd.fusion.print_math(from_outputs_only=False)


def test_every_exported_name_exists_and_is_listed():
    assert meshfuse.__all__ == sorted(meshfuse.__all__)
    for name in meshfuse.__all__:
        assert getattr(meshfuse, name) is not None
    assert set(meshfuse.ops.__all__) <= set(dir(meshfuse.ops))


@pytest.mark.parametrize(
    ("sizes", "strides", "contiguity", "stride_order"),
    [
        ([2, 1, 3, 1, 4, 3], [12, 4, 4, 4, 1, 0], [T, N, T, N, T, N], [5, 4, 3, 2, 1, 0]),
        ([2, 3, 1, 5, 4], [28, 4, 14, 0, 1], [F, N, T, N, T], [4, 2, 3, 1, 0]),
        (
            [2, 2, 1, 1, 2, 2, 2],
            [8, 4, 3, 9, 2, 0, 1],
            [N, T, T, N, T, N, T],
            [5, 4, 3, 6, 2, 1, 0],
        ),
        ([2, 2, 1, 2, 4, 2], [2, 32, 1, 8, 0, 4], [F, T, T, F, N, N], [2, 5, 0, 4, 1, 3]),
        ([2, 1, 3, 1, 4], [24, 4, 8, 4, 2], [T, T, N, N, F], [4, 2, 3, 1, 0]),
        ([2, 2, 2, 2], [8, 4, 0, 2], [T, T, N, F], [3, 2, 1, 0]),
        ([], [], [], []),
        ([0, 3], [3, 1], [T, T], [1, 0]),
    ],
)
def test_tensor_descriptor_follows_the_reference_table(sizes, strides, contiguity, stride_order):
    assert compute_tensor_descriptor(sizes, strides) == (contiguity, stride_order)


class TestDefineTensor:
    def test_a_bare_shape_is_not_contiguous(self):
        assert text_of(lambda fd: fd.define_tensor([2, 3])).startswith(
            "input tv0: Float[2, 3] contiguity(f, f)"
        )

    def test_a_flag_for_all_skips_broadcasts(self):
        text = text_of(lambda fd: fd.define_tensor([-1, 1, 4], True, DataType.Half))
        assert text.startswith("input tv0: Half[i0, b1, 4] contiguity(t, n, t)")

    def test_a_flag_for_all_is_in_allocation_order(self):
        text = text_of(lambda fd: fd.define_tensor([1, 4], contiguity=True, stride_order=[0, 1]))
        assert text.startswith("input tv0: Float[b1, 4] contiguity(t, n) stride_order(0, 1)")

    def test_flags_one_by_one(self):
        text = text_of(
            lambda fd: fd.define_tensor(
                shape=[-1, 3], contiguity=[True, False], dtype=DataType.Int32
            )
        )
        assert text.startswith("input tv0: Int32[i0, 3] contiguity(t, f)")

    def test_none_beside_a_size_is_an_expanded_broadcast(self):
        text = text_of(
            lambda fd: fd.define_tensor(shape=[-1, 3, -1], contiguity=[True, None, None])
        )
        assert text.startswith("input tv0: Float[i0, b3, b(i1)] contiguity(t, n, n)")

    def test_flags_belong_to_dimensions_in_allocation_order(self):
        text = text_of(
            lambda fd: fd.define_tensor(
                shape=[-1, -1, -1], contiguity=[T, N, T], stride_order=[2, 0, 1]
            )
        )
        assert text.startswith(
            "input tv0: Float[i0, i1, b(i2)] contiguity(t, n, t) stride_order(2, 0, 1)"
        )

    def test_integers_as_second_argument_are_strides(self):
        text = text_of(lambda fd: fd.define_tensor([4, 1, 3], [3, 3, 1]))
        assert text.startswith("input tv0: Float[i0, b1, i1] contiguity(t, n, t)")

    def test_strides_with_static_sizes(self):
        text = text_of(
            lambda fd: fd.define_tensor(sizes=[4, 0, 3], strides=[1, 0, 4], static_sizes=True)
        )
        assert text.startswith(
            "input tv0: Float[4, b0, 3] contiguity(t, n, t) stride_order(0, 1, 2)"
        )

    def test_two_empty_lists_are_a_tensor_without_dimensions(self):
        assert text_of(lambda fd: fd.define_tensor([], [])).startswith("input tv0: Float[]")

    def test_row_major_order_is_the_same_as_none(self):
        with FusionDefinition() as a:
            a.define_tensor([2, 3], stride_order=[1, 0])
        with FusionDefinition() as b:
            b.define_tensor([2, 3])
        assert a.fusion == b.fusion
        assert hash(a.fusion) == hash(b.fusion)

    def test_packed_four_bit_floats_are_unpacked(self):
        text = text_of(lambda fd: fd.define_tensor([4, 8], dtype=DataType.Float4_e2m1fn_x2))
        assert text.startswith("input tv0: Float4_e2m1fn[4, 16]")
        text = text_of(
            lambda fd: fd.define_tensor(
                [4, 8], dtype=DataType.Float4_e2m1fn_x2, stride_order=[0, 1]
            )
        )
        assert text.startswith("input tv0: Float4_e2m1fn[8, 8]")

    def test_twelve_dimensions(self):
        assert text_of(lambda fd: fd.define_tensor([2] * 12)).count("2, ") == 11


class TestDefineScalar:
    @pytest.mark.parametrize(
        ("arguments", "keywords", "dtype"),
        [
            ((), {}, DataType.Double),
            ((DataType.Int,), {}, DataType.Int),
            ((), {"dtype": DataType.Bool}, DataType.Bool),
            ((None,), {"dtype": DataType.Half}, DataType.Half),
            ((None, DataType.ComplexFloat), {}, DataType.ComplexFloat),
            ((), {"value": None, "dtype": DataType.Index}, DataType.Index),
        ],
    )
    def test_without_a_value_it_is_an_input(self, arguments, keywords, dtype):
        with FusionDefinition() as fd:
            scalar = fd.define_scalar(*arguments, **keywords)
            assert scalar.dtype() == dtype
            assert scalar.is_symbolic()
        assert fd.fusion.inputs() == [scalar]

    @pytest.mark.parametrize(
        ("arguments", "keywords", "text"),
        [
            ((3,), {}, "c0: Int = 3"),
            ((0.5,), {}, "c0: Double = 0.5"),
            ((float("inf"),), {}, 'c0: Double = float("inf")'),
            ((1 + 2j,), {}, "c0: ComplexDouble = (1+2j)"),
            ((True,), {}, "c0: Int = 1"),
            ((True, DataType.Bool), {}, "c0: Bool = True"),
            ((2.75,), {"dtype": DataType.Int}, "c0: Int = 2"),
            ((3,), {"dtype": DataType.Float}, "c0: Float = 3.0"),
            ((0,), {"dtype": DataType.Bool}, "c0: Bool = False"),
        ],
    )
    def test_with_a_value_it_is_a_constant(self, arguments, keywords, text):
        with FusionDefinition() as fd:
            scalar = fd.define_scalar(*arguments, **keywords)
            assert str(scalar) == text
            assert not scalar.is_symbolic()
        assert fd.fusion.inputs() == []

    def test_a_vector_is_as_many_inputs(self):
        with FusionDefinition() as fd:
            scalars = fd.define_vector(3)
        assert [type(scalar) for scalar in scalars] == [Scalar] * 3
        assert [scalar.dtype() for scalar in scalars] == [DataType.Int] * 3
        assert fd.fusion.inputs() == scalars


class TestFromPytorch:
    def test_takes_the_layout(self):
        tensor = torch.empty(4, 3, dtype=torch.bfloat16).t()
        text = text_of(lambda fd: fd.from_pytorch(tensor))
        assert text.startswith("input tv0: BFloat16[i0, i1] contiguity(t, t) stride_order(0, 1)")

    def test_takes_the_sizes_when_asked(self):
        text = text_of(lambda fd: fd.from_pytorch(torch.empty(4, 1, 3), static_sizes=True))
        assert text.startswith("input tv0: Float[4, b1, 3] contiguity(t, n, t)")

    def test_takes_expanded_dimensions(self):
        text = text_of(lambda fd: fd.from_pytorch(torch.empty(4, 1).expand(4, 5)))
        assert text.startswith("input tv0: Float[i0, b(i1)] contiguity(t, n)")

    def test_a_parameter_and_a_meta_tensor(self):
        assert text_of(lambda fd: fd.from_pytorch(torch.nn.Parameter(torch.ones(2)))).startswith(
            "input tv0: Float[i0]"
        )
        assert text_of(lambda fd: fd.from_pytorch(torch.empty(2, device="meta"))).startswith(
            "input tv0: Float[i0]"
        )

    def test_a_tensor_without_dimensions_on_the_cpu_is_marked(self):
        assert "is_cpu=True" in repr_of(torch.tensor(1.0))
        assert "is_cpu=False" in repr_of(torch.ones(2))


def repr_of(tensor: torch.Tensor) -> str:
    with FusionDefinition() as fd:
        fd.from_pytorch(tensor)
    return repr(fd)


class TestDtypes:
    def test_both_ways_agree(self):
        for name, member in DataType.__members__.items():
            if name in ("Null", "Index", "UInt64", "Float4_e2m1fn", "Float4_e2m1fn_x2"):
                continue
            assert (
                pu.torch_dtype_to_nvfuser_dtype(pu.nvfuser_dtype_to_torch_dtype(member)) == member
            )

    @pytest.mark.parametrize(
        ("python_type", "member"),
        [
            (bool, DataType.Bool),
            (int, DataType.Int),
            (float, DataType.Double),
            (complex, DataType.ComplexDouble),
        ],
    )
    def test_python_types(self, python_type, member):
        assert pu.torch_dtype_to_nvfuser_dtype(python_type) == member
        assert pu.python_scalar_to_nvfuser_dtype(python_type(1)) == member

    @pytest.mark.parametrize(
        "dtype", [torch.int8, torch.uint8, torch.int16, torch.uint64, torch.complex32]
    )
    def test_other_types_are_refused_by_name(self, dtype):
        with pytest.raises(KeyError, match=f"got {dtype}"):
            pu.torch_dtype_to_nvfuser_dtype(dtype)

    def test_the_ones_torch_lacks_are_refused_by_name(self):
        with pytest.raises(KeyError, match=r"got DataType\.Null"):
            pu.nvfuser_dtype_to_torch_dtype(DataType.Null)
        with pytest.raises(KeyError, match="got a str"):
            pu.python_scalar_to_nvfuser_dtype("1")


class TestHandles:
    def test_kinds(self):
        with FusionDefinition() as fd:
            tensor = fd.define_tensor([2, -1])
            scalar = fd.define_scalar()
        assert isinstance(tensor, TensorView)
        assert isinstance(tensor, Val)
        assert isinstance(scalar, Scalar)
        assert isinstance(scalar, Val)
        assert (tensor.ndim, tensor.dtype(), tensor.is_tensor()) == (2, DataType.Float, True)
        assert (scalar.dtype(), scalar.is_tensor()) == (DataType.Double, False)
        assert (str(tensor), repr(scalar)) == ("tv0: Float[2, i0]", "c0: Double")

    def test_equal_and_hashed_by_value(self):
        with FusionDefinition() as fd:
            a = fd.define_tensor([2])
            b = fd.define_tensor([2])
        assert a == fd.fusion.inputs()[0]
        assert len({a, b, fd.fusion.inputs()[0]}) == 2
        assert a != b
        assert a != 1

    def test_no_arithmetic(self):
        with FusionDefinition() as fd:
            a = fd.define_tensor([2])
            with pytest.raises(TypeError):
                a + a

    def test_they_outlive_their_definition(self):
        with FusionDefinition() as fd:
            a = fd.define_tensor([2])
        del fd
        gc.collect()
        assert str(a) == "tv0: Float[2]"

    def test_they_print_after_the_object_was_defined_anew(self):
        fd = FusionDefinition()
        with fd:
            old = fd.define_tensor([2])
        with fd:
            new = fd.define_scalar()
        assert (str(old), str(new)) == ("tv0: Float[2]", "c0: Double")
