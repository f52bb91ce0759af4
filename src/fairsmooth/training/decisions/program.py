r"""The best randomised rule of a few cells within limits on gaps: a linear program.

Accuracy and every gap are linear in the chance :math:`d_c` of a positive decision in cell ``c``.
So the most accurate rule within the limits solves a linear program, and by duality it is

.. math:: d(x) = 1\Big[\sum_{a,y} v_{ay}\, P(A = a, Y = y \mid x) > 0\Big]

up to ties: one value :math:`v_{ay}` for a positive decision on a row of group ``a`` and label
``y``, its gain in accuracy less the price of every gap that it widens.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from fairsmooth._types import Floats
from fairsmooth.exceptions import InputError
from fairsmooth.training.decisions.limits import RATE_LABELS, RATES_OF

_INTERVAL = (0.0, 1.0)


@dataclass(frozen=True, eq=False)
class Program:
    """The solution of a linear program over cells.

    Attributes
    ----------
    chances : ndarray of shape (C,)
        Chance of a positive decision in every cell; fractional in a few at most.
    values : ndarray of shape (K, 2)
        What a positive decision on a row of each group and label is worth, in rows.
    accuracy : float
        Of the rule, as a share of the masses.
    """

    chances: Floats
    values: Floats
    accuracy: float


def solve_program(masses: Floats, limits: Mapping[str, float]) -> Program:
    """Return the most accurate rule of cells within limits on the gaps between groups.

    Parameters
    ----------
    masses : ndarray of shape (C, K, 2)
        Rows of each cell by group and label, counted or expected.
    limits : mapping
        As in :class:`~fairsmooth.training.decisions.limits.GapLimits`.

    Examples
    --------
    >>> masses = np.array([[[1.0, 3.0], [0.0, 0.0]], [[0.0, 0.0], [3.0, 1.0]]])
    >>> solve_program(masses, {"demographic_parity": 1.0}).accuracy
    0.75
    >>> solve_program(masses, {"demographic_parity": 0.0}).accuracy
    0.5
    """
    totals = masses.sum(axis=0)
    gain = (masses[..., 1] - masses[..., 0]).sum(axis=1)
    rates = linear_rates(np.moveaxis(masses, 0, -1), totals)
    constraints = Constraints.of(rates, limits)
    solved = linprog(
        -np.concatenate([gain, np.zeros(constraints.n_ends)]),
        A_ub=constraints.matrix,
        b_ub=constraints.right,
        bounds=_INTERVAL,
        method="highs",
    )
    if solved.status != 0:  # a constant rule keeps every limit that can be kept
        raise InputError(f"Expected limits that a constant rule keeps, got {dict(limits)}.")
    # One value per row of the table of rates, times what a positive decision adds to that rate.
    values = np.array([[-1.0, 1.0]] * len(totals))
    for name, price in constraints.prices(solved.ineqlin.marginals).items():
        groups, labels = rates[name].groups, RATE_LABELS[name]
        for label in labels:
            values[groups, label] += price / rates[name].sizes
    accuracy = (totals[:, 0].sum() - solved.fun) / totals.sum()
    return Program(np.asarray(solved.x[: len(masses)]), values, float(accuracy))


@dataclass(frozen=True, eq=False)
class LinearRate:
    """A rate of every group that has one, as a linear function of the unknowns.

    Attributes
    ----------
    slopes : ndarray of shape (G, p)
    constants : ndarray of shape (G,)
    groups, sizes : ndarray of shape (G,)
        Which groups, and the rows in their denominators.
    """

    slopes: Floats
    constants: Floats
    groups: NDArray[np.intp]
    sizes: Floats


def linear_rates(
    slopes: Floats, counts: Floats, hits: Floats | None = None
) -> dict[str, LinearRate]:
    """Return the three rates where positive decisions are ``hits + slopes @ unknowns``.

    ``slopes`` has shape (K, 2, p), ``counts`` and ``hits`` (0 if left out) have shape (K, 2).
    """
    hits = np.zeros_like(counts) if hits is None else hits
    rates = {}
    for name, labels in RATE_LABELS.items():
        sizes = counts[:, labels].sum(axis=1)
        groups = np.flatnonzero(sizes > 0)
        size = sizes[groups]
        rates[name] = LinearRate(
            slopes[groups][:, labels].sum(axis=1) / size[:, None],
            hits[groups][:, labels].sum(axis=1) / size,
            groups,
            size,
        )
    return rates


@dataclass(frozen=True, eq=False)
class Constraints:
    """Limits on gaps as ``matrix @ (unknowns, ends) <= right``.

    The ends are the smallest and the largest value of every rate that is limited: each group's
    rate lies between them, and limits are on the distances between ends.
    """

    matrix: Floats
    right: Floats
    names: tuple[str, ...]
    rates: Mapping[str, LinearRate]
    n_limits: int

    @property
    def n_ends(self) -> int:
        """Number of further unknowns, which follow the others."""
        return 2 * len(self.names)

    @classmethod
    def of(cls, rates: Mapping[str, LinearRate], limits: Mapping[str, float]) -> "Constraints":
        """Write the limits down."""
        rows = [(pair, name, limit) for name, limit in limits.items() for pair in RATES_OF[name]]
        names = tuple(name for name in rates if any(name in pair for pair, _, _ in rows))
        n_unknowns = next(iter(rates.values())).slopes.shape[1]
        blocks, right = [], []
        for position, name in enumerate(names):
            for sign, end in ((1.0, 1), (-1.0, 0)):  # rate <= largest, -rate <= -smallest
                block = np.zeros((len(rates[name].slopes), n_unknowns + 2 * len(names)))
                block[:, :n_unknowns] = sign * rates[name].slopes
                block[:, n_unknowns + 2 * position + end] = -sign
                blocks.append(block)
                right.append(-sign * rates[name].constants)
        ends = np.zeros((len(rows), n_unknowns + 2 * len(names)))
        bounds = np.zeros(len(rows))
        for row, (pair, quantity, limit) in enumerate(rows):
            ratio = quantity == "impact_ratio"
            bounds[row] = 0.0 if ratio else limit
            for name in pair:
                first = n_unknowns + 2 * names.index(name)
                ends[row, first : first + 2] = (-1.0, limit) if ratio else (-1.0, 1.0)
        return cls(
            np.concatenate([*blocks, ends]),
            np.concatenate([*right, bounds]),
            names,
            rates,
            len(rows),
        )

    def prices(self, marginals: Floats) -> dict[str, Floats]:
        """Return what a unit of every group's rate costs, from the marginals of the rows."""
        prices, start = {}, 0
        for name in self.names:
            count = len(self.rates[name].slopes)
            upper, lower = marginals[start : start + 2 * count].reshape(2, count)
            prices[name] = upper - lower
            start += 2 * count
        return prices
