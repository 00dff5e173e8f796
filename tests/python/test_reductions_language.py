"""Calling reductions, scans, sorts, triu and clamp: results' types and the texts of refusals."""

import pytest

from meshfuse import DataType, FusionDefinition, Scalar, TensorView


@pytest.fixture
def fd():
    with FusionDefinition() as definition:
        yield definition


class TestReductions:
    @pytest.fixture
    def tensor(self, fd):
        return fd.define_tensor([2, 3, 4])

    def shape(self, value: TensorView) -> str:
        return str(value).split(": ")[1]

    @pytest.mark.parametrize("name", ["sum", "prod", "max", "min"])
    def test_all_four_have_the_same_calls(self, fd, tensor, name):
        function = getattr(fd.ops, name)
        assert self.shape(function(tensor)) == "Float[]"
        assert self.shape(function(tensor, -1, True)) == "Float[2, 3, b1]"
        assert self.shape(function(tensor, dims=[0, 1])) == "Float[4]"

    def test_types_of_results(self, fd):
        def tensor(dtype: DataType) -> TensorView:
            return fd.define_tensor([2, 3], dtype=dtype)

        for dtype in (DataType.Bool, DataType.Int32, DataType.Int):
            assert fd.ops.prod(tensor(dtype)).dtype() == DataType.Int
            assert fd.ops.min(tensor(dtype)).dtype() == dtype
            assert fd.ops.cumsum(tensor(dtype), 0).dtype() == dtype
            assert fd.ops.var(tensor(dtype), [0]).dtype() == DataType.Double
            assert fd.ops.argsort(tensor(dtype), 0).dtype() == DataType.Int
        half = tensor(DataType.Half)
        assert fd.ops.prod(half).dtype() == DataType.Half
        assert fd.ops.prod(half, 0, dtype=DataType.Float).dtype() == DataType.Float
        assert fd.ops.var(half, [0]).dtype() == DataType.Float
        assert fd.ops.clamp(half, 0.5, None).dtype() == DataType.Half
        types = [value.dtype() for value in fd.ops.welford(half, [0])]
        assert types == [DataType.Half, DataType.Half, DataType.Int]
        types = [value.dtype() for value in fd.ops.topk(half, fd.define_scalar(2))]
        assert types == [DataType.Half, DataType.Int]
        assert fd.ops.var(tensor(DataType.ComplexFloat), [0]).dtype() == DataType.ComplexFloat

    @pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "var", "welford"])
    def test_dims_that_cannot_be_reduced(self, fd, tensor, name):
        function = getattr(fd.ops, name)
        for dims, text in (
            ([], "No reduction axis specified: got no dims for tv0 of type Float"),
            ([1, -2], r"Reduction axes are not unique: got \[1, -2\] for a tensor of rank 3"),
            ([3], "Tried to access out of boundary index: got dim 3 for a tensor of rank 3"),
            ([-4], "Tried to access out of boundary index: got dim -4 for a tensor of rank 3"),
        ):
            with pytest.raises(RuntimeError, match=f"{name}: {text}"):
                function(tensor, dims)

    @pytest.mark.parametrize("name", ["sum", "prod", "max", "min"])
    def test_a_0d_tensor_has_no_dims_to_reduce(self, fd, name):
        scalar = fd.define_tensor([])
        with pytest.raises(RuntimeError, match=f"{name}: No reduction axis specified"):
            getattr(fd.ops, name)(scalar)
        assert str(getattr(fd.ops, name)(scalar, [5])).endswith(": Float[]")

    @pytest.mark.parametrize("name", ["max", "min"])
    def test_extrema_have_the_operands_dtype(self, fd, tensor, name):
        function = getattr(fd.ops, name)
        text = f"{name}: the result has the operand's dtype: got dtype DataType.Double"
        for call in (
            lambda: function(tensor, DataType.Double),
            lambda: function(tensor, 0, dtype=DataType.Double),
            lambda: function(tensor, [0], False, DataType.Double),
        ):
            with pytest.raises(RuntimeError, match=text):
                call()

    @pytest.mark.parametrize("name", ["var", "var_mean"])
    def test_a_correction_is_not_negative(self, fd, tensor, name):
        with pytest.raises(RuntimeError, match=f"{name}: correction must not be negative: got -1"):
            getattr(fd.ops, name)(tensor, [0], -1)

    def test_averages_of_integers_are_no_integers(self, fd):
        for dtype in (DataType.Int, DataType.Int32, DataType.Bool):
            with pytest.raises(
                RuntimeError, match=r"welford: averages have the operand's dtype.*cast it to"
            ):
                fd.ops.welford(fd.define_tensor([2, 3], dtype=dtype), [0])

    @pytest.mark.parametrize(
        ("name", "arguments"),
        [
            *(("max", ()), ("min", ()), ("cummax", (0,)), ("cummin", (0,))),
            *(("argsort", (0,)), ("topk", (1,)), ("clamp", (0, 1))),
        ],
    )
    def test_complex_numbers_have_no_order(self, fd, name, arguments):
        tensor = fd.define_tensor([2, 3], dtype=DataType.ComplexFloat)
        given = [fd.define_scalar(a) for a in arguments] if name == "topk" else arguments
        with pytest.raises(RuntimeError, match=f"{name}: complex numbers have no order: got tv0"):
            getattr(fd.ops, name)(tensor, *given)


