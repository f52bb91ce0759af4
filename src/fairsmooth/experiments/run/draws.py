"""How long sampling the weights takes and how far it errs, against exact smoothing."""

import time
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from fairsmooth.core.smoothing import smooth_probability
from fairsmooth.estimator import FairSmoothClassifier
from fairsmooth.experiments.run.data import some_rows, training_and_test
from fairsmooth.experiments.run.job import Job

# The network's rows are a sample: what is timed is prediction.
_NETWORK_ROWS = 2000


def time_draws(job: Job, parameters: Mapping[str, Any], method: None = None) -> dict[str, Any]:
    """Score some test rows exactly and by every number of draws; report seconds and errors."""
    extra = dict(job.extra)
    train, test = training_and_test(job)
    if parameters.get("hidden_layer_sizes") and len(train) > _NETWORK_ROWS:
        train = some_rows(train, _NETWORK_ROWS, job.seed)
    model = FairSmoothClassifier(**parameters, free_reference=False, random_state=job.seed)
    with warnings.catch_warnings():
        # Timing needs weights of the usual size, not the best ones: two epochs are enough.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(train.X, train.y, sensitive_features=train.sensitive_features)
    rows = some_rows(test, extra["rows"], job.seed).X.to_numpy()
    exact, seconds = _scored(model, rows, "exact", 1, job.seed)
    points = []
    for n_draws in extra["n_draws"]:
        sampled, taken = _scored(model, rows, "monte_carlo", n_draws, job.seed)
        error = np.abs(sampled - exact)
        points.append(
            {
                "n_draws": n_draws,
                "seconds": taken,
                "slowdown": taken / seconds,
                "largest_error": float(error.max()),
                "mean_error": float(error.mean()),
                "decisions_changed": float(np.mean((sampled > 0.5) != (exact > 0.5))),
            }
        )
    return {"exact_seconds": seconds, "rows": len(rows), "points": points}


def _scored(
    model: FairSmoothClassifier, rows: Any, method: str, n_draws: int, seed: int
) -> tuple[Any, float]:
    began = time.perf_counter()
    scores = smooth_probability(
        model.architecture_,
        model.parameters_,
        rows,
        sigma=model.sigma,
        link=model.link,
        method=method,
        n_draws=n_draws,
        random_state=seed,
    )
    return scores, time.perf_counter() - began
