import numpy as np
import pytest

from fairsmooth.data.groups import Groups
from fairsmooth.metrics.rates import measure
from fairsmooth.training.decisions.limits import NAMES, GapLimits, limits_of
from fairsmooth.training.decisions.solve import judge_of

ALL = ("demographic_parity", "equal_opportunity", "predictive_equality")
SUMS = ("equalized_odds_sum", "equalized_odds_max", "impact_ratio")


def drawn(n_groups, n_rows=200, seed=0):
    random = np.random.default_rng(seed)
    codes = np.concatenate([np.arange(n_groups), random.integers(0, n_groups, n_rows)])
    y = np.concatenate([np.arange(n_groups) % 2, random.integers(0, 2, n_rows)])
    decided = random.random(len(y)) < 0.3 + 0.4 * codes / n_groups
    return Groups(tuple(range(n_groups)), codes), y, decided


@pytest.mark.parametrize("n_groups", [2, 3, 5])
def test_gaps_are_those_of_the_metrics_to_the_last_digit(n_groups):
    groups, y, decided = drawn(n_groups)
    judge = judge_of(y, groups, dict.fromkeys((*ALL, *SUMS), 0.0))
    hits = judge.hits(decided)
    found, expected = judge.limits.gaps(hits), measure(decided.astype(int), y, groups)
    for name in ("demographic_parity", "equalized_odds_sum", "equalized_odds_max"):
        assert float(found[name]) == expected[name]
    assert float(judge.limits.correct(hits)) / len(y) == expected["accuracy"]
    rates = [decided[groups.codes == code].mean() for code in range(n_groups)]
    assert float(found["impact_ratio"]) == pytest.approx(min(rates) / max(rates), rel=1e-12)
    for name, label in (("equal_opportunity", 1), ("predictive_equality", 0)):
        rates = [decided[(groups.codes == c) & (y == label)].mean() for c in range(n_groups)]
        assert float(found[name]) == pytest.approx(max(rates) - min(rates), abs=1e-12)


def test_excess_is_what_is_over_the_limits_and_many_rules_are_judged_at_once():
    counts = np.array([[10.0, 10.0], [10.0, 10.0]])
    limits = GapLimits({"demographic_parity": 0.1, "impact_ratio": 0.8}, counts)
    hits = np.array([[[5.0, 5.0], [5.0, 5.0]], [[8.0, 8.0], [4.0, 4.0]]])
    assert limits.excess(hits).tolist() == pytest.approx([0.0, 0.3 + 0.3])


def test_nobody_selected_keeps_no_ratio():
    limits = GapLimits({"impact_ratio": 0.8}, np.ones((2, 2)))
    assert float(limits.excess(np.zeros((2, 2)))) == 0.8


def test_a_group_without_a_label_takes_no_part_in_its_gap():
    limits = GapLimits({"equal_opportunity": 0.0}, np.array([[1.0, 0.0], [1.0, 2.0], [1.0, 1.0]]))
    assert (
        float(limits.gaps(np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]))["equal_opportunity"])
        == 0.5
    )


@pytest.mark.parametrize("parity", NAMES)
def test_every_name_of_parity_limits_something(parity):
    limits = limits_of(parity, (0.2, 0.3))
    assert set(limits.values()) <= {0.2, 0.3, 0.8}
