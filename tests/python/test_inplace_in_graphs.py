"""Definitions that write into inputs, inside graphs that torch captures."""

from collections.abc import Callable, Iterator

import meshfuse.dynamo  # noqa: F401 (torch.compile takes calls into its graphs from here on)
import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx

from meshfuse import DataType, FusionDefinition


@pytest.fixture
def dynamo() -> Iterator[None]:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def in_place() -> FusionDefinition:
    """x <- x + y, which is returned, and so are x - y and a number's multiple of the old x."""
    with FusionDefinition() as fd:
        x, y = (fd.define_tensor([-1, -1]) for _ in range(2))
        s = fd.define_scalar(DataType.Double)
        total = fd.ops.add(x, y)
        fd.add_output(fd.ops.sub(x, y))
        fd.add_output(total, x)
        fd.add_output(total)
        fd.add_output(fd.ops.mul(x, s))
    return fd


def check_in_place(
    run: Callable[[torch.Tensor, torch.Tensor], list[torch.Tensor]], returns: bool = True
) -> None:
    """`run` executes in_place() on its arguments and 2.0."""
    for shape in ((3, 4), (3, 4), (5, 2)):
        x, y = torch.randn(shape), torch.randn(shape)
        old = x.clone()
        difference, total, product = run(x, y)
        torch.testing.assert_close(x, old + y)
        torch.testing.assert_close(difference, old - y)
        torch.testing.assert_close(product, old * 2)
        torch.testing.assert_close(total, x)
        assert total is x or not returns
        assert x._version >= 1


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "aot_eager_decomp_partition"])
def test_compile_takes_writes_into_one_graph(backend: str, dynamo: None) -> None:
    fd = in_place()
    compiled = torch.compile(
        lambda x, y: fd.execute([x, y, 2.0]), backend=backend, fullgraph=True, dynamic=False
    )
    check_in_place(compiled)

    # What comes after sees the new value, what comes before the old one; twice in one graph; a part of the caller's tensor.
    def around(x: torch.Tensor, y: torch.Tensor) -> list[torch.Tensor]:
        before = x * 1
        for _ in range(2):
            (_, total, _) = fd.execute([x[1:], y[1:], 2.0])
            total.add_(1)
        return [before, x * 1, total * 1]

    compiled = torch.compile(around, backend=backend, fullgraph=True, dynamic=False)
    x, y = torch.randn(3, 4), torch.randn(3, 4)
    x_eager, y_eager = x.clone(), y.clone()
    for result, wanted in zip(compiled(x, y), around(x_eager, y_eager), strict=True):
        torch.testing.assert_close(result, wanted)
    torch.testing.assert_close(x, x_eager)
    leaf = torch.randn(3, 4, requires_grad=True)
    compiled = torch.compile(
        lambda x, y: fd.execute([x, y, 2.0]), backend=backend, fullgraph=True, dynamic=False
    )
    with pytest.raises(Exception, match=r"call execute under torch\.no_grad"):
        compiled(leaf, y)
    with torch.no_grad():
        wanted = leaf + y
        compiled(leaf, y)
    torch.testing.assert_close(leaf.detach(), wanted)


def test_writes_under_fake_tensors_and_in_other_graphs() -> None:
    fd = in_place()
    with FakeTensorMode():
        x, y = torch.empty(3, 4), torch.empty(3, 4)
        difference, total, product = fd.execute([x, y, 2.0])
        assert total is x
        assert difference.shape == product.shape == (3, 4)
    # A graph that is not functional keeps the write as it is.
    graph = make_fx(lambda x, y: fd.execute([x, y, 2.0]), tracing_mode="fake")(
        torch.ones(3, 4), torch.ones(3, 4)
    )
    x, y = torch.randn(3, 4), torch.randn(3, 4)
    old = x.clone()
    difference, total, product = graph(x, y)
    torch.testing.assert_close(x, old + y)
    torch.testing.assert_close(total, x)
    torch.testing.assert_close(difference, old - y)

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> list[torch.Tensor]:
            return [result * 1 for result in fd.execute([x, y, 2.0])]

    exported = torch.export.export(Model(), (torch.ones(3, 4), torch.ones(3, 4)), strict=False)
    x, y = torch.randn(3, 4), torch.randn(3, 4)
    old = x.clone()
    difference, total, product = exported.module()(x, y)
    torch.testing.assert_close(x, old + y)
    torch.testing.assert_close(total, x)
    torch.testing.assert_close(product, old * 2)


def test_a_tensor_that_cannot_be_written_is_refused_before_it_is_captured(dynamo: None) -> None:
    fd = in_place()
    expanded, y = torch.zeros(1, 4).expand(3, 4), torch.ones(3, 4)
    compiled = torch.compile(
        lambda x, y: fd.execute([x, y, 2.0]), backend="eager", fullgraph=True, dynamic=False
    )
    with pytest.raises(Exception, match="memory of its own for each element"):
        compiled(expanded, y)
    with FakeTensorMode() as mode, pytest.raises(RuntimeError, match="requires grad"):
        fd.execute([mode.from_tensor(torch.ones(3, 4, requires_grad=True)), torch.ones(3, 4), 2.0])
    assert torch.equal(expanded, torch.zeros(3, 4))
