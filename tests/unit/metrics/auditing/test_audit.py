import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from fairsmooth.exceptions import GroupError, InputError
from fairsmooth.metrics import (
    accuracy,
    audit,
    demographic_parity_gap,
    equalized_odds_gap,
    group_rates,
)
from fairsmooth.metrics.auditing.result import Audit

SUMMARY = {
    "accuracy",
    "demographic_parity",
    "equalized_odds_sum",
    "equalized_odds_max",
    "epsilon",
    "epsilon_tight",
    "max_distance",
    "measured_gap",
    "tying_cost",
    "impact_ratio",
    "impact_ratio_low",
    "impact_ratio_high",
    "four_fifths",
    "groups",
}


@pytest.fixture
def result(case) -> Audit:
    return audit(case.clf, case.X, case.y, sensitive_features=case.group)


def test_decisions_agree_with_fairlearn(case, result):
    predicted = case.clf.predict(case.X)
    summary = result.summary()
    assert summary["accuracy"] == pytest.approx(accuracy(case.y, predicted))
    arguments = (case.y, predicted)
    assert summary["demographic_parity"] == pytest.approx(
        demographic_parity_gap(*arguments, sensitive_features=case.group)
    )
    for kind in ("sum", "max"):
        assert summary[f"equalized_odds_{kind}"] == pytest.approx(
            equalized_odds_gap(*arguments, sensitive_features=case.group, kind=kind)
        )
    rates = group_rates(*arguments, sensitive_features=case.group)
    for group in ("f", "m"):
        for name in rates.columns.drop("count"):
            assert result.find(name, group).value == pytest.approx(rates.loc[group, name])


def test_expected_rates_average_the_scores(case, result):
    scores = case.clf.predict_proba(case.X)[:, 1]
    mine = case.group == "m"
    expected = {
        "expected_selection_rate": scores[mine].mean(),
        "expected_true_positive_rate": scores[mine & (case.y == 1)].mean(),
        "expected_false_positive_rate": scores[mine & (case.y == 0)].mean(),
        "expected_error_rate": np.abs(scores - case.y)[mine].mean(),
    }
    assert {name: result.find(name, "m").value for name in expected} == pytest.approx(expected)


def test_every_rate_and_gap_has_an_interval_and_a_count(result):
    for record in result.records:
        if record.metric.endswith(("rate", "accuracy", "parity", "_sum", "_max")) and (
            "distance" not in record.metric
        ):
            assert record.low <= record.value <= record.high, record
            assert record.count > 0


def test_summary_has_the_keys_of_the_command_line(case, result):
    summary = result.summary()
    assert set(summary) == SUMMARY
    certificate = case.clf.certificate_
    assert summary["epsilon"] == certificate.epsilon
    assert 0 < summary["measured_gap"] <= summary["epsilon_tight"] <= summary["epsilon"]
    assert [group["group"] for group in summary["groups"]] == ["f", "m"]
    assert [group["count"] for group in summary["groups"]] == [
        int((case.group == group).sum()) for group in ("f", "m")
    ]
    assert summary["groups"][0]["epsilon"] == certificate.epsilon_by_group["f"]


def test_everything_fits_into_json(case):
    result = audit(
        case.clf, case.X[:40], np.zeros(40, dtype=int), sensitive_features=case.group[:40],
        shift=True,
    )  # fmt: skip
    plain = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert plain["n_rows"] == 40
    assert plain["records"][3]["value"] is None
    assert {"records", "statements", "shift", "certificate"} <= set(plain)


def test_records_as_a_table(result):
    frame = result.to_frame()
    assert len(frame) == len(result.records)
    assert frame["group"].iloc[2] is None


def test_a_rate_over_no_rows_is_nan_with_a_reason(case):
    y = np.where(case.group == "f", 0, case.y)
    result = audit(case.clf, case.X, y, sensitive_features=case.group)
    record = result.find("true_positive_rate", "f")
    assert np.isnan(record.value)
    assert record.note == "undefined: no positive rows"
    assert (record.low, record.high, record.count) == (0.0, 1.0, 0)
    gap = result.find("equalized_odds_sum")
    assert np.isnan(gap.value)
    assert "fewer than two groups" in gap.note


def test_a_group_of_the_model_that_is_absent(case):
    rows = case.group == "m"
    result = audit(case.clf, case.X[rows], case.y[rows], sensitive_features=case.group[rows])
    absent = [record for record in result.records if record.group == "f" and record.count == 0]
    assert absent
    assert all(np.isnan(record.value) and record.note for record in absent)


def test_gaps_that_the_data_cannot_tell_are_flagged(case):
    rng = np.random.default_rng(0)
    shuffled = rng.permutation(case.group)
    result = audit(case.clf, case.X, case.y, sensitive_features=shuffled)
    record = result.find("equalized_odds_sum")
    assert "cannot tell" in record.note
    assert record.value <= result.find("equalized_odds_sum_noise_floor").high
    by_decision = np.where(case.clf.predict(case.X) == 1, "f", "m")
    clear = audit(case.clf, case.X, case.y, sensitive_features=by_decision)
    assert clear.find("demographic_parity").note == ""


