"""Time and accuracy of linear FairSmooth on Adult, beside the models users know.

All in one run and on the same matrix: scikit-learn's LogisticRegression and fairlearn's
ExponentiatedGradient around it. Each time is the least of several repetitions, because
other work on the machine can only add to it.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from _report import Goal, Result, main, note
from fairlearn.reductions import DemographicParity, ExponentiatedGradient
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from fairsmooth import FairSmoothClassifier, certify
from fairsmooth.datasets import load_adult


def least_seconds(work: Callable[[], Any], repetitions: int) -> tuple[float, Any]:
    best, result = float("inf"), None
    for _ in range(repetitions):
        began = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - began)
    return best, result


def measure(arguments: argparse.Namespace) -> Result:
    warnings.simplefilter("ignore", ConvergenceWarning)
    train, test = load_adult(encoding="binned", sensitive="sex").split(random_state=0)
    X, y, groups = train.X.to_numpy(), train.y, train.sensitive_features
    X_test, y_test = test.X.to_numpy(), test.y
    repetitions = 2 if arguments.quick else 5
    fits: dict[str, Callable[[], Any]] = {
        "LogisticRegression": lambda: LogisticRegression(max_iter=1000).fit(X, y),
        "FairSmooth": lambda: FairSmoothClassifier().fit(X, y, sensitive_features=groups),
        "FairSmooth, no free reference": lambda: FairSmoothClassifier(free_reference=False).fit(
            X, y, sensitive_features=groups
        ),
        "FairSmooth, probit": lambda: FairSmoothClassifier(link="probit").fit(
            X, y, sensitive_features=groups
        ),
    }
    rows, seconds, accuracy = [], {}, {}
    for name, fit in fits.items():
        note(name)
        seconds[name], model = least_seconds(fit, repetitions)
        accuracy[name] = float(np.mean(model.predict(X_test) == y_test))
        rows.append({"model": name, "seconds": seconds[name], "accuracy": accuracy[name]})
    note("ExponentiatedGradient")
    reduction = ExponentiatedGradient(LogisticRegression(max_iter=1000), DemographicParity())
    name = "ExponentiatedGradient"
    seconds[name], _ = least_seconds(
        lambda: reduction.fit(X, y, sensitive_features=groups), 1 if arguments.quick else 2
    )
    rows.append({"model": name, "seconds": seconds[name], "accuracy": None})
    parameters = model.group_parameters_
    seconds["certify"], _ = least_seconds(lambda: certify(parameters, sigma=1.0), 50)
    rows.append({"model": "certify", "seconds": seconds["certify"], "accuracy": None})
    return Result(goals(seconds, accuracy), rows)


def goals(seconds: dict[str, float], accuracy: dict[str, float]) -> list[Goal]:
    ours, plain = seconds["FairSmooth"], seconds["LogisticRegression"]
    loss = accuracy["LogisticRegression"] - accuracy["FairSmooth"]
    return [
        Goal("fit, times LogisticRegression", ours / plain, 4.0, "<="),
        Goal(
            "ExponentiatedGradient, times our fit",
            seconds["ExponentiatedGradient"] / ours,
            10.0,
            ">=",
        ),
        Goal("accuracy below LogisticRegression at alpha 0.25", loss, 0.005, "<="),
        Goal("certify, seconds", seconds["certify"], 0.01, "<="),
    ]


if __name__ == "__main__":
    main(__doc__, measure)
