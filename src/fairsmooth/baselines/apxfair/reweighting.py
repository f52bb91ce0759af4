"""The reweighting of a sample under which a rule's groups are treated least alike."""

from itertools import permutations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairsmooth._types import Floats


class Response(NamedTuple):
    """The reweighting that makes a decision rule look least fair.

    Attributes
    ----------
    value : float
        The gap under it: the optimum of the linear program.
    favoured, other : int
        The groups whose rates are compared, the higher rate first.
    weights : ndarray of shape (n,)
        The reweighting, normalised within each of the two groups, 0 elsewhere.
    """

    value: float
    favoured: int
    other: int
    weights: Floats


def best_response(
    decisions: NDArray[np.bool_], strata: NDArray[np.intp], codes: NDArray[np.intp]
) -> Response:
    r"""Solve the linear programs of the constraint player in closed form.

    For an ordered pair of groups :math:`(p, q)` the program asks for weights
    :math:`w \ge 0`, of given mass in every cell of stratum and group, that
    maximise

    .. math:: \sum_s \Bigl( \frac{\sum_{i \in (s,p)} w_i h_i}{\pi_{sp}}
              - \frac{\sum_{i \in (s,q)} w_i h_i}{\pi_{sq}} \Bigr).

    All mass of a cell goes to one decision, so the value is :math:`\sum_s
    (\max_{(s,p)} h - \min_{(s,q)} h)`, whatever the masses. Of the optimal
    weights the ones in the centre are returned: even over the rows that carry
    the optimum, as an interior-point solver finds them.

    Parameters
    ----------
    decisions : ndarray of bool, shape (n,)
        The rule's decision :math:`h_i` in every row.
    strata : ndarray of int, shape (n,)
        All 0 for demographic parity, the labels for equalized odds.
    codes : ndarray of int, shape (n,)
        The group of every row.

    Returns
    -------
    Response
        Of the pair with the largest value; among those, with the largest gap
        under equal weights.
    """
    cells = _Cells(decisions, strata, codes)
    pairs = permutations(range(cells.counts.shape[1]), 2)
    value, _, favoured, other = max(
        ((*cells.gaps(p, q), p, q) for p, q in pairs), key=lambda found: found[:2]
    )
    weights = cells.spread(favoured, upward=True) + cells.spread(other, upward=False)
    return Response(value, favoured, other, weights)


class _Cells:
    """Counts of rows and of positive decisions by stratum and group."""

    def __init__(
        self, decisions: NDArray[np.bool_], strata: NDArray[np.intp], codes: NDArray[np.intp]
    ) -> None:
        self.decisions, self.codes = decisions, codes
        self.cells = strata * (codes.max() + 1) + codes
        shape = (int(strata.max()) + 1, int(codes.max()) + 1)
        size = shape[0] * shape[1]
        self.counts = np.bincount(self.cells, minlength=size).reshape(shape)
        self.positives = np.bincount(self.cells, decisions, minlength=size).reshape(shape)

    def gaps(self, p: int, q: int) -> tuple[float, float]:
        """Return the pair's gap under the worst weights and under equal ones."""
        highest = self.positives[:, p] > 0
        lowest = self.positives[:, q] == self.counts[:, q]
        rates = self.positives / self.counts
        return float((highest * 1.0 - lowest).sum()), float((rates[:, p] - rates[:, q]).sum())

    def spread(self, group: int, *, upward: bool) -> Floats:
        """Spread each cell's mass evenly over its rows that go the wanted way, or over all."""
        wanted = self.positives if upward else self.counts - self.positives
        carriers = np.where(wanted > 0, wanted, self.counts).ravel()
        mass = (self.counts / self.counts[:, [group]].sum()).ravel()
        fits = (self.decisions == upward) | (wanted.ravel() == 0)[self.cells]
        each = (mass / carriers)[self.cells]
        return np.where(fits & (self.codes == group), each, 0.0)
