"""index_select, gather, take_along_axis, scatter and embedding_fwd: against torch, and what they refuse."""

from collections.abc import Callable

import pytest
import torch
from test_ops_against_torch import COMPLEX, LAYOUTS, REAL, WHOLE, check, make, run

from meshfuse import DataType, FusionDefinition

DTYPES = [*REAL, *WHOLE, *COMPLEX, torch.bool]
INDEX_DTYPES = [torch.int64, torch.int32]


@pytest.fixture
def fd():
    with FusionDefinition() as definition:
        yield definition


def indices(
    size: tuple[int, ...], bound: int, dtype: torch.dtype = torch.int64, seed: int = 5
) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, bound, size, generator=generator).to(dtype)


class TestIndexSelect:
    def test_is_index_select(self):
        for dtype in DTYPES:
            for index_dtype in INDEX_DTYPES:
                for layout in LAYOUTS.values():
                    for dim in (0, 1, -1):
                        x = layout(make((4, 6), dtype))
                        index = indices((5,), x.shape[dim], index_dtype)
                        (got,) = run(
                            lambda fd, a, i, d=dim: fd.ops.index_select(a, i, d), [x, index]
                        )
                        check(got, torch.index_select(x, dim, index))

    def test_forms_of_the_index(self):
        x = make((2, 3, 4), torch.float32)
        (got,) = run(lambda fd, a, i: fd.ops.index_select(a, i, 1), [x, torch.tensor(2)])
        check(got, x[:, 2:3])
        index = indices((1, 7, 1), 3)
        (got,) = run(lambda fd, a, i: fd.ops.index_select(a, i, dim=1), [x, index])
        check(got, x[:, index.flatten()])
        (got,) = run(lambda fd, a, i: fd.ops.index_select(a, i, 1), [x, indices((0,), 3)])
        check(got, torch.empty(2, 0, 4))
        (got,) = run(
            lambda fd, a, i: fd.ops.index_select(a, i, 1),
            [x, indices((8,), 3)[::2]],
        )
        check(got, x[:, indices((8,), 3)[::2]])

    def test_of_an_empty_operand(self):
        (got,) = run(
            lambda fd, a, i: fd.ops.index_select(a, i, 0), [torch.ones(4, 0), torch.tensor([3, 1])]
        )
        assert got.shape == (2, 0)


class TestGather:
    def test_is_gather(self):
        for dtype in DTYPES:
            for index_dtype in INDEX_DTYPES:
                for layout in LAYOUTS.values():
                    for dim, size in ((0, (9, 6)), (1, (4, 9)), (0, (2, 3)), (-1, (1, 8))):
                        x = layout(make((4, 6), dtype))
                        index = indices(size, x.shape[dim], index_dtype)
                        (got,) = run(lambda fd, a, i, d=dim: fd.ops.gather(a, i, d), [x, index])
                        check(got, torch.gather(x, dim, index.long()))

    def test_of_empty_indices(self):
        x = make((4, 6), torch.float32)
        for size in ((0, 6), (4, 0)):
            (got,) = run(lambda fd, a, i: fd.ops.gather(a, i, 0), [x, indices(size, 4)])
            check(got, torch.empty(size))

    def test_an_index_that_grows_too_large(self):
        with FusionDefinition() as fd:
            a = fd.define_tensor([-1, -1])
            index = fd.define_tensor([-1, -1], dtype=DataType.Int)
            fd.add_output(fd.ops.gather(a, index, 0))
        x, index = make((4, 6), torch.float32), indices((7, 5), 4)
        check(fd.execute([x, index])[0], torch.gather(x, 0, index))
        with pytest.raises(RuntimeError, match=r"gather: an index is no larger.*dimension 1 is 7"):
            fd.execute([x, indices((7, 7), 4)])


class TestTakeAlongAxis:
    def test_is_take_along_dim(self):
        for dtype in DTYPES:
            for index_dtype in INDEX_DTYPES:
                for layout in LAYOUTS.values():
                    for dim, size in ((0, (9, 6)), (1, (4, 9)), (1, (1, 3)), (-2, (2, 1))):
                        x = layout(make((4, 6), dtype))
                        index = indices(size, x.shape[dim], index_dtype)
                        (got,) = run(
                            lambda fd, a, i, d=dim: fd.ops.take_along_axis(a, i, dim=d), [x, index]
                        )
                        check(got, torch.take_along_dim(x, index.long(), dim))

    def test_the_operand_stretches_as_well(self):
        x, index = make((1, 5, 2), torch.float32), indices((3, 4, 2), 5)
        (got,) = run(lambda fd, a, i: fd.ops.take_along_axis(a, i, 1), [x, index])
        check(got, torch.take_along_dim(x, index, 1))


