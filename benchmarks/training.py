"""Time and accuracy of FairSmooth on Adult, beside the models users know.

All in one run and on the same matrix: scikit-learn's LogisticRegression and MLPClassifier,
and fairlearn's ExponentiatedGradient. Each time is the least of several repetitions, because
other work on the machine can only add to it.
"""

import sys
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from _report import Goal, Row, arguments, at_least, at_most, fastest, report
from fairlearn.reductions import DemographicParity, ExponentiatedGradient
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from threadpoolctl import threadpool_limits

from fairsmooth import FairSmoothClassifier, certify
from fairsmooth.datasets import FairDataset, load_adult

Fit = Callable[[], Any]

LAYER, BATCH = (64,), 128


def fits(train: FairDataset, *, epochs: int) -> dict[str, Fit]:
    X, y, groups = train.X.to_numpy(), train.y, train.sensitive_features

    def ours(*arguments: Any, **options: Any) -> Fit:
        return lambda: FairSmoothClassifier(*arguments, random_state=0, **options).fit(
            X, y, sensitive_features=groups
        )

    network = {"batch_size": BATCH, "max_iter": epochs}
    # A step uses 128 rows of each of the two groups, as in the paper.
    grouped = {"batch_size": 2 * BATCH, "max_iter": epochs}
    return {
        "LogisticRegression": lambda: LogisticRegression(max_iter=1000).fit(X, y),
        "FairSmooth": ours(),
        "FairSmooth, no free reference": ours(free_reference=False),
        "FairSmooth, probit": ours(link="probit"),
        "MLPClassifier": lambda: MLPClassifier(LAYER, random_state=0, tol=0, **network).fit(X, y),
        "FairSmooth network": ours(LAYER, **grouped),
        "ExponentiatedGradient": lambda: ExponentiatedGradient(
            LogisticRegression(max_iter=1000), DemographicParity()
        ).fit(X, y, sensitive_features=groups),
    }


def measure(train: FairDataset, test: FairDataset, *, quick: bool) -> list[Row]:
    X_test, y_test = test.X.to_numpy(), test.y
    rows: list[Row] = []
    for name, fit in fits(train, epochs=2 if quick else 5).items():
        print(name, file=sys.stderr)
        models: list[Any] = []
        slow = name in ("ExponentiatedGradient", "MLPClassifier", "FairSmooth network")
        seconds = fastest(lambda: models.append(fit()), repeats=1 if slow or quick else 5)  # noqa: B023
        accuracy = float(np.mean(models[-1].predict(X_test) == y_test))
        rows.append({"model": name, "seconds": seconds, "accuracy": accuracy})
    parameters = np.random.default_rng(0).normal(size=(2, train.X.shape[1] + 1))
    seconds = fastest(lambda: certify(parameters, sigma=1.0), repeats=50)
    rows.append({"model": "certify alone", "seconds": seconds, "accuracy": float("nan")})
    return rows


def many_groups(*, quick: bool) -> list[Row]:
    """Train a network on rows in 2 and in 20 groups that no linear model can tell apart."""
    random = np.random.default_rng(0)
    n = 4000 if quick else 10_000
    X = random.normal(size=(n, 10))
    y = (X[:, 0] * X[:, 1] + 0.5 * X[:, 2] + 0.3 * random.normal(size=n) > 0).astype(int)
    rows: list[Row] = []
    for n_groups in (2, 20):
        groups = random.integers(0, n_groups, n)
        model = FairSmoothClassifier((32,), sigma=0.1, random_state=0, free_reference=False)
        seconds = fastest(partial(model.fit, X, y, sensitive_features=groups), repeats=1)
        accuracy = float(model.score(X, y))
        rows.append({"model": _many(n_groups), "seconds": seconds, "accuracy": accuracy})
    return rows


def _many(n_groups: int) -> str:
    return f"FairSmooth network, {n_groups} groups, synthetic"


def goals(rows: list[Row]) -> list[Goal]:
    seconds = {row["model"]: row["seconds"] for row in rows}
    accuracy = {row["model"]: row["accuracy"] for row in rows}
    ours, plain = seconds["FairSmooth"], seconds["LogisticRegression"]
    return [
        at_most("fit, times LogisticRegression", ours / plain, 4.0),
        at_least(
            "ExponentiatedGradient, times our fit", seconds["ExponentiatedGradient"] / ours, 10.0
        ),
        at_most(
            "accuracy below LogisticRegression at alpha 0.25",
            accuracy["LogisticRegression"] - accuracy["FairSmooth"],
            0.005,
        ),
        at_most(
            "network fit, times MLPClassifier",
            seconds["FairSmooth network"] / seconds["MLPClassifier"],
            5.0,
        ),
        at_most(
            "accuracy lost with 20 groups instead of 2",
            accuracy[_many(2)] - accuracy[_many(20)],
            0.02,
        ),
        at_most("certify, seconds", seconds["certify alone"], 0.01),
    ]


def main() -> None:
    options = arguments(__doc__).parse_args()
    # One thread for everybody: on a shared machine, threads that wait for each other cost
    # every model more than they bring, and not every model the same.
    threadpool_limits(1)
    torch.set_num_threads(1)
    warnings.simplefilter("ignore", ConvergenceWarning)
    train, test = load_adult(encoding="binned", sensitive="sex").split(random_state=0)
    rows = measure(train, test, quick=options.quick) + many_groups(quick=options.quick)
    for row in rows:
        row["accuracy"] = None if np.isnan(row["accuracy"]) else row["accuracy"]
    report(goals(rows), rows, as_json=options.json)


if __name__ == "__main__":
    main()
