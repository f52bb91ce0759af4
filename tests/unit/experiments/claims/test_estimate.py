import math

import numpy as np
import pytest

from fairsmooth.experiments import FAILS, HOLDS, SAME, UNKNOWN, estimate, standard_error
from fairsmooth.experiments.claims.estimate import Estimate, margin_of, some_below


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


def test_one_trial_tells_nothing_and_printed_numbers_are_rounded():
    assert estimate([0.5]).half_width == math.inf
    assert estimate([0.5], rounding=0.005).high == 0.505
    assert math.isnan(estimate([float("nan")]).value)
    assert math.isnan(standard_error([0.5]))


@pytest.mark.parametrize(
    ("found", "limit", "strictly", "outcome"),
    [
        (Estimate(0.3, 0.1), 0.19, False, HOLDS),
        (Estimate(0.3, 0.1), 0.3, False, UNKNOWN),
        (Estimate(0.3, 0.1), 0.5, False, FAILS),
        (Estimate(0.66, 0.0), 0.66, False, HOLDS),
        (Estimate(0.66, 0.0), 0.66, True, SAME),
        (Estimate(math.nan, math.inf), 0.0, False, UNKNOWN),
        (Estimate(0.9, math.inf), 0.0, False, UNKNOWN),
    ],
)
def test_comparison_with_a_limit(found, limit, strictly, outcome):
    assert found.compared(limit, strictly=strictly) == outcome


@pytest.mark.parametrize(
    ("low", "high", "not_worse", "better"),
    [
        (0.011, 0.05, HOLDS, HOLDS),
        (0.001, 0.02, HOLDS, HOLDS),
        (0.001, 0.009, HOLDS, SAME),
        (-0.009, 0.009, HOLDS, SAME),
        (-0.009, 0.02, HOLDS, UNKNOWN),
        (-0.02, 0.02, UNKNOWN, UNKNOWN),
        (-0.009, -0.001, HOLDS, SAME),
        (-0.02, -0.001, FAILS, FAILS),
        (-0.05, -0.02, FAILS, FAILS),
    ],
)
def test_a_hundredth_is_no_difference(low, high, not_worse, better):
    found = Estimate((low + high) / 2, (high - low) / 2)
    assert found.compared(margin=0.01) == not_worse
    assert found.compared(strictly=True, margin=0.01) == better


def test_rounding_contradicts_only_what_no_number_fulfils():
    printed = Estimate(0.66, 0.0, rounding=0.005)
    assert printed.compared(0.664, strictly=True) == HOLDS
    assert printed.compared(0.665) == FAILS


def test_p_values_are_students():
    found = estimate([0.01, 0.02, 0.04])
    # At the lower end of a two-sided 95 % interval the one-sided p-value is 97.5 %.
    assert found.chance_of_reaching(found.low) == pytest.approx(0.975)
    assert found.chance_of_reaching(found.high) == pytest.approx(0.025)
    assert estimate([0.1, 0.1]).chance_of_reaching(0.2) == 0.0
    assert estimate([0.1]).chance_of_reaching(0.2) == 1.0


def test_one_error_is_shared_by_all_that_are_compared():
    behind = estimate([-0.025, -0.03, -0.035])
    level = estimate([0.0, 0.001, -0.001])
    assert some_below([behind])
    assert not some_below([behind, *[level] * 8])
    assert not some_below([Estimate(-0.005, 0.001, 0.0002, 10)], margin=0.01)


def test_wrong_alarms_are_as_rare_for_nine_as_for_one():
    # Nine rivals that are not better: an alarm for any of them is wrong.
    random = np.random.default_rng(1)
    wrong = sum(
        some_below([estimate(values) for values in random.normal(size=(9, 10))]) for _ in range(400)
    )
    assert wrong <= 0.025 * 400 + 3 * math.sqrt(400 * 0.025 * 0.975)


def test_only_rates_have_a_margin():
    assert margin_of("accuracy") == margin_of("equalized_odds_sum") == 0.01
    assert margin_of("epsilon") == 0.0
