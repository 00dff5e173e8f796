"""The smallest program, of those that come from a failing one by leaving parts out, that still fails."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator

from programs import Dim, Input, Program, Step, Value, needed_steps


def with_one_variant(program: Program, variant: int) -> Program:
    """For the sizes of one variant alone."""

    def only(dim: Dim) -> Dim:
        return dim if isinstance(dim, int) else (dim[variant],)

    values = {
        name: dataclasses.replace(value, shape=tuple(only(dim) for dim in value.shape))
        for name, value in program.values.items()
    }
    inputs = tuple(
        (name, dataclasses.replace(each, shape=tuple(only(dim) for dim in each.shape)))
        for name, each in program.inputs
    )
    return dataclasses.replace(program, values=values, inputs=inputs, variants=1)


def renamed(step: Step, old: int, new: int) -> Step:
    operands = tuple(new if operand == old else operand for operand in step.operands)
    return dataclasses.replace(step, operands=operands)


def smaller(program: Program) -> Iterator[Program]:
    """Programs with one part less, the larger parts first."""
    for variant in range(program.variants) if program.variants > 1 else ():
        yield with_one_variant(program, variant)
    if len(program.outputs) > 3:
        half = len(program.outputs) // 2
        yield dataclasses.replace(program, outputs=program.outputs[:half])
        yield dataclasses.replace(program, outputs=program.outputs[half:])
    for output in program.outputs:
        rest = tuple(other for other in program.outputs if other != output)
        if rest or program.writes:
            yield dataclasses.replace(program, outputs=rest)
    if program.writes:
        yield dataclasses.replace(program, writes=())
    for at, step in enumerate(program.steps):
        for result in step.results:
            value = program.values[result]
            if len(step.results) == 1:
                for operand in step.operands:
                    if program.values[operand] == value:
                        yield replaced(program, at, result, operand)
                yield cut(program, at, result, value)
    for at, (name, each) in enumerate(program.inputs):
        for simple in simpler(each):
            inputs = (*program.inputs[:at], (name, simple), *program.inputs[at + 1 :])
            yield dataclasses.replace(program, inputs=inputs)


def simpler(each: Input) -> Iterator[Input]:
    if each.number is None and each.layout != "contiguous":
        yield dataclasses.replace(each, layout="contiguous")
    if each.number is None and each.seed > 100:
        yield dataclasses.replace(each, seed=1)


def replaced(program: Program, at: int, old: int, new: int) -> Program:
    """With a step's operand in place of its result."""
    steps = tuple(renamed(step, old, new) for i, step in enumerate(program.steps) if i != at)
    outputs = tuple(dict.fromkeys(new if output == old else output for output in program.outputs))
    writes = tuple((new if value == old else value, into) for value, into in program.writes)
    return dataclasses.replace(program, steps=steps, outputs=outputs, writes=writes)


def cut(program: Program, at: int, result: int, value: Value) -> Program:
    """With an input in place of a step's result."""
    is_static = any(each.is_static for _, each in program.inputs)
    fresh = Input(value.dtype, value.shape, seed=1000 + result, is_static=is_static)
    steps = tuple(step for i, step in enumerate(program.steps) if i != at)
    return dataclasses.replace(program, steps=steps, inputs=(*program.inputs, (result, fresh)))


def size(program: Program) -> tuple[int, ...]:
    plain = sum(each.layout == "contiguous" and each.seed <= 100 for _, each in program.inputs)
    return (
        program.variants,
        len(program.steps),
        len(program.outputs) + len(program.writes),
        len(program.inputs),
        -plain,
    )


def shrunk(program: Program, fails: Callable[[Program], bool], tries: int = 120) -> Program:
    found = True
    while found and tries > 0:
        found = False
        for candidate in smaller(program):
            candidate = needed_steps(candidate)
            if size(candidate) >= size(program):
                continue
            tries -= 1
            if fails(candidate):
                program = candidate
                found = True
                break
            if tries <= 0:
                break
    return program
