"""A method from a file outside the package, compared like those inside."""

import hashlib
import importlib.util
import inspect
import sys
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from fairsmooth.baselines import Method
from fairsmooth.exceptions import InputError

_DIGITS = 12


@dataclass(frozen=True)
class FromFile:
    """Builds estimators of a class in a file; another process is sent the place, not the class.

    Attributes
    ----------
    path : str
        The Python file.
    class_name : str
        The class in it.
    digest : str
        First digits of the file's SHA-256; a file that changed meanwhile is refused.
    """

    path: str
    class_name: str
    digest: str

    def __call__(self, **options: Any) -> Any:
        """Return an unfitted estimator; the seed is given to a constructor that takes one."""
        estimator = self.load()
        if not _accepts(estimator, "random_state"):
            options.pop("random_state", None)
        return estimator(**options)

    def load(self) -> type:
        """Return the class."""
        if _digest(Path(self.path)) != self.digest:
            raise InputError(
                f"Expected {self.path} as it was when the run began, got another content. "
                "Run the command again."
            )
        found = getattr(_module(self.path, self.digest), self.class_name, None)
        if not isinstance(found, type):
            raise InputError(
                f"Expected {self.path} to define a class {self.class_name!r}, found none."
            )
        return found


def load_method(place: str) -> Method:
    """Return the method that ``path/file.py:Class`` names, after checking what it must have.

    The class has ``fit(X, y, sensitive_features=...)``, ``predict`` and
    ``predict_proba``, and can be made without arguments. If the file declares a
    ``METHODS`` tuple as the files of :mod:`fairsmooth.baselines` do, the entry of
    the class gives label and candidates; otherwise it runs as it is. Its name in
    rows carries the digest of the file, so that an edited file is another method.

    The file is run as Python code: name only files that you trust.
    """
    path, _, class_name = place.rpartition(":")
    if not path or not class_name.isidentifier():
        raise InputError(f"Expected method as path/file.py:Class, got {place!r}.")
    file = Path(path).resolve()
    if file.suffix != ".py" or not file.is_file():
        raise InputError(f"Expected a Python file with the method, found none at {path!r}.")
    source = FromFile(str(file), class_name, _digest(file))
    estimator = source.load()
    _check(estimator, place)
    declared = getattr(_module(source.path, source.digest), "METHODS", ())
    found = [each for each in declared if getattr(each, "estimator", None) is estimator]
    method = found[0] if found else Method(class_name, class_name, source, str(path), "")
    return replace(method, name=f"{class_name}@{source.digest}", estimator=source)


@cache
def _module(path: str, digest: str) -> ModuleType:
    name = f"fairsmooth_outside_{digest}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Registered, as dataclasses and pickle expect; with its folder, for files beside it.
    sys.modules[name] = module
    folder = str(Path(path).parent)
    if folder not in sys.path:
        sys.path.append(folder)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise InputError(f"Expected {path} to run, got {type(error).__name__}: {error}.") from error
    return module


def _check(estimator: type, place: str) -> None:
    for name in ("fit", "predict", "predict_proba"):
        if not callable(getattr(estimator, name, None)):
            raise InputError(f"Expected {place} to have a method {name!r}, found none.")
    if not _accepts(estimator.fit, "sensitive_features"):  # type: ignore[attr-defined]
        raise InputError(
            f"Expected {place} to have fit(X, y, sensitive_features=...), got fit without it."
        )
    required = [
        parameter.name
        for parameter in inspect.signature(estimator).parameters.values()
        if parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    ]
    if required:
        raise InputError(
            f"Expected {place} to be made without arguments, got a constructor that "
            f"requires {', '.join(required)}. Give them defaults."
        )


def _accepts(function: Any, name: str) -> bool:
    parameters = inspect.signature(function).parameters
    return name in parameters or any(
        parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()
    )


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()[:_DIGITS]
