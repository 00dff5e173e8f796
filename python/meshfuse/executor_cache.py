"""What executes definitions, and caches that let equal definitions share it."""

import functools
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import torch

from meshfuse._C import Fusion, FusionDefinitionBase
from meshfuse._example_inputs import with_memory
from meshfuse.output_shardings import Sharding, shardings_of

if TYPE_CHECKING:
    from meshfuse.fusion_definition import FusionDefinition

__all__ = ["FusionExecutorCache", "LRUCache", "LruFusionCache"]


class FusionExecutorCache:
    """A fusion with the programs that were prepared for its calls: ``fd.fec`` from the first execution on.

    Making one closes the fusion: nothing can be added to it any more. ``fusion_id`` is a number for the caller's own use.
    """

    def __init__(self, fusion: Fusion, fusion_id: int = 0, auto_schedule: bool = True) -> None:
        if not auto_schedule:
            raise NotImplementedError(
                "FusionExecutorCache: fusions are scheduled automatically: got auto_schedule=False; leave it out"
            )
        self._runner = FusionDefinitionBase()
        self._runner._adopt(fusion)
        self._runner._close()
        self.fusion_id = fusion_id

    def fusion(self) -> Fusion:
        """The fusion, to inspect and compare."""
        return self._runner.fusion

    def execute(
        self,
        inputs: Iterable[Any],
        *,
        device: torch.device | str | int | None = None,
        _enable_options: Sequence[str] = (),
        _disable_options: Sequence[str] = (),
    ) -> list[torch.Tensor]:
        """What ``FusionDefinition.execute`` does."""
        return self._runner.execute(
            inputs,
            device=device,
            _enable_options=_enable_options,
            _disable_options=_disable_options,
        )

    def compile(self, inputs: Iterable[Any]) -> None:
        """What ``FusionDefinition.compile`` does."""
        self._runner._compile(with_memory(inputs))

    def is_compiled(
        self, inputs: Iterable[Any], device: torch.device | str | int | None = None
    ) -> bool:
        """Whether an execution on inputs like these finds its program ready. ``device`` is the one they are on."""
        del device  # the inputs are on it
        return self._runner._is_prepared(inputs)

    def get_output_shardings(self) -> list[Sharding]:
        """How each result of the last execution lies on its mesh; [] without DTensors. RuntimeError before the first one."""
        return shardings_of(self._runner._output_shardings())


class _Entry:
    """A cached executor and how often it was found."""

    def __init__(self, executor: FusionExecutorCache) -> None:
        self.executor = executor
        self.hits = 0


class LRUCache:
    """Executors by definition: equal definitions get the same one. Holds at most ``max_fusions``, dropping the one not used
    for longest. Safe to use from any number of threads."""

    def __init__(self, max_fusions: int) -> None:
        if max_fusions <= 0:
            raise RuntimeError(
                f"LRUCache: max_fusions must be positive: got {max_fusions}; pass how many fusions to keep"
            )
        self._max_fusions = max_fusions
        self._lock = threading.Lock()
        self._entries: OrderedDict[Fusion, _Entry] = OrderedDict()  # the last one is the newest
        self._compiled = 0
        self._lookups = 0
        self._hits = 0

    def cache_compile(self, fusion: Fusion) -> FusionExecutorCache:
        """The executor of an equal definition, or a new one, which closes ``fusion``."""
        with self._lock:
            self._lookups += 1
            entry = self._entries.get(fusion)
            if entry is not None:
                self._hits += 1
                entry.hits += 1
                self._entries.move_to_end(fusion)
                return entry.executor
            executor = FusionExecutorCache(fusion, fusion_id=self._compiled)
            self._compiled += 1
            self._entries[fusion] = _Entry(executor)
            if len(self._entries) > self._max_fusions:
                self._entries.popitem(last=False)
            return executor

    def num_fusions(self) -> int:
        """How many executors it holds."""
        return len(self._entries)

    def stats(self) -> str:
        """The capacity, what it holds and how often each was found, newest first, and the share of lookups that hit."""
        with self._lock:
            lines = [f"Max fusions: {self._max_fusions}"]
            if not self._entries:
                return "\n".join([*lines, "No fusions cached"]) + "\n"
            lines += [
                f"Total fusions: {len(self._entries)}",
                f"Unique fusions compiled: {self._compiled}",
                "Hits by fusion, most recently used first:",
                *(
                    f"\t{entry.executor.fusion_id} -> {entry.hits} hits"
                    for entry in reversed(self._entries.values())
                ),
                f"Lookups: {self._lookups}",
                f"Hits: {self._hits}",
                f"Hit rate: {100 * self._hits / self._lookups:.2f}%",
            ]
            return "\n".join(lines) + "\n"


def LruFusionCache(max_fusions: int = 16384) -> Callable[[Callable[..., Any]], Any]:  # noqa: N802 (the language's name)
    """Decorates a function that returns a FusionDefinition: one that is equal to an earlier one shares its executor.

    The decorated function has ``stats()`` and ``num_fusions()``, as LRUCache has. The definition that it returns is closed.
    """
    cache = LRUCache(max_fusions)

    def decorate(function: Callable[..., Any]) -> Any:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> "FusionDefinition":
            definition = function(*args, **kwargs)
            if not isinstance(definition, FusionDefinitionBase):
                raise TypeError(
                    "LruFusionCache: the function returns a FusionDefinition: "
                    f"{function.__qualname__} returned a {type(definition).__name__}; return the definition"
                )
            definition._share(cache.cache_compile(definition.fusion))
            return definition

        # A function takes attributes that its type does not list.
        wrapper.stats = cache.stats  # type: ignore[attr-defined]  # as nvFuser's wrapper has it
        wrapper.num_fusions = cache.num_fusions  # type: ignore[attr-defined]  # the same
        return wrapper

    return decorate
