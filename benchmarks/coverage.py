"""How often gap guarantees miss the truth, exactly and by simulation.

Exactly: all samples of two groups of up to 30 rows, over a grid of rates. By simulation: a draw
misses if its bound is on the wrong side of the truth, which takes one test at the true value;
equal counts are tested once. Draws that keep the true rates, which `_kept.py` tells by scipy's
quantiles alone, cannot miss: of these 30 are tested, and must not. After a shift, the deployed
population is the worst in the ball. Equalized odds are simulated from both labels' cells, and
from rows. In sequence, a run misses if it does at any of 200 looks, by the evidence of 300
runs at once and by `GapMonitor` itself; with drifting rates, alarms before the limit is broken are
counted, and how soon they come afterwards.
"""

from collections.abc import Iterator
from functools import cache
from itertools import permutations

import numpy as np
from _kept import kept
from _report import Row, arguments, at_least, at_most, report
from _watch import goals_of, monitored
from scipy.stats import binom

from fairsmooth.core.contrasts import DIVERGENCES, Contrast, bound, proves
from fairsmooth.core.contrasts.anytime import log_evidence
from fairsmooth.guarantees import guarantee_gaps
from fairsmooth.guarantees.quantities import QUANTITIES

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
# By label, rates and rows of every group.
LABELLED = (
    {1: ((0.6, 0.5), (200, 300)), 0: ((0.1, 0.05), (400, 500))},
    {1: ((0.6, 0.6), (150, 150)), 0: ((0.1, 0.1), (300, 300))},
    {1: ((0.5, 0.5), (80, 60)), 0: ((0.2, 0.1), (500, 90))},
    {1: ((0.9, 0.8), (60, 400)), 0: ((0.02, 0.01), (700, 200))},
    {1: ((0.3, 0.2), (500, 500)), 0: ((0.3, 0.2), (500, 500))},
    {1: ((0.7, 0.6, 0.6), (100, 100, 200)), 0: ((0.1, 0.15, 0.1), (200, 150, 300))},
    {1: ((0.4, 0.4, 0.4), (90, 60, 120)), 0: ((0.05, 0.05, 0.05), (150, 150, 80))},
    {1: ((0.5, 0.45, 0.4, 0.35), (100,) * 4), 0: ((0.2, 0.18, 0.16, 0.14), (150,) * 4)},
    {1: ((0.6,) * 5, (70,) * 5), 0: ((0.1, 0.1, 0.1, 0.1, 0.2), (120,) * 5)},
    {1: ((0.5,) * 8, (60,) * 8), 0: ((0.1,) * 8, (90,) * 8)},
)
ODDS = ("equalized_odds_max", "equalized_odds_sum")
# Draws that cannot miss and are tested all the same, in every configuration.
CONTROLS = 30
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


def worst_pair(contrast: Contrast, rates: tuple[float, ...]) -> list[int]:
    """Return the ordered pair of groups whose contrast is the worst."""
    pairs = list(permutations(range(len(rates)), 2))
    values = [contrast.worst(rates[i], rates[j]) for i, j in pairs]
    return list(pairs[int(np.argmin(values) if contrast.ratio else np.argmax(values))])


def pair_kept(samples, sizes, rates, contrast, *, error=ERROR):  # type: ignore[no-untyped-def]
    pair = worst_pair(contrast, rates)
    chosen = [tuple(each[k] for k in pair) for each in (sizes, rates)]
    return kept(samples[:, pair], *chosen, contrast, error=error)


def tested(surely_right: np.ndarray) -> np.ndarray:
    """Return the draws to test: all that may miss, and a few that must not."""
    return np.concatenate([np.flatnonzero(~surely_right), np.flatnonzero(surely_right)[:CONTROLS]])


def simulate(draws: int, configurations: int | None) -> Iterator[Row]:
    for number, (rates, sizes) in enumerate(CONFIGURATIONS[:configurations]):
        rng = np.random.default_rng(number)
        samples = rng.binomial(sizes, rates, (draws, len(rates)))
        for name, contrast in CONTRASTS.items():
            # A hair on the good side of the truth: only a bound that excludes it misses.
            value = truth(contrast, rates) + (1e-9 if contrast.ratio else -1e-9)
            right = pair_kept(samples, sizes, rates, contrast)

            @cache
            def misses(sample: tuple[int, ...]) -> bool:
                counts = list(zip(sample, sizes, strict=True))  # noqa: B023
                return proves(counts, contrast, value, error=ERROR)  # noqa: B023

            found = {k: misses(tuple(map(int, samples[k]))) for k in tested(right)}
            groups = {"groups": len(rates), "rates": str(rates), "rows": str(sizes)}
            yield {**groups, **missed(name, found, right)}


def missed(name: str, found: dict[int, bool], right: np.ndarray) -> Row:
    draws, misses = len(right), sum(found.values())
    return {
        "quantity": name,
        "draws": draws,
        "tested": len(found),
        "miss_rate": misses / draws,
        "p_value": float(binom.sf(misses - 1, draws, ERROR)),
        "missed_with_the_truth_kept": sum(bool(right[k]) for k, miss in found.items() if miss),
    }


