"""Public names that are imported when somebody asks for them."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from fairsmooth._extras import missing_extra


def names_when_asked(namespace: dict[str, Any], homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a package's ``__getattr__``, which fetches a name from the module it lives in.

    Parameters
    ----------
    namespace : dict
        ``globals()`` of the package; a name that was asked for is kept there.
    homes : mapping
        For every such name, the module.
    """

    def found(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {namespace['__name__']!r} has no attribute {name!r}")
        try:
            value = getattr(import_module(homes[name]), name)
        except ModuleNotFoundError as error:
            raise missing_extra(error) or error from error
        namespace[name] = value
        return value

    return found


def fetched(module: str, name: str) -> Any:
    """Return a name of a room that the asking one must not import: loaded when used.

    Only for what a user may ask of an object and another room does, such as its page.
    """
    try:
        return getattr(import_module(module), name)
    except ModuleNotFoundError as error:
        raise missing_extra(error) or error from error
