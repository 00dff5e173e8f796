"""fd.execute where torch is doing something else: capturing graphs, differentiating, counting on determinism."""

import gc
import subprocess
import sys
import weakref
from collections.abc import Callable, Iterator

import meshfuse.dynamo  # noqa: F401 (torch.compile takes calls into its graphs from here on)
import pytest
import torch
from entry_definitions import define, error_of
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx

from meshfuse import DataType, FusionDefinition


def several() -> FusionDefinition:
    """Results that are computed, a view of an input, an input, and the same one twice."""
    with FusionDefinition() as fd:
        a = fd.define_tensor([-1, -1], contiguity=True)
        n = fd.define_scalar(DataType.Int)
        s = fd.define_scalar(DataType.Double)
        product = fd.ops.mul(fd.ops.add(fd.ops.exp(a), n), s)
        for output in (product, fd.ops.sum(a, [0]), fd.ops.permute(a, [1, 0]), a, product):
            fd.add_output(output)
    return fd


def expected(a: torch.Tensor, n: int, s: float) -> list[torch.Tensor]:
    a = a.detach()
    product = (a.exp() + n) * s
    return [product, a.sum(0), a.t(), a, product]


def check(results: list[torch.Tensor], wanted: list[torch.Tensor]) -> None:
    for result, right in zip(results, wanted, strict=True):
        torch.testing.assert_close(result, right)
        assert result.stride() == right.stride()
        assert not result.requires_grad


@pytest.fixture
def dynamo() -> Iterator[None]:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def test_fake_tensors_give_fake_results_of_the_right_form() -> None:
    fd = several()
    with FakeTensorMode() as mode:
        for sizes in ((3, 4), (1, 1), (0, 5)):
            fakes = fd.execute([torch.empty(sizes), 2, 0.5])
            real = expected(torch.empty(1).expand(1, 1), 2, 0.5)
            assert all(isinstance(fake, FakeTensor) for fake in fakes)
            assert len(fakes) == len(real)
            rows, columns = sizes
            shapes = [sizes, (columns,), (columns, rows), sizes, sizes]
            assert [tuple(fake.shape) for fake in fakes] == shapes
            assert {fake.dtype for fake in fakes} == {torch.float32}
            assert {fake.device for fake in fakes} == {torch.device("cpu")}
    half = FusionDefinition()
    with half:
        a = half.define_tensor([-1, -1], dtype=DataType.Half)
        half.add_output(half.ops.gt(a, 0.0))
        half.add_output(half.ops.cast(a, DataType.Double))
    with mode:
        assert [r.dtype for r in half.execute([torch.empty(2, 2).half()])] == [
            torch.bool,
            torch.float64,
        ]
        assert "rank" in error_of(RuntimeError, lambda: half.execute([torch.empty(2).half()]))


def test_export() -> None:
    fd = several()

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.randn(3, 4))

        def forward(self, x: torch.Tensor) -> list[torch.Tensor]:
            return fd.execute([x + self.weight, 2, 0.5])

    model = Model()
    x = torch.randn(3, 4)
    exported = torch.export.export(model, (x,), strict=False)
    calls = [node for node in exported.graph.nodes if "meshfuse.execute" in str(node.target)]
    assert len(calls) == 1
    for value in (x, torch.randn(3, 4)):
        check(exported.module()(value), expected(value + model.weight, 2, 0.5))


def test_a_graph_keeps_its_definition() -> None:
    def capture() -> tuple[Callable[[torch.Tensor], torch.Tensor], weakref.ref[FusionDefinition]]:
        fd = define("exp")
        graph = make_fx(lambda x: fd.execute([x])[0] * 2, tracing_mode="fake")(torch.ones(2, 3))
        return graph, weakref.ref(fd)

    graph, definition = capture()
    gc.collect()
    assert definition() is None
    x = torch.randn(2, 3)
    torch.testing.assert_close(graph(x), x.exp() * 2)
    redefined = define("exp")
    graph = make_fx(lambda x: redefined.execute([x])[0], tracing_mode="fake")(x)
    with redefined:
        redefined.add_output(redefined.ops.neg(redefined.define_tensor([-1, -1])))
    torch.testing.assert_close(graph(x), x.exp())
    torch.testing.assert_close(redefined.execute([x])[0], -x)


