import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairsmooth.metrics import demographic_parity_gap, equalized_odds_gap
from fairsmooth.metrics.auditing.epsilon import sample_norm
from fairsmooth.metrics.gap_intervals import RateFamily, gap_interval
from fairsmooth.metrics.intervals import binomial_bounds, bounded_mean_interval
from fairsmooth.metrics.shift.worst_case import BALLS, largest_mean, smallest_mean

bit = st.integers(0, 1)
rows = st.lists(st.tuples(bit, bit, st.sampled_from("abc")), min_size=6, max_size=40)
scores = st.lists(st.floats(0, 1), min_size=1, max_size=30)


@settings(deadline=None, max_examples=8)
@given(rows, st.randoms(use_true_random=False))
def test_order_of_rows_and_names_of_groups_are_irrelevant(table, random):
    shuffled = list(table)
    random.shuffle(shuffled)
    renamed = [(y, p, {"a": "z", "b": "y", "c": "x"}[g]) for y, p, g in shuffled]
    gaps = []
    for y, predicted, group in (zip(*table, strict=True), zip(*renamed, strict=True)):
        arguments = (list(y), list(predicted))
        gaps.append(
            [
                demographic_parity_gap(*arguments, sensitive_features=list(group)),
                equalized_odds_gap(*arguments, sensitive_features=list(group)),
            ]
        )
    assert gaps[0] == pytest.approx(gaps[1], nan_ok=True)


@settings(deadline=None, max_examples=8)
@given(rows)
def test_the_sum_is_at_least_the_maximum_and_at_most_twice(table):
    y, predicted, group = (list(column) for column in zip(*table, strict=True))
    largest, total = (
        equalized_odds_gap(y, predicted, sensitive_features=group, kind=kind)
        for kind in ("max", "sum")
    )
    if np.isnan(largest):
        assert np.isnan(total)
    else:
        assert largest - 1e-12 <= total <= 2 * largest + 1e-12


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=2, max_size=6))
def test_gap_interval_holds_the_measured_gap(counts):
    hits = np.array([a for a, _ in counts], dtype=float)
    trials = np.array([a + b for a, b in counts])
    rates = np.divide(hits, trials, out=np.full(len(hits), np.nan), where=trials > 0)
    low, high = gap_interval(RateFamily(rates, binomial_bounds(hits, trials)))
    defined = rates[~np.isnan(rates)]
    gap = np.ptp(defined) if len(defined) > 1 else 0.0
    assert 0.0 <= low <= gap + 1e-12
    assert gap - 1e-12 <= high <= 1.0


@settings(deadline=None, max_examples=50)
@given(scores)
def test_bounded_mean_interval_holds_the_mean(sample):
    low, high = bounded_mean_interval(sample)
    assert -1e-12 <= low <= np.mean(sample) + 1e-12
    assert np.mean(sample) - 1e-12 <= high <= 1 + 1e-12


@settings(deadline=None, max_examples=50)
@given(scores, st.sampled_from(sorted(BALLS)), st.lists(st.floats(0, 1), min_size=2, max_size=5))
def test_worst_case_grows_with_the_ball_and_stays_in_range(sample, ball, radii):
    radii = sorted(radii)
    largest = largest_mean(sample, ball=ball, radii=radii)
    smallest = smallest_mean(sample, ball=ball, radii=radii)
    assert (np.diff(largest) >= -1e-9).all()
    assert (np.diff(smallest) <= 1e-9).all()
    assert (largest <= max(sample) + 1e-9).all()
    assert (smallest >= min(sample) - 1e-9).all()
    assert (smallest <= np.mean(sample) + 1e-9).all()
    assert (largest >= np.mean(sample) - 1e-9).all()


@settings(deadline=None, max_examples=50)
@given(scores, st.sampled_from(sorted(BALLS)), st.floats(0.01, 0.9))
def test_worst_case_of_the_complement(sample, ball, radius):
    flipped = 1.0 - np.array(sample)
    assert smallest_mean(sample, ball=ball, radii=[radius]) == pytest.approx(
        1.0 - largest_mean(flipped, ball=ball, radii=[radius]), abs=1e-7
    )


@settings(deadline=None, max_examples=50)
@given(scores)
def test_norms_are_ordered_and_scale_free(sample):
    norms = [sample_norm(sample, p) for p in (1, 2, np.inf)]
    assert norms[0] <= norms[1] + 1e-12
    assert norms[1] <= norms[2] + 1e-12
    assert [sample_norm(sample * 3, p) for p in (1, 2, np.inf)] == pytest.approx(norms)
