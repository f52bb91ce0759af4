"""Reliability by group: bins of an audit as one table."""

import numpy as np
import pytest
from sklearn.calibration import calibration_curve

from fairsmooth.metrics import audit


@pytest.fixture(scope="module")
def sample():
    rng = np.random.default_rng(0)
    groups = rng.choice(["f", "m"], 4000)
    scores = rng.uniform(size=4000)
    # Scores of one group are right, those of the other too high.
    y = (rng.uniform(size=4000) < np.where(groups == "f", scores, 0.6 * scores)).astype(int)
    return y, scores, groups


def test_shares_and_means_are_scikit_learns(sample):
    y, scores, groups = sample
    table = audit(y_true=y, y_score=scores, sensitive_features=groups).reliability()
    for group, rows in (("f", groups == "f"), ("m", groups == "m"), (None, groups != "")):
        mine = table[[each == group for each in table["group"]]]
        share, mean = calibration_curve(y[rows], scores[rows], n_bins=10)
        np.testing.assert_allclose(mine["positive_share"], share)
        np.testing.assert_allclose(mine["mean_score"], mean)
        assert mine["count"].sum() == rows.sum()


def test_it_tells_the_group_whose_scores_are_too_high(sample):
    y, scores, groups = sample
    table = audit(y_true=y, y_score=scores, sensitive_features=groups).reliability()
    agrees = {g: table["agrees"][[each == g for each in table["group"]]] for g in ("f", "m")}
    assert agrees["f"].sum() >= 8
    assert agrees["m"].sum() <= 3
    assert (
        (table["low"] <= table["positive_share"]) & (table["positive_share"] <= table["high"])
    ).all()


def test_without_labels_or_scores_there_is_none(sample):
    y, scores, groups = sample
    for given in ({"y_score": scores}, {"y_true": y, "y_pred": y}):
        table = audit(**given, sensitive_features=groups).reliability()
        assert table.empty
        assert "agrees" in table
