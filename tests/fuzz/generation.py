"""Random well-typed programs. Every step is tried on the evaluator as it is made, so that its results have known sizes and types,
and mostly finite values."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

import torch
from library_steps import library_step
from programs import (
    LAYOUTS,
    TORCH_TYPES,
    TYPE_NAMES,
    Dim,
    Input,
    Program,
    Step,
    Value,
    needed_steps,
    operand_of,
    size_of,
)
from reshape_steps import reshape_step
from stepwise import run_step
from vocabulary import BINARY, COMMON, COMPLEX, FLOATS, MOST_ELEMENTS, SIZES, TERNARY, UNARY, WHOLE


@dataclass
class Settings:
    """What a run of the fuzzer makes programs of."""

    steps: tuple[int, int] = (4, 25)
    variants: int = 3


class Generator:
    def __init__(self, seed: int, settings: Settings) -> None:
        self.random = random.Random(seed)
        self.seed = seed
        self.settings = settings
        self.values: dict[int, Value] = {}
        self.data: dict[int, torch.Tensor | float | int] = {}
        self.inputs: list[tuple[int, Input]] = []
        self.steps: list[Step] = []
        self.is_static = self.random.random() < 0.3
        self.variants = 1 if self.is_static else settings.variants
        self.dims = [self.new_dim() for _ in range(self.random.randint(1, 4))]

    # --- sizes

    def new_dim(self) -> Dim:
        return tuple(self.random.choice(SIZES) for _ in range(self.variants))

    def shape(self, rank: int) -> tuple[Dim, ...]:
        for _ in range(20):
            shape = tuple(
                1 if self.random.random() < 0.12 else self.random.choice(self.dims)
                for _ in range(rank)
            )
            if self.fits(shape):
                return shape
        return ()

    def fits(self, shape: tuple[Dim, ...]) -> bool:
        """Also where a size is 0: an operand that stretches to the shape may have 1 there."""
        return all(
            math.prod(max(1, size_of(dim, variant)) for dim in shape) <= MOST_ELEMENTS
            for variant in range(self.variants)
        )

    # --- values

    def add_input(self, each: Input) -> int:
        name = len(self.values)
        self.inputs.append((name, each))
        is_number = each.number is not None
        self.values[name] = Value(each.dtype, each.shape, is_number)
        self.data[name] = operand_of(each, 0)
        return name

    def new_input(
        self, shape: tuple[Dim, ...] | None = None, dtype: str | None = None, below: int = 0
    ) -> int:
        if shape is None:
            shape = self.shape(self.random.choice([0, 1, 2, 2, 2, 3, 3, 4]))
        if dtype is None:
            dtype = self.random.choice(
                ["Float"] * 9
                + FLOATS * 2
                + WHOLE
                + ["Int", "Bool"]
                + ([self.random.choice(COMPLEX)])
            )
        layout = self.random.choice(LAYOUTS) if self.random.random() < 0.5 else "contiguous"
        return self.add_input(
            Input(dtype, shape, layout, self.random.randrange(1 << 20), below, self.is_static)
        )

    def new_number(self) -> int:
        dtype, value = self.random.choice(
            [
                ("Double", 0.5),
                ("Double", -1.75),
                ("Float", 2.0),
                ("Int", 3),
                ("Int", -2),
                ("Int", 1),
            ]
        )
        return self.add_input(Input(dtype, number=value))

    def tensors(self) -> list[int]:
        return [name for name, value in self.values.items() if not value.is_number]

    def pick(self, condition: object = None) -> int | None:
        names = self.tensors()
        if callable(condition):
            names = [name for name in names if condition(self.values[name])]
        if not names:
            return None
        # Late values make deep programs.
        return names[max(self.random.randrange(len(names)), self.random.randrange(len(names)))]

    # --- steps

    def try_step(
        self,
        template: str,
        operands: list[int],
        shapes: list[tuple[Dim, ...]],
        allowed_odd: float = 0.05,
    ) -> bool:
        if not all(self.fits(shape) for shape in shapes):
            return False
        results = run_step(template, [self.data[name] for name in operands])
        if isinstance(results, Exception) or len(results) != len(shapes):
            return False
        for result, shape in zip(results, shapes, strict=True):
            if result.dtype not in TYPE_NAMES:
                return False
            if list(result.shape) != [size_of(dim, 0) for dim in shape]:
                raise AssertionError(f"{template}: sizes {list(result.shape)}, not {shape}")
            if self.is_too_odd(result) and self.random.random() > allowed_odd:
                return False
        names = tuple(range(len(self.values), len(self.values) + len(results)))
        for name, result, shape in zip(names, results, shapes, strict=True):
            self.values[name] = Value(TYPE_NAMES[result.dtype], shape)
            self.data[name] = result
        self.steps.append(Step(template, tuple(operands), names))
        return True

    @staticmethod
    def is_too_odd(x: torch.Tensor) -> bool:
        if not (x.dtype.is_floating_point or x.dtype.is_complex) or x.numel() == 0:
            return False
        odd = ~torch.isfinite(x) | (x.abs() > 1e4)
        return bool(odd.double().mean() > 0.3)

    def broadcast(self, shapes: list[tuple[Dim, ...]]) -> tuple[Dim, ...] | None:
        rank = max(len(shape) for shape in shapes)
        result: list[Dim] = []
        for at in range(rank):
            dim: Dim = 1
            for shape in shapes:
                other = shape[at - rank] if at - rank >= -len(shape) else 1
                if other == 1 or other == dim:
                    continue
                if dim != 1:
                    return None
                dim = other
            result.append(dim)
        return tuple(result)

    def partner(self, shape: tuple[Dim, ...]) -> int:
        """A value that broadcasts with the shape."""
        names = [
            name
            for name in self.tensors()
            if self.broadcast([shape, self.values[name].shape]) is not None
            and len(self.values[name].shape) in (len(shape), 0)
        ]
        if names and self.random.random() < 0.75:
            return self.random.choice(names)
        reduced = tuple(1 if self.random.random() < 0.3 else dim for dim in shape)
        return self.new_input(reduced)

    def literal(self) -> str:
        return self.random.choice(["2", "-3", "0.5", "1.0", "-0.25", "1", "True", "3.0"])

    def pointwise(self) -> bool:
        if self.random.random() < 0.4:
            op = self.random.choice(COMMON)
        else:
            op = self.random.choice(UNARY + BINARY + TERNARY + ["addcmul", "cast", "clamp"])
        x = self.pick()
        if x is None:
            return False
        shape = self.values[x].shape
        if op == "cast":
            target = self.random.choice(list(TORCH_TYPES))
            return self.try_step(f"fd.ops.cast({{0}}, dtype=DataType.{target})", [x], [shape])
        if op == "clamp":
            bounds = self.random.choice(
                ["-1.5, 2.0", "None, 1.25", "0, None", "1.0, -1.0", "-1, {1}"]
            )
            operands = [x, self.new_number()] if "{1}" in bounds else [x]
            return self.try_step(f"fd.ops.clamp({{0}}, {bounds})", operands, [shape])
        arity = 1 if op in UNARY else 2 if op in BINARY else 4 if op == "addcmul" else 3
        operands = [x]
        if op == "where":
            conditions = [n for n in self.tensors() if self.values[n].dtype == "Bool"]
            fitting = [n for n in conditions if self.broadcast([shape, self.values[n].shape])]
            operands = [self.random.choice(fitting)] if fitting else [self.new_input(shape, "Bool")]
        texts = ["{0}"]
        while len(texts) < arity:
            chance = self.random.random()
            if (op == "addcmul" and len(texts) == 3) or (chance < 0.15 and op != "complex"):
                texts.append(self.literal())
            elif chance < 0.25 and op != "complex":
                numbers = [n for n, value in self.values.items() if value.is_number]
                operands.append(self.random.choice(numbers) if numbers else self.new_number())
                texts.append(f"{{{len(operands) - 1}}}")
            else:
                operands.append(self.partner(shape))
                texts.append(f"{{{len(operands) - 1}}}")
        shapes = [self.values[name].shape for name in operands if not self.values[name].is_number]
        result = self.broadcast(shapes)
        if result is None or any(len(s) not in (len(result), 0) for s in shapes):
            return False
        if (
            arity > 1
            and len(texts) == 2
            and self.random.random() < 0.2
            and op not in ("where", "lerp")
        ):
            texts.reverse()
        return self.try_step(f"fd.ops.{op}({', '.join(texts)})", operands, [result])

    def reduction(self) -> bool:
        x = self.pick(lambda value: len(value.shape) > 0)
        if x is None:
            return False
        shape = self.values[x].shape
        dims = sorted(self.random.sample(range(len(shape)), self.random.randint(1, len(shape))))
        keeps = self.random.random() < 0.5
        op = self.random.choice(["sum", "sum", "max", "min", "prod", "var", "var_mean", "welford"])
        if op == "welford":
            keeps = False
        kept = tuple(
            1 if at in dims else dim for at, dim in enumerate(shape) if keeps or at not in dims
        )
        more = ""
        if op in ("var", "var_mean"):
            more = f", correction={self.random.choice([0, 1])}"
        if op != "welford":
            more += f", keepdim={keeps}"
        outputs = {"var_mean": 2, "welford": 3}.get(op, 1)
        shapes = [kept] * outputs
        if not self.try_step(f"fd.ops.{op}({{0}}, dims={dims}{more})", [x], shapes, 0.2):
            return False
        if not keeps and self.random.random() < 0.5:
            flags = [at in dims for at in range(len(shape))]
            result = len(self.values) - self.random.randint(1, outputs)
            widened = tuple(1 if flag else dim for flag, dim in zip(flags, shape, strict=True))
            if self.try_step(f"fd.ops.broadcast({{0}}, {flags})", [result], [widened]):
                row = len(self.values) - 1
                op = self.random.choice(["sub", "mul", "add", "truediv"])
                self.try_step(f"fd.ops.{op}({{0}}, {{1}})", [x, row], [shape])
        return True

    def rows_and_columns(self) -> bool:
        """Sums along some dimensions and along the others, of what is computed between them: gradients of a norm."""
        x = self.pick(lambda value: len(value.shape) > 1)
        if x is None:
            return False
        shape = self.values[x].shape
        at = self.random.choice([len(shape) - 1, self.random.randrange(len(shape))])
        op = self.random.choice(["sum", "max", "var"])
        row = tuple(1 if dim == at else size for dim, size in enumerate(shape))
        more = ", correction=0" if op == "var" else ""
        if not self.try_step(f"fd.ops.{op}({{0}}, dims=[{at}]{more}, keepdim=True)", [x], [row]):
            return False
        scale = len(self.values) - 1
        op = self.random.choice(["sub", "mul", "add"])
        if not self.try_step(f"fd.ops.{op}({{0}}, {{1}})", [x, scale], [shape]):
            return False
        made = len(self.values) - 1
        others = [dim for dim in range(len(shape)) if dim != at]
        keeps = self.random.random() < 0.5
        column = tuple(
            size if dim == at else 1 for dim, size in enumerate(shape) if keeps or dim == at
        )
        for summed in self.random.sample([x, made, made], self.random.randint(1, 2)):
            self.try_step(
                f"fd.ops.sum({{0}}, dims={others}, keepdim={keeps})", [summed], [column], 0.2
            )
        return True

    def view(self) -> bool:
        x = self.pick(lambda value: len(value.shape) > 0)
        if x is None:
            return False
        shape = self.values[x].shape
        rank = len(shape)
        at = self.random.randrange(rank)
        kind = self.random.choice(["permute", "permute", "transpose_add", "broadcast", "squeeze"])
        if kind in ("permute", "transpose_add"):
            order = self.random.sample(range(rank), rank)
            turned = tuple(shape[dim] for dim in order)
            if not self.try_step(f"fd.ops.permute({{0}}, {order})", [x], [turned]):
                return False
            if kind == "transpose_add":
                both = self.broadcast([shape, turned])
                if both is not None:
                    op = self.random.choice(["add", "mul", "sub", "lt"])
                    self.try_step(f"fd.ops.{op}({{0}}, {{1}})", [x, len(self.values) - 1], [both])
            return True
        if kind == "broadcast":
            flags = [False] * rank
            flags.insert(at, True)
            wide = (*shape[:at], 1, *shape[at:])
            return rank < 5 and self.try_step(f"fd.ops.broadcast({{0}}, {flags})", [x], [wide])
        ones = [dim for dim in range(rank) if shape[dim] == 1]
        if not ones:
            return False
        at = self.random.choice(ones)
        return self.try_step(f"fd.ops.squeeze({{0}}, [{at}])", [x], [shape[:at] + shape[at + 1 :]])

    # --- the program

    def program(self) -> Program:
        for _ in range(self.random.randint(1, 3)):
            self.new_input()
        if self.random.random() < 0.3:
            self.new_number()
        wanted = self.random.randint(*self.settings.steps)
        for _ in range(wanted * 3):
            if len(self.steps) >= wanted:
                break
            chance = self.random.random()
            if chance < 0.62:
                self.pointwise()
            elif chance < 0.73:
                self.reduction()
            elif chance < 0.77:
                self.rows_and_columns()
            elif chance < 0.86:
                self.view()
            elif chance < 0.93:
                reshape_step(self)
            else:
                library_step(self)
        made = [name for step in self.steps for name in step.results]
        used = {name for step in self.steps for name in step.operands}
        outputs = [name for name in made if name not in used]
        inner = [name for name in made if name in used]
        outputs += self.random.sample(inner, min(len(inner), self.random.choice([0, 0, 1, 2, 3])))
        if self.random.random() < 0.05:
            outputs += [
                self.random.choice([name for name, each in self.inputs if each.number is None])
            ]
        self.random.shuffle(outputs)
        writes = []
        if self.random.random() < 0.25:
            for name, each in self.inputs:
                fitting = [
                    value
                    for value in made
                    if each.number is None
                    and each.layout != "expanded"
                    and self.values[value] == self.values[name]
                ]
                if fitting:
                    writes.append((self.random.choice(fitting), name))
                    break
        return needed_steps(
            Program(
                tuple(self.inputs),
                tuple(self.steps),
                tuple(outputs),
                tuple(writes),
                dict(self.values),
                self.variants,
            )
        )


def generate(seed: int, settings: Settings) -> Program:
    torch.manual_seed(seed)
    return Generator(seed, settings).program()
