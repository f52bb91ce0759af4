"""An audit of weighted rows."""

import numpy as np
import pytest

from fairsmooth import FairSmoothClassifier, InputError
from fairsmooth.metrics import audit

MEASURED = ("accuracy", "demographic_parity", "equalized_odds_sum", "equalized_odds_max")


@pytest.fixture
def rows():
    random = np.random.default_rng(0)
    y, groups = random.integers(0, 2, 300), random.integers(0, 3, 300)
    scores = np.clip(0.3 + 0.2 * y + 0.1 * groups + random.normal(0, 0.1, 300), 0.0, 1.0)
    return {"y_true": y, "y_score": scores, "sensitive_features": groups}


def test_whole_weights_measure_what_repeated_rows_do(rows):
    weights = np.random.default_rng(1).integers(0, 4, 300)
    chosen = np.repeat(np.arange(300), weights)
    weighted = audit(**rows, sample_weight=weights).summary()
    repeated = audit(**{name: values[chosen] for name, values in rows.items()}).summary()
    for name in (*MEASURED, "impact_ratio"):
        assert weighted[name] == pytest.approx(repeated[name], abs=1e-12)
    for ours, theirs in zip(weighted["groups"], repeated["groups"], strict=True):
        for rate in ("selection_rate", "expected_true_positive_rate", "error_rate"):
            assert ours[rate] == pytest.approx(theirs[rate], abs=1e-12)


@pytest.mark.parametrize("weight", [1.0, 7.5])
def test_equal_weights_have_the_intervals_of_none(rows, weight):
    weighted = audit(**rows, sample_weight=np.full(300, weight))
    plain = audit(**rows)
    names = ("selection_rate", "true_positive_rate", "error_rate", "accuracy")
    records = [plain.find(name, group) for name in names for group in (0, 1, 2, None)]
    records += [plain.find(name) for name in MEASURED[1:]]
    for record in records:
        ours = weighted.find(record.metric, record.group)
        found = (ours.value, ours.low, ours.high)
        assert found == pytest.approx((record.value, record.low, record.high), abs=1e-9)


def test_intervals_of_weighted_rates_nearly_hold():
    """Rows drawn unevenly, weighted back: the interval covers the even rate as often as it says."""
    random = np.random.default_rng(2)
    held = 0
    for _ in range(300):
        kind = random.random(400) < 0.5
        selected = random.random(400) < np.where(kind, 0.7, 0.2)
        weights = np.where(kind, 0.2, 0.8) / 0.5
        found = audit(
            y_pred=selected.astype(int),
            y_true=np.arange(400) % 2,
            sensitive_features=np.arange(400) // 2 % 2,
            sample_weight=weights,
        ).find("selection_rate")
        held += found.low <= 0.2 * 0.7 + 0.8 * 0.2 <= found.high
    assert held / 300 > 0.92


def test_what_has_no_weighted_form_is_left_out(biased):
    groups = biased.sensitive_features
    clf = FairSmoothClassifier(random_state=0).fit(biased.X, biased.y, sensitive_features=groups)
    weights = np.linspace(0.5, 2.0, len(biased.y))
    found = audit(clf, biased.X, biased.y, sensitive_features=groups, sample_weight=weights)
    assert found.find("tying_cost_log_loss", clf.groups_[0]) is None
    # Mean distances would be those of rows without weights; the largest is that of a row.
    kinds = {record.metric for record in found.records if record.metric.startswith("epsilon")}
    assert kinds == {"epsilon_linf", "epsilon_linf_all_rows"}
    summary = found.summary()
    assert summary["tying_cost"] is None
    assert summary["measured_gap"] <= summary["epsilon_tight"]
    assert "effective" not in str(found.find("accuracy"))
    assert "rows without weights" in found.find("accuracy").note
    assert found.to_frame().shape[0] == len(found.records)
    unlabelled = audit(clf, biased.X, sensitive_features=groups, sample_weight=weights)
    assert unlabelled.find("accuracy") is None


def test_shifts_have_no_weights_and_groups_without_weight_no_rate(rows, biased):
    groups = biased.sensitive_features
    clf = FairSmoothClassifier(random_state=0).fit(biased.X, biased.y, sensitive_features=groups)
    with pytest.raises(InputError, match="either sample_weight or shift=True"):
        audit(clf, biased.X, biased.y, sensitive_features=groups, shift=True,
              sample_weight=np.ones(len(biased.y)))  # fmt: skip
    weights = (rows["sensitive_features"] == 0).astype(float)
    found = audit(**rows, sample_weight=weights)
    assert "undefined" in found.find("selection_rate", 1).note
    assert "undefined" in found.find("impact_ratio").note
    assert np.isnan(found.find("demographic_parity").value)


def test_rates_of_a_label_count_its_rows_alone():
    y = np.array([1, 0, 0, 0, 1, 1, 1, 0])
    found = audit(
        y_true=y, y_score=np.full(8, 0.7), sensitive_features=list("aaaabbbb"),
        sample_weight=np.arange(1.0, 9.0),
    )  # fmt: skip
    for prefix in ("", "expected_"):
        for group, positive in (("a", 1), ("b", 3), (None, 4)):
            rows = 8 if group is None else 4
            assert found.find(f"{prefix}true_positive_rate", group).count == positive
            assert found.find(f"{prefix}false_positive_rate", group).count == rows - positive
            assert found.find(f"{prefix}selection_rate", group).count == rows
