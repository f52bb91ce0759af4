"""Sensitive columns as group codes, checked before anything is trained on them."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairsmooth.data.values import normal_text
from fairsmooth.exceptions import GroupError, InputError

# What pandas calls columns of Python objects that hold such numbers.
_FLOATING = ("floating", "mixed-integer-float", "decimal")


@dataclass(frozen=True)
class Groups:
    """Group membership of every row.

    Attributes
    ----------
    labels : tuple
        One label per group; a tuple of values where several columns were given.
    codes : ndarray of int
        For every row, the position of its group in ``labels``.
    """

    labels: tuple[Hashable, ...]
    codes: NDArray[np.intp]

    @property
    def counts(self) -> NDArray[np.intp]:
        """Number of rows of each group."""
        return np.bincount(self.codes, minlength=len(self.labels))

    def rows(self) -> list[NDArray[np.intp]]:
        """Return the row numbers of each group, in the order of ``labels``."""
        order = np.argsort(self.codes, kind="stable")
        return np.split(order, np.cumsum(self.counts)[:-1])


def encode_groups(sensitive_features: Any, *, n_rows: int) -> Groups:
    """Turn one sensitive column, or several, into groups.

    Several columns make intersectional groups: one per combination that occurs.
    Groups are sorted by the text of their labels, so their order depends on
    neither the order of the rows nor the type of the labels.
    """
    if sensitive_features is None:
        raise InputError(
            "Expected sensitive_features, one label per row, got None. "
            "Pass fit(X, y, sensitive_features=...)."
        )
    frame = _as_frame(sensitive_features)
    if len(frame) != n_rows:
        raise InputError(
            f"Expected sensitive_features to have one entry per row of X ({n_rows}), "
            f"got {len(frame)}."
        )
    _reject_missing(frame)
    for position in range(frame.shape[1]):
        refuse_probabilities(frame.iloc[:, position])
    codes, labels = _factorize(frame)
    order = sorted(range(len(labels)), key=lambda k: str(labels[k]))
    rank = np.empty(len(order), dtype=np.intp)
    rank[order] = np.arange(len(order))
    return Groups(tuple(labels[k] for k in order), rank[codes])


def some_rows(sensitive_features: Any, used: Any) -> Any:
    """Return the sensitive columns of the rows that are used, a slice or a mask."""
    if isinstance(used, slice) or sensitive_features is None:
        return sensitive_features
    if len(sensitive_features) != len(used):
        return sensitive_features  # refused by its length
    if isinstance(sensitive_features, pd.DataFrame | pd.Series):
        return sensitive_features.iloc[np.flatnonzero(used)]
    return np.asarray(sensitive_features)[used]


def match_groups(sensitive_features: Any, labels: tuple[Hashable, ...], *, n_rows: int) -> Groups:
    """Encode new rows with the groups a model already knows.

    A label counts as known if it is equal to one of the model's, or has the same
    normal text: a model of groups 0 and 1 knows rows of "0" and "1".
    """
    groups = encode_groups(sensitive_features, n_rows=n_rows)
    place = {_normal(label): code for code, label in reversed([*enumerate(labels)])}
    place |= {label: code for code, label in reversed([*enumerate(labels)])}
    rank = [place.get(label, place.get(_normal(label))) for label in groups.labels]
    unknown = [label for label, code in zip(groups.labels, rank, strict=True) if code is None]
    if unknown:
        raise GroupError(
            f"Expected sensitive_features among the groups of the model, {list(labels)}, "
            f"got {unknown}."
        )
    return Groups(tuple(labels), np.array(rank, dtype=np.intp)[groups.codes])


def _normal(label: Hashable) -> Hashable:
    if isinstance(label, tuple):
        return tuple(normal_text(part) for part in label)
    return normal_text(label)


def require_trainable(groups: Groups, y: NDArray[np.integer[Any]]) -> None:
    """Refuse groups that cannot carry a classifier of their own: fewer than two, or one class."""
    positives = np.bincount(groups.codes, weights=y, minlength=len(groups.labels))
    require_counts(groups.labels, groups.counts, positives)


def require_counts(labels: tuple[Hashable, ...], counts: Any, positives: Any) -> None:
    """Refuse groups by how many rows, and how many positive ones, each has."""
    if len(labels) < 2:
        raise GroupError(
            f"Expected at least 2 groups in sensitive_features, got 1 ({labels[0]!r}). "
            "With one group there is nothing to certify."
        )
    for label, count, positive in zip(labels, counts, positives, strict=True):
        if count < 2 or positive in (0, count):
            what = "too few rows" if count < 2 else "one class only"
            raise GroupError(
                f"Expected every group to have rows of both classes, got group {label!r} with "
                f"{what}: {int(positive)} positive of {int(count)} rows. "
                "Merge it with another group or leave it out."
            )


def _factorize(frame: pd.DataFrame) -> tuple[NDArray[np.intp], list[Hashable]]:
    if frame.shape[1] == 1:  # several times faster than going through combinations
        codes, values = pd.factorize(frame.iloc[:, 0])
        return codes, [_plain(value) for value in values]
    # Combinations by number: a tuple for every row would be most of the memory.
    numbers, columns = np.zeros(len(frame), dtype=np.int64), []
    for position in range(frame.shape[1]):
        codes, values = pd.factorize(frame.iloc[:, position])
        columns.append([_plain(value) for value in values])
        numbers = numbers * len(values) + codes
    codes, found = pd.factorize(numbers)
    sizes = [len(values) for values in columns]
    places = zip(*np.unravel_index(found, sizes), strict=True) if len(found) else []
    return codes, [
        tuple(values[place] for values, place in zip(columns, each, strict=True)) for each in places
    ]


def _as_frame(sensitive_features: Any) -> pd.DataFrame:
    if isinstance(sensitive_features, pd.DataFrame):
        return sensitive_features
    if isinstance(sensitive_features, pd.Series):
        return sensitive_features.to_frame()
    array = np.asarray(sensitive_features)
    if array.ndim not in (1, 2) or (array.ndim == 2 and array.shape[1] == 0):
        raise InputError(
            "Expected sensitive_features with one column or several, "
            f"got an array of shape {array.shape}."
        )
    return pd.DataFrame(array)


def refuse_probabilities(column: pd.Series) -> None:
    """Refuse numbers that are not whole in place of groups.

    Probabilities of belonging to a group (BISG and the like) are no groups: every
    certificate and gap here is about people whose group is known. A gap between rows weighed or
    cut by such probabilities can have the wrong size and even the wrong sign (Chen et al., 2019).
    """
    kind = pd.api.types.infer_dtype(column, skipna=True) if column.dtype == object else ""
    if not (pd.api.types.is_float_dtype(column.dtype) or kind in _FLOATING):
        return
    values = column.to_numpy(np.float64, na_value=np.nan)
    broken = values[np.isfinite(values) & (values != np.floor(values))]
    if len(broken):
        raise GroupError(
            "Expected the group of every row, got numbers that are not whole "
            f"({', '.join(f'{value:g}' for value in np.unique(broken)[:3])}). Probabilities of "
            "belonging to a group are no groups: gaps computed from them can be wrong in size and "
            "sign. Give each row its group; cut a quantity into bands, as in age:4."
        )


def _reject_missing(frame: pd.DataFrame) -> None:
    missing = frame.isna().any(axis=1)
    if missing.any():
        raise InputError(
            f"Expected a sensitive value in every row, got {int(missing.sum())} missing "
            f"(first at row {int(np.argmax(missing))}). Drop those rows or give them a group."
        )


def _plain(value: Any) -> Hashable:
    """Return a plain Python value, so that labels print well and fit into JSON."""
    plain: Hashable = value.item() if isinstance(value, np.generic) else value
    return plain
