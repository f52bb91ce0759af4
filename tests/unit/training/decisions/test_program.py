from itertools import product

import numpy as np
import pandas as pd
import pytest

from fairsmooth.exceptions import InputError
from fairsmooth.experiments.run.ceiling import fair_ceiling
from fairsmooth.training.decisions.limits import GapLimits
from fairsmooth.training.decisions.program import solve_program

CELLS = 6


def population(seed, n_groups=2, cells=CELLS):
    return np.random.default_rng(seed).integers(0, 12, (cells, n_groups, 2)) + 0.0


def best_with_one_tied_cell(masses, name, limit):
    """Return the best accuracy of all rules that decide every cell but one for sure."""
    totals = masses.sum(axis=0)
    limits = GapLimits({name: limit}, totals)
    best = 0.0
    for tied in range(len(masses)):
        others = [c for c in range(len(masses)) if c != tied]
        for decided in product((0.0, 1.0), repeat=len(others)):
            hits = np.tensordot(decided, masses[others], 1)
            # Along one cell's chance everything is linear between a few points: try them finely.
            chances = _corners(hits, masses[tied], totals, name, limit)
            every = hits + chances[:, None, None] * masses[tied]
            kept = limits.excess(every) <= 1e-12
            if kept.any():
                best = max(best, float(limits.correct(every)[kept].max()))
    return best / totals.sum()


def _corners(hits, cell, totals, name, limit):
    """Return 0, 1 and the chances at which the gap of two groups equals its limit."""
    labels = {"demographic_parity": [0, 1], "equal_opportunity": [1], "predictive_equality": [0]}
    size = totals[:, labels[name]].sum(axis=1)
    base, slope = (part[:, labels[name]].sum(axis=1) / size for part in (hits, cell))
    found = [0.0, 1.0]
    for side in (1.0, -1.0):
        rise = side * (slope[0] - slope[1])
        if rise != 0.0:
            found.append((limit - side * (base[0] - base[1])) / rise)
    return np.array([chance for chance in found if 0.0 <= chance <= 1.0])


@pytest.mark.parametrize("name", ["demographic_parity", "equal_opportunity", "predictive_equality"])
@pytest.mark.parametrize("seed", range(6))
def test_the_rule_equals_brute_force_up_to_one_tied_cell(name, seed):
    masses = population(seed)
    solved = solve_program(masses, {name: 0.07})
    assert solved.accuracy == pytest.approx(best_with_one_tied_cell(masses, name, 0.07), abs=1e-9)
    assert ((solved.chances > 1e-9) & (solved.chances < 1.0 - 1e-9)).sum() <= 1


@pytest.mark.parametrize("limits", [
    {"demographic_parity": 0.05, "equalized_odds_sum": 0.08},
    {"equalized_odds_max": 0.03},
    {"impact_ratio": 0.9},
    {"demographic_parity": 0.0},
])  # fmt: skip
@pytest.mark.parametrize("n_groups", [2, 3, 4])
def test_values_decide_every_cell_that_is_not_tied(limits, n_groups):
    masses = population(7, n_groups, cells=40)
    solved = solve_program(masses, limits)
    worth = (masses * solved.values).sum(axis=(1, 2))
    sure = np.abs(worth) > 1e-7
    assert np.array_equal(solved.chances[sure] > 0.5, worth[sure] > 0.0)
    # Every rate that is compared may tie one cell per group.
    assert (~sure).sum() <= 2 * n_groups
    hits = np.tensordot(solved.chances, masses, 1)
    judged = GapLimits(limits, masses.sum(axis=0))
    assert float(judged.excess(hits)) <= 1e-9
    assert float(judged.correct(hits)) / masses.sum() == pytest.approx(solved.accuracy)


def test_it_agrees_with_the_ceiling_of_the_experiments():
    masses = population(3, cells=30)
    rows = [(c, a, *masses[c, a]) for c in range(30) for a in range(2)]
    cells = pd.DataFrame(rows, columns=["x", "group", 0, 1])
    expected = fair_ceiling(cells, 0.04, 0.06, group_blind=True)
    limits = {"demographic_parity": 0.04, "equalized_odds_sum": 0.06}
    assert solve_program(masses, limits).accuracy == pytest.approx(expected, abs=1e-9)


def test_limits_that_nothing_keeps_are_refused():
    with pytest.raises(InputError, match="Expected limits that a constant rule keeps"):
        solve_program(population(0), {"demographic_parity": -0.1})
