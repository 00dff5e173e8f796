"""What quantization to 4-bit floats and products of them refuse when they are called."""

from typing import Any

import pytest

from meshfuse import DataType, FusionDefinition


def test_refusals_of_quantization() -> None:
    with FusionDefinition() as fd:
        x, one = fd.define_tensor([4, 64]), fd.define_tensor([])
        i, o = (fd.define_tensor([2], dtype=DataType.Int32) for _ in range(2))
        wide, cube = fd.define_tensor([4, 64], dtype=DataType.Double), fd.define_tensor([2, 2, 16])
        thin, pair = fd.define_tensor([4, 24]), fd.define_tensor([2])
        half = fd.define_tensor([], dtype=DataType.Half)
        three = fd.define_tensor([3], dtype=DataType.Int32)
        for op, arguments, options, text in (
            (
                "nv_block_quantize",
                (x,),
                {"block_size": 32},
                "a block of Float4_e2m1fn has 16 el.*; pass blo",
            ),
            (
                "nv_block_quantize",
                (wide,),
                {},
                "the input is of Float, Half or BFloat16 and has dim",
            ),
            (
                "nv_block_quantize",
                (one,),
                {},
                "the input is of Float, Half or BFloat16 and has dim",
            ),
            ("nv_block_quantize", (thin,), {}, "consists of blocks of 16 elements: got size 24 in"),
            ("nv_block_quantize", (x, pair), {}, "global scale is a tensor of Float without dim"),
            ("nv_block_quantize", (x, half), {}, "global scale is a tensor of Float without dim"),
            (
                "nv_block_quantize",
                (cube, None, True),
                {},
                "scales lie in tiles of rows and columns: got",
            ),
            (
                "nv_grouped_block_quantize",
                (cube, i, o),
                {},
                r"groups are of the rows of \[m, k\]: got",
            ),
            (
                "nv_grouped_block_quantize",
                (x, pair, o),
                {},
                "input_offsets has one dimension, of Int32",
            ),
            (
                "nv_grouped_block_quantize",
                (x, i, pair),
                {},
                "output_offsets has one dimension, of Int32",
            ),
            ("nv_grouped_block_quantize", (x, i, three), {}, "the number of groups"),
            (
                "nv_grouped_block_quantize",
                (x, i, o),
                {"dtype": DataType.Float8_e4m3fn},
                "groups are quantized to Float4_e2m1fn: got dtype",
            ),
            (
                "nv_grouped_block_quantize",
                (x, i, o),
                {"block_size": 32},
                "has 16 elements: got block_",
            ),
            ("nv_grouped_block_quantize", (thin, i, o), {}, "consists of blocks of 16 elements"),
            ("preprocess_grouped_matmul_input_sf", (cube, i, o), {}, "the scales are .*: got tv"),
            (
                "preprocess_grouped_matmul_input_sf",
                (i, i, o),
                {},
                "the scales are .*; pass the second",
            ),
            (
                "preprocess_grouped_matmul_input_sf",
                (x, pair, o),
                {},
                "input_offsets has one dimension",
            ),
        ):
            with pytest.raises(RuntimeError, match=f"{op}: .*{text}"):
                getattr(fd.ops, op)(*arguments, **options)


def test_refusals_of_products() -> None:
    with FusionDefinition() as fd:

        def narrow(shape: list[int]) -> Any:
            return fd.define_tensor(shape, True, dtype=DataType.Float4_e2m1fn)

        def scales(shape: list[int]) -> Any:
            return fd.define_tensor(shape, True, dtype=DataType.Float8_e4m3fn)

        def whole(shape: list[int]) -> Any:
            return fd.define_tensor(shape, True, dtype=DataType.Int32)

        a, b, alpha = narrow([6, 32]), narrow([2, 32, 4]), fd.define_tensor([2], True)
        s, t, sizes, i, o = (
            scales([260, 4]),
            scales([2, 128, 4]),
            whole([2, 3]),
            whole([2]),
            whole([2]),
        )
        right = [a, b, s, t, alpha, sizes, i, o]
        for position, wrong, text in (
            (
                0,
                fd.define_tensor([6, 32]),
                r"the matrices are \[m, k\] and \[g, k, n\] of Float4_e2m1fn",
            ),
            (1, narrow([32, 4]), r"the matrices are \[m, k\] and \[g, k, n\] of Float4_e2m1fn"),
            (1, narrow([2, 48, 4]), "the contracted dimension"),
            (1, narrow([3, 32, 4]), "the number of groups"),
            (1, narrow([2, 32, 130]), "the rows of scale2 in tiles"),
            (2, scales([260, 8]), "the columns of scale1 in tiles"),
            (2, fd.define_tensor([260, 4]), "the scales are tiles of Float8_e4m3fn"),
            (3, scales([128, 4]), "the scales are tiles of Float8_e4m3fn"),
            (3, scales([2, 128, 8]), "the columns of scale2 in tiles"),
            (4, fd.define_tensor([]), "alpha has a number for each group"),
            (5, whole([2]), "problem_sizes has the rows, n and k of each group"),
            (5, whole([2, 4]), "what problem_sizes has of a group"),
            (6, whole([3]), "the number of groups"),
            (7, fd.define_tensor([2]), "sf_offsets has one dimension, of Int32"),
        ):
            changed = [*right[:position], wrong, *right[position + 1 :]]
            with pytest.raises(RuntimeError, match=f"cutlass_nvfp4_grouped_mm: .*{text}"):
                fd.ops.cutlass_nvfp4_grouped_mm(*changed)
        with pytest.raises(
            RuntimeError, match=r"the result is of Float, Half or BFloat16: got dtype"
        ):
            fd.ops.cutlass_nvfp4_grouped_mm(*right, dtype=DataType.Double)
        p, q = narrow([6, 32]), narrow([32, 4])
        square, one = scales([128, 4]), fd.define_tensor([])
        for arguments, text in (
            ((p, q, scales([6, 2]), square), "the rows of scales in tiles of 128 by 4"),
            ((p, q, square, scales([128, 8])), "the columns of scales in tiles of 128 by 4"),
            (
                (p, q, fd.define_tensor([128, 4]), square),
                "of blocks of 4-bit floats are of Float8_e4m3fn",
            ),
            (
                (narrow([6, 24]), narrow([24, 4]), square, one),
                "blocks of 16 4-bit floats: got size 24",
            ),
        ):
            with pytest.raises(RuntimeError, match=f"scaled_mm: .*{text}"):
                fd.ops.scaled_mm(*arguments)
