import math
import time
from itertools import count
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from scipy.special import ndtr

from fairsmooth.attack import AttackResult, Target, ascent, attack, search
from fairsmooth.attack import hunt as hunting
from fairsmooth.attack.contrast import Contrast
from fairsmooth.attack.linear import worst_linear_input
from fairsmooth.attack.regions import Box
from fairsmooth.core.architecture import Network
from fairsmooth.core.certificate import certify
from fairsmooth.exceptions import InputError

NODES, WEIGHTS = np.polynomial.legendre.leggauss(120)


def linear_target(n_features, link, sigma, spread, *, n_groups=2, seed=0):
    rng = np.random.default_rng(seed)
    base = 0.3 * rng.normal(size=n_features + 1)
    weights = base + spread * rng.normal(size=(n_groups, n_features + 1))
    groups = tuple("abcde"[:n_groups])
    return Target(Network(n_features), weights, weights.mean(0), sigma, link, groups)


def smooth(mean, scale, link):
    """Independent of the library: the logistic through its quantile function."""
    if link == "step":
        return ndtr(mean / scale)
    if link == "probit":
        return ndtr(mean / np.sqrt(1.0 + scale**2))
    shares = (NODES + 1.0) / 2.0
    quantiles = np.log(shares / (1.0 - shares))
    return ndtr((mean[..., None] - quantiles) / scale[..., None]) @ (WEIGHTS / 2.0)


def exhaustive_supremum(overall, own, sigma, link):
    """Grid over angle in the span, elevation out of it and log-norm, then finer grids."""
    first = np.linalg.norm(overall[:-1])
    along = own[:-1] @ overall[:-1] / first
    across = np.sqrt(own[:-1] @ own[:-1] - along**2)

    def gap(points):
        angle, elevation, log_norm = points.T
        norm = np.exp(log_norm)
        a = np.cos(angle) * np.cos(elevation) * norm
        b = np.sin(angle) * np.cos(elevation) * norm
        scale = sigma * np.sqrt(norm**2 + 1.0)
        score = smooth(first * a + overall[-1], scale, link)
        return np.abs(score - smooth(along * a + across * b + own[-1], scale, link))

    def grid(*axes):
        return np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, 3)

    step = np.array([np.pi / 40, np.pi / 24, 0.8])
    points = grid(
        np.arange(-np.pi, np.pi, step[0]), np.arange(0, 1.6, step[1]), np.arange(-4, 14, step[2])
    )
    gaps = np.concatenate([gap(part) for part in np.array_split(points, 20)])
    for _ in range(12):
        best = points[np.argsort(gaps)[-30:]]
        around = grid(*[np.linspace(-1, 1, 5)] * 3) * step
        points = (best[:, None] + around).reshape(-1, 3)
        gaps = gap(points)
        step = step / 1.7
    return gaps.max()


@pytest.mark.parametrize(
    ("n_features", "sigma", "spread", "link"),
    [
        (8, 1.0, 0.1, "logistic"),
        (40, 0.5, 0.3, "logistic"),
        (117, 0.2, 0.01, "logistic"),
        (40, 0.5, 0.3, "probit"),
        (117, 0.2, 0.01, "step"),
    ],
)
def test_linear_attacks_reach_the_exhaustive_supremum(n_features, sigma, spread, link):
    target = linear_target(n_features, link, sigma, spread)
    results = attack(target, seconds=60.0)
    for position, result in enumerate(results):
        supremum = exhaustive_supremum(
            target.parameters, target.group_parameters[position], sigma, link
        )
        assert 0.99 * supremum <= result.gap <= result.ceiling <= result.bound
        assert supremum <= result.ceiling + 1e-6
        assert result.bound <= result.paper_bound
        assert not result.violates