class TestScatter:
    @staticmethod
    def permuted(size: tuple[int, int], bound: int, dim: int, dtype: torch.dtype) -> torch.Tensor:
        """Positions that do not meet, so that the result is defined."""
        lines = [
            torch.randperm(bound, generator=torch.Generator().manual_seed(n))[: size[dim]]
            for n in range(size[1 - dim])
        ]
        return torch.stack(lines, 1 - dim).to(dtype)

    def test_is_scatter(self):
        for dtype in DTYPES:
            for index_dtype in INDEX_DTYPES:
                for layout in LAYOUTS.values():
                    for dim, size in ((0, (4, 6)), (1, (4, 6)), (0, (2, 3)), (1, (3, 5))):
                        x, src = layout(make((4, 6), dtype)), make(size, dtype, seed=1)
                        index = self.permuted(size, x.shape[dim], dim, index_dtype)
                        (got,) = run(
                            lambda fd, a, i, s, d=dim: fd.ops.scatter(a, i, s, d), [x, index, src]
                        )
                        check(got, torch.scatter(x, dim, index.long(), src))

    def test_the_operand_stays_as_it_is(self):
        x = torch.zeros(4)
        run(lambda fd, a, i: fd.ops.scatter(a, i, fd.define_scalar(1.0), 0), [x, torch.tensor([1])])
        check(x, torch.zeros(4))

    def test_one_number(self):
        index = torch.tensor([[1], [0]])
        for dtype, number in (
            (torch.float32, 2.5),
            (torch.float32, 2),
            (torch.int32, 7),
            (torch.complex64, 1j),
        ):
            x = make((2, 3), dtype)
            expected = torch.scatter(x, 1, index, number)
            (got,) = run(
                lambda fd, a, i, n=number: fd.ops.scatter(a, i, fd.define_scalar(n), 1), [x, index]
            )
            check(got, expected)

    def test_a_number_known_at_run_time(self):
        with FusionDefinition() as fd:
            a = fd.define_tensor([2, 3])
            index = fd.define_tensor([2, 1], dtype=DataType.Int)
            fd.add_output(fd.ops.scatter(a, index, fd.define_scalar(DataType.Double), 1))
        x, positions = make((2, 3), torch.float32), torch.tensor([[2], [0]])
        for number in (0.5, -3.0):
            (got,) = fd.execute([x, positions, number])
            check(got, torch.scatter(x, 1, positions, number))


