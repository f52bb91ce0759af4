import numpy as np
import pytest
from sklearn.metrics import accuracy_score, log_loss

from fairsmooth.metrics import audit


def _costs(case, **arguments):
    result = audit(case.clf, case.X, case.y, sensitive_features=case.group, **arguments)
    return {
        (record.metric, record.group): record
        for record in result.records
        if record.metric.startswith("tying_cost")
    }, result


def test_costs_agree_with_scikit_learn(case):
    costs, result = _costs(case)
    for group in ("f", "m"):
        rows = case.group == group
        own = case.clf.predict_proba_group(case.X[rows], group)
        free = case.clf.predict_proba_free(case.X[rows], group)
        y = case.y[rows]
        loss, hits = costs["tying_cost_log_loss", group], costs["tying_cost_accuracy", group]
        assert loss.value == pytest.approx(log_loss(y, own) - log_loss(y, free))
        assert hits.value == pytest.approx(
            accuracy_score(y, free[:, 1] > 0.5) - accuracy_score(y, own[:, 1] > 0.5)
        )
        assert loss.low < loss.value < loss.high
        assert hits.low < hits.value < hits.high
    largest = max(costs["tying_cost_log_loss", group].value for group in ("f", "m"))
    assert result.summary()["tying_cost"] == pytest.approx(largest)


def test_untied_groups_gave_up_nothing(case):
    case.clf.free_group_parameters_ = None
    case.clf.alpha = 0
    costs, result = _costs(case)
    assert {record.value for record in costs.values()} == {0.0}
    assert result.summary()["tying_cost"] == 0.0


def test_without_a_free_classifier_the_cost_is_unknown(case):
    case.clf.free_group_parameters_ = None
    costs, result = _costs(case)
    assert all(np.isnan(record.value) for record in costs.values())
    assert all("no free classifier" in record.note for record in costs.values())
    assert result.summary()["tying_cost"] is None
