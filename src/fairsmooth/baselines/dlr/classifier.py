"""DLR: logistic regression under fairness constraints for groups seen through noise."""

import math
import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

from fairsmooth import _validate
from fairsmooth._random import numpy_generator
from fairsmooth._types import Floats, Labels
from fairsmooth.baselines.dlr.counted_rows import CountedRows
from fairsmooth.baselines.dlr.denoised import (
    HardShares,
    Requirements,
    SoftShares,
    denoised_requirements,
    flipped,
    noise_matrix,
)
from fairsmooth.baselines.dlr.logistic_loss import LogisticLoss
from fairsmooth.classifier import GroupClassifier
from fairsmooth.data.groups import Groups

NOTIONS = ("demographic_parity", "false_positive_rate")

# Step of the finite differences and most restarts, by notion, as in the authors' code;
# there restarts for demographic parity have no limit.
_STEPS = {"demographic_parity": 1e-2, "false_positive_rate": 1e-1}
_TRIES = {"demographic_parity": 10, "false_positive_rate": 3}

_MAX_ITER = 500
_TOLERANCES = {"indicator": 5e-3, "smooth": 1e-6}

# The authors accept a try this close to the majority's accuracy, or, for demographic parity,
# better than .74.
_BELOW_MAJORITY = 0.01
_GOOD_ENOUGH = {"demographic_parity": 0.74, "false_positive_rate": math.inf}


class Attempt(NamedTuple):
    """What one start of the solver came to.

    Attributes
    ----------
    coefficients : ndarray of shape (d + 1,)
        Slopes, then intercept.
    accuracy : float
        On the training rows.
    violation : float
        By how much the rule misses its worst constraint on hard decisions, in
        shares; 0 if it meets all.
    accepted : bool
        Whether the accuracy is enough to end the search.
    loss : float
        The objective; NaN or infinite where the authors' is, which has no value once a
        probability is rounded to 0 or 1.
    unmet : str or None
        Why the solver stopped before its tolerance, None if it did not.
    """

    coefficients: Floats
    accuracy: float
    violation: float
    accepted: bool
    loss: float
    unmet: str | None


