"""FusionDefinition: a fusion is written once, inside a ``with`` block, and executed any number of times."""

import copy
import sys
import traceback
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self

import torch

from meshfuse import ops as _ops
from meshfuse._C import FusionDefinitionBase, TensorView
from meshfuse._example_inputs import with_memory
from meshfuse.executor_cache import FusionExecutorCache
from meshfuse.graph_capture import Definition, Form, execute_captured
from meshfuse.pytorch_utils import torch_dtype_to_nvfuser_dtype
from meshfuse.reproduction import fake_copies, repro_script
from meshfuse.validation import Validation

if TYPE_CHECKING:
    from meshfuse.ops import Operations

__all__ = ["FusionDefinition"]


class FusionDefinition(FusionDefinitionBase):
    """A fusion under definition and, from its first execution on, its executor.

    Entering the block starts a new fusion in the same object. An exception in the block leaves the object without one.
    The first execution closes the definition: a ``define_*`` or ``add_output`` after it raises AttributeError.
    """

    ops: ClassVar["Operations"] = _ops

    _fec: FusionExecutorCache | None = None
    _graph_definition: Definition | None = None
    #: What graphs that torch captures know of this definition.
    _form_in_graphs: Form = Form()
    #: What the inputs of the last execution with save_repro_inputs=True look like.
    fake_inputs: list[Any] | None = None

    def __enter__(self) -> Self:
        self._enter_block()
        self._fec = None
        self.fake_inputs = None
        self._graph_definition = None
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
        else:
            self._name_for_graphs()

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

    def compile(self, inputs: Iterable[Any]) -> None:
        """Makes the program and its kernels for inputs like these, and does not run it: the next execution on such inputs is
        as fast as any later one.

        No element is read. Meta tensors stand for tensors on the CPU, and fake ones for tensors on their device. It closes the
        definition and refuses what execute refuses. No rank waits for another one.
        """
        self._compile(with_memory(inputs))

    @property
    def fec(self) -> FusionExecutorCache:
        """What executes the definition. AttributeError before the first execution."""
        if self._fec is None:
            if not self._is_closed:
                raise AttributeError(
                    "fec: an executor exists from the first execution on: nothing was executed; execute the definition first"
                )
            self._fec = FusionExecutorCache(self.fusion)
        return self._fec

    def __copy__(self) -> Self:
        """Another definition with the same calls, open again; attributes are shared."""
        return self._copied(lambda value: value)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Another definition with the same calls, open again, and copies of the attributes."""
        return self._copied(lambda value: copy.deepcopy(value, memo))

    def _copied(self, of_attribute: Callable[[Any], Any]) -> Self:
        copied = type(self)()
        if self._is_defined:
            copied._adopt(self.fusion._copy())
        own = {"_fec", "_graph_definition", "_form_in_graphs"}
        for name, value in self.__dict__.items():
            if name not in own:
                setattr(copied, name, of_attribute(value))
        return copied

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "FusionDefinition: a definition is not pickled: its programs belong to this process; "
            "send repr(fd), which is Python that makes it again"
        )

    def _share(self, executor: FusionExecutorCache) -> None:
        """Becomes the definition that `executor` runs."""
        self._adopt(executor.fusion())
        self._fec = executor
        self._name_for_graphs()

    def _name_for_graphs(self) -> None:
        self._graph_definition = Definition(self)
        self._form_in_graphs = self._graph_definition.form

    def _execute_on_fakes(self, inputs: Any) -> list[torch.Tensor]:
        """What execute does where an argument is a fake tensor; a graph that is being captured records it."""
        if self._graph_definition is None:
            self._name_for_graphs()
        return execute_captured(self._form_in_graphs, inputs)

    def validate(
        self,
        inputs: Iterable[Any],
        reference_outputs: Sequence[torch.Tensor] | None = None,
        device: torch.device | str | int | None = None,
        **kwargs: Any,
    ) -> list[torch.Tensor]:
        """Executes the definition, checks the results and returns them. ``kwargs`` go to execute.

        Against ``reference_outputs``: AssertionError when their number, sizes, types or values differ. Without them, against
        the definition evaluated operation by operation in double: RuntimeError when the values differ
        (validate_with_auto_inferred_outputs). The tolerances are those of get_val_tolerances.
        """
        inputs = list(inputs) if not isinstance(inputs, (list, tuple, torch.Tensor)) else inputs
        validation = Validation(inputs)
        outputs = self.execute(inputs, device=device, **kwargs)
        if reference_outputs is None:
            validation.check(self.fusion, outputs)
        else:
            validation.check_against(self.fusion, outputs, reference_outputs)
        return outputs

    def repro_script_for(self, inputs: Iterable[Any] | None = None) -> str:
        """A program that makes this definition and executes it on inputs like these; run alone, it gives the same outputs.

        Tensors of at most 1000 elements are written out. Larger ones, and fake ones, are drawn at random from a fixed seed
        with the same sizes, strides, type and range. DTensors are refused with TypeError.
        """
        return repro_script(repr(self), inputs)

    def last_repro_script(self) -> str:
        """The program of the last execution with ``save_repro_inputs=True``, on random inputs; AssertionError without one."""
        if self.fake_inputs is None:
            raise AssertionError(
                "last_repro_script: cannot provide a repro: no execution saved its inputs; "
                "execute with save_repro_inputs=True first"
            )
        return self.repro_script_for(self.fake_inputs)

    def _save_repro_inputs(self, inputs: Iterable[Any]) -> None:
        self.fake_inputs = fake_copies(inputs)
