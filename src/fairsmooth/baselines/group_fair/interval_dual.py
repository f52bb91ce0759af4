"""Group-Fair's problem for one interval of rates: terms, dual, and two ways to solve it."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from fairsmooth._types import Floats

RATES = ("demographic_parity", "equal_opportunity", "false_positive_rate")


@dataclass(frozen=True)
class GroupTerms:
    r"""What a rule's score is made of, row by row.

    Attributes
    ----------
    base : ndarray of shape (n,)
        :math:`P(y=1 \mid x) - 1/2`.
    part, whole : ndarray of shape (n, K)
        A group's rate under a rule :math:`h` is :math:`E[h\,\text{part}_k] /
        E[h\,\text{whole}_k]`; for rates whose denominator does not depend on
        the rule ``part`` is divided by it already and ``whole`` is None.
    """

    base: Floats
    part: Floats
    whole: Floats | None

    def columns(self, low: float, high: float) -> tuple[Floats, Floats]:
        """Return the columns of the 2K multipliers, shape (n, 2K), and their cost, (2K,).

        The first K multipliers belong to "rate at least ``low``", the others to
        "rate at most ``high``".
        """
        n_groups = self.part.shape[1]
        if self.whole is None:
            columns = np.column_stack([self.part, -self.part])
            return columns, np.repeat([-low, high], n_groups)
        above, below = self.part - low * self.whole, high * self.whole - self.part
        return np.column_stack([above, below]), np.zeros(2 * n_groups)


def group_terms(cells: Floats, masses: Floats, notion: str) -> GroupTerms:
    """Build the terms of a notion from P(y, z | x), shape (n, 2, K), and P(y, z), (2, K)."""
    base = cells[:, 1].sum(axis=1) - 0.5
    if notion == "false_discovery_rate":
        return GroupTerms(base, cells[:, 0], cells.sum(axis=1))
    if notion == "demographic_parity":
        return GroupTerms(base, cells.sum(axis=1) / masses.sum(axis=0), None)
    label = 1 if notion == "equal_opportunity" else 0
    return GroupTerms(base, cells[:, label] / masses[label], None)


def solve_dual(
    base: Floats, columns: Floats, cost: Floats, *, smoothing: float, start: Floats | None = None
) -> Floats:
    r"""Minimise the dual of accuracy under an interval constraint for every group.

    .. math:: \min_{m \ge 0} \; E_x [s_m(x)]_+ + c \cdot m, \qquad s_m = \text{base} +
              \text{columns} \cdot m,

    with the positive part smoothed to :math:`(s + \sqrt{s^2 + \delta^2})/2`: convex
    and smooth, one solve by L-BFGS under bounds. The optimal rule is
    :math:`1[s_m > 0]`.

    Parameters
    ----------
    base, columns, cost : ndarray
        Of shapes (n,), (n, M) and (M,).
    smoothing : float
        The :math:`\delta` above.
    start : ndarray of shape (M,), optional
        Where to start; 0 by default.

    Returns
    -------
    ndarray of shape (M,)
    """
    # A small group's columns are large; equal scales keep the solver from creeping.
    scale = np.sqrt(np.mean(columns**2, axis=0))
    even, even_cost = columns / scale, cost / scale

    def value_and_gradient(multipliers: Floats) -> tuple[float, Floats]:
        score = base + even @ multipliers
        root = np.sqrt(score**2 + smoothing**2)
        value = 0.5 * np.mean(score + root) + even_cost @ multipliers
        return float(value), (0.5 + 0.5 * score / root) @ even / len(score) + even_cost

    first = np.zeros(len(cost)) if start is None else start * scale
    options = {"gtol": 1e-6, "ftol": 1e-12, "maxiter": 1000}
    bounds = [(0.0, None)] * len(cost)
    result = minimize(
        value_and_gradient, first, jac=True, method="L-BFGS-B", bounds=bounds, options=options
    )
    return np.asarray(result.x / scale, dtype=np.float64)


def descend_dual(
    terms: GroupTerms, low: float, high: float, *, smoothing: float, step: float
) -> Floats:
    r"""Follow the authors' code: few steps from nine starts on :math:`E_x |s|`.

    49 gradient steps of size ``step / k``. Of the start that met the lowest
    value the *last* iterate is returned, as the authors' code does.
    """
    signed = terms.whole is None
    columns, _ = terms.columns(low, high)
    n_groups = terms.part.shape[1]
    columns = columns[:, :n_groups] if signed else columns
    lowest, kept = np.inf, np.zeros(columns.shape[1])
    for start in range(1, 10):
        multipliers = np.full(columns.shape[1], start - 5.0 if signed else float(start))
        seen = np.inf
        for k in range(1, 50):
            score = terms.base + columns @ multipliers
            gradient = columns.T @ (score / np.hypot(score, smoothing)) / len(score)
            if signed:
                bend = multipliers / np.hypot(multipliers, smoothing)
                gradient += 0.5 * (high - low) * (1.0 + bend) - high
            multipliers = multipliers - step / k * gradient
            value = np.abs(terms.base + columns @ multipliers).mean()
            if signed:
                value += np.maximum(-low * multipliers, -high * multipliers).sum()
            seen = min(seen, value)
        if seen < lowest:
            lowest, kept = seen, multipliers
    return _two_sided(kept) if signed else kept


def _two_sided(multipliers: Floats) -> Floats:
    return np.concatenate([np.maximum(multipliers, 0.0), np.maximum(-multipliers, 0.0)])
