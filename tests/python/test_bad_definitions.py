"""Mistakes in definitions: each gives the documented error, and the next valid call works."""

import threading

import pytest
import torch
from entry_definitions import error_of

from meshfuse import DataType, FusionDefinition, Scalar, TensorView, compute_tensor_descriptor, ops


@pytest.fixture
def fd():
    with FusionDefinition() as definition:
        yield definition
        # Whatever was refused has left the definition usable.
        value = definition.define_tensor([2])
        definition.add_output(definition.ops.neg(value))
        assert definition.validate_definition() == (True, None)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            {"shape": [-2]},
            r"-2.*was neither symbolic\(-1\), zero_element\(0\), broadcast\(1\), or static\(>1\)",
        ),
        ({"shape": [2, -7]}, r"-7.*index 1"),
        (
            {"shape": [2, 3], "contiguity": [True]},
            r"contiguity must have an entry for each dimension.*\[2, 3\]",
        ),
        ({"shape": [1], "contiguity": [True]}, r"None on broadcast dimensions.*got True"),
        ({"shape": [1], "contiguity": [False]}, r"None on broadcast dimensions.*got False"),
        ({"shape": [2], "is_cpu": True}, r"is_cpu=True.*\[2\]"),
        ({"shape": [2, 3], "stride_order": [0, 0]}, r"duplicated stride_order entries"),
        ({"shape": [2, 3], "stride_order": [0, 2]}, r"out of range"),
        ({"shape": [2, 3], "stride_order": [-1, 0]}, r"out of range"),
        ({"shape": [2, 3], "stride_order": [0]}, r"stride_order.*\[0\]"),
        (
            {"shape": [2], "dtype": DataType.Null},
            r"a tensor has an element type: got DataType.Null",
        ),
        ({"shape": [], "dtype": DataType.Float4_e2m1fn_x2}, r"at least one dimension"),
        ({"shape": [1], "dtype": DataType.Float4_e2m1fn_x2}, r"got size 1"),
        ({"shape": [2**62], "dtype": DataType.Float4_e2m1fn_x2}, r"sizes must fit 64 bits"),
        (
            {"sizes": [2], "strides": [1, 1]},
            r"one entry for each dimension: got sizes \[2\] and strides \[1, 1\]",
        ),
        ({"sizes": [-1], "strides": [1]}, r"sizes must not be negative: got sizes \[-1\]"),
        ({"sizes": [2], "strides": [-1]}, r"strides must not be negative: got strides \[-1\]"),
    ],
)
def test_a_tensor_that_cannot_be(fd, arguments, text):
    with pytest.raises(RuntimeError, match=text):
        fd.define_tensor(**arguments)


@pytest.mark.parametrize(
    ("arguments", "keywords"),
    [
        ((), {}),
        (([2.0],), {}),
        (([2**63],), {}),
        ((2,), {}),
        (("2",), {}),
        (([2], [True], torch.float32), {}),
        (([2], [1.0]), {}),
        (([2, 3], [True, 1.5]), {}),
        (([2],), {"contiguous": True}),
        (([2],), {"contiguity": True, "strides": [1]}),
        (([2], True, DataType.Float, None), {}),
    ],
)
def test_arguments_that_fit_no_define_tensor(fd, arguments, keywords):
    with pytest.raises(
        TypeError,
        match=r"define_tensor\(\): incompatible function arguments: got \(.*; call it as ",
    ):
        fd.define_tensor(*arguments, **keywords)


def test_a_dtype_of_torch_is_told_its_name(fd):
    text = error_of(TypeError, lambda: fd.define_tensor([2, -1], dtype=torch.float16))
    assert text.startswith(
        "define_tensor(): incompatible function arguments: got ([2, -1], dtype=torch.float16); call it as "
        "define_tensor(shape: list[int], "
    )
    assert text.endswith(
        "pytorch_utils.torch_dtype_to_nvfuser_dtype gives the DataType of a torch.dtype"
    )