def test_a_graph_of_another_process_is_refused() -> None:
    text = error_of(
        RuntimeError,
        lambda: torch.ops.meshfuse.execute("definition_none", [torch.ones(2)], [], "t"),
    )
    assert "a graph runs in the process that captured it: got the unknown definition" in text


def run_alone(code: str) -> str:
    """What the program writes to its error output, in a fresh process: meshfuse.dynamo is for good once it is imported."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


DEFINITION = """
import torch
from meshfuse import FusionDefinition
with FusionDefinition() as fd:
    a = fd.define_tensor([-1, -1])
    fd.add_output(fd.ops.exp(a))
"""


def test_compile_breaks_its_graph_and_is_right() -> None:
    code = """
compiled = torch.compile(lambda x: fd.execute([x * 2])[0] + 1, backend="aot_eager")
for x in (torch.randn(2, 3), torch.randn(4, 5), torch.randn(2, 3, requires_grad=True)):
    torch.testing.assert_close(compiled(x), (x * 2).exp().detach() + 1)
"""
    assert run_alone(DEFINITION + code) == ""


def test_a_process_that_captured_a_graph_ends_without_a_leak() -> None:
    code = """
from torch._subclasses.fake_tensor import FakeTensorMode
with FakeTensorMode():
    assert fd.execute([torch.empty(2, 3)])[0].shape == (2, 3)
"""
    assert run_alone(DEFINITION + code) == ""


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_compile_takes_it_into_one_graph(backend: str, dynamo: None) -> None:

    fd = several()

    def run(x: torch.Tensor, n: int, s: float) -> list[torch.Tensor]:
        return fd.execute([x, [n], s])

    compiled = torch.compile(run, backend=backend, fullgraph=True)
    for x in (torch.randn(3, 4), torch.randn(5, 2), torch.randn(3, 4, requires_grad=True)):
        check(compiled(x, 2, 0.5), expected(x, 2, 0.5))
    check(compiled(torch.ones(3, 4), 3, 0.25), expected(torch.ones(3, 4), 3, 0.25))
    # Defined anew, it is captured anew.
    with fd:
        a = fd.define_tensor([-1, -1])
        fd.define_vector(1)
        fd.define_scalar()
        fd.add_output(fd.ops.neg(a))
    x = torch.randn(3, 4)
    assert torch.equal(compiled(x, 2, 0.5)[0], -x)


def test_compile_breaks_its_graph_at_writes_and_is_right() -> None:
    code = """
with FusionDefinition() as fd:
    a = fd.define_tensor([-1, -1])
    fd.add_output(fd.ops.exp(a), a)
compiled = torch.compile(lambda x: (x * 2, fd.execute([x]), x + 1), backend="aot_eager")
for x in (torch.randn(2, 3), torch.randn(4, 5)):
    old = x.clone()
    before, _, after = compiled(x)
    torch.testing.assert_close(x, old.exp())
    torch.testing.assert_close(before, old * 2)
    torch.testing.assert_close(after, old.exp() + 1)
