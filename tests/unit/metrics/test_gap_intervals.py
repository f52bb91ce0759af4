from itertools import permutations, product

import numpy as np
import pytest

from fairsmooth.metrics.gap_intervals import RateFamily, gap_interval, largest_gap_interval
from fairsmooth.metrics.intervals import binomial_bounds


def family(hits, trials):
    hits, trials = np.asarray(hits, dtype=float), np.asarray(trials)
    values = np.divide(hits, trials, out=np.full(len(hits), np.nan), where=trials > 0)
    return RateFamily(values, binomial_bounds(hits, trials))


def enumerated(families, confidence):
    """All contrasts, one by one, without the shortcut."""
    pairs = [list(permutations(range(len(f.values)), 2)) for f in families]
    tail = (1 - confidence) / 2
    contrasts = np.prod([len(p) for p in pairs]) / 2
    near = [one.bounds(tail) for one in families]
    far = [one.bounds(tail / contrasts) for one in families]
    lows, highs = [], []
    for choice in product(*pairs):
        estimate = below = above = 0.0
        for position, (k, m) in enumerate(choice):
            rate, (low, high) = families[position].values, far[position]
            estimate += rate[k] - rate[m]
            below += (rate[k] - low[k]) ** 2 + (high[m] - rate[m]) ** 2
            low, high = near[position]
            above += (high[k] - rate[k]) ** 2 + (rate[m] - low[m]) ** 2
        lows.append(estimate - np.sqrt(below))
        highs.append(estimate + np.sqrt(above))
    return max(0.0, *lows), max(highs)


def test_shortcut_agrees_with_enumeration():
    rng = np.random.default_rng(0)
    for _ in range(20):
        # Few rows: among these groups are some with equal rates and equal intervals.
        trials = rng.integers(3, rng.choice([6, 200]), (2, 4))
        families = [family(rng.binomial(n, rng.uniform(0.05, 0.6, 4)), n) for n in trials]
        for chosen in (families, families[:1]):
            low, high = gap_interval(*chosen, confidence=0.9)
            assert (low, high) == pytest.approx(
                np.minimum(enumerated(chosen, 0.9), len(chosen)), abs=1e-12
            )


@pytest.mark.parametrize("kind", ["alike", "ties", "graded"])
def test_many_groups_have_the_best_end_of_all_pairs(kind):
    """Most pairs are never looked at; the ends are those of all, to the last digit."""
    rng = np.random.default_rng(2)
    trials = {
        "alike": rng.integers(1, 300, 200),
        "ties": rng.integers(5, 8, 200),
        "graded": np.full(200, 1000),
    }[kind]
    rates = np.linspace(0.5, 1.0, 200) if kind == "graded" else np.full(200, 0.4)
    hits = np.round(rates * trials) if kind == "graded" else rng.binomial(trials, rates)
    one, tail, n_pairs = family(hits, trials), 0.05, 199 * 100
    pairs = ~np.eye(200, dtype=bool)
    difference = one.values[:, None] - one.values
    (low, _), (_, far) = one.bounds(tail / n_pairs), one.bounds(tail / n_pairs)
    down = np.sqrt((one.values - low)[:, None] ** 2 + (far - one.values) ** 2)
    near, high = one.bounds(tail)
    up = np.sqrt((high - one.values)[:, None] ** 2 + (one.values - near) ** 2)
    expected = max(0.0, (difference - down)[pairs].max()), (difference + up)[pairs].max()
    assert gap_interval(one, confidence=0.9) == (expected[0], min(1.0, expected[1]))


def test_two_groups_give_newcombes_interval_on_exact_ends():
    one = family([30, 90], [100, 150])
    low, high = one.bounds(0.025)
    rates = one.values
    width_down = np.hypot(rates[1] - low[1], high[0] - rates[0])
    width_up = np.hypot(high[1] - rates[1], rates[0] - low[0])
    assert gap_interval(one) == pytest.approx((0.3 - width_down, 0.3 + width_up))


def test_equal_groups_reach_zero():
    assert gap_interval(family([30, 60, 90], [100, 200, 300]))[0] == 0.0


def test_groups_without_rows_are_left_out():
    with_empty = family([30, 90, 0], [100, 150, 0])
    without = family([30, 90], [100, 150])
    assert gap_interval(with_empty) == gap_interval(without)


def test_nothing_known_is_everything():
    lone = family([3, 0], [10, 0])
    assert gap_interval(lone) == (0.0, 1.0)
    assert gap_interval(lone, family([1, 2], [3, 3])) == (0.0, 2.0)


def test_largest_gap_contains_each_familys_estimate():
    first, second = family([30, 90], [100, 150]), family([10, 12], [100, 150])
    low, high = largest_gap_interval(first, second)
    assert low < 0.3 < high
    assert high >= gap_interval(first)[1]
    # Either lower end may fail, so each has half the error: its interval is the wider one.
    assert low == gap_interval(first, confidence=0.975)[0] < gap_interval(first)[0]


CASES = {
    "equal, two groups": ([0.3, 0.3], [200, 300]),
    "equal and rare": ([0.02, 0.02], [50, 30]),
    "small gap": ([0.3, 0.35], [200, 300]),
    "large gap": ([0.3, 0.5], [200, 300]),
    "equal, five groups": ([0.3] * 5, [200, 300, 100, 50, 400]),
    "one apart": ([0.3, 0.3, 0.3, 0.3, 0.4], [200, 300, 100, 50, 400]),
    "ladder": ([0.1, 0.2, 0.3, 0.4, 0.5], [200, 300, 100, 50, 400]),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("n_families", [1, 2])
def test_coverage(case, n_families):
    rates, trials = map(np.array, CASES[case])
    rng = np.random.default_rng(7)
    truth, n_runs = n_families * np.ptp(rates), 1500
    missed = {"sum": 0, "max": 0}
    for _ in range(n_runs):
        families = [family(rng.binomial(trials, rates), trials) for _ in range(n_families)]
        low, high = gap_interval(*families)
        missed["sum"] += not low - 1e-12 <= truth <= high + 1e-12
        low, high = largest_gap_interval(*families)
        missed["max"] += not low - 1e-12 <= np.ptp(rates) <= high + 1e-12
    # Three standard errors of the simulation above the nominal 5 %.
    allowed = 0.05 + 3 * np.sqrt(0.05 * 0.95 / n_runs)
    assert max(missed.values()) / n_runs <= allowed
