import numpy as np
import pytest

from fairsmooth.training.decisions.limits import GapLimits
from fairsmooth.training.decisions.line import Judge, best_step


def problem(seed, n_rows=60, n_groups=3):
    random = np.random.default_rng(seed)
    cells = np.concatenate([np.arange(2 * n_groups), random.integers(0, 2 * n_groups, n_rows)])
    counts = np.bincount(cells).reshape(-1, 2) + 0.0
    judge = Judge(GapLimits({"demographic_parity": 0.1, "equalized_odds_sum": 0.2}, counts), cells)
    # Rounded, so that many rows cross at the same step, and some never do.
    scores, slopes = random.normal(size=(2, len(cells))).round(1)
    return judge, scores, slopes


@pytest.mark.parametrize("within", [np.inf, 1.5, 0.2])
@pytest.mark.parametrize("seed", range(5))
def test_no_step_of_the_line_is_better(seed, within):
    judge, scores, slopes = problem(seed)
    step, merit = best_step(judge, scores, slopes, price=1.0, within=within)
    assert abs(step) <= within
    assert merit == pytest.approx(float(judge.merit(judge.hits(scores + step * slopes > 0), 1.0)))
    reach = min(within, 100.0)
    for other in np.random.default_rng(seed).uniform(-reach, reach, 2000):
        assert float(judge.merit(judge.hits(scores + other * slopes > 0), 1.0)) <= merit + 1e-12


def test_a_line_that_moves_nothing_leaves_all_as_it_is():
    judge, scores, _ = problem(0)
    _, merit = best_step(judge, scores, np.zeros_like(scores), price=1.0)
    assert merit == float(judge.merit(judge.hits(scores > 0.0), 1.0))
