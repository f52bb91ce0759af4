import numpy as np
import pandas as pd
import pytest
from fairlearn.metrics import demographic_parity_difference, equalized_odds_difference

from fairsmooth.exceptions import InputError
from fairsmooth.metrics import accuracy, demographic_parity_gap, equalized_odds_gap, group_rates


@pytest.fixture(params=[2, 5])
def sample(request):
    rng = np.random.default_rng(request.param)
    return rng.integers(0, 2, 400), rng.integers(0, 2, 400), rng.integers(0, request.param, 400)


def test_gaps_agree_with_fairlearn(sample):
    y, predicted, group = sample
    assert demographic_parity_gap(y, predicted, sensitive_features=group) == pytest.approx(
        demographic_parity_difference(y, predicted, sensitive_features=group)
    )
    worst = equalized_odds_difference(y, predicted, sensitive_features=group)
    mean = equalized_odds_difference(y, predicted, sensitive_features=group, agg="mean")
    odds = {
        kind: equalized_odds_gap(y, predicted, sensitive_features=group, kind=kind)
        for kind in ("sum", "max")
    }
    assert odds == pytest.approx({"sum": 2 * mean, "max": worst})


def test_the_sum_is_the_papers(sample):
    y, predicted, group = sample
    rates = group_rates(y, predicted, sensitive_features=group)
    expected = sum(
        rates[name].max() - rates[name].min()
        for name in ("true_positive_rate", "false_positive_rate")
    )
    assert equalized_odds_gap(y, predicted, sensitive_features=group) == pytest.approx(expected)


def test_rates_by_hand():
    y = [1, 1, 0, 0, 0, 1, 1, 1]
    predicted = [1, 0, 1, 0, 0, 1, 1, 0]
    rates = group_rates(y, predicted, sensitive_features=list("aaaaabbb"))
    assert rates.loc["a"].to_dict() == pytest.approx(
        {
            "count": 5,
            "selection_rate": 0.4,
            "true_positive_rate": 0.5,
            "false_positive_rate": 1 / 3,
            "error_rate": 0.4,
            "accuracy": 0.6,
        }
    )
    assert np.isnan(rates.loc["b", "false_positive_rate"])
    assert rates.loc["b", "count"] == 3


def test_a_group_without_positives_is_left_out_of_the_gap():
    y = [1, 0, 1, 0, 0, 0]
    predicted = [1, 0, 0, 0, 1, 0]
    gap = equalized_odds_gap(y, predicted, sensitive_features=list("aabbcc"), kind="sum")
    assert gap == pytest.approx(1.0 + 0.5)


def test_a_rate_of_one_group_alone_has_no_gap():
    gap = equalized_odds_gap([1, 0, 0], [1, 0, 1], sensitive_features=list("aab"))
    assert np.isnan(gap)


def test_labels_of_any_type():
    y, predicted = ["no", "yes", "no", "yes"], ["yes", "yes", "no", "yes"]
    coded = [0, 1, 0, 1], [1, 1, 0, 1]
    group = list("aabb")
    assert demographic_parity_gap(y, predicted, sensitive_features=group) == 0.5
    assert demographic_parity_gap(*coded, sensitive_features=group) == 0.5
    flipped = equalized_odds_gap(y, predicted, sensitive_features=group, pos_label="no")
    assert flipped == equalized_odds_gap(y, predicted, sensitive_features=group)


def test_predictions_of_one_label():
    assert demographic_parity_gap([0, 0], [0, 0], sensitive_features=["a", "b"]) == 0.0
    rates = group_rates([1, 1], [1, 1], sensitive_features=["a", "b"])
    assert rates["selection_rate"].tolist() == [1.0, 1.0]


def test_several_columns_make_intersections():
    groups = pd.DataFrame({"sex": list("ffmm"), "race": list("xyxy")})
    rates = group_rates([0, 1, 0, 1], [0, 1, 1, 1], sensitive_features=groups)
    assert rates.index.tolist() == [("f", "x"), ("f", "y"), ("m", "x"), ("m", "y")]


def test_accuracy():
    assert accuracy(["a", "b", "b"], ["a", "b", "a"]) == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1, 2], [0, 1, 1], ["a", "a", "b"]), r"Expected 2 labels .* got \[0, 1, 2\]"),
        ((["x", "x"], ["x", "x"], ["a", "b"]), "Pass pos_label"),
        (([0, 1], [0, 1, 1], ["a", "b"]), r"Expected y_pred to have one entry per row"),
        (([0, 1], [0, 1], ["a"]), "Expected sensitive_features to have one entry per row"),
        (([[0, 1]], [0, 1], ["a", "b"]), "Expected one label per row"),
        (([], [], []), "Expected at least 1 row"),
    ],
)
def test_bad_input(arguments, message):
    y, predicted, group = arguments
    with pytest.raises(InputError, match=message):
        demographic_parity_gap(y, predicted, sensitive_features=group)


def test_unknown_kind():
    with pytest.raises(InputError, match="Expected kind to be one of 'sum', 'max'"):
        equalized_odds_gap([0, 1], [0, 1], sensitive_features=["a", "b"], kind="mean")


def test_weights_are_those_of_fairlearn_and_of_rows_given_twice():
    random = np.random.default_rng(5)
    y, predicted = random.integers(0, 2, 200), random.integers(0, 2, 200)
    groups, weights = random.integers(0, 3, 200), random.integers(0, 4, 200)
    rows = np.repeat(np.arange(200), weights)
    given = {"sensitive_features": groups, "sample_weight": weights}
    parity = demographic_parity_gap(y, predicted, **given)
    odds = equalized_odds_gap(y, predicted, kind="max", **given)
    assert parity == pytest.approx(demographic_parity_difference(y, predicted, **given), abs=1e-12)
    assert odds == pytest.approx(equalized_odds_difference(y, predicted, **given), abs=1e-12)
    repeated = group_rates(y[rows], predicted[rows], sensitive_features=groups[rows])
    weighted = group_rates(y, predicted, **given)
    shares = [name for name in weighted.columns if name != "count"]
    pd.testing.assert_frame_equal(weighted[shares], repeated[shares])
    assert weighted["count"].tolist() == np.bincount(groups).tolist()
    expected = accuracy(y[rows], predicted[rows])
    assert accuracy(y, predicted, sample_weight=weights) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("weights", [[1, 1, -1], [1, 1], [0, 0, 0], [1, np.nan, 1]])
def test_weights_that_are_none_are_refused(weights):
    with pytest.raises(InputError, match="Expected sample_weight with a finite number"):
        accuracy([0, 1, 1], [0, 1, 0], sample_weight=weights)


def test_a_group_without_weight_has_no_say():
    gap = demographic_parity_gap(
        [0, 1, 1], [0, 1, 1], sensitive_features=list("abc"), sample_weight=[0, 1, 1]
    )
    assert gap == 0.0
