import re

import numpy as np
import pytest

from fairsmooth.metrics import audit


def _statements(clf, case, kind):
    result = audit(clf, case.X, case.y, sensitive_features=case.group)
    return [statement for statement in result.statements if statement.kind == kind]


def _last_number(text):
    return float(re.findall(r"\d+\.\d+", text)[-1])


def test_rates_carry_each_groups_bound_rounded_up(case):
    for statement in _statements(case.clf, case, "rates"):
        bound = case.clf.certificate_.epsilon_by_group[statement.groups[0]]
        assert statement.value == bound
        assert statement.certified
        assert 0 <= _last_number(statement.text) - bound < 1e-4


def test_decisions_carry_the_proved_share(case):
    scores = case.clf.predict_proba(case.X)[:, 1]
    for statement in _statements(case.clf, case, "decisions"):
        (group,) = statement.groups
        rows = case.group == group
        ends = case.clf.certificate_.interval(scores[rows], group)
        proved = int(((ends[:, 0] > 0.5) | (ends[:, 1] <= 0.5)).sum())
        assert statement.value == pytest.approx(proved / rows.sum())
        assert f"Of the {rows.sum()} rows" in statement.text
        assert f"{proved} (" in statement.text
        assert f"other {rows.sum() - proved} nothing" in statement.text


def test_disparity_carries_the_sum_of_two_bounds(case):
    (statement,) = _statements(case.clf, case, "disparity")
    total = sum(case.clf.certificate_.epsilon_by_group.values())
    assert statement.value == pytest.approx(total)
    assert statement.value >= total
    assert 0 <= _last_number(statement.text) - total < 2e-4


def test_gaps_are_said_to_be_measured_only(case):
    first, second = _statements(case.clf, case, "gap")
    result = audit(case.clf, case.X, case.y, sensitive_features=case.group)
    assert first.value == result.find("demographic_parity").value
    assert second.value == result.find("equalized_odds_sum").value
    for statement in (first, second):
        assert not statement.certified
        assert statement.text.startswith("Not certified")
        assert f"{statement.value:.4f}" in statement.text


def test_the_tie_names_the_group_that_paid_most(case):
    (statement,) = _statements(case.clf, case, "tie")
    result = audit(case.clf, case.X, case.y, sensitive_features=case.group)
    costs = {g: result.find("tying_cost_log_loss", g).value for g in ("f", "m")}
    assert statement.groups == (max(costs, key=costs.get),)
    assert statement.value == max(costs.values())
    expected = f"{statement.value:.4f}" if statement.value > 0 else "no group"
    assert expected in statement.text


def test_identical_groups_need_no_bound(case, probit_model):
    clf = probit_model(np.ones((2, 3)), sigma=0.5, groups=("f", "m"), free=np.ones((2, 3)))
    rates = _statements(clf, case, "rates")
    assert all(s.value == 0 and "the bound is 0" in s.text for s in rates)
    assert all(s.value == 1.0 for s in _statements(clf, case, "decisions"))
    assert "no group any log-loss" in _statements(clf, case, "tie")[0].text


def test_without_smoothing_nothing_is_certified(case, probit_model):
    clf = probit_model([[1.0, 0, 0], [0, 1.0, 0]], sigma=0.0, groups=("f", "m"))
    rates, pairs = (_statements(clf, case, kind) for kind in ("rates", "disparity"))
    for statement in (*rates, *pairs):
        assert not statement.certified
        assert statement.text.startswith("Nothing is certified")


def test_many_groups_name_the_pair_with_the_largest_bound(case, probit_model):
    parameters = np.random.default_rng(0).normal(size=(5, 3)) * 0.1
    clf = probit_model(parameters, sigma=1.0, groups=tuple("abcde"))
    case.group = np.array(list("abcde"))[np.arange(600) % 5]
    (statement,) = _statements(clf, case, "disparity")
    bounds = sorted(clf.certificate_.epsilon_by_group.values())
    assert statement.value == pytest.approx(bounds[-1] + bounds[-2])
    assert "the pair with the largest bound" in statement.text


def test_a_gap_that_cannot_be_measured_says_why(case):
    case.y = np.where(case.group == "f", 0, case.y)
    statement = _statements(case.clf, case, "gap")[1]
    assert "not measured" in statement.text
    assert "fewer than two groups" in statement.text
