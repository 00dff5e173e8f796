"""Pointwise operations by the number of operands and by how exactly they are computed."""

import vocabulary
from vocabulary import BINARY, INEXACT

__all__ = ["BINARY", "DIVISIONS", "INEXACT", "INEXACT_ON_COMPLEX", "OTHERS", "UNARY"]

# A call of segment_set ends a kernel, and these tests want as few as they can have.
UNARY = [op for op in vocabulary.UNARY if op != "segment_set"]
OTHERS = ["lerp", "threshold", "addcmul"]
DIVISIONS = ["div", "mod", "fmod", "remainder"]
# Quotients and products of complex numbers have several formulas.
INEXACT_ON_COMPLEX = INEXACT | {"abs", "reciprocal", "sign", "div", "truediv", "mul", "addcmul"}
