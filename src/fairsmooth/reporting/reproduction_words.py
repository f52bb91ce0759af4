"""What the reproduction names in code, in words: columns, cases, measures, methods, evidence."""

import re
from collections.abc import Iterable
from functools import cache

from fairsmooth.datasets import datasets, entry
from fairsmooth.experiments import ENCODINGS, PUBLISHED, TUNED, everyone, label_of

PRINTED = "printed"
COLUMNS = {
    "aif360": "binary columns",
    "aif360-blind": "binary columns without sex and race",
    "binned": "all columns",
    "raw": "columns as they are",
}
TRACKS = {PUBLISHED: "as published", TUNED: "tuned"}
MEASURES = {
    "accuracy": "accuracy",
    "demographic_parity": "ΔDP",
    "equalized_odds_sum": "ΔEO",
    "mean_distance": "mean distance",
    "max_distance": "largest distance",
    "epsilon": "certificate",
    "epsilon_tight": "tight certificate",
    "measured_gap": "measured difference",
    "fair_ceiling": "ceiling at printed gaps",
    "told_ceiling": "ceiling, told the group",
    "told_fair_ceiling": "ceiling at printed gaps, told the group",
    "largest_error": "largest error",
    "mean_error": "mean error",
    "decisions_changed": "decisions changed",
    "draw_seconds": "seconds",
    "slowdown": "times exact",
}
_AXES = {"alpha": "α", "sigma": "σ"}
# "of 6: 2 holds, 4 does not hold" counts verdicts.
_COUNTED = {
    "holds": "hold",
    "no difference": "show no difference",
    "does not hold": "do not hold",
    "cannot be told": "cannot be told",
}


def columns_name(encoding: str) -> str:
    """Return a source of columns as one reads it."""
    return COLUMNS.get(encoding, encoding)


def source_name(source: str, *, tracks: bool = True) -> str:
    """Return what a claim is asked of as one reads it, with or without whose parameters.

    Examples
    --------
    >>> source_name("binned, published"), source_name("aif360", tracks=False)
    ('all columns, as published', 'binary columns')
    """
    if source == PRINTED:
        return "the printed numbers themselves"
    encoding, _, track = source.partition(", ")
    name = columns_name(encoding)
    return f"{name}, {TRACKS[track or TUNED]}" if tracks else name


def in_source_order(sources: Iterable[str]) -> list[str]:
    """Return sources in the order of the pages: printed, then by columns, published first."""
    usual = [PRINTED]
    for encoding in ENCODINGS:
        usual += [f"{encoding}, {PUBLISHED}", encoding]
    asked = set(sources)
    return [*(each for each in usual if each in asked), *sorted(asked - set(usual))]


def case_name(case: str) -> str:
    """Return a case as one reads it.

    Examples
    --------
    >>> case_name("compas-race")
    'COMPAS by race'
    """
    dataset, sensitive = case.split("-", 1)
    return f"{entry(dataset).title} by {sensitive}"


def measure_name(metric: str) -> str:
    """Return a measure as one reads it."""
    return MEASURES.get(metric, metric.replace("_", " "))


def in_words(evidence: str) -> str:
    """Return evidence with the names of cases, methods and measures as one reads them.

    Examples
    --------
    >>> in_words("compas-race, demographic parity: 0.194 against 0.210 of fair_mixup")
    'COMPAS by race, ΔDP: 0.194 against 0.210 of Fair Mixup'
    >>> in_words("of 6: 2 holds, 4 does not hold")
    'of 6 comparisons 2 hold, 4 do not hold'
    """
    known = _names()
    counted = re.sub(r"^of (\d+): ", r"of \1 comparisons ", evidence)
    if counted != evidence:
        pattern = "|".join(_COUNTED)
        return re.sub(rf"(\d+) ({pattern})", lambda m: f"{m[1]} {_COUNTED[m[2]]}", counted)
    return _pattern().sub(lambda match: known.get(match[0]) or _composed(match[0]), evidence)


def _composed(name: str) -> str:
    """Return a case, or a method from outside, which no list holds."""
    return label_of(name) if "@" in name else case_name(name)


@cache
def _names() -> dict[str, str]:
    names = {each.name: each.label for each in everyone()} | _AXES
    names |= {each.name: each.title for each in datasets()}
    for metric, words in MEASURES.items():
        names |= {metric: words, metric.replace("_", " "): words}
    return names


@cache
def _pattern() -> re.Pattern[str]:
    cases = "|".join(re.escape(each.name) for each in datasets())
    names = sorted(_names(), key=len, reverse=True)
    known = "|".join(map(re.escape, names))
    return re.compile(rf"\b(?:\w+@[0-9a-f]+|(?:{cases})-\w+|{known})\b")
