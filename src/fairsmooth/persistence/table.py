"""The notes of a model of a table: which column is what, and where the model came from."""

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from fairsmooth.persistence.fields import (
    an_object,
    flag,
    object_with,
    real,
    require,
    scalar,
    text,
    texts,
    whole,
)

Check = Callable[[Any, str], object]
_DIGEST = re.compile(r"[0-9a-f]{64}")
# What a prediction depends on, or names its parts; the other notes say where a model came from.
ROLES = ("label", "positive", "negative", "sensitive", "ids", "drop", "include_sensitive", "bands")


def read_table(value: Any) -> dict[str, Any] | None:
    """Return the notes, each of its type and none against another, or nothing."""
    if value is None:
        return None
    table = object_with(value, "table", optional=_CHECKS)
    for name, entry in table.items():
        _CHECKS[name](entry, f"the table's {name}")
    together = sorted({"label", "positive", "negative"} & set(table))
    fits = together in ([], ["label"], ["label", "negative", "positive"])
    require(fits, "label, positive and negative value together in table", together)
    if len(together) == 3:
        # By their text, as labels in a file are compared.
        distinct = str(table["positive"]) != str(table["negative"])
        require(distinct, "different positive and negative values", table["positive"])
    _refuse_two_roles(table)
    return table


def _refuse_two_roles(table: dict[str, Any]) -> None:
    label = {table["label"]} if "label" in table else set()
    sensitive, ids, drop = (set(table.get(name, [])) for name in ("sensitive", "ids", "drop"))
    taken = sorted((label & (sensitive | ids | drop)) | (sensitive & ids))
    require(not taken, "one role for every column of the table", taken)
    strange = sorted(set(table.get("bands", {})) - sensitive)
    require(not strange, "bands of sensitive columns only", strange)


def _or_none(check: Check) -> Check:
    return lambda value, name: None if value is None else check(value, name)


def _share(value: Any, name: str) -> None:
    real(value, name, low=0.0, high=1.0)


def _bands(value: Any, name: str) -> None:
    for column, edges in an_object(value, name).items():
        require(isinstance(edges, list) and bool(edges), f"a list of edges of {column!r}", edges)
        numbers = [real(edge, f"an edge of {column!r}") for edge in edges]
        rising = all(low < high for low, high in pairwise(numbers))
        require(rising, f"rising edges of {column!r}", edges)


def _digest(value: Any, name: str) -> None:
    fits = isinstance(value, str) and _DIGEST.fullmatch(value) is not None
    require(fits, f"{name} to be a SHA-256 in hexadecimal", value)


def _versions(value: Any, name: str) -> None:
    for library, version in an_object(value, name).items():
        text(version, f"the version of {library}")


def _sentences(value: Any, name: str) -> None:
    fits = isinstance(value, list) and all(isinstance(entry, str) for entry in value)
    require(fits, f"{name} to be a list of texts", value)


def _object(value: Any, name: str) -> None:
    require(isinstance(value, list | dict), f"{name} to be a list or an object", value)


_CHECKS: dict[str, Check] = {
    "label": text,
    "positive": scalar,
    "negative": scalar,
    "sensitive": texts,
    "ids": texts,
    "drop": texts,
    "include_sensitive": flag,
    "bands": _bands,
    "rows": whole,
    "held_out": _or_none(whole),
    "seed": _or_none(whole),
    "test_size": _or_none(_share),
    "digest": _or_none(_digest),
    "versions": _versions,
    "date": text,
    "notes": _sentences,
    "id_digests": _object,
}
