"""Training a method, and judging it: on held-out training rows, or on the test part."""

import warnings
from collections.abc import Mapping
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from fairsmooth.baselines import Method
from fairsmooth.classifier import GroupClassifier
from fairsmooth.datasets import FairDataset
from fairsmooth.experiments.run.data import training_and_held_out, training_and_test
from fairsmooth.experiments.run.job import Job
from fairsmooth.experiments.run.measure import certificate_figures, decide, partition_rates
from fairsmooth.experiments.settings import PARTITIONS
from fairsmooth.metrics.rates import measure

Figures = dict[str, Any]
Parameters = Mapping[str, Any]


def judge(job: Job, parameters: Parameters, method: Method) -> Figures:
    """Train a candidate on part of the training rows and judge it on the rest of them."""
    train, held_out = training_and_held_out(job)
    model = _trained(method, parameters, train, job)
    decisions = decide(model, held_out, with_group=method.needs_group_at_prediction)
    return {"measured": measure(decisions, held_out.y, held_out.groups)}


def fit(job: Job, parameters: Parameters, method: Method) -> Figures:
    """Train on the training part and measure on the test part and its partitions."""
    train, test = training_and_test(job)
    model = _trained(method, parameters, train, job)
    decisions = decide(model, test, with_group=method.needs_group_at_prediction)
    found: Figures = {
        "train_rows": len(train),
        "test_rows": len(test),
        "measured": {**measure(decisions, test.y, test.groups), **certificate_figures(model, test)},
    }
    if job.group_ratio is None:
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
