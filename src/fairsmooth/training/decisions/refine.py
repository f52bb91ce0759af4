"""A search over hard decisions: exact steps along lines, from several starts."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.optimize import linprog

from fairsmooth._types import Floats
from fairsmooth.training.decisions.line import Judge, best_step
from fairsmooth.training.decisions.program import Constraints, linear_rates

# Random lines tried in a round, and rounds of a phase at the most.
_RANDOM_LINES = 6
_ROUNDS = 6
# The price of exceeding a limit: first it is traded against accuracy, in the end it is a
# constraint. Random lines reach far and find other valleys, so the nearest one comes first.
PHASES = ((4.0, False), (4.0, True), (1e4, False), (1e4, True))
# Shares of the rows nearest to the boundary from which derivatives are taken, and how far a
# proposed step goes, in units where columns have mean square 1; it is searched twice as far. The
# shortest comes first: where limits become constraints any rule that keeps them is better than
# the present one, and a long step would land on a poor one far away.
_NEAR = (0.03, 0.1)
_REACH = (0.01, 0.03, 0.1)
_LONG_REACH = (0.3, 0.1, 0.03)
_FURTHER = 2.0
# The largest price in a linear program, whose solver wants numbers of one scale.
_LARGEST_PRICE = 50.0
_GAIN = 1e-9


@dataclass(frozen=True, eq=False)
class Found:
    """Weights, with the accuracy and the excess over the limits of their decisions."""

    weights: Floats
    accuracy: float
    excess: float


def refine(
    judge: Judge,
    columns: Floats,
    starts: Sequence[Floats],
    *,
    constant: Floats,
    generator: np.random.Generator,
) -> list[Found]:
    """Return what the search came to from every start, the best one first.

    Every line is searched exactly (:mod:`~fairsmooth.training.decisions.line`). Where several
    limits meet, hardly any line leads on without exceeding one; so beside random lines
    there are those that a linear program over the weights proposes, with the derivatives
    of all rates taken from the rows near the boundary.

    Parameters
    ----------
    judge : Judge
        Counts decisions and holds the limits.
    columns : ndarray of shape (n, p)
        Rows. Lines are drawn alike in all directions, so columns should be uncorrelated
        and of mean square 1.
    starts : sequence of ndarray of shape (p,)
    constant : ndarray of shape (p,)
        Weights that give every row the score 1.
    generator : Generator
        Draws the lines: the same seed gives the same result.
    """

    def reached(start: Floats, reaches: tuple[float, ...]) -> Found:
        weights = _climb(judge, columns, start, reaches, generator)
        return _settled(judge, columns, weights, constant)

    def rank(found: Found) -> tuple[float, float]:
        return found.excess, -found.accuracy

    found = sorted((reached(start, _REACH) for start in starts), key=rank)
    # Once more from the best, in long steps: each is taken only if it is better.
    return sorted([reached(found[0].weights, _LONG_REACH), *found], key=rank)


def _climb(
    judge: Judge,
    columns: Floats,
    start: Floats,
    reaches: tuple[float, ...],
    generator: np.random.Generator,
) -> Floats:
    weights = _unit(np.asarray(start, dtype=np.float64))
    for price, random in PHASES:
        for _ in range(_ROUNDS):
            before = weights
            weights = _near_lines(judge, columns, weights, reaches, price)
            if random:
                drawn = generator.standard_normal((_RANDOM_LINES, len(weights)))
                for line in (*np.eye(len(weights)), *drawn):
                    weights = _along(judge, columns, weights, line, price, within=np.inf)
            if weights is before:
                break
    return weights


def _near_lines(
    judge: Judge, columns: Floats, weights: Floats, reaches: tuple[float, ...], price: float
) -> Floats:
    for near, reach in product(_NEAR, reaches):
        scores = columns @ weights
        line = promising_line(judge, columns, scores, price=price, near=near, reach=reach)
        weights = _along(judge, columns, weights, line, price, within=_FURTHER)
    return weights


def _along(
    judge: Judge, columns: Floats, weights: Floats, line: Floats, price: float, *, within: float
) -> Floats:
    """Return the best weights on a line, or the same ones where nothing is gained."""
    scores = columns @ weights
    merit = float(judge.merit(judge.hits(scores > 0.0), price))
    step, reached = best_step(judge, scores, columns @ line, price=price, within=within)
    return _unit(weights + step * line) if reached > merit + _GAIN else weights


def _settled(judge: Judge, columns: Floats, weights: Floats, constant: Floats) -> Found:
    """Move the intercept to where no row lies on the boundary, and count."""
    scores = columns @ weights
    step, _ = best_step(judge, scores, np.ones(len(scores)), price=PHASES[-1][0])
    weights = weights + step * constant
    hits = judge.hits(columns @ weights > 0.0)
    share = float(judge.limits.correct(hits)) / len(scores)
    return Found(weights, share, float(judge.limits.excess(hits)))


def promising_line(
    judge: Judge, columns: Floats, scores: Floats, *, price: float, near: float, reach: float
) -> Floats:
    """Return the step that improves most where rates are taken as linear in the weights.

    A linear program in the weights' changes, none larger than ``reach``, with every gap's
    excess at its price. Derivatives come from the share ``near`` of the rows whose
    scores are closest to 0.
    """
    counts = judge.limits.counts
    width = np.quantile(np.abs(scores), near)
    close = np.flatnonzero(np.abs(scores) <= width)
    slopes = np.zeros((counts.size, columns.shape[1]))
    np.add.at(slopes, judge.cells[close], columns[close])
    slopes = (slopes / (2.0 * max(width, 1e-300))).reshape(*counts.shape, -1)
    hits = judge.hits(scores > 0.0)
    constraints = Constraints.of(linear_rates(slopes, counts, hits), judge.limits.limits)
    n_weights, n_ends, n_limits = columns.shape[1], constraints.n_ends, constraints.n_limits
    gain = (slopes[:, 1] - slopes[:, 0]).sum(axis=0) / len(scores)
    slack = np.zeros((len(constraints.right), n_limits))
    slack[-n_limits:] = -np.eye(n_limits)
    solved = linprog(
        np.concatenate([-gain, np.zeros(n_ends), np.full(n_limits, min(price, _LARGEST_PRICE))]),
        A_ub=np.concatenate([constraints.matrix, slack], axis=1),
        b_ub=constraints.right,
        bounds=[(-reach, reach)] * n_weights + [(None, None)] * n_ends + [(0.0, None)] * n_limits,
        method="highs",
    )
    return np.zeros(n_weights) if solved.x is None else np.asarray(solved.x[:n_weights])


def _unit(weights: Floats) -> Floats:
    norm = float(np.linalg.norm(weights))
    return weights / norm if norm > 0.0 else weights