def test_agreement_is_what_the_certificate_proves(case, result):
    scores = case.clf.predict_proba(case.X)[:, 1]
    for group in ("f", "m"):
        rows = case.group == group
        own = case.clf.predict_proba_group(case.X, group)[:, 1]
        ends = case.clf.certificate_.interval(scores, group)
        proved = (ends[:, 0] > 0.5) | (ends[:, 1] <= 0.5)
        assert ((own > 0.5) == (scores > 0.5))[proved].all()
        assert result.find("certified_agreement", group).value == pytest.approx(proved[rows].mean())


def test_the_threshold_of_the_classifier_is_used(case):
    case.clf.threshold_ = 0.8
    result = audit(case.clf, case.X, case.y, sensitive_features=case.group)
    assert result.threshold == 0.8
    selected = (case.clf.predict_proba(case.X)[:, 1] > 0.8).mean()
    assert result.find("selection_rate").value == pytest.approx(selected)


def test_a_classifier_without_certificate_gets_rates_and_gaps(case):
    plain = LogisticRegression().fit(case.X, case.y)
    result = audit(plain, case.X, case.y, sensitive_features=case.group, shift=True)
    summary = result.summary()
    assert summary["epsilon"] is None
    assert summary["measured_gap"] is None
    assert summary["accuracy"] == pytest.approx(plain.score(case.X, case.y))
    assert not any(statement.certified for statement in result.statements)
    assert all(point.low is None for point in result.shift.points)


def test_frames_give_what_arrays_give(case, result):
    frame = pd.DataFrame(case.X, columns=["age", "hours"], index=np.arange(600) + 7)
    again = audit(
        case.clf, frame, pd.Series(case.y, index=frame.index),
        sensitive_features=pd.Series(case.group, index=frame.index),
    )  # fmt: skip
    # BLAS picks kernels by memory order too, so the last digit may move: docs/reproducibility.md.
    assert_same_numbers(again.summary(), result.summary())


def assert_same_numbers(found, expected):
    """Compare plain data: numbers to 1e-12, everything else exactly."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for name, value in expected.items():
            assert_same_numbers(found[name], value)
    elif isinstance(expected, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_same_numbers(one, other)
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=0, abs=1e-12, nan_ok=True)
    else:
        assert found == expected


def test_find_nothing(result):
    assert result.find("no_such_metric") is None


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"y": np.full(600, 2)}, InputError, r"Expected y among the labels .*, got \[2\]"),
        ({"y": np.zeros((600, 2))}, InputError, "Expected y with one label per row"),
        ({"y": np.zeros(3, dtype=int)}, InputError, r"Expected y to have one entry per row"),
        ({"sensitive_features": ["f"] * 5}, InputError, "one entry per row of X"),
        ({"sensitive_features": ["x"] * 600}, GroupError, r"among the groups .* got \['x'\]"),
        ({"confidence": 1.0}, InputError, "Expected confidence between"),
    ],
)
def test_bad_input(case, changes, error, message):
    arguments = {"y": case.y, "sensitive_features": case.group, **changes}
    with pytest.raises(error, match=message):
        audit(case.clf, case.X, **arguments)


def test_a_gap_whose_interval_is_above_zero_is_not_flagged(probit_model):
    # Few positive rows make the true positive rates noisy; the false positive rates
    # of many negative rows differ for sure.
    rng = np.random.default_rng(0)
    group = np.repeat(["f", "m"], 3000)
    y = np.zeros(6000, dtype=int)
    y[[0, 1, 2, 3000, 3001, 3002]] = 1
    X = rng.normal(size=(6000, 1)) + 0.4 * (group == "m")[:, None]
    X[y == 1] = [[1.0], [1.0], [-1.0], [1.0], [1.0], [-1.0]]
    clf = probit_model([[1.0, 0.0], [1.0, 0.0]], sigma=0.1, groups=("f", "m"))
    result = audit(clf, X, y, sensitive_features=group)
    record = result.find("equalized_odds_max")
    assert record.value < result.find("equalized_odds_max_noise_floor").high
    assert record.low > 0
    assert record.note == ""


def test_a_gap_says_how_many_groups_it_leaves_out():
    y = np.array([1, 0] * 40 + [0] * 5)
    groups = ["a"] * 40 + ["b"] * 40 + ["c"] * 5
    found = audit(y_true=y, y_pred=np.ones(85, dtype=int), sensitive_features=groups)
    for name in ("equalized_odds_sum", "equalized_odds_max"):
        assert found.find(name).note.startswith("over the groups that have the rates; 1 lacks one")
    assert "lacks" not in found.find("demographic_parity").note