class TestEmbedding:
    def test_is_embedding(self):
        for dtype in REAL:
            for index_dtype in INDEX_DTYPES:
                for size in ((4, 6), (5,), (), (0,), (2, 1, 3)):
                    for layout in LAYOUTS.values():
                        weight, rows = layout(make((7, 3), dtype)), indices(size, 7, index_dtype)
                        (got,) = run(lambda fd, i, w: fd.ops.embedding_fwd(i, w), [rows, weight])
                        check(got, torch.nn.functional.embedding(rows, weight))

    def test_options_that_change_no_row(self):
        weight, rows = make((7, 3), torch.float32), indices((4,), 7)
        expected = torch.nn.functional.embedding(rows, weight)
        for options in (
            (None, None, None, None, None),
            (3, None, 2.0, True, False),
        ):
            (got,) = run(
                lambda fd, i, w, o=options: fd.ops.embedding_fwd(
                    i, w, *(None if n is None else fd.define_scalar(n) for n in o)
                ),
                [rows, weight],
            )
            check(got, expected)
        (got,) = run(
            lambda fd, i, w: fd.ops.embedding_fwd(
                i, w, padding_idx=fd.define_scalar(1), sparse=fd.define_scalar(0)
            ),
            [rows, weight],
        )
        check(got, expected)

    @pytest.mark.parametrize("dtype", REAL)
    def test_rows_of_a_norm_that_is_too_great_are_scaled(self, dtype):
        for order in (None, 1.0, 2.0, 3.5, float("inf")):
            for layout in LAYOUTS.values():
                weight, rows = layout(make((7, 3), dtype)), indices((4, 2), 7)
                before = weight.clone()
                (got,) = run(
                    lambda fd, i, w, n=order: fd.ops.embedding_fwd(
                        i,
                        w,
                        max_norm=fd.define_scalar(1.5),
                        norm_type=None if n is None else fd.define_scalar(n),
                    ),
                    [rows, weight],
                )
                expected = torch.nn.functional.embedding(
                    rows,
                    before.clone(memory_format=torch.contiguous_format),
                    max_norm=1.5,
                    norm_type=2.0 if order is None else order,
                )
                check(got, expected)
                assert torch.equal(weight, before)

    def test_max_norm_known_at_run_time(self):
        with FusionDefinition() as fd:
            rows = fd.define_tensor([-1], dtype=DataType.Int32)
            weight, norm = fd.define_tensor([-1, -1]), fd.define_scalar(DataType.Double)
            fd.add_output(fd.ops.embedding_fwd(rows, weight, max_norm=norm))
        table, rows = make((5, 4), torch.float32), indices((3,), 5, torch.int32)
        for norm in (0.5, 100.0):
            (got,) = fd.execute([rows, table, norm])
            check(got, torch.nn.functional.embedding(rows, table.clone(), max_norm=norm))

    def test_the_padding_row_is_one_of_the_weight(self):
        for row in (-7, 6):
            run(
                lambda fd, i, w, n=row: fd.ops.embedding_fwd(i, w, fd.define_scalar(n)),
                [indices((4,), 7), make((7, 3), torch.float32)],
            )
        for row in (-8, 7):
            text = f"embedding_fwd: padding_idx is a row of the weight: got {row} for 7 rows"
            with pytest.raises(RuntimeError, match=text):
                run(
                    lambda fd, i, w, n=row: fd.ops.embedding_fwd(i, w, fd.define_scalar(n)),
                    [indices((4,), 7), make((7, 3), torch.float32)],
                )

    def test_refusals(self, fd):
        rows = fd.define_tensor([4], dtype=DataType.Int)
        weight, vector = fd.define_tensor([7, 3]), fd.define_tensor([7])
        for name in ("padding_idx", "max_norm", "norm_type", "scale_grad_by_freq", "sparse"):
            with pytest.raises(
                TypeError, match=rf"embedding_fwd\(\): incompatible .*{name}: Scalar"
            ):
                fd.ops.embedding_fwd(rows, weight, **{name: 1})
            with pytest.raises(TypeError, match=r"embedding_fwd: incompatible .*an option is tv2"):
                fd.ops.embedding_fwd(rows, weight, **{name: vector})
        for name in ("padding_idx", "max_norm"):
            with pytest.raises(RuntimeError, match="embedding_fwd: an option is a real number"):
                fd.ops.embedding_fwd(rows, weight, **{name: fd.define_scalar(1j)})
        with pytest.raises(RuntimeError, match="padding_idx is a row of the weight: got a number"):
            fd.ops.embedding_fwd(rows, weight, fd.define_scalar(1.5))
        whole = fd.define_tensor([7, 3], dtype=DataType.Int)
        with pytest.raises(RuntimeError, match="embedding_fwd: max_norm scales rows of a floating"):
            fd.ops.embedding_fwd(rows, whole, max_norm=fd.define_scalar(1.0))
        with pytest.raises(RuntimeError, match="embedding_fwd: the weight has two dimensions"):
            fd.ops.embedding_fwd(rows, vector)
        with pytest.raises(RuntimeError, match="embedding_fwd: an index is a tensor of Int"):
            fd.ops.embedding_fwd(weight, weight)


def test_index_values_out_of_range_are_refused_and_the_next_call_works() -> None:
    calls: dict[str, Callable[..., object]] = {
        "index_select": lambda fd, a, i: fd.ops.index_select(a, i, 0),
        "gather": lambda fd, a, i: fd.ops.gather(a, i, 0),
        "take_along_axis": lambda fd, a, i: fd.ops.take_along_axis(a, i, 0),
        "scatter": lambda fd, a, i: fd.ops.scatter(a, i, fd.define_scalar(1.0), 0),
        "embedding_fwd": lambda fd, a, i: fd.ops.embedding_fwd(i, a),
    }
    for name, call in calls.items():
        size = (3,) if name in ("index_select", "embedding_fwd") else (3, 2)
        with FusionDefinition() as fd:
            a = fd.define_tensor([-1, 2])
            index = fd.define_tensor([-1] * len(size), dtype=DataType.Int)
            fd.add_output(call(fd, a, index))
        for bad in (-1, 4, 2**40, -(2**62)):
            positions = torch.zeros(size, dtype=torch.int64)
            positions.view(-1)[-1] = bad
            text = rf"{name}: index values lie in the indexed dimension: got index {bad} for dim"
            with pytest.raises(IndexError, match=text):
                fd.execute([torch.ones(4, 2), positions])
        with pytest.raises(IndexError, match=rf"{name}: .*of size 0"):
            fd.execute([torch.ones(0, 2), torch.zeros(size, dtype=torch.int64)])
        fd.execute([torch.ones(4, 2), torch.zeros(size, dtype=torch.int64)])


