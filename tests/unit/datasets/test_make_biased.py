import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from fairsmooth.datasets import make_biased
from fairsmooth.exceptions import InputError


def true_probability(data):
    return data.truth.probability(data.X, data.sensitive_features)


def test_labels_follow_the_true_probabilities():
    data = make_biased(40_000, n_groups=3, bias=2.0, disagreement=1.0, noise=0.2)
    chance = true_probability(data)
    bins = np.digitize(chance, np.linspace(0, 1, 11))
    for place in np.unique(bins):
        rows = bins == place
        error = np.sqrt(chance[rows].var() + 0.25) / np.sqrt(rows.sum())
        assert abs(data.y[rows].mean() - chance[rows].mean()) < 4 * error


def test_probability_is_the_stated_formula():
    data = make_biased(50, n_groups=3, bias=3.0, disagreement=0.5, noise=0.1)
    truth = data.truth
    for row in range(len(data)):
        k = truth.groups.index(data.sensitive_features[row])
        logit = truth.group_coefficients[k] @ data.X.to_numpy()[row] + 3.0 * (0.5 - k / 2)
        expected = 0.9 / (1 + np.exp(-logit)) + 0.05
        assert true_probability(data)[row] == pytest.approx(expected, rel=1e-12)


def test_groups_own_logistic_regressions_find_the_true_coefficients():
    data = make_biased(60_000, n_features=4, bias=2.0, shift=0.5, disagreement=1.0)
    for k, group in enumerate(data.truth.groups):
        rows = data.sensitive_features == group
        model = LogisticRegression(C=np.inf).fit(data.X[rows], data.y[rows])
        np.testing.assert_allclose(model.coef_[0], data.truth.group_coefficients[k], atol=0.1)
        assert model.intercept_[0] == pytest.approx(data.truth.intercepts[k], abs=0.1)


def test_features_have_the_stated_mean_and_covariance():
    data = make_biased(40_000, n_features=3, shift=2.0)
    for k, group in enumerate(data.truth.groups):
        X = data.X[data.sensitive_features == group]
        assert np.linalg.norm(data.truth.means[k]) == pytest.approx(2.0)
        np.testing.assert_allclose(X.mean(), data.truth.means[k], atol=0.03)
        np.testing.assert_allclose(X.cov(), np.eye(3), atol=0.05)


def test_lengths_of_the_coefficients():
    truth = make_biased(100, signal=3.0, disagreement=0.7).truth
    assert np.linalg.norm(truth.coefficients) == pytest.approx(3.0)
    apart = np.linalg.norm(truth.group_coefficients - truth.coefficients, axis=1)
    np.testing.assert_allclose(apart, 0.7)


def test_without_bias_and_disagreement_groups_share_one_rule():
    data = make_biased(200, bias=0.0)
    unbiased = data.truth.unbiased_probability(data.X)
    np.testing.assert_allclose(true_probability(data), unbiased, rtol=1e-12)


def test_bias_is_the_difference_in_log_odds_at_equal_features():
    data = make_biased(20, n_groups=4, bias=1.5)
    logits = [
        np.log(p / (1 - p))
        for p in (data.truth.probability(data.X, [group] * 20) for group in data.truth.groups)
    ]
    np.testing.assert_allclose(logits[0] - logits[-1], 1.5, rtol=1e-9)


def test_bias_widens_the_gap_between_groups():
    gaps = []
    for bias in (0.0, 2.0):
        data = make_biased(20_000, bias=bias, shift=0.0)
        rates = pd.Series(data.y).groupby(data.sensitive_features).mean()
        gaps.append(rates["g0"] - rates["g1"])
    assert abs(gaps[0]) < 0.03
    assert gaps[1] > 0.15


def test_noise_of_one_leaves_a_coin():
    data = make_biased(10, noise=1.0)
    np.testing.assert_array_equal(true_probability(data), 0.5)


def test_group_sizes_follow_the_weights():
    data = make_biased(1000, n_groups=3, group_weights=[1, 3, 6])
    assert data.groups.counts.tolist() == [100, 300, 600]
    assert len(np.unique(data.groups.codes[:50])) == 3


def test_order_of_groups_holds_beyond_ten():
    data = make_biased(1200, n_groups=12)
    assert data.groups.labels == data.truth.groups


def test_the_same_truth_with_other_rows_and_another_population():
    first = make_biased(300, truth_state=4, random_state=0)
    other = make_biased(300, truth_state=4, random_state=1, group_weights=[1, 9], shift=3.0)
    np.testing.assert_array_equal(first.truth.coefficients, other.truth.coefficients)
    np.testing.assert_allclose(other.truth.means, 3.0 * first.truth.means)
    assert not set(first.X["x0"]) & set(other.X["x0"])
    assert (make_biased(10, truth_state=5).truth.coefficients != first.truth.coefficients).all()


def test_rows_are_reproducible():
    pd.testing.assert_frame_equal(make_biased(50).X, make_biased(50).X)
    np.testing.assert_array_equal(make_biased(50).y, make_biased(50).y)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"n_groups": 1}, "n_groups >= 2, got n_groups=1"),
        ({"n_samples": 0}, "n_samples >= 1, got n_samples=0"),
        ({"n_features": 0}, "n_features >= 1, got n_features=0"),
        ({"noise": 1.5}, "noise between 0 and 1, got noise=1.5"),
        ({"shift": -1.0}, "shift >= 0, got shift=-1.0"),
        ({"signal": float("inf")}, "signal >= 0, got signal=inf"),
        ({"bias": float("nan")}, "a finite bias, got bias=nan"),
        ({"group_weights": [1, 2, 3]}, r"hold 2 positive numbers, got \[1, 2, 3\]"),
        ({"group_weights": [1, 0]}, r"hold 2 positive numbers, got \[1, 0\]"),
        ({"n_samples": 10, "group_weights": [1, 99]}, r"each of 2 groups, got sizes \[0, 10\]"),
    ],
)
def test_bad_arguments(arguments, match):
    with pytest.raises(InputError, match=match):
        make_biased(**arguments)
