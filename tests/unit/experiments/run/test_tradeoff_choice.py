import numpy as np
import pandas as pd
import pytest

from fairsmooth.datasets import FairDataset
from fairsmooth.experiments.run.tradeoff_candidates import Candidate
from fairsmooth.experiments.run.tradeoff_choice import RATIO, choose, expected_gap, judged, pooled
from fairsmooth.tuning import SearchLimits


def some_rows(n=400, seed=0):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 2, n)
    y = (rng.random(n) < 0.3 + 0.3 * group).astype(int)
    return FairDataset(
        X=pd.DataFrame({"x": rng.normal(size=n), "id": np.arange(n)}),
        y=y,
        sensitive_features=pd.Series(np.array(["a", "b"])[group]),
        name="some",
        description="",
        label="",
    )


@pytest.mark.parametrize("rates", [(0.5, 0.5), (0.3, 0.35), (0.2, 0.5)])
def test_expected_gap_is_what_sampling_gives(rates):
    rows = np.array([700, 1400])
    rng = np.random.default_rng(0)
    # The rates seen in training are those of the population plus noise; new rows add theirs.
    draws = [
        (rng.binomial(count, rate, 40_000) - rate * count) / count
        + (rng.binomial(int(count / RATIO), rate, 40_000) / int(count / RATIO))
        for rate, count in zip(rates, rows, strict=True)
    ]
    simulated = np.abs(draws[0] - draws[1]).mean()
    assert expected_gap(np.array(rates), rows) == pytest.approx(simulated, rel=0.02)


def test_a_constant_decision_is_expected_to_have_no_gap():
    assert expected_gap(np.array([1.0, 1.0]), np.array([10, 20])) == 0.0


def test_pooled_decisions_come_from_fits_that_did_not_see_the_row():
    data = some_rows()

    def fit(train, seed):
        seen = set(train.X["id"])
        return lambda part: np.array([int(row in seen) for row in part.X["id"]]), {}

    assert not pooled(Candidate(fit), data, 0).any()


def test_judged_gaps_exceed_those_measured_here():
    data = some_rows()
    decisions = (data.X["x"] > 0).to_numpy().astype(int)
    row = judged(decisions, data)
    rate = [decisions[data.groups.codes == code].mean() for code in (0, 1)]
    assert row["demographic_parity"] > abs(rate[0] - rate[1])
    assert row["accuracy"] == pytest.approx((decisions == data.y).mean())


def test_the_most_accurate_within_the_limits_is_chosen_or_the_nearest():
    names = ("accuracy", "demographic_parity", "equalized_odds_sum")
    rows = [(0.9, 0.2, 0.2), (0.8, 0.04, 0.09), (0.7, 0.01, 0.01), (0.95, 0.06, 0.1)]
    table = [dict(zip(names, row, strict=True)) for row in rows]
    assert choose(table, SearchLimits(0.05, 0.1)) == 1
    assert choose([table[0], table[3]], SearchLimits(0.05, 0.1)) == 1
