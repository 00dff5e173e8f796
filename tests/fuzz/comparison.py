"""Whether two runs of a program agree as closely as its operations are accurate.

Results that no inexact operation leads to are equal. For others, the program is run again step by step on the evaluator, and what
inexact operations give is moved by random amounts within their accuracy: as far as that moves a result, compiled and evaluated
ones may differ. An element that thereby changes between whole numbers, or between finite and not, is not compared."""

from __future__ import annotations

import torch
from products import dims_of, product_in_some_order
from programs import ERRORS, Program, Step, operand_of
from stepwise import Number, run_step
from vocabulary import BINARY, INEXACT, TERNARY, UNARY

# Units in the last place that two implementations may differ by: each has an error of at most 4.
UNITS = 8.0
TRIALS = (6, 40, 400)


# Operations whose results are the same however they are computed: those of the vocabulary that are not inexact, and what moves
# or chooses elements.
EXACT = ({*UNARY, *BINARY, *TERNARY, "addcmul"} - INEXACT - {"lerp"}) | {
    "argsort",
    "broadcast",
    "cast",
    "cat",
    "clamp",
    "embedding_fwd",
    "expand",
    "full",
    "gather",
    "index_select",
    "max",
    "min",
    "normal",
    "pad",
    "permute",
    "rand_like",
    "randn_like",
    "reshape",
    "select",
    "slice",
    "squeeze",
    "stride_order",
    "take_along_axis",
    "triu",
    "uniform",
}
EXACT_ON_COMPLEX = EXACT - {"abs", "reciprocal", "div", "truediv", "mul", "addcmul", "sign"}
# torch multiplies what is added by 1 + 0i, which makes NaN of an infinite part; finite numbers are the same.
EXACT_IF_FINITE = {"add", "sub"}
REDUCTIONS = {"sum", "prod", "var", "var_mean", "welford", "cumsum", "matmul", "linear"}


# torch's vectors of remainders are NaN, or 0, for large quotients.
REMAINDERS = ("mod", "fmod", "remainder")


def is_inexact(op: str, operands: list, results: list[torch.Tensor]) -> bool:
    if op in ("signbit", "gcd"):
        return True
    if not any(x.dtype.is_floating_point or x.dtype.is_complex for x in results):
        return False
    tensors = [x for x in operands if isinstance(x, torch.Tensor)] + results
    if any(x.dtype.is_complex for x in tensors):
        return op not in EXACT_ON_COMPLEX or op in EXACT_IF_FINITE
    return op not in EXACT or op in REMAINDERS


def magnitude(op: str, operands: list, result: torch.Tensor) -> torch.Tensor:
    """What the error of a reduction is relative to, for each element of the result."""
    x = operands[0].to(torch.complex128 if operands[0].dtype.is_complex else torch.float64).abs()
    x = x.nan_to_num(0, 0, 0)
    whole = float(x.sum()) if op != "prod" else 1.0
    if op in ("var", "var_mean", "welford"):
        whole += float((x * x).sum())
    if op in ("matmul", "linear"):
        other = operands[1].double().abs()
        product = x @ (other if op == "matmul" else other.transpose(-1, -2))
        return product.nan_to_num(0, 0, 0)
    return torch.full(result.shape, whole / max(1, result.numel()), dtype=torch.float64).nan_to_num(
        0, 0, 0
    )


def arguments_of(step: Step, operands: list) -> list[torch.Tensor]:
    """Of a step whose arguments are operands and numbers alone."""
    texts = step.template[step.template.index("(") + 1 : -1].split(", ")
    values = [operands[int(text[1:-1])] if text.startswith("{") else eval(text) for text in texts]
    return [torch.as_tensor(x.value if isinstance(x, Number) else x) for x in values]


def size_of_terms(step: Step, operands: list) -> torch.Tensor:
    """Of a lerp, whose terms may cancel."""
    start, end, weight = (x.to(torch.complex128) for x in arguments_of(step, operands))
    return (start.abs() + end.abs() + (weight * (end - start)).abs()).nan_to_num(0, 0, 0)


def random_direction(shape: torch.Size, generator: torch.Generator) -> torch.Tensor:
    """From -1 to 1: often the ends, and often in between, for functions that turn around there."""
    ends = torch.randint(-1, 2, shape, generator=generator).double()
    inner = 2 * torch.rand(shape, generator=generator, dtype=torch.float64) - 1
    return torch.where(torch.rand(shape, generator=generator) < 0.5, ends, inner)


