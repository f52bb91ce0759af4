"""How often bounds miss the truth: exactly, by adding up the probabilities of all samples."""

from itertools import permutations, product

import numpy as np
import pytest
from scipy.stats import binom

from fairsmooth.core.contrasts import DIVERGENCES, Contrast, bound, radius
from fairsmooth.core.contrasts.anytime import log_evidence
from fairsmooth.guarantees import GapMonitor

ERROR = 0.05
RATES = (0.0, 0.02, 0.1, 0.25, 0.5, 0.7, 0.93, 1.0)
SHIFTS = (
    ("total_variation", 0.0),
    ("hellinger", 0.1),
    ("chi_square", 0.05),
    ("density_ratio", 0.3),
)


def every_sample(n1, n2, statistic):
    return np.array([[statistic([(x, n1), (y, n2)]) for y in range(n2 + 1)] for x in range(n1 + 1)])


def missed(found, wrong, n1, n2, q1, q2):
    """The probability, at rates q1 and q2, of samples whose result is wrong."""
    masses = np.outer(binom.pmf(range(n1 + 1), n1, q1), binom.pmf(range(n2 + 1), n2, q2))
    return float(masses[wrong(found)].sum())


def worst_of_both(contrast, q1, q2):
    values = [contrast.worst(q1, q2), contrast.worst(q2, q1)]
    return min(values) if contrast.ratio else max(values)


@pytest.mark.parametrize("ratio", [False, True])
@pytest.mark.parametrize(("name", "rho"), SHIFTS)
def test_bounds_miss_no_more_often_than_they_may(ratio, name, rho):
    contrast = Contrast(ratio, DIVERGENCES[name], rho)
    n1, n2 = (9, 6) if rho else (14, 9)
    found = every_sample(n1, n2, lambda counts: bound(counts, contrast, error=ERROR))
    for q1 in RATES:
        for q2 in RATES:
            truth = worst_of_both(contrast, q1, q2)
            if ratio:
                miss = missed(found, lambda b, t=truth: b > t + 1e-9, n1, n2, q1, q2)
            else:
                miss = missed(found, lambda b, t=truth: b < t - 1e-9, n1, n2, q1, q2)
            assert miss <= ERROR


@pytest.mark.parametrize("summed", [False, True])
def test_gaps_of_both_labels_miss_no_more_often_than_they_may(summed):
    """The larger of two gaps is tested at the full error, each part of a sum at half of it."""
    sizes = ((9, 6), (7, 8))
    error = ERROR / 2 if summed else ERROR
    tables = [every_sample(*n, lambda c: bound(c, Contrast(), error=error)) for n in sizes]
    combine = np.add if summed else np.maximum
    found = combine.outer(*(table.ravel() for table in tables))
    rates = list(product(RATES[1::2], repeat=2))
    masses = [
        [np.outer(*(binom.pmf(range(m + 1), m, q) for m, q in zip(n, pair, strict=True))).ravel()
         for pair in rates]
        for n in sizes
    ]  # fmt: skip
    for (first, mass_1), (second, mass_0) in product(*(zip(rates, m, strict=True) for m in masses)):
        truth = combine(abs(first[0] - first[1]), abs(second[0] - second[1]))
        assert mass_1 @ (found.reshape(len(mass_1), -1) < truth - 1e-9) @ mass_0 <= ERROR


@pytest.mark.parametrize("ratio", [False, True])
@pytest.mark.parametrize("name", DIVERGENCES)
def test_radii_miss_no_more_often_than_they_may(ratio, name):
    contrast, limit = Contrast(ratio, DIVERGENCES[name]), 0.3 if ratio else 0.6
    n1, n2 = 10, 7
    found = every_sample(n1, n2, lambda counts: radius(counts, contrast, limit, error=ERROR))
    for q1 in RATES[1:-1]:
        for q2 in RATES[1:-1]:
            truth = min(
                contrast.radius_within(q1, q2, limit), contrast.radius_within(q2, q1, limit)
            )
            truth = max(0.0, truth)
            miss = missed(found, lambda r, t=truth: r > t + 1e-9, n1, n2, q1, q2)
            assert miss <= ERROR


def test_the_error_is_nearly_used():
    # Not by being careless: at some rates an exact bound misses nearly as often as it may.
    found = every_sample(14, 9, lambda counts: bound(counts, Contrast(), error=ERROR))
    grid = np.linspace(0.02, 0.98, 25)
    worst = 0.0
    for p in grid:
        for q in grid:
            truth = abs(p - q)
            worst = max(worst, missed(found, lambda b, t=truth: b < t, 14, 9, p, q))
    assert 0.03 < worst <= ERROR


def test_an_adversary_at_the_edge_of_the_ball_gains_nothing():
    """People of each cell are exchanged as badly as the ball allows, then decisions are counted."""
    rng = np.random.default_rng(0)
    name, rho = "total_variation", 0.05
    rates, sizes = (0.3, 0.22), (300, 250)
    contrast = Contrast(False, DIVERGENCES[name], rho)
    # In deployment the first group's rate rises by rho and the second's falls by rho.
    deployed = (rates[0] + rho) - (rates[1] - rho)
    known = {}
    misses = 0
    draws = 150
    for _ in range(draws):
        counts = tuple((int(rng.binomial(n, q)), n) for n, q in zip(sizes, rates, strict=True))
        if counts not in known:
            known[counts] = bound(counts, contrast, error=ERROR) < deployed
        misses += known[counts]
    assert binom.sf(misses - 1, draws, ERROR) > 1e-4


@pytest.mark.parametrize(("rates", "size"), [((0.3, 0.2, 0.25), 20), ((0.02, 0.01), 30)])
def test_looking_after_every_batch_misses_no_more_often_than_it_may(rates, size):
    rng = np.random.default_rng(1)
    runs, looks = 100, 200
    hits = np.cumsum(rng.binomial(size, rates, (runs, looks, len(rates))), axis=1)
    rows = np.broadcast_to(size * np.arange(1, looks + 1)[None, :, None], hits.shape)
    first, second = np.array(list(permutations(range(len(rates)), 2))).T
    counts = np.stack([hits[..., first], rows[..., first], hits[..., second], rows[..., second]])
    truth, threshold = max(rates) - min(rates), np.log(1 / ERROR)
    # The bound is below the truth where every pair has evidence against gaps from there on.
    against = log_evidence(counts.astype(float), ratio=False, limit=truth, above=True)
    wrong_bound = (against >= threshold).all(axis=-1).any(axis=-1).sum()
    # The alarm is above it where some pair has evidence, its share of the error, of more.
    beyond = log_evidence(counts.astype(float), ratio=False, limit=truth, above=False)
    wrong_alarm = (beyond >= threshold + np.log(len(first))).any(axis=(-2, -1)).sum()
    for wrong in (wrong_bound, wrong_alarm):
        assert binom.sf(wrong - 1, runs, ERROR) > 1e-4


def test_rates_that_drift_beyond_the_limit_raise_the_alarm():
    rng = np.random.default_rng(2)
    group = np.resize(["a", "b"], 400)
    late = 0
    for _ in range(2):
        monitor = GapMonitor({"demographic_parity": 0.1})
        statuses = []
        for step in range(14):
            gap = 0.0 if step < 8 else 0.4
            decision = (rng.random(400) < 0.2 + gap * (group == "a")).astype(int)
            statuses.append(monitor.update(decision, sensitive_features=group))
        assert "alarm" not in statuses[:8]
        late += "alarm" not in statuses[:11]
    assert late == 0
