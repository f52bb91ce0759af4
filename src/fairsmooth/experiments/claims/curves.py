"""The claims that figures make: steady, improving and then worse, rising, falling.

A curve that does not move at all neither rises nor falls, so all comparisons are strict, and
one that moves by less than the margin shows no difference.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from fairsmooth.experiments.claims.claim import Predicate
from fairsmooth.experiments.claims.comparisons import OURS
from fairsmooth.experiments.claims.estimate import Estimate, estimate, margin_of
from fairsmooth.experiments.claims.select_rows import curve, sign_of
from fairsmooth.experiments.claims.verdict import UNKNOWN, Verdict, every, most
from fairsmooth.experiments.declaration import BASELINES


def steadier(
    axis: str, case: str, metrics: Sequence[str], *, others: Sequence[str] = BASELINES
) -> Predicate:
    """FairSmooth's range along an axis is below the average range of the others, in most measures.

    A range is the largest less the smallest value of a curve, within one trial.
    """

    def one(rows: pd.DataFrame, metric: str) -> Verdict:
        curves = {
            name: curve(rows, metric, case, axis=axis, method=name) for name in (OURS, *others)
        }
        # A range over fewer points is smaller, so every method needs all of them.
        shared = sorted(set.intersection(*(set(table.columns) for table in curves.values())))
        asked = sorted(set().union(*(table.columns for table in curves.values())))
        if shared != asked or len(shared) < 2:
            return Verdict(UNKNOWN, f"{metric}: run at {len(shared)} of {len(asked)} points by all")
        ranges = {name: _range(table[shared]) for name, table in curves.items()}
        theirs = pd.concat([ranges[name] for name in others], axis=1).mean(axis=1)
        found = estimate(theirs - ranges[OURS])
        evidence = (
            f"{metric.replace('_', ' ')} ranges over {ranges[OURS].mean():.3f}, "
            f"others over {theirs.mean():.3f}"
        )
        return Verdict(found.compared(strictly=True, margin=margin_of(metric)), evidence)

    return lambda rows: most([one(rows, metric) for metric in metrics])


def best_inside(axis: str, case: str, metrics: Sequence[str], *, method: str = OURS) -> Predicate:
    """A curve improves and then becomes worse: both ends are worse than the best point between."""

    def one(rows: pd.DataFrame, metric: str) -> Verdict:
        table = sign_of(metric) * curve(rows, metric, case, axis=axis, method=method)
        if table.shape[1] < 3:
            return Verdict(UNKNOWN, f"{metric}: fewer than three points")
        inside = table.mean().iloc[1:-1].idxmax()
        ends = (table.columns[0], table.columns[-1])
        evidence = (
            f"{case}, {metric.replace('_', ' ')}: {_mean(table, inside)} at {inside:g}, "
            f"{_mean(table, ends[0])} and {_mean(table, ends[1])} at the ends"
        )
        margin = margin_of(metric)
        gains = [estimate(table[inside] - table[end]) for end in ends]
        outcomes = [gain.compared(strictly=True, margin=margin) for gain in gains]
        return Verdict(every([Verdict(outcome, "") for outcome in outcomes]).outcome, evidence)

    return lambda rows: every([one(rows, metric) for metric in metrics])


def moves(metric: str, axis: str, case: str, direction: str, *, method: str = OURS) -> Predicate:
    """A measure falls (or rises) from the first point of an axis to the last."""
    factor = {"falls": 1.0, "rises": -1.0}[direction]

    def verdict(rows: pd.DataFrame) -> Verdict:
        table = curve(rows, metric, case, axis=axis, method=method)
        if table.shape[1] < 2:
            return Verdict(UNKNOWN, f"{metric}: fewer than two points")
        first, last = table.columns[0], table.columns[-1]
        found = _fall(table, first, last, factor, metric)
        evidence = (
            f"{metric.replace('_', ' ')} {table[first].mean():.4f} at {axis} = {first:g}, "
            f"{table[last].mean():.4f} at {last:g}"
        )
        return Verdict(found.compared(strictly=True, margin=margin_of(metric)), evidence)

    return verdict


def worse_at(end: str, metric: str, axis: str, case: str, *, method: str = OURS) -> Predicate:
    """At one end of the axis ("first" or "last") a measure is worse than at its best point."""
    position = {"first": 0, "last": -1}[end]

    def verdict(rows: pd.DataFrame) -> Verdict:
        table = sign_of(metric) * curve(rows, metric, case, axis=axis, method=method)
        if table.shape[1] < 2:
            return Verdict(UNKNOWN, f"{metric}: fewer than two points")
        at = table.columns[position]
        top = table.mean().drop(at).idxmax()
        found = estimate(table[top] - table[at])
        evidence = (
            f"{metric.replace('_', ' ')} {_mean(table, at)} at {axis} = {at:g}, "
            f"{_mean(table, top)} at {top:g}"
        )
        return Verdict(found.compared(strictly=True, margin=margin_of(metric)), evidence)

    return verdict


def on_grid(predicate: Predicate, axis: str, values: Sequence[float]) -> Predicate:
    """Ask a claim of the points that it was made about, where more were run."""
    return lambda rows: predicate(
        rows if "axis" not in rows else rows[(rows["axis"] != axis) | rows["value"].isin(values)]
    )


def joined(*predicates: Predicate) -> Predicate:
    """Require several claims at once."""
    return lambda rows: every([predicate(rows) for predicate in predicates])


def _fall(table: pd.DataFrame, first: Any, last: Any, factor: float, metric: str) -> Estimate:
    """Return how far a curve falls; distances and bounds by their ratio."""
    ends = table[[first, last]]
    if margin_of(metric) == 0.0:
        ends = ends.where(ends > 0.0).map(np.log)
    return estimate(factor * (ends[first] - ends[last]))


def _range(table: pd.DataFrame) -> "pd.Series[float]":
    values = table.to_numpy(dtype=np.float64)
    return pd.Series(values.max(axis=1) - values.min(axis=1), index=table.index)


def _mean(table: pd.DataFrame, point: Any) -> str:
    # Tables of gaps carry a minus sign, so that larger is better.
    return f"{abs(table[point].mean()):.3f}"