class TestScansAndSorts:
    @pytest.mark.parametrize("name", ["cumsum", "cumprod", "cummax", "cummin", "argsort"])
    def test_the_dim(self, fd, name):
        tensor, function = fd.define_tensor([2, 3, 4]), getattr(fd.ops, name)
        for call in (
            lambda: function(tensor, 1),
            lambda: function(arg=tensor, dim=-2),
        ):
            assert str(call()).endswith("[2, 3, 4]")
        for arguments in ((), (None,), ([0],), (0.5,)):
            with pytest.raises(
                TypeError, match=rf"{name}\(\): incompatible function arguments: got \("
            ):
                function(tensor, *arguments)
        for dim in (3, -4):
            with pytest.raises(
                RuntimeError,
                match=f"{name}: Tried to access out of boundary index: got dim {dim} for a tensor of rank 3",
            ):
                function(tensor, dim)

    @pytest.mark.parametrize("name", ["cumsum", "cumprod", "cummax", "cummin"])
    def test_what_a_scan_starts_from(self, fd, name):
        function, whole = getattr(fd.ops, name), fd.define_tensor([2, 3], dtype=DataType.Int)
        with pytest.raises(TypeError, match=rf"{name}\(\): incompatible .*init: Scalar"):
            function(whole, 0, 1)
        with pytest.raises(TypeError, match=f"{name}: incompatible .*the number is tv"):
            function(whole, 0, init=fd.define_tensor([], dtype=DataType.Int))
        with pytest.raises(
            RuntimeError,
            match=f"{name}: a number fits the operand's dtype: got a number of type Double for tv0",
        ):
            function(whole, 0, fd.define_scalar(0.5))

    @pytest.mark.parametrize("name", ["cumsum", "cumprod", "cummax", "cummin"])
    def test_a_0d_tensor_has_nothing_to_scan(self, fd, name):
        for dim in (0, -1):
            with pytest.raises(
                RuntimeError, match=f"{name}: Tried to access out of boundary index.*of rank 0"
            ):
                getattr(fd.ops, name)(fd.define_tensor([]), dim)

    def test_topk(self, fd):
        tensor, k = fd.define_tensor([2, 3, 4]), fd.define_scalar(2)
        values, indices = fd.ops.topk(tensor, k)
        assert str(values).endswith("Float[2, 3, 2]")
        assert str(indices).endswith("Int[2, 3, 2]")
        values, _ = fd.ops.topk(arg=tensor, k=k, dim=1, largest=False, sorted=True)
        assert str(values).endswith("Float[2, 2, 4]")

    @pytest.mark.parametrize(
        ("k", "error", "text"),
        [
            (
                5,
                RuntimeError,
                r"selected index k out of range: got k = 5 for dimension 1 of size 4",
            ),
            (-1, RuntimeError, "k must not be negative: got -1"),
            (1.5, RuntimeError, "topk: k must be integer: got a number of type Double"),
        ],
    )
    def test_a_k_that_cannot_be(self, fd, k, error, text):
        tensor = fd.define_tensor([3, 4])
        with pytest.raises(error, match=text):
            fd.ops.topk(tensor, fd.define_scalar(k))

    def test_k_is_a_scalar_of_the_definition(self, fd):
        tensor = fd.define_tensor([3, 4])
        for number in (2, 1.5, None):
            with pytest.raises(
                TypeError, match=r"topk\(\): incompatible .*k: Scalar \| TensorView, dim: int = -1"
            ):
                fd.ops.topk(tensor, number)
        with pytest.raises(TypeError, match=r"topk: incompatible .* 'k' is not an integer or an"):
            fd.ops.topk(tensor, fd.define_tensor([], dtype=DataType.Int))
        values, _ = fd.ops.topk(tensor, fd.define_scalar(DataType.Int))
        assert str(values).endswith("Float[3, i0]")

    def test_a_0d_tensor_is_one_element(self, fd):
        scalar, one = fd.define_tensor([]), fd.define_scalar(1)
        for dim in (0, -1):
            assert str(fd.ops.topk(scalar, one, dim)[0]).endswith("Float[]")
            assert str(fd.ops.argsort(scalar, dim)).endswith("Int[]")
        with pytest.raises(RuntimeError, match="selected index k out of range: got k = 2"):
            fd.ops.topk(scalar, fd.define_scalar(2))
        with pytest.raises(RuntimeError, match="selected index k out of range: got k = c"):
            fd.ops.topk(scalar, fd.define_scalar(DataType.Int))
        for call in (lambda: fd.ops.topk(scalar, one, 1), lambda: fd.ops.argsort(scalar, -2)):
            with pytest.raises(RuntimeError, match="Tried to access out of boundary index"):
                call()


