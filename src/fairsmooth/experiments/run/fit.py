"""Choosing among candidates, and training with what was chosen."""

import math
import warnings
from collections.abc import Mapping
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from fairsmooth.baselines import Method
from fairsmooth.classifier import GroupClassifier
from fairsmooth.datasets import FairDataset
from fairsmooth.experiments.declaration import PARTITIONS
from fairsmooth.experiments.run.data import training_and_held_out, training_and_test
from fairsmooth.experiments.run.job import Job
from fairsmooth.experiments.run.measure import certificate_figures, decide, partition_rates
from fairsmooth.metrics.rates import measure

# How much held-out accuracy a candidate may give up for smaller gaps, for every method alike.
ACCURACY_SLACK = 0.02

Figures = dict[str, Any]
Parameters = Mapping[str, Any]


def choose(job: Job, _: Parameters, method: Method) -> Figures:
    """Train every candidate on part of the training rows and judge it on the rest of them."""
    train, held_out = training_and_held_out(job)
    tried: list[Figures] = []
    for candidate in method.grid[: job.n_candidates]:
        try:
            model = _trained(method, candidate, train, job)
            decisions = decide(model, held_out, with_group=method.needs_group_at_prediction)
            measured = measure(decisions, held_out.y, held_out.groups)
        except Exception as error:
            tried.append({"parameters": dict(candidate), "failed": reason_of(error)})
        else:
            tried.append({"parameters": dict(candidate), **measured})
    return {"tried": tried, "chosen": fairest_accurate(tried)}


def fairest_accurate(tried: list[Figures]) -> Figures:
    """Return the candidate with the least sum of gaps among those of nearly the best accuracy.

    Examples
    --------
    >>> names = ("parameters", "accuracy", "demographic_parity", "equalized_odds_sum")
    >>> measured = [({"a": 1}, 0.85, 0.2, 0.2), ({"a": 2}, 0.84, 0.1, 0.1), ({"a": 3}, 0.7, 0, 0)]
    >>> fairest_accurate([dict(zip(names, each)) for each in measured])
    {'a': 2}
    """
    known = [candidate for candidate in tried if "failed" not in candidate]
    if not known:
        raise RuntimeError(f"every candidate failed: {tried[0]['failed']}")
    floor = max(candidate["accuracy"] for candidate in known) - ACCURACY_SLACK
    eligible = [candidate for candidate in known if candidate["accuracy"] >= floor]
    return dict(min(eligible, key=_sum_of_gaps)["parameters"])


def _sum_of_gaps(candidate: Figures) -> float:
    total = float(candidate["demographic_parity"] + candidate["equalized_odds_sum"])
    # A gap that the held-out rows cannot show recommends nothing.
    return math.inf if math.isnan(total) else total


def fit(job: Job, parameters: Parameters, method: Method) -> Figures:
    """Train on the training part and measure on the test part and its partitions."""
    train, test = training_and_test(job)
    model = _trained(method, parameters, train, job)
    decisions = decide(model, test, with_group=method.needs_group_at_prediction)
    found: Figures = {
        "parameters": dict(parameters),
        "train_rows": len(train),
        "test_rows": len(test),
        "measured": {**measure(decisions, test.y, test.groups), **certificate_figures(model, test)},
    }
    if job.group_ratio is None and not job.parameters:
        found["partitions"] = partition_rates(decisions, test, PARTITIONS, seed=job.split_seed)
    return found


def _trained(
    method: Method, parameters: Parameters, train: FairDataset, job: Job
) -> GroupClassifier:
    model = method.build(parameters, seed=job.seed, quick=job.quick)
    with warnings.catch_warnings():
        if job.quick:  # a few iterations show that everything runs; nobody expects more
            warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(train.X, train.y, sensitive_features=train.sensitive_features)
    return model


def reason_of(error: Exception) -> str:
    """Return an exception in one line, for a record."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]
