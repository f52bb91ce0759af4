import time
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.special import ndtr

from fairsmooth.attack import AttackResult, Target, _ascent, _search, attack
from fairsmooth.attack._reduction import reduce_linear
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
        assert result.gap >= 0.99 * supremum
        assert result.gap <= result.bound <= result.paper_bound
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
    for result in attack(target, seconds=30.0):
        assert 0.99 <= result.ratio <= 1.0
        assert not result.violates


def test_hidden_layers_are_attacked_everywhere_and_in_the_box(monkeypatch):
    quick = replace(_search._HIDDEN, n_rounds=1, n_candidates=32, n_starts=6, log_largest=2.0)
    monkeypatch.setattr(_search, "_HIDDEN", quick)
    monkeypatch.setattr(_ascent, "_STEPS", 50)
    network = Network(6, (4,))
    rng = np.random.default_rng(5)
    base = rng.normal(size=network.n_parameters)
    weights = base + 0.1 * rng.normal(size=(2, network.n_parameters))
    target = Target(network, weights, weights.mean(0), 0.4, "probit", ("a", "b"))
    low, high = -np.ones(6), np.ones(6)
    # Time enough for the one round, so that the machine's speed decides nothing.
    results = attack(target, seconds=120.0, box=(low, high))
    assert [(r.group, r.where) for r in results] == [
        (group, where) for group in "ab" for where in ("unbounded", "box")
    ]
    rows = torch.as_tensor(rng.uniform(-1, 1, size=(300, 6)))
    for result in results:
        position = target.groups.index(result.group)
        assert 0.0 < result.gap <= result.bound <= result.paper_bound
        again = target.gaps(torch.as_tensor(result.x)[None], position)
        assert float(again[0]) == pytest.approx(result.gap, abs=1e-12)
        assert result.gap >= float(target.gaps(rows, position).max())
        if result.where == "box":
            assert ((result.x >= low) & (result.x <= high)).all()


def test_gaps_on_the_box_are_found_at_a_corner():
    weights = np.array([[1.0, 0.5, 0.0], [1.0, -0.5, 0.0]])
    target = Target(Network(2), weights, weights.mean(0), 0.1, "probit", (0, 1))
    (_, inside, *_) = attack(target, seconds=20.0, box=([0.0, 0.0], [0.0, 1.0]))
    np.testing.assert_array_equal(inside.x, [0.0, 1.0])


def test_the_reduction_keeps_every_gap():
    target = linear_target(30, "logistic", 0.5, 0.3)
    small, basis = reduce_linear(target, 1)
    assert small.network.n_features == 3
    np.testing.assert_allclose(basis.T @ basis, np.eye(3), atol=1e-14)
    y = torch.randn(50, 3, generator=torch.Generator().manual_seed(0)).double()
    large = target.gaps(y @ torch.as_tensor(basis).T, 1)
    torch.testing.assert_close(small.gaps(y, 0), large, atol=1e-13, rtol=0.0)


@pytest.mark.parametrize("n_features", [1, 4])
def test_few_features_and_equal_groups(n_features):
    weights = np.ones((2, n_features + 1))
    target = Target(Network(n_features), weights, weights[0], 0.5, "logistic", ("a", "b"))
    for result in attack(target, seconds=5.0):
        assert result.gap == result.bound == 0.0
        assert result.ratio == 1.0
        assert not result.violates


def test_bounds_are_the_certificate_s():
    target = linear_target(10, "logistic", 0.7, 0.2, n_groups=4)
    certificate = certify(target.group_parameters, sigma=0.7, groups=target.groups)
    for position, group in enumerate(target.groups):
        tight = certificate.epsilon_by_group[group]
        assert target.bound(position) == pytest.approx(tight, rel=1e-13)
    assert target.paper_bound() == pytest.approx(certificate.epsilon, rel=1e-13)


def test_the_same_seed_gives_the_same_input(monkeypatch):
    monkeypatch.setattr(_search, "_LINEAR", replace(_search._LINEAR, n_rounds=1))
    target = linear_target(12, "probit", 0.5, 0.2)
    first, second = (attack(target, seconds=60.0, random_state=7) for _ in range(2))
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a.x, b.x)


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
