"""Compiling without running, and in the background while the evaluator runs."""

import os
import stat
import subprocess
import sys
import textwrap

import pytest
import torch
from meshfuse.kernels import kernel_statistics
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed.tensor import DTensor, Replicate

from meshfuse import FusionDefinition

LOADED = "launch kernel"


@pytest.fixture(autouse=True)
def compiling(monkeypatch):
    monkeypatch.setenv("MESHFUSE_COMPILE", "1")


def softmax_definition():
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        powers = fd.ops.exp(fd.ops.sub(x, fd.ops.max(x, [1], keepdim=True)))
        fd.add_output(fd.ops.truediv(powers, fd.ops.sum(powers, [1], keepdim=True)))
    return fd


def kernels_asked_for():
    counts = kernel_statistics()
    return counts.compiled + counts.loaded_from_disk + counts.found_in_memory


def fake(*sizes):
    with FakeTensorMode():
        return torch.empty(*sizes)


@pytest.mark.parametrize(
    "example",
    [torch.ones(5, 300), torch.empty(5, 300, device="meta"), fake(5, 300)],
    ids=["tensor", "meta", "fake"],
)
@pytest.mark.parametrize("as_list", [list, tuple])
def test_the_next_call_finds_everything(example, as_list):
    fd = softmax_definition()
    assert fd.compile(as_list([example])) is None
    assert LOADED in fd.explain()
    before = kernels_asked_for()
    x = torch.randn(5, 300)
    (result,) = fd.execute([x])
    torch.testing.assert_close(result, torch.softmax(x, 1))
    assert kernels_asked_for() == before


def test_fake_examples_are_taken_under_their_mode():
    fd = softmax_definition()
    with FakeTensorMode():
        fd.compile([torch.empty(4, 200)])
    assert LOADED in fd.explain()
    x = torch.randn(4, 200)
    torch.testing.assert_close(fd.execute([x])[0], torch.softmax(x, 1))


def test_strides_of_meta_examples_count():
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1])
        fd.add_output(fd.ops.sum(fd.ops.mul(x, x), [1]))
    fd.compile([torch.empty(6, 50, device="meta").t()])
    before = kernels_asked_for()
    x = torch.randn(6, 50).t()
    torch.testing.assert_close(fd.execute([x])[0], (x * x).sum(1))
    assert kernels_asked_for() == before


def test_the_executor_of_a_definition_compiles():
    fd = softmax_definition()
    fd.compile([torch.empty(3, 100, device="meta")])
    fd.fec.compile([torch.empty(9, 100, device="meta")])
    before = kernels_asked_for()
    fd.execute([torch.randn(9, 100)])
    assert kernels_asked_for() == before


def test_inputs_are_not_written_and_the_definition_is_closed():
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.mul(fd.ops.sum(x, [1], keepdim=True), x), x)
    x = torch.ones(3, 4)
    fd.compile([x])
    assert torch.equal(x, torch.ones(3, 4))
    with pytest.raises(AttributeError, match="an executed definition is closed"):
        fd.define_tensor([2])
    fd.execute([x])
    assert torch.equal(x, torch.full((3, 4), 4.0))


def test_numbers_and_lists_of_tensors():
    with FusionDefinition() as fd:
        x, y = (fd.define_tensor([-1, -1], contiguity=True) for _ in range(2))
        total = fd.ops.sum(fd.ops.mul(x, y), [1])
        fd.add_output(fd.ops.mul(total, fd.define_scalar()))
    meta = torch.empty(3, 40, device="meta")
    fd.compile([[meta, meta], 2.0])
    x, y = torch.randn(2, 3, 40)
    torch.testing.assert_close(fd.execute([[x, y], 3.0])[0], (x * y).sum(1) * 3)


@pytest.mark.parametrize("inputs", [[], [torch.ones(2)], ["text"], torch.ones(2, 2), 3])
def test_refuses_what_execute_refuses(inputs):
    errors = []
    for name in ("compile", "execute"):
        with pytest.raises((RuntimeError, TypeError, ValueError)) as error:
            getattr(softmax_definition(), name)(inputs)
        errors.append((error.type, str(error.value)))
    assert errors[0] == errors[1]


