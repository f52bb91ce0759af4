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
        The weight of a single row, normalised within each of the two groups, 0 elsewhere.
    """

    value: float
    favoured: int
    other: int
    weights: Floats


class ConstraintPlayer:
    r"""Solves the linear programs of the constraint player in closed form.

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
    strata : ndarray of int, shape (n,)
        All 0 for demographic parity, the labels for equalized odds.
    codes : ndarray of int, shape (n,)
        The group of every row.
    multiplicity : ndarray of shape (n,), optional
        How many equal rows each one stands for; 1 by default.
    """

    def __init__(
        self,
        strata: NDArray[np.intp],
        codes: NDArray[np.intp],
        multiplicity: Floats | None = None,
    ) -> None:
        self._n_groups = int(codes.max()) + 1
        self._cells = strata * self._n_groups + codes
        self._multiplicity = np.ones(len(codes)) if multiplicity is None else multiplicity
        self._size = (int(strata.max()) + 1) * self._n_groups
        self._counts = self._by_cell(np.ones(len(codes), dtype=bool))

    def respond(self, decisions: NDArray[np.bool_]) -> Response:
        """Return the weights under which decisions, shape (n,), treat two groups least alike.

        Of all ordered pairs the one with the largest value is taken; among those, with
        the largest gap under equal weights.
        """
        positives = self._by_cell(decisions)
        pairs = permutations(range(self._n_groups), 2)
        value, _, favoured, other = max(
            ((*self._gaps(positives, p, q), p, q) for p, q in pairs), key=lambda found: found[:2]
        )
        each = np.zeros((2, *self._counts.shape))
        self._spread(each, positives, favoured, upward=True)
        self._spread(each, positives, other, upward=False)
        weights = each.ravel()[self._cells + self._size * decisions]
        return Response(value, favoured, other, weights)

    def _by_cell(self, chosen: NDArray[np.bool_]) -> Floats:
        """Count the chosen rows by stratum and group."""
        counts = np.bincount(self._cells, self._multiplicity * chosen, minlength=self._size)
        return np.asarray(counts.reshape(-1, self._n_groups))

    def _gaps(self, positives: Floats, p: int, q: int) -> tuple[float, float]:
        """Return the pair's gap under the worst weights and under equal ones."""
        highest = positives[:, p] > 0
        lowest = positives[:, q] == self._counts[:, q]
        rates = positives / self._counts
        return float((highest * 1.0 - lowest).sum()), float((rates[:, p] - rates[:, q]).sum())

    def _spread(self, each: Floats, positives: Floats, group: int, *, upward: bool) -> None:
        """Give each cell's mass evenly to its rows that go the wanted way, or to all.

        ``each`` takes the weight of a row by decision, stratum and group.
        """
        counts = self._counts[:, group]
        wanted = positives[:, group] if upward else counts - positives[:, group]
        carriers = np.where(wanted > 0, wanted, counts)
        share = counts / counts.sum() / carriers
        each[int(upward), :, group] = share
        each[int(not upward), :, group] = np.where(wanted > 0, 0.0, share)
