"""Training to a guarantee, a thousand times, where the truth is known.

Tables are drawn from a population of 125 kinds of people in two groups, whose probabilities are
written down, so the true gap of a returned rule is a sum over kinds: no sampling, no error. Every
repetition draws a new table and trains to a guarantee with the library's own function, as
``fairsmooth train --guarantee-dp`` does (linear model; 3 halvings of the weight instead of 6, to
save time). A repetition is wrong if
a model is returned whose true gap is above the limit; that may happen with probability .05 at most.
"""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from _report import Goal, Row, arguments, at_least, at_most, report
from scipy.special import expit
from scipy.stats import binom

from fairsmooth import FairSmoothClassifier
from fairsmooth.data.roles import Roles
from fairsmooth.guarantees import Limits, NoGuarantee
from fairsmooth.tables import TableModel
from fairsmooth.tables.guaranteed import fit_guaranteed

ERROR = 0.05
LEVELS = "abcde"
NAMES = ("x", "y", "z")
# How often each level occurs in the two groups, for every one of the three columns.
SHARES = {"f": (0.24, 0.22, 0.20, 0.18, 0.16), "m": (0.14, 0.17, 0.20, 0.23, 0.26)}
SLOPES = np.array([0.8, 0.5, 0.3])
# (rows, limit, aim): a low aim brings candidates before the safety rows that lie near the limit.
SETTINGS = (
    (600, 0.15, 0.9),
    (1500, 0.15, 0.9),
    (4000, 0.15, 0.9),
    (1500, 0.15, 0.5),
    (4000, 0.10, 0.5),
)


@dataclass(frozen=True)
class Population:
    """All kinds of people, with the share that each has in each group."""

    kinds: np.ndarray

    @classmethod
    def known(cls) -> "Population":
        """Return all kinds there are."""
        return cls(np.array(list(product(range(len(LEVELS)), repeat=len(NAMES)))))

    def shares(self, group: str) -> np.ndarray:
        """Return the share of each kind in a group."""
        return np.array(SHARES[group])[self.kinds].prod(axis=1)

    def table(self, kinds: np.ndarray) -> pd.DataFrame:
        """Return people of these kinds, as columns."""
        levels = np.array(list(LEVELS))
        return pd.DataFrame({name: levels[kinds[:, j]] for j, name in enumerate(NAMES)})

    def draw(self, n_rows: int, seed: int) -> pd.DataFrame:
        """Draw people independently; the label depends on the kind alone."""
        rng = np.random.default_rng(seed)
        group = rng.choice(list(SHARES), n_rows)
        kinds = np.zeros((n_rows, len(NAMES)), dtype=int)
        for name, shares in SHARES.items():
            own = group == name
            kinds[own] = rng.choice(len(LEVELS), (int(own.sum()), len(NAMES)), p=shares)
        chance = expit((kinds - 2.0) @ SLOPES - 0.3)
        label = np.where(rng.random(n_rows) < chance, "yes", "no")
        return self.table(kinds).assign(sex=group, hired=label)

    def true_gap(self, model: TableModel) -> float:
        """Return the difference of the groups' selection rates, summed over all kinds."""
        scored = model.predict(self.table(self.kinds), unknown="ignore")
        chosen = scored["probability"].to_numpy() > model.classifier.threshold_
        rates = [float(self.shares(group)[chosen].sum()) for group in SHARES]
        return abs(rates[0] - rates[1])


def once(rows: int, limit: float, aim: float, seed: int) -> Row:
    """Draw a table, train to a guarantee, and tell the truth about what was returned."""
    people = Population.known()
    found: Row = {"rows": rows, "limit": limit, "aim": aim}
    began = time.process_time()
    try:
        fitted = fit_guaranteed(
            people.draw(rows, seed),
            Roles(label="hired", sensitive=("sex",), positive="yes"),
            Limits(demographic_parity=limit, confidence=1.0 - ERROR),
            classifier=FairSmoothClassifier(group_weights="share", random_state=seed),
            seed=seed,
            aim=aim,
            halvings=3,
        )
    except NoGuarantee:
        return found | {"returned": False, "gap": None, "seconds": time.process_time() - began}
    seconds = time.process_time() - began
    gap = people.true_gap(fitted.model)
    return found | {"returned": True, "gap": gap, "seconds": seconds}


