"""Intervals of sampled scores: how often they cover, and how wide they are, before and after.

Before: the empirical Bernstein bound of Maurer and Pontil. After: betting. Scores of a
network with one hidden layer, whose exact smooth score is known, sampled by weights or layer
by layer, and coins, the hardest bounded variable. Every run draws anew; nominal coverage 90 %.
"""

from collections.abc import Iterator

import torch
from _report import Row, arguments, at_least, at_most, report
from torch import Tensor

from fairsmooth.core.architecture import Network
from fairsmooth.core.smoothing import smooth_network
from fairsmooth.core.smoothing.confidence import RunningScores, bernstein_radius
from fairsmooth.core.smoothing.layerwise import antithetic_scores
from fairsmooth.core.smoothing.sampled import weight_pair_scores

DELTA = 0.1
NETWORK = Network(3, (8,))
NOISE = {"sigma": 0.5, "link": "logistic"}


def network_draws(source, n_pairs: int, n_runs: int) -> tuple[Tensor, float]:
    """Return independent scores (pairs, runs) of one row, and its exact smooth score."""
    generator = torch.Generator().manual_seed(1)
    parameters = torch.randn(NETWORK.n_parameters, generator=generator, dtype=torch.float64)
    X = torch.randn(1, 3, generator=generator, dtype=torch.float64)
    exact = smooth_network(NETWORK, parameters, X, **NOISE).item()
    pairs = range(n_pairs * n_runs)
    scores = torch.cat(list(source(NETWORK, parameters, X, pairs=pairs, seed=0, **NOISE)))
    return scores.reshape(n_pairs, n_runs), exact


def coins(chance: float, n_pairs: int, n_runs: int) -> tuple[Tensor, float]:
    generator = torch.Generator().manual_seed(2)
    return (torch.rand(n_pairs, n_runs, generator=generator) < chance).double(), chance


def cases(n_runs: int) -> Iterator[tuple[str, int, Tensor, float]]:
    """Yield a name, the scores per run, all scores and the truth."""
    for n_pairs in (32, 256, 2048):
        runs = min(n_runs, 400_000 // n_pairs)
        yield "layer by layer", n_pairs, *network_draws(antithetic_scores, n_pairs, runs)
        yield "weights", n_pairs, *network_draws(weight_pair_scores, n_pairs, runs)
        yield "coin, 0.5", n_pairs, *coins(0.5, n_pairs, runs)
        yield "coin, 0.01", n_pairs, *coins(0.01, n_pairs, runs)


def compare(name: str, n_pairs: int, scores: Tensor, truth: float) -> Row:
    """Return coverage and mean width of both intervals."""
    running = RunningScores(scores.shape[1])
    running.add(scores)
    radius = bernstein_radius(running.squares, running.count, DELTA / 2.0)
    before = torch.stack([running.mean - radius, running.mean + radius], -1).clamp(0.0, 1.0)
    row: Row = {"scores": name, "per run": n_pairs, "runs": scores.shape[1]}
    for when, interval in (("before", before), ("after", running.interval(DELTA))):
        inside = (interval[:, 0] <= truth) & (truth <= interval[:, 1])
        row[f"coverage {when}"] = float(inside.double().mean())
        row[f"width {when}"] = float((interval[:, 1] - interval[:, 0]).mean())
    return row | {"ratio of widths": row["width after"] / row["width before"]}


def main() -> None:
    options = arguments(__doc__).parse_args()
    rows = [compare(*case) for case in cases(200 if options.quick else 1000)]
    goals = [
        at_least("least coverage", min(row["coverage after"] for row in rows), 1.0 - DELTA),
        at_most("largest ratio of widths", max(row["ratio of widths"] for row in rows), 0.75),
    ]
    report(goals, rows, as_json=options.json)


if __name__ == "__main__":
    main()
