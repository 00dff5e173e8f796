"""The operations of the language; ``FusionDefinition().ops`` is this module.

Each adds a call to the definition whose ``with`` block is open. The functions come from the op table; ``ops.pyi`` has
their types and is written by ``tools/generate_op_stubs.py``.
"""

from meshfuse import _C

__all__ = [function.__name__ for function in _C.op_functions]

globals().update({function.__name__: function for function in _C.op_functions})
