"""What is measured of a fitted method."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairsmooth.classifier import GroupClassifier
from fairsmooth.core.certificate import Certificate
from fairsmooth.data.groups import Groups
from fairsmooth.datasets import FairDataset, partition_rows
from fairsmooth.metrics.rates import measure


def decide(model: GroupClassifier, data: FairDataset, *, with_group: bool) -> NDArray[Any]:
    """Return the decisions, telling the group only to methods that are published that way."""
    if with_group:
        options: Any = {"sensitive_features": data.sensitive_features}
        return np.asarray(model.predict(data.X, **options))
    return np.asarray(model.predict(data.X))


def partition_rates(
    decisions: NDArray[Any], test: FairDataset, fractions: Iterable[float], *, seed: int
) -> dict[str, dict[str, float]]:
    """Return the measures on random partitions of the test rows, by share of the rows."""
    groups, found = test.groups, {}
    for fraction in fractions:
        rows = partition_rows(test, fraction, random_state=seed)
        part = Groups(groups.labels, groups.codes[rows])
        found[str(fraction)] = measure(decisions[rows], test.y[rows], part)
    return found


def certificate_figures(model: GroupClassifier, test: FairDataset) -> dict[str, float]:
    """Return distances, bounds and the largest measured gap of a FairSmooth model; else nothing."""
    certificate: Certificate | None = getattr(model, "certificate_", None)
    if certificate is None:
        return {}
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
