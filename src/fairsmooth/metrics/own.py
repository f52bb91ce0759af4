"""Rows beside the groups' own classifiers, a few thousand rows at a time.

An audit looks at every row through every group's own classifier. What it keeps of that is one
score per row, that of the row's own group, and three numbers per group: memory does not grow
with rows times groups. A classifier with a rule scores rows by all groups together.
"""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from fairsmooth._types import Floats, Labels
from fairsmooth.core.rows import Rows
from fairsmooth.core.rule_holder import RuleHolder
from fairsmooth.data.groups import Groups

Bools = NDArray[np.bool_]
# Rows at once: a whole multiple of those that smoothing works on.
PIECE_ROWS = 4 * 4096


@dataclass(frozen=True)
class Distances:
    """Sizes of differences between two scores, added up over rows.

    Attributes
    ----------
    n_rows : int
    total, squares, largest : float
        Their sum, the sum of their squares, and the largest.
    """

    n_rows: int = 0
    total: float = 0.0
    squares: float = 0.0
    largest: float = 0.0

    def norms(self) -> dict[str, float]:
        """Return mean, root mean square and largest; NaN over no rows."""
        if not self.n_rows:
            return dict.fromkeys(("l1", "l2", "linf"), float("nan"))
        mean_square = self.squares / self.n_rows
        return {"l1": self.total / self.n_rows, "l2": mean_square**0.5, "linf": self.largest}


class DistanceSums:
    """The distances of several groups, added up a part of rows times groups at a time."""

    def __init__(self, n_groups: int) -> None:
        self._n_rows = np.zeros(n_groups, dtype=np.int64)
        self._total, self._squares, self._largest = np.zeros((3, n_groups))

    def add(self, differences: Floats, groups: slice) -> None:
        """Take differences of further rows and of some groups into account, one column each."""
        sizes = np.abs(differences)
        self._n_rows[groups] += len(sizes)
        self._total[groups] += sizes.sum(axis=0)
        self._largest[groups] = np.maximum(self._largest[groups], sizes.max(axis=0, initial=0.0))
        self._squares[groups] += np.square(sizes, out=sizes).sum(axis=0)

    def by_group(self) -> tuple[Distances, ...]:
        """Return what was added up of every group."""
        sums = self._n_rows, self._total, self._squares, self._largest
        return tuple(Distances(*each) for each in zip(*(s.tolist() for s in sums), strict=True))


@dataclass(frozen=True, eq=False)
class OwnRows:
    """Overall scores, those of each row's own group, whether decisions agree, and distances."""

    scores: Floats
    own_scores: Floats
    agreed: Bools
    distances: tuple[Distances, ...]


def own_rows(clf: Any, X: Any, groups: Groups) -> OwnRows:
    """Score rows by a certified classifier and by all groups' own."""
    n_rows, threshold = len(groups.codes), float(clf.threshold_)
    scores, own = np.empty(n_rows), np.empty(n_rows)
    agreed = np.empty(n_rows, dtype=bool)
    sums = DistanceSums(len(groups.labels))
    same = np.array([clf.certificate_.distances[group] == 0.0 for group in groups.labels])
    for start in range(0, n_rows, PIECE_ROWS):
        piece = slice(start, min(start + PIECE_ROWS, n_rows))
        whole = piece.stop - piece.start == n_rows
        rows, codes = X if whole else take(X, piece), groups.codes[piece]
        scores[piece], ends = _scores_and_own_intervals(clf, rows, codes)
        agreed[piece] = _agreed(ends, threshold)
        for some, which, found in _scores_by_group(clf, rows, groups.labels):
            overall, mine = scores[piece][some, None], codes[some]
            # With the parameters of the overall classifier scores are its own to the last digit.
            found = np.where(same[which], overall, found) if same[which].any() else found
            sums.add(overall - found, which)
            here = np.flatnonzero((mine >= which.start) & (mine < which.stop))
            own[piece][some][here] = found[here, mine[here] - which.start]
    return OwnRows(scores, own, agreed, sums.by_group())


def free_scores(clf: Any, X: Any, groups: Groups) -> Floats:
    """Return the score of each row by its group's classifier trained without the tie."""
    if isinstance(clf, RuleHolder):
        return clf.free_scores(X, groups.codes)
    found = np.empty(len(groups.codes))
    for group, rows in zip(groups.labels, groups.rows(), strict=True):
        if len(rows):
            found[rows] = np.asarray(clf.predict_proba_free(take(X, rows), group))[:, 1]
    return found


def take(X: Any, rows: NDArray[np.intp] | slice) -> Any:
    """Return some rows of a frame, an array, or rows in a compact form."""
    if isinstance(X, Rows) or issparse(X):
        return X[rows]
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return frame[rows].to_native() if isinstance(frame, nw.DataFrame) else np.asarray(X)[rows]


def _scores_and_own_intervals(clf: Any, X: Any, codes: Labels) -> tuple[Floats, Floats]:
    # One pass over the rows where the classifier offers it, for each smooths anew.
    if isinstance(clf, RuleHolder):
        return clf.predict_with_own_interval(X, codes)
    if hasattr(clf, "predict_with_interval"):
        scores, intervals = clf.predict_with_interval(X)
        return np.asarray(scores, dtype=np.float64), intervals[np.arange(len(codes)), codes]
    scores = np.asarray(clf.predict_proba(X), dtype=np.float64)[:, 1]
    return scores, clf.predict_interval(X)[np.arange(len(codes)), codes]


def _scores_by_group(
    clf: Any, X: Any, groups: tuple[Hashable, ...]
) -> Iterator[tuple[slice, slice, Floats]]:
    """Yield rows, groups, and the scores of these rows by the groups' own classifiers."""
    if isinstance(clf, RuleHolder):
        yield from clf.scores_by_group(X)
        return
    for code, group in enumerate(groups):
        found = np.asarray(clf.predict_proba_group(X, group), dtype=np.float64)[:, 1]
        yield slice(0, len(found)), slice(code, code + 1), found[:, None]


def _agreed(ends: Floats, threshold: float) -> Bools:
    """Return where a group's own score is proved to be on the same side of the threshold.

    ``ends`` (n, 2) are certified intervals that allow for the error of the scores.
    """
    return np.asarray((ends[:, 0] > threshold) | (ends[:, 1] <= threshold))
