"""Other values that a column could have: one for each thing that its rules can tell apart."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from fairsmooth.data.columns import Binned, Categories, DatePart, Rule, Standardised

KNOWN = (Binned, Categories, DatePart, Standardised)
# Numbers that are scaled are tried on a grid, in standard deviations.
REACH, STEPS = 6.0, 241


def alternatives(rules: Sequence[Rule]) -> list[Any]:
    """Return one value per level of a column, None for a missing one where training had some.

    Examples
    --------
    >>> alternatives([Binned("age", (20.0, 30.0), missing=True)])
    [20.0, 30.0, 40.0, None]
    """
    first = rules[0]
    gap = [None] if any(rule.missing for rule in rules) else []
    if isinstance(first, Categories):
        return [*first.values, *([_unseen(first.values)] if first.other else []), *gap]
    if isinstance(first, Binned):
        return [*_numbers(first.edges), *gap]
    if isinstance(first, Standardised):
        grid = first.mean + first.scale * np.linspace(-REACH, REACH, STEPS)
        return [*grid.tolist(), *gap]
    return [*_dates([rule for rule in rules if isinstance(rule, DatePart)]), *gap]


def _numbers(edges: Sequence[float]) -> list[float]:
    """Return the upper end of every interval, and a number above the last."""
    if not edges:
        return [0.0]
    step = edges[-1] - edges[-2] if len(edges) > 1 else max(1.0, abs(edges[-1]))
    above = edges[-1] + step
    return [*edges, above if above > edges[-1] else float(np.nextafter(edges[-1], np.inf))]


def _dates(rules: Sequence[DatePart]) -> list[pd.Timestamp]:
    """Return a day for every year interval, month and weekday."""
    edges = {rule.part: rule.edges for rule in rules}
    years = [int(year) for year in _numbers(edges["year"])] if edges.get("year") else [2000]
    years = [year for year in dict.fromkeys(years) if 1 <= year <= 9999]
    months = range(1, 13) if "month" in edges else (1,)
    days = range(1, 8) if "weekday" in edges else (1,)
    return [pd.Timestamp(year, month, day) for year, month, day in product(years, months, days)]


def _unseen(values: Sequence[str]) -> str:
    text = "other"
    while text in values:
        text += "_"
    return text
