"""The nearest change of one column that turns a decision."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from fairsmooth._types import Floats
from fairsmooth.core.rule_holder import RuleHolder
from fairsmooth.data.columns import DatePart, Rule
from fairsmooth.data.encoding import TableEncoder
from fairsmooth.data.values import moment_of, normal_text
from fairsmooth.tables.alternatives import KNOWN, alternatives, nearest_day


@dataclass(frozen=True)
class Change:
    """A value of one column with which the decision would be the other one."""

    column: str
    value: Any
    score: float

    def __str__(self) -> str:
        """Say the change."""
        return f"{self.column} {said_of(self.value)} instead (score {self.score:.4f})"


@dataclass(frozen=True)
class Alternatives:
    """Other values of every column, encoded once for all rows."""

    rules: Mapping[str, list[Rule]]
    values: Mapping[str, list[Any]]
    blocks: Mapping[str, tuple[list[int], Floats]]
    not_searched: tuple[str, ...]

    @classmethod
    def of(cls, encoder: Any) -> "Alternatives":
        """Encode values of every level of every column."""
        if not isinstance(encoder, TableEncoder):
            return cls({}, {}, {}, tuple(encoder.columns))
        rules: dict[str, list[Rule]] = {}
        places: dict[str, list[int]] = {}
        first = 0
        for rule in encoder.rules:
            width = len(rule.feature_names)
            rules.setdefault(rule.name, []).append(rule)
            places.setdefault(rule.name, []).extend(range(first, first + width))
            first += width
        known = [name for name, own in rules.items() if all(type(rule) in KNOWN for rule in own)]
        values = {name: alternatives(rules[name]) for name in known}
        blocks = {name: (places[name], _encoded(rules[name], values[name])) for name in known}
        return cls(rules, values, blocks, tuple(name for name in rules if name not in known))

    def changes(
        self, classifier: RuleHolder, x: Floats, values: Mapping[str, Any]
    ) -> tuple[Change, ...]:
        """Return, by column, the nearest value that turns the decision, tried one and all."""
        if not self.blocks:
            return ()
        tried = []
        for places, block in self.blocks.values():
            rows = np.tile(x, (len(block), 1))
            rows[:, places] = block
            tried.append(rows)
        rule = classifier.rule_
        scores = rule.scores(np.vstack([x[None, :], *tried]), rule.parameters)
        before = scores[0] > rule.threshold
        turned = (scores > rule.threshold) != before
        found, start = [], 1
        for name, (_, block) in self.blocks.items():
            stop = start + len(block)
            hits = np.flatnonzero(turned[start:stop])
            if len(hits):
                moved = np.abs(scores[start:stop] - scores[0])
                best, value = self._nearest(name, hits.tolist(), values.get(name), moved)
                found.append(Change(name, value, float(scores[start + best])))
            start = stop
        return tuple(sorted(found, key=lambda change: abs(change.score - float(scores[0]))))

    def _nearest(self, name: str, hits: list[int], current: Any, moved: Floats) -> tuple[int, Any]:
        """Return the nearest of some values: texts have none, so the least move of the score."""
        values, text = self.values[name], normal_text(current)
        days = [hit for hit in hits if isinstance(values[hit], pd.Timestamp)]
        today = None if text is None else moment_of(text)
        if days and today is not None:
            parts = [rule for rule in self.rules[name] if isinstance(rule, DatePart)]
            place, day = nearest_day(parts, [values[hit] for hit in days], today)
            return days[place], day
        best = min(hits, key=lambda hit: (_distance(values[hit], text), moved[hit], hit))
        return best, values[best]


def _distance(value: Any, text: str | None) -> float:
    if text is None or not isinstance(value, int | float):
        return np.inf
    return abs(value - float(text))


def _encoded(rules: Sequence[Rule], values: list[Any]) -> Floats:
    column = pd.Series(values, dtype=object)
    blocks = []
    for rule in rules:
        block = np.zeros((len(values), len(rule.feature_names)))
        rule.write(column, block)
        blocks.append(block)
    return np.hstack(blocks)


def said_of(value: Any) -> str:
    """Say a value, or that there is none."""
    text = normal_text(value)
    return "is missing" if text is None else f"is {text}"
