"""How often gap guarantees miss the truth, exactly and by simulation.

Exactly: all samples of two groups of up to 30 rows, over a grid of rates. By simulation: a draw
misses if its bound is on the wrong side of the truth, which takes one test at the true value;
equal counts are tested once. After a shift, the deployed population is the worst in the ball. In
sequence, a run misses if it does at any of 200 looks; with drifting rates, alarms before
the limit is broken are counted, and how soon it comes afterwards.
"""

from collections.abc import Iterator
from itertools import permutations

import numpy as np
from _report import Row, arguments, at_least, at_most, report
from scipy.stats import binom

from fairsmooth.core.contrasts import DIVERGENCES, Contrast, bound, proves
from fairsmooth.core.contrasts.anytime import log_evidence
from fairsmooth.guarantees import GapMonitor

ERROR = 0.05
GRID = (0.0, 0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.75, 0.9, 0.99, 1.0)
# (rates, rows) of every group: K from 2 to 8, rows to 5,000, rates from .001 to .5, ties.
CONFIGURATIONS = (
    ((0.2, 0.2), (500, 500)),
    ((0.001, 0.001), (5000, 5000)),
    ((0.001, 0.004), (2000, 300)),
    ((0.01, 0.03), (400, 900)),
    ((0.5, 0.4), (100, 80)),
    ((0.5, 0.5), (1000, 50)),
    ((0.3, 0.05), (60, 2000)),
    ((0.215, 0.185), (1500, 1500)),
    ((0.1, 0.1, 0.1), (200, 200, 200)),
    ((0.3, 0.25, 0.2), (300, 300, 300)),
    ((0.02, 0.05, 0.02), (500, 100, 50)),
    ((0.4, 0.4, 0.3, 0.3), (150, 400, 150, 400)),
    ((0.001, 0.01, 0.1, 0.2), (1000, 500, 200, 100)),
    ((0.25,) * 5, (100, 100, 100, 100, 100)),
    ((0.5, 0.45, 0.4, 0.35, 0.3), (80, 80, 80, 80, 80)),
    ((0.05, 0.05, 0.05, 0.05, 0.15, 0.15), (100, 150, 200, 250, 60, 60)),
    ((0.2, 0.22, 0.24, 0.26, 0.28, 0.3, 0.32), (120,) * 7),
    ((0.1,) * 8, (90,) * 8),
    ((0.3, 0.3, 0.3, 0.3, 0.2, 0.2, 0.2, 0.2), (70,) * 8),
    ((0.45, 0.01), (30, 3000)),
)
CONTRASTS = {
    "gap": Contrast(),
    "impact ratio": Contrast(ratio=True),
    "gap after total variation .02": Contrast(False, DIVERGENCES["total_variation"], 0.02),
    "gap after Hellinger .05": Contrast(False, DIVERGENCES["hellinger"], 0.05),
    "gap after chi-square .02": Contrast(False, DIVERGENCES["chi_square"], 0.02),
    "ratio after density ratio .1": Contrast(True, DIVERGENCES["density_ratio"], 0.1),
}


def truth(contrast: Contrast, rates: tuple[float, ...]) -> float:
    """Return the worst value in the worst population: an adversary moves every group."""
    values = [contrast.worst(a, b) for a, b in permutations(rates, 2)]
    return min(values) if contrast.ratio else max(values)


def exact(n1: int, n2: int) -> Row:
    found = np.array(
        [
            [bound([(x, n1), (y, n2)], Contrast(), error=ERROR) for y in range(n2 + 1)]
            for x in range(n1 + 1)
        ]
    )
    worst = 0.0
    for p in GRID:
        for q in GRID:
            mass = np.outer(binom.pmf(range(n1 + 1), n1, p), binom.pmf(range(n2 + 1), n2, q))
            worst = max(worst, float(mass[found < abs(p - q) - 1e-12].sum()))
    return {"exact": f"{n1} and {n2} rows", "largest_probability_of_a_miss": worst}