"""
    assert run_alone(DEFINITION + code) == ""


def test_options_and_errors_in_one_graph(dynamo: None) -> None:

    fd = define("neg")
    x = torch.randn(2, 3)
    compiled = torch.compile(
        lambda x: fd.execute([x], _enable_options=["fast_math"], _disable_options=[])[0],
        backend="eager",
        fullgraph=True,
    )
    assert torch.equal(compiled(x), -x)
    with pytest.raises(Exception, match="rank"):
        compiled(torch.ones(2))
    assert torch.equal(compiled(x), -x)


def define_product() -> FusionDefinition:
    with FusionDefinition() as fd:
        a, b = (fd.define_tensor([-1, -1]) for _ in range(2))
        fd.add_output(fd.ops.mul(a, b))
    return fd


class Exp(torch.autograd.Function):
    """exp by one definition, its gradient by another."""

    forward_definition = define("exp")
    backward_definition = define_product()

    @staticmethod
    def forward(ctx, x):
        (y,) = Exp.forward_definition.execute([x])
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, gradient):
        (y,) = ctx.saved_tensors
        return Exp.backward_definition.execute([y, gradient])[0]


def test_in_an_autograd_function() -> None:
    x = torch.nn.Parameter(torch.randn(3, 4, dtype=torch.float32))
    y = Exp.apply(x)
    assert y.requires_grad
    y.sum().backward()
    torch.testing.assert_close(x.grad, x.detach().exp())
    # Inside a captured graph's backward, and on views that require gradients.
    (gradient,) = torch.autograd.grad(Exp.apply(x.t()[1:]).sum(), x)
    wanted = x.detach().exp()
    wanted[:, 0] = 0
    torch.testing.assert_close(gradient, wanted)


@pytest.fixture
def deterministic() -> Iterator[None]:
    torch.use_deterministic_algorithms(True)
    yield
    torch.use_deterministic_algorithms(False)


def test_deterministic_mode(deterministic: None) -> None:
    x = torch.randn(30, 40)
    results = several().execute([x, 2, 0.5])
    check(results, expected(x, 2, 0.5))
    for one, other in zip(results, several().execute([x, 2, 0.5]), strict=True):
        assert torch.equal(one, other)
    assert torch.are_deterministic_algorithms_enabled()


@pytest.mark.parametrize(
    "mode",
    [
        torch.no_grad,
        torch.enable_grad,
        torch.inference_mode,
        lambda: torch.autocast("cpu", dtype=torch.bfloat16),
    ],
    ids=["no_grad", "enable_grad", "inference_mode", "autocast"],
)
def test_modes_of_torch_change_no_number(mode: Callable[[], object]) -> None:
    with FusionDefinition() as fd:
        x, w, b = (fd.define_tensor([-1] * rank) for rank in (2, 2, 1))
        fd.add_output(fd.ops.relu(fd.ops.linear(x, w, b)))
    x = torch.randn(5, 4)
    layer = torch.nn.Linear(4, 3)
    with torch.no_grad():
        wanted = layer(x).relu()
    # Tied weights: one Parameter as two arguments.
    square = torch.nn.Parameter(torch.randn(4, 4))
    with mode():
        (y,) = fd.execute([x, layer.weight, layer.bias])
        (z,) = fd.execute([square, square, square[0]])
    torch.testing.assert_close(y, wanted)
    assert y.dtype == torch.float32
    with torch.no_grad():
        torch.testing.assert_close(z, torch.nn.functional.linear(square, square, square[0]).relu())


def test_transforms_of_torch_func_are_refused_or_right() -> None:
    fd = define("exp", rank=1)
    x = torch.randn(3, 4)
    for transform in (
        lambda: torch.func.vmap(lambda row: fd.execute([row])[0])(x),
        lambda: torch.func.grad(lambda row: fd.execute([row])[0].sum())(x[0]),
        lambda: torch.func.jvp(lambda row: fd.execute([row])[0], (x[0],), (x[0],)),
        lambda: torch.func.functionalize(lambda row: fd.execute([row])[0])(x[0]),
    ):
        text = error_of(TypeError, transform)
        assert "call execute outside" in text
    # What is not transformed is computed as ever.
    y = torch.func.vmap(lambda row: row + fd.execute([x[0]])[0])(x)
    torch.testing.assert_close(y, x + x[0].exp())