@pytest.mark.parametrize(
    ("arguments", "keywords"),
    [
        (("1",), {}),
        ((torch.ones(1),), {}),
        (([1],), {}),
        ((2**63,), {}),
        ((1, torch.float32), {}),
        ((DataType.Int, DataType.Int), {}),
        ((1, 2), {}),
        ((), {"number": 1}),
    ],
)
def test_arguments_that_fit_no_define_scalar(fd, arguments, keywords):
    with pytest.raises(TypeError, match="incompatible function arguments"):
        fd.define_scalar(*arguments, **keywords)


def test_scalars_that_cannot_be(fd):
    with pytest.raises(
        RuntimeError, match=r"define_scalar: a scalar has a type: got DataType\.Null"
    ):
        fd.define_scalar(DataType.Null)
    with pytest.raises(ValueError, match="nan"):
        fd.define_scalar(float("nan"), DataType.Int)
    with pytest.raises(ValueError, match="1e\\+300"):
        fd.define_scalar(1e300, dtype=DataType.Int)
    with pytest.raises(
        RuntimeError, match="define_vector: a vector's size must not be negative: got -1"
    ):
        fd.define_vector(-1)
    with pytest.raises(TypeError, match="incompatible function arguments"):
        fd.define_vector(2.0)


def test_tensors_that_from_pytorch_refuses(fd):
    with pytest.raises(KeyError, match=r"got torch\.int8; convert to one of"):
        fd.from_pytorch(torch.ones(2, dtype=torch.int8))
    with pytest.raises(
        ValueError,
        match=r"from_pytorch: a tensor needs sizes and strides: got a tensor of layout torch\.sparse_coo",
    ):
        fd.from_pytorch(torch.eye(2).to_sparse())
    with pytest.raises(TypeError, match=r"got a list; pass a torch\.Tensor"):
        fd.from_pytorch([1.0])
    with pytest.raises(RuntimeError, match="sizes and strides must have one entry"):
        compute_tensor_descriptor([1], [])


def test_outputs_are_tensors_of_the_definition(fd):
    with pytest.raises(
        RuntimeError, match="Non-TensorView outputs are not supported: got the scalar c0: Double"
    ):
        fd.add_output(fd.define_scalar())
    for wrong in (1.0, None, torch.ones(2), "tv0"):
        with pytest.raises(TypeError, match="incompatible function arguments"):
            fd.add_output(wrong)
    with pytest.raises(TypeError, match="incompatible function arguments"):
        fd.add_output()


def test_values_of_another_definition_are_refused(fd):
    with FusionDefinition() as other:
        foreign = other.define_tensor([3])
    text = r"values must belong to the definition that is being built: got tv0: Float\[3\] of another definition"
    own = fd.define_tensor([3])
    with pytest.raises(RuntimeError, match=f"add: {text}"):
        fd.ops.add(own, foreign)
    with pytest.raises(RuntimeError, match=f"sum: {text}"):
        fd.ops.sum(foreign, dims=[0])
    with pytest.raises(RuntimeError, match=f"add_output: {text}"):
        fd.add_output(foreign)


def test_values_of_an_earlier_block_are_refused():
    fd = FusionDefinition()
    with fd:
        old = fd.define_tensor([2])
    with fd:
        new = fd.define_tensor([2])
        with pytest.raises(RuntimeError, match="of another definition"):
            fd.ops.add(new, old)
        fd.add_output(fd.ops.add(new, new))
    assert torch.equal(fd.execute([torch.ones(2)])[0], torch.full((2,), 2.0))


