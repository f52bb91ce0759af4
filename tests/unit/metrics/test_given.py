"""Audits of scores and decisions alone, without labels, and of classifiers of all kinds."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from fairsmooth.estimator import FairSmoothClassifier
from fairsmooth.exceptions import InputError
from fairsmooth.metrics import audit, audit_shift
from fairsmooth.metrics.given import given_rows

LABELLED = {"accuracy", "equalized_odds_sum", "true_positive_rate", "auc", "base_rate"}


def metrics_of(result):
    return {record.metric for record in result.records}


def assert_alike(one, other):
    """Compare records but for the last digits, which depend on the order of sums."""
    numbers = ("value", "low", "high")
    for name in numbers:
        if getattr(other, name) is None:
            assert getattr(one, name) is None
            continue
        assert getattr(one, name) == pytest.approx(getattr(other, name), rel=0, abs=1e-12)
    fixed = dict.fromkeys(numbers, 0.0)
    assert replace(one, **fixed) == replace(other, **fixed)


def test_scores_give_what_the_classifier_gives(case):
    plain = LogisticRegression().fit(case.X, case.y)
    by_model = audit(plain, case.X, case.y, sensitive_features=case.group)
    scores = plain.predict_proba(case.X)[:, 1]
    by_scores = audit(y_true=case.y, y_score=scores, sensitive_features=case.group)
    assert by_scores.records == by_model.records
    assert by_scores.threshold == 0.5


def test_labels_of_any_type_and_the_positive_one(case):
    words = np.where(case.y == 1, "bad", "good")
    scores = case.clf.predict_proba(case.X)[:, 1]
    found = audit(y_true=words, y_score=scores, sensitive_features=case.group, pos_label="bad")
    expected = audit(y_true=case.y, y_score=scores, sensitive_features=case.group)
    assert found.records == expected.records
    decided = audit(
        y_true=words, y_pred=np.where(scores > 0.5, "bad", "good"), pos_label="bad",
        sensitive_features=case.group,
    )  # fmt: skip
    assert decided.find("accuracy") == expected.find("accuracy")
    assert "expected_selection_rate" not in metrics_of(decided)
    assert "auc" not in metrics_of(decided)


def test_scores_beyond_one_rank_but_are_no_probabilities(case):
    points = 500 + 100 * case.clf.predict_proba(case.X)[:, 1]
    found = audit(y_true=case.y, y_score=points, threshold=550, sensitive_features=case.group)
    usual = audit(case.clf, case.X, case.y, sensitive_features=case.group)
    assert found.find("selection_rate") == usual.find("selection_rate")
    assert found.find("auc").value == pytest.approx(usual.find("auc").value)
    assert not metrics_of(found) & {"expected_selection_rate", "calibration", "brier_score"}


def test_decisions_win_over_scores(case):
    scores = case.clf.predict_proba(case.X)[:, 1]
    found = audit(y_score=scores, y_pred=(scores > 0.7).astype(int), sensitive_features=case.group)
    assert found.find("selection_rate").value == pytest.approx((scores > 0.7).mean())
    assert found.threshold is None


def test_without_labels_a_classifier_gets_what_needs_none(case):
    found = audit(case.clf, case.X, sensitive_features=case.group)
    usual = audit(case.clf, case.X, case.y, sensitive_features=case.group)
    assert not metrics_of(found) & LABELLED
    for metric in ("demographic_parity", "expected_demographic_parity", "impact_ratio",
                   "demographic_parity_noise_floor"):  # fmt: skip
        assert_alike(found.find(metric), usual.find(metric))
    for metric in ("selection_rate", "certified_agreement", "distance_from_own_selection_rate",
                   "epsilon_linf_all_rows", "impact_ratio"):  # fmt: skip
        assert_alike(found.find(metric, "f"), usual.find(metric, "f"))
    summary = found.summary()
    assert summary["accuracy"] is None
    assert summary["measured_gap"] == usual.summary()["measured_gap"]
    assert any("the rows have no labels" in statement.text for statement in found.statements)
    with pytest.raises(InputError, match="Expected a label for every row"):
        audit(case.clf, case.X, sensitive_features=case.group, shift=True)


def test_a_classifier_without_probabilities_decides_by_predict(case):
    svm = LinearSVC().fit(case.X, case.y)
    found = audit(svm, case.X, case.y, sensitive_features=case.group)
    assert found.find("accuracy").value == pytest.approx(svm.score(case.X, case.y))
    assert found.find("auc").value > 0.5
    assert "calibration" not in metrics_of(found)
    assert audit(svm, case.X, sensitive_features=case.group).find("accuracy") is None
    with pytest.raises(InputError, match=r"Expected scores in \[0, 1\]"):
        audit(svm, case.X, case.y, sensitive_features=case.group, shift=True)


class Rule:
    """Neither probabilities nor classes."""

    def predict(self, X):
        return np.where(np.asarray(X)[:, 0] > 0, "yes", "no")


def test_a_rule_that_can_only_predict(case):
    words = np.where(case.y == 1, "yes", "no")
    found = audit(Rule(), case.X, words, sensitive_features=case.group)
    assert found.find("accuracy").value == pytest.approx(((case.X[:, 0] > 0) == case.y).mean())
    bare = audit(Rule(), case.X, sensitive_features=case.group)
    assert bare.find("selection_rate") == found.find("selection_rate")


@pytest.fixture(scope="module")
def pipeline(biased):
    pipe = make_pipeline(StandardScaler(), FairSmoothClassifier(max_iter=30))
    groups = biased.sensitive_features
    return pipe.fit(biased.X, biased.y, fairsmoothclassifier__sensitive_features=groups)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_pipeline_keeps_the_certificate_of_its_last_step(biased, pipeline):
    groups = biased.sensitive_features
    for outer in (pipeline, make_pipeline(pipeline)):
        found = audit(outer, biased.X, biased.y, sensitive_features=groups)
        assert found.certificate is pipeline[-1].certificate_
        assert found.find("accuracy").value == pytest.approx(pipeline.score(biased.X, biased.y))
        assert 0 < found.summary()["measured_gap"] <= found.summary()["epsilon_tight"]
        assert found.find("tying_cost_log_loss", found.groups[0]) is not None
    curves = audit_shift(pipeline, biased.X, biased.y, sensitive_features=groups)
    assert any(point.low is not None for point in curves.points)


def test_a_pipeline_without_a_certificate_is_any_classifier(case):
    pipe = make_pipeline(StandardScaler(), LogisticRegression()).fit(case.X, case.y)
    found = audit(pipe, case.X, case.y, sensitive_features=case.group)
    assert found.certificate is None
    assert found.find("accuracy").value == pytest.approx(pipe.score(case.X, case.y))


GROUPS = ["a", "b"]
BAD = [
    ({}, "y_score, or y_pred, got none"),
    ({"y_pred": [0, 1], "threshold": 0.5}, "either y_pred or a threshold"),
    ({"y_score": [1.0, 7.0]}, "Expected a threshold for scores from 1 to 7"),
    ({"y_score": [0.1, 0.7], "threshold": np.nan}, "Expected a finite threshold"),
    ({"y_score": [0.1, np.nan]}, "Expected finite scores in y_score, got nan at row 1"),
    ({"y_score": ["a", "b"]}, "Expected y_score to be numbers"),
    ({"y_score": [[0.1], [0.2]]}, "Expected y_score with one score per row"),
    ({"y_pred": [[1], [0]]}, "Expected y_pred with one label per row"),
    ({"y_pred": [1, 0], "y_true": [1.0, None]}, "every row of y_true, got 1 missing"),
    ({"y_pred": [1, 0], "y_true": [1, 2]}, "Expected 2 labels"),
    ({"y_pred": ["no", "yes"], "pos_label": "Yes"}, "Expected pos_label among the labels"),
    ({"y_pred": ["no", "no"]}, "Pass pos_label"),
    ({"y_score": [0.1, 0.2], "y_true": [1]}, "Expected y_true to have one entry per row"),
    ({"y_score": [0.1, 0.2, 0.3]}, "one entry per row"),
]


@pytest.mark.parametrize(("given", "message"), BAD)
def test_bad_rows(given, message):
    with pytest.raises(InputError, match=message):
        given_rows(**given, sensitive_features=GROUPS)


def test_a_classifier_and_rows_do_not_mix(case):
    with pytest.raises(InputError, match="either a classifier or y_score"):
        audit(case.clf, case.X, y_score=[0.1], sensitive_features=case.group)
    with pytest.raises(InputError, match="Expected X with the classifier"):
        audit(case.clf, sensitive_features=case.group)
    with pytest.raises(InputError, match="Expected X and y with a classifier"):
        audit(X=case.X, y_score=[0.1], sensitive_features=case.group)
    with pytest.raises(InputError, match="Expected a classifier and X for the curves"):
        audit(y_score=[0.1, 0.9], sensitive_features=GROUPS, shift=True)


def test_groups_of_several_columns_are_spelt_one_way(probit_model):
    groups = (("f", "x"), ("m", "y"))
    frame = pd.DataFrame(list(groups) * 10, columns=["sex", "race"])
    clf = probit_model([[1.0, 0.0], [0.9, 0.1]], sigma=0.5, groups=groups, free=np.ones((2, 2)))
    found = audit(clf, np.linspace(-1, 1, 20)[:, None], [0, 1] * 10, sensitive_features=frame)
    texts = [statement.text for statement in found.statements if statement.groups]
    assert texts
    assert all("f|x" in text or "m|y" in text for text in texts)
