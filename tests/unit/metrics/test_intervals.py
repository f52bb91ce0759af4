import numpy as np
import pytest
from scipy import stats
from scipy.optimize import brentq
from scipy.special import rel_entr

from fairsmooth.metrics.intervals import (
    binomial_interval,
    bounded_mean_interval,
    bounded_mean_intervals,
    paired_mean_intervals,
    u_statistic_interval,
)


@pytest.mark.parametrize(("hits", "trials"), [(0, 7), (3, 7), (7, 7), (120, 1000), (1, 1)])
def test_binomial_interval_agrees_with_scipy(hits, trials):
    low, high = binomial_interval(hits, trials, error=0.025)
    exact = stats.binomtest(hits, trials).proportion_ci(0.95, method="exact")
    assert (float(low), float(high)) == pytest.approx((exact.low, exact.high), abs=1e-9)


def test_binomial_interval_of_nothing_is_everything():
    assert [float(end) for end in binomial_interval(0, 0)] == [0.0, 1.0]


def _coverage(interval, trials, probability):
    hits = np.arange(trials + 1)
    low, high = interval(hits, trials)
    inside = (low <= probability) & (probability <= high)
    return stats.binom.pmf(hits, trials, probability)[inside].sum()


@pytest.mark.parametrize("trials", [3, 20, 150])
def test_coverage_of_rates_is_at_least_nominal(trials):
    def bounded(hits, n):
        ends = [bounded_mean_interval(np.repeat([1.0, 0.0], [h, n - h])) for h in hits]
        return np.array(ends).T

    for probability in (0.01, 0.2, 0.5, 0.97):
        assert _coverage(binomial_interval, trials, probability) >= 0.95
        assert _coverage(bounded, trials, probability) >= 0.95


def test_bounded_mean_interval_narrows_with_the_variance():
    calm = np.full(4000, 0.3)
    wild = np.repeat([1.0, 0.0], [1200, 2800])
    widths = [np.ptp(bounded_mean_interval(sample)) for sample in (calm, wild)]
    assert widths[0] < widths[1] / 3
    for sample in (calm, wild):
        low, high = bounded_mean_interval(sample)
        assert low < sample.mean() < high


def test_many_values_have_maurer_and_pontil_s_interval():
    sample = np.tile([0.2, 0.3, 0.4], 20_000)
    mean, n = 0.3, 60_000
    variance = np.square(sample - mean).sum() / (n - 1)
    # Theorem 4 for one end with half the error 0.025: ln(2 / 0.0125).
    log = np.log(160.0)
    width = np.sqrt(2 * variance * log / n) + 7 * log / (3 * (n - 1))
    assert bounded_mean_interval(sample) == pytest.approx((mean - width, mean + width), abs=1e-12)


def test_bounded_mean_interval_at_the_ends():
    low, high = bounded_mean_interval(np.zeros(50))
    # The Chernoff bound for no success at all is 1 - (error / 2)^(1/n).
    assert low == 0.0
    assert high == pytest.approx(1 - 0.0125 ** (1 / 50), abs=1e-9)
    assert bounded_mean_interval(np.ones(50)) == pytest.approx((1 - high, 1.0), abs=1e-9)
    assert bounded_mean_interval([]) == (0.0, 1.0)
    one_low, one_high = bounded_mean_interval([0.4])
    assert 0.0 <= one_low < 0.4 < one_high <= 1.0


def test_paired_mean_interval_agrees_with_scipy():
    sample = np.random.default_rng(0).normal(size=40)
    expected = stats.ttest_1samp(sample, 0.0).confidence_interval(0.95)
    low, high = paired_mean_intervals([[1.0], sample, [], sample[:2]])
    assert (low[1], high[1]) == pytest.approx((expected.low, expected.high))
    assert low[[0, 2]].tolist() == [-np.inf] * 2
    assert high[[0, 2]].tolist() == [np.inf] * 2
    assert low[3] < sample[:2].mean() < high[3]


def _chernoff(mean, slack):
    """Where the divergence reaches the slack on both sides of a mean, by a root finder."""

    def above(p):
        return rel_entr(mean, p) + rel_entr(1 - mean, 1 - p) - slack

    low = brentq(above, 1e-300, mean, xtol=1e-15) if mean > 0 else 0.0
    return low, brentq(above, mean, 1 - 1e-16, xtol=1e-15) if mean < 1 else 1.0


def _by_hand(sample, error):
    n = len(sample)
    if n == 0:
        return 0.0, 1.0
    low, high = _chernoff(sample.mean(), np.log(2 / error) / n)
    if n > 1:
        log = np.log(4 / error)
        width = np.sqrt(2 * sample.var(ddof=1) * log / n) + 7 * log / (3 * (n - 1))
        low, high = max(low, sample.mean() - width), min(high, sample.mean() + width)
    return low, high


@pytest.mark.parametrize("error", [0.025, 1e-7])
def test_intervals_of_many_samples_are_the_formula_s(error):
    rng = np.random.default_rng(5)
    samples = [rng.beta(2, 3, n) for n in rng.integers(1, 400, 190)]
    samples += [np.zeros(20), np.ones(20), np.zeros(1), np.ones(1), np.array([0.4]), np.empty(0)]
    samples += [np.full(3000, 0.3), np.tile([0.0, 1.0], 30_000), rng.random(4000), np.empty(0)]
    low, high = bounded_mean_intervals(samples, error=error)
    expected = np.array([_by_hand(sample, error) for sample in samples])
    np.testing.assert_allclose(np.column_stack([low, high]), expected, rtol=0, atol=1e-9)
    alone = [bounded_mean_interval(sample, error=error) for sample in samples]
    np.testing.assert_array_equal(np.column_stack([low, high]), alone)
    assert [len(end) for end in bounded_mean_intervals([], error=error)] == [0, 0]


def test_intervals_of_many_areas_are_chernoff_s():
    values, pairs = np.array([0.0, 0.31, 0.8, 1.0]), np.array([3, 50, 2000, 7])
    found = np.column_stack(u_statistic_interval(values, pairs, error=0.01))
    slack = np.log(100.0) / pairs
    expected = [_chernoff(*each) for each in zip(values, slack, strict=True)]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


def test_exact_intervals_of_many_counts_are_those_of_each():
    trials = np.repeat([0, 1, 7, 400], 50)
    hits = np.minimum(np.tile(np.arange(50), 4) * 9, trials)
    low, high = binomial_interval(hits, trials, error=1e-4)
    for place, (x, n) in enumerate(zip(hits, trials, strict=True)):
        expected = stats.beta.ppf(1e-4, x, n - x + 1) if x else 0.0
        assert low[place] == pytest.approx(expected, abs=1e-12)
        expected = stats.beta.ppf(1 - 1e-4, x + 1, n - x) if x < n else 1.0
        assert high[place] == pytest.approx(expected, abs=1e-12)
