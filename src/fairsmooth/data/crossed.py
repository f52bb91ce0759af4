"""CrossedEncoder: fine intervals, and products of rough ones, so that columns may interact."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairsmooth._types import Floats
from fairsmooth.core.rows import CodedRows
from fairsmooth.data.columns import plain as checks
from fairsmooth.data.encoding import TableEncoder
from fairsmooth.data.frames import like, refuse_repeats
from fairsmooth.exceptions import InputError

KIND = "crossed"
FINE_BINS = 60
ROUGH_BINS = 3
# A product of two indicators is kept if it is 1 in 5 to 95 % of the training rows.
LEAST_SHARE = 0.05
# Of more products, those nearest to one row in two are kept.
MOST_PAIRS = 2000
_KEYS = {"kind", "fine", "rough", "pairs"}


@dataclass(frozen=True)
class CrossedEncoder:
    """Indicators of fine intervals and categories, and products of two rough ones each.

    Attributes
    ----------
    fine : TableEncoder
        Up to 60 intervals per number.
    rough : TableEncoder
        Up to 3 intervals per number; its indicators are multiplied.
    pairs : tuple of (int, int)
        Which two of them; the smaller place first. Products that are 1 in fewer
        than 5 % or more than 95 % of the training rows are left out.
    notes : tuple of str
        What was decided when it was learned; not part of the plain data.

    Examples
    --------
    >>> table = pd.DataFrame({"age": [20, 20, 40, 40], "sex": ["f", "m", "f", "m"]})
    >>> CrossedEncoder.learn(table).feature_names
    ['age>20', 'sex=m', 'age>20 & sex=m']
    """

    fine: TableEncoder
    rough: TableEncoder
    pairs: tuple[tuple[int, int], ...]
    notes: tuple[str, ...] = ()

    @classmethod
    def learn(cls, frame: Any, *, unknown: str = "error") -> "CrossedEncoder":
        """Learn intervals, categories and products from the training rows, and no others."""
        fine = TableEncoder.learn(frame, n_bins=FINE_BINS, unknown=unknown)
        rough = TableEncoder.learn(frame, n_bins=ROUGH_BINS, unknown=unknown)
        pairs, n_found = _frequent_pairs(rough.encode(frame).toarray())
        notes = fine.notes
        if n_found > len(pairs):
            notes += (
                f"Of {n_found} products of two columns, {len(pairs)} are kept: those nearest to "
                "one row in two.",
            )
        return cls(fine, rough, pairs, notes)

    @property
    def columns(self) -> list[str]:
        """Names of the columns that :meth:`transform` needs."""
        return self.fine.columns

    @property
    def text_columns(self) -> list[str]:
        """Names of the columns that hold categories, to read a new table by."""
        return self.fine.text_columns

    @property
    def unknown(self) -> str:
        """What a category does that training did not have."""
        return self.fine.unknown

    @cached_property
    def feature_names(self) -> list[str]:
        """Names of the columns that :meth:`transform` returns."""
        names = self.rough.feature_names
        return [*self.fine.feature_names, *(f"{names[i]} & {names[j]}" for i, j in self.pairs)]

    @property
    def sources(self) -> list[str]:
        """The column that every feature comes from, or the two."""
        fine, rough = (
            [rule.name for rule in each.rules for _ in rule.feature_names]
            for each in (self.fine, self.rough)
        )
        return [*fine, *(f"{rough[i]} & {rough[j]}" for i, j in self.pairs)]

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """The least and the largest value of every feature: all are indicators."""
        width = len(self.feature_names)
        return np.zeros(width), np.ones(width)

    def with_unknown(self, unknown: str) -> "CrossedEncoder":
        """Return the same rules, doing something else with a category not seen in training."""
        fine, rough = (each.with_unknown(unknown) for each in (self.fine, self.rough))
        return replace(self, fine=fine, rough=rough)

    def transform(self, frame: Any, *, offset: int = 0) -> Any:
        """Encode rows, all of them or none; as :meth:`TableEncoder.transform`."""
        fine = self.fine.encode(frame, offset=offset)
        return self._joined(frame, fine, self.rough.encode(frame, offset=offset))

    def encode_rows(self, frame: Any) -> tuple[Any, NDArray[np.object_]]:
        """Return what :meth:`transform_rows` does: products are spelt out."""
        return self.transform_rows(frame)

    def transform_rows(self, frame: Any) -> tuple[Any, NDArray[np.object_]]:
        """Encode the rows that can be, and say why the others cannot; those are zeros."""
        fine, lines = self.fine.encode_rows(frame)
        rough, _ = self.rough.encode_rows(frame)
        return self._joined(frame, fine, rough), lines

    def _joined(self, frame: Any, fine: CodedRows, rough: CodedRows) -> Any:
        first, second = np.array(self.pairs, dtype=np.intp).reshape(-1, 2).T
        indicators = rough.toarray()
        products = indicators[:, first] * indicators[:, second]
        values = np.concatenate([fine.toarray(), products], axis=1)
        index = frame.index if isinstance(frame, pd.DataFrame) else None
        return like(frame, pd.DataFrame(values, index, self.feature_names, copy=False))

    def tensors(self) -> dict[str, Floats]:
        """Return what a file must hold of it as arrays: nothing."""
        return {}

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that JSON can hold."""
        return {
            "kind": KIND,
            "fine": self.fine.to_dict(),
            "rough": self.rough.to_dict(),
            "pairs": [list(pair) for pair in self.pairs],
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "CrossedEncoder":
        """Rebuild an encoder from :meth:`to_dict`, trusting nothing in it.

        Raises
        ------
        InputError
            If anything is absent, of the wrong type or inconsistent.
        """
        try:
            return cls._read(plain)
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(
                "Expected products as written by CrossedEncoder.to_dict, "
                f"got some that do not fit: {str(error).rstrip('.')}."
            ) from error

    @classmethod
    def _read(cls, plain: Mapping[str, Any]) -> "CrossedEncoder":
        if set(plain) != _KEYS or plain["kind"] != KIND:
            raise ValueError(f"the entries {sorted(plain)}")
        fine, rough = (TableEncoder.from_dict(plain[name]) for name in ("fine", "rough"))
        if fine.columns != rough.columns or fine.unknown != rough.unknown:
            raise ValueError(f"columns {fine.columns} and {rough.columns}")
        most = len(rough.feature_names) - 1
        pairs = []
        for pair in checks.entries(plain["pairs"]):
            first, second = (checks.whole(place, 0, most) for place in checks.entries(pair))
            if first >= second:
                raise ValueError(f"the pair {pair}")
            pairs.append((first, second))
        if len(pairs) > MOST_PAIRS:
            raise ValueError(f"{len(pairs)} products")
        encoder = cls(fine, rough, tuple(pairs))
        refuse_repeats(encoder.feature_names)
        return encoder


def _frequent_pairs(indicators: Floats) -> tuple[tuple[tuple[int, int], ...], int]:
    """Return the pairs that are neither rare nor nearly everywhere, and how many there were."""
    shares = (indicators.T @ indicators) / len(indicators)
    first, second = np.triu_indices(len(shares), k=1)
    common = shares[first, second]
    kept = np.flatnonzero((common >= LEAST_SHARE) & (common <= 1.0 - LEAST_SHARE))
    nearest = np.sort(kept[np.argsort(np.abs(common[kept] - 0.5), kind="stable")[:MOST_PAIRS]])
    pairs = zip(first[nearest].tolist(), second[nearest].tolist(), strict=True)
    return tuple(pairs), len(kept)
