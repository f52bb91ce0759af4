from itertools import permutations

import numpy as np
import pytest
from flint import arb, ctx
from scipy.optimize import brentq
from scipy.stats import binom

from fairsmooth.core.contrasts import DIVERGENCES, Contrast, bound, interval, proves, radius
from fairsmooth.core.contrasts.binomial import CellSample
from fairsmooth.core.contrasts.bounds import _samples
from fairsmooth.core.contrasts.pair import Region, search

ERROR = 0.05
GAP = Contrast()


def directed(first, second, contrast=GAP, error=ERROR):
    """The bound of one ordered pair alone."""
    level, samples = _samples([first, second], error)
    box = contrast.worst(samples[0].ends[1], samples[1].ends[0])
    region = Region(*samples, contrast, box, level)
    best = 1.0 if contrast.ratio else 0.0
    return search(region, lambda t: (contrast, t), bad=best, good=box), box


@pytest.mark.parametrize("ratio", [False, True])
@pytest.mark.parametrize("name", DIVERGENCES)
def test_worst_values_of_many_rates_are_those_of_each(name, ratio):
    rates = np.concatenate([[0.0, 1e-300, 1.0], np.linspace(0.01, 0.99, 40)])
    for size in (0.0, 0.05, 0.7):
        contrast = Contrast(ratio, DIVERGENCES[name], size)
        found = contrast.worst_values(rates[:, None], rates)
        expected = [[contrast.worst(a, b) for b in rates] for a in rates]
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-15)


@pytest.mark.parametrize("ratio", [False, True])
def test_many_cells_have_the_bound_of_their_worst_pair(ratio):
    rng = np.random.default_rng(8)
    trials = rng.integers(20, 300, 12)
    counts = list(zip(rng.binomial(trials, 0.4).tolist(), trials.tolist(), strict=True))
    counts += [(0, 40), (40, 40), counts[0]]
    contrast = Contrast(ratio=ratio)
    each = [directed(*pair, contrast)[0] for pair in permutations(counts, 2)]
    worst = min(each) if ratio else max(each)
    found = bound(counts, contrast, error=ERROR)
    assert found == pytest.approx(worst, rel=1e-6)
    nearby = (worst - 1e-5, worst + 1e-5) if ratio else (worst + 1e-5, worst - 1e-5)
    assert [proves(counts, contrast, v, error=ERROR) for v in nearby] == [True, False]


@pytest.mark.parametrize(
    ("first", "second", "exact", "boxes"),
    [
        ((470, 9795), (160, 4858), 0.0209, 0.0243),
        ((100, 400), (80, 500), 0.1385, 0.1665),
        ((0, 30), (0, 30), 0.0956, 0.1157),
        ((5, 1000), (0, 100), 0.0105, 0.0116),
    ],
)
def test_bounds_are_at_most_those_of_the_prototype(first, second, exact, boxes):
    found, box = directed(first, second)
    assert exact - 0.0006 <= found < exact + 0.00005  # to the printed digits, or lower
    # The box that orders is at error - error/50, a little wider than one at the whole error.
    assert boxes - 0.0006 <= box <= boxes * 1.012


def test_each_shift_has_an_order_of_its_own():
    contrast = Contrast(False, DIVERGENCES["density_ratio"], 0.5)
    assert directed((100, 400), (80, 500), contrast)[0] == pytest.approx(0.4326, abs=2e-4)


def brute_force(first, second, contrast, error=ERROR, points=400):
    """The worst contrast over a grid of the rates that the exact test keeps; from below."""
    level, samples = _samples([first, second], error)
    n1, n2 = first[1], second[1]
    tables = []
    for n, side in ((n1, 1), (n2, 0)):
        tables.append([interval(x, n, error=level / 2)[side] for x in range(n + 1)])
    order = np.array([[contrast.worst(u, v) for v in tables[1]] for u in tables[0]])
    observed = order[first[0], second[0]]
    event = order >= observed if contrast.ratio else order <= observed
    q1 = np.linspace(*samples[0].box, points)
    q2 = np.linspace(*samples[1].box, points)
    mass1 = binom.pmf(np.arange(n1 + 1)[None, :], n1, q1[:, None])
    mass2 = binom.pmf(np.arange(n2 + 1)[None, :], n2, q2[:, None])
    kept = mass1 @ event @ mass2.T > level
    values = [[contrast.worst(a, b) for b in q2] for a in q1]
    return (np.min if contrast.ratio else np.max)(np.array(values)[kept])


@pytest.mark.parametrize("ratio", [False, True])
@pytest.mark.parametrize(("name", "rho"), [("total_variation", 0.0), ("hellinger", 0.1)])
def test_bound_is_that_of_a_brute_force_search(ratio, name, rho):
    contrast = Contrast(ratio, DIVERGENCES[name], rho)
    for first, second in (((9, 25), (5, 20)), ((3, 12), (10, 30))):
        found, box = directed(first, second, contrast)
        truth = brute_force(first, second, contrast, points=150)
        slack = 0.015
        if ratio:
            assert box <= found <= truth + 1e-9
            assert found >= truth - slack
        else:
            assert truth - 1e-9 <= found <= min(box, truth + slack)