@pytest.mark.parametrize("ratio", [0.05, 1.0, 4.0])
def test_the_worst_model_reaches_the_tight_bound(ratio):
    n_features, sigma = 20, 0.5
    rng = np.random.default_rng(3)
    overall = rng.normal(size=n_features + 1) * 20.0
    overall[-1] = 0.0
    difference = rng.normal(size=n_features + 1)
    difference -= (difference @ overall) / (overall @ overall) * overall
    difference *= ratio * sigma / np.linalg.norm(difference)
    weights = np.stack([overall + difference, overall - difference])
    target = Target(Network(n_features), weights, overall, sigma, "step", ("a", "b"))
    for result in attack(target, seconds=1.0):
        assert 0.99 <= result.ratio <= 1.0
        assert not result.violates


def adversarial_target(kind, seed):
    """Large weights under little noise, and differences that point where they hide."""
    rng = np.random.default_rng(seed)
    n_features, n_groups = int(rng.integers(1, 51)), int(rng.integers(2, 6))
    sigma = rng.uniform(0.03, 0.07)
    base = 7.0 * rng.normal(size=n_features + 1)
    base[-1] *= {"large bias": 30.0, "small bias": 1e-3}.get(kind, 1.0)
    differences = sigma * rng.uniform(0.1, 1.0) * rng.normal(size=(n_groups, n_features + 1))
    if kind == "bias only":
        differences[:, :-1] = 0.0
    if kind == "no weights":
        base[:-1] = differences[:, :-1] = 0.0
    weights = base + differences
    link = ("logistic", "probit", "step")[seed % 3]
    groups = tuple("abcde"[:n_groups])
    return Target(Network(n_features), weights, weights.mean(0), sigma, link, groups)


@pytest.mark.parametrize("kind", ["plain", "large bias", "small bias", "bias only", "no weights"])
@pytest.mark.parametrize("seed", range(6))
def test_linear_attacks_prove_that_they_reach_the_supremum(kind, seed):
    target = adversarial_target(kind, seed)
    for position, result in enumerate(attack(target, seconds=60.0)):
        assert not result.violates
        assert 0.99 * result.ceiling <= result.gap <= result.ceiling <= result.bound
        inputs = tempting_inputs(target, position)
        assert float(target.gaps(inputs, position).max()) <= result.ceiling


def tempting_inputs(target, position):
    """Inputs of every length on and beside the planes where some logit is 0, and at random."""
    rng = np.random.default_rng(0)
    own = target.group_parameters[position]
    n_features = target.network.n_features
    rows = [rng.normal(size=(400, n_features)) * np.geomspace(1e-3, 1e6, 400)[:, None]]
    for weights in (target.parameters, own, (target.parameters + own) / 2.0):
        normal, bias = weights[:-1], weights[-1]
        if not normal.any():
            continue
        foot = normal / (normal @ normal)
        away = rng.normal(size=(600, n_features)) + 3.0 * rng.normal(size=(600, 1)) * own[:-1]
        away -= np.outer(away @ normal, foot)
        away *= (
            np.geomspace(1e-3, 1e6, 600)[:, None] / (np.linalg.norm(away, axis=1) + 1e-9)[:, None]
        )
        scale = np.sqrt(1.0 + target.sigma**2 * (1.0 + (away**2).sum(1)))
        logit = scale * rng.normal(size=600)
        rows.append(away + np.outer(logit - bias, foot))
    return torch.as_tensor(np.concatenate(rows))


def test_no_value_in_a_cell_exceeds_its_bound():
    rng = np.random.default_rng(4)
    for link in ("logistic", "probit", "step"):
        for n_features in (1, 2):
            pair = rng.normal(size=(2, n_features + 1)) * [[3.0], [2.0]]
            contrast = Contrast.of(*pair, sigma=0.2, link=link)
            cells = contrast.cells(24, 24)
            for _ in range(3):
                bounds = contrast.bounds(cells)
                for corner in rng.uniform(-1.0, 1.0, size=(30, 2, len(cells))):
                    latitude = cells.latitude + corner[0] * cells.half_latitude
                    longitude = cells.longitude + corner[1] * cells.half_longitude
                    assert (contrast.values(latitude, longitude) <= bounds + 1e-14).all()
                cells = cells.halves(contrast.across_latitude(cells))


