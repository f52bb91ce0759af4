"""Decisions about rows of a table, explained by the columns that people know."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from fairsmooth._types import Floats
from fairsmooth.core.explanation import Explanation
from fairsmooth.core.labels import group_text
from fairsmooth.core.rows import spelt_out
from fairsmooth.core.rule_holder import RuleHolder
from fairsmooth.data.columns import Standardised
from fairsmooth.data.crossed import CrossedEncoder
from fairsmooth.data.encoding import TableEncoder
from fairsmooth.data.values import normal_text
from fairsmooth.exceptions import InputError
from fairsmooth.tables.alternatives import KNOWN
from fairsmooth.tables.changing import Alternatives, Change, said_of

# As many as lenders must give.
N_REASONS = 4
EVEN = "a row that is spread evenly over the levels of every column"
_NO_REASON = (
    "Expected columns that can be reasons, got forecasts or products: a forecast is not a reason. "
    "Train with other --columns to give reasons."
)


@dataclass(frozen=True)
class DecisionExplanation:
    """Why one row was decided as it was.

    Attributes
    ----------
    row : int
        Its number in the table, from 1.
    score, reference_score : float
        Its score and that of the reference; the contributions add up to the difference.
    reference : str
        What the reference is.
    threshold : float
        Scores above it are decided positive.
    decision : label
        What was decided.
    positive : bool
        Whether that is the positive decision.
    values : mapping
        The row's values, by column.
    contributions : mapping
        What each column adds to the score.
    intervals : mapping
        Certified interval of each group's own score, by group.
    agrees : mapping
        Whether each group's own classifier is proved to decide alike.
    group : text or None
        The row's group, where the table says.
    changes : tuple of Change
        For every column that could change the decision by itself, the nearest value that does.
    not_searched : tuple of str
        Columns whose other values were not tried.
    has_reasons : bool
        Whether columns can be reasons; forecasts cannot.
    """

    row: int
    score: float
    reference_score: float
    reference: str
    threshold: float
    decision: Any
    positive: bool
    values: Mapping[str, Any]
    contributions: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float]]
    agrees: Mapping[str, bool]
    group: str | None
    changes: tuple[Change, ...]
    not_searched: tuple[str, ...]
    has_reasons: bool

    @property
    def reasons(self) -> tuple[str, ...]:
        """The reasons for an adverse decision, the four that lowered the score most."""
        if not self.has_reasons:
            raise InputError(_NO_REASON)
        if self.positive:
            return ()
        lowering = sorted((part, name) for name, part in self.contributions.items() if part < 0.0)
        return tuple(
            f"{name} {said_of(self.values.get(name))}: it lowers the score by {-part:.4f}"
            for part, name in lowering[:N_REASONS]
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that JSON can hold."""
        return {
            "row": self.row,
            "score": self.score,
            "threshold": self.threshold,
            "decision": self.decision,
            "reference": self.reference,
            "reference_score": self.reference_score,
            "values": {name: _plain(value) for name, value in self.values.items()},
            "contributions": dict(self.contributions),
            "intervals": {group: list(ends) for group, ends in self.intervals.items()},
            "agrees": dict(self.agrees),
            "group": self.group,
            "changes": [
                {"column": c.column, "value": _plain(c.value), "score": c.score}
                for c in self.changes
            ],
            "not_searched": list(self.not_searched),
            "reasons": list(self.reasons) if self.has_reasons else None,
            "reasons_refused": None if self.has_reasons else _NO_REASON,
        }


def sources(encoder: Any) -> list[str]:
    """Return the source column of every feature."""
    if isinstance(encoder, TableEncoder):
        return [rule.name for rule in encoder.rules for _ in rule.feature_names]
    return list(encoder.sources if isinstance(encoder, CrossedEncoder) else encoder.feature_names)


def even_row(encoder: Any) -> Floats:
    """Return a row in which all levels of a column weigh the same; scaled numbers are means.

    With it, contributions do not depend on which of several equivalent sets of weights
    training found: what all levels of a column share belongs to the reference.
    """
    if not isinstance(encoder, TableEncoder):
        return np.zeros(len(encoder.feature_names))
    parts = []
    for rule in encoder.rules:
        width = len(rule.feature_names)
        if type(rule) not in KNOWN or isinstance(rule, Standardised):
            parts.append(np.zeros(width))
        else:
            parts.append(np.full(width, 0.5 if width == 1 else 1.0 / width))
    return np.concatenate(parts)


def explain_rows(
    classifier: RuleHolder,
    encoder: Any,
    features: Any,
    values: pd.DataFrame,
    *,
    base: tuple[Floats, str],
    labels: tuple[Any, Any],
    groups: Sequence[str | None],
    numbers: Sequence[int],
) -> list[DecisionExplanation]:
    """Explain encoded rows, with their values, groups and numbers in the table."""
    reference, said = base
    found = classifier.explain(features, reference=reference, columns=sources(encoder))
    others = Alternatives.of(encoder)
    matrix = spelt_out(features)
    names = [str(name) for name in values.columns]
    rows = [dict(zip(names, row, strict=True)) for row in values.itertuples(index=False)]
    return [
        _one(found, place, said, labels, rows[place],
             group=groups[place], row=numbers[place],
             changes=others.changes(classifier, matrix[place], rows[place]),
             not_searched=others.not_searched,
             has_reasons=isinstance(encoder, TableEncoder) and not others.not_searched)
        for place in range(len(features))
    ]  # fmt: skip


def _one(
    found: Explanation,
    place: int,
    said: str,
    labels: tuple[Any, Any],
    values: Mapping[str, Any],
    **rest: Any,
) -> DecisionExplanation:
    positive = bool(found.decisions[place])
    texts = [group_text(group) for group in found.groups]
    ends = found.intervals[place].tolist()
    return DecisionExplanation(
        score=float(found.scores[place]),
        reference_score=found.reference_score,
        reference=said,
        threshold=found.threshold,
        decision=labels[int(positive)],
        positive=positive,
        values=values,
        contributions=dict(zip(found.columns, found.contributions[place].tolist(), strict=True)),
        intervals={group: (low, high) for group, (low, high) in zip(texts, ends, strict=True)},
        agrees=dict(zip(texts, found.agrees[place].tolist(), strict=True)),
        **rest,
    )


def _plain(value: Any) -> Any:
    text = normal_text(value)
    if text is None or isinstance(value, bool | int | float | str):
        return None if text is None else value
    return value.item() if isinstance(value, np.generic) else text
