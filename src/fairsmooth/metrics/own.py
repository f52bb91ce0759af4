"""Rows beside the groups' own classifiers, a few thousand rows at a time.

An audit looks at every row through every group's own classifier. What it keeps of that is one
score per row, that of the row's own group, and three numbers per group: memory does not grow
with rows times groups.
"""

from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from fairsmooth._types import Floats
from fairsmooth.core.rows import Rows
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

    def add(self, differences: Floats) -> "Distances":
        """Take further rows into account."""
        sizes = np.abs(differences)
        return Distances(
            self.n_rows + len(sizes),
            self.total + float(sizes.sum()),
            self.squares + float(np.square(sizes).sum()),
            max(self.largest, float(sizes.max(initial=0.0))),
        )

    def norms(self) -> dict[str, float]:
        """Return mean, root mean square and largest; NaN over no rows."""
        if not self.n_rows:
            return dict.fromkeys(("l1", "l2", "linf"), float("nan"))
        mean_square = self.squares / self.n_rows
        return {"l1": self.total / self.n_rows, "l2": mean_square**0.5, "linf": self.largest}


@dataclass(frozen=True, eq=False)
class OwnRows:
    """Overall scores, those of each row's own group, whether decisions agree, and distances."""

    scores: Floats
    own_scores: Floats
    agreed: Bools
    distances: tuple[Distances, ...]


def own_rows(clf: Any, X: Any, groups: Groups) -> OwnRows:
    """Score rows by a certified classifier and by all groups' own."""
    n_rows = len(groups.codes)
    scores, own = np.empty(n_rows), np.empty(n_rows)
    agreed = np.empty(n_rows, dtype=bool)
    distances = [Distances()] * len(groups.labels)
    for start in range(0, n_rows, PIECE_ROWS):
        some = slice(start, min(start + PIECE_ROWS, n_rows))
        whole = some.stop - some.start == n_rows
        rows, codes = X if whole else take(X, some), groups.codes[some]
        scores[some], intervals = _scores_and_intervals(clf, rows)
        agreed[some] = _agreed(intervals[np.arange(len(codes)), codes], float(clf.threshold_))
        for code, group in enumerate(groups.labels):
            found = np.asarray(clf.predict_proba_group(rows, group), dtype=np.float64)[:, 1]
            distances[code] = distances[code].add(scores[some] - found)
            members = np.flatnonzero(codes == code)
            own[start + members] = found[members]
    return OwnRows(scores, own, agreed, tuple(distances))


def take(X: Any, rows: NDArray[np.intp] | slice) -> Any:
    """Return some rows of a frame, an array, or rows in a compact form."""
    if isinstance(X, Rows) or issparse(X):
        return X[rows]
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return frame[rows].to_native() if isinstance(frame, nw.DataFrame) else np.asarray(X)[rows]


def _scores_and_intervals(clf: Any, X: Any) -> tuple[Floats, Floats]:
    # One pass over the rows where the classifier offers it, for each smooths anew.
    if hasattr(clf, "predict_with_interval"):
        scores, intervals = clf.predict_with_interval(X)
        return np.asarray(scores, dtype=np.float64), intervals
    scores = np.asarray(clf.predict_proba(X), dtype=np.float64)[:, 1]
    return scores, clf.predict_interval(X)


def _agreed(ends: Floats, threshold: float) -> Bools:
    """Return where a group's own score is proved to be on the same side of the threshold.

    ``ends`` (n, 2) are certified intervals that allow for the error of the scores.
    """
    return np.asarray((ends[:, 0] > threshold) | (ends[:, 1] <= threshold))
