"""From columns, labels and groups to linear rules whose decisions keep the limits."""

from collections.abc import Mapping

import numpy as np

from fairsmooth._types import Floats
from fairsmooth.training.decisions.line import Judge
from fairsmooth.training.decisions.program import solve_program
from fairsmooth.training.decisions.refine import Found, refine
from fairsmooth.training.decisions.subspace import Subspace, coarse_cells, forecast_cells

# Cells of the linear program: enough to tell forecasts apart, few enough to solve at once.
_CELLS = 2048
# Shares of the limits that starts aim at: what is expected to keep a limit may exceed it on rows.
_AIMS = (1.0, 0.85)


def search_rules(
    columns: Floats,
    judge: Judge,
    *,
    trained: Floats,
    noise: Floats,
    generator: np.random.Generator,
) -> list[Found]:
    """Return linear rules, weights of the columns and then the intercept, the best one first.

    Starts are the linear program's rules over cells of the forecasts and the trained rule; the
    search over hard decisions moves in the span of forecasts and trained rule, or of all
    columns where they are as few.

    Parameters
    ----------
    columns : ndarray of shape (n, d)
    judge : Judge
        Labels, groups and limits.
    trained : ndarray of shape (d + 1,)
        The rule that training found.
    noise : ndarray of shape (d,)
        Variance of each column by the noise on layers before it; 0 of plain columns.
    generator : Generator
    """
    n_cells = judge.limits.counts.size
    weights = forecast_cells(columns, judge.cells, n_cells, noise=noise)
    forecasts = columns @ weights[:-1] + weights[-1]
    few = columns.shape[1] <= n_cells + 1 and not noise.any()
    directions = np.eye(len(trained)) if few else np.column_stack([weights, trained])
    subspace = Subspace.spanned(columns, directions)
    values = _program_values(forecasts, judge, judge.limits.limits)
    scores = [*(forecasts @ each.ravel() for each in values), columns @ trained[:-1] + trained[-1]]
    starts = [subspace.point(each) for each in scores]
    constant = subspace.point(np.ones(len(columns)))
    found = refine(judge, subspace.coordinates, starts, constant=constant, generator=generator)
    return [Found(subspace.weights(f.weights), f.accuracy, f.excess) for f in found]


def _program_values(forecasts: Floats, judge: Judge, limits: Mapping[str, float]) -> list[Floats]:
    """Return the values of the linear programs over cells of the forecasts, one per aim."""
    cells = coarse_cells(forecasts, most=_CELLS)
    sums = np.stack([np.bincount(cells, column) for column in forecasts.T], axis=1)
    masses = np.maximum(sums, 0.0).astype(np.float64).reshape(-1, *judge.limits.counts.shape)
    return [solve_program(masses, _share_of(limits, aim)).values for aim in _AIMS]


def _share_of(limits: Mapping[str, float], share: float) -> dict[str, float]:
    return {
        name: 1.0 - share * (1.0 - limit) if name == "impact_ratio" else share * limit
        for name, limit in limits.items()
    }
