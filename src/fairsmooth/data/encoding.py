"""Tables of numbers and categories, turned into numbers by rules learned from training rows."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from fairsmooth import _validate
from fairsmooth.data.columns import (
    RULES,
    Binned,
    Categories,
    Rule,
    Standardised,
    is_numeric,
    numbers,
)
from fairsmooth.exceptions import InputError

NUMERIC = ("binned", "standardised")
UNKNOWN = ("error", "ignore")


@dataclass(frozen=True)
class TableEncoder:
    """Rules that turn a table into a float64 matrix, learned once from the training part.

    - A *numeric* column is cut into intervals ``(edge, next edge]``, one
      indicator each. A column of at most 10 different values keeps them apart.
      Otherwise the edges are quantiles, and a value that alone holds
      ``1 / n_bins`` of the rows (the zeros of a column of gains, say) has an
      interval to itself, the quantiles being those of the other rows. With
      ``numeric="standardised"`` such a column is centred and scaled instead.
    - A *categorical* column (text, pandas categories, flags with gaps) has one
      indicator per category. A missing value is a category of its own if
      training had one.
    - A column with two values becomes one indicator, of the larger value. A
      column with one value says nothing and is left out.

    Categories are compared by their text, so 1, 1.0 and "1" are the same one.
    Columns that the rules do not name are ignored.

    Attributes
    ----------
    rules : tuple
        One rule per encoded column, in the order of the training table.
    numeric : {"binned", "standardised"}
        What becomes of numeric columns.
    n_bins : int
        Number of quantile bins.
    max_categories : int
        A column with more categories is refused: it is likely an identifier.
    unknown : {"error", "ignore"}
        What a category not seen in training does: raise, or encode as zeros.

    Examples
    --------
    >>> table = pd.DataFrame({"age": [20, 30, 40], "job": ["clerk", "nurse", None]})
    >>> encoder = TableEncoder.learn(table)
    >>> encoder.feature_names
    ['age<=20', '20<age<=30', 'age>30', 'job=clerk', 'job=nurse', 'job is missing']
    >>> encoder.transform(pd.DataFrame({"job": ["nurse"], "age": [70]})).to_numpy()
    array([[0., 0., 1., 0., 1., 0.]])
    """

    rules: tuple[Rule, ...]
    numeric: str = "binned"
    n_bins: int = 10
    max_categories: int = 100
    unknown: str = "error"

    @classmethod
    def learn(
        cls,
        frame: pd.DataFrame,
        *,
        columns: Iterable[str] | None = None,
        numeric: str = "binned",
        n_bins: int = 10,
        max_categories: int = 100,
        unknown: str = "error",
    ) -> "TableEncoder":
        """Learn the rules from a training table.

        Parameters
        ----------
        frame : DataFrame
            The training rows, and no others.
        columns : iterable of str, optional
            Columns to encode; all of them if left out.
        numeric, n_bins, max_categories, unknown
            See the attributes.

        Raises
        ------
        InputError
            If a column is unknown, holds neither numbers nor categories, has a
            missing or infinite number, has too many categories, or if no column
            has more than one value.
        """
        settings = cls((), numeric, n_bins, max_categories, unknown)
        settings._check()
        table = _by_name(frame)
        names = list(table) if columns is None else [str(name) for name in columns]
        for name in names:
            _validate.known_column(name, table, where="the table")
        if frame.empty:
            raise InputError(f"Expected a table with rows and columns, got shape {frame.shape}.")
        learned = [settings._rule(name, table[name]) for name in names]
        rules = tuple(rule for rule in learned if rule is not None)
        if not rules:
            raise InputError("Expected a column with more than one value, found none.")
        return settings._with(rules)

    def relearn(self, frame: pd.DataFrame) -> "TableEncoder":
        """Learn new rules from another table with the settings of this encoder."""
        return type(self).learn(
            frame,
            numeric=self.numeric,
            n_bins=self.n_bins,
            max_categories=self.max_categories,
            unknown=self.unknown,
        )

    @property
    def columns(self) -> list[str]:
        """Names of the columns that :meth:`transform` needs."""
        return [rule.name for rule in self.rules]

    @property
    def feature_names(self) -> list[str]:
        """Names of the columns that :meth:`transform` returns."""
        return [name for rule in self.rules for name in rule.feature_names]

    def transform(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Encode rows.

        Parameters
        ----------
        frame : DataFrame
            Any number of rows, none included; the columns in any order.

        Returns
        -------
        DataFrame of float64, shape (n_rows, n_features)
            With the index of ``frame`` and columns ``feature_names``.

        Raises
        ------
        InputError
            If a column is missing, holds a missing or infinite number, or, with
            ``unknown="error"``, a category that training did not have.
        """
        table = _by_name(frame)
        for name in self.columns:
            _validate.known_column(name, table, where="the table")
        names = self.feature_names
        out = np.zeros((len(frame), len(names)))
        start = 0
        for rule in self.rules:
            stop = start + len(rule.feature_names)
            rule.write(table[rule.name], out[:, start:stop], unknown=self.unknown)
            start = stop
        return pd.DataFrame(out, index=frame.index, columns=names)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that JSON can hold."""
        return {
            "numeric": self.numeric,
            "n_bins": self.n_bins,
            "max_categories": self.max_categories,
            "unknown": self.unknown,
            "columns": [rule.to_dict() for rule in self.rules],
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "TableEncoder":
        """Rebuild an encoder from :meth:`to_dict`, trusting nothing in it.

        Raises
        ------
        InputError
            If anything is absent, of the wrong type or inconsistent.
        """
        try:
            rules = tuple(_read_rule(rule) for rule in plain["columns"])
            settings = (plain[name] for name in ("numeric", "n_bins", "max_categories", "unknown"))
            encoder = cls(rules, *settings)
            encoder._check()
            if not rules:
                raise ValueError("no columns")
            _refuse_repeats(encoder.columns)
            _refuse_repeats(encoder.feature_names)
        except (KeyError, TypeError, ValueError) as error:
            reason = f"no entry {error}" if isinstance(error, KeyError) else str(error).rstrip(".")
            raise InputError(
                "Expected an encoder as written by TableEncoder.to_dict, "
                f"got one that does not fit: {reason}."
            ) from error
        return encoder

    def _check(self) -> None:
        _validate.one_of(NUMERIC, numeric=self.numeric)
        _validate.one_of(UNKNOWN, unknown=self.unknown)
        for name in ("n_bins", "max_categories"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 2:
                raise InputError(f"Expected {name} to be an integer >= 2, got {name}={value!r}.")

    def _with(self, rules: tuple[Rule, ...]) -> "TableEncoder":
        encoder = type(self)(rules, self.numeric, self.n_bins, self.max_categories, self.unknown)
        _refuse_repeats(encoder.feature_names)
        return encoder

    def _rule(self, name: str, values: pd.Series) -> Rule | None:
        if not is_numeric(name, values):
            categories = Categories.learn(name, values, max_categories=self.max_categories)
            return None if categories.is_constant else categories
        column = numbers(name, values)
        if column.min() == column.max():
            return None
        if self.numeric == "standardised" and len(np.unique(column)) > 2:
            return Standardised.learn(name, column)
        return Binned.learn(name, column, n_bins=self.n_bins)


def _read_rule(plain: Mapping[str, Any]) -> Rule:
    _validate.one_of(RULES, kind=plain["kind"])
    return RULES[plain["kind"]].from_dict(plain)


def _by_name(frame: pd.DataFrame) -> dict[str, Any]:
    if not isinstance(frame, pd.DataFrame):
        raise InputError(f"Expected a pandas DataFrame, got {type(frame).__name__}.")
    _refuse_repeats([str(name) for name in frame.columns])
    return {str(name): frame.iloc[:, place] for place, name in enumerate(frame.columns)}


def _refuse_repeats(names: list[str]) -> None:
    if len(set(names)) == len(names):
        return
    repeated = next(name for name in names if names.count(name) > 1)
    raise InputError(f"Expected every column name once, got {repeated!r} twice. Rename one.")
