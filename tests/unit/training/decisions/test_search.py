import numpy as np
import pytest

from fairsmooth.training.decisions.limits import GapLimits
from fairsmooth.training.decisions.line import Judge, best_step
from fairsmooth.training.decisions.search import search_rules
from fairsmooth.training.decisions.subspace import Subspace, coarse_cells, forecast_cells


def problem(limits, n_groups=2, n_columns=2, n_rows=600, seed=0):
    random = np.random.default_rng(seed)
    groups = random.integers(0, n_groups, n_rows)
    columns = random.normal(size=(n_rows, n_columns)) + 0.8 * groups[:, None] / n_groups
    y = (columns.sum(axis=1) + random.normal(size=n_rows) > 0.5).astype(int)
    cells = 2 * groups + y
    counts = np.bincount(cells).reshape(-1, 2) + 0.0
    return columns, Judge(GapLimits(limits, counts), cells)


def search(columns, judge, seed=0):
    trained = np.r_[np.ones(columns.shape[1]), -0.5]
    noise = np.zeros(columns.shape[1])
    return search_rules(
        columns, judge, trained=trained, noise=noise, generator=np.random.default_rng(seed)
    )


@pytest.mark.parametrize("limits", [
    {"demographic_parity": 0.05, "equalized_odds_sum": 0.08},
    {"equal_opportunity": 0.02},
    {"impact_ratio": 0.9},
])  # fmt: skip
@pytest.mark.parametrize("n_groups", [2, 4])
def test_the_best_rule_keeps_the_limits_and_says_what_it_reached(limits, n_groups):
    columns, judge = problem(limits, n_groups)
    best = search(columns, judge)[0]
    hits = judge.hits(columns @ best.weights[:-1] + best.weights[-1] > 0.0)
    assert float(judge.limits.excess(hits)) == best.excess == 0.0
    assert float(judge.limits.correct(hits)) / len(columns) == best.accuracy


@pytest.mark.parametrize("seed", range(3))
def test_two_columns_are_searched_as_well_as_all_directions_would_be(seed):
    columns, judge = problem({"demographic_parity": 0.03, "equalized_odds_sum": 0.1}, seed=seed)
    # Every rule of two columns: an angle, and the exact best intercept for it.
    angles = np.linspace(0.0, 2.0 * np.pi, 2000)
    lines = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    every = [
        best_step(judge, columns @ line, np.ones(len(columns)), price=1e4)[1] for line in lines
    ]
    # A few rows of 600: the angles where one is better are narrower than one in a thousand.
    assert search(columns, judge)[0].accuracy >= max(every) - 4 / 600


def test_the_same_seed_gives_the_same_rule():
    columns, judge = problem({"demographic_parity": 0.05}, n_columns=8)
    first, again = search(columns, judge, 3)[0], search(columns, judge, 3)[0]
    assert np.array_equal(first.weights, again.weights)


def test_coordinates_are_uncorrelated_and_know_their_rules():
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 4))
    X[:, 3] = X[:, 0] + X[:, 1]  # one column too many
    subspace = Subspace.spanned(X, np.eye(5))
    assert subspace.coordinates.shape == (200, 4)
    assert subspace.coordinates.T @ subspace.coordinates / 200 == pytest.approx(np.eye(4), abs=1e-9)
    rule = random.normal(size=5)
    point = subspace.point(X @ rule[:-1] + rule[-1])
    assert subspace.coordinates @ point == pytest.approx(X @ rule[:-1] + rule[-1])
    found = subspace.weights(point)
    assert X @ found[:-1] + found[-1] == pytest.approx(X @ rule[:-1] + rule[-1])


def test_forecasts_are_the_least_squares_ones_and_add_up_to_one():
    columns, judge = problem({"demographic_parity": 0.1}, n_columns=3)
    weights = forecast_cells(columns, judge.cells, 4)
    forecasts = columns @ weights[:-1] + weights[-1]
    assert forecasts.sum(axis=1) == pytest.approx(np.ones(len(columns)))
    design = np.column_stack([columns, np.ones(len(columns))])
    expected = np.linalg.lstsq(design, np.eye(4)[judge.cells], rcond=None)[0]
    assert weights == pytest.approx(expected, abs=1e-5)


def test_noise_on_a_column_makes_its_weight_smaller():
    columns, judge = problem({"demographic_parity": 0.1}, n_columns=3)
    plain = forecast_cells(columns, judge.cells, 4)
    noisy = forecast_cells(columns, judge.cells, 4, noise=np.array([1.0, 0.0, 0.0]))
    assert np.abs(noisy[0]).max() < 0.7 * np.abs(plain[0]).max()


def test_cells_halve_the_rows_evenly():
    forecasts = np.random.default_rng(0).normal(size=(1000, 3))
    cells = coarse_cells(forecasts, most=64)
    assert len(np.unique(cells)) == 64
    assert np.ptp(np.bincount(cells)) <= 1
