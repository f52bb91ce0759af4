"""Accuracy, gaps and certificate together, on random 70/30 splits, beside the field.

Every method chooses its parameters inside the training part, by cross-validation: the
decisions on the rows left out of three folds, taken together, are judged against the goals of
the setting. The test part is used once per split, for the chosen one. ΔEO is the sum
|ΔTPR| + |ΔFPR|. The group is not a feature and not used to predict, except where a method is
marked †; sex and race are left out both.

Columns: "coarse" has four intervals per number, "binned" ten, "crossed" sixty and the products
of rough indicators. They are learned from the rows that the model is fitted on.

The last rows of every setting are no method but a ceiling: the best accuracy of *any*
randomised rule that sees two cross-fitted forecasts per row, of the label and of the group,
within the goals, fitted to the very rows it is judged on.
"""

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import torch
from _columns import COLUMNS
from _report import Goal, Row, arguments, at_least, at_most, report
from fairlearn.postprocessing import ThresholdOptimizer
from fairlearn.reductions import DemographicParity, EqualizedOdds, ExponentiatedGradient
from joblib import Parallel, delayed
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from threadpoolctl import threadpool_limits

from fairsmooth import FairSmoothClassifier
from fairsmooth.datasets import FairDataset, load_adult, load_compas
from fairsmooth.experiments._ceiling_job import count_cells, fair_ceiling
from fairsmooth.metrics import accuracy, demographic_parity_gap, equalized_odds_gap
from fairsmooth.tuning import Limits

LOADERS = {"adult": load_adult, "compas": load_compas}


@dataclass(frozen=True)
class Setting:
    """A dataset, its sensitive column, and the goals."""

    dataset: str
    sensitive: str
    accuracy: float
    limits: Limits

    @property
    def name(self) -> str:
        """Short name."""
        return f"{self.dataset} {self.sensitive}"


SETTINGS = (
    Setting("adult", "sex", 0.84, Limits(0.05, 0.08, 0.0147)),
    Setting("adult", "race", 0.855, Limits(0.04, 0.06, 0.0147)),
    Setting("compas", "sex", 0.67, Limits(0.05, 0.10, 0.0114)),
    Setting("compas", "race", 0.66, Limits(0.03, 0.08, 0.0114)),
)
# The grid of the paper's appendix.
SIGMAS = (0.25, 0.5, 1.0, 1.25, 1.5, 1.75, 2.0)
ALPHAS = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5)
FOLDS = 3

Decide = Callable[[FairDataset], Any]
Fit = Callable[[FairDataset, int], tuple[Decide, float | None]]


@dataclass(frozen=True)
class Candidate:
    """A way to fit, and the columns it is fitted on."""

    columns: str
    fit: Fit


# Columns, shares of the allowed ΔDP and ΔEO to aim at, and weights of the parity term. COMPAS is
# small: its gaps are overfitted, so that it must aim lower, and columns may be fewer.
PARITY_GRID = {
    "adult": (
        ("crossed", "binned"),
        ((1.0, 0.2), (1.0, 0.6), (0.5, 0.4)),
        (1.6, 2.1, 2.8),
    ),
    "compas": (
        ("crossed", "binned", "coarse"),
        ((0.5, 0.4), (0.0, 0.0)),
        (1.0, 3.0, 8.0),
    ),
}


def measured(decided: Any, epsilon: float | None, data: FairDataset) -> Row:
    groups = {"sensitive_features": data.sensitive_features}
    return {
        "accuracy": float(accuracy(data.y, decided)),
        "demographic_parity": float(demographic_parity_gap(data.y, decided, **groups)),
        "equalized_odds_sum": float(equalized_odds_gap(data.y, decided, kind="sum", **groups)),
        "epsilon": epsilon,
    }


def fairsmooth(options: Row, train: FairDataset, seed: int) -> tuple[Decide, float | None]:
    clf = FairSmoothClassifier(free_reference=False, random_state=seed, **options)
    clf.fit(train.X, train.y, sensitive_features=train.sensitive_features)
    return lambda data: clf.predict(data.X), clf.certificate_.epsilon


def plain(build: Callable[[], Any], train: FairDataset, seed: int) -> tuple[Decide, None]:
    model = build().fit(train.X.to_numpy(), train.y)
    return lambda data: model.predict(data.X.to_numpy()), None


