"""The table of a bias audit as New York City's Local Law 144 asks for it.

The city's rules (6 RCNY § 5-301) define, for a tool that selects, the *selection rate* of
a category, the share of its people who were selected, and the *impact ratio*, that rate
over the rate of the most selected category. For a tool that scores, the *scoring rate*
takes the place of the selection rate: the share of a category's people whose score is
above the median of the whole sample. Rates are given for each attribute alone and for
all of them together. No label is needed: the table describes what was decided, not
whether it was right.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from fairsmooth import _validate
from fairsmooth._types import Floats
from fairsmooth.core.labels import group_text
from fairsmooth.exceptions import InputError

# A category with a smaller share of the people may be left out of the ratios (§ 5-301 (d)).
LEAST_SHARE = 0.02
RATES = ("selection rate", "scoring rate")
UNKNOWN = "(unknown)"


@dataclass(frozen=True)
class BiasAuditRow:
    """One category of one attribute, or of all attributes together.

    Attributes
    ----------
    attribute : str
        Name of the sensitive column, or the names joined by " × ".
    category : str
        The value, or the values joined by a bar.
    applicants : int
        People in the category.
    chosen : int
        Those of them who were selected, or who score above the sample's median.
    rate : float
        ``chosen / applicants``.
    impact_ratio : float or None
        The rate over that of the category with the highest; None where the category
        is left out for its size.
    """

    attribute: str
    category: str
    applicants: int
    chosen: int
    rate: float
    impact_ratio: float | None


@dataclass(frozen=True)
class BiasAudit:
    """The table, and what it leaves out.

    Attributes
    ----------
    rate : {"selection rate", "scoring rate"}
        What the rates are.
    rows : tuple of BiasAuditRow
        Every category that occurs, attribute by attribute.
    unknown : dict
        For every attribute, the number of people whose category is unknown; they are in
        no row.
    n_rows : int
        People in all.
    median : float or None
        The sample's median score, where the rates are scoring rates.
    """

    rate: str
    rows: tuple[BiasAuditRow, ...]
    unknown: Mapping[str, int]
    n_rows: int
    median: float | None = None

    def to_frame(self) -> pd.DataFrame:
        """Return one row per category, in the columns that the city's examples use."""
        chosen = "selected" if self.rate == RATES[0] else "above median"
        names = {"chosen": chosen, "rate": self.rate, "impact_ratio": "impact ratio"}
        frame = pd.DataFrame([vars(row) for row in self.rows]).rename(columns=names)
        frame["impact ratio"] = frame["impact ratio"].astype("Float64")
        return frame

    def to_csv(self) -> str:
        """Return the table as CSV, with a row for the people of unknown category."""
        table = self.to_frame()
        counts = [
            {"attribute": attribute, "category": UNKNOWN, "applicants": count}
            for attribute, count in self.unknown.items()
        ]
        return str(
            pd.concat([table, pd.DataFrame(counts)])
            .astype({table.columns[3]: "Int64"})
            .to_csv(index=False)
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data that JSON can hold."""
        return {
            **vars(self),
            "rows": [dict(vars(row)) for row in self.rows],
            "unknown": dict(self.unknown),
            "notes": self.notes(),
        }

    def notes(self) -> list[str]:
        """Say, one line each, what a reader of the table must know."""
        lines = [
            f"{count:,} of {self.n_rows:,} people are not in the rates by {attribute}: their "
            "category is unknown."
            for attribute, count in self.unknown.items()
        ]
        small = [row for row in self.rows if row.impact_ratio is None]
        if small:
            lines.append(
                f"{len(small)} categories with less than {LEAST_SHARE:.0%} of the people are left "
                "out of the impact ratios; their counts and rates are shown."
            )
        if self.median is not None:
            lines.append(
                f"Rates are scoring rates, the share above the sample's median score "
                f"{self.median:.6g}; they describe this sample and carry no interval."
            )
        return lines


def bias_audit(sensitive_features: Any, *, selected: Any = None, scores: Any = None) -> BiasAudit:
    """Return the table of Local Law 144 for decisions or for scores.

    Parameters
    ----------
    sensitive_features : DataFrame, or array-like of shape (n,) or (n, c)
        The category of every person by every attribute; a missing value is unknown.
    selected : array-like of shape (n,), optional
        Whether each person was selected: 0 or 1.
    scores : array-like of shape (n,), optional
        The score of each person, instead of ``selected``.

    Examples
    --------
    >>> audit = bias_audit(["f", "f", "m", "m", None], selected=[0, 1, 1, 1, 0])
    >>> [(row.category, row.rate, row.impact_ratio) for row in audit.rows]
    [('f', 0.5, 0.5), ('m', 1.0, 1.0)]
    >>> dict(audit.unknown)
    {'sensitive feature': 1}
    """
    chosen, median = _chosen(selected, scores)
    table = _as_table(sensitive_features)
    _validate.same_length(sensitive_features=table, values=chosen)
    rows: list[BiasAuditRow] = []
    unknown: dict[str, int] = {}
    for columns in _attributes([str(name) for name in table]):
        name = " × ".join(columns)
        part = table[list(columns)]
        known = part.notna().all(axis=1).to_numpy()
        unknown[name] = int((~known).sum())
        rows += _rates(name, part[known], chosen[known])
    rate = RATES[0] if median is None else RATES[1]
    return BiasAudit(rate, tuple(rows), unknown, len(table), median)


def _attributes(names: list[str]) -> list[tuple[str, ...]]:
    alone: list[tuple[str, ...]] = [(name,) for name in names]
    return [*alone, tuple(names)] if len(names) > 1 else alone


def _rates(attribute: str, table: pd.DataFrame, chosen: Floats) -> list[BiasAuditRow]:
    if table.empty:
        return []
    keys = [tuple(map(str, key)) for key in table.itertuples(index=False, name=None)]
    texts = pd.Series([group_text(key if len(key) > 1 else key[0]) for key in keys])
    counts = pd.DataFrame({"text": texts, "chosen": chosen}).groupby("text")["chosen"]
    people, picked = counts.size(), counts.sum()
    rates = picked / people
    counted = people >= LEAST_SHARE * people.sum()
    highest = float(rates[counted].max())
    return [
        BiasAuditRow(
            attribute,
            str(category),
            int(people[category]),
            int(picked[category]),
            float(rates[category]),
            _ratio(float(rates[category]), highest) if counted[category] else None,
        )
        for category in people.index
    ]


def _ratio(rate: float, highest: float) -> float:
    # Nobody was selected in any category: all are treated alike.
    return rate / highest if highest > 0 else 1.0


def _chosen(selected: Any, scores: Any) -> tuple[Floats, float | None]:
    if (selected is None) == (scores is None):
        raise InputError(
            "Expected either selected or scores, got both or neither. "
            "Pass the decisions, or the scores they are made from."
        )
    values = np.asarray(selected if scores is None else scores, dtype=np.float64)
    if values.ndim != 1 or not len(values) or not np.isfinite(values).all():
        raise InputError(
            "Expected one finite value per person, got "
            f"shape {values.shape}{'' if values.size else ' (nobody)'} or values that are not."
        )
    if scores is None:
        if not np.isin(values, (0.0, 1.0)).all():
            raise InputError(
                "Expected selected to be 0 or 1, got other values. "
                "Pass them as scores if that is what they are."
            )
        return values, None
    median = float(np.median(values))
    return (values > median).astype(np.float64), median


def _as_table(sensitive_features: Any) -> pd.DataFrame:
    if isinstance(sensitive_features, pd.DataFrame):
        return sensitive_features.reset_index(drop=True).rename(columns=str)
    if isinstance(sensitive_features, pd.Series):
        name = str(sensitive_features.name or "sensitive feature")
        return sensitive_features.to_frame(name).reset_index(drop=True)
    table = pd.DataFrame(np.asarray(sensitive_features, dtype=object))
    if table.shape[1] == 1:
        return table.set_axis(["sensitive feature"], axis=1)
    return table.set_axis([f"sensitive feature {i + 1}" for i in range(table.shape[1])], axis=1)