def test_outside_the_block_nothing_is_defined():
    fd = FusionDefinition()
    calls = (
        lambda: fd.define_tensor([2]),
        fd.define_scalar,
        lambda: fd.define_vector(1),
        lambda: fd.from_pytorch(torch.ones(2)),
    )
    for call in calls:
        with pytest.raises(RuntimeError, match="a definition is written inside its block"):
            call()
    with fd:
        a = fd.define_tensor([2])
        fd.add_output(fd.ops.neg(a))
    for call in (*calls, lambda: fd.add_output(a)):
        with pytest.raises(
            RuntimeError, match="the block of this definition is not open on this thread"
        ):
            call()
    for call in (lambda: fd.ops.neg(a), lambda: ops.add(1, 2)):
        with pytest.raises(
            RuntimeError,
            match="no definition's block is open on this thread; call it inside 'with Fusion",
        ):
            call()
    assert torch.equal(fd.execute([torch.ones(2)])[0], -torch.ones(2))


def test_a_block_is_not_open_on_another_thread(fd):
    caught = []

    def define() -> None:
        try:
            fd.define_tensor([2])
        except RuntimeError as error:
            caught.append(str(error))

    thread = threading.Thread(target=define)
    thread.start()
    thread.join()
    assert "not open on this thread" in caught[0]


def test_a_block_is_entered_once_at_a_time(fd):
    with (
        pytest.raises(
            RuntimeError,
            match="the block of this definition is open already; use another FusionDefinition",
        ),
        fd,
    ):
        pass


def test_executing_what_is_not_defined():
    fd = FusionDefinition()
    with pytest.raises(NotImplementedError, match="Fusion does not exist!"):
        fd.execute([])
    with pytest.raises(NotImplementedError, match="Fusion does not exist!"):
        _ = fd.fusion
    with fd:
        a = fd.define_tensor([2])
    with pytest.raises(NotImplementedError, match="Fusion is empty!"):
        fd.execute([torch.ones(2)])
    with fd:
        pass
    with pytest.raises(NotImplementedError, match="Fusion is empty!"):
        fd.execute([])
    del a


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda fd, a: fd.ops.permute(a, [0, 0]), "duplicated dimension entries"),
        (lambda fd, a: fd.ops.permute(a, [0, 2]), "out of range"),
        (lambda fd, a: fd.ops.permute(a, [0]), "same length as input"),
        (lambda fd, a: fd.ops.sum(a, 2), "Tried to access out of boundary index"),
        (lambda fd, a: fd.ops.sum(a, [0, -2]), "Reduction axes are not unique"),
        (lambda fd, a: fd.ops.sum(a, []), "No reduction axis specified"),
        (lambda fd, a: fd.ops.max(a, dtype=DataType.Int), "max"),
        (lambda fd, a: fd.ops.reshape(a, [-1, -1]), "A maximum of one value of -1"),
        (lambda fd, a: fd.ops.reshape(a, [5]), "Total element counts"),
        (lambda fd, a: fd.ops.where(a, a, a), "Condition should be of DataType Bool"),
        (lambda fd, a: fd.ops.where(True, a, a), "Condition should be of DataType Bool"),
        (lambda fd, a: fd.ops.add(a, fd.define_tensor([3, 3])), "add"),
        (lambda fd, a: fd.ops.matmul(a, fd.define_tensor([4, 4])), "matmul"),
        (
            lambda fd, a: fd.ops.matmul(a, fd.define_tensor([3, 4], dtype=DataType.Double)),
            "same dtype",
        ),
    ],
)
def test_operations_refuse_what_they_cannot_do(fd, call, text):
    a = fd.define_tensor([2, 3])
    count = len(fd.fusion.vals())
    with pytest.raises(RuntimeError, match=text):
        call(fd, a)
    assert len(fd.fusion.vals()) - count <= 1


def test_an_error_inside_repr_of_an_argument_is_not_lost(fd):
    class Odd:
        def __repr__(self) -> str:
            raise ValueError("no text")

    with pytest.raises(TypeError, match=r"got \(a Odd\)"):
        fd.ops.neg(Odd())


def test_handles_that_were_never_made() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([2])
        for kind in (TensorView, Scalar):
            with pytest.raises(TypeError, match="incompatible function arguments"):
                fd.ops.add(x, kind.__new__(kind))
