"""What forecasts, rule and certificate take on Adult, beside one logistic regression."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from _report import Row
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from fairsmooth.experiments.beyond.tradeoff import LIMITS
from fairsmooth.experiments.run.columns import binned, forecasts
from fairsmooth.experiments.run.data import whole
from fairsmooth.experiments.run.tradeoff import limits_of
from fairsmooth.experiments.run.tradeoff_candidates import entrants

CASE = "adult-sex"
REPEATS = 3


def time_row() -> Row:
    """Time everything on the training part of a development split, in CPU seconds of one thread.

    The logistic regression sees the table in ten intervals per number.
    """
    train, _ = whole(CASE, "raw", None).split(random_state=0)
    encoded, _ = binned(train, 0)
    ours = next(iter(entrants(told=False)))
    rule = ours.candidates("adult", limits_of(tuple(LIMITS[CASE].items())), False)[0]

    def all_of_it() -> None:
        own, _ = forecasts(train, 0)
        rule.fit(replace(train, X=own), 0)

    with threadpool_limits(limits=1):
        logistic = min(
            seconds_of(lambda: LogisticRegression(max_iter=1000).fit(encoded, train.y))[0]
            for _ in range(REPEATS)
        )
        total, boosting = min(
            (seconds_of(all_of_it) for _ in range(REPEATS)), key=lambda each: each[0] - each[1]
        )
    return {
        "setting": "adult sex",
        "cpu_seconds": round(total, 3),
        "boosting_cpu_seconds": round(boosting, 3),
        "logistic_cpu_seconds": round(logistic, 3),
        "times_logistic": round((total - boosting) / logistic, 2),
    }


def seconds_of(action: Callable[[], Any]) -> tuple[float, float]:
    """Return the CPU seconds of an action, and those of them within fits of boosted trees."""
    began = time.process_time()
    with boosting_seconds() as spent:
        action()
    return time.process_time() - began, sum(spent)


@contextmanager
def boosting_seconds() -> Iterator[list[float]]:
    """Collect the CPU seconds of every fit of scikit-learn's boosting."""
    spent: list[float] = []
    fit: Any = HistGradientBoostingClassifier.fit

    def timed(self: Any, *given: Any, **options: Any) -> Any:
        began = time.process_time()
        try:
            return fit(self, *given, **options)
        finally:
            spent.append(time.process_time() - began)

    HistGradientBoostingClassifier.fit = timed
    try:
        yield spent
    finally:
        HistGradientBoostingClassifier.fit = fit