class TestRefusals:
    def test_an_index_holds_whole_numbers(self, fd):
        a = fd.define_tensor([2, 3])
        for call in (
            lambda: fd.ops.index_select(a, fd.define_tensor([2]), 0),
            lambda: fd.ops.gather(a, a, 0),
            lambda: fd.ops.take_along_axis(a, a, 0),
            lambda: fd.ops.scatter(a, a, a, 0),
        ):
            with pytest.raises(RuntimeError, match="an index is a tensor of Int or Int32: got tv"):
                call()

    def test_tensors_are_no_numbers(self, fd):
        a, index = fd.define_tensor([2, 3]), fd.define_tensor([2, 3], dtype=DataType.Int)
        number = fd.define_scalar(1)
        for name, arguments in (
            ("index_select", (a, 1, 0)),
            ("index_select", (1.5, index, 0)),
            ("gather", (a, number, 0)),
            ("gather", (2, index, 0)),
            ("take_along_axis", (a, 1, 0)),
            ("take_along_axis", (number, index, 0)),
            ("select", (a, 1, 0)),
            ("scatter", (a, 1, a, 0)),
            ("embedding_fwd", (1, a)),
            ("embedding_fwd", (index, 2.0)),
        ):
            with pytest.raises(
                TypeError,
                match=rf"{name}\(\): incompatible function arguments: got \(.*; call it as {name}\(",
            ):
                getattr(fd.ops, name)(*arguments)

    def test_ranks_and_dims(self, fd):
        a, scalar = fd.define_tensor([2, 3]), fd.define_tensor([])
        index = fd.define_tensor([2], dtype=DataType.Int)
        matrix = fd.define_tensor([2, 3], dtype=DataType.Int)
        for name in ("gather", "take_along_axis"):
            operation = getattr(fd.ops, name)
            with pytest.raises(RuntimeError, match=f"{name}: operands have the same rank"):
                operation(a, index, 0)
            with pytest.raises(RuntimeError, match="Tried to access out of boundary index"):
                operation(a, matrix, 2)
        with pytest.raises(RuntimeError, match="scatter: operands have the same rank"):
            fd.ops.scatter(a, matrix, fd.define_tensor([2]), 0)
        with pytest.raises(RuntimeError, match="index_select: an index has one dimension"):
            fd.ops.index_select(a, matrix, 0)
        for operand, dim in ((a, -3), (scalar, 0)):
            with pytest.raises(RuntimeError, match="Tried to access out of boundary index"):
                fd.ops.index_select(operand, index, dim)

    def test_sizes(self, fd):
        a = fd.define_tensor([2, 3])
        large = fd.define_tensor([2, 4], dtype=DataType.Int)
        with pytest.raises(RuntimeError, match="gather: an index is no larger"):
            fd.ops.gather(a, large, 0)
        with pytest.raises(RuntimeError, match=r"scatter: .*4 in the index and 3 in the operand"):
            fd.ops.scatter(a, large, fd.define_tensor([2, 4]), 0)
        with pytest.raises(RuntimeError, match=r"scatter: .*4 in the index and 3 in the source"):
            fd.ops.scatter(a, large, a, 1)
        with pytest.raises(RuntimeError, match="operand sizes must agree"):
            fd.ops.take_along_axis(a, large, 0)

    def test_the_source_fits_the_operand(self, fd):
        a, whole = fd.define_tensor([2, 3]), fd.define_tensor([2, 3], dtype=DataType.Int)
        with pytest.raises(RuntimeError, match="scatter: the source has the operand's dtype"):
            fd.ops.scatter(a, whole, whole, 0)
        with pytest.raises(
            RuntimeError, match=r"scatter: a number fits .*Double for tv1 of type I"
        ):
            fd.ops.scatter(whole, whole, fd.define_scalar(1.5), 0)
        for number in (None, 1.0, 1):
            with pytest.raises(
                TypeError, match=r"scatter\(\): incompatible .*src: Scalar \| Tensor"
            ):
                fd.ops.scatter(a, whole, number, 0)
