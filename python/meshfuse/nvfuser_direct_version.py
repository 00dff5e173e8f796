"""The version of the language, under the name that nvFuser's users know."""

from typing import TYPE_CHECKING, Any

from meshfuse import _C

if TYPE_CHECKING:
    from packaging.version import Version

__all__ = ["Version", "__version__"]

# nvFuser's version whose language this is; our own version follows as the local part.
_LANGUAGE = "0.2.36"


def __getattr__(name: str) -> Any:
    # Imported at its first use: few callers compare versions.
    if name == "Version":
        from packaging.version import Version

        return Version
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class LanguageVersion(str):
    """A version as text that compares as a version, without its local part, with texts and ``packaging.version.Version``."""

    __slots__ = ()

    def _both(self, other: object) -> tuple[Any, Any]:
        from packaging.version import Version

        if not isinstance(other, (str, Version)):
            raise ValueError(
                f"version: a version compares with a text or a packaging.version.Version: got a {type(other).__name__}; "
                "pass one of them"
            )
        return Version(Version(str(self)).public), Version(Version(str(other)).public)

    def __eq__(self, other: object) -> bool:
        mine, theirs = self._both(other)
        return mine == theirs

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __lt__(self, other: object) -> bool:
        mine, theirs = self._both(other)
        return mine < theirs

    def __le__(self, other: object) -> bool:
        mine, theirs = self._both(other)
        return mine <= theirs

    def __gt__(self, other: object) -> bool:
        return not self <= other

    def __ge__(self, other: object) -> bool:
        return not self < other

    def __hash__(self) -> int:
        return hash(str(self).partition("+")[0])


__version__ = LanguageVersion(f"{_LANGUAGE}+meshfuse.{_C.version}")
