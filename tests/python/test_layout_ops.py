"""broadcast, squeeze, stride_order, cat padded by hand and slices: against torch, and what they refuse."""

import itertools

import pytest
import torch
from test_ops_against_torch import COMPLEX, LAYOUTS, REAL, SIZES, WHOLE, check, make, run

from meshfuse import DataType, FusionDefinition, TensorView

DTYPES = [*REAL, *WHOLE, *COMPLEX, torch.bool]


@pytest.fixture
def fd():
    with FusionDefinition() as definition:
        yield definition


def shape(value: TensorView) -> str:
    return str(value).split(": ")[1]


class TestBroadcast:
    def test_is_unsqueeze(self):
        for dtype in DTYPES:
            for size in SIZES:
                for layout in LAYOUTS.values():
                    x = layout(make(size, dtype))
                    flags = [True, False, True, False, True]
                    (got,) = run(lambda fd, a, f=flags: fd.ops.broadcast(a, f), [x])
                    check(got, x[None, :, None, :, None])

    def test_of_no_dimensions_and_of_no_new_ones(self):
        scalar, x = torch.tensor(3.0), make((7, 3), torch.float32)
        (got,) = run(lambda fd, a: fd.ops.broadcast(a, [True, True]), [scalar])
        check(got, scalar.reshape(1, 1))
        (got,) = run(lambda fd, a: fd.ops.broadcast(a, (False, False)), [x])
        check(got, x)

    def test_new_dimensions_stretch(self):
        a, b = make((4, 6), torch.float32), make((6,), torch.float32, seed=1)
        (got,) = run(
            lambda fd, x, y: fd.ops.add(x, fd.ops.broadcast(y, is_broadcast_dim=[True, False])),
            [a, b],
        )
        check(got, a + b)

    @pytest.mark.parametrize("flags", [[], [True], [False], [False, False, False], [0, 2, 0]])
    def test_flags_that_do_not_fit(self, fd, flags):
        with pytest.raises(RuntimeError, match=r"broadcast: Invalid broadcast.*tv0 of type Float"):
            fd.ops.broadcast(fd.define_tensor([2, 3]), flags)


class TestSqueeze:
    def test_is_squeeze(self):
        for dtype in DTYPES:
            for size, layout in itertools.product(SIZES, LAYOUTS.values()):
                x = layout(make(size, dtype))[:, None, :, None]
                for dims in ([1], [3], [1, -1], (-1, 1), []):
                    (got,) = run(lambda fd, a, d=dims: fd.ops.squeeze(a, d), [x])
                    check(got, x.squeeze(tuple(dims)))
                    assert got.stride() == x.squeeze(tuple(dims)).stride()

    def test_an_expanded_dimension_loses_its_copies(self):
        x = make((4, 1, 6), torch.float32).expand(4, 5, 6)
        (got,) = run(lambda fd, a: fd.ops.squeeze(a, [1], squeeze_expanded=True), [x])
        check(got, x[:, 0])

    def test_a_symbolic_dimension_is_checked_when_its_size_is_known(self):
        with FusionDefinition() as fd:
            fd.add_output(fd.ops.squeeze(fd.define_tensor([-1, -1]), [0]))
        check(fd.execute([torch.ones(1, 3)])[0], torch.ones(3))
        with pytest.raises(RuntimeError, match=r"squeeze: Can not squeeze .*dimension 0 .*size 2"):
            fd.execute([torch.ones(2, 3)])
        check(fd.execute([torch.ones(1, 5)])[0], torch.ones(5))

    def test_what_cannot_be_squeezed(self, fd):
        a = fd.define_tensor([2, 1, 3])
        expanded = fd.define_tensor([2, 3], [True, None])
        for dim in (0, -1):
            with pytest.raises(RuntimeError, match="squeeze: Can not squeeze"):
                fd.ops.squeeze(a, [dim])
        with pytest.raises(RuntimeError, match=r"Can not squeeze.*expanded.*squeeze_expanded=True"):
            fd.ops.squeeze(expanded, [1])
        for dims in ([3], [-4]):
            with pytest.raises(RuntimeError, match="Squeeze dim is outside of Tensor size!"):
                fd.ops.squeeze(a, dims)
        with pytest.raises(RuntimeError, match="dims to squeeze must be <="):
            fd.ops.squeeze(a, [1, 1, 1, 1])
        with pytest.raises(RuntimeError, match="Squeeze dims are not unique"):
            fd.ops.squeeze(a, [1, -2])
        with pytest.raises(TypeError, match="incompatible function arguments"):
            fd.ops.squeeze(a, 1)


