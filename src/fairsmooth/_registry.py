"""Find what a package declares, by presence: one file, one declaration."""

import importlib
import pkgutil
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from fairsmooth import _validate


def discover(package: ModuleType, constant: str) -> tuple[Any, ...]:
    """Collect the tuple named ``constant`` from every public module of a package.

    Modules whose names start with an underscore are machinery and are passed
    over; a public module that declares nothing is an error, and so is a name
    that two of them declare.
    """
    found: dict[str, Any] = {}
    for info in sorted(pkgutil.iter_modules(package.__path__), key=lambda info: info.name):
        if info.name.startswith("_"):
            continue
        module = importlib.import_module(f"{package.__name__}.{info.name}")
        if not hasattr(module, constant):
            raise RuntimeError(
                f"Expected {module.__name__} to declare {constant}, found none. "
                "Declare it, or start the file's name with an underscore."
            )
        for each in getattr(module, constant):
            if each.name in found:
                raise RuntimeError(
                    f"Expected names of their own in {package.__name__}, got {each.name!r} a "
                    f"second time in {module.__name__}."
                )
            found[each.name] = each
    return tuple(found.values())


def named(entries: Sequence[Any], **wanted: str) -> Any:
    """Return the entry of that name; ``wanted`` says what kind of thing it is, for the error."""
    by_name = {each.name: each for each in entries}
    _validate.one_of(tuple(by_name), **wanted)
    (name,) = wanted.values()
    return by_name[name]
