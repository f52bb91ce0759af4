"""What is measured of a fitted method."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairsmooth.classifier import GroupClassifier
from fairsmooth.datasets import FairDataset, random_partition
from fairsmooth.estimator import FairSmoothClassifier

_DECISION = "decision"


def decide(model: GroupClassifier, data: FairDataset, *, with_group: bool) -> NDArray[Any]:
    """Return the decisions, telling the group only to methods that are published that way."""
    if with_group:
        told: Any = {"sensitive_features": data.sensitive_features}
        return np.asarray(model.predict(data.X, **told))
    return np.asarray(model.predict(data.X))


def rates(decisions: NDArray[Any], data: FairDataset) -> dict[str, float]:
    """Return accuracy and the gaps between groups.

    The same numbers as :func:`fairsmooth.metrics.accuracy`,
    ``demographic_parity_gap`` and ``equalized_odds_gap``, which are made for
    reading rather than for thousands of calls.
    """
    groups = data.groups
    # Rows and positive decisions of every group (rows of the table) and label (its columns).
    cells, shape = groups.codes * 2 + data.y, (len(groups.labels), 2)
    counts = np.bincount(cells, minlength=2 * shape[0]).reshape(shape)
    chosen = np.bincount(cells, weights=decisions, minlength=2 * shape[0]).reshape(shape)
    odds = [_gap(chosen[:, label], counts[:, label]) for label in (1, 0)]
    return {
        "accuracy": float(np.mean(decisions == data.y)),
        "demographic_parity": _gap(chosen.sum(axis=1), counts.sum(axis=1)),
        "equalized_odds_sum": float(np.sum(odds)),
        "equalized_odds_max": float(np.max(odds)),
        "selection_rate": float(np.mean(decisions)),
    }


def partition_rates(
    decisions: NDArray[Any], test: FairDataset, fractions: Iterable[float], *, seed: int
) -> dict[str, dict[str, float]]:
    """Return the rates on random partitions of the test rows, by share of the rows."""
    # A partition draws rows of a dataset; with the decisions as its only column they come along.
    decided = replace(test, X=pd.DataFrame({_DECISION: decisions}), encoder=None, _table=None)
    found = {}
    for fraction in fractions:
        part = random_partition(decided, fraction, random_state=seed)
        found[str(fraction)] = rates(part.X[_DECISION].to_numpy(), part)
    return found


def certificate_figures(model: GroupClassifier, test: FairDataset) -> dict[str, float]:
    """Return distances, bounds and the largest measured gap of a FairSmooth model; else nothing."""
    if not isinstance(model, FairSmoothClassifier):
        return {}
    certificate = model.certificate_
    overall = model.predict_proba(test.X)[:, 1]
    gaps = [
        float(np.abs(overall - model.predict_proba_group(test.X, group)[:, 1]).max())
        for group in model.groups_
    ]
    return {
        "max_distance": certificate.max_distance,
        "mean_distance": float(np.mean(list(certificate.distances.values()))),
        "epsilon": certificate.epsilon,
        "epsilon_tight": certificate.epsilon_tight,
        "measured_gap": max(gaps),
    }


def _gap(hits: NDArray[Any], counts: NDArray[Any]) -> float:
    known = counts > 0
    if known.sum() < 2:
        return float("nan")
    shares = hits[known] / counts[known]
    return float(shares.max() - shares.min())
