"""fairlearn's MetricFrame of an audit, against one of the rows themselves."""

import sys

import numpy as np
import pandas as pd
import pytest
from fairlearn import metrics
from sklearn.metrics import accuracy_score

from fairsmooth import InputError
from fairsmooth.metrics import audit


def rows(n=300):
    rng = np.random.default_rng(0)
    groups = pd.DataFrame({"a": rng.choice(["x", "y"], n), "b": rng.choice(["1", "2"], n)})
    return rng.integers(0, 2, n), rng.random(n), groups


def test_it_is_that_of_the_rows():
    y, score, groups = rows()
    found = audit(y_true=y, y_score=score, sensitive_features=groups["a"]).to_metric_frame()
    measured = {
        "count": metrics.count, "selection_rate": metrics.selection_rate,
        "accuracy": accuracy_score, "true_positive_rate": metrics.true_positive_rate,
        "false_positive_rate": metrics.false_positive_rate,
    }  # fmt: skip
    direct = metrics.MetricFrame(
        metrics=measured, y_true=y, y_pred=(score > 0.5).astype(int),
        sensitive_features=groups["a"],
    )  # fmt: skip
    for name in measured:
        np.testing.assert_allclose(found.by_group[name], direct.by_group[name])
        assert found.overall[name] == pytest.approx(direct.overall[name])
    assert found.difference()["selection_rate"] == pytest.approx(
        direct.difference()["selection_rate"]
    )


def test_intersections_and_rows_without_labels():
    _, score, groups = rows()
    found = audit(y_score=score, sensitive_features=groups).to_metric_frame()
    assert found.by_group.index.names == ["group_1", "group_2"]
    assert set(found.by_group.columns) == {"count", "selection_rate"}
    mine = (groups["a"] == "x") & (groups["b"] == "2")
    assert found.by_group.loc[("x", "2"), "selection_rate"] == (score[mine] > 0.5).mean()


def test_without_fairlearn_it_says_what_to_install(monkeypatch):
    y, score, groups = rows()
    found = audit(y_true=y, y_score=score, sensitive_features=groups["a"])
    monkeypatch.setitem(sys.modules, "fairlearn", None)
    with pytest.raises(InputError, match=r"pip install 'fairsmooth\[compare\]'"):
        found.to_metric_frame()
