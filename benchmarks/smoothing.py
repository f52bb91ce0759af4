"""Smooth scores: ours against 100,000 weight draws, by speed, error and memory.

One process, all cores, 1,000 rows and 100 inputs. The naive sampler is the paper's
Section 3.2 written well: float32, draws batched into one matrix product per layer.
Its time is the number of blocks of draws times the fastest block, so other work on
the machine cannot flatter us. Ours is the fastest of several runs, in float64.
"""

import math
import time
from dataclasses import dataclass
from functools import partial

import torch
from _report import Goal, Row, arguments, at_least, at_most, fastest, peak_memory, report
from torch import Tensor

from fairsmooth.core.architecture import Network
from fairsmooth.core.smoothing import smooth_layerwise, smooth_probability

# Both from here: older sources, which scores.py compares with, have them nowhere else.
from fairsmooth.core.smoothing.hidden import Accuracy, smooth_hidden

N_ROWS, N_INPUTS, N_DRAWS, BLOCK = 1000, 100, 100_000, 250


@dataclass(frozen=True)
class Case:
    """A network, its noise, and how many times faster than sampling it should be."""

    sizes: tuple[int, ...]
    sigma: float
    goal: float

    @property
    def name(self) -> str:
        """Widths from input to logit, and sigma."""
        return f"{'-'.join(map(str, (N_INPUTS, *self.sizes, 1)))} sigma={self.sigma:g}"

    @property
    def network(self) -> Network:
        """The ReLU network of the case."""
        return Network(N_INPUTS, self.sizes)


CASES = (
    Case((), 0.5, 500.0),
    Case((64,), 0.5, 500.0),
    Case((64,), 0.1, 150.0),
    Case((64, 32), 0.5, 50.0),
)


def problem(case: Case) -> tuple[Tensor, Tensor]:
    """Return parameters as torch initialises them, and standard normal rows, in float64."""
    generator = torch.Generator().manual_seed(7)
    pieces = []
    for out, into in case.network.shapes:
        bound = 1.0 / math.sqrt(into)
        pieces.append((2.0 * torch.rand(out * (into + 1), generator=generator) - 1.0) * bound)
    rows = torch.randn(N_ROWS, N_INPUTS, generator=generator)
    return torch.cat(pieces).double(), rows.double()


def naive_block(network: Network, parameters: Tensor, X: Tensor, sigma: float) -> Tensor:
    """Return scores (rows, draws) of one block of weight draws, in float32."""
    draws = parameters + sigma * torch.randn(BLOCK, len(parameters))
    *inner, (weight, bias) = network.layers(draws)
    signal = X
    for position, (w, b) in enumerate(inner):
        if position == 0:  # all draws at once in one matrix product
            flat = torch.addmm(b.reshape(-1), signal, w.reshape(-1, w.shape[-1]).T)
            signal = flat.relu_().view(len(X), BLOCK, -1).transpose(0, 1)
        else:
            signal = torch.baddbmm(b.unsqueeze(1), signal, w.mT).relu_()
    if not inner:
        return torch.sigmoid_(torch.addmm(bias.squeeze(-1), X, weight.squeeze(1).T))
    return torch.sigmoid_(torch.baddbmm(bias.unsqueeze(1), signal, weight.mT)).squeeze(-1).T


