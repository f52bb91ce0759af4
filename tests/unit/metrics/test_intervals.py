import numpy as np
import pytest
from scipy import stats

from fairsmooth.metrics.intervals import (
    binomial_interval,
    bounded_mean_interval,
    paired_mean_interval,
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
    assert paired_mean_interval(sample) == pytest.approx((expected.low, expected.high))
    assert paired_mean_interval([1.0]) == (-np.inf, np.inf)
