"""The steps of a scikit-learn pipeline before our classifier, as plain data: no pickle.

A file names classes from a fixed list and holds their attributes: numbers, texts, lists and
arrays. Reading makes objects of those classes and no others, and sets attributes that are
data; nothing in a file is called.
"""

import re
import warnings
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np

from fairsmooth.exceptions import InputError

# What can be saved, by the module that has it.
CLASSES = {
    "ColumnTransformer": "sklearn.compose",
    "FunctionTransformer": "sklearn.preprocessing",
    "MaxAbsScaler": "sklearn.preprocessing",
    "MinMaxScaler": "sklearn.preprocessing",
    "MissingIndicator": "sklearn.impute",
    "OneHotEncoder": "sklearn.preprocessing",
    "OrdinalEncoder": "sklearn.preprocessing",
    "Pipeline": "sklearn.pipeline",
    "RobustScaler": "sklearn.preprocessing",
    "SimpleImputer": "sklearn.impute",
    "StandardScaler": "sklearn.preprocessing",
}
# Requests for metadata, callbacks and caches belong to a training, not to what it found.
_LEFT_OUT = ("_metadata_request", "memory")
_NAME = re.compile(r"_?[a-z][a-z0-9_]*")
_KINDS = "biufUO"
_DEEPEST = 40
# Bytes of one array: a few characters of a file must not ask for all memory.
_LARGEST = 2**28


def plain_pipeline(pipeline: Any) -> dict[str, Any]:
    """Return the steps before the last as plain data, and the names of all steps."""
    import sklearn

    steps = [[name, _plain(step)] for name, step in pipeline.steps[:-1]]
    for _, step in steps:
        _value(step, 0)  # what could not be read must not be written
    return {"library": sklearn.__version__, "steps": steps, "last": pipeline.steps[-1][0]}


def rebuilt_pipeline(plain: Mapping[str, Any], classifier: Any) -> Any:
    """Return a fitted pipeline that ends in a classifier, from :func:`plain_pipeline`.

    Raises
    ------
    InputError
        If anything is absent, of the wrong type, too large or inconsistent.
    """
    try:
        return _rebuilt(plain, classifier)
    except InputError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InputError(f"Expected the steps of a pipeline, got damaged ones: {error}") from error


def _rebuilt(plain: Mapping[str, Any], classifier: Any) -> Any:
    import sklearn
    from sklearn.pipeline import Pipeline

    if _minor(plain["library"]) != _minor(sklearn.__version__):
        warnings.warn(
            f"The pipeline was saved with scikit-learn {plain['library']}, this is "
            f"{sklearn.__version__}: compare some predictions before you rely on it.",
            UserWarning,
            stacklevel=2,
        )
    steps = [(name, _value(step, 0)) for name, step in plain["steps"]]
    return Pipeline([*steps, (plain["last"], classifier)])


def _minor(version: str) -> list[str]:
    return version.split(".")[:2]


