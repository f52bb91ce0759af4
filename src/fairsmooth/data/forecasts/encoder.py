"""ForecastEncoder: from a table to forecasts of label and group, recombined into few columns."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairsmooth._types import Floats
from fairsmooth.data.columns import plain as checks
from fairsmooth.data.encoding import TableEncoder
from fairsmooth.data.forecasts.forest import PARTS, Forest, Levels
from fairsmooth.data.forecasts.inputs import levels_of, usable_levels
from fairsmooth.data.forecasts.joint import joint_forecasts, linear_map, to_columns
from fairsmooth.data.frames import refuse_repeats
from fairsmooth.exceptions import InputError

KIND = "forecasts"
PREFIX = "forecast."
MOST_GROUPS = 1000
# Forecasts of a rare group hardly vary; a smaller scale would blow up the few that do.
LEAST_SCALE = 1e-3
_KEYS = {"kind", "inputs", "groups", "reference", "centre", "scale"}


@dataclass(frozen=True, eq=False)
class ForecastEncoder:
    r"""Two fitted forecasters and the columns made from them; :class:`Forecasts` learns one.

    With :math:`q_{ay}(x) = P(Y = y \mid x)\,P(A = a \mid x, Y = y)` as the forecasters have it,
    the columns are :math:`P(Y = 1 \mid x)` and :math:`q_{a0}, q_{a1}` of every group but the
    reference, each less ``centre`` and divided by ``scale``. The group of a row is not asked for:
    it is forecast from the other columns.

    Attributes
    ----------
    inputs : TableEncoder
        The levels that the forecasters look at.
    label : Forest
        Forecasts the label.
    group : Forest or None
        Forecasts the group from the same levels and, as the last one, the label. None if
        the group is not forecast; then there is the one column of the label.
    groups : tuple of str
        Texts of the groups, in the order of the forecasts.
    reference : int
        The group without columns.
    centre, scale : tuple of float
        Of every column.
    notes : tuple of str
        What was decided when it was learned; not part of the plain data.
    """

    inputs: TableEncoder
    label: Forest
    group: Forest | None
    groups: tuple[str, ...]
    reference: int
    centre: tuple[float, ...]
    scale: tuple[float, ...]
    notes: tuple[str, ...] = ()

    @property
    def columns(self) -> list[str]:
        """Names of the columns that :meth:`transform` needs."""
        return self.inputs.columns

    @property
    def text_columns(self) -> list[str]:
        """Names of the columns that hold categories, to read a new table by."""
        return self.inputs.text_columns

    @property
    def unknown(self) -> str:
        """What a category does that training did not have."""
        return self.inputs.unknown

    @cached_property
    def feature_names(self) -> list[str]:
        """Names of the columns that :meth:`transform` returns."""
        return names_of(self.groups if self.group is not None else (), self.reference)

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """The least and the largest value of every feature: forecasts are between 0 and 1."""
        low, high = (self.scaled(np.full((1, len(self.centre)), end))[0] for end in (0.0, 1.0))
        return low, high

    def with_unknown(self, unknown: str) -> "ForecastEncoder":
        """Return the same forecasters, doing something else with an unseen category."""
        return replace(self, inputs=self.inputs.with_unknown(unknown))

    def transform(self, frame: Any, *, offset: int = 0) -> pd.DataFrame:
        """Forecast rows that were not trained on, all of them or none.

        Parameters and errors are those of :meth:`TableEncoder.transform`. Rows that were
        trained on have out-of-fold forecasts instead: see :meth:`Forecasts.fit_transform`.
        """
        return self._frame(levels_of(self.inputs, frame, offset=offset), frame)

    def encode_rows(self, frame: Any) -> tuple[pd.DataFrame, NDArray[np.object_]]:
        """Return what :meth:`transform_rows` does: forecasts are numbers, there are no codes."""
        return self.transform_rows(frame)

    def transform_rows(self, frame: Any) -> tuple[pd.DataFrame, NDArray[np.object_]]:
        """Forecast the rows that can be, and say why the others cannot; those are zeros."""
        levels, lines = usable_levels(self.inputs, frame)
        encoded = self._frame(levels, frame)
        encoded[np.array([line is not None for line in lines], dtype=bool)] = 0.0
        return encoded, lines

    def joint(self, frame: Any) -> Floats:
        """Return the joint forecasts of new rows, shape (n, K, 2), groups as in ``groups``."""
        self._require_group()
        return self._joint(levels_of(self.inputs, frame))

    def joint_of(self, X: Any) -> Floats:
        """Return the joint forecasts, shape (n, K, 2), that columns were made from.

        Parameters
        ----------
        X : array-like of shape (n, 2K - 1)
            From :meth:`transform` or, out of fold, from :meth:`Forecasts.fit_transform`.
        """
        matrix, offset = self.joint_map()
        return (np.asarray(X) @ matrix + offset).reshape(-1, len(self.groups), 2)

    def joint_map(self) -> tuple[Floats, Floats]:
        """Return ``matrix`` and ``offset``: ``X @ matrix + offset`` is joint, shape (n, 2K).

        The 2K forecasts are in the order ``q_00, q_01, q_10, ...``: group by group, label 0
        before label 1.
        """
        self._require_group()
        matrix, offset = linear_map(len(self.groups), self.reference)
        return np.array(self.scale)[:, None] * matrix, np.array(self.centre) @ matrix + offset

    def scaled(self, columns: Floats) -> Floats:
        """Centre and scale columns."""
        return np.asarray((columns - np.array(self.centre)) / np.array(self.scale))

    def _frame(self, levels: Levels, frame: Any) -> pd.DataFrame:
        if self.group is None:
            columns = self.label.probabilities(levels)[:, 1:]
        else:
            columns = to_columns(self._joint(levels), self.reference)
        index = frame.index if isinstance(frame, pd.DataFrame) else None
        return pd.DataFrame(self.scaled(columns), index=index, columns=self.feature_names)

    def _joint(self, levels: Levels) -> Floats:
        assert self.group is not None
        given = [self.group.probabilities(with_label(levels, y)) for y in (0, 1)]
        return joint_forecasts(self.label.probabilities(levels), given)

    def _require_group(self) -> None:
        if self.group is None:
            raise InputError(
                "Expected forecasts of the group, got an encoder that has none. "
                "Learn one with Forecasts(group=True)."
            )

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that JSON can hold; :meth:`tensors` are the forecasters."""
        return {
            "kind": KIND,
            "inputs": self.inputs.to_dict(),
            "groups": list(self.groups) if self.group is not None else None,
            "reference": self.reference,
            "centre": list(self.centre),
            "scale": list(self.scale),
        }

    def tensors(self) -> dict[str, Floats]:
        """Return the forecasters as arrays by name."""
        forests = {"label": self.label, "group": self.group}
        return {
            f"{PREFIX}{what}.{name}": array
            for what, forest in forests.items()
            if forest is not None
            for name, array in forest.tensors().items()
        }

    @classmethod
    def from_dict(
        cls, plain: Mapping[str, Any], tensors: Mapping[str, Floats]
    ) -> "ForecastEncoder":
        """Rebuild an encoder from :meth:`to_dict` and :meth:`tensors`, trusting nothing in them.

        Raises
        ------
        InputError
            If anything is absent, of the wrong type or inconsistent.
        """
        try:
            return cls._read(plain, tensors)
        except (KeyError, TypeError, ValueError) as error:
            reason = f"no entry {error}" if isinstance(error, KeyError) else str(error).rstrip(".")
            raise InputError(
                "Expected forecasts as written by ForecastEncoder.to_dict, "
                f"got some that do not fit: {reason}."
            ) from error

    @classmethod
    def _read(cls, plain: Mapping[str, Any], tensors: Mapping[str, Floats]) -> "ForecastEncoder":
        if set(plain) != _KEYS or plain["kind"] != KIND:
            raise ValueError(f"the entries {sorted(plain)}")
        inputs = TableEncoder.from_dict(plain["inputs"])
        has_group = plain["groups"] is not None
        groups = _groups(plain["groups"]) if has_group else ()
        reference = checks.whole(plain["reference"], 0, max(len(groups) - 1, 0))
        centre, scale = (tuple(map(checks.finite, plain[name])) for name in ("centre", "scale"))
        n_columns = 2 * len(groups) - 1 if has_group else 1
        fits = len(centre) == len(scale) == n_columns
        if not fits or min(scale) < LEAST_SCALE or max(map(abs, centre)) > 1.0:
            raise ValueError(f"{n_columns} columns with centres {centre} and scales {scale}")
        size = len(inputs.rules)
        label = Forest.from_tensors(part_of(tensors, "label"), n_features=size, n_classes=2)
        group = None
        if has_group:
            found = part_of(tensors, "group")
            group = Forest.from_tensors(found, n_features=size + 1, n_classes=len(groups))
        return cls(inputs, label, group, groups, reference, centre, scale)


def names_of(groups: tuple[str, ...], reference: int) -> list[str]:
    """Name the columns by what is forecast."""
    others = [group for place, group in enumerate(groups) if place != reference]
    return ["P(Y=1)", *(f"P(A={group}, Y={label})" for group in others for label in (0, 1))]


def with_label(levels: Levels, label: Any) -> Levels:
    """Return the levels and the label, one for all rows or one each, as the last column."""
    last = np.broadcast_to(np.asarray(label, dtype=np.int16), len(levels))
    return np.column_stack([levels, last])


def part_of(tensors: Mapping[str, Floats], what: str) -> dict[str, Floats]:
    """Return the arrays of one forecaster among all tensors of a file."""
    start = f"{PREFIX}{what}."
    return {name: tensors[start + name] for name in PARTS if start + name in tensors}


def _groups(value: Any) -> tuple[str, ...]:
    groups = tuple(checks.text(group) for group in checks.entries(value))
    if not 2 <= len(groups) <= MOST_GROUPS:
        raise ValueError(f"{len(groups)} groups")
    refuse_repeats(list(groups))
    return groups
