"""A fusion as data: made at random, run, shrunk and printed as Python that runs by itself."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
from stepwise import Number

from meshfuse import DataType, FusionDefinition

ERRORS = (ValueError, RuntimeError, TypeError, IndexError, ArithmeticError)

TORCH_TYPES = {
    "Float": torch.float32,
    "Double": torch.float64,
    "Half": torch.float16,
    "BFloat16": torch.bfloat16,
    "Int": torch.int64,
    "Int32": torch.int32,
    "Bool": torch.bool,
    "ComplexFloat": torch.complex64,
    "ComplexDouble": torch.complex128,
}
TYPE_NAMES = {torch_type: name for name, torch_type in TORCH_TYPES.items()}

# The sizes of a dimension, one for each time that a program is run; 1 stands for a broadcast.
Dim = tuple[int, ...] | int

LAYOUTS = ("contiguous", "reversed", "strided", "offset", "expanded", "gaps")


def size_of(dim: Dim, variant: int) -> int:
    return dim if isinstance(dim, int) else dim[variant]


@dataclass(frozen=True)
class Input:
    """A tensor input, whose values follow from the seed, or a number."""

    dtype: str
    shape: tuple[Dim, ...] = ()
    layout: str = "contiguous"
    seed: int = 0
    # Index inputs hold whole numbers below this; 0 for others.
    below: int = 0
    # Fixed sizes are part of the definition.
    is_static: bool = False
    number: float | int | None = None

    def definition(self) -> str:
        if self.number is not None:
            return f"fd.define_scalar(DataType.{self.dtype})"
        sizes = [
            dim if isinstance(dim, int) else dim[0] if self.is_static else -1 for dim in self.shape
        ]
        return f"fd.define_tensor({sizes}, dtype=DataType.{self.dtype})"

    def value_text(self, variant: int) -> str:
        if self.number is not None:
            return repr(self.number)
        sizes = [size_of(dim, variant) for dim in self.shape]
        more = f", below={self.below}" if self.below else ""
        return f"make({sizes}, {TORCH_TYPES[self.dtype]}, {self.layout!r}, {self.seed}{more})"


@dataclass(frozen=True)
class Step:
    """A call: `template` with `{i}` for the i-th operand."""

    template: str
    operands: tuple[int, ...]
    results: tuple[int, ...]

    @property
    def op(self) -> str:
        return self.template.split("(", 1)[0].removeprefix("fd.ops.")


@dataclass(frozen=True)
class Value:
    dtype: str
    shape: tuple[Dim, ...] = ()
    is_number: bool = False


@dataclass(frozen=True)
class Program:
    inputs: tuple[tuple[int, Input], ...]  # with the values' names
    steps: tuple[Step, ...]
    outputs: tuple[int, ...]
    # Value, and the input that it is written to.
    writes: tuple[tuple[int, int], ...] = ()
    values: dict[int, Value] = field(default_factory=dict)
    variants: int = 1

    def definition(self) -> str:
        lines = ["with FusionDefinition() as fd:"]
        for name, each in self.inputs:
            lines.append(f"    v{name} = {each.definition()}")
        for step in self.steps:
            names = ", ".join(f"v{result}" for result in step.results)
            call = step.template.format(*(f"v{operand}" for operand in step.operands))
            lines.append(f"    {names} = {call}")
        lines += [f"    fd.add_output(v{output})" for output in self.outputs]
        lines += [
            f"    fd.add_output(v{value}, alias_input=v{into})" for value, into in self.writes
        ]
        return "\n".join(lines) + "\n"

    def script(self) -> str:
        """Python that compares both ways to run it; tests/fuzz is to be on its path."""
        calls = [
            "[" + ", ".join(each.value_text(variant) for _, each in self.inputs) + "]"
            for variant in range(self.variants)
        ]
        lists = "".join(f"    {call},\n" for call in calls)
        body = self.definition().replace("\n", "\n    ").rstrip(" ")
        return (
            "import torch\nfrom meshfuse import DataType, FusionDefinition\n"
            "from programs import make, show\n\n\n"
            f"def define():\n    {body}    return fd\n\n\n"
            f"show(define, [\n{lists}])\n"
        )


def needed_steps(program: Program) -> Program:
    """Without steps and inputs that no result needs."""
    needed = set(program.outputs)
    for value, into in program.writes:
        needed |= {value, into}
    steps = []
    for step in reversed(program.steps):
        if needed & set(step.results):
            needed |= set(step.operands)
            steps.append(step)
    inputs = tuple((name, each) for name, each in program.inputs if name in needed)
    return dataclasses.replace(program, inputs=inputs, steps=tuple(reversed(steps)))


def laid_out(x: torch.Tensor, layout: str) -> torch.Tensor:
    """The same values, but for expanded ones, in another layout."""
    if layout == "reversed":
        return (
            x.permute(*range(x.dim())[::-1]).contiguous().permute(*range(x.dim())[::-1])
            if x.dim() > 1
            else x
        )
    if layout == "strided":
        return torch.stack([x, torch.zeros_like(x)], -1)[..., 0]
    if layout == "offset":
        return torch.cat([x.flatten().new_zeros(3), x.flatten()])[3:].view(x.shape)
    if layout == "expanded" and x.dim() > 0 and x.shape[0] > 0:
        return x[:1].clone().expand(x.shape)
    if layout == "gaps" and x.dim() > 0:
        return torch.cat([x, torch.zeros_like(x), torch.zeros_like(x)], -1)[..., : x.shape[-1]]
    return x


def make(
    sizes: Sequence[int],
    dtype: torch.dtype,
    layout: str = "contiguous",
    seed: int = 0,
    below: int = 0,
) -> torch.Tensor:
    """A tensor of values that show faults: both signs, whole numbers, a few of them special."""
    generator = torch.Generator().manual_seed(seed)
    sizes = list(sizes)
    if below:
        return laid_out(torch.randint(0, below, sizes, generator=generator).to(dtype), layout)
    if dtype == torch.bool:
        return laid_out(torch.rand(sizes, generator=generator) < 0.5, layout)
    if not dtype.is_floating_point and not dtype.is_complex:
        x = torch.randint(-9, 10, sizes, generator=generator)
        if seed % 5 == 0:
            extremes = torch.tensor([torch.iinfo(dtype).min, torch.iinfo(dtype).max, 0])
            picked = extremes[torch.randint(0, 3, sizes, generator=generator)]
            x = torch.where(torch.rand(sizes, generator=generator) < 0.1, picked, x)
        return laid_out(x.to(dtype), layout)
    x = torch.randn(sizes, generator=generator, dtype=torch.float64) * 1.5
    if seed % 3 == 0:
        x = (x * 4).round() / 4
    if seed % 4 == 0:
        special = torch.tensor(
            [float("nan"), float("inf"), -float("inf"), -0.0, 0.0, 1.0], dtype=torch.float64
        )
        picked = special[torch.randint(0, 6, sizes, generator=generator)]
        x = torch.where(torch.rand(sizes, generator=generator) < 0.05, picked, x)
    if dtype.is_complex:
        x = torch.complex(x, torch.randn(sizes, generator=generator, dtype=torch.float64))
    return laid_out(x.to(dtype), layout)


def define(text: str) -> FusionDefinition:
    names: dict[str, object] = {"FusionDefinition": FusionDefinition, "DataType": DataType}
    exec(text, names)
    fd = names["fd"]
    assert isinstance(fd, FusionDefinition)
    return fd


def execute(fd: FusionDefinition, inputs: list, compiled: bool) -> list[torch.Tensor] | Exception:
    """Results, then what was written into; or what was thrown."""
    os.environ["MESHFUSE_COMPILE"] = "1" if compiled else "0"
    torch.manual_seed(1)
    try:
        return list(fd.execute(inputs))
    except ERRORS as error:
        return error


def copied(x: object) -> object:
    """A tensor of its own with the same strides."""
    if not isinstance(x, torch.Tensor):
        return x
    if any(stride == 0 and size > 1 for stride, size in zip(x.stride(), x.shape, strict=True)):
        return x
    length = 1 + sum((size - 1) * stride for size, stride in zip(x.shape, x.stride(), strict=True))
    if x.numel() == 0:
        return x.clone()
    flat = torch.empty(length, dtype=x.dtype)
    fresh = flat.as_strided(x.shape, x.stride())
    return fresh.copy_(x)


def run(program: Program, variant: int, fd: FusionDefinition, compiled: bool) -> list | Exception:
    """Outputs and the inputs that are written."""
    inputs = [copied(value_of(each, variant)) for _, each in program.inputs]
    results = execute(fd, inputs, compiled)
    if isinstance(results, Exception):
        return results
    position = {name: i for i, (name, _) in enumerate(program.inputs)}
    return results + [inputs[position[into]] for _, into in program.writes]


def value_of(each: Input, variant: int) -> torch.Tensor | float | int:
    return eval(each.value_text(variant), {"make": make, "torch": torch})


def operand_of(each: Input, variant: int) -> torch.Tensor | Number:
    """As run_step takes it."""
    if each.number is not None:
        return Number(each.number, each.dtype)
    return value_of(each, variant)


def show(definition: Callable[[], FusionDefinition], calls: list[list]) -> None:
    """Prints where compiled and evaluated results differ."""
    evaluating, compiling = definition(), definition()
    for inputs in calls:
        evaluated = execute(evaluating, [copied(x) for x in inputs], False)
        compiled = execute(compiling, [copied(x) for x in inputs], True)
        if isinstance(evaluated, Exception) or isinstance(compiled, Exception):
            print("evaluated:", evaluated, "compiled:", compiled, sep="\n")
            continue
        for i, (want, got) in enumerate(zip(evaluated, compiled, strict=True)):
            same = (
                want.dtype == got.dtype
                and torch.equal(want.isnan(), got.isnan())
                and torch.equal(want.nan_to_num(), got.nan_to_num())
            )
            print(f"output {i}: {'equal' if same else 'DIFFERENT'}")
            if not same:
                print("evaluated", want)
                print("compiled", got)
