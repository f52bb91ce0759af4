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
from fairsmooth.core.smoothing import smooth_probability
from fairsmooth.datasets import FairDataset
from fairsmooth.estimator import FairSmoothClassifier
from fairsmooth.experiments.beyond.readings import (
    AS_PRINTED,
    BATCH,
    CONTROL,
    DRAWS,
    ITERATIONS,
    LEARNING_RATE,
    PAIRS,
)
from fairsmooth.experiments.run.data import training_and_test
from fairsmooth.experiments.run.job import Job
from fairsmooth.metrics.rates import gaps_of, group_rates_of, measure

_FEW_DRAWS = 1000

Figures = dict[str, Any]


def readings(job: Job, _: Mapping[str, Any], method: None = None) -> Figures:
    """Train at every pair by the job's schedule; measure gaps of decisions and of scores.

    Smoothing is exact. In the first trial the first pair is also scored by the printed number of
    draws, as a check.
    """
    train, test = training_and_test(job)
    as_printed = job.contender == AS_PRINTED
    rows, weights = (in_steps(train, job.seed), None) if as_printed else distinct(train)
    how: Figures = {"max_iter": 20} if job.quick else {}
    if as_printed:
        how = {"solver": "sgd", "max_iter": 1, "batch_size": BATCH, "learning_rate": LEARNING_RATE}
    points: list[Figures] = []
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
        if job.trial == 0 and not points:
            found |= _sampled(model, scores, test, _FEW_DRAWS if job.quick else DRAWS)
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


def _sampled(model: FairSmoothClassifier, exact: Any, test: FairDataset, draws: int) -> Figures:
    """Return what sampling as many draws as printed would have measured, and how far it errs."""
    rows, back = np.unique(test.X.to_numpy(dtype=np.float64), axis=0, return_inverse=True)
    scores = smooth_probability(
        model.architecture_,
        model.parameters_,
        rows,
        sigma=model.sigma,
        link=model.link,
        method="monte_carlo",
        n_draws=draws,
        random_state=model.random_state,
    )[back.ravel()]
    found = {f"sampled_{name}": value for name, value in _measured(scores, test).items()}
    return found | {
        "sampled_largest_error": float(np.abs(scores - exact).max()),
        "sampled_decisions_changed": float(np.mean((scores > 0.5) != (exact > 0.5))),
    }


def _measured(scores: Any, test: FairDataset) -> Figures:
    """Return accuracy and gaps of decisions, and the gaps of scores taken as chances."""
    soft = gaps_of(group_rates_of(scores, test.y, test.groups))
    found = measure((scores > 0.5).astype(np.int64), test.y, test.groups)
    return found | {f"expected_{name}": float(gap) for name, gap in soft.items()}
