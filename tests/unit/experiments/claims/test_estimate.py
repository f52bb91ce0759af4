import math

import numpy as np
import pytest

from fairsmooth.experiments import FAILS, HOLDS, UNKNOWN, estimate, standard_error
from fairsmooth.experiments.claims.estimate import Estimate


def test_interval_of_three_trials_is_nadeau_and_bengios():
    values = [0.80, 0.82, 0.87]
    found = estimate(values)
    spread = math.sqrt(sum((value - 0.83) ** 2 for value in values) / 2)
    # The 97.5 % quantile of Student's t with 2 degrees of freedom, from a printed table.
    assert found.value == pytest.approx(0.83)
    assert found.half_width == pytest.approx(4.3027 * spread * math.sqrt(1 / 3 + 3 / 7), rel=1e-4)


def test_interval_covers_the_true_mean_of_overlapping_splits():
    # Trials share 70 % of their rows; the naive interval covers far too rarely.
    random = np.random.default_rng(0)
    covered = {"corrected": 0, "naive": 0}
    for _ in range(400):
        rows = random.normal(size=200)
        means = []
        for _ in range(5):
            order = random.permutation(200)
            # What a split measures: the error of a training mean on its test rows.
            means.append(rows[order[:60]].mean() - rows[order[60:]].mean())
        found = estimate(means)
        covered["corrected"] += abs(found.value) <= found.half_width
        covered["naive"] += abs(found.value) <= 1.96 * standard_error(means)
    assert covered["corrected"] >= 0.93 * 400
    assert covered["naive"] < covered["corrected"]


def test_one_trial_tells_nothing_and_printed_numbers_are_exact():
    assert estimate([0.5]).half_width == math.inf
    assert estimate([0.5], exact=True).half_width == 0.0
    assert math.isnan(estimate([float("nan")]).value)
    assert math.isnan(standard_error([0.5]))


@pytest.mark.parametrize(
    ("found", "limit", "strictly", "outcome"),
    [
        (Estimate(0.3, 0.1), 0.19, False, HOLDS),
        (Estimate(0.3, 0.1), 0.3, False, UNKNOWN),
        (Estimate(0.3, 0.1), 0.5, False, FAILS),
        (Estimate(0.66, 0.0), 0.66, False, HOLDS),
        (Estimate(0.66, 0.0), 0.66, True, FAILS),
        (Estimate(math.nan, math.inf), 0.0, False, UNKNOWN),
        (Estimate(0.9, math.inf), 0.0, False, UNKNOWN),
    ],
)
def test_comparison_with_a_limit(found, limit, strictly, outcome):
    assert found.compared(limit, strictly=strictly) == outcome
