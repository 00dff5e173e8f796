"""grouped_mm: against one matrix product a group, and what it refuses."""

import pytest
import torch
from test_ops_against_torch import LAYOUTS, REAL, check, make, run

from meshfuse import DataType, FusionDefinition


@pytest.fixture
def fd():
    with FusionDefinition() as definition:
        yield definition


def grouped(a: torch.Tensor, b: torch.Tensor, ends: list[int]) -> torch.Tensor:
    groups = list(enumerate(zip([0, *ends[:-1]], ends, strict=True)))
    if a.dim() == 3:
        result = torch.zeros(a.shape[1], b.shape[1], dtype=a.dtype)
        for g, (begin, end) in groups:
            result[:, begin:end] = a[g] @ b[:, begin:end]
        return result
    if b.dim() == 3:
        result = torch.zeros(a.shape[0], b.shape[2], dtype=a.dtype)
        for g, (begin, end) in groups:
            result[begin:end] = a[begin:end] @ b[g]
        return result
    return torch.stack([a[:, begin:end] @ b[begin:end] for _, (begin, end) in groups])


FORMS = [((5, 8), (8, 3)), ((3, 5, 4), (4, 8)), ((8, 4), (3, 4, 5))]


@pytest.mark.parametrize("dtype", [*REAL, torch.int64])
@pytest.mark.parametrize(("first", "second"), FORMS)
def test_groups(dtype: torch.dtype, first: tuple[int, ...], second: tuple[int, ...]) -> None:
    for ends in ([2, 5, 8], [0, 8, 8], [1, 1, 6], [0, 0, 0]):
        a, b = make(first, dtype), make(second, dtype, seed=1)
        offsets = torch.tensor(ends, dtype=torch.int32)
        (got,) = run(lambda fd, x, y, o: fd.ops.grouped_mm(x, y, o), [a, b, offsets])
        check(got, grouped(a, b, ends))


def test_layouts() -> None:
    for first, second in FORMS:
        for layout in LAYOUTS.values():
            a, b = make(first, torch.float32), make(second, torch.float32, seed=1)
            a = layout(a) if a.dim() == 2 else a.mT.contiguous().mT
            b = layout(b) if b.dim() == 2 else b.mT.contiguous().mT
            offsets = torch.tensor([9, 2, 9, 5, 9, 8], dtype=torch.int32)[1::2]
            (got,) = run(lambda fd, x, y, o: fd.ops.grouped_mm(x, y, o), [a, b, offsets])
            check(got, grouped(a, b, [2, 5, 8]))


def test_symbolic_sizes_and_other_offsets() -> None:
    with FusionDefinition() as fd:
        a, b = fd.define_tensor([-1, -1]), fd.define_tensor([-1, -1, -1])
        offsets = fd.define_tensor([-1], dtype=DataType.Int32)
        fd.add_output(fd.ops.grouped_mm(mat1=a, mat2=b, offsets=offsets))
    for ends in ([4, 8], [0, 3], [8]):
        x, y = make((8, 4), torch.float32), make((len(ends), 4, 5), torch.float32, seed=1)
        check(fd.execute([x, y, torch.tensor(ends, dtype=torch.int32)])[0], grouped(x, y, ends))
    with pytest.raises(RuntimeError, match=r"grouped_mm: .*the number of groups is 2 .* and 1"):
        fd.execute([x, make((2, 4, 5), torch.float32), torch.tensor([8], dtype=torch.int32)])
    for bad in ([5, 4], [-1, 8], [4, 9]):
        x, y = make((8, 4), torch.float32), make((2, 4, 5), torch.float32)
        text = r"grouped_mm: offsets ascend within the dimension that they divide: got \[.*size 8"
        with pytest.raises(IndexError, match=text):
            fd.execute([x, y, torch.tensor(bad, dtype=torch.int32)])


def test_refusals(fd: FusionDefinition) -> None:
    matrix, batch = fd.define_tensor([4, 4]), fd.define_tensor([2, 4, 4])
    offsets = fd.define_tensor([2], dtype=DataType.Int32)
    vector = fd.define_tensor([4])
    for a, b in ((batch, batch), (vector, matrix), (matrix, vector)):
        with pytest.raises(RuntimeError, match="grouped_mm: operands have 2 and 2, 3 and 2, or 2"):
            fd.ops.grouped_mm(a, b, offsets)
    for wrong in (
        fd.define_tensor([2, 1], dtype=DataType.Int32),
        fd.define_tensor([], dtype=DataType.Int32),
        fd.define_tensor([2], dtype=DataType.Int),
    ):
        with pytest.raises(RuntimeError, match="grouped_mm: offsets has one dimension, of Int32"):
            fd.ops.grouped_mm(matrix, matrix, wrong)
    with pytest.raises(RuntimeError, match="grouped_mm: operands must have the same dtype"):
        fd.ops.grouped_mm(matrix, fd.define_tensor([4, 4], dtype=DataType.Half), offsets)
    with pytest.raises(RuntimeError, match="broadcast in both operands or neither"):
        fd.ops.grouped_mm(fd.define_tensor([4, 1]), matrix, offsets)
    with pytest.raises(RuntimeError, match="the contracted dimension is 4 in one"):
        fd.ops.grouped_mm(batch, fd.define_tensor([5, 4]), offsets)
    with pytest.raises(RuntimeError, match="the number of groups is 2 in one"):
        fd.ops.grouped_mm(matrix, batch, fd.define_tensor([3], dtype=DataType.Int32))
