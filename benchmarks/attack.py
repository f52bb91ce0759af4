"""The attack on linear models: share of the supremum it reaches, and the time it takes.

Two hundred random linear models, among them some with large weights under little noise,
where scores turn within a tenth of a degree, groups that differ in the bias alone,
groups that differ along their weights, and a quarter with one to three features. The
supremum is known twice: from above by the attack's own proof, and from a search that shares
no code with it, which walks along the curves where a logit is a given number of standard
deviations from 0.
Networks are attacked as well, to show what more time finds.
"""

import time
from collections.abc import Callable

import numpy as np
import torch
from _report import Goal, Row, arguments, at_least, at_most, report
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, ndtr

from fairsmooth.attack import Target, attack
from fairsmooth.core.architecture import Network

Floats = NDArray[np.float64]

N_MODELS, N_QUICK = 200, 40
KINDS = ("small weights", "large weights, little noise", "bias only", "parallel", "large bias")
STEPS = np.linspace(-9.0, 9.0, 181)
NORMS = np.concatenate([[0.0], np.geomspace(1e-3, 1e9, 61)])
OFFSETS = np.concatenate([np.arange(-6.0, 6.1, 1.0), [-0.3, -0.1, 0.1, 0.3]])


def model(seed: int) -> tuple[str, Target]:
    """Return one random linear model and what is special about it."""
    rng = np.random.default_rng(seed)
    kind = KINDS[seed % len(KINDS)]
    n_features = int(rng.integers(1, 4 if seed % 4 == 0 else 51))
    n_groups = int(rng.integers(2, 6))
    large = kind == "large weights, little noise"
    size = rng.uniform(5.0, 9.0) if large else 10.0 ** rng.uniform(-1.0, 0.5)
    sigma = rng.uniform(0.03, 0.07) if large else 10.0 ** rng.uniform(-1.0, 0.3)
    base = size * rng.normal(size=n_features + 1)
    base[-1] *= 30.0 if kind == "large bias" else 1.0
    differences = sigma * 10.0 ** rng.uniform(-2.0, 0.5) * rng.normal(size=(n_groups, len(base)))
    if kind == "bias only":
        differences[:, :-1] = 0.0
    if kind == "parallel":
        differences = 0.1 * differences[:, -1:] * base
    weights = base + differences
    link = ("logistic", "probit")[int(rng.integers(2))]
    groups = tuple(range(n_groups))
    return kind, Target(Network(n_features), weights, weights.mean(0), sigma, link, groups)


def smooth(mean: Floats, scale: Floats, link: str) -> Floats:
    """Return the smooth score, the logistic one by the trapezoid rule.

    Over the Gaussian where the scale is small, over the logistic density where it is large: either
    integrand is analytic in a wide strip, so the rule errs by less than 1e-13.
    """
    if link == "probit":
        return ndtr(mean / np.hypot(1.0, scale))
    narrow = scale < 3.0
    score = np.empty_like(mean)
    normal = np.exp(-0.5 * STEPS**2)
    points = mean[narrow, None] + scale[narrow, None] * STEPS
    score[narrow] = expit(points) @ (normal / normal.sum())
    logistic = expit(5.0 * STEPS) * expit(-5.0 * STEPS)
    points = (mean[~narrow, None] - 5.0 * STEPS) / scale[~narrow, None]
    score[~narrow] = ndtr(points) @ (logistic / logistic.sum())
    return score


def supremum(overall: Floats, own: Floats, sigma: float, link: str) -> float:
    """Search norm and angle for the largest gap, along every curve where something turns."""
    n_features = len(overall) - 1
    pair = np.stack([overall, own])
    weights, biases = np.zeros((2, 2)), pair[:, -1]
    plane, _ = np.linalg.qr(pair[:, :-1].T)
    weights[:, : plane.shape[1]] = pair[:, :-1] @ plane

    def gap(norm: Floats, angle: Floats) -> Floats:
        scale = sigma * np.hypot(norm, 1.0)
        x = norm * np.stack([np.cos(angle), np.sin(angle)])
        scores = [smooth(w @ x + b, scale, link) for w, b in zip(weights, biases, strict=True)]
        return np.abs(scores[0] - scores[1])

    curves = [*zip(weights, biases, strict=True), (weights.mean(0), biases.mean())]
    norm, angle = candidates(curves, sigma, flat=n_features == 1)
    gaps = np.concatenate(
        [
            gap(*part)
            for part in zip(np.array_split(norm, 16), np.array_split(angle, 16), strict=True)
        ]
    )
    best = [climb(gap, norm[i], angle[i], flat=n_features == 1) for i in np.argsort(-gaps)[:6]]
    return max(float(gaps.max()), *best)


