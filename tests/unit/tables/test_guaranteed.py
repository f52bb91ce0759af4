"""Training to a guarantee, or to no model."""

import numpy as np
import pandas as pd
import pytest

from fairsmooth import FairSmoothClassifier
from fairsmooth.guarantees import Limits, NoGuarantee
from fairsmooth.tables import TableModel
from fairsmooth.tables.aiming import Aim, choose_candidate


def _population(n, *, gap, seed=0):
    """Draw people whose plain model selects the groups ``gap`` standard deviations apart."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], n)
    x = rng.normal(size=n) + gap * (sex == "m")
    z = rng.normal(size=n)
    y = (x + z + rng.normal(size=n) > gap / 2).astype(int)
    return pd.DataFrame({"x": x, "z": z, "sex": sex, "y": y})


def test_a_model_is_returned_with_its_guarantee(tmp_path):
    table = _population(6000, gap=0.1)
    model = TableModel.fit(
        table, label="y", sensitive="sex", guarantee=Limits(demographic_parity=0.15), random_state=0
    )
    assert model.guarantee.holds
    assert model.guarantee.bounds["demographic_parity"] <= 0.15
    assert sum(c.rows for c in model.guarantee.counts if c.label is None) == 1800
    model.save(tmp_path / "m")
    loaded = TableModel.load(tmp_path / "m")
    assert loaded.guarantee == model.guarantee
    assert "Gap guarantee: HOLDS" in loaded.summary()


def test_no_model_where_none_can_be_guaranteed():
    table = _population(400, gap=1.0)
    with pytest.raises(NoGuarantee, match="safety rows are now spent"):
        TableModel.fit(
            table,
            label="y",
            sensitive="sex",
            guarantee=Limits(demographic_parity=0.01),
            random_state=0,
        )


def test_the_failed_guarantee_is_attached():
    with pytest.raises(NoGuarantee) as caught:
        TableModel.fit(
            _population(400, gap=1.0),
            label="y",
            sensitive="sex",
            guarantee=Limits(impact_ratio=0.99),
            random_state=0,
        )
    assert not caught.value.guarantee.holds


def test_safety_rows_are_split_by_group_only():
    """A split balanced by label too would fix how many positives the safety rows have."""
    table = _population(2000, gap=0.1)
    positives = {
        sum(c.rows for c in model.guarantee.counts if c.label == 1)
        for seed in range(3)
        for model in [
            TableModel.fit(
                table,
                label="y",
                sensitive="sex",
                guarantee=Limits(equalized_odds_sum=0.9),
                random_state=seed,
            )
        ]
    }
    assert len(positives) > 1


def _candidate(limits, *, gap, aim=0.9, **search):
    table = _population(4000, gap=gap)
    return choose_candidate(
        FairSmoothClassifier(random_state=0),
        table[["x", "z"]].to_numpy(),
        table["y"].to_numpy(),
        table[["sex"]],
        aim=Aim(limits, aim, 3 / 7, **search),
        seed=0,
    )


def test_the_free_candidate_is_taken_where_it_is_likely_enough():
    chosen, tried = _candidate(Limits(demographic_parity=0.3), gap=0.1)
    assert len(tried) == 1
    assert chosen.parity_weight == 0.0


def test_the_gap_is_closed_as_far_as_the_limit_asks():
    free, tried = _candidate(Limits(demographic_parity=0.9), gap=1.0)
    chosen, tried = _candidate(Limits(demographic_parity=0.15), gap=1.0)
    assert chosen.parity_weight > 0.0
    assert chosen.gaps["demographic_parity"] < 0.15 < free.gaps["demographic_parity"]
    assert chosen.chance >= 0.9
    feasible = [c for c in tried if c.chance >= 0.9]
    assert chosen.accuracy == max(c.accuracy for c in feasible)


def test_fewer_halvings_try_fewer_candidates():
    _, tried = _candidate(Limits(demographic_parity=0.15), gap=1.0, halvings=2)
    assert len(tried) == 3
