"""FusionDefinition: a fusion is written once, inside a ``with`` block, and executed any number of times."""

import sys
import traceback
from types import TracebackType
from typing import TYPE_CHECKING, ClassVar, Self

import torch

from meshfuse import ops as _ops
from meshfuse._C import FusionDefinitionBase, TensorView
from meshfuse.pytorch_utils import torch_dtype_to_nvfuser_dtype

if TYPE_CHECKING:
    from meshfuse.ops import Operations

__all__ = ["FusionDefinition"]


class FusionDefinition(FusionDefinitionBase):
    """A fusion under definition and, from its first execution on, its executor.

    Entering the block starts a new fusion in the same object. An exception in the block leaves the object without one.
    The first execution closes the definition: a ``define_*`` or ``add_output`` after it raises AttributeError.
    """

    ops: ClassVar["Operations"] = _ops

    def __enter__(self) -> Self:
        self._enter_block()
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        exc_traceback: TracebackType | None,
    ) -> None:
        self._leave_block(exc_type is not None)
        if exc_type is not None:
            summary = traceback.format_exception_only(exc_type, exc_value)[0].splitlines()[0]
            print(f"FusionDefinition: the definition ended with {summary}")
            traceback.print_exception(exc_type, exc_value, exc_traceback, file=sys.stdout)

    def from_pytorch(self, tensor: torch.Tensor, static_sizes: bool = False) -> TensorView:
        """A tensor input like ``tensor``: its dtype, its order of dimensions in memory, its sizes if ``static_sizes``.

        Tensors on any device are taken; for a DTensor, its global sizes. KeyError for a dtype that the language lacks.
        """
        if not isinstance(tensor, torch.Tensor):
            raise TypeError(
                "from_pytorch(): incompatible function arguments: "
                f"got a {type(tensor).__name__}; pass a torch.Tensor"
            )
        if tensor.layout != torch.strided:
            raise ValueError(
                f"from_pytorch: a tensor needs sizes and strides: got a tensor of layout {tensor.layout}; "
                "pass a dense (strided) tensor"
            )
        return self.define_tensor(
            sizes=list(tensor.size()),
            strides=list(tensor.stride()),
            dtype=torch_dtype_to_nvfuser_dtype(tensor.dtype),
            static_sizes=static_sizes,
            is_cpu=tensor.dim() == 0 and tensor.device.type == "cpu",
        )