def candidates(
    curves: list[tuple[Floats, float]], sigma: float, *, flat: bool
) -> tuple[Floats, Floats]:
    """Return norms and angles at which some logit is a given number of deviations from 0."""
    if flat:
        dense = np.geomspace(1e-9, 1e9, 20_001)
        return np.tile(dense, 2), np.repeat([0.0, np.pi], len(dense))
    norms, angles = [], []
    for vector, bias in curves:
        length, phase = np.hypot(*vector), np.arctan2(vector[1], vector[0])
        for deviation in (
            sigma * np.hypot(NORMS, 1.0),
            np.hypot(1.0, sigma * np.hypot(NORMS, 1.0)),
        ):
            wanted = OFFSETS[:, None] * deviation - bias
            with np.errstate(divide="ignore", invalid="ignore"):
                cosine = wanted / (length * NORMS)
            row, column = np.nonzero(np.abs(cosine) <= 1.0)
            turn = np.arccos(cosine[row, column])
            norms += [NORMS[column]] * 2
            angles += [phase + turn, phase - turn]
    everywhere = np.meshgrid(NORMS, np.linspace(0.0, 2.0 * np.pi, 37))
    norms.append(everywhere[0].ravel())
    angles.append(everywhere[1].ravel())
    return np.concatenate(norms), np.concatenate(angles)


def climb(
    gap: Callable[[Floats, Floats], Floats], norm: float, angle: float, *, flat: bool
) -> float:
    """Return the largest gap near a place, by logarithm of the norm and by angle."""

    def loss(at: Floats) -> float:
        turned = angle if flat else at[1]
        return -float(gap(np.exp(at[:1]), np.array([turned]))[0])

    start = np.array([np.log(max(norm, 1e-9)), angle])
    simplex = start + np.array([[0.0, 0.0], [0.1, 0.0], [0.0, 1e-3]])
    options = {"initial_simplex": simplex, "maxfev": 300, "fatol": 1e-12, "xatol": 1e-12}
    return -float(minimize(loss, start, method="Nelder-Mead", options=options).fun)


def measure(seed: int) -> Row:
    """Attack one model; the worst of its groups counts."""
    kind, target = model(seed)
    start, start_cpu = time.perf_counter(), time.process_time()
    results = attack(target, seconds=10.0)  # it ends by itself
    seconds, cpu = time.perf_counter() - start, time.process_time() - start_cpu
    known = [
        supremum(target.parameters, own, target.sigma, target.link)
        for own in target.group_parameters
    ]
    searched = [r.gap / max(k, 1e-300) for r, k in zip(results, known, strict=True)]
    proved = [r.gap / max(r.ceiling or r.bound, 1e-300) for r in results]
    return {
        "seed": seed,
        "kind": kind,
        "link": target.link,
        "features": target.network.n_features,
        "groups": len(results),
        "share of supremum searched": min(searched),
        "share of supremum proved": min(proved),
        "largest share of bound": max(result.ratio for result in results),
        "violations": sum(result.violates for result in results),
        "seconds": seconds,
        "cpu seconds": cpu,
    }


def summary(kind: str, rows: list[Row]) -> Row:
    own = [row for row in rows if row["kind"] == kind]
    proved = np.array([row["share of supremum proved"] for row in own])
    return {
        "models": kind,
        "number": len(own),
        "least share searched": min(row["share of supremum searched"] for row in own),
        "least share proved": float(proved.min()),
        "proved to 99 %": int((proved >= 0.99).sum()),
        "longest seconds": max(row["seconds"] for row in own),
        "longest cpu seconds": max(row["cpu seconds"] for row in own),
    }


def network_row(activation: str, granted: float) -> Row:
    """Attack a random network with 8 units for some time; networks have no known supremum."""
    rng = np.random.default_rng(1)
    network = Network(10, (8,), activation)
    weights = rng.normal(size=network.n_parameters) + 0.2 * rng.normal(
        size=(2, network.n_parameters)
    )
    target = Target(network, weights, weights.mean(0), 0.5, "logistic", ("a", "b"))
    start = time.perf_counter()
    results = attack(target, seconds=granted)
    return {
        "network": f"10-8-1 {activation}",
        "seconds granted": granted,
        "seconds used": time.perf_counter() - start,
        "largest gap": max(result.gap for result in results),
        "share of bound": max(result.ratio for result in results),
    }


def main() -> None:
    options = arguments(__doc__).parse_args()
    torch.set_num_threads(1)
    attack(model(0)[1], seconds=1.0)  # what is made once is not timed
    rows = [measure(seed) for seed in range(N_QUICK if options.quick else N_MODELS)]
    goals: list[Goal] = [
        at_least(
            "least share of the supremum found by search",
            min(row["share of supremum searched"] for row in rows),
            0.99,
        ),
        # Processor time: one thread, so other work on the machine does not count.
        at_most("longest attack, cpu seconds", max(row["cpu seconds"] for row in rows), 1.0),
        at_most("violations", sum(row["violations"] for row in rows), 0.0),
    ]
    granted = (0.5, 1.0) if options.quick else (2.0, 8.0)
    networks = [network_row(name, time_) for name in ("relu", "tanh", "silu") for time_ in granted]
    shown = [summary(kind, rows) for kind in KINDS] + networks
    report(goals, shown + (rows if options.json else []), as_json=options.json)


if __name__ == "__main__":
    main()