def _plain(value: Any) -> Any:
    """Write a value, tagging what JSON has no form for; refuse what is no data."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int | float) and not isinstance(value, np.generic):
        return value if np.isfinite(value) else {"float": repr(value)}
    if isinstance(value, list):
        return [_plain(entry) for entry in value]
    if isinstance(value, tuple):
        return {"tuple": [_plain(entry) for entry in value]}
    if isinstance(value, dict):
        return {"dict": [[_plain(key), _plain(entry)] for key, entry in value.items()]}
    if isinstance(value, slice):
        return {"slice": [_plain(part) for part in (value.start, value.stop, value.step)]}
    if isinstance(value, np.ndarray | np.generic) and np.asarray(value).dtype.kind in _KINDS:
        return _plain_array(np.asarray(value), scalar=isinstance(value, np.generic))
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        return {"dtype": np.dtype(value).str, "class": isinstance(value, type)}
    return _plain_object(value)


def _plain_array(array: Any, *, scalar: bool) -> dict[str, Any]:
    entries = [_plain(entry) for entry in array.ravel().tolist()]
    return {"array": entries, "dtype": array.dtype.str, "shape": list(array.shape),
            "scalar": scalar}  # fmt: skip


def _plain_object(value: Any) -> Any:
    if type(value).__module__.startswith("pandas.") and hasattr(value, "tolist"):
        return _plain(value.tolist())  # an index of columns
    name = type(value).__name__
    known = name in CLASSES and type(value) is _class(name)
    if not known or (name == "FunctionTransformer" and (value.func or value.inverse_func)):
        raise InputError(
            f"Expected steps that a file without code can hold ({', '.join(CLASSES)}, "
            f"'passthrough' and 'drop'), got {value!r}. Transform the rows before the "
            "pipeline, or use one of these."
        )
    state = {key: part for key, part in vars(value).items() if key not in _LEFT_OUT}
    if name == "ColumnTransformer" and "_columns" in state:
        # By what was chosen, for a choice may be a function.
        chosen = zip(state["transformers"], state["_columns"], strict=True)
        state["transformers"] = [(*entry[:2], columns) for entry, columns in chosen]
    return {"object": name, "state": {key: _plain(part) for key, part in state.items()}}


def _class(name: str) -> Any:
    return getattr(import_module(CLASSES[name]), name)


def _value(plain: Any, depth: int) -> Any:
    """Read a value, trusting nothing in it."""
    if depth > _DEEPEST:
        raise InputError("Expected steps of a pipeline, got some that are nested too deeply.")
    if plain is None or isinstance(plain, bool | str | int | float):
        return plain
    if isinstance(plain, list):
        return [_value(entry, depth + 1) for entry in plain]
    match plain:
        case {"float": ("nan" | "inf" | "-inf") as text}:
            return float(text)
        case {"tuple": list(entries)}:
            return tuple(_value(entry, depth + 1) for entry in entries)
        case {"dict": list(pairs)}:
            return {_value(key, depth + 1): _value(entry, depth + 1) for key, entry in pairs}
        case {"slice": [start, stop, step]}:
            return slice(*(_value(part, depth + 1) for part in (start, stop, step)))
        case {"dtype": str(text), "class": bool(is_class)}:
            return _dtype(text).type if is_class else _dtype(text)
        case {"array": list(), "dtype": str(), "shape": list(), "scalar": bool()}:
            return _array(plain, depth)
        case {"object": str(name), "state": dict(state)} if name in CLASSES:
            return _object(name, state, depth)
    raise InputError(f"Expected a step of a pipeline, got {str(plain)[:80]!r}.")


def _dtype(text: str) -> Any:
    found = np.dtype(text)
    if found.kind not in _KINDS or found.names is not None:
        raise InputError(f"Expected numbers, texts or flags in an array, got {text!r}.")
    return found


def _array(plain: Mapping[str, Any], depth: int) -> Any:
    entries = [_value(entry, depth + 1) for entry in plain["array"]]
    single = bool | int | float | str | np.generic
    if not all(entry is None or isinstance(entry, single) for entry in entries):
        raise InputError("Expected single values in an array, got others.")
    dtype = _dtype(plain["dtype"])
    if len(entries) * dtype.itemsize > _LARGEST:
        raise InputError(f"Expected arrays of at most {_LARGEST} bytes, got a larger one.")
    array = np.empty(len(entries), dtype=dtype)
    array[:] = entries
    array = array.reshape([int(size) for size in plain["shape"]])
    return array[()] if plain["scalar"] else array


def _object(name: str, state: Mapping[str, Any], depth: int) -> Any:
    kind = _class(name)
    for key in state:
        # An attribute must not stand in for a method.
        if not _NAME.fullmatch(key) or callable(getattr(kind, key, None)) or key in _LEFT_OUT:
            raise InputError(f"Expected attributes of {name}, got {key!r}.")
    made = kind.__new__(kind)
    vars(made).update({key: _value(part, depth + 1) for key, part in state.items()})
    if name == "Pipeline":
        made.memory = None
    if any(vars(made).get(key) is not None for key in ("func", "inverse_func")):
        raise InputError("Expected a step without a function, got one with a function.")
    return made
