import numpy as np
import pytest
from scipy.special import bdtr
from scipy.stats import binom

from fairsmooth._random import numpy_generator
from fairsmooth.data.groups import Groups
from fairsmooth.metrics.noise_floor import _drawn, _Table, noise_floor


def _sample(counts, rate, rng):
    codes = np.repeat(np.arange(len(counts)), counts)
    y = rng.integers(0, 2, len(codes))
    groups = Groups(tuple(range(len(counts))), codes)
    return (rng.random(len(codes)) < rate).astype(float), y, groups


def test_two_groups_follow_the_normal_law():
    decisions, y, groups = _sample([4000, 6000], 0.3, np.random.default_rng(0))
    floor = noise_floor(decisions, y, groups, n_draws=40_000)["demographic_parity"]
    p = decisions.mean()
    spread = np.sqrt(p * (1 - p) * (1 / 4000 + 1 / 6000))
    # The gap is the absolute value of a normal with this spread.
    assert floor.mean == pytest.approx(spread * np.sqrt(2 / np.pi), rel=0.02)
    assert floor.quantile == pytest.approx(spread * 1.95996, rel=0.02)


def test_floors_of_sum_and_maximum_are_ordered():
    decisions, y, groups = _sample([900, 500, 700], 0.4, np.random.default_rng(1))
    floors = noise_floor(decisions, y, groups)
    assert floors["equalized_odds_max"].mean < floors["equalized_odds_sum"].mean
    assert floors["equalized_odds_sum"].mean < 2 * floors["equalized_odds_max"].mean


def test_the_seed_decides():
    sample = _sample([50, 60], 0.5, np.random.default_rng(2))
    first = noise_floor(*sample)
    assert first == noise_floor(*sample)
    assert first != noise_floor(*sample, random_state=1)


def test_a_group_without_positives_has_no_floor():
    groups = Groups(("a", "b"), np.array([0, 0, 1, 1]))
    floors = noise_floor(np.array([1, 0, 1, 0]), np.array([1, 0, 0, 0]), groups)
    assert np.isnan(floors["equalized_odds_sum"].mean)
    assert floors["demographic_parity"].mean > 0


@pytest.mark.parametrize("rate", [0.0, 0.03, 0.5, 1.0])
def test_counts_looked_up_follow_the_binomial_law(rate):
    trials = np.array([0, 1, 7, 60, 60, 1000, 1001])
    hits = np.column_stack([*_drawn(np.random.default_rng(0), trials.tolist(), rate, 20_000)])
    assert hits.shape == (20_000, 7)
    assert (hits >= 0).all()
    assert (hits <= trials).all()
    error = np.sqrt(trials * rate * (1.0 - rate) / len(hits))
    assert (np.abs(hits.mean(0) - trials * rate) <= 5.0 * error).all()
    found = np.bincount(hits[:, 2], minlength=8) / len(hits)
    np.testing.assert_allclose(found, binom.pmf(np.arange(8), 7, rate), atol=0.02)
    # Groups of one size have draws of their own.
    assert rate in (0.0, 1.0) or (hits[:, 3] != hits[:, 4]).any()


@pytest.mark.parametrize("count", [0, 1, 5, 150, 999])
@pytest.mark.parametrize("rate", [0.0, 1e-9, 0.3, 1 - 1e-12, 1.0])
def test_a_number_reaches_as_many_entries_as_a_search_finds(count, rate):
    table = bdtr(np.arange(count), count, rate)
    # Numbers anywhere, on entries, just below them, and on the steps of the first look.
    drawn = np.concatenate(
        [np.random.default_rng(0).random(4000), table, np.nextafter(table, 0), np.arange(64) / 64]
    )
    drawn = drawn[(drawn >= 0.0) & (drawn < 1.0)]
    expected = np.searchsorted(table, drawn, side="right")
    np.testing.assert_array_equal(_Table.of(table).reached(drawn), expected)


def test_floors_are_those_of_counts_drawn_group_by_group():
    sizes = [40, 0, 40, 1500, 7, 300]
    decisions, y, groups = _sample(sizes, 0.3, np.random.default_rng(3))
    generator = numpy_generator(5, "noise_floor")
    gaps = []
    for rows in (np.full(len(y), True), y == 1, y == 0):
        rate = decisions[rows].mean()
        shares = []
        for count in np.bincount(groups.codes[rows], minlength=len(sizes)).tolist():
            if count > 1000:
                hits = generator.binomial(count, rate, 4000)
            else:
                table = bdtr(np.arange(count), count, rate)
                hits = np.searchsorted(table, generator.random(4000), side="right")
            # A group without rows has draws, which keeps those of the others, and no share.
            shares.append(hits / count if count else np.full(4000, np.nan))
        gaps.append(np.nanmax(shares, axis=0) - np.nanmin(shares, axis=0))
    parity, *odds = gaps
    expected = (parity, odds[0] + odds[1], np.maximum(*odds))
    for floor, gap in zip(
        noise_floor(decisions, y, groups, random_state=5).values(), expected, strict=True
    ):
        assert (floor.mean, floor.quantile) == (gap.mean(), np.quantile(gap, 0.95))
