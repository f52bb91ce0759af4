"""ApxFair: fair under every reweighting of the sample, as a vote of many regressions."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairsmooth import _validate
from fairsmooth._types import Floats, Labels
from fairsmooth.baselines._kit.logistic import WeightedLogistic
from fairsmooth.baselines._kit.merged_rows import merged_rows
from fairsmooth.baselines.apxfair.reweighting import ConstraintPlayer
from fairsmooth.classifier import GroupClassifier
from fairsmooth.data.groups import Groups

NOTIONS = ("demographic_parity", "equalized_odds")

# Bound on the multipliers, step and rounds, as published for COMPAS.
_PUBLISHED = {"demographic_parity": (0.05, 0.6, 1000), "equalized_odds": (0.01, 0.8, 500)}

# Rows of the training parts in the published runs; the offset was set there.
_PUBLISHED_ROWS = 1616

_CHUNK = 4096


class ApxFairClassifier(GroupClassifier):
    r"""Majority vote of logistic regressions, fair under every reweighting of the sample.

    It approximates

    .. math:: \min_h \max_{w \in W} \sum_i w_i 1[h(x_i) \ne y_i] \quad \text{subject to
              } \mathrm{gap}_w(h) \le \varepsilon \text{ for every } w \in W,

    with :math:`W` the weights that keep the masses of the groups, as a game.
    In round :math:`t = 0, 1, \dots`: (1) the constraint player finds the pair of
    groups and the weights under which the last rule's gap is largest
    (a linear program, solved in closed form); (2) if that gap exceeds :math:`\varepsilon - 4
    \gamma`, it adds :math:`\pm B w_i` to the multipliers :math:`\Delta_i` of the
    two groups; (3) the learner fits a logistic regression (penalty as in
    scikit-learn, C = 1) with labels :math:`1[c_i < 0]` and weights
    :math:`|c_i|`, where :math:`c_i = \eta\,(t (1 - 2 y_i) w^0_i + \Delta_i) +
    \text{offset}`. Prediction is the majority of all rounds, ties negative;
    ``predict_proba`` is the share of votes.

    Parameters
    ----------
    notion : {"demographic_parity", "equalized_odds"}
        Which gap is constrained.
    epsilon, gamma : float
        Allowed gap, and width of the authors' grid of weights.
    bound, step : float, optional
        :math:`B` and :math:`\eta`. By default the values published for COMPAS: .05
        and .6 for demographic parity, .01 and .8 for equalized odds. For a
        class-balanced part of Adult the authors used .25 and .65, and .11 and
        .5; on all of Adult those end in a rule without positive decisions.
    n_rounds : int, optional
        By default 1,000 for demographic parity and 500 for equalized odds.
    offset : float
        Constant added to all costs.
    scale_offset : bool
        Shrink the offset as 1,616 / n, its effect in the published runs.
        ``False`` is the authors' code.
    n_reweightings : int
        Rounds of the outer loop, in which misclassified rows gain weight by
        ``outer_step`` and the weights return to the simplex. 0 in every
        published run.
    outer_step : float
        Step of the outer loop.
    random_state : None
        The method draws nothing; accepted so that all methods look alike.

    Attributes
    ----------
    coefficients_ : ndarray of shape (rounds, d + 1)
        One regression per round, the intercept last.
    gap_history_ : ndarray of shape (rounds,)
        Largest gap that the constraint player found in each round.

    Notes
    -----
    Differs from the authors' code: the linear programs are solved in closed
    form instead of by an interior-point solver, whose numerical noise there
    decided between pairs of groups of equal value (here the larger unweighted
    gap decides); the offset is scaled, since unscaled it makes the first
    :math:`0.05\,n/\eta` rounds constant, on Adult more than all of them;
    regressions start from the last round's solution, which changes their time
    only. More than two groups are an extension: all ordered pairs are scanned
    and the worst one updated.

    The authors' regressions see the sensitive column. Here they see ``X``:
    leave it in to do the same.

    References
    ----------
    Mandal, Deng, Jana, Wing and Hsu (2020), Ensuring Fairness Beyond the
    Training Data, Algorithms 1 to 3.
    """

    def __init__(
        self,
        *,
        notion: str = "demographic_parity",
        epsilon: float = 0.05,
        gamma: float = 0.001,
        bound: float | None = None,
        step: float | None = None,
        n_rounds: int | None = None,
        offset: float = 0.05,
        scale_offset: bool = True,
        n_reweightings: int = 0,
        outer_step: float = 0.1,
        random_state: Any = None,
    ) -> None:
        self.notion = notion
        self.epsilon = epsilon
        self.gamma = gamma
        self.bound = bound
        self.step = step
        self.n_rounds = n_rounds
        self.offset = offset
        self.scale_offset = scale_offset
        self.n_reweightings = n_reweightings
        self.outer_step = outer_step
        self.random_state = random_state

    def _fit(self, X: Floats, y: Labels, groups: Groups) -> None:
        _validate.one_of(NOTIONS, notion=self.notion)
        _validate.non_negative(
            epsilon=self.epsilon, offset=self.offset, n_reweightings=self.n_reweightings
        )
        sample = _counted(X, y, groups.codes)
        weights = np.full(len(y), 1.0 / len(y))
        rounds: list[tuple[float, Floats]] = []
        for outer in range(self.n_reweightings + 1):
            if outer:
                missed = self._vote(X, np.array([found for _, found in rounds])) != y
                weights = project_to_simplex(weights + self.outer_step * missed)
            rounds.extend(self._play(sample, weights[sample.first], len(y)))
        self.gap_history_ = np.array([gap for gap, _ in rounds])
        self.coefficients_ = np.array([found for _, found in rounds])

    def _scores(self, X: Floats) -> Floats:
        return self._share(X, self.coefficients_)

    def _play(
        self, sample: "_Sample", weights: Floats, n_rows: int
    ) -> Iterator[tuple[float, Floats]]:
        bound, step, n_rounds = self._settings()
        strata = sample.y if self.notion == "equalized_odds" else np.zeros_like(sample.y)
        player = ConstraintPlayer(strata, sample.codes, sample.counts)
        problem = WeightedLogistic(sample.X, penalty=1.0)
        offset = self.offset * (_PUBLISHED_ROWS / n_rows if self.scale_offset else 1.0)
        multipliers = np.zeros(len(weights))
        pull = (1 - 2 * sample.y) * weights
        coefficients = np.zeros(problem.n_coefficients)
        for t in range(n_rounds):
            response = player.respond(problem.logits(coefficients) > 0.0)
            if response.value > self.epsilon - 4.0 * self.gamma:
                sign = np.where(sample.codes == response.favoured, bound, -bound)
                multipliers += sign * response.weights
            cost = step * (t * pull + multipliers) + offset
            coefficients = _respond(problem, cost, sample.counts, coefficients)
            yield response.value, coefficients

    def _settings(self) -> tuple[float, float, int]:
        bound, step, n_rounds = _PUBLISHED[self.notion]
        bound = bound if self.bound is None else self.bound
        step = step if self.step is None else self.step
        n_rounds = n_rounds if self.n_rounds is None else self.n_rounds
        _validate.positive(bound=bound, step=step, n_rounds=n_rounds)
        return bound, step, n_rounds

    def _vote(self, X: Floats, coefficients: Floats) -> Labels:
        return (self._share(X, coefficients) > 0.5).astype(np.int64)

    def _share(self, X: Floats, coefficients: Floats) -> Floats:
        rows, number = merged_rows(X)
        chunks = [
            ((rows[start : start + _CHUNK] @ coefficients[:, :-1].T + coefficients[:, -1]) > 0.0)
            for start in range(0, len(rows), _CHUNK)
        ]
        return np.concatenate([chunk.mean(axis=1) for chunk in chunks])[number]


class _Sample(NamedTuple):
    """Rows that differ in ``X``, label or group, how often each comes, and where it came first."""

    X: Floats
    y: NDArray[np.intp]
    codes: NDArray[np.intp]
    counts: Floats
    first: NDArray[np.intp]


def _counted(X: Floats, y: Labels, codes: NDArray[np.intp]) -> _Sample:
    """Merge rows that the game treats alike: their decisions, weights and costs stay equal."""
    found = merged_rows(np.column_stack([X, y, codes]))
    first = np.zeros(len(found.rows), dtype=np.intp)
    first[found.number[::-1]] = np.arange(len(y))[::-1]
    counts = found.summed(np.ones(len(y)))
    return _Sample(X[first], y[first].astype(np.intp), codes[first], counts, first)


def project_to_simplex(weights: Floats) -> Floats:
    """Return the nearest point with entries at least 0 that sum to 1.

    Examples
    --------
    >>> project_to_simplex(np.array([0.5, 1.0, -2.0]))
    array([0.25, 0.75, 0.  ])
    """
    descending = np.sort(weights)[::-1]
    surplus = (np.cumsum(descending) - 1.0) / np.arange(1, len(weights) + 1)
    return np.asarray(np.maximum(weights - surplus[descending > surplus][-1], 0.0))


def _respond(problem: WeightedLogistic, cost: Floats, counts: Floats, start: Floats) -> Floats:
    if (cost >= 0.0).all():
        # The authors' rule: nothing to gain by a positive decision, so none is made.
        return np.append(np.zeros(problem.n_coefficients - 1), -1.0)
    positive, negative = np.maximum(-cost, 0.0), np.maximum(cost, 0.0)
    return problem.solve(counts * positive, counts * negative, start=start)