def moved(
    step: Step, operands: list, result: torch.Tensor, generator: torch.Generator, factor: float
) -> torch.Tensor:
    """The result with random errors of the operation's size."""
    op = step.op
    if op == "signbit":  # NaN has any sign
        return torch.where(
            operands[0].isnan(), torch.rand(result.shape, generator=generator) < 0.5, result
        )
    if op == "gcd":  # of the least number, which has no absolute value
        sign = torch.randint(0, 2, result.shape, generator=generator) * 2 - 1
        least = torch.iinfo(result.dtype).min
        odd = torch.zeros(result.shape, dtype=torch.bool)
        for x in operands:
            odd |= (x if isinstance(x, torch.Tensor) else torch.tensor(x.value)) == least
        return torch.where(odd, result * sign.to(result.dtype), result)
    if not (result.dtype.is_floating_point or result.dtype.is_complex):
        return result
    if op in REMAINDERS:
        a, b = arguments_of(step, operands)
        is_large = ~((a.double() / b.double()).abs() <= 1e6)
        any_of = torch.tensor([torch.nan, 0.0, 1.0], dtype=torch.float64)
        picked = any_of[torch.randint(0, 3, result.shape, generator=generator)]
        unknown = torch.where(picked == 1, result.double(), picked).to(result.dtype)
        return torch.where(is_large, unknown, result)
    wide = torch.complex128 if result.dtype.is_complex else torch.float64
    value = result.to(wide)
    unit = torch.finfo(result.dtype).eps * factor
    direction = random_direction(result.shape, generator)
    if result.dtype.is_complex:
        direction = torch.complex(direction, random_direction(result.shape, generator))
        # Which parts of an overflowing number are infinite and which NaN follows from the formula.
        parts = torch.tensor([torch.inf, torch.nan, 1.0], dtype=torch.float64)
        picks = torch.randint(0, 3, (2, *result.shape), generator=generator)
        picks[0] = torch.where(picks[1] == 2, picks[0].clamp(max=1), picks[0])
        odd = torch.complex(parts[picks[0]], parts[picks[1]])
        value = torch.where(torch.isfinite(value.real) & torch.isfinite(value.imag), value, odd)
        if op in EXACT_IF_FINITE:
            return value.to(result.dtype)
    units = UNITS if unit < 1e-4 * factor else 1.0
    smallest = torch.finfo(result.dtype).smallest_normal * torch.finfo(result.dtype).eps
    error = value.abs() * unit * units + units * smallest
    if op == "lerp":
        error = error + size_of_terms(step, operands) * unit * units
    if op in REDUCTIONS:
        accumulated = unit if unit < 1e-4 * factor else 2.0**-23 * factor
        count = operands[0].numel() / max(1, result.numel())
        error = error + magnitude(op, operands, result) * accumulated * (4 + count / 16)
    if op == "prod":
        value = product_in_some_order(operands[0], dims_of(step.template), value, generator)
    if op in ("var", "var_mean", "welford") and not result.dtype.is_complex:
        # One algorithm gives NaN where another gives the infinity that is among the elements.
        keeps = torch.isfinite(value) | (torch.rand(result.shape, generator=generator) < 0.5)
        value = torch.where(keeps, value, torch.inf)
    error = error.nan_to_num(0, 0, 0)
    # Where nothing may be left of a number, that is one of the results: dividing by it is another matter.
    vanishes = (error >= value.abs()) & (torch.rand(result.shape, generator=generator) < 0.25)
    return torch.where(vanishes, 0, value + direction * error).to(result.dtype)


class Stepper:
    """Runs a program step by step, once exactly and then with errors."""

    def __init__(self, program: Program, variant: int) -> None:
        self.program = program
        self.inputs = {name: operand_of(each, variant) for name, each in program.inputs}
        self.has_inexact = False

    def run(self, generator: torch.Generator | None, factor: float) -> dict[int, object]:
        values: dict[int, object] = dict(self.inputs)
        torch.manual_seed(1)  # numbers are drawn as when all of it is executed
        for step in self.program.steps:
            operands = [values[name] for name in step.operands]
            results = run_step(step.template, operands)
            if isinstance(results, Exception):
                raise results
            if generator is not None and is_inexact(step.op, operands, results):
                self.has_inexact = True
                results = [moved(step, operands, x, generator, factor) for x in results]
            values.update(zip(step.results, results, strict=True))
        return values


