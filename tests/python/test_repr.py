"""repr(fd) is Python that makes the same definition."""

import pytest
import torch

from meshfuse import DataType, FusionDefinition


def rebuild(fd: FusionDefinition) -> FusionDefinition:
    """A new definition, made by executing the text of `fd`."""
    scope = {"FusionDefinition": FusionDefinition, "DataType": DataType}
    exec(repr(fd), scope)
    with FusionDefinition() as again:
        scope["nvfuser_fusion"](again)
    return again


def mlp(fd: FusionDefinition) -> None:
    x = fd.define_tensor([-1, 8], contiguity=True)
    w = fd.define_tensor([16, 8], contiguity=True)
    b = fd.define_tensor([16], contiguity=True)
    h = fd.ops.linear(x, w, b)
    half = fd.define_scalar(0.5)
    gate = fd.ops.add(fd.ops.erf(fd.ops.mul(h, 0.7071067811865476)), 1)
    fd.add_output(fd.ops.mul(fd.ops.mul(h, half), gate))


def layouts(fd: FusionDefinition) -> None:
    a = fd.define_tensor([4, 3, 1], contiguity=[True, None, False], stride_order=[0, 2, 1])
    b = fd.define_tensor([4, -1, 1], contiguity=[True, None, None])
    c = fd.define_tensor([], dtype=DataType.Double, is_cpu=True)
    fd.add_output(fd.ops.add(fd.ops.add(a, b), c))
    fd.add_output(a)


def scalars(fd: FusionDefinition) -> None:
    x = fd.define_tensor([-1], dtype=DataType.ComplexDouble)
    n = fd.define_scalar(DataType.Int)
    m, k = fd.define_vector(2)
    values = [
        fd.define_scalar(),
        fd.define_scalar(2),
        fd.define_scalar(True, DataType.Bool),
        fd.define_scalar(1.5, DataType.Float),
        fd.define_scalar(float("nan")),
        fd.define_scalar(complex(float("inf"), -0.0)),
        fd.ops.add(fd.define_scalar(2), 3),
        fd.ops.mul(fd.ops.add(n, m), k),
        -0.0,
        float("-inf"),
        complex(-0.0, float("nan")),
    ]
    for value in values:
        x = fd.ops.add(x, value)
    fd.add_output(x)


def reductions(fd: FusionDefinition) -> None:
    x = fd.define_tensor([-1, 6, 1], contiguity=True)
    fd.add_output(fd.ops.sum(x))
    fd.add_output(fd.ops.sum(x, DataType.Double))
    fd.add_output(fd.ops.sum(x, -1, True))
    fd.add_output(fd.ops.max(x, [0, 1], keepdim=True))
    variance, mean = fd.ops.var_mean(x, [1], 0)
    fd.add_output(mean)
    fd.add_output(fd.ops.var_mean(x, [0, 1], keepdim=True)[0])
    fd.add_output(fd.ops.prod(x, [1], False, DataType.Double))
    fd.add_output(fd.ops.var(x, [0], correction=0))
    for value in fd.ops.welford(x, [0, 1]):
        fd.add_output(value)
    fd.add_output(variance)


def scans_and_sorts(fd: FusionDefinition) -> None:
    x = fd.define_tensor([-1, 6], contiguity=True)
    fd.add_output(fd.ops.cumsum(x, -1))
    fd.add_output(fd.ops.cummax(x, 0))
    fd.add_output(fd.ops.argsort(x, 1, descending=True))
    values, indices = fd.ops.topk(x, fd.define_scalar(3), dim=1, sorted=True)
    fd.add_output(values)
    fd.add_output(indices)
    fd.add_output(fd.ops.triu(fd.ops.triu(x, -1)))
    low = fd.define_scalar()
    fd.add_output(fd.ops.clamp(fd.ops.clamp(x, None, 6.0), low, None))
    fd.add_output(fd.ops.clamp(fd.ops.cast(x, DataType.Int), None, None))


def shapes(fd: FusionDefinition) -> None:
    x = fd.define_tensor([4, 6], contiguity=True)
    y = fd.ops.permute(x, [-1, 0])
    z = fd.ops.reshape(y, [3, -1])
    fd.add_output(fd.ops.broadcast_in_dim(z, [3, 2, 8], [0, 2]))
    fd.add_output(fd.ops.where(fd.ops.lt(x, 0), fd.ops.cast(x, DataType.Half), 1))
    fd.add_output(fd.ops.matmul(y, x))


def inputs_of_mlp() -> list:
    return [torch.randn(5, 8), torch.randn(16, 8), torch.randn(16)]


def inputs_of_scalars() -> list:
    return [torch.randn(3, dtype=torch.complex128), 3, 4, 5, 0.5]


