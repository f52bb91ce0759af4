"""Whether safety rows were trained on: by the table's digest and by digests of named ids."""

import hashlib
import heapq
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from fairsmooth.data.values import normal_texts
from fairsmooth.exceptions import InputError
from fairsmooth.tables.provenance import Provenance

# A file keeps this many digests of training ids at most, the smallest ones: an id whose
# digest is smaller than the largest kept one can be told, the others cannot.
MOST_DIGESTS = 100_000
_HEX = 16


def id_digests(ids: pd.DataFrame, *, digest: str) -> dict[str, Any]:
    """Return salted digests of the ids of training rows, as a model file keeps them.

    The salt comes from the digest of the whole table, so that the same training gives the
    same file. These are no anonymisation: whoever has a list of ids can tell which of
    them were trained on.
    """
    salt = hashlib.sha256(f"ids of {digest}".encode()).hexdigest()[:32]
    smallest: list[str] = []
    for start in range(0, len(ids), MOST_DIGESTS):
        some = _digests(ids.iloc[start : start + MOST_DIGESTS], salt)
        smallest = heapq.nsmallest(MOST_DIGESTS, {*smallest, *some})
    return {"salt": salt, "complete": len(smallest) < MOST_DIGESTS, "digests": "".join(smallest)}


def require_no_overlap(known: Provenance | None, table: Any, digest: str) -> str:
    """Refuse rows that were trained on, and say in one line what was checked.

    Raises
    ------
    InputError
        If the table is the one that the model was trained from, or if an id of it was
        among the training rows.
    """
    if known is None:
        return "Overlap with the training rows is not checked: no model was given."
    if known.digest is not None and known.digest == digest:
        raise InputError(
            "Expected rows that the model was not trained on, got the table that it was trained "
            "from. Use rows that were kept apart."
        )
    kept = known.id_digests
    names = [name for name in known.ids if name in table.columns]
    if not kept or len(names) < len(known.ids) or not names:
        return "Overlap with the training rows is not checked row by row: " + (
            "the table lacks the id columns." if kept else "the model was trained without ids."
        )
    return _compare(table[names], kept)


def _compare(ids: pd.DataFrame, kept: Mapping[str, Any]) -> str:
    text = str(kept["digests"])
    trained = {text[start : start + _HEX] for start in range(0, len(text), _HEX)}
    largest = max(trained, default="")
    # That two rows have no id does not make them one person's.
    known = np.flatnonzero(ids.notna().any(axis=1).to_numpy())
    if len(ids) and not len(known):
        return "Overlap with the training rows is not checked row by row: no row has an id."
    found = _digests(ids.iloc[known], str(kept["salt"]))
    shared = [row for row, digest in zip(known, found, strict=True) if digest in trained]
    if shared:
        raise InputError(
            f"Expected rows that the model was not trained on, got {len(shared)} whose "
            f"{', '.join(map(repr, ids.columns))} was among the training rows (the first is row "
            f"{shared[0] + 1}). Leave them out, or use rows that were kept apart."
        )
    lost = len(ids) - len(known)
    more = f" {lost:,} more rows have no id and are not checked." if lost else ""
    if kept["complete"]:
        return f"No id of these {len(found):,} rows was among the training rows.{more}"
    told = sum(digest <= largest for digest in found)
    return (
        f"No id was among the training rows, as far as the file can tell: {told:,} of "
        f"{len(found):,} ids could be compared.{more}"
    )


def _digests(ids: pd.DataFrame, salt: str) -> list[str]:
    columns = [normal_texts(str(name), ids[name]).fillna("").tolist() for name in ids.columns]
    return [
        hashlib.sha256("\x1f".join((salt, *row)).encode()).hexdigest()[:_HEX]
        for row in zip(*columns, strict=True)
    ]
