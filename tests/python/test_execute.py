"""The call itself: numbers, lists, parameters, reference counts, threads."""

import enum
import sys
import threading
import time
import weakref

import numpy as np
import pytest
import torch
from entry_definitions import define, define_sum, error_of
from torch.utils._python_dispatch import TorchDispatchMode

from meshfuse import DataType, FusionDefinition


def define_number(dtype: DataType) -> FusionDefinition:
    with FusionDefinition() as fd:
        a = fd.define_tensor(
            [-1], dtype=DataType.Double if dtype != DataType.ComplexDouble else dtype
        )
        fd.add_output(fd.ops.add(a, fd.define_scalar(dtype)))
    return fd


def test_numbers_are_classified_by_their_python_type() -> None:
    class Level(enum.IntEnum):
        HIGH = 7

    a = torch.zeros(2, dtype=torch.float64)
    for dtype, values in (
        (DataType.Bool, [True, False]),
        (DataType.Int, [3, -(2**63), 2**63 - 1, Level.HIGH]),
        (DataType.Double, [1.5, float("inf"), 1e308, np.float64(2.5)]),
    ):
        fd = define_number(dtype)
        for value in values:
            assert torch.equal(fd.execute([a, value])[0], a + value)
    assert define_number(DataType.Double).execute([a, float("nan")])[0].isnan().all()
    z = torch.zeros(2, dtype=torch.complex128)
    assert torch.equal(define_number(DataType.ComplexDouble).execute([z, 1 + 2j])[0], z + (1 + 2j))


def test_numbers_of_another_kind_are_refused() -> None:
    a = torch.zeros(2, dtype=torch.float64)
    for dtype, value, name in (
        (DataType.Double, 3, "double"),
        (DataType.Double, True, "double"),
        (DataType.Double, 1j, "double"),
        (DataType.Int, 1.0, "int64_t"),
        (DataType.Int, True, "int64_t"),
        (DataType.Bool, 1, "bool"),
    ):
        fd = define_number(dtype)
        text = error_of(RuntimeError, lambda fd=fd, value=value: fd.execute([a, value]))
        assert (
            f"Scalar value {value} is not compatible with the expected data type: {name}."
            in text.replace("(0+1j)", "1j")
            or (
                isinstance(value, complex)
                and "is not compatible with the expected data type: double." in text
            )
        )
        good = {DataType.Double: 1.0, DataType.Int: 1, DataType.Bool: True}[dtype]
        assert torch.equal(fd.execute([a, good])[0], a + 1)


def test_numbers_of_numpy() -> None:
    a = torch.zeros(2, dtype=torch.float64)
    for dtype, numbers in (
        (DataType.Int, (np.int64(3), np.int32(3), np.uint8(3))),
        (DataType.Double, (np.float32(3), np.float64(3), np.float16(3))),
    ):
        for number in numbers:
            assert torch.equal(define_number(dtype).execute([a, number])[0], a + 3)
    with FusionDefinition() as fd:
        rows, columns = fd.define_vector(2)
        z = fd.define_scalar(DataType.ComplexDouble)
        fd.add_output(fd.ops.full([rows, columns], z, DataType.ComplexDouble))
    (full,) = fd.execute([tuple(np.arange(2, 4)), np.complex64(1 + 2j)])
    assert torch.equal(full, torch.full((2, 3), 1 + 2j, dtype=torch.complex128))


def test_integers_beyond_64_bits() -> None:
    fd = define_number(DataType.Int)
    a = torch.zeros(2, dtype=torch.float64)
    assert error_of(ValueError, lambda: fd.execute([a, 2**63])) == (
        "execute: integers must fit 64 bits: argument 1 is 9223372036854775808; pass an integer between -2**63 and 2**63 - 1, "
        "or a float"
    )


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (None, "None"),
        ("text", "a str"),
        (np.zeros(3), "a numpy.ndarray"),
        (np.datetime64(3, "s"), "a numpy.datetime64"),
        ({}, "a dict"),
        ([[torch.ones(2, 3)]], "a list"),
        (object(), "a object"),
    ],
    ids=str,
)
def test_other_objects(value: object, found: str) -> None:
    fd = define()
    assert error_of(TypeError, lambda: fd.execute([value])) == (
        f"execute: arguments must be tensors or numbers: argument 0 is {found}; pass a tensor, a bool, an int, a float, a "
        "complex number, or a list of those"
    )
    a = torch.randn(2, 3)
    assert torch.equal(fd.execute([a])[0], a)


def test_lists_and_tuples_are_flattened_one_level() -> None:
    fd = define_sum()
    a, b = torch.randn(2, 3), torch.randn(2, 3)
    for inputs in (
        [a, b],
        (a, b),
        [[a, b]],
        [(a,), b],
        ([a], [b]),
        [a, [], b],
        iter([a, b]),
        {0: a, 1: b}.values(),
    ):
        assert torch.equal(fd.execute(inputs)[0], a + b)


