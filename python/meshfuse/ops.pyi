# Written by tools/generate_op_stubs.py from the op table; not to be edited.
# fmt: off
from typing import overload

from meshfuse._C import DataType, Scalar, TensorView

_Number = bool | int | float | complex
_Operand = TensorView | Scalar | _Number
_ScalarOperand = Scalar | _Number
_Ints = list[int] | tuple[int, ...]

# What fd.ops holds; exists for type checkers alone.
class Operations:
    @overload
    @staticmethod
    def add(x0: TensorView, x1: _Operand, /) -> TensorView: ...
    @overload
    @staticmethod
    def add(x0: _Operand, x1: TensorView, /) -> TensorView: ...
    @overload
    @staticmethod
    def add(x0: _ScalarOperand, x1: _ScalarOperand, /) -> Scalar: ...
    @staticmethod
    def broadcast_in_dim(arg: TensorView, shape: _Ints, broadcast_dims: _Ints) -> TensorView: ...
    @overload
    @staticmethod
    def cast(arg: TensorView, dtype: DataType) -> TensorView: ...
    @overload
    @staticmethod
    def cast(arg: _ScalarOperand, dtype: DataType) -> Scalar: ...
    @overload
    @staticmethod
    def div(x0: TensorView, x1: _Operand, /) -> TensorView: ...
    @overload
    @staticmethod
    def div(x0: _Operand, x1: TensorView, /) -> TensorView: ...
    @overload
    @staticmethod
    def div(x0: _ScalarOperand, x1: _ScalarOperand, /) -> Scalar: ...
    @overload
    @staticmethod
    def eq(x0: TensorView, x1: _Operand, /) -> TensorView: ...
    @overload
    @staticmethod
    def eq(x0: _Operand, x1: TensorView, /) -> TensorView: ...
    @overload
    @staticmethod
    def eq(x0: _ScalarOperand, x1: _ScalarOperand, /) -> Scalar: ...
    @overload
    @staticmethod
    def erf(x0: TensorView, /) -> TensorView: ...
    @overload
    @staticmethod
    def erf(x0: _ScalarOperand, /) -> Scalar: ...
    @overload
    @staticmethod
    def exp(x0: TensorView, /) -> TensorView: ...
    @overload
    @staticmethod
    def exp(x0: _ScalarOperand, /) -> Scalar: ...
    @overload
    @staticmethod
    def ge(x0: TensorView, x1: _Operand, /) -> TensorView: ...
    @overload
    @staticmethod
    def ge(x0: _Operand, x1: TensorView, /) -> TensorView: ...
    @overload
    @staticmethod
    def ge(x0: _ScalarOperand, x1: _ScalarOperand, /) -> Scalar: ...
    @overload
    @staticmethod
    def gt(x0: TensorView, x1: _Operand, /) -> TensorView: ...
    @overload
    @staticmethod
    def gt(x0: _Operand, x1: TensorView, /) -> TensorView: ...
    @overload
    @staticmethod
    def gt(x0: _ScalarOperand, x1: _ScalarOperand, /) -> Scalar: ...
    @overload
    @staticmethod
    def le(x0: TensorView, x1: _Operand, /) -> TensorView: ...
    @overload
    @staticmethod
    def le(x0: _Operand, x1: TensorView, /) -> TensorView: ...
    @overload
    @staticmethod
    def le(x0: _ScalarOperand, x1: _ScalarOperand, /) -> Scalar: ...
    @staticmethod
    def linear(arg1: TensorView, arg2: TensorView, bias: TensorView | None = None) -> TensorView: ...
    @overload
    @staticmethod
    def lt(x0: TensorView, x1: _Operand, /) -> TensorView: ...
    @overload
    @staticmethod
    def lt(x0: _Operand, x1: TensorView, /) -> TensorView: ...
    @overload
    @staticmethod
    def lt(x0: _ScalarOperand, x1: _ScalarOperand, /) -> Scalar: ...
    @staticmethod
    def matmul(arg1: TensorView, arg2: TensorView) -> TensorView: ...
    @overload
    @staticmethod
    def max(arg: TensorView, dtype: DataType = DataType.Null) -> TensorView: ...
    @overload
    @staticmethod
    def max(arg: TensorView, dim: int, keepdim: bool = False, dtype: DataType = DataType.Null) -> TensorView: ...
    @overload
    @staticmethod
    def max(arg: TensorView, dims: _Ints, keepdim: bool = False, dtype: DataType = DataType.Null) -> TensorView: ...
    @overload
    @staticmethod
    def mul(x0: TensorView, x1: _Operand, /) -> TensorView: ...
    @overload
    @staticmethod
    def mul(x0: _Operand, x1: TensorView, /) -> TensorView: ...
    @overload
    @staticmethod
    def mul(x0: _ScalarOperand, x1: _ScalarOperand, /) -> Scalar: ...
    @overload
    @staticmethod
    def ne(x0: TensorView, x1: _Operand, /) -> TensorView: ...
    @overload
    @staticmethod
    def ne(x0: _Operand, x1: TensorView, /) -> TensorView: ...
    @overload
    @staticmethod
    def ne(x0: _ScalarOperand, x1: _ScalarOperand, /) -> Scalar: ...
    @overload
    @staticmethod
    def neg(x0: TensorView, /) -> TensorView: ...
    @overload
    @staticmethod
    def neg(x0: _ScalarOperand, /) -> Scalar: ...
    @staticmethod
    def permute(arg: TensorView, dims: _Ints) -> TensorView: ...
    @overload
    @staticmethod
    def relu(x0: TensorView, /) -> TensorView: ...
    @overload
    @staticmethod
    def relu(x0: _ScalarOperand, /) -> Scalar: ...
    @staticmethod
    def reshape(arg: TensorView, new_shape: _Ints) -> TensorView: ...
    @overload
    @staticmethod
    def rsqrt(x0: TensorView, /) -> TensorView: ...
    @overload
    @staticmethod
    def rsqrt(x0: _ScalarOperand, /) -> Scalar: ...
    @overload
    @staticmethod
    def set(x0: TensorView, /) -> TensorView: ...
    @overload
    @staticmethod
    def set(x0: _ScalarOperand, /) -> Scalar: ...
    @overload
    @staticmethod
    def sigmoid(x0: TensorView, /) -> TensorView: ...
    @overload
    @staticmethod
    def sigmoid(x0: _ScalarOperand, /) -> Scalar: ...
    @overload
    @staticmethod
    def sub(x0: TensorView, x1: _Operand, /) -> TensorView: ...
    @overload
    @staticmethod
    def sub(x0: _Operand, x1: TensorView, /) -> TensorView: ...
    @overload
    @staticmethod
    def sub(x0: _ScalarOperand, x1: _ScalarOperand, /) -> Scalar: ...
    @overload
    @staticmethod
    def sum(arg: TensorView, dtype: DataType = DataType.Null) -> TensorView: ...
    @overload
    @staticmethod
    def sum(arg: TensorView, dim: int, keepdim: bool = False, dtype: DataType = DataType.Null) -> TensorView: ...
    @overload
    @staticmethod
    def sum(arg: TensorView, dims: _Ints, keepdim: bool = False, dtype: DataType = DataType.Null) -> TensorView: ...
    @overload
    @staticmethod
    def tanh(x0: TensorView, /) -> TensorView: ...
    @overload
    @staticmethod
    def tanh(x0: _ScalarOperand, /) -> Scalar: ...
    @staticmethod
    def var_mean(arg: TensorView, dims: _Ints, correction: int = 1, keepdim: bool = False) -> tuple[TensorView, TensorView]: ...
    @overload
    @staticmethod
    def where(x0: TensorView, x1: _Operand, x2: _Operand, /) -> TensorView: ...
    @overload
    @staticmethod
    def where(x0: _Operand, x1: TensorView, x2: _Operand, /) -> TensorView: ...
    @overload
    @staticmethod
    def where(x0: _Operand, x1: _Operand, x2: TensorView, /) -> TensorView: ...
    @overload
    @staticmethod
    def where(x0: _ScalarOperand, x1: _ScalarOperand, x2: _ScalarOperand, /) -> Scalar: ...

add = Operations.add
broadcast_in_dim = Operations.broadcast_in_dim
cast = Operations.cast
div = Operations.div
eq = Operations.eq
erf = Operations.erf
exp = Operations.exp
ge = Operations.ge
gt = Operations.gt
le = Operations.le
linear = Operations.linear
lt = Operations.lt
matmul = Operations.matmul
max = Operations.max
mul = Operations.mul
ne = Operations.ne
neg = Operations.neg
permute = Operations.permute
relu = Operations.relu
reshape = Operations.reshape
rsqrt = Operations.rsqrt
set = Operations.set
sigmoid = Operations.sigmoid
sub = Operations.sub
sum = Operations.sum
tanh = Operations.tanh
var_mean = Operations.var_mean
where = Operations.where