class DLRClassifier(GroupClassifier):
    r"""Logistic regression whose denoised group rates must be alike.

    It minimises the mean logistic loss plus :math:`C \lVert\theta\rVert^2` subject
    to, for all groups :math:`k \ne l`,

    .. math:: v_k \ge \lambda - \delta, \qquad
              v_k / \mu_k \ge (\tau - \delta)\, v_l / \mu_l,

    where :math:`v = H^{-\top} u`, :math:`\mu = H^{-\top} m`, :math:`u_j = P(\hat y{=}1,
    \hat z{=}j)`, :math:`m_j = P(\hat z{=}j)` and :math:`H_{ij} = P(\hat z{=}j \mid
    z{=}i)` is how the group seen depends on the true one. For the false positive
    rate everything is conditional on :math:`y = 0`. Solved by SLSQP from a start
    uniform on [0, 1], again from a new start until the training accuracy is at
    least the majority's less .01, or above .74.

    With ``constraints="indicator"`` decisions in the constraints are hard, hence
    piecewise constant, and their slopes are finite differences: the outcome
    depends on the start and accuracy is low, as published. The loss is then the
    authors' too: where a probability is rounded to 1 (score above 36.7) or 0 it is not
    a number, the solver goes back, and coefficients stay bounded. With ``"smooth"``
    (extension, not the published method) decisions are sigmoids of the score with exact
    slopes, and the loss is defined everywhere. Equal rows are counted, not repeated.

    A ``ConvergenceWarning`` tells when the solver had not met its tolerance, or ended where
    the loss is not a number, in the try that is kept.

    Parameters
    ----------
    notion : {"demographic_parity", "false_positive_rate"}
        Which rates must be alike.
    tau : float
        Smallest ratio of two groups' rates.
    floor, slack : float
        The :math:`\lambda` and :math:`\delta` above.
    noise : None, pair of float, or ndarray of shape (K, K)
        None: groups are seen as they are. A pair :math:`(\eta_0, \eta_1)`, for two
        groups in the order of ``groups_``: the chance that a member of the first
        (second) is seen in the other. Or the matrix :math:`H`.
    flip : bool
        Replace the given groups by ones drawn according to ``noise``, the authors'
        protocol for a sample with clean groups.
    constraints : {"indicator", "smooth"}
        See above.
    sharpness : float
        Slope of the sigmoids of ``constraints="smooth"``.
    C : float
        Penalty; 0 in the published runs.
    tol : float, optional
        Precision of SLSQP, which takes at most 500 steps; by default the authors'
        .005, and 1e-6 for smooth constraints.
    n_tries : int, optional
        Most starts; by default 10 for demographic parity, 3 for the false
        positive rate, and 1 for smooth constraints.
    random_state : int, RandomState or None
        Seed of the starts and of the flips.

    Attributes
    ----------
    coefficients_ : ndarray of shape (d + 1,)
        Slopes, then intercept.
    attempts_ : tuple of Attempt
        Every start, the chosen one last or nearest to the constraints.

    Notes
    -----
    Differs from the authors' code: tries end, and if none is accepted the most
    accurate of those that meet the constraints is taken, or else the one nearest to
    them, where the authors try for ever (demographic parity) or take the third (false
    positive rate). Finite differences of all coefficients are computed in one pass.
    Ties count as positive in the constraints, as there, and as negative in
    ``predict``. More than two groups are an extension: the formulas are the paper's,
    the authors' code has two.

    References
    ----------
    Celis, Huang, Keswani and Vishnoi (2021), Fair Classification with Noisy
    Protected Attributes, Program (DLR).
    """

    def __init__(
        self,
        *,
        notion: str = "demographic_parity",
        tau: float = 0.9,
        floor: float = 0.1,
        slack: float = 0.01,
        noise: ArrayLike | None = None,
        flip: bool = False,
        constraints: str = "indicator",
        sharpness: float = 10.0,
        C: float = 0.0,
        tol: float | None = None,
        n_tries: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.notion = notion
        self.tau = tau
        self.floor = floor
        self.slack = slack
        self.noise = noise
        self.flip = flip
        self.constraints = constraints
        self.sharpness = sharpness
        self.C = C
        self.tol = tol
        self.n_tries = n_tries
        self.random_state = random_state

    def _fit(self, X: Floats, y: Labels, groups: Groups) -> None:
        self._check()
        rng = numpy_generator(self._seed(), "dlr")
        n_groups = len(groups.labels)
        noise = noise_matrix(self.noise, n_groups)
        codes = flipped(groups.codes, noise, rng) if self.flip else groups.codes
        rows = CountedRows(np.column_stack([X, np.ones(len(X))]), y, codes, n_groups)
        counts = self._counts(rows)
        required = denoised_requirements(
            noise,
            counts.sum(axis=0) / counts.sum(),
            int(counts.sum()),
            tau=self.tau,
            floor=self.floor,
            slack=self.slack,
        )
        self.attempts_ = self._attempts(rows, required, rng)
        chosen = self._chosen()
        if chosen.unmet is not None:
            warnings.warn(
                f"DLR's solver stopped early in the try that is kept: {chosen.unmet}.",
                ConvergenceWarning,
                stacklevel=3,
            )
        self.coefficients_ = chosen.coefficients

    def _scores(self, X: Floats) -> Floats:
        return np.asarray(expit(X @ self.coefficients_[:-1] + self.coefficients_[-1]))

    def _check(self) -> None:
        _validate.one_of(NOTIONS, notion=self.notion)
        _validate.one_of(("indicator", "smooth"), constraints=self.constraints)
        _validate.in_range(0.0, 1.0, tau=self.tau, floor=self.floor)
        _validate.non_negative(slack=self.slack, C=self.C)
        _validate.positive(sharpness=self.sharpness)

    def _counts(self, rows: CountedRows) -> Floats:
        """Return how many rows that the rates are taken of equal each distinct one, by group."""
        negative, positive = rows.counts[:, 0], rows.counts[:, 1]
        return negative if self.notion == "false_positive_rate" else negative + positive

    def _attempts(
        self, rows: CountedRows, required: Requirements, rng: np.random.Generator
    ) -> tuple[Attempt, ...]:
        smooth, counts = self.constraints == "smooth", self._counts(rows)
        loss = LogisticLoss(rows, self.C, as_published=not smooth)
        hard = HardShares(rows, counts, step=_STEPS[self.notion])
        soft = SoftShares(rows, counts, sharpness=self.sharpness)
        enough = min(loss.majority - _BELOW_MAJORITY, _GOOD_ENOUGH[self.notion])
        tries = 1 if smooth else _TRIES[self.notion]
        found: list[Attempt] = []
        for _ in range(tries if self.n_tries is None else self.n_tries):
            start = rng.random(size=(loss.n_coefficients,))
            ended, unmet = self._solved(loss, soft if smooth else hard, required, start)
            accuracy = loss.accuracy(ended)
            violation = required.violation(hard.value(ended))
            accepted = accuracy >= enough
            found.append(Attempt(ended, accuracy, violation, accepted, loss.value(ended), unmet))
            if accepted:
                break
        return tuple(found)

    def _solved(
        self,
        loss: LogisticLoss,
        shares: HardShares | SoftShares,
        required: Requirements,
        start: Floats,
    ) -> tuple[Floats, str | None]:
        """Return where the solver ended from a start, and why if before its tolerance."""
        tolerance = _TOLERANCES[self.constraints] if self.tol is None else self.tol
        result = minimize(
            loss.value,
            start,
            jac=loss.gradient,
            method="SLSQP",
            constraints={
                "type": "ineq",
                "fun": lambda theta: required.margins(shares.value(theta)),
                "jac": lambda theta: required.matrix @ shares.slopes(theta),
            },
            options={"maxiter": _MAX_ITER, "ftol": tolerance},
        )
        # Spikes in the differences can throw the solver off to nowhere.
        if not np.isfinite(result.x).all():
            return start, "it left the numbers, its start is kept"
        if not math.isfinite(result.fun):
            return result.x, f"the loss ended as {result.fun}"
        return result.x, None if result.success else str(result.message)

    def _chosen(self) -> Attempt:
        if self.attempts_[-1].accepted:
            return self.attempts_[-1]
        meeting = [attempt for attempt in self.attempts_ if attempt.violation == 0.0]
        if meeting:
            return max(meeting, key=lambda attempt: attempt.accuracy)
        return min(self.attempts_, key=lambda attempt: attempt.violation)