def labelled(draws: int, configurations: int | None) -> Iterator[Row]:
    """Simulate what needs labels: one label's gap, the larger of two, their sum."""
    for number, by_label in enumerate(LABELLED[:configurations]):
        rng = np.random.default_rng(100 + number)
        samples = {y: rng.binomial(n, q, (draws, len(q))) for y, (q, n) in by_label.items()}
        gaps = {y: truth(Contrast(), q) for y, (q, _) in by_label.items()}

        @cache
        def bounds(label: int, sample: tuple[int, ...], error: float) -> float:
            counts = list(zip(sample, by_label[label][1], strict=True))  # noqa: B023
            return bound(counts, Contrast(), error=error)

        for name in ("equal_opportunity", "predictive_equality", *ODDS):
            quantity = QUANTITIES[name]
            error = ERROR / len(quantity.labels) if quantity.summed else ERROR
            value = quantity.combine([gaps[label] for label in quantity.labels])
            right = np.array(
                [
                    pair_kept(samples[y], by_label[y][1], by_label[y][0], Contrast(), error=error)
                    for y in quantity.labels
                ]
            )
            # The larger of two gaps is kept with its own label; a sum, with both.
            largest = [gaps[label] == value for label in quantity.labels]
            right = right.all(axis=0) if quantity.summed else right[largest].any(axis=0)
            found = {
                k: quantity.combine(
                    [bounds(y, tuple(map(int, samples[y][k])), error) for y in quantity.labels]
                )
                < value - 1e-9
                for k in tested(right)
            }
            groups = {"groups": len(by_label[1][0]), "labelled": str(by_label)}
            yield {**groups, **missed(name, found, right)}
        yield rows_agree(by_label, samples, bounds)


def rows_agree(by_label, samples, bounds) -> Row:  # type: ignore[no-untyped-def]
    """Guarantee rows instead of counts, three times: the bounds must be those simulated."""
    apart = 0.0
    for draw in range(3):
        cells = [
            (group, label, np.arange(n) < samples[label][draw][group])
            for label, (_, sizes) in by_label.items()
            for group, n in enumerate(sizes)
        ]
        found = guarantee_gaps(
            np.concatenate([decided for *_, decided in cells]).astype(int),
            sensitive_features=np.concatenate([np.full(len(d), g) for g, _, d in cells]),
            y_true=np.concatenate([np.full(len(d), y) for _, y, d in cells]),
            limits=dict.fromkeys(ODDS, 0.5),
        ).bounds
        drawn = {y: tuple(map(int, each[draw])) for y, each in samples.items()}
        larger = max(bounds(y, drawn[y], ERROR) for y in (1, 0))
        both = sum(bounds(y, drawn[y], ERROR / 2.0) for y in (1, 0))
        apart = max(apart, abs(found[ODDS[0]] - larger), abs(found[ODDS[1]] - both))
    return {"labelled": str(by_label), "bounds_of_rows_apart_from_those_of_counts": apart}


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


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--draws", type=int, default=1000, help="samples per configuration")
    options = parser.parse_args()
    quick = options.quick
    draws, runs = (100, 50) if quick else (options.draws, 300)
    sizes = [(8, 5)] if quick else [(30, 20), (30, 8), (1, 12)]
    enumerated = [exact(*size) for size in sizes]
    found = [*simulate(draws, 3 if quick else None), *labelled(draws, 1 if quick else None)]
    simulated = [row for row in found if "miss_rate" in row]
    agreeing = [row for row in found if "miss_rate" not in row]
    constant = [sequential((0.3, 0.2), 25, runs), sequential((0.02, 0.01, 0.02), 40, runs)]
    watched = monitored(1 if quick else 8)
    goals = [
        at_most(
            "exact probability of a miss",
            max(row["largest_probability_of_a_miss"] for row in enumerated),
            ERROR,
        ),
        # Each is within simulation error if its p-value exceeds .05 over the number of tests.
        at_least(
            "least p-value of a miss rate",
            min(row["p_value"] for row in simulated),
            0.05 / len(simulated),
        ),
        at_most(
            "misses although the truth is kept",
            sum(row["missed_with_the_truth_kept"] for row in simulated),
            0,
        ),
        at_most(
            "bounds of rows apart from bounds of counts",
            max(row["bounds_of_rows_apart_from_those_of_counts"] for row in agreeing),
            1e-12,
        ),
        at_most(
            "bound ever wrong in 200 looks", max(r["bound_ever_wrong"] for r in constant), ERROR
        ),
        at_most(
            "alarm ever wrong in 200 looks", max(r["alarm_ever_wrong"] for r in constant), ERROR
        ),
        *goals_of(*watched, error=ERROR),
    ]
    report(goals, [*enumerated, *found, *constant, *watched], as_json=options.json)


if __name__ == "__main__":
    main()