@pytest.mark.parametrize("n_features", [1, 2, 30])
# For the logistic the two sides take different mixtures of normals, each with its proven error.
@pytest.mark.parametrize(("link", "error"), [("probit", 1e-13), ("logistic", 7e-10)])
def test_the_sphere_keeps_every_gap(n_features, link, error):
    target = linear_target(n_features, link, 0.5, 0.3)
    weights = np.stack([target.parameters, target.group_parameters[1]])
    basis, _ = np.linalg.qr(weights[:, :-1].T)
    small = np.column_stack([weights[:, :-1] @ basis, weights[:, -1]])
    contrast = Contrast.of(*small, sigma=0.5, link=link)
    y = np.random.default_rng(0).normal(size=(50, basis.shape[1])) * 10.0
    large = target.gaps(torch.as_tensor(y @ basis.T), 1)
    np.testing.assert_allclose(contrast.gaps(y), large.numpy(), atol=error, rtol=0.0)


def test_a_supremum_at_infinity_is_approached_by_a_finite_input():
    # Without biases a smooth score depends on the direction alone, but for the link.
    weights = np.array([[1.0, 1.0, 0.0], [1.0, -1.0, 0.0]])
    target = Target(Network(2), weights, weights.mean(0), 1.0, "probit", ("a", "b"))
    limit = exhaustive_limit(target.parameters[:-1], weights[0, :-1])
    (first, _) = attack(target, seconds=1.0)
    assert np.isfinite(first.x).all()
    assert np.linalg.norm(first.x) > 100.0
    assert limit * (1.0 - 1e-5) <= first.gap <= limit


def exhaustive_limit(overall, own):
    angle = np.linspace(0.0, 2.0 * np.pi, 1_000_001)
    x = np.stack([np.cos(angle), np.sin(angle)])
    return np.abs(ndtr(overall @ x) - ndtr(own @ x)).max()


def test_linear_models_take_no_longer_than_they_need():
    target = linear_target(50, "logistic", 0.05, 7.0, n_groups=5)
    start = time.perf_counter()
    results = attack(target, seconds=60.0)
    elapsed = time.perf_counter() - start
    assert elapsed < 10.0
    assert 0.0 < sum(result.seconds for result in results) <= elapsed


def test_a_proof_cut_short_still_holds():
    target = linear_target(20, "logistic", 0.3, 0.3)
    x, ceiling = worst_linear_input(target, 0, deadline=time.monotonic() - 1.0)
    _, finer = worst_linear_input(target, 0, deadline=math.inf)
    gap = float(target.gaps(torch.as_tensor(x)[None], 0)[0])
    assert gap <= finer <= ceiling


def test_rounding_is_never_called_a_violation():
    # The bound is attained to nine digits, and the logits have lost as many to rounding.
    rng = np.random.default_rng(1)
    for size in (1e6, 1e9, 1e12):
        overall = size * rng.normal(size=31)
        difference = rng.normal(size=31)
        difference -= (difference @ overall) / (overall @ overall) * overall
        weights = np.stack([overall + difference, overall - difference])
        target = Target(Network(30), weights, overall, 1.0, "step", ("a", "b"))
        for result in attack(target, seconds=1.0):
            assert not result.violates
            assert result.tolerance > 2.0**-53 * size


def test_without_noise_gaps_are_still_looked_for():
    weights = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    target = Target(Network(2), weights, weights.mean(0), 0.0, "logistic", ("a", "b"))
    for result in attack(target, seconds=0.3):
        assert 0.99 < result.gap <= result.bound == 1.0
        assert result.ceiling is None
        assert not result.violates


def hidden_target(seed=5):
    network = Network(6, (4,))
    rng = np.random.default_rng(seed)
    base = rng.normal(size=network.n_parameters)
    weights = base + 0.1 * rng.normal(size=(2, network.n_parameters))
    return Target(network, weights, weights.mean(0), 0.4, "probit", ("a", "b"))


