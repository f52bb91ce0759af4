import numpy as np
import pytest

from fairsmooth.core.contrasts import Contrast, bound
from fairsmooth.exceptions import InputError
from fairsmooth.guarantees.planning import (
    ExpectedCell,
    expected_bound,
    margin,
    return_probability,
    standard_error,
)


def test_forecast_agrees_with_simulation():
    rates, sizes, limit = (0.3, 0.25), (700, 900), 0.12
    cells = {None: [ExpectedCell(q, n) for q, n in zip(rates, sizes, strict=True)]}
    forecast = return_probability("demographic_parity", cells, limit)
    rng = np.random.default_rng(0)
    draws = [
        [(int(rng.binomial(n, q)), n) for q, n in zip(rates, sizes, strict=True)]
        for _ in range(200)
    ]
    reached = np.mean([bound(draw, Contrast(), error=0.05) <= limit for draw in draws])
    assert forecast == pytest.approx(reached, abs=0.1)


def test_margin_is_what_the_bound_adds_and_the_scatter():
    cells = {None: [ExpectedCell(0.2, 4000, 20_000), ExpectedCell(0.14, 6000, 30_000)]}
    added = expected_bound("demographic_parity", cells) - 0.06
    error = np.sqrt(0.16 * (1 / 4000 + 1 / 20_000) + 0.14 * 0.86 * (1 / 6000 + 1 / 30_000))
    assert standard_error("demographic_parity", cells) == pytest.approx(error)
    assert margin("demographic_parity", cells) == pytest.approx(added + 1.2816 * error, abs=1e-4)
    # Aiming at the limit less the margin gives the chance that was aimed at.
    limit = 0.06 + margin("demographic_parity", cells)
    assert return_probability("demographic_parity", cells, limit) == pytest.approx(0.9, abs=1e-3)


def test_ratios_and_sums_have_plans_too():
    ratio = {None: [ExpectedCell(0.3, 3000), ExpectedCell(0.27, 3000)]}
    assert expected_bound("impact_ratio", ratio) < 0.9
    assert 0.5 < return_probability("impact_ratio", ratio, 0.8) < 1.0
    cells = {
        1: [ExpectedCell(0.6, 800), ExpectedCell(0.58, 900)],
        0: [ExpectedCell(0.1, 2000), ExpectedCell(0.09, 2500)],
    }
    assert expected_bound("equalized_odds_sum", cells) > 0.03
    parts = [standard_error(name, cells) for name in ("equal_opportunity", "predictive_equality")]
    assert standard_error("equalized_odds_sum", cells) == pytest.approx(np.hypot(*parts))


def test_empty_and_certain_cells():
    empty = {None: [ExpectedCell(0.3, 0.5), ExpectedCell(0.2, 100)]}
    assert expected_bound("demographic_parity", empty) == 1.0
    certain = {None: [ExpectedCell(0.0, 1000), ExpectedCell(0.0, 1000)]}
    assert return_probability("demographic_parity", certain, 0.1) == 1.0
    assert return_probability("demographic_parity", certain, 0.0001) == 0.0
    assert standard_error("impact_ratio", certain) == 1.0


def test_mistakes_are_named():
    cells = {None: [ExpectedCell(0.3, 100)]}
    with pytest.raises(InputError, match="Expected quantity to be one of"):
        margin("parity", cells)
    with pytest.raises(InputError, match="Expected at least 2 groups"):
        margin("demographic_parity", cells)
    with pytest.raises(InputError, match=r"Expected cells for the labels \[1\]"):
        margin("equal_opportunity", cells)