def reduction(constraint: type, train: FairDataset, seed: int) -> tuple[Decide, None]:
    model = ExponentiatedGradient(LogisticRegression(max_iter=1000), constraint())
    model.fit(train.X.to_numpy(), train.y, sensitive_features=train.sensitive_features)
    return lambda data: model.predict(data.X.to_numpy(), random_state=seed), None


def thresholds(constraint: str, train: FairDataset, seed: int) -> tuple[Decide, None]:
    model = ThresholdOptimizer(
        estimator=LogisticRegression(max_iter=1000),
        constraints=constraint,
        predict_method="predict_proba",
    )
    model.fit(train.X.to_numpy(), train.y, sensitive_features=train.sensitive_features)
    return lambda data: model.predict(
        data.X.to_numpy(), sensitive_features=data.sensitive_features, random_state=seed
    ), None


def parity_candidates(setting: Setting) -> Iterator[Candidate]:
    """Yield shares of the allowed gaps to aim at, and a tie that keeps the certificate."""
    limits = setting.limits
    for columns, (dp, eo), weight in product(*PARITY_GRID[setting.dataset]):
        options = {
            "link": "probit",
            "sigma": 0.5,
            "alpha": 3.0,
            "group_weights": "share",
            "parity": "both",
            "parity_weight": weight,
            "parity_tolerance": (dp * limits.max_dp, eo * limits.max_eo),
            "max_iter": 40,
        }
        yield Candidate(columns, partial(fairsmooth, options))


def methods(setting: Setting, *, quick: bool) -> dict[str, list[Candidate]]:
    grid = [{"sigma": s, "alpha": a} for s, a in product(SIGMAS, ALPHAS)]
    paper = [Candidate("binned", partial(fairsmooth, options)) for options in grid]
    parity = list(parity_candidates(setting))
    if quick:
        paper, parity = paper[::10], parity[::5]
    logistic = partial(LogisticRegression, max_iter=1000)
    once: dict[str, tuple[str, Fit]] = {
        "LogisticRegression": ("binned", partial(plain, logistic)),
        "LogisticRegression, crossed": ("crossed", partial(plain, logistic)),
        "Gradient boosting": ("binned", partial(plain, HistGradientBoostingClassifier)),
        "ExponentiatedGradient DP": ("binned", partial(reduction, DemographicParity)),
        "ExponentiatedGradient EO": ("binned", partial(reduction, EqualizedOdds)),
        "ThresholdOptimizer DP †": ("crossed", partial(thresholds, "demographic_parity")),
        "ThresholdOptimizer EO †": ("crossed", partial(thresholds, "equalized_odds")),
    }
    field = {name: [Candidate(columns, fit)] for name, (columns, fit) in once.items()}
    return {"FairSmooth (paper)": paper, "FairSmooth with parity": parity, **field}


def choose(candidates: list[Candidate], train: FairDataset, limits: Limits, seed: int) -> Candidate:
    """Return the candidate that is best on the rows left out of folds of the training part."""
    if len(candidates) == 1:
        return candidates[0]
    decided = [np.empty_like(train.y) for _ in candidates]
    epsilon = [0.0 for _ in candidates]
    cells = 2 * train.groups.codes + train.y
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    for kept, left in folds.split(cells, cells):
        parts = Parts(train.take(kept), train.take(left))
        for i, candidate in enumerate(candidates):
            part, rest = parts.encoded(candidate.columns)
            decide, bound = candidate.fit(part, seed)
            decided[i][left], epsilon[i] = decide(rest), max(epsilon[i], bound or 0.0)
    judged = [measured(d, e, train) for d, e in zip(decided, epsilon, strict=True)]
    excess = [limits.excess(row) for row in judged]
    order = np.lexsort((-np.array([row["accuracy"] for row in judged]), excess))
    return candidates[int(order[0])]


class Parts:
    """Rows to fit on and rows to judge on, encoded once for all candidates."""

    def __init__(self, fitted: FairDataset, judged: FairDataset) -> None:
        self.raw = fitted, judged
        self.known: dict[str, tuple[FairDataset, FairDataset]] = {}

    def encoded(self, columns: str) -> tuple[FairDataset, FairDataset]:
        """Return both parts in these columns."""
        if columns not in self.known:
            encode = COLUMNS[columns](self.raw[0].X)
            fitted, judged = (replace(part, X=encode(part.X)) for part in self.raw)
            self.known[columns] = fitted, judged
        return self.known[columns]


