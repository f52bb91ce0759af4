"""One reading of the paper's training, at every pair of σ and α, with the control beside it."""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from fairsmooth._random import numpy_generator
from fairsmooth.datasets import FairDataset
from fairsmooth.estimator import FairSmoothClassifier
from fairsmooth.experiments.beyond.readings import (
    AS_PRINTED,
    BATCH,
    CONTROL,
    ITERATIONS,
    LEARNING_RATE,
    PAIRS,
)
from fairsmooth.experiments.run.data import training_and_test
from fairsmooth.experiments.run.job import Job
from fairsmooth.metrics.rates import gaps_of, group_rates_of, measure

Figures = dict[str, Any]


def readings(job: Job, _: Mapping[str, Any], method: None = None) -> Figures:
    """Train at every pair by the job's schedule; measure gaps of decisions and of scores."""
    train, test = training_and_test(job)
    as_printed = job.contender == AS_PRINTED
    rows, weights = (in_steps(train, job.seed), None) if as_printed else distinct(train)
    how: Figures = {"max_iter": 20} if job.quick else {}
    if as_printed:
        how = {"solver": "sgd", "max_iter": 1, "batch_size": BATCH, "learning_rate": LEARNING_RATE}
    points = []
    for sigma, alpha in PAIRS[:: 14 if job.quick else 1]:
        model = FairSmoothClassifier(
            sigma=sigma, alpha=alpha, free_reference=False, random_state=job.seed, **how
        )
        with warnings.catch_warnings():
            # The printed schedule ends where it ends; nobody expects it to have converged.
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(
                rows.X, rows.y, sensitive_features=rows.sensitive_features, sample_weight=weights
            )
        scores = model.predict_proba(test.X)[:, 1]
        found = _measured(scores, test) | {"epsilon": model.certificate_.epsilon}
        points.append({"sigma": sigma, "alpha": alpha, **found})
    return {"points": points, "control": {"method": CONTROL, **_control(train, test)}}


def in_steps(train: FairDataset, seed: int) -> FairDataset:
    """Return rows, repeated if need be, of which one pass is the printed number of steps."""
    count = ITERATIONS * BATCH
    order = numpy_generator(seed, "steps", train.name).permutation(len(train))
    return train.take(np.resize(order, count))


def distinct(train: FairDataset) -> tuple[FairDataset, NDArray[np.float64]]:
    """Return every different row once, and how often it is there: the same sums, sooner."""
    table = train.X.assign(label=train.y, group=train.groups.codes)
    codes = pd.util.hash_pandas_object(table, index=False)
    _, first, counts = np.unique(codes, return_index=True, return_counts=True)
    return train.take(first), counts.astype(np.float64)


def _control(train: FairDataset, test: FairDataset) -> Figures:
    model = LogisticRegression(max_iter=1000).fit(train.X.to_numpy(), train.y)
    return _measured(model.predict_proba(test.X.to_numpy())[:, 1], test)


def _measured(scores: Any, test: FairDataset) -> Figures:
    """Return accuracy and gaps of decisions, and the gaps of scores taken as chances."""
    soft = gaps_of(group_rates_of(scores, test.y, test.groups))
    found = measure((scores > 0.5).astype(np.int64), test.y, test.groups)
    return found | {f"expected_{name}": float(gap) for name, gap in soft.items()}