class TestTriangles:
    def test_the_diagonal_is_an_integer(self, fd):
        tensor = fd.define_tensor([2, 3, 4])
        for call in (
            lambda: fd.ops.triu(tensor),
            lambda: fd.ops.triu(tensor, -1),
            lambda: fd.ops.triu(arg=tensor, diagonal=2),
        ):
            assert str(call()).endswith("Float[2, 3, 4]")
        for diagonal in (None, 0.5, fd.define_scalar(1)):
            with pytest.raises(TypeError, match=r"triu\(\): incompatible function arguments"):
                fd.ops.triu(tensor, diagonal)

    def test_less_than_a_matrix(self, fd):
        for shape in ([], [3]):
            with pytest.raises(RuntimeError, match="triu: the tensor must have 2 or more dims"):
                fd.ops.triu(fd.define_tensor(shape))


class TestClamp:
    def test_bounds_are_scalars_numbers_or_none(self, fd):
        tensor, scalar = fd.define_tensor([2, 3]), fd.define_scalar()
        for low, high in ((0, 1.5), (None, 1), (scalar, None), (None, None), (scalar, scalar)):
            assert str(fd.ops.clamp(tensor, low, high)).endswith("Float[2, 3]")
            assert isinstance(fd.ops.clamp(scalar, low, high), Scalar)
        with pytest.raises(TypeError, match=r"clamp\(\): incompatible function arguments"):
            fd.ops.clamp(tensor, min=0, max=1)

    def test_a_tensor_is_no_bound(self, fd):
        tensor = fd.define_tensor([2, 3])
        for low, high, name in ((tensor, 1, "min"), (None, tensor, "max")):
            with pytest.raises(
                TypeError,
                match=f"clamp: incompatible function arguments: argument '{name}' is tv0.*ops.minimum",
            ):
                fd.ops.clamp(tensor, low, high)

    def test_complex_bounds(self, fd):
        with pytest.raises(
            RuntimeError, match=r"clamp: complex numbers have no order: got \(1\+2j\)"
        ):
            fd.ops.clamp(fd.define_tensor([2]), None, 1 + 2j)

    @pytest.mark.parametrize(
        ("arguments", "result"),
        [
            ((5, 1, 3), "Int = 3"),
            ((0.5, 1, 3), "Double = 1.0"),
            ((2, 0.5, 1.5), "Int = 1"),
            ((7, None, None), "Int = 7"),
            ((-2.5, None, 1e9), "Double = -2.5"),
            ((2, float("-inf"), 1e30), "Int = 2"),
            ((float("nan"), 0, 1), "Double = NaN"),
            ((1.0, float("nan"), 2.0), "Double = NaN"),
        ],
    )
    def test_constants_are_folded(self, fd, arguments, result):
        x, low, high = arguments
        folded = str(fd.ops.clamp(fd.define_scalar(x), low, high))
        assert folded.lower().replace('float("nan")', "nan").endswith(f": {result}".lower())