def quick(monkeypatch):
    effort = search.Effort(n_candidates=32, n_starts=6, log_largest=2.0)
    monkeypatch.setattr(search, "HIDDEN", effort)
    monkeypatch.setattr(ascent, "STEPS", 30)


def test_hidden_layers_are_attacked_everywhere_and_in_the_box(monkeypatch):
    quick(monkeypatch)
    target = hidden_target()
    low, high = -np.ones(6), np.ones(6)
    box = Box(torch.as_tensor(low), torch.as_tensor(high))
    # One whole round each, so that the machine's speed decides nothing.
    hunts = list(search.hunts_on(target, box))
    for hunt in hunts:
        hunt.advance(torch.Generator().manual_seed(0), deadline=math.inf)
    results = [hunt.result() for hunt in hunts]
    assert [(r.group, r.where) for r in results] == [
        (group, where) for group in "ab" for where in ("unbounded", "box")
    ]
    rows = torch.as_tensor(np.random.default_rng(6).uniform(-1, 1, size=(300, 6)))
    for result in results:
        position = target.groups.index(result.group)
        assert 0.0 < result.gap <= result.bound <= result.paper_bound
        again = target.gaps(torch.as_tensor(result.x)[None], position)
        assert float(again[0]) == pytest.approx(result.gap, abs=1e-12)
        assert result.gap >= float(target.gaps(rows, position).max())
        if result.where == "box":
            assert ((result.x >= low) & (result.x <= high)).all()


def ticking(monkeypatch, tick=0.005):
    """Let time pass by so much at every look at the clock, whatever the machine is doing."""
    ticks = count()
    for module in (ascent, hunting, search):
        if hasattr(module, "time"):
            clock = SimpleNamespace(monotonic=lambda: tick * next(ticks))
            monkeypatch.setattr(module, "time", clock)


def test_networks_use_the_time_they_are_given(monkeypatch):
    quick(monkeypatch)
    monkeypatch.setattr(ascent, "STEPS", 2)
    rounds = []
    run = ascent.Search.run
    monkeypatch.setattr(
        ascent.Search, "run", lambda self, *a, **b: rounds.append(b["around"]) or run(self, *a, **b)
    )
    ticking(monkeypatch)
    results = attack(hidden_target(), seconds=2.0)
    used = sum(result.seconds for result in results)
    # Looks at the clock between two rounds belong to none of them.
    assert 1.7 <= used <= 2.5
    assert len(rounds) > 4
    assert rounds[:2] == [None, None]
    assert all(around is not None for around in rounds[2:])


def test_more_rounds_never_lose_what_was_found():
    target = hidden_target()
    generator = torch.Generator().manual_seed(0)
    (hunt, *_) = search.hunts_on(target, None)
    gaps = []
    for _ in range(3):
        hunt.advance(generator, deadline=time.monotonic() + 0.3)
        gaps.append(hunt.gap)
    assert gaps == sorted(gaps)
    result = hunt.result()
    assert result.gap == pytest.approx(gaps[-1], abs=result.tolerance)


def test_gaps_on_the_box_are_found_at_a_corner():
    weights = np.array([[1.0, 0.5, 0.0], [1.0, -0.5, 0.0]])
    target = Target(Network(2), weights, weights.mean(0), 0.1, "probit", (0, 1))
    (_, inside, *_) = attack(target, seconds=1.0, box=([0.0, 0.0], [0.0, 1.0]))
    np.testing.assert_array_equal(inside.x, [0.0, 1.0])


@pytest.mark.parametrize("hidden", [(), (3,)])
@pytest.mark.parametrize("n_features", [1, 4])
def test_few_features_and_equal_groups(n_features, hidden):
    network = Network(n_features, hidden)
    weights = np.linspace(-1.0, 1.0, 2 * network.n_parameters)[None, ::2].repeat(2, axis=0)
    target = Target(network, weights, weights[0], 0.5, "logistic", ("a", "b"))
    for result in attack(target, seconds=5.0, box=(np.zeros(n_features), np.ones(n_features))):
        assert result.gap == result.bound == 0.0
        assert result.ceiling == (None if hidden or result.where == "box" else 0.0)
        assert result.ratio == 1.0
        assert not result.violates