def simulate(draws: int, configurations: int) -> Iterator[Row]:
    for number, (rates, sizes) in enumerate(CONFIGURATIONS[:configurations]):
        rng = np.random.default_rng(number)
        samples = rng.binomial(sizes, rates, (draws, len(rates)))
        for name, contrast in CONTRASTS.items():
            # A hair on the good side of the truth: only a bound that excludes it misses.
            value = truth(contrast, rates) + (1e-9 if contrast.ratio else -1e-9)
            known: dict[bytes, bool] = {}
            misses = 0
            for sample in samples:
                key = sample.tobytes()
                if key not in known:
                    counts = [(int(x), n) for x, n in zip(sample, sizes, strict=True)]
                    known[key] = proves(counts, contrast, value, error=ERROR)
                misses += known[key]
            yield {
                "groups": len(rates),
                "rates": str(rates),
                "rows": str(sizes),
                "quantity": name,
                "draws": draws,
                "miss_rate": misses / draws,
                "p_value": float(binom.sf(misses - 1, draws, ERROR)),
            }


def sequential(rates: tuple[float, ...], size: int, runs: int, looks: int = 200) -> Row:
    rng = np.random.default_rng(7)
    hits = np.cumsum(rng.binomial(size, rates, (runs, looks, len(rates))), axis=1)
    rows = np.broadcast_to(size * np.arange(1, looks + 1)[None, :, None], hits.shape)
    first, second = np.array(list(permutations(range(len(rates)), 2))).T
    counts = np.stack([hits[..., first], rows[..., first], hits[..., second], rows[..., second]])
    gap, level = max(rates) - min(rates), np.log(1.0 / ERROR)
    against = log_evidence(counts.astype(float), ratio=False, limit=gap, above=True)
    beyond = log_evidence(counts.astype(float), ratio=False, limit=gap, above=False)
    return {
        "looks": looks,
        "constant_rates": str(rates),
        "runs": runs,
        "bound_ever_wrong": float((against >= level).all(axis=-1).any(axis=-1).mean()),
        "alarm_ever_wrong": float((beyond >= level + np.log(len(first))).any(axis=(1, 2)).mean()),
    }


def drifting(runs: int) -> Row:
    """Both rates drift together within the limit for 60 batches; then one group is favoured."""
    rng = np.random.default_rng(8)
    group = np.resize(["a", "b"], 200)
    early, delays = 0, []
    for _ in range(runs):
        monitor, delay = GapMonitor({"demographic_parity": 0.1}), None
        for step in range(80):
            base = 0.2 + 0.1 * np.sin(step / 10.0)
            gap = 0.03 if step < 60 else 0.35
            decision = (rng.random(200) < base + gap * (group == "a")).astype(int)
            alarmed = monitor.update(decision, sensitive_features=group) == "alarm"
            if alarmed:
                early += step < 60
                delay = step - 59
                break
        delays.append(delay if delay is not None else 99)
    return {
        "drifting_runs": runs,
        "alarms_before_the_limit_was_broken": early,
        "median_batches_to_the_alarm": float(np.median([d for d in delays if d > 0] or [99])),
    }


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--draws", type=int, default=200, help="samples per configuration")
    options = parser.parse_args()
    draws, runs = (30, 50) if options.quick else (options.draws, 300)
    sizes = [(8, 5)] if options.quick else [(30, 20), (30, 8), (1, 12)]
    enumerated = [exact(*size) for size in sizes]
    simulated = list(simulate(draws, 5 if options.quick else len(CONFIGURATIONS)))
    constant = [sequential((0.3, 0.2), 25, runs), sequential((0.02, 0.01, 0.02), 40, runs)]
    drift = drifting(1 if options.quick else 2)
    tests = len(simulated)
    goals = [
        at_most(
            "exact probability of a miss",
            max(row["largest_probability_of_a_miss"] for row in enumerated),
            ERROR,
        ),
        # Each is within simulation error if its p-value exceeds .05 over the number of tests.
        at_least(
            "least p-value of a miss rate", min(r["p_value"] for r in simulated), 0.05 / tests
        ),
        at_most(
            "bound ever wrong in 200 looks", max(r["bound_ever_wrong"] for r in constant), ERROR
        ),
        at_most(
            "alarm ever wrong in 200 looks", max(r["alarm_ever_wrong"] for r in constant), ERROR
        ),
        at_most("early alarms, drifting rates", drift["alarms_before_the_limit_was_broken"], 0),
        at_most("batches to the alarm", drift["median_batches_to_the_alarm"], 3),
    ]
    report(goals, [*enumerated, *simulated, *constant, drift], as_json=options.json)


if __name__ == "__main__":
    main()