def test_inputs_that_are_no_list() -> None:
    fd = define()
    for inputs, found in (
        (torch.ones(2, 3), "torch.Tensor"),
        (3, "int"),
        ("ab", "str"),
        (None, "NoneType"),
    ):
        assert error_of(TypeError, lambda inputs=inputs: fd.execute(inputs)) == (
            f"execute: inputs must be a list or tuple of arguments: got a {found}; pass execute([a, b])"
        )


def test_parameters_of_execute() -> None:
    fd = define()
    a = torch.randn(2, 3)
    for call in (
        lambda: fd.execute(inputs=[a]),
        lambda: fd.execute([a], device=None),
        lambda: fd.execute([a], device="cpu"),
        lambda: fd.execute([a], device=torch.device("cpu")),
        lambda: fd.execute([a], save_repro_inputs=False, _enable_options=[], _disable_options=[]),
    ):
        results = call()
        assert type(results) is list
        assert torch.equal(results[0], a)
    for call, found in (
        (lambda: fd.execute(), "got no 'inputs'"),
        (lambda: fd.execute([a], [a]), "got 2 positional arguments"),
        (lambda: fd.execute([a], inputs=[a]), "got 'inputs' twice"),
        (lambda: fd.execute([a], other=1), "got an unexpected keyword 'other'"),
    ):
        text = error_of(TypeError, call)
        assert text.startswith(
            f"execute(): incompatible function arguments: {found}; call it as execute(inputs, *, device=None"
        )
    assert error_of(ValueError, lambda: fd.execute([a], device="meta")) == (
        "execute: device must be the one that the tensors are on: got device meta and tensors on cpu; leave device out, or "
        "move the tensors"
    )
    with FusionDefinition() as scalar:
        scalar.add_output(scalar.ops.neg(scalar.define_tensor([], [], is_cpu=True)))
    number = torch.tensor(2.0)
    assert scalar.execute([number], device="cpu")[0].item() == -2
    assert error_of(ValueError, lambda: scalar.execute([number], device="cuda:0")) == (
        "execute: device must be the one that the tensors are on: got device cuda:0 and no tensors but 0-dim ones on the CPU; "
        "leave device out, or move the tensors"
    )
    for unknown in ("nowhere", 300, -2):
        error_of(RuntimeError, lambda unknown=unknown: fd.execute([a], device=unknown))
    assert "Unrecognized enable_option" in error_of(
        RuntimeError, lambda: fd.execute([a], _enable_options=["x"])
    )
    assert "Unrecognized disable_option" in error_of(
        RuntimeError, lambda: fd.execute([a], _disable_options=["x"])
    )


def test_results_without_tensors_are_made_on_a_device() -> None:
    with FusionDefinition() as fd:
        size = fd.define_scalar(DataType.Int)
        fd.add_output(fd.ops.full([size], 2.0, DataType.Float))
        fd.add_output(fd.ops.iota(size))
        fd.add_output(fd.ops.uniform(0.0, 1.0, [3]))
    for device in (None, "cpu", torch.device("cpu"), "meta"):
        results = fd.execute([4], device=device)
        assert [result.shape for result in results] == [(4,), (4,), (3,)]
        assert {result.device.type for result in results} == {"meta" if device == "meta" else "cpu"}
    assert torch.equal(fd.execute([4], device="cpu")[1], torch.arange(4))
    if not torch.cuda.is_available():
        for name in ("cuda", "cuda:7"):
            assert error_of(ValueError, lambda name=name: fd.execute([4], device=name)) == (
                f"execute: results are made on a device that torch has: got device {name}; "
                "name cpu, meta or a cuda device of this machine, or leave device out"
            )
    text = error_of(ValueError, lambda: fd.execute([4], device="xpu"))
    assert text.startswith("execute: results are made on a device that torch has: got device xpu;")


def test_tangents_are_refused() -> None:
    import torch.autograd.forward_ad as forward_ad

    for fd in (define(), define("neg")):
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(torch.ones(2, 3), torch.ones(2, 3))
            view = forward_ad.make_dual(torch.ones(3, 2), torch.ones(3, 2)).t()
            for tensor in (dual, view):
                assert error_of(RuntimeError, lambda fd=fd, t=tensor: fd.execute([t])) == (
                    "execute: results carry no derivatives, and tangents would be lost: argument 0 carries a tangent of "
                    "forward-mode differentiation; call execute outside of it, or pass "
                    "torch.autograd.forward_ad.unpack_dual(tensor).primal"
                )
            assert torch.equal(
                fd.execute([forward_ad.unpack_dual(dual).primal])[0].abs(), torch.ones(2, 3)
            )
        assert fd.execute([torch.ones(2, 3, requires_grad=True)])[0].shape == (2, 3)


