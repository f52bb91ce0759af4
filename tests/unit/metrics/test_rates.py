"""The kernel against fairlearn, against plain loops, and against itself."""

import numpy as np
import pytest
from fairlearn.metrics import (
    MetricFrame,
    false_positive_rate,
    selection_rate,
    true_positive_rate,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import zero_one_loss

from fairsmooth.data.groups import Groups
from fairsmooth.metrics.rates import (
    GAPS,
    RATES,
    cell_sums,
    gaps_of,
    measure,
    rate_samples,
    rates_of,
)


def draw(seed, n_rows=300, n_groups=3):
    rng = np.random.default_rng(seed)
    groups = Groups(tuple("abcdef"[:n_groups]), rng.integers(0, n_groups, n_rows))
    return rng.random(n_rows), rng.integers(0, 2, n_rows), groups


def test_rates_of_decisions_are_fairlearns():
    scores, y, groups = draw(0)
    decisions = (scores > 0.4).astype(int)
    metrics = (selection_rate, true_positive_rate, false_positive_rate, zero_one_loss)
    frame = MetricFrame(
        metrics=dict(zip(RATES, metrics, strict=True)),
        y_true=y,
        y_pred=decisions,
        sensitive_features=groups.codes,
    )
    rates = rates_of(*cell_sums(decisions, y, groups))
    for name in RATES:
        np.testing.assert_allclose(rates[name][:-1], frame.by_group[name])
        assert rates[name][-1] == pytest.approx(frame.overall[name])
    assert gaps_of(rates)["demographic_parity"] == pytest.approx(
        frame.difference()["selection_rate"]
    )


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_rates_are_means_of_their_samples(data):
    n_rows, n_groups = data.draw(st.integers(1, 30)), data.draw(st.integers(1, 4))
    lists = {
        "scores": st.floats(0, 1),
        "y": st.integers(0, 1),
        "codes": st.integers(0, n_groups - 1),
    }
    drawn = {
        name: np.array(data.draw(st.lists(each, min_size=n_rows, max_size=n_rows)))
        for name, each in lists.items()
    }
    groups = Groups(tuple(range(n_groups)), drawn["codes"])
    rates = rates_of(*cell_sums(drawn["scores"], drawn["y"], groups))
    for name, samples in rate_samples(drawn["scores"], drawn["y"], groups).items():
        means = [sample.mean() if len(sample) else np.nan for sample in samples]
        np.testing.assert_allclose(rates[name], means, atol=1e-12)
    defined = [rates[name][:-1][~np.isnan(rates[name][:-1])] for name in RATES[:3]]
    ranges = [np.ptp(each) if len(each) > 1 else np.nan for each in defined]
    expected = ranges[0], ranges[1] + ranges[2], np.maximum(ranges[1], ranges[2])
    np.testing.assert_allclose([gaps_of(rates)[name] for name in GAPS], expected, atol=1e-12)


def test_weights_count_rows():
    scores, y, groups = draw(1)
    counts, sums = cell_sums(scores, y, groups)
    stacked = rates_of(np.stack([counts, 3 * counts]), np.stack([sums, 3 * sums]))
    for name in RATES:
        np.testing.assert_allclose(stacked[name][0], stacked[name][1])
        assert stacked[name].shape == (2, 4)


def test_what_no_group_has_is_not_a_number():
    groups = Groups(("a", "b"), np.array([0, 0, 1]))
    found = measure([1, 0, 1], np.array([1, 0, 0]), groups)
    assert found["demographic_parity"] == 0.5
    assert np.isnan(found["equalized_odds_sum"])
    assert found["accuracy"] == pytest.approx(2 / 3)
    assert found["selection_rate"] == pytest.approx(2 / 3)