def test_bounds_are_the_certificate_s():
    target = linear_target(10, "logistic", 0.7, 0.2, n_groups=4)
    certificate = certify(target.group_parameters, sigma=0.7, groups=target.groups)
    for position, group in enumerate(target.groups):
        tight = certificate.epsilon_by_group[group]
        assert target.bound(position) == pytest.approx(tight, rel=1e-13)
    assert target.paper_bound() == pytest.approx(certificate.epsilon, rel=1e-13)


def test_linear_models_need_no_seed():
    target = linear_target(12, "probit", 0.5, 0.2)
    first, second = (attack(target, seconds=1.0, random_state=seed) for seed in (1, 2))
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a.x, b.x)


def test_the_same_seed_gives_the_same_round(monkeypatch):
    quick(monkeypatch)
    target = hidden_target()
    found = []
    for _ in range(2):
        (hunt, *_) = search.hunts_on(target, None)
        hunt.advance(torch.Generator().manual_seed(7), deadline=math.inf)
        found.append(hunt.result().x)
    np.testing.assert_array_equal(*found)


def test_time_is_kept():
    network = Network(60, (48,))
    rng = np.random.default_rng(0)
    weights = 0.2 * rng.normal(size=(5, network.n_parameters))
    target = Target(network, weights, weights.mean(0), 0.5, "logistic", tuple("abcde"))
    start = time.perf_counter()
    results = attack(target, seconds=0.5, box=(np.zeros(60), np.ones(60)))
    # Every hunt finishes the chunk of inputs it has begun, however short the time.
    assert time.perf_counter() - start < 8.0
    assert len(results) == 10
    assert all(result.gap > 0.0 for result in results)


def test_a_gap_beyond_a_bound_is_called_a_violation():
    values = {"group": "a", "where": "box", "paper_bound": 0.5, "x": np.zeros(1)}
    beyond = AttackResult(gap=0.2, bound=0.1, tolerance=1e-9, **values)
    assert beyond.violates
    assert beyond.ratio == 2.0
    assert "VIOLATES" in str(beyond)
    within = AttackResult(gap=0.1 + 1e-10, bound=0.1, tolerance=1e-9, **values)
    assert not within.violates
    assert "within its bound" in str(within)
    proved = AttackResult(gap=0.1, bound=0.3, tolerance=0.0, ceiling=0.1000001, **values)
    assert "proved at most 0.100001;" in str(proved)
    assert proved.to_dict()["ceiling"] == 0.1000001
    endless = AttackResult(
        group="a", where="box", gap=0.0, bound=1.0, paper_bound=math.inf, x=np.zeros(1), tolerance=0
    )
    assert endless.to_dict()["paper_bound"] is None
    assert "the paper's is no bound" in str(endless)
    assert AttackResult(gap=0.1, bound=0.0, tolerance=1e-9, **values).ratio == 0.0


def test_what_cannot_be_attacked():
    weights = np.zeros((2, 4))
    arguments = {"sigma": 0.5, "link": "logistic", "groups": ("a", "b")}
    with pytest.raises(InputError, match="Expected a linear model or a network with one hidden"):
        Target(Network(3, (2, 2)), weights, weights[0], **arguments)
    with pytest.raises(InputError, match=r"Expected group_parameters of shape \(2, 6\)"):
        Target(Network(5), weights, weights[0], **arguments)
    target = Target(Network(3), weights, weights[0], **arguments)
    with pytest.raises(InputError, match="Expected seconds > 0, got seconds=0"):
        attack(target, seconds=0.0)
    with pytest.raises(InputError, match=r"Expected both ends of the box of shape \(3,\)"):
        attack(target, seconds=1.0, box=(np.zeros(2), np.ones(3)))
    with pytest.raises(InputError, match="Expected a finite box with low <= high"):
        attack(target, seconds=1.0, box=(np.ones(3), np.zeros(3)))
