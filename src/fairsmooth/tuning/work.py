"""One trial: a model per fold, judged on the rows it has not seen, until it is not worth it."""

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from sklearn.exceptions import ConvergenceWarning

from fairsmooth.estimator import FairSmoothClassifier
from fairsmooth.exceptions import ConstantRuleWarning, FairSmoothError, ParityWarning
from fairsmooth.tuning.folds import Fold
from fairsmooth.tuning.judged import FoldCounts, Judged
from fairsmooth.tuning.records import TrialRecord

Stop = Callable[[Judged], str | None]


def run_trial(
    folds: Sequence[Fold],
    parameters: Mapping[str, Any],
    *,
    number: int,
    point: Mapping[str, Any],
    seed: int,
    stop: Stop = lambda judged: None,
) -> TrialRecord:
    """Train and judge fold by fold; a trial that cannot be trained ends with the reason."""
    began = time.perf_counter()
    done: list[FoldCounts] = []
    converged, stopped = True, None
    while len(done) < len(folds) and stopped is None:
        try:
            counts, met = judge_fold(folds[len(done)], parameters, seed=seed)
        except FairSmoothError as error:
            stopped = f"it cannot be trained: {error}"
            break
        done.append(counts)
        converged = converged and met
        if len(done) < len(folds):
            stopped = stop(Judged(tuple(done)))
    seconds = time.perf_counter() - began
    return TrialRecord(number, point, seed, tuple(done), stopped, converged, seconds)


def run_alone(folds: Sequence[Fold], parameters: Mapping[str, Any], **options: Any) -> TrialRecord:
    """Do the same in a process of its own: one core each."""
    torch.set_num_threads(1)
    return run_trial(folds, parameters, **options)


def judge_fold(fold: Fold, parameters: Mapping[str, Any], *, seed: int) -> tuple[FoldCounts, bool]:
    """Train on one part, count decisions on the other; and whether training converged."""
    classifier = FairSmoothClassifier(**parameters, free_reference=False, random_state=seed)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", ConvergenceWarning)
        for told_by_what_is_judged in (ParityWarning, ConstantRuleWarning):
            warnings.simplefilter("ignore", told_by_what_is_judged)
        classifier.fit(fold.X, fold.y, sensitive_features=fold.codes)
        decided = classifier.predict(fold.X_judged)
    unmet = [each for each in told if issubclass(each.category, ConvergenceWarning)]
    for each in told:
        if each not in unmet:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
    epsilon = classifier.certificate_.epsilon
    counts = FoldCounts.of(decided, fold.y_judged, fold.groups_judged, epsilon)
    return counts, not unmet