@pytest.mark.parametrize("name", DIVERGENCES)
def test_rise_is_the_largest_rate_in_the_ball(name):
    divergence = DIVERGENCES[name]
    distance = {
        "total_variation": lambda p, q: abs(p - q),
        "hellinger": lambda p, q: np.sqrt(1 - np.sqrt(p * q) - np.sqrt((1 - p) * (1 - q))),
        "chi_square": lambda p, q: (p - q) ** 2 / (q * (1 - q)),
        "density_ratio": lambda p, q: max(p / q, (1 - p) / (1 - q)) - 1,
    }[name]
    rng = np.random.default_rng(0)
    for q, rho in zip(rng.uniform(0.01, 0.9, 40), rng.uniform(0.001, 0.4, 40), strict=True):
        up = float(divergence.rise(np.float64(q), rho))
        down = float(divergence.fall(np.float64(q), rho))
        assert down == pytest.approx(1 - float(divergence.rise(np.float64(1 - q), rho)), abs=1e-13)
        for moved in (up, down):
            if 0.0 < moved < 1.0:
                assert distance(moved, q) == pytest.approx(rho, rel=1e-6)
        assert float(divergence.rise_inverse(np.float64(up), rho)) <= q + 1e-12
        if up < 1.0:
            assert float(divergence.rise_inverse(np.float64(up), rho)) == pytest.approx(q)


def test_empty_cells_prove_nothing():
    assert bound([(0, 0), (3, 10)], Contrast(), error=ERROR) == 1.0
    assert bound([(0, 0), (3, 10)], Contrast(ratio=True), error=ERROR) == 0.0
    assert radius([(0, 0), (3, 10)], Contrast(), 0.5, error=ERROR) == 0.0


def test_many_groups_give_the_worst_pair():
    counts = [(20, 200), (30, 210), (25, 190), (60, 400), (0, 15)]
    found = bound(counts, Contrast(), error=ERROR)
    pairs = [directed(a, b)[0] for a, b in permutations(counts, 2)]
    assert found == pytest.approx(max(pairs), rel=1e-5)


def test_radius_agrees_with_the_bound_where_a_shift_adds_a_constant():
    # In total variation a gap grows by twice the radius: order and region are the same.
    counts, limit = [(100, 400), (80, 500)], 0.2
    found = radius(counts, Contrast(), limit, error=ERROR)
    assert found == pytest.approx((limit - bound(counts, Contrast(), error=ERROR)) / 2, abs=2e-5)


def test_radius_can_be_proved_where_boxes_prove_none():
    counts = [(100, 400), (80, 500)]
    limit = 0.15  # between the exact bound and the boxes
    assert directed(*counts)[1] > limit
    assert radius(counts, Contrast(), limit, error=ERROR) > 0.0
    assert radius(counts, Contrast(), 0.1, error=ERROR) == 0.0


def test_quantiles_are_within_the_slack_that_covers_them():
    rng = np.random.default_rng(1)
    with ctx.workprec(256):
        for n in (7, 400, 20_000):
            for x in {0, 1, n, *rng.integers(0, n + 1, 4).tolist()}:
                low, high = interval(int(x), n, error=0.01)
                if x > 0:
                    tail = arb(low).beta_lower(int(x), n - int(x) + 1, regularized=True)
                    assert tail <= arb(0.01)
                    assert tail > arb(0.01) * (1 - arb(1e-9) * (10 + int(x)))
                if x < n:
                    tail = 1 - arb(high).beta_lower(int(x) + 1, n - int(x), regularized=True)
                    assert tail <= arb(0.01)


def test_probabilities_are_rounded_up():
    sample = CellSample(37, 5000, 0.02, 0.0002)
    rates = np.array([0.0051, 0.0074, 0.011])
    found = sample.probabilities(rates)
    with ctx.workprec(128):
        for row, q in enumerate(rates):
            for column, x in enumerate(sample.window.astype(int).tolist()):
                logs = arb(5001).lgamma() - arb(x + 1).lgamma() - arb(5001 - x).lgamma()
                exact = (logs + x * arb(q).log() + (5000 - x) * (1 - arb(q)).log()).exp()
                assert exact <= found[row, column]
                assert found[row, column] <= float(exact) * (1 + 1e-8)
    tails = sample.tails(rates)
    expected = binom.sf(sample.window[None, :] - 1, 5000, rates[:, None])
    assert (tails[:, :-1] >= expected * (1 - 1e-9)).all()
    assert tails[:, 5:-1] == pytest.approx(expected[:, 5:], rel=1e-5, abs=2e-10)


def test_what_the_window_leaves_out_is_covered():
    for x, n in ((0, 40), (3, 3000), (250, 1000), (40, 40)):
        sample = CellSample(x, n, 0.0245, 0.00025)
        for q in sample.box:
            inside = binom.pmf(sample.window, n, q).sum()
            assert 1 - inside <= 2e-10


def test_rates_of_zero_and_one_have_their_probabilities():
    sample = CellSample(0, 5, 0.02, 0.0002)
    found = sample.probabilities(np.array([0.0, 1.0]))
    assert found[0] == pytest.approx([1, 0, 0, 0, 0, 0], abs=1e-9)
    assert found[1] == pytest.approx([0, 0, 0, 0, 0, 1], abs=1e-9)


def test_interval_is_clopper_pearson():
    low, high = interval(7, 40, error=0.025)
    assert binom.sf(6, 40, low) == pytest.approx(0.025, rel=1e-6)
    assert binom.cdf(7, 40, high) == pytest.approx(0.025, rel=1e-6)
    assert interval(0, 0, error=0.025) == (0.0, 1.0)
    solved = brentq(lambda q: binom.cdf(7, 40, q) - 0.025, 0.2, 0.9)
    assert solved <= high <= solved * (1 + 1e-8)
