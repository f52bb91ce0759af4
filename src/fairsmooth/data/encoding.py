"""Tables of numbers and categories, turned into numbers by rules learned from training rows."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairsmooth import _validate
from fairsmooth._types import Floats
from fairsmooth.core.rows import CodedRows
from fairsmooth.data.columns import RULES, Categories, DatePart, Rule
from fairsmooth.data.columns.coding import CodedWriter, void_rows
from fairsmooth.data.columns.faults import Fault, refusal, told, unscorable
from fairsmooth.data.columns.learning import Settings, learn_column
from fairsmooth.data.frames import as_frame, like, refuse_repeats
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
      indicator per category.
    - A *date* becomes year, month and weekday, each cut into intervals.
    - A missing value is a level of its own if training had one (beside the mean,
      for a standardised number). Otherwise a row without a value cannot be encoded.
    - A column with two values becomes one indicator, of the larger value. A
      column with one value, or none, says nothing and is left out. Text with more
      than ``max_categories`` categories is left out if nearly all differ (an
      identifier); else the rarest are merged. ``notes`` says so.

    Any table will do (see :func:`fairsmooth.data.frames.as_frame`). Categories are
    compared by their normal text, so 1, 1.0 and "1" are the same one. Columns that
    the rules do not name are ignored. Rows in messages count from 1.

    Attributes
    ----------
    rules : tuple
        One rule per encoded column, in the order of the training table.
    numeric : {"binned", "standardised"}
        What becomes of numeric columns.
    n_bins : int
        Number of quantile bins.
    max_categories : int
        A column with more categories is an identifier, or has its rarest merged.
    unknown : {"error", "ignore"}
        What a category not seen in training does: raise, or encode as zeros.
    notes : tuple of str
        What was decided about columns when the rules were learned; not part of
        the plain data.

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
    notes: tuple[str, ...] = field(default=(), compare=False)

    @classmethod
    def learn(
        cls,
        frame: Any,
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
        frame : table
            The training rows, and no others: pandas, polars, pyarrow or a dict.
        columns : iterable of str, optional
            Columns to encode; all of them if left out.
        numeric, n_bins, max_categories, unknown
            See the attributes.

        Raises
        ------
        InputError
            If a column is unknown, holds lists or the like, has an infinite
            number, or if no column has more than one value.
        """
        settings = cls((), numeric, n_bins, max_categories, unknown)
        settings._check()
        table = as_frame(frame)
        known = [str(name) for name in table.columns]
        names = known if columns is None else [str(name) for name in columns]
        for name in names:
            _validate.known_column(name, known, where="the table")
        if table.empty:
            raise InputError(f"Expected a table with rows and columns, got shape {table.shape}.")
        how = Settings(numeric, n_bins, max_categories)
        learned = [learn_column(name, table[name], how) for name in names]
        rules = tuple(rule for found, _ in learned for rule in found)
        notes = tuple(note for _, note in learned if note is not None)
        if not rules:
            raise InputError(
                "Expected a column with more than one value, found none."
                + "".join(f" {note}" for note in notes[:3])
            )
        refuse_repeats([name for rule in rules for name in rule.feature_names])
        return cls(rules, numeric, n_bins, max_categories, unknown, notes)

    def relearn(self, frame: Any) -> "TableEncoder":
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
        return list(dict.fromkeys(rule.name for rule in self.rules))

    @property
    def text_columns(self) -> list[str]:
        """Names of the columns that hold categories, to read a new table by."""
        return [rule.name for rule in self.rules if isinstance(rule, Categories)]

    @property
    def feature_names(self) -> list[str]:
        """Names of the columns that :meth:`transform` returns."""
        return [name for rule in self.rules for name in rule.feature_names]

    @property
    def bounds(self) -> tuple[Floats, Floats] | None:
        """The least and the largest value of every feature, if all of them are indicators."""
        width = len(self.feature_names)
        return (np.zeros(width), np.ones(width)) if self.numeric == "binned" else None

    def with_unknown(self, unknown: str) -> "TableEncoder":
        """Return the same rules, doing something else with a category not seen in training."""
        _validate.one_of(UNKNOWN, unknown=unknown)
        return replace(self, unknown=unknown)

    def transform(self, frame: Any, *, offset: int = 0) -> Any:
        """Encode rows, all of them or none, with every indicator spelt out.

        Parameters
        ----------
        frame : table
            Any number of rows, none included; the columns in any order.
        offset : int
            Number of rows of the user's table before these, for messages.

        Returns
        -------
        frame of float64, shape (n_rows, n_features)
            Of the library of ``frame`` (pandas, polars, pyarrow), with its index, if it has
            one, and columns ``feature_names``.

        Raises
        ------
        InputError
            If a column is missing, holds something else than in training, a missing
            value where training had none, or, with ``unknown="error"``, a category
            that training did not have.
        """
        return self._spelt_out(frame, self.encode(frame, offset=offset))

    def encode(self, frame: Any, *, offset: int = 0) -> CodedRows:
        """Encode rows as :meth:`transform` does, but keep one small number per column and row."""
        encoded, faults = self._encode(frame)
        if faults:
            rule, column, codes, _ = faults[0]
            raise refusal(rule, column, codes, offset=offset)
        return encoded

    def transform_rows(self, frame: Any) -> tuple[Any, NDArray[np.object_]]:
        """Encode the rows that can be, and say why the others cannot.

        Of the rows as from :meth:`transform` those that cannot be encoded are zeros; the second
        part has None for every row, or the reasons in one line.
        """
        encoded, lines = self.encode_rows(frame)
        return self._spelt_out(frame, encoded), lines

    def encode_rows(self, frame: Any) -> tuple[CodedRows, NDArray[np.object_]]:
        """Encode rows as :meth:`transform_rows` does, but keep codes as :meth:`encode` does."""
        encoded, faults = self._encode(frame)
        lines = told(faults, len(encoded))
        lost = np.array([line is not None for line in lines], dtype=bool)
        return (void_rows(encoded, lost) if faults else encoded), lines

    def _encode(self, frame: Any) -> tuple[CodedRows, list[Fault]]:
        table = by_name(self, frame)
        writer = CodedWriter.of(self.rules, n_rows=len(next(iter(table.values()))))
        faults: list[Fault] = []
        for rule in self.rules:
            codes = writer.write(rule, table[rule.name])
            bad = unscorable(rule, codes, self.unknown)
            if bad.any():
                faults.append((rule, table[rule.name], codes, bad))
        return writer.rows(), faults

    def _spelt_out(self, frame: Any, encoded: CodedRows) -> Any:
        index = frame.index if isinstance(frame, pd.DataFrame) else None
        matrix = encoded.toarray()
        return like(frame, pd.DataFrame(matrix, index, self.feature_names, copy=False))

    def tensors(self) -> dict[str, Floats]:
        """Return what a file must hold of it as arrays: nothing."""
        return {}

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
            refuse_repeats([_key(rule) for rule in rules])
            refuse_repeats(encoder.feature_names)
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


def _read_rule(plain: Mapping[str, Any]) -> Rule:
    _validate.one_of(RULES, kind=plain["kind"])
    return RULES[plain["kind"]].from_dict(plain)


def _key(rule: Rule) -> str:
    """Tell apart rules of one column: only those for parts of a date may share it."""
    return f"{rule.name} {rule.part}" if isinstance(rule, DatePart) else rule.name


def by_name(encoder: TableEncoder, frame: Any) -> dict[str, Any]:
    """Return the columns of any table, whatever kind of values they hold; none may be missing."""
    text = encoder.text_columns
    table = frame if isinstance(frame, pd.DataFrame) else as_frame(frame, text=text)
    refuse_repeats([str(name) for name in table.columns])
    columns = {str(name): table.iloc[:, place] for place, name in enumerate(table.columns)}
    for name in encoder.columns:
        _validate.known_column(name, columns, where="the table")
    return columns
