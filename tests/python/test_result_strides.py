"""Results that are views of inputs share their memory and have torch's strides, whatever kernels run beside them."""

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch

from meshfuse import FusionDefinition, ops

VIEWS: dict[str, tuple[Callable[[Any], Any], Callable[[torch.Tensor], torch.Tensor]]] = {
    "permute": (lambda a: ops.permute(a, [1, 2, 0]), lambda a: a.permute(1, 2, 0)),
    "permute twice": (
        lambda a: ops.permute(ops.permute(a, [1, 2, 0]), [0, 2, 1]),
        lambda a: a.permute(1, 0, 2),
    ),
    "squeeze": (
        lambda a: ops.squeeze(ops.broadcast(a, [True, False, False, False]), [0]),
        lambda a: a,
    ),
    "broadcast": (
        lambda a: ops.broadcast(a, [False, True, False, False]),
        lambda a: a.unsqueeze(1),
    ),
    "expand": (
        lambda a: ops.expand(ops.broadcast(a, [True, False, False, False]), [2, 3, 4, 5]),
        lambda a: a.expand(2, 3, 4, 5),
    ),
    "slice": (
        lambda a: ops.slice(a, [0, 1, 0], [3, 4, 5]),
        lambda a: a[:, 1:4],
    ),
    "reshape": (lambda a: ops.reshape(a, [12, 5]), lambda a: a.reshape(12, 5)),
    "slice of one": (lambda a: ops.slice(a, [1, 0, 0], [2, 4, 5]), lambda a: a[1:2]),
}
LAYOUTS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "contiguous": lambda x: x,
    "permuted": lambda x: x.permute(2, 0, 1).contiguous().permute(1, 2, 0),
    "strided": lambda x: torch.stack([x, x], -1)[..., 1],
}
BESIDE: dict[str, tuple[Callable[[Any, Any], Any], Callable[..., torch.Tensor]]] = {
    "nothing": (lambda a, view: ops.neg(a), lambda a, view: -a),
    "the view": (lambda a, view: ops.mul(view, 2.0), lambda a, view: view * 2.0),
    "a sum of the view": (lambda a, view: ops.sum(view, [0]), lambda a, view: view.sum(0)),
    "both": (
        lambda a, view: ops.add(ops.sum(view), ops.exp(a)),
        lambda a, view: view.sum() + a.exp(),
    ),
}


@pytest.mark.parametrize("compiled", ["0", "1"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("beside", BESIDE)
def test_views_that_are_results(
    layout: str, beside: str, compiled: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MESHFUSE_COMPILE", compiled)
    x = LAYOUTS[layout](torch.randn(3, 4, 5))
    compute, wanted_computed = BESIDE[beside]
    for view, wanted_view in VIEWS.values():
        with FusionDefinition() as fd:
            a = fd.define_tensor([3, 4, 5])
            seen = view(a)
            fd.add_output(compute(a, seen))
            fd.add_output(seen)
            fd.add_output(a)
        for _ in range(2):
            computed, result, same = fd.execute([x])
            wanted = wanted_view(x)
            torch.testing.assert_close(computed, wanted_computed(x, wanted))
            assert torch.equal(result, wanted)
            assert result.stride() == wanted.stride()
            if wanted.untyped_storage().data_ptr() == x.untyped_storage().data_ptr():
                assert result.data_ptr() == wanted.data_ptr()
            assert same.data_ptr() == x.data_ptr()


def test_a_product_a_sum_and_a_view(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel whose loops the view has, beside one that has others."""
    monkeypatch.setenv("MESHFUSE_COMPILE", "1")
    x = torch.randn(4, 6).t()
    with FusionDefinition() as fd:
        a = fd.define_tensor([6, 4])
        product = ops.mul(a, 2.0)
        for output in (product, ops.sum(a, [0]), ops.permute(a, [1, 0]), a, product):
            fd.add_output(output)
    product, total, view, same, again = fd.execute([x])
    torch.testing.assert_close(product, x * 2.0)
    torch.testing.assert_close(total, x.sum(0))
    assert view.stride() == x.t().stride()
    assert view.data_ptr() == x.data_ptr()
    assert same.data_ptr() == x.data_ptr()
    assert again.data_ptr() == product.data_ptr()


def test_layouts_of_new_sizes() -> None:
    """Sizes of one class lie as torch's results do, each in the layouts of its operands, whatever sizes came before."""
    with FusionDefinition() as fd:
        a, b = (fd.define_tensor([-1, -1, -1]) for _ in range(2))
        total = ops.add(ops.permute(a, [1, 2, 0]), b)
        fd.add_output(total)
        fd.add_output(ops.exp(ops.permute(total, [2, 0, 1])))
        fd.add_output(ops.sum(ops.neg(a), [1]))
    generator = torch.Generator().manual_seed(0)
    for sizes in [(4, 5, 6), (7, 3, 2), (4, 1, 6), (5, 1, 3), (1, 1, 8), (1, 1, 1), (2, 2, 2)] * 2:
        for lay in LAYOUTS.values():
            for lay_other in LAYOUTS.values():
                x = lay(torch.randn(sizes, generator=generator))
                y = lay_other(torch.randn(sizes[1:] + sizes[:1], generator=generator))
                results = fd.execute([x, y])
                total = x.permute(1, 2, 0) + y
                wanted = [total, total.permute(2, 0, 1).exp(), (-x).sum(1)]
                for result, expected in zip(results, wanted, strict=True):
                    torch.testing.assert_close(result, expected)
                    assert result.stride() == expected.stride()


def test_layouts_are_found_without_torchs_own_compiler():
    """The first operation on meta tensors makes torch load it, which takes more than a second."""
    script = """
import sys
import torch
from meshfuse import FusionDefinition, ops
with FusionDefinition() as fd:
    x, y = fd.define_tensor([-1, -1]), fd.define_tensor([-1, -1])
    z = ops.stride_order(ops.add(ops.permute(ops.exp(x), [1, 0]), 1.0), [1, 0])
    fd.add_output(z)
    fd.add_output(ops.sum(ops.where(ops.gt(x, y), x, ops.mul(x, y)), [1]))
before = {name for name in sys.modules if name.startswith("torch._dynamo")}
x, y = torch.randn(5, 7).t(), torch.randn(7, 5)
z, total = fd.execute([x, y])
assert torch.equal(total.isfinite(), torch.ones(7, dtype=torch.bool))
assert torch.allclose(z, x.exp().t() + 1)
assert "compiled:" in fd.explain()
assert before == {name for name in sys.modules if name.startswith("torch._dynamo")}
"""
    environment = {**os.environ, "MESHFUSE_COMPILE": "1"}
    subprocess.run([sys.executable, "-c", script], env=environment, check=True)
