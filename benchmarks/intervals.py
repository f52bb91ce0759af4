"""Intervals of sampled scores: how often they cover, and how wide they are, before and after.

Before: the empirical Bernstein bound of Maurer and Pontil. After: betting. Scores of a
network with one hidden layer, whose exact smooth score is known, in antithetic pairs as the
library draws them, and coins, the hardest bounded variable. Nominal coverage 90 %.
"""

from collections.abc import Iterator

import torch
from _report import Row, arguments, at_least, at_most, report
from torch import Tensor

from fairsmooth.core.architecture import Network
from fairsmooth.core.smoothing import smooth_network
from fairsmooth.core.smoothing.confidence import RunningScores, bernstein_radius
from fairsmooth.core.smoothing.layerwise import scores_given_noise

DELTA = 0.1
NETWORK = Network(3, (8,))


def network_draws(n_pairs: int, n_runs: int) -> tuple[Tensor, float]:
    """Return independent antithetic scores (pairs, runs) of one row, and its exact score."""
    generator = torch.Generator().manual_seed(1)
    parameters = torch.randn(NETWORK.n_parameters, generator=generator, dtype=torch.float64)
    X = torch.randn(1, 3, generator=generator, dtype=torch.float64)
    exact = smooth_network(NETWORK, parameters, X, sigma=0.5, link="logistic").item()
    noise = torch.randn(n_pairs * n_runs, 8, generator=generator, dtype=torch.float64)
    both = [scores_given_noise(NETWORK, parameters, X, e, 0.5, "logistic") for e in (noise, -noise)]
    return (0.5 * (both[0] + both[1])).reshape(n_pairs, n_runs), exact


def coins(chance: float, n_pairs: int, n_runs: int) -> tuple[Tensor, float]:
    generator = torch.Generator().manual_seed(2)
    return (torch.rand(n_pairs, n_runs, generator=generator) < chance).double(), chance


def cases(n_runs: int) -> Iterator[tuple[str, int, Tensor, float]]:
    """Yield a name, the scores per run, all scores and the truth."""
    for n_pairs in (32, 256, 2048):
        runs = min(n_runs, 400_000 // n_pairs)
        yield "layer by layer", n_pairs, *network_draws(n_pairs, runs)
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
