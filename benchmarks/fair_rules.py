"""What limits on decisions cost: accuracy, gaps and log loss, before and after the map, and time.

Columns are cross-fitted forecasts of label and group (the group is no input), on 70/30 splits that
development has seen; no figure here is a comparison with other methods. The aims on training
rows are the shares of the limits that AIMS has.

"free" is the classifier without limits on the same columns; "smooth" the score of the fair rule
before its map, "calibrated" after it; "ordered" the log loss of the best rising function
of the fair rule's score, which no rising map can beat: fitted by isotonic regression on the
training part. It has no certificate, since its slope is unbounded.
"""

import argparse
import time

import numpy as np
from _report import Row, arguments, report
from sklearn.isotonic import IsotonicRegression

from fairsmooth import FairSmoothClassifier
from fairsmooth.columns import Forecasts
from fairsmooth.datasets import load_adult, load_compas
from fairsmooth.metrics.rates import measure

LOADERS = {"adult": load_adult, "compas": load_compas}
LIMITS = {
    ("adult", "sex"): (0.05, 0.08),
    ("adult", "race"): (0.04, 0.06),
    ("compas", "sex"): (0.05, 0.10),
    ("compas", "race"): (0.03, 0.08),
}
AIMS = {"adult": (0.9, 0.75), "compas": (0.8, 0.7)}


def log_loss(scores: np.ndarray, y: np.ndarray) -> float:
    kept = np.clip(scores, 1e-6, 1.0 - 1e-6)
    return float(-np.log(np.where(y == 1, kept, 1.0 - kept)).mean())


def measure_split(dataset: str, sensitive: str, seed: int) -> Row:
    train, test = LOADERS[dataset]("raw", sensitive=sensitive).split(random_state=seed)
    groups = train.sensitive_features
    began = time.process_time()
    forecasts = Forecasts(random_state=seed)
    X = forecasts.fit_transform(train.X, train.y, sensitive_features=groups)
    Z = forecasts.encoder_.transform(test.X)
    forecast = time.process_time() - began
    limits, aims = LIMITS[dataset, sensitive], AIMS[dataset]
    began = time.process_time()
    fair = FairSmoothClassifier(
        parity="both",
        parity_solver="decisions",
        parity_tolerance=(limits[0] * aims[0], limits[1] * aims[1]),
        random_state=seed,
    ).fit(X, train.y, sensitive_features=groups)
    took = time.process_time() - began
    free = FairSmoothClassifier(free_reference=False).fit(X, train.y, sensitive_features=groups)
    inside, outside = (
        fair.rule_.smooth_scores(part.to_numpy(), fair.parameters_) for part in (X, Z)
    )
    ordered = IsotonicRegression(out_of_bounds="clip").fit(inside, train.y).predict(outside)
    return {
        **measure(fair.predict(Z), test.y, test.groups),
        "epsilon": fair.certificate_.epsilon,
        "slope": fair.certificate_.slope,
        "log_loss_free": log_loss(free.predict_proba(Z)[:, 1], test.y),
        "log_loss_smooth": log_loss(outside, test.y),
        "log_loss_calibrated": log_loss(fair.predict_proba(Z)[:, 1], test.y),
        "log_loss_ordered": log_loss(ordered, test.y),
        "seconds_forecasts": forecast,
        "seconds_fit": took,
    }


def rows(options: argparse.Namespace) -> list[Row]:
    out = []
    for dataset, sensitive in LIMITS:
        if options.quick and dataset == "adult":
            continue
        splits = [measure_split(dataset, sensitive, seed) for seed in range(options.splits)]
        means = {name: round(float(np.mean([s[name] for s in splits])), 4) for name in splits[0]}
        out.append({"setting": f"{dataset} {sensitive}", "splits": len(splits), **means})
    return out


if __name__ == "__main__":
    parser = arguments(__doc__)
    parser.add_argument("--splits", type=int, default=5)
    options = parser.parse_args()
    if options.quick:
        options.splits = 2
    report([], rows(options), as_json=options.json)
