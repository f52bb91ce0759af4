"""Weights of rows in units in which they can be added up."""

import numpy as np
import pytest

from fairsmooth import FairSmoothClassifier, InputError
from fairsmooth.data.row_weights import comparable
from fairsmooth.metrics import audit, equalized_odds_gap


def test_ratios_keep_every_digit_and_sums_are_finite():
    weights = np.array([1e308, 3.3e307, 0.0, 7e305])
    scaled = comparable(weights)
    np.testing.assert_array_equal(scaled / scaled[0], weights / weights[0])
    assert np.isfinite(np.square(np.repeat(scaled, 1000)).sum())
    assert 0.5 <= scaled[0] < 1.0


def test_weights_that_are_too_far_apart_are_refused():
    with pytest.raises(InputError, match=r"within a factor of 1e\+100 .* got 1e-200 and 1\."):
        comparable(np.array([1.0, 1e-200]))
    with pytest.raises(InputError, match="Give rows that count for nothing the weight 0"):
        comparable(np.array([1e300, 1e-300]))


@pytest.mark.parametrize("unit", [5e-324, 1e-310, 1e170, 1e306])
def test_units_of_weights_do_not_matter(biased, unit):
    """Sums that were infinite, or one over them, gave other parameters, gaps and intervals."""
    X, y, groups = biased.X.to_numpy(), biased.y, biased.sensitive_features
    weights = np.random.default_rng(0).integers(0, 5, len(y)).astype(float)
    given = {"sensitive_features": groups, "sample_weight": weights}
    other = {**given, "sample_weight": weights * unit}
    for options in ({"group_weights": "share"}, {"solver": "adam", "max_iter": 2}):
        clf, same = (
            FairSmoothClassifier(random_state=0, free_reference=False, **options).fit(X, y, **each)
            for each in (given, other)
        )
        np.testing.assert_allclose(same.group_parameters_, clf.group_parameters_, atol=1e-9)
    decided = clf.predict(X)
    gaps = [equalized_odds_gap(y, decided, **each) for each in (given, other)]
    assert gaps[0] == pytest.approx(gaps[1], abs=1e-12)
    for ours, theirs in zip(*(audit(clf, X, y, **w).records for w in (other, given)), strict=True):
        for name in ("value", "low", "high"):
            found, expected = getattr(ours, name), getattr(theirs, name)
            assert found == pytest.approx(expected, abs=1e-9, nan_ok=True)
