"""What the collectives of one group give, against brute force and torch.distributed."""

from typing import Any

import torch
import torch.distributed as dist
from rank_processes import Rank, bind

from meshfuse import _C

REDUCTIONS = {
    "sum": lambda t: t.sum(0),
    "avg": lambda t: t.mean(0) if t.is_complex() else t.double().mean(0),
    "max": lambda t: t.amax(0),
    "min": lambda t: t.amin(0),
    "product": lambda t: t.prod(0),
}
DTYPES = [
    torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int8,
    torch.uint8, torch.bool, torch.complex64, torch.complex128, torch.int16, torch.float8_e4m3fn,
]  # fmt: skip


def locals_of(dtype: torch.dtype, shape: list[int], size: int) -> torch.Tensor:
    """All ranks' tensors, stacked; every rank makes the same. Small integers, so that any order of adding is exact."""
    generator = torch.Generator().manual_seed(len(shape) + size)
    values = torch.randint(
        0 if dtype in (torch.uint8, torch.bool) else -3, 4, [size, *shape], generator=generator
    )
    if dtype.is_complex:
        imaginary = torch.randint(-3, 4, [size, *shape], generator=generator)
        return torch.complex(values.double(), imaginary.double()).to(dtype)
    return (values % 2 if dtype == torch.bool else values).to(dtype)


def expect(name: str, got: torch.Tensor, wanted: torch.Tensor, problems: list[str]) -> None:
    wanted = wanted.to(got.dtype)
    same = got.shape == wanted.shape and torch.equal(got.double() if not got.is_complex() else got,
                                                     wanted.double() if not got.is_complex() else wanted)  # fmt: skip
    if not same or not got.is_contiguous() or got.requires_grad:
        problems.append(f"{name}: got {got.tolist()}, wanted {wanted.tolist()}")


def check_reductions(
    mesh: Any, rank: Rank, dtype: torch.dtype, refused: dict[str, str], problems: list[str]
) -> None:
    size = rank.size
    for kind, reduce in REDUCTIONS.items():
        for shape in ([], [5], [2 * size, 3], [3, 2 * size], [0, 4]):
            stacked = locals_of(dtype, shape, size)
            mine = stacked[rank.rank].clone()
            name = f"{kind} {dtype} {shape}"
            try:
                got = mesh.all_reduce(mine, 0, kind)
            except ValueError as error:
                refused[f"{kind} {str(dtype).removeprefix('torch.')}"] = str(error)
                break
            wanted = (
                reduce(stacked) if stacked.dtype != torch.bool else reduce(stacked.byte()).bool()
            )
            expect(f"all_reduce {name}", got, wanted, problems)
            expect(f"input of {name}", mine, stacked[rank.rank], problems)
            for dim, extent in enumerate(shape):
                if extent % size == 0:
                    got = mesh.reduce_scatter(mine, 0, dim, kind)
                    expect(
                        f"reduce_scatter {name}", got, wanted.chunk(size, dim)[rank.rank], problems
                    )


def check_gathers(mesh: Any, rank: Rank, dtype: torch.dtype, problems: list[str]) -> None:
    for shape in ([4], [2, 3], [1, 0], [2, 3, 2]):
        stacked = locals_of(dtype, shape, rank.size)
        for dim in range(len(shape)):
            got = mesh.all_gather(stacked[rank.rank], 0, dim)
            wanted = torch.cat(
                [
                    local.view(torch.uint8) if dtype == torch.float8_e4m3fn else local
                    for local in stacked
                ],
                dim,
            )
            expect(f"all_gather {dtype} {shape} {dim}", got.view(wanted.dtype), wanted, problems)


def collectives(rank: Rank) -> None:
    """Everything that a collective can get, against brute force and torch.distributed."""
    rank.start()
    mesh = bind(rank)
    problems: list[str] = []
    refused: dict[str, str] = {}
    for dtype in DTYPES:
        check_reductions(mesh, rank, dtype, refused, problems)
        check_gathers(mesh, rank, dtype, problems)

    big = torch.randn(
        1 << 16, generator=torch.Generator().manual_seed(rank.rank), requires_grad=True
    )
    theirs = big.detach().clone()
    dist.all_reduce(theirs)
    expect("as torch's all_reduce", mesh.all_reduce(big), theirs, problems)
    parts = [torch.empty(1 << 16) for _ in range(rank.size)]
    dist.all_gather(parts, big.detach())
    expect("as torch's all_gather", mesh.all_gather(big), torch.cat(parts), problems)
    scattered = (
        torch.arange(4.0 * rank.size).view(4, rank.size).t()
    )  # strided, and not on the first dimension
    expect("strided reduce_scatter", mesh.reduce_scatter(scattered, 0, 0),
           scattered.chunk(rank.size, 0)[rank.rank] * rank.size, problems)  # fmt: skip
    nan = torch.ones(1000)
    nan[rank.rank :: rank.size] = float("nan")
    for kind in ("max", "min", "sum"):
        if not mesh.all_reduce(nan, 0, kind).isnan().all():
            problems.append(f"{kind} lost a NaN")
    conj = torch.complex(torch.ones(3), torch.ones(3)).conj()
    expect("conj", mesh.all_reduce(conj), conj.resolve_conj() * rank.size, problems)
    expect(
        "neg", mesh.all_reduce(torch._neg_view(torch.ones(3))), -torch.ones(3) * rank.size, problems
    )
    rank.report_error("uneven", lambda: mesh.reduce_scatter(torch.ones(rank.size + 1, 2), 0, 0))
    rank.report_error("no such axis", lambda: mesh.all_reduce(torch.ones(2), 1))
    rank.report_error("no tensor", lambda: mesh.all_gather("x"))
    rank.report_error("meta", lambda: mesh.all_reduce(torch.ones(2, device="meta")))
    mesh.reset_records()
    mesh.all_reduce(torch.ones(3, 5))
    mesh.all_reduce(torch.ones(7))
    mesh.all_gather(torch.ones(2, dtype=torch.int64))
    mesh.reduce_scatter(torch.ones(2 * rank.size), 0, 0, "max")
    rank.reports |= {"problems": problems, "refused": refused, "records": mesh.records()}
    single = _C.MeshBinding([rank.rank], [1], [""], rank.rank)
    for collective in (single.all_reduce, single.all_gather, single.reduce_scatter):
        expect("axis of size 1", collective(big.detach()), big.detach(), problems)
    single.agree(rank.rank, "alone")
    rank.reports["alone"] = single.records()
    dist.destroy_process_group()
