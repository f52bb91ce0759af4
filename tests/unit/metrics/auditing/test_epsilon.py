import numpy as np
import pytest

from fairsmooth.exceptions import InputError
from fairsmooth.metrics import audit
from fairsmooth.metrics.auditing.epsilon import sample_norm


def test_sample_norm_is_the_papers_times_a_power_of_the_size():
    differences = np.random.default_rng(0).normal(size=50)
    for p in (1, 2, 3):
        papers = np.linalg.norm(differences, p) / 50
        assert sample_norm(differences, p) == pytest.approx(papers * 50 ** (1 - 1 / p))
        assert papers <= sample_norm(differences, p) + 1e-15


def test_sample_norms_are_ordered():
    differences = np.random.default_rng(1).uniform(-1, 1, 30)
    norms = [sample_norm(differences, p) for p in (1, 2, np.inf)]
    assert norms == sorted(norms)


def test_no_rows_have_no_norm():
    assert np.isnan(sample_norm([], 2))


def test_norms_below_one_are_refused():
    with pytest.raises(InputError, match=r"Expected p >= 1, got p=0.5."):
        sample_norm([1.0], 0.5)


def test_measured_epsilon_is_within_its_bound(case):
    result = audit(case.clf, case.X, case.y, sensitive_features=case.group)
    overall = case.clf.predict_proba(case.X)[:, 1]
    for group in ("f", "m"):
        gaps = np.abs(overall - case.clf.predict_proba_group(case.X, group)[:, 1])
        mine = case.group == group
        for name, rows in (("", mine), ("_all_rows", slice(None))):
            measured = [result.find(f"epsilon_{p}{name}", group) for p in ("l1", "l2", "linf")]
            assert [record.value for record in measured] == pytest.approx(
                [gaps[rows].mean(), np.sqrt((gaps[rows] ** 2).mean()), gaps[rows].max()]
            )
            assert all(0 < record.value <= record.bound for record in measured)


def test_rates_stay_within_the_bound_of_the_groups_own(case):
    result = audit(case.clf, case.X, case.y, sensitive_features=case.group)
    mine = (case.group == "f") & (case.y == 1)
    expected = abs(
        case.clf.predict_proba(case.X)[mine, 1].mean()
        - case.clf.predict_proba_group(case.X, "f")[mine, 1].mean()
    )
    record = result.find("distance_from_own_true_positive_rate", "f")
    assert record.value == pytest.approx(expected)
    assert record.count == mine.sum()
    distances = [r for r in result.records if r.metric.startswith("distance_from_own")]
    assert len(distances) == 8
    assert all(
        r.value <= r.bound == case.clf.certificate_.epsilon_by_group[r.group] for r in distances
    )
