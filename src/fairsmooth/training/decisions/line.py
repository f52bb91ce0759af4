r"""The exact best point of a line in the space of rules.

Along :math:`w + t v` a row's decision ``score > 0`` changes once, where its score is 0. Sorted by
these points, the positive decisions of every cell are running sums, so accuracy and gaps of all
rules on the line cost one sort.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairsmooth._types import Floats
from fairsmooth.training.decisions.limits import GapLimits

# Rules whose rows lie closer to the boundary than this share of the distance are not told apart.
_APART = 1e-9
_VISIBLE = 1e-5


@dataclass(frozen=True)
class Judge:
    """What a rule is judged by: correct rows, less a price for exceeding the limits.

    Attributes
    ----------
    limits : GapLimits
    cells : ndarray of shape (n,)
        ``2 * group + label`` of every row.
    """

    limits: GapLimits
    cells: NDArray[np.intp]

    def hits(self, decisions: NDArray[np.bool_]) -> Floats:
        """Return the positive decisions by group and label, shape (K, 2)."""
        shape = self.limits.counts.shape
        counted = np.bincount(self.cells[decisions], minlength=shape[0] * shape[1])
        return counted.reshape(shape).astype(np.float64)

    def merit(self, hits: Floats, price: float) -> Floats:
        """Return the share of correct rows, less ``price`` times the excess over the limits.

        Whatever exceeds a limit, be it by a rounding error, counts as exceeding it visibly.
        """
        share = self.limits.correct(hits) / len(self.cells)
        excess = self.limits.excess(hits)
        return np.asarray(share - price * np.where(excess > 0.0, excess + _VISIBLE, 0.0))


def best_step(
    judge: Judge, scores: Floats, slopes: Floats, *, price: float, within: float = np.inf
) -> tuple[float, float]:
    """Return the step along a line with the largest merit, and that merit.

    Parameters
    ----------
    judge : Judge
    scores, slopes : ndarray of shape (n,)
        Scores of the rows at step 0, and how fast each grows.
    price : float
        Of a unit of excess, in shares of correct rows.
    within : float
        The largest step, forward or back. Only rows whose decisions change are sorted.

    Examples
    --------
    >>> limits = GapLimits({"demographic_parity": 1.0}, np.array([[1.0, 1.0], [1.0, 1.0]]))
    >>> judge = Judge(limits, np.array([0, 1, 2, 3]))
    >>> best_step(judge, np.array([-2.0, 1.0, -3.0, 4.0]), np.ones(4), price=1.0)
    (0.5, 1.0)
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        every = -scores / slopes
    moving = np.flatnonzero((np.abs(every) < within) & (slopes != 0.0))
    order = np.argsort(every[moving], kind="stable")
    moving, points = moving[order], every[moving[order]]
    # At the start of the line all rows that it moves are still as they were, coming from there.
    decided = scores > 0.0
    decided[moving] = slopes[moving] < 0.0
    first = judge.hits(decided)
    changes = np.zeros((len(moving) + 1, first.size))
    changes[0] = first.ravel()
    changes[np.arange(1, len(moving) + 1), judge.cells[moving]] = np.sign(slopes[moving])
    merit = judge.merit(np.cumsum(changes, axis=0).reshape(-1, *first.shape), price)
    steps, apart = _between(points, within)
    merit[~apart] = -np.inf
    best = int(np.argmax(merit))
    return float(steps[best]), float(merit[best])


def _between(points: Floats, within: float) -> tuple[Floats, NDArray[np.bool_]]:
    """Return a step inside every interval of the sorted points, and which are wide enough."""
    if not np.isfinite(within):
        within = 1.0 + 2.0 * float(np.abs(points).max(initial=0.0))
    padded = np.concatenate([[-within], points, [within]])
    steps = (padded[1:] + padded[:-1]) / 2.0
    return steps, np.diff(padded) > _APART * (1.0 + np.abs(steps))