def as_wide(x: torch.Tensor) -> torch.Tensor:
    return torch.view_as_real(x.to(torch.complex128)) if x.dtype.is_complex else x.double()


def differing(want: torch.Tensor, got: torch.Tensor) -> torch.Tensor:
    """Elements that are not the same, NaN being equal to NaN and -0 to 0."""
    if not (want.dtype.is_floating_point or want.dtype.is_complex):
        return want != got
    a, b = as_wide(want), as_wide(got)
    result = ~((a == b) | (a.isnan() & b.isnan()))
    return result.any(-1) if want.dtype.is_complex else result


def layout_of(x: torch.Tensor) -> list[int]:
    """The strides that say where an element lies."""
    return [
        stride for size, stride in zip(x.shape, x.stride(), strict=True) if size != 1 and x.numel()
    ]


def compare(program: Program, variant: int, evaluated: list, compiled: list) -> str | None:
    """What is wrong with the compiled results; None where nothing is."""
    names = [*program.outputs, *(value for value, _ in program.writes)]
    if len(evaluated) != len(compiled):
        return f"{len(compiled)} results, not {len(evaluated)}"
    suspects = []
    for at, (want, got) in enumerate(zip(evaluated, compiled, strict=True)):
        if want.dtype != got.dtype or want.shape != got.shape:
            return f"v{names[at]}: {got.dtype}{list(got.shape)}, not {want.dtype}{list(want.shape)}"
        if layout_of(want) != layout_of(got):
            return (
                f"v{names[at]}: {list(got.shape)} has strides {got.stride()}, not {want.stride()}"
            )
        if bool(differing(want, got).any()):
            suspects.append(at)
    if not suspects:
        return None
    for trials in TRIALS:
        failure = explain(program, variant, evaluated, compiled, names, suspects, trials)
        if failure is None:
            return None
    return failure


def explain(
    program: Program,
    variant: int,
    evaluated: list,
    compiled: list,
    names: list[int],
    suspects: list[int],
    trials: int,
) -> str | None:
    stepper = Stepper(program, variant)
    runs = []
    for trial in range(trials):
        generator = torch.Generator().manual_seed(trial)
        try:
            runs.append(stepper.run(generator, 1.0 if trials < 10 else 2.0))
        except ERRORS as error:
            return f"step by step: {error}"
        if not stepper.has_inexact:
            break
    for at in suspects:
        failure = compare_value(
            names[at], evaluated[at], compiled[at], [run[names[at]] for run in runs]
        )
        if failure is not None:
            return failure
    return None


def compare_value(name: int, want: torch.Tensor, got: torch.Tensor, runs: list) -> str | None:
    if not (want.dtype.is_floating_point or want.dtype.is_complex):
        stable = torch.ones(want.shape, dtype=torch.bool)
        for run in runs:
            stable &= run == want
        wrong = stable & (want != got)
        return describe(name, want, got, wrong) if bool(wrong.any()) else None
    a, b = as_wide(want), as_wide(got)
    others = [as_wide(run) for run in runs]
    spread = torch.zeros_like(a)
    stable = torch.ones_like(a, dtype=torch.bool)
    for other in others:
        same_kind = (other.isnan() == a.isnan()) & (other.isinf() == a.isinf())
        stable &= same_kind
        spread = torch.maximum(spread, (other - a).abs().nan_to_num(0, 0, 0))
    equal = (a == b) | (a.isnan() & b.isnan())
    if want.dtype.is_complex:
        # Which parts of an overflowing complex number are infinite and which NaN follows from the formula.
        overflown = (~a.isfinite()).any(-1, keepdim=True) & (~b.isfinite()).any(-1, keepdim=True)
        equal |= overflown
    close = (a - b).abs() <= 4 * spread
    # A function that ends in a large number may be infinite a little earlier.
    most = torch.finfo(want.dtype).max / 4
    close |= (a.abs() > most) & (b.abs() > most) & (a.sign() == b.sign())
    wrong = ~(equal | close | ~stable)
    if want.dtype.is_complex:
        wrong = wrong.any(-1)
    return describe(name, want, got, wrong) if bool(wrong.any()) else None


def describe(name: int, want: torch.Tensor, got: torch.Tensor, wrong: torch.Tensor) -> str:
    at = tuple(wrong.nonzero()[0].tolist())
    count = int(wrong.sum())
    return f"v{name}: {count} of {wrong.numel()} elements; at {list(at)} {got[at]}, not {want[at]}"
