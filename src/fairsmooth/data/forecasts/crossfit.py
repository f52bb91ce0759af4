"""Forecasts of training rows by forests that have not seen them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fairsmooth._random import numpy_generator
from fairsmooth._types import Floats
from fairsmooth.data.forecasts.boosting import Boosting, Classes, boost
from fairsmooth.data.forecasts.forest import Forest, Levels, to_probabilities

Folds = NDArray[np.intp]


@dataclass(frozen=True)
class Task:
    """What is forecast: a class of every row from its levels."""

    levels: Levels
    classes: Classes
    n_classes: int


@dataclass(frozen=True)
class CrossFitted:
    """The forests of all folds after the number of rounds that forecast unseen rows best.

    Attributes
    ----------
    forests : tuple of Forest
        By fold; each has not seen the rows of its fold.
    n_rounds : int
    log_loss : float
        Of the forecasts of unseen rows, after these rounds.
    """

    forests: tuple[Forest, ...]
    n_rounds: int
    log_loss: float

    def probabilities(self, levels: Levels, folds: Folds) -> Floats:
        """Forecast every row by the forest that has not seen its fold."""
        found = np.zeros((len(levels), self.forests[0].n_classes))
        for fold, forest in enumerate(self.forests):
            found[folds == fold] = forest.probabilities(levels[folds == fold])
        return found


def deal(cells: Classes, n_folds: int, *, seed: int) -> Folds:
    """Deal the rows of every cell to the folds in turn, so that each has its share of all.

    Dealing goes on from cell to cell where the last one ended, so folds differ by one row.
    """
    order = numpy_generator(seed, "forecasts", "folds").permutation(len(cells))
    order = order[np.argsort(cells[order], kind="stable")]
    folds = np.empty(len(cells), dtype=np.intp)
    folds[order] = np.arange(len(cells)) % n_folds
    return folds


def cross_fit(task: Task, folds: Folds, how: Boosting) -> CrossFitted:
    """Grow one forest per fold on the other folds, and choose the number of rounds.

    The number is common to all folds, chosen by the log loss over all rows, each by the forest
    that has not seen it: one number from n rows, so what it flatters is next to nothing.
    """
    forests, losses = [], np.zeros(how.rounds)
    for fold in range(int(folds.max()) + 1):
        unseen = folds == fold
        forest = boost(task.levels[~unseen], task.classes[~unseen], task.n_classes, how)
        losses += staged_log_loss(forest, task.levels[unseen], task.classes[unseen], how.rounds)
        forests.append(forest)
    n_rounds = int(np.argmin(losses)) + 1
    kept = tuple(forest.first(n_rounds) for forest in forests)
    return CrossFitted(kept, n_rounds, float(losses[n_rounds - 1] / len(folds)))


def refit(task: Task, fitted: CrossFitted, how: Boosting) -> Forest:
    """Grow the forest for new rows on all training rows, with the rounds that were chosen."""
    return boost(task.levels, task.classes, task.n_classes, replace(how, rounds=fitted.n_rounds))


def staged_log_loss(forest: Forest, levels: Levels, classes: Classes, n_rounds: int) -> Floats:
    """Return the summed log loss after every round; a forest with fewer ends as it is."""
    scores = np.tile(forest.baseline, (len(levels), 1))
    losses: list[float] = []
    for values in forest.rounds(levels):
        scores += values
        losses.append(_log_loss(scores, classes))
    last: Sequence[float] = [losses[-1]] * (n_rounds - len(losses))
    return np.array([*losses, *last])


def _log_loss(scores: Floats, classes: Classes) -> float:
    own = to_probabilities(scores)[np.arange(len(classes)), classes]
    return float(-np.log(np.maximum(own, np.finfo(np.float64).tiny)).sum())
