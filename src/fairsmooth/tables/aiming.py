"""Which candidate to bring before the safety rows: chosen on training rows alone.

A candidate is a weight of the parity term. Its decisions on training rows come from models
that have not seen them (cross-fitted), so its gaps and accuracy are honest; from them follows
how likely the safety rows are to guarantee the limits. The most accurate candidate that is
likely enough is chosen.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from fairsmooth._types import Labels
from fairsmooth.data.groups import Groups, encode_groups
from fairsmooth.estimator import FairSmoothClassifier
from fairsmooth.guarantees import Limits
from fairsmooth.guarantees.claims import Shift
from fairsmooth.guarantees.planning import ExpectedCell, return_probability
from fairsmooth.guarantees.quantities import QUANTITIES
from fairsmooth.training.parity_gaps import decisions_are_judged

FOLDS = 3
# Weights of the parity term between which the gaps of decisions fall from their free value to
# near 0 on Adult and COMPAS; the search halves this range in the logarithm.
_LEAST_WEIGHT, _MOST_WEIGHT = 0.03, 3.0
HALVINGS = 6


@dataclass(frozen=True)
class Candidate:
    """A classifier to train, and what its decisions on unseen training rows promise.

    Attributes
    ----------
    classifier : FairSmoothClassifier
        Not fitted.
    parity_weight : float
    accuracy : float
        Of the cross-fitted decisions.
    gaps : dict
        What every limit is about, measured on them.
    chance : float
        About how likely the safety rows are to guarantee all limits.
    """

    classifier: FairSmoothClassifier
    parity_weight: float
    accuracy: float
    gaps: Mapping[str, float]
    chance: float


@dataclass(frozen=True)
class Aim:
    """What a candidate must reach on the training rows.

    Attributes
    ----------
    limits : Limits
    aim : float
        How likely a guarantee must be for a candidate to be preferred for its accuracy.
    safety_share : float
        Safety rows per training row.
    shift : (str, float) or None
        What the guarantee must allow for.
    halvings : int
        How often the search over weights halves its range; each costs a cross-fitting.
    """

    limits: Limits
    aim: float
    safety_share: float
    shift: Shift | None = None
    halvings: int = HALVINGS


def choose_candidate(
    classifier: FairSmoothClassifier,
    X: Any,
    y: Labels,
    sensitive: Any,
    *,
    aim: Aim,
    seed: int,
) -> tuple[Candidate, list[Candidate]]:
    """Return the most accurate candidate that is likely enough, or the likeliest; and all tried."""
    groups = encode_groups(sensitive, n_rows=len(y))
    tried = list(_candidates(classifier, np.asarray(X), y, sensitive, groups, aim, seed))
    enough = [candidate for candidate in tried if candidate.chance >= aim.aim]
    if enough:
        return max(enough, key=lambda candidate: candidate.accuracy), tried
    return max(tried, key=lambda candidate: candidate.chance), tried


def _candidates(
    classifier: FairSmoothClassifier,
    X: Any,
    y: Labels,
    sensitive: Any,
    groups: Groups,
    aim: Aim,
    seed: int,
) -> Iterator[Candidate]:
    """Try no parity term first, then halve towards the least weight that is enough."""

    def judged(weight: float) -> Candidate:
        chosen = _with_weight(classifier, aim.limits, weight)
        decided = _cross_fitted(chosen, X, y, sensitive, groups, seed)
        return _judge(chosen, weight, decided, y, groups, aim)

    free = judged(0.0)
    yield free
    if free.chance >= aim.aim:
        return
    low, high = np.log(_LEAST_WEIGHT), np.log(_MOST_WEIGHT)
    for _ in range(aim.halvings):
        middle = 0.5 * (low + high)
        candidate = judged(float(np.exp(middle)))
        yield candidate
        low, high = (low, middle) if candidate.chance >= aim.aim else (middle, high)


def _with_weight(
    classifier: FairSmoothClassifier, limits: Limits, weight: float
) -> FairSmoothClassifier:
    chosen: FairSmoothClassifier = clone(classifier)
    if weight == 0.0:
        return chosen
    names = limits.to_dict()
    by_label = any(None not in QUANTITIES[name].labels for name in names)
    overall = any(None in QUANTITIES[name].labels for name in names)
    parity = "both" if by_label and overall else "equalized_odds" if by_label else None
    return chosen.set_params(parity=parity or "demographic_parity", parity_weight=weight)


def _cross_fitted(
    classifier: FairSmoothClassifier, X: Any, y: Labels, sensitive: Any, groups: Groups, seed: int
) -> NDArray[np.int64]:
    """Return decisions on every row by a model that has not seen it."""
    decided = np.zeros(len(y), dtype=np.int64)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    table = np.asarray(sensitive)
    for train, test in folds.split(X, groups.codes * 2 + y):
        fitted = clone(classifier).set_params(free_reference=False)
        with decisions_are_judged():
            fitted.fit(X[train], y[train], sensitive_features=table[train])
        decided[test] = fitted.predict_proba(X[test])[:, 1] > fitted.threshold_
    return decided


def _judge(
    classifier: FairSmoothClassifier,
    weight: float,
    decided: NDArray[np.int64],
    y: Labels,
    groups: Groups,
    aim: Aim,
) -> Candidate:
    cells = {
        label: _cells(decided, groups, y == label if label is not None else None, aim)
        for label in (None, 1, 0)
    }
    chances, gaps = [], {}
    for name, limit in aim.limits.to_dict().items():
        chances.append(
            return_probability(
                name, cells, limit, confidence=aim.limits.confidence, shift=aim.shift
            )
        )
        gaps[name] = _measured(name, cells)
    accuracy = float((decided == y).mean())
    return Candidate(classifier, weight, accuracy, gaps, min(chances))


def _cells(
    decided: NDArray[np.int64], groups: Groups, keep: NDArray[np.bool_] | None, aim: Aim
) -> list[ExpectedCell]:
    codes = groups.codes if keep is None else groups.codes[keep]
    chosen = decided if keep is None else decided[keep]
    rows = np.bincount(codes, minlength=len(groups.labels))
    hits = np.bincount(codes, weights=chosen, minlength=len(groups.labels))
    return [
        ExpectedCell(float(x / max(n, 1)), float(n * aim.safety_share), float(n))
        for x, n in zip(hits, rows, strict=True)
    ]


def _measured(name: str, cells: Mapping[int | None, list[ExpectedCell]]) -> float:
    quantity = QUANTITIES[name]
    values = []
    for label in quantity.labels:
        rates = [cell.rate for cell in cells[label]]
        ratio = min(rates) / max(rates) if max(rates) > 0.0 else 1.0
        values.append(ratio if quantity.ratio else max(rates) - min(rates))
    return quantity.combine(values)