def summed(trials: Sequence[Row]) -> Row:
    """Return one line for one setting."""
    gaps = np.array([trial["gap"] for trial in trials if trial["returned"]])
    wrong = int((gaps > trials[0]["limit"]).sum())
    return {
        **{name: trials[0][name] for name in ("rows", "limit", "aim")},
        "repetitions": len(trials),
        "returned": len(gaps) / len(trials),
        "wrong": wrong / len(trials),
        "mean_true_gap": float(gaps.mean()) if len(gaps) else None,
        "largest_true_gap": float(gaps.max()) if len(gaps) else None,
        # How likely so many wrong ones or more are if the probability of one is .05.
        "p_value": float(binom.sf(wrong - 1, len(trials), ERROR)),
        "cpu_seconds": float(np.mean([trial["seconds"] for trial in trials])),
    }


def goals(rows: Sequence[Row]) -> list[Goal]:
    total = sum(row["repetitions"] for row in rows)
    wrong = sum(row["wrong"] * row["repetitions"] for row in rows) / total
    return [
        at_most("share of repetitions with a wrong model", wrong, ERROR),
        at_most("the same, worst setting", max(row["wrong"] for row in rows), ERROR),
        at_least("repetitions", total, 1000),
    ]


def joined(before: Row, now: Row) -> Row:
    """Return one line for two runs of one setting on different tables."""
    tries = [before["repetitions"], now["repetitions"]]
    models = [row["returned"] * row["repetitions"] for row in (before, now)]
    wrong = round(sum(row["wrong"] * row["repetitions"] for row in (before, now)))
    gaps = [row["mean_true_gap"] or 0.0 for row in (before, now)]
    largest = [row["largest_true_gap"] for row in (before, now)]
    return {
        **now,
        "repetitions": sum(tries),
        "returned": sum(models) / sum(tries),
        "wrong": wrong / sum(tries),
        "mean_true_gap": float(np.average(gaps, weights=models)) if sum(models) else None,
        "largest_true_gap": max((gap for gap in largest if gap is not None), default=None),
        "p_value": float(binom.sf(wrong - 1, sum(tries), ERROR)),
        "cpu_seconds": float(
            np.average([before["cpu_seconds"], now["cpu_seconds"]], weights=tries)
        ),
    }


def run(first: int, each: int, seconds: float) -> list[list[Row]]:
    """Repeat every setting in turn, until all are done or the time is up."""
    found: list[list[Row]] = [[] for _ in SETTINGS]
    began = time.perf_counter()
    for k in range(first, each):
        for place, setting in enumerate(SETTINGS):
            # No two repetitions share a table.
            found[place].append(once(*setting, seed=10_000 * place + k))
        if time.perf_counter() - began > seconds:
            break
    return found


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--repetitions", type=int, default=200, help="per setting")
    parser.add_argument("--seconds", type=float, default=3600.0, help="stop after these")
    parser.add_argument("--after", type=Path, help="go on from this output of a stopped run")
    options = parser.parse_args()
    done = json.loads(options.after.read_text(encoding="utf-8"))["rows"] if options.after else []
    first = done[0]["repetitions"] if done else 0
    trials = run(first, 2 if options.quick else options.repetitions, options.seconds)
    rows = [summed(found) for found in trials]
    rows = [joined(*pair) for pair in zip(done, rows, strict=True)] if done else rows
    report(goals(rows), rows, as_json=options.json)


if __name__ == "__main__":
    main()
