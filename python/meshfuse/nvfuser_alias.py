"""``import nvfuser_direct`` for programs that are written for nvFuser."""

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

__all__ = ["enable_nvfuser_alias"]

_ALIAS = "nvfuser_direct"
_PACKAGE = "meshfuse"
# nvFuser's name of the compiled part.
_RENAMED = {f"{_ALIAS}._C_DIRECT": f"{_PACKAGE}._C"}


class _AliasFinder(MetaPathFinder, Loader):
    """Finds nvfuser_direct and its submodules: they are this package's own modules, not copies."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != _ALIAS and not fullname.startswith(_ALIAS + "."):
            return None
        real = _real_name(fullname)
        if real not in sys.modules and importlib.util.find_spec(real) is None:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
        return ModuleSpec(fullname, self)

    def exec_module(self, module: ModuleType) -> None:
        # The import system hands out what sys.modules holds when this returns; the new module is dropped.
        sys.modules[module.__name__] = importlib.import_module(_real_name(module.__name__))


def _real_name(alias: str) -> str:
    return _RENAMED.get(alias, _PACKAGE + alias.removeprefix(_ALIAS))


def enable_nvfuser_alias() -> None:
    """From here on ``import nvfuser_direct`` gives this package, and so do its submodules that exist here.

    Calling it again does nothing. RuntimeError when nvFuser's own nvfuser_direct has been imported already.
    """
    loaded = sys.modules.get(_ALIAS)
    if loaded is not None and loaded is not sys.modules[_PACKAGE]:
        raise RuntimeError(
            "enable_nvfuser_alias: the name nvfuser_direct must be free: "
            f"it has been imported from {getattr(loaded, '__file__', None)}; call this before anything imports it"
        )
    if not any(isinstance(finder, _AliasFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _AliasFinder())
