import numpy as np
import pytest

import fairsmooth
import fairsmooth.tuning
from fairsmooth.exceptions import InputError
from fairsmooth.tuning import SearchLimits
from fairsmooth.tuning.limits import Aim

ROWS = np.array([[4000, 1000], [4000, 1000]])


@pytest.mark.parametrize("name", ["max_dp", "max_eo", "max_epsilon"])
@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf")])
def test_limits_are_numbers_of_at_least_zero(name, value):
    with pytest.raises(InputError, match=f"Expected {name} >= 0"):
        SearchLimits(**{name: value})


def test_limits_of_a_guarantee_and_mappings_are_understood():
    wanted = SearchLimits(0.05, 0.08)
    given = fairsmooth.Limits(demographic_parity=0.05, equalized_odds_sum=0.08)
    assert SearchLimits.of(given) == wanted
    assert SearchLimits.of({"demographic_parity": 0.05, "equalized_odds_sum": 0.08}) == wanted
    assert SearchLimits.of(None) == SearchLimits()
    assert SearchLimits.of(wanted) is wanted
    assert wanted.to_dict() == {"demographic_parity": 0.05, "equalized_odds_sum": 0.08}
    for other in (fairsmooth.Limits(impact_ratio=0.8), {"speed": 1.0}, 0.05):
        with pytest.raises(InputError, match="which a search can keep"):
            SearchLimits.of(other)


def test_the_old_name_says_that_it_is_old():
    with pytest.warns(DeprecationWarning, match="now SearchLimits"):
        assert fairsmooth.tuning.Limits is SearchLimits
    with pytest.raises(AttributeError, match="has no attribute 'Limit'"):
        _ = fairsmooth.tuning.Limit


def test_of_a_gap_a_share_may_be_used_up_of_a_bound_all():
    limits = SearchLimits(max_dp=0.1, max_epsilon=0.01)
    measured = {"demographic_parity": 0.085, "epsilon": 0.01}
    assert limits.excess(measured) == 0.0
    assert limits.violations(measured, share=0.8) == pytest.approx(
        {"demographic_parity": 0.05, "epsilon": 0.0}
    )
    assert Aim.of(0.9, None).kept(limits, measured, None)
    assert not Aim.of(0.8, None).kept(limits, measured, None)
    assert Aim.of(0.8, None).describe(limits)["aims"] == pytest.approx(
        {"demographic_parity": 0.08, "epsilon": 0.01}
    )


def test_the_guarantees_margin_grows_as_rows_to_come_are_fewer():
    limits = SearchLimits(max_dp=0.05, max_eo=0.2)
    hits = np.array([[400, 600], [480, 600]])
    chances = [Aim.of("guarantee", n).chance(limits, ROWS, hits) for n in (500, 4000, 40_000)]
    assert chances == sorted(chances)
    assert chances[0] < 0.5
    assert chances[-1] > 0.9
    aim = Aim.of("guarantee", 500)
    measured = {"demographic_parity": 0.01, "equalized_odds_sum": 0.01}
    assert not aim.kept(limits, measured, chances[0])
    assert aim.kept(limits, measured, 0.95)
    assert aim.describe(limits)["rows"] == 500
    assert Aim.of(0.9, None).chance(limits, ROWS, hits) is None


def test_refuses_an_aim_that_is_none():
    with pytest.raises(InputError, match="Expected guarantee_rows with aim='guarantee'"):
        Aim.of("guarantee", None)
    with pytest.raises(InputError, match="Expected guarantee_rows > 0"):
        Aim.of("guarantee", 0)
    with pytest.raises(InputError, match="Expected aim as a share"):
        Aim.of("high", None)
    with pytest.raises(InputError, match="Expected aim between"):
        Aim.of(1.5, None)
