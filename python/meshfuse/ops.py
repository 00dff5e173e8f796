"""The operations of the language; ``FusionDefinition().ops`` is this module.

Each adds a call to the definition whose ``with`` block is open. The functions come from the op table; the build writes
their types, ``ops.pyi``, from the same table (``tools/generate_op_stubs.py``).
"""

from types import ModuleType

from meshfuse import _C

__all__ = [*(function.__name__ for function in _C.op_functions), "shape"]

#: What this module is to type checkers; the stub lists its functions.
Operations = ModuleType

globals().update({function.__name__: function for function in _C.op_functions})


def shape(arg: _C.TensorView, /) -> list[_C.Scalar]:
    """The sizes of a tensor, one scalar a dimension: ``size`` of each."""
    size = globals()["size"]
    return [size(arg, dim) for dim in range(arg.ndim)]
