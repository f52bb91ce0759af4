"""DLR's fairness constraints on linear rules: denoised group rates and their slopes."""

from dataclasses import dataclass
from itertools import permutations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.special import expit

from fairsmooth._types import Floats
from fairsmooth.baselines.dlr.counted_rows import CountedRows
from fairsmooth.exceptions import InputError


def noise_matrix(noise: ArrayLike | None, n_groups: int) -> Floats:
    r"""Return H, with :math:`H_{ij} = P(\hat z{=}j \mid z{=}i)`, from what the user gave.

    Examples
    --------
    >>> noise_matrix((0.3, 0.1), 2)
    array([[0.7, 0.3],
           [0.1, 0.9]])
    """
    if noise is None:
        return np.eye(n_groups)
    given = np.asarray(noise, dtype=np.float64)
    if given.shape == (2,) and n_groups == 2:
        given = np.array([[1.0 - given[0], given[0]], [given[1], 1.0 - given[1]]])
    if given.shape != (n_groups, n_groups):
        raise InputError(
            f"Expected noise of shape ({n_groups}, {n_groups}) for {n_groups} groups, or a pair "
            f"for 2 groups, got shape {given.shape}."
        )
    if (given < 0.0).any() or not np.allclose(given.sum(axis=1), 1.0):
        raise InputError(
            f"Expected every row of noise to be a distribution over groups, got {given.tolist()}."
        )
    if np.linalg.det(given) <= 1e-6:
        raise InputError(
            "Expected noise that can be undone (determinant > 0), "
            f"got determinant {np.linalg.det(given):.3g}."
        )
    return given


def flipped(codes: NDArray[np.intp], noise: Floats, rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw the group seen for every true group."""
    thresholds = np.cumsum(noise, axis=1)[codes]
    drawn = (rng.random(len(codes))[:, None] >= thresholds).sum(axis=1)
    return np.asarray(np.minimum(drawn, len(noise) - 1))


@dataclass(frozen=True)
class Requirements:
    r"""Inequalities that a rule must meet, linear in its observed group shares.

    With :math:`u_j = P(\hat y{=}1, \hat z{=}j)` the observed shares, every
    constraint is ``matrix @ u - limits >= 0``; ``units`` are the numbers of rows
    in which its two sides are counted.
    """

    matrix: Floats
    limits: Floats
    units: Floats

    def margins(self, shares: Floats) -> Floats:
        """Return by how much each constraint is met; negative where it is not."""
        return np.asarray(self.matrix @ shares - self.limits)

    def violation(self, shares: Floats) -> float:
        """Return by how much the worst constraint is missed, in shares; at least 0."""
        return max(0.0, float(-(self.margins(shares) / self.units).min()))


def denoised_requirements(
    noise: Floats, masses: Floats, n_rows: int, *, tau: float, floor: float, slack: float
) -> Requirements:
    r"""Write the constraints on true groups as constraints on observed ones.

    With :math:`H_{ij} = P(\hat z{=}j \mid z{=}i)`, true shares are
    :math:`v = H^{-\top} u` and true masses :math:`\mu = H^{-\top} m`. Multiplied by
    :math:`\det H`, as the authors do for two groups, the constraints are

    .. math:: v_k \ge \det(H)\,\lambda_k - \delta, \qquad
              n\,(\mu_l v_k - (\tau - \delta) \mu_k v_l) \ge 0 \quad (k \ne l).

    For two groups :math:`\lambda_k = \lambda`; for more (extension) :math:`\lambda_k =
    \min(\lambda, \mu_k / 2)`, since a group smaller than :math:`\lambda` could
    never meet the bound.

    Parameters
    ----------
    noise : ndarray of shape (K, K)
        The matrix :math:`H`; rows are true groups and sum to 1.
    masses : ndarray of shape (K,)
        Observed group masses :math:`m`.
    n_rows : int
        The authors count rows in the second kind and take shares in the first.
    tau, floor, slack : float
        :math:`\tau`, :math:`\lambda` and :math:`\delta`.
    """
    scale = float(np.linalg.det(noise))
    undo = scale * np.linalg.inv(noise).T
    true_masses = undo @ masses
    floors = np.full(len(masses), floor)
    if len(masses) > 2:
        floors = np.minimum(floors, np.maximum(true_masses / scale, 0.0) / 2.0)
    pairs = [
        n_rows
        * (true_masses[other] * undo[group] - (tau - slack) * true_masses[group] * undo[other])
        for group, other in permutations(range(len(masses)), 2)
    ]
    limits = np.concatenate([scale * floors - slack, np.zeros(len(pairs))])
    units = np.repeat([1.0, n_rows], [len(masses), len(pairs)])
    return Requirements(np.vstack([undo, *pairs]), limits, units)


class HardShares:
    """Shares of non-negative scores by observed group, with finite differences as slopes.

    Parameters
    ----------
    rows : CountedRows
        The sample.
    counts : ndarray of shape (m, K)
        How many rows that count equal each distinct one, by group.
    step : float
        Of the differences.
    """

    def __init__(self, rows: CountedRows, counts: Floats, *, step: float) -> None:
        self._rows = rows
        self._counts = counts
        self._size = counts.sum()
        self._step = step
        self._reach = step * abs(rows.matrix).max(axis=1).toarray().ravel()

    def value(self, coefficients: Floats) -> Floats:
        """Return the shares of the rule, shape (K,)."""
        decided = self._rows.scores(coefficients) >= 0.0
        return np.asarray(decided.astype(np.float64) @ self._counts / self._size)

    def slopes(self, coefficients: Floats) -> Floats:
        """Return the forward difference in every coefficient, shape (K, d).

        Moving one coefficient by the step decides anew only about rows whose score is
        no farther from 0 than the step times an entry of theirs.
        """
        scores = self._rows.scores(coefficients)
        near = np.flatnonzero(np.abs(scores) <= self._reach)
        entries = self._rows.matrix[near]
        before = np.repeat(scores[near], np.diff(entries.indptr))
        moved = (before + self._step * entries.data >= 0.0) * 1.0 - (before >= 0.0)
        change = csr_array((moved, entries.indices, entries.indptr), shape=entries.shape)
        return np.asarray((change.T @ self._counts[near]).T / (self._size * self._step))


class SoftShares:
    """The same with the decision replaced by a sigmoid of the score, and exact slopes."""

    def __init__(self, rows: CountedRows, counts: Floats, *, sharpness: float) -> None:
        self._rows = rows
        self._counts = counts
        self._size = counts.sum()
        self._sharpness = sharpness

    def value(self, coefficients: Floats) -> Floats:
        """Return the shares of the softened rule, shape (K,)."""
        return np.asarray(self._soft(coefficients) @ self._counts / self._size)

    def slopes(self, coefficients: Floats) -> Floats:
        """Return the derivative in every coefficient, shape (K, d)."""
        soft = self._soft(coefficients)
        slope = self._sharpness * soft * (1.0 - soft) / self._size
        return np.asarray((self._rows.matrix.T @ (slope[:, None] * self._counts)).T)

    def _soft(self, coefficients: Floats) -> Floats:
        return np.asarray(expit(self._sharpness * self._rows.scores(coefficients)))
