"""Find what a package declares, by presence: one file, one declaration."""

import importlib
import pkgutil
from types import ModuleType
from typing import Any


def discover(package: ModuleType, constant: str) -> tuple[Any, ...]:
    """Collect the tuple named ``constant`` from every public module of a package.

    Modules whose names start with an underscore are machinery and are passed
    over; a public module that declares nothing is an error.
    """
    found: list[Any] = []
    for info in sorted(pkgutil.iter_modules(package.__path__), key=lambda info: info.name):
        if info.name.startswith("_"):
            continue
        module = importlib.import_module(f"{package.__name__}.{info.name}")
        if not hasattr(module, constant):
            raise RuntimeError(
                f"Expected {module.__name__} to declare {constant}, found none. "
                "Declare it, or start the file's name with an underscore."
            )
        found.extend(getattr(module, constant))
    return tuple(found)