CASES = {
    "mlp": (mlp, inputs_of_mlp),
    "scalars": (scalars, inputs_of_scalars),
    "reductions": (reductions, lambda: [torch.randn(3, 6, 1)]),
    "scans_and_sorts": (scans_and_sorts, lambda: [torch.randn(4, 6), 0.5]),
    "shapes": (shapes, lambda: [torch.randn(4, 6)]),
}


@pytest.mark.parametrize("case", [*CASES, "layouts"])
def test_the_text_makes_the_same_definition(case):
    define = layouts if case == "layouts" else CASES[case][0]
    with FusionDefinition() as fd:
        define(fd)
    again = rebuild(fd)
    assert again.fusion == fd.fusion
    assert hash(again.fusion) == hash(fd.fusion)
    assert again.fusion.print_math() == fd.fusion.print_math()
    assert repr(again) == repr(fd)


@pytest.mark.parametrize("case", CASES)
def test_both_give_the_same_results(case):
    define, make_inputs = CASES[case]
    torch.manual_seed(0)
    inputs = make_inputs()
    with FusionDefinition() as fd:
        define(fd)
    again = rebuild(fd)
    for one, other in zip(fd.execute(inputs), again.execute(inputs), strict=True):
        assert one.stride() == other.stride()
        torch.testing.assert_close(one, other, rtol=0, atol=0, equal_nan=True)


def test_the_form():
    with FusionDefinition() as fd:
        a = fd.define_tensor(
            shape=[-1, 1, 3], contiguity=[None, True, True], stride_order=[0, 2, 1]
        )
        s = fd.define_scalar(None, dtype=DataType.Float)
        b = fd.ops.mul(a, s)
        c = fd.ops.sum(fd.ops.add(b, 2.0), dims=[0, 2], keepdim=True)
        fd.add_output(fd.ops.linear(fd.define_tensor([2, 3]), fd.define_tensor([4, 3])))
        fd.add_output(fd.ops.broadcast_in_dim(fd.ops.reshape(c, [1]), [1, 5], [0]))
    assert repr(fd) == (
        "def nvfuser_fusion(fd : FusionDefinition) -> None :\n"
        "    tv0 = fd.define_tensor(shape=[-1, 1, 3], contiguity=[None, True, True], dtype=DataType.Float, is_cpu=False, "
        "stride_order=[0, 2, 1])\n"
        "    c0 = fd.define_scalar(None, dtype=DataType.Float)\n"
        "    tv1 = fd.ops.mul(tv0, c0)\n"
        "    tv2 = fd.ops.add(tv1, 2.0)\n"
        "    tv3 = fd.ops.sum(tv2, dims=[0, 2], keepdim=True)\n"
        "    tv4 = fd.define_tensor(shape=[2, 3], contiguity=[False, False], dtype=DataType.Float, is_cpu=False)\n"
        "    tv5 = fd.define_tensor(shape=[4, 3], contiguity=[False, False], dtype=DataType.Float, is_cpu=False)\n"
        "    tv6 = fd.ops.linear(tv4, tv5)\n"
        "    tv7 = fd.ops.reshape(tv3, new_shape=[1])\n"
        "    tv8 = fd.ops.broadcast_in_dim(tv7, shape=[1, 5], broadcast_dims=[0])\n"
        "    fd.add_output(tv6)\n"
        "    fd.add_output(tv8)\n"
    )


def test_a_definition_without_content_prints_too():
    fd = FusionDefinition()
    assert repr(fd) == "def nvfuser_fusion(fd : FusionDefinition) -> None :\n    pass\n"
    assert repr(rebuild(fd)) == repr(fd)
    assert str(fd) == repr(fd)


def test_the_text_is_the_same_after_execution():
    with FusionDefinition() as fd:
        mlp(fd)
    before = repr(fd)
    fd.execute(inputs_of_mlp())
    assert repr(fd) == before
    assert rebuild(fd).fusion == fd.fusion


def test_a_reduction_of_a_tensor_without_dimensions():
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.sum(fd.define_tensor([], []), dims=[0]))
    assert rebuild(fd).fusion == fd.fusion


def test_fusions_that_differ_are_not_equal():
    def build(size: int, number: float, name: str):
        with FusionDefinition() as fd:
            fd.add_output(getattr(fd.ops, name)(fd.define_tensor([size]), number))
        return fd.fusion

    fusion = build(2, 1.0, "add")
    assert fusion == build(2, 1.0, "add")
    for other in (
        build(3, 1.0, "add"),
        build(2, 2.0, "add"),
        build(2, 1, "add"),
        build(2, 1.0, "sub"),
    ):
        assert fusion != other
    assert fusion != "add"