def trial(setting: Setting, split: int, quick: bool) -> list[Row]:
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    with threadpool_limits(1):
        load = LOADERS[setting.dataset]
        train, test = load(encoding="raw", sensitive=setting.sensitive).split(random_state=split)
        parts, rows = Parts(train, test), []
        for name, candidates in methods(setting, quick=quick).items():
            chosen = choose(candidates, train, setting.limits, split)
            part, rest = parts.encoded(chosen.columns)
            decide, epsilon = chosen.fit(part, split)
            row = measured(decide(rest), epsilon, test)
            rows.append({"setting": setting.name, "method": name, "split": split, **row})
    return rows


def summary(rows: list[Row]) -> list[Row]:
    """Return mean and standard error over splits by setting and method."""
    names = ["accuracy", "demographic_parity", "equalized_odds_sum", "epsilon"]
    table = pd.DataFrame(rows).astype(dict.fromkeys(names, float))
    out = []
    for (setting, method), part in table.groupby(["setting", "method"], sort=False):
        row: Row = {"setting": setting, "method": method, "splits": len(part)}
        for name in names:
            mean, error = part[name].mean(), part[name].std() / np.sqrt(len(part))
            row[name] = None if np.isnan(mean) else round(float(mean), 4)
            row[f"{name}_se"] = None if np.isnan(error) else round(float(error), 4)
        out.append(row)
    return out


def readable(row: Row) -> Row:
    """Put mean and standard error into one cell."""
    columns = {
        "accuracy": "acc",
        "demographic_parity": "ΔDP",
        "equalized_odds_sum": "ΔEO",
        "epsilon": "ε",
    }
    out: Row = {"setting": row["setting"], "method": row["method"]}
    for name, label in columns.items():
        mean, error = row.get(name), row.get(f"{name}_se")
        text = "" if mean is None else f"{mean:.3f}"
        out[label] = text if error is None else f"{text}±{error:.3f}"
    return out


def ceiling(setting: Setting, *, with_group: bool) -> Row:
    """Return the best accuracy within the goals of any rule of two forecasts, in-sample."""
    data = LOADERS[setting.dataset](encoding="binned", sensitive=setting.sensitive)
    forest = HistGradientBoostingClassifier(max_leaf_nodes=15, random_state=0)
    forecasts = [
        cross_val_predict(forest, data.X.to_numpy(), target, cv=5, method="predict_proba")[:, 1]
        for target in (data.y, data.groups.codes)
    ]
    bins = [pd.qcut(forecast, 25, labels=False, duplicates="drop") for forecast in forecasts]
    cells = count_cells(replace(data, X=pd.DataFrame(np.column_stack(bins))))
    limits = setting.limits
    best = fair_ceiling(cells, limits.max_dp, limits.max_eo, group_blind=not with_group)
    name = "ceiling, any rule of two forecasts" + (" and the group †" if with_group else "")
    return {"setting": setting.name, "method": name, "splits": 0, "accuracy": round(best, 4)}


def goals(rows: list[Row]) -> list[Goal]:
    found = {(row["setting"], row["method"]): row for row in rows}
    out = []
    for setting in SETTINGS:
        row = found.get((setting.name, "FairSmooth with parity"))
        if row is None:
            continue
        limits = setting.limits
        out += [
            at_least(f"{setting.name}: accuracy", row["accuracy"], setting.accuracy),
            at_most(f"{setting.name}: ΔDP", row["demographic_parity"], limits.max_dp),
            at_most(f"{setting.name}: ΔEO (sum)", row["equalized_odds_sum"], limits.max_eo),
            at_most(f"{setting.name}: ε", row["epsilon"], limits.max_epsilon),
        ]
    return out


def measure(options: argparse.Namespace) -> list[Row]:
    settings = [s for s in SETTINGS if not options.quick or s.dataset == "compas"]
    splits = range(2 if options.quick else options.splits)
    jobs = [(setting, split) for setting in settings for split in splits]
    done = Parallel(n_jobs=options.jobs, verbose=0, return_as="generator")(
        delayed(trial)(setting, split, options.quick) for setting, split in jobs
    )
    rows: list[Row] = []
    for number, part in enumerate(done, start=1):
        rows += part
        print(f"{number} of {len(jobs)} trials", file=sys.stderr, flush=True)
    ceilings = [ceiling(s, with_group=g) for s in settings for g in (False, True)]
    return summary(rows) + ceilings


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    rows = measure(options)
    shown = rows if options.json else [readable(row) for row in rows]
    report(goals(rows), shown, as_json=options.json)


if __name__ == "__main__":
    main()