def test_dtensors(mesh):
    fd = softmax_definition()
    d = DTensor.from_local(torch.randn(3, 60), mesh, [Replicate()], run_check=False)
    fd.compile([d])
    before = kernels_asked_for()
    (result,) = fd.execute([d])
    torch.testing.assert_close(result.to_local(), torch.softmax(d.to_local(), 1))
    assert kernels_asked_for() == before
    del d, result


def test_distributed_programs_have_their_kernels_before_the_first_call(mesh, monkeypatch):
    monkeypatch.setenv("MESHFUSE_TIERED", "1")
    fd = softmax_definition()
    d = DTensor.from_local(torch.randn(3, 70), mesh, [Replicate()], run_check=False)
    (result,) = fd.execute([d])
    assert LOADED in fd.explain()
    torch.testing.assert_close(result.to_local(), torch.softmax(d.to_local(), 1))
    del d, result


def run_tiered(tmp_path, program, **environment):
    """What a process prints, with an empty cache of kernels."""
    preamble = """
        import torch
        from meshfuse import FusionDefinition, _C
        from meshfuse.kernels import kernel_statistics
        with FusionDefinition() as fd:
            x = fd.define_tensor([-1, -1], contiguity=True)
            fd.add_output(fd.ops.truediv(x, fd.ops.sum(fd.ops.mul(x, x), [1], keepdim=True)))
        x = torch.randn(4, 30)
        def run():
            torch.testing.assert_close(fd.execute([x])[0], x / (x * x).sum(1, keepdim=True))
    """
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(preamble) + textwrap.dedent(program)],
        env=os.environ
        | {"MESHFUSE_TIERED": "1", "MESHFUSE_CACHE_DIR": str(tmp_path / "cache")}
        | environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )


def test_tiered_calls_change_to_kernels(tmp_path):
    done = run_tiered(
        tmp_path,
        """
        run()
        fd.compile([x])
        run()
        print(kernel_statistics().compiled, "launch kernel" in fd.explain())
        """,
    )
    assert done.stdout == "1 True\n"
    assert done.stderr == ""


def test_a_process_may_end_while_it_compiles(tmp_path):
    assert run_tiered(tmp_path, "run()").stderr == ""


def test_after_the_end_of_the_thread_the_evaluator_goes_on(tmp_path):
    done = run_tiered(
        tmp_path,
        """
        _C.end_background_thread()
        run()
        fd.compile([x])
        run()
        print("launch kernel" in fd.explain())
        """,
    )
    assert done.stdout == "False\n"


def test_a_refused_kernel_is_told_once_and_the_evaluator_goes_on(tmp_path):
    compiler = tmp_path / "refuse"
    # A compiler that works, but not for kernels of ours.
    compiler.write_text(
        "#!/bin/sh\n"
        'for word in "$@"; do case "$word" in *.cpp) grep -q "namespace device" "$word" && '
        '{ echo "error: no such luck"; exit 1; };; esac; done\nexec c++ "$@"\n'
    )
    compiler.chmod(compiler.stat().st_mode | stat.S_IXUSR)
    done = run_tiered(
        tmp_path,
        """
        run()
        fd.compile([x])
        for _ in range(3):
            run()
        print("launch kernel" in fd.explain())
        """,
        MESHFUSE_CXX=str(compiler),
    )
    assert done.stdout == "False\n"
    assert done.stderr.count("compilation in the background has failed") == 1
    assert done.stderr.count("no such luck") == 1


def test_without_a_compiler_one_warning_is_given(tmp_path):
    done = run_tiered(
        tmp_path,
        """
        run()
        fd.compile([x])
        run()
        """,
        MESHFUSE_CXX="/no/compiler",
    )
    assert done.stderr.count("no compiler for CPU kernels was found") == 1


def test_a_wrong_value_of_the_variable_is_refused(monkeypatch):
    monkeypatch.setenv("MESHFUSE_TIERED", "yes")
    with pytest.raises(ValueError, match="MESHFUSE_TIERED: the variable is 0 or 1: got 'yes'"):
        softmax_definition().execute([torch.ones(2, 2)])