def test_option_names() -> None:
    fd = define()
    a = torch.randn(2, 3)
    for options in (
        {"_enable_options": ["fuse_matmul"], "_disable_options": ["matmul_expr_eval"]},
        {"_enable_options": ("id_model_extra_validation", "host_ir_lowering")},
        {"_disable_options": ["parallel_compile", "parallel_compile"]},
    ):
        assert torch.equal(fd.execute([a], **options)[0], a)
    for option, call in (
        ("enable_option", lambda names: fd.execute([a], _enable_options=names)),
        ("disable_option", lambda names: fd.execute([a], _disable_options=names)),
    ):
        text = error_of(RuntimeError, lambda call=call: call(["no_such_option"]))
        assert text.startswith(f"execute: Unrecognized {option}: got 'no_such_option'; use one of ")
        assert "nvtx" in text or "fuse_matmul" in text
        for wrong in ("fuse_matmul", [1], [b"nvtx"], {"nvtx"}):
            assert f"_{option}s is not a list of names" in error_of(
                TypeError, lambda wrong=wrong, call=call: call(wrong)
            )
    # A name of the one list is not one of the other.
    assert "Unrecognized disable_option" in error_of(
        RuntimeError, lambda: fd.execute([a], _disable_options=["fuse_matmul"])
    )


def test_definitions_that_cannot_run() -> None:
    assert "Fusion does not exist!" in error_of(
        NotImplementedError, lambda: FusionDefinition().execute([])
    )
    with FusionDefinition() as fd:
        fd.define_tensor([-1, -1])
    assert "Fusion is empty!" in error_of(
        NotImplementedError, lambda: fd.execute([torch.ones(2, 2)])
    )
    left = FusionDefinition()

    def leave_by_an_exception() -> None:
        with left:
            left.add_output(left.ops.set(left.define_tensor([-1, -1])))
            raise LookupError("left")

    error_of(LookupError, leave_by_an_exception)
    assert "Fusion does not exist!" in error_of(
        NotImplementedError, lambda: left.execute([torch.ones(2, 2)])
    )
    with left:
        left.add_output(left.ops.set(left.define_tensor([-1, -1])))
    assert torch.equal(left.execute([torch.ones(2, 2)])[0], torch.ones(2, 2))


def test_reference_counts() -> None:
    a = torch.randn(4, 4)
    for op in ("set", "neg"):
        fd = define(op)
        inputs = [a]
        before = sys.getrefcount(a), sys.getrefcount(inputs), sys.getrefcount(fd)
        for _ in range(10):
            fd.execute(inputs)
        assert (sys.getrefcount(a), sys.getrefcount(inputs), sys.getrefcount(fd)) == before
        (b,) = fd.execute(inputs)
        assert sys.getrefcount(b) == 2
        gone = weakref.ref(b)
        del b
        assert gone() is None


def test_eight_threads() -> None:
    fd = define_sum()
    start = threading.Barrier(8)
    wrong: list[int] = []

    def work(number: int) -> None:
        start.wait()
        for i in range(200):
            rows = 1 + (i + number) % 7
            a = torch.full((rows, 4), float(number))
            b = torch.full((4, rows), float(i)).t()
            if not torch.equal(fd.execute([a, b])[0], a + b):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not wrong
    assert not any(thread.is_alive() for thread in threads)


def test_large_calls_let_other_threads_run_and_small_ones_do_not() -> None:
    fd = define()
    turns = 0
    started, done = threading.Event(), threading.Event()

    def count() -> None:
        nonlocal turns
        while not done.is_set():
            turns += 1
            started.set()
            time.sleep(0)  # gives the interpreter lock up

    def turns_during(a: torch.Tensor) -> int:
        before = turns
        fd.execute([a])
        return turns - before

    interval = sys.getswitchinterval()
    thread = threading.Thread(target=count)
    try:
        thread.start()
        started.wait()
        sys.setswitchinterval(
            60
        )  # from here on this thread gives the lock up only where it wants to
        small, large = torch.randn(16, 16), torch.randn(4096, 2048)
        fd.execute([small])
        assert turns_during(small) == 0
        assert turns_during(large) > 0
    finally:
        done.set()
        sys.setswitchinterval(interval)
    thread.join(60)


def test_a_definition_made_anew_while_it_runs() -> None:
    fd = define_sum()
    a = torch.randn(3, 4)

    class Redefining(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            with fd:
                fd.add_output(fd.ops.neg(fd.define_tensor([-1, -1])))
            return func(*args, **(kwargs or {}))

    with Redefining():
        (b,) = fd.execute([a, a])
    assert torch.equal(b, a + a)
    assert torch.equal(fd.execute([a])[0], -a)