class TestStrideOrder:
    @staticmethod
    def strides(size: tuple[int, ...], order: tuple[int, ...]) -> tuple[int, ...]:
        """Computed from the words alone: a dimension steps over all that lie further in."""
        inner = [
            [size[e] for e in range(len(size)) if order[e] < order[d]] for d in range(len(size))
        ]
        return tuple(torch.Size(sizes).numel() for sizes in inner)

    def test_memory_follows_the_order(self):
        for size in ((2, 3, 4), (5, 1, 3), (1, 1, 2)):
            for order in itertools.permutations(range(3)):
                for dtype in (torch.float32, torch.bfloat16, torch.int32, torch.complex64):
                    x = make(size, dtype)
                    (got,) = run(lambda fd, a, o=order: fd.ops.stride_order(a, o), [x])
                    check(got, x)
                    expected = self.strides(size, order)
                    for d in range(3):
                        assert size[d] == 1 or got.stride(d) == expected[d]
                    assert got.data_ptr() != x.data_ptr()

    def test_from_any_layout(self):
        for layout in LAYOUTS.values():
            x = layout(make((4, 6), torch.float32))
            (got,) = run(lambda fd, a: fd.ops.stride_order(a, [0, 1]), [x])
            check(got, x)
            assert got.stride() == (1, 4)
            (got,) = run(lambda fd, a: fd.ops.stride_order(a, []), [x])
            check(got, x)
            assert got.data_ptr() != x.data_ptr()

    def test_channels_last(self):
        x = make((2, 3, 4, 5), torch.float32)
        (got,) = run(lambda fd, a: fd.ops.stride_order(a, stride_order=[3, 0, 2, 1]), [x])
        assert got.is_contiguous(memory_format=torch.channels_last)
        check(got, x)

    def test_empty_and_0d(self):
        (got,) = run(lambda fd, a: fd.ops.stride_order(a, [0, 1]), [torch.ones(0, 3)])
        assert got.shape == (0, 3)
        (got,) = run(lambda fd, a: fd.ops.stride_order(a, []), [torch.tensor(2.0)])
        check(got, torch.tensor(2.0))

    @pytest.mark.parametrize(
        ("order", "text"),
        [
            ([0], "stride_order must have an entry for each dimension"),
            ([0, 1, 2], "stride_order must have an entry for each dimension"),
            ([0, 0], "duplicated stride_order entries"),
            ([0, 2], "out of range"),
            ([-1, 0], "out of range"),
        ],
    )
    def test_orders_that_are_none(self, fd, order, text):
        with pytest.raises(RuntimeError, match=rf"stride_order: .*{text}.*tv0 of type Float"):
            fd.ops.stride_order(fd.define_tensor([2, 3], dtype=DataType.Float), order)


def test_cat_of_tensors_padded_by_hand() -> None:
    parts = [torch.randn(2, n) for n in (3, 1, 4)]
    with FusionDefinition() as fd:
        tensors = [fd.define_tensor([2, n]) for n in (3, 1, 4)]
        padded = [fd.ops.pad(t, w) for t, w in zip(tensors, ([0, 5], [3, 4], [4, 0]), strict=True)]
        fd.add_output(fd.ops.cat(padded, dim=-1, manual_padding=True))
    torch.testing.assert_close(fd.execute(parts)[0], torch.cat(parts, 1))
    with FusionDefinition() as fd:
        a, b = fd.define_tensor([-1, 2]), fd.define_tensor([-1, 3])
        padded = [fd.ops.pad(a, [0, 3]), fd.ops.pad(b, [2, 0])]
        fd.add_output(fd.ops.cat(padded, 1, True))
    for rows in (4, 1, 0):
        given = [torch.randn(rows, 2), torch.randn(rows, 3)]
        torch.testing.assert_close(fd.execute(given)[0], torch.cat(given, 1))


def test_padding_by_hand_that_does_not_fit() -> None:
    with FusionDefinition() as fd:
        a, b = fd.define_tensor([2, 3]), fd.define_tensor([2, 4])
        first, second = fd.ops.pad(a, [0, 4]), fd.ops.pad(b, [3, 0])
        text = "cat: with manual_padding each tensor is the result of pad to the whole size: got tv"
        for wrong in (
            [a, b],
            [second, first],
            [first, fd.ops.set(second)],
            [first, fd.ops.pad(b, [3, 1])],
            [fd.ops.pad(a, [0, 4, 1, 0]), fd.ops.pad(b, [3, 0, 1, 0])],
        ):
            with pytest.raises(RuntimeError, match=text):
                fd.ops.cat(wrong, 1, manual_padding=True)
        with pytest.raises(RuntimeError, match="the tensors' own parts make up the whole size"):
            fd.ops.cat([first], 1, manual_padding=True)
        # Widths known at run time are not seen to fit.
        rows = fd.define_scalar(DataType.Int)
        with pytest.raises(RuntimeError, match=f"{text}.*where one padded by 2 in front"):
            fd.ops.cat(
                [fd.ops.pad(a, [0, 0, 0, rows]), fd.ops.pad(a, [0, 0, rows, 0])],
                manual_padding=True,
            )
        fd.add_output(fd.ops.cat([first, second], 1, manual_padding=True))
    assert fd.execute([torch.ones(2, 3), torch.ones(2, 4), 1])[0].shape == (2, 7)


def test_slice_takes_lists_or_tuples_not_both() -> None:
    with FusionDefinition() as fd:
        a = fd.define_tensor([4, 5])
        for sequence in (list, tuple):
            starts, ends, strides = (sequence(n) for n in ((1, 0), (3, 5), (1, 1)))
            fd.add_output(fd.ops.slice(a, starts, ends, strides))
        for mixed in (
            ([1, 0], (3, 5)),
            ((1, 0), [3, 5]),
            ([1, 0], [3, 5], (1, 1)),
        ):
            text = r"slice\(\): incompatible function arguments: got \(tv0: .*; call it as slice\("
            with pytest.raises(TypeError, match=text):
                fd.ops.slice(a, *mixed)
    x = torch.randn(4, 5)
    for got in fd.execute([x]):
        torch.testing.assert_close(got, x[1:3])