def naive(case: Case, n_draws: int) -> tuple[float, Tensor, Tensor]:
    """Return seconds for 100,000 draws, the estimate, and its standard error per row."""
    parameters, X = (part.float() for part in problem(case))
    total, squares = torch.zeros(N_ROWS).double(), torch.zeros(N_ROWS).double()
    seconds = []
    torch.manual_seed(0)
    for _ in range(max(2, n_draws // BLOCK)):
        start = time.perf_counter()
        scores = naive_block(case.network, parameters, X, case.sigma)
        total += scores.sum(1)
        seconds.append(time.perf_counter() - start)
        squares += scores.square().sum(1)
    count = len(seconds) * BLOCK
    mean = total / count
    deviation = (squares / count - mean.square()).clamp_min(0.0).sqrt()
    return min(seconds) * N_DRAWS / BLOCK, mean, deviation / math.sqrt(N_DRAWS)


def exact_case(case: Case, n_draws: int, repeats: int, n_checked: int) -> tuple[Row, list[Goal]]:
    parameters, X = problem(case)

    def ours() -> Tensor:
        return smooth_probability(case.network, parameters, X, sigma=case.sigma)

    slow, estimate, standard_error = naive(case, n_draws)
    quick = fastest(ours, repeats=repeats)
    score = ours()
    truth = reference(case, n_checked)
    error = float((score[:n_checked] - truth).abs().max())
    spread = float(standard_error.square().mean().sqrt())
    row = {
        "network": case.name,
        "method": "exact",
        "seconds": quick,
        "naive seconds": slow,
        "times faster": slow / quick,
        "largest error": error,
        "rms distance to naive": float((score - estimate).square().mean().sqrt()),
        "expected of that": spread * math.sqrt(N_DRAWS / n_draws),
        "rms error of naive": spread,
    }
    return row, [
        at_least(f"times faster, {case.name}", slow / quick, case.goal),
        at_most(f"largest error, {case.name}", error, 1e-6),
    ]


def reference(case: Case, n_checked: int) -> Tensor:
    """Return scores of the first rows from more than ten times the nodes."""
    parameters, X = problem(case)
    X = X[:n_checked]
    if not case.sizes:
        return fine_linear(case, parameters, X)
    return smooth(case, parameters, X, Accuracy(tail=30.0, truncation=1e-13, finer=10.0))


def smooth(case: Case, parameters: Tensor, X: Tensor, accuracy: Accuracy) -> Tensor:
    with torch.no_grad():
        options = {"sigma": case.sigma, "link": "logistic", "accuracy": accuracy}
        return smooth_hidden(case.network, parameters, X, **options)[0]


def fine_linear(case: Case, parameters: Tensor, X: Tensor) -> Tensor:
    """Integrate the logistic against the Gaussian by a trapezoid of 4,001 points."""
    points = torch.linspace(-12.0, 12.0, 4001, dtype=torch.float64)
    density = torch.exp(-0.5 * points.square())
    mean = case.network.logits(parameters, X)
    scale = case.sigma * (X.square().sum(1) + 1.0).sqrt()
    values = torch.sigmoid(mean.unsqueeze(1) + scale.unsqueeze(1) * points)
    return values @ (density / density.sum())


def layerwise_case(
    case: Case, n_draws: int, repeats: int, n_checked: int
) -> tuple[list[Row], list[Goal]]:
    parameters, X = (part.float() for part in problem(case))
    slow, _, standard_error = naive(case, n_draws)
    target = float(standard_error.square().mean().sqrt())

    def ours(rows: Tensor, draws: int, seed: int = 0) -> Tensor:
        with torch.no_grad():
            options = {"sigma": case.sigma, "link": "logistic", "n_draws": draws, "seed": seed}
            return smooth_layerwise(case.network, parameters, rows, **options).double()

    some = X[:n_checked]
    truth = ours(some, 1 << 17, seed=12345)
    rows: list[Row] = []
    for power in range(3, 11):
        draws = 1 << power
        errors = torch.stack([ours(some, draws, seed) - truth for seed in range(8)])
        error = float(errors.square().mean().sqrt())
        seconds = fastest(partial(ours, X, draws), repeats=repeats)
        rows.append(
            {
                "network": case.name,
                "draws": draws,
                "seconds": seconds,
                "naive seconds": slow,
                "rms error": error,
                "rms error of naive": target,
                "times faster": slow / seconds,
            }
        )
    # The fewest draws from which on the error stays below: one lucky scrambling does not count.
    first = len(rows)
    while first and rows[first - 1]["rms error"] <= target:
        first -= 1
    best = rows[first]["times faster"] if first < len(rows) else 0.0
    name = f"times faster at the naive sampler's rms error, {case.name}"
    return rows, [at_least(name, best, case.goal)]


def cost_of_error(case: Case, repeats: int, n_checked: int) -> list[Row]:
    """Return error against cost of the exact method, by loosening its tolerances."""
    parameters, X = problem(case)
    truth = reference(case, n_checked)
    rows = []
    for tail in (3.0, 6.0, 9.0, 12.0, 15.0, 18.0, 23.0):
        accuracy = Accuracy(tail=tail, truncation=0.7 * math.exp(-tail))
        call = partial(smooth, case, parameters, X, accuracy)
        rows.append(
            {
                "network": case.name,
                "allowed tail": math.exp(-tail),
                "seconds": fastest(call, repeats=repeats),
                "largest error": float((call()[:n_checked] - truth).abs().max()),
            }
        )
    return rows


def plot(rows: list[Row], path: str) -> None:
    """Draw error against seconds for every method on logarithmic axes."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7.5, 4.6), layout="constrained")
    rows = [row for row in rows if "network" in row]
    networks = list(dict.fromkeys(row["network"] for row in rows))
    for color, network in zip(plt.colormaps["tab10"].colors, networks, strict=False):
        own = [row for row in rows if row["network"] == network]
        curve = [row for row in own if "allowed tail" in row or "draws" in row]
        if not curve:
            continue
        errors = [row.get("largest error", row.get("rms error")) for row in curve]
        label = "exact, largest error" if "allowed tail" in curve[0] else "layerwise, rms error"
        times = [row["seconds"] for row in curve]
        axes.loglog(times, errors, "o-", color=color, label=f"{network}: {label}")
        naive_row = next(row for row in own if "naive seconds" in row)
        seconds, error = naive_row["naive seconds"], naive_row["rms error of naive"]
        span = [seconds * draws / N_DRAWS for draws in (100, N_DRAWS)]
        falling = [error * math.sqrt(N_DRAWS / draws) for draws in (100, N_DRAWS)]
        axes.loglog(span, falling, "--", color=color, label=f"{network}: weight draws, rms error")
        axes.loglog(seconds, error, "s", color=color)
    axes.set_xlabel("seconds for 1,000 rows and 100 inputs")
    axes.set_ylabel("error of the smooth score")
    axes.set_title("Smoothing: error against cost (squares: 100,000 weight draws)")
    axes.grid(visible=True, which="major", alpha=0.3)
    figure.legend(loc="outside lower center", ncols=2, fontsize=8)
    figure.savefig(path, dpi=150)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--plot", metavar="PATH", help="write error against cost as a picture")
    options = parser.parse_args()
    n_draws, repeats, n_checked = (1000, 7, 50) if options.quick else (N_DRAWS, 25, 400)
    # Compared before the reference and the naive sampler claim their memory.
    before = peak_memory()
    for case in CASES:
        parameters, X = problem(case)
        smooth_probability(case.network, parameters, X, sigma=case.sigma)
    goals = [at_most("peak memory of ours, MiB", peak_memory(), 1024.0)]
    rows: list[Row] = [
        {"memory of imports, MiB": before, "peak memory of ours, MiB": peak_memory()}
    ]
    for case in CASES:
        if len(case.sizes) < 2:
            row, more = exact_case(case, n_draws, repeats, n_checked)
            rows.append(row)
        else:
            some, more = layerwise_case(case, n_draws, max(3, repeats // 5), n_checked)
            rows.extend(some)
        goals.extend(more)
    for case in CASES:
        if len(case.sizes) == 1:
            rows.extend(cost_of_error(case, max(3, repeats // 3), n_checked))
    if options.plot:
        plot(rows, options.plot)
    report(goals, rows, as_json=options.json)


if __name__ == "__main__":
    main()
