"""The best accuracy that can be guaranteed on Adult by sex, at three limits on the parity gap.

Ten splits by group into training and 30 % safety rows, the same for all; accuracy and gaps are
those of the safety rows. Everybody tries seven settings on training rows and brings one before the
safety rows. What each is held to differs, and is said:

* FairSmooth: ``fit_guaranteed`` as ``fairsmooth train --guarantee-dp`` runs it. The exact test of
  the difference of selection rates.
* Reduction: fairlearn's ``ExponentiatedGradient``, seven values of ``difference_bound`` (which
  limits the distance from the overall rate, not the gap), then our forecast and our exact test. Its
  rule draws at random, so one draw per row is tested; its thresholded rule is tested too.
* Mean scores: seldonian-engine's formula, Student's t at a quarter of the error per end, on mean
  *scores*, of seven logistic models with a penalty on their difference; the most accurate whose
  bound, with the engine's doubled width on training rows, keeps the limit. No finite-sample proof,
  and nothing is said about decisions: their gap is shown.
"""

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from _mean_scores import penalised, student
from _report import Goal, Row, arguments, at_least, report
from fairlearn.reductions import DemographicParity, ExponentiatedGradient
from joblib import Parallel, delayed
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from fairsmooth import FairSmoothClassifier
from fairsmooth.core.rows import spelt_out
from fairsmooth.data.roles import Roles
from fairsmooth.datasets import load_adult
from fairsmooth.guarantees import Limits, NoGuarantee, guarantee_gaps
from fairsmooth.guarantees.planning import ExpectedCell, return_probability
from fairsmooth.tables.decided import decided_by_model
from fairsmooth.tables.fitting import Parts
from fairsmooth.tables.guaranteed import fit_guaranteed

ERROR, SAFETY, AIM = 0.05, 0.3, 0.9
LIMITS = {0.10: 0.853, 0.08: 0.849, 0.06: 0.845}
SEEDS = range(100, 110)
ROLES = Roles(label="income", sensitive=("sex",), positive=1, unknown="ignore")
BOUNDS = (0.005, 0.01, 0.015, 0.02, 0.027, 0.035, 0.045)
WEIGHTS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)


@dataclass(frozen=True)
class Split:
    """Training and safety rows of one seed, encoded for those who take arrays."""

    seed: int
    table: pd.DataFrame
    X: np.ndarray
    y: np.ndarray
    group: np.ndarray
    safety_X: np.ndarray
    safety_y: np.ndarray
    safety_group: np.ndarray

    @classmethod
    def of(cls, table: pd.DataFrame, seed: int) -> "Split":
        """Cut the table as ``fit_guaranteed`` does: by group only."""
        parts = Parts.of(table, ROLES, test_size=SAFETY, seed=seed, by_label=False)
        features = parts.test.drop(columns=["income", "sex"])
        encoded = parts.encoder.transform(features)
        return cls(
            seed,
            table,
            spelt_out(parts.X),
            parts.y,
            parts.sensitive["sex"].to_numpy(str),
            encoded.to_numpy(float),
            parts.test["income"].to_numpy(int),
            parts.test["sex"].to_numpy(str),
        )


def gap(values: np.ndarray, group: np.ndarray) -> float:
    means = [values[group == g].mean() for g in np.unique(group)]
    return float(max(means) - min(means))


def described(split: Split, decided: np.ndarray) -> Row:
    return {
        "accuracy": float((decided == split.safety_y).mean()),
        "gap": gap(decided, split.safety_group),
    }


def ours(split: Split, limit: float) -> Row:
    """Train to a guarantee with the library's own function."""
    found: Row = {"seed": split.seed, "limit": limit, "method": "FairSmooth"}
    began = time.process_time()
    chance: list[str] = []
    try:
        fitted = fit_guaranteed(
            split.table, ROLES, Limits(demographic_parity=limit, confidence=1.0 - ERROR),
            classifier=FairSmoothClassifier(group_weights="share", random_state=split.seed),
            test_size=SAFETY, seed=split.seed, aim=AIM, tell=chance.append,
        )  # fmt: skip
    except NoGuarantee as error:
        seconds = time.process_time() - began
        return found | {"returned": False, "accuracy": None, "seconds": seconds} | {
            "gap": error.guarantee.measured["demographic_parity"]
        }  # fmt: skip
    seconds = time.process_time() - began
    rows = decided_by_model(fitted.model, fitted.test, unknown="ignore")
    return found | {"returned": True, "seconds": seconds, **described(split, rows.decisions)}


def exact(decided: np.ndarray, group: np.ndarray, limit: float) -> bool:
    limits = Limits(demographic_parity=limit, confidence=1.0 - ERROR)
    return guarantee_gaps(decided, sensitive_features=group, limits=limits).holds


def forecast(decided: np.ndarray, split: Split, limit: float) -> float:
    """Return how likely the safety rows are to guarantee what training rows show."""
    cells = []
    for group in np.unique(split.group):
        own = decided[split.group == group]
        cells.append(ExpectedCell(own.mean(), len(own) * SAFETY / (1 - SAFETY), len(own)))
    return return_probability("demographic_parity", {None: cells}, limit, confidence=1 - ERROR)


def reductions(split: Split) -> list[Row]:
    """Train the reduction once per bound; all limits choose from the same seven."""
    began = time.process_time()
    models = [_reduction(split, bound) for bound in BOUNDS]
    seconds = (time.process_time() - began) / len(LIMITS)
    rows = []
    for kind in ("drawn", "thresholded"):
        train = [_decide(model, split.X, kind, split.seed) for model in models]
        test = [_decide(model, split.safety_X, kind, split.seed + 1) for model in models]
        for limit in LIMITS:
            chances = [forecast(decided, split, limit) for decided in train]
            accuracies = [(decided == split.y).mean() for decided in train]
            k = chosen(chances, accuracies)
            held = exact(test[k], split.safety_group, limit)
            method = f"reduction, {kind}"
            rows.append(_tested(split, limit, method, held, test[k], seconds))
    return rows


def _reduction(split: Split, bound: float) -> ExponentiatedGradient:
    model = ExponentiatedGradient(
        LogisticRegression(solver="newton-cholesky", max_iter=50),
        DemographicParity(difference_bound=bound),
        max_iter=20,
    )
    return model.fit(split.X, split.y, sensitive_features=split.group)


def _decide(model: ExponentiatedGradient, X: np.ndarray, kind: str, seed: int) -> np.ndarray:
    if kind == "drawn":
        return np.asarray(model.predict(X, random_state=seed)).astype(int)
    return (model._pmf_predict(X)[:, 1] > 0.5).astype(int)


def chosen(chances: Sequence[float], accuracies: Sequence[float]) -> int:
    """Return the most accurate setting that is likely enough, or else the likeliest."""
    enough = [k for k, chance in enumerate(chances) if chance >= AIM]
    if enough:
        return max(enough, key=lambda k: accuracies[k])
    return int(np.argmax(chances))


def mean_scores(split: Split) -> list[Row]:
    """Bound differences of mean scores as seldonian-engine does."""
    began = time.process_time()
    found = [
        [expit(X @ w[:-1] + w[-1]) for X in (split.X, split.safety_X)]
        for w in (penalised(split.X, split.y, split.group, weight) for weight in WEIGHTS)
    ]
    seconds = (time.process_time() - began) / len(LIMITS)
    n_safety = {g: int((split.safety_group == g).sum()) for g in np.unique(split.group)}
    rows = []
    for limit in LIMITS:
        bounds = [
            student(train, split.group, n_safety, error=ERROR, width=2.0) for train, _ in found
        ]
        accuracies = [((train > 0.5) == split.y).mean() for train, _ in found]
        enough = [k for k, bound in enumerate(bounds) if bound <= limit]
        k = max(enough, key=lambda k: accuracies[k]) if enough else int(np.argmin(bounds))
        scores = found[k][1]
        held = student(scores, split.safety_group, n_safety, error=ERROR) <= limit
        decided = (scores > 0.5).astype(int)
        rows.append(_tested(split, limit, "mean scores, Student's t", held, decided, seconds))
    return rows


def _tested(
    split: Split, limit: float, method: str, held: bool, decided: np.ndarray, seconds: float
) -> Row:
    found = described(split, decided)
    accuracy = found["accuracy"] if held else None
    return {"seed": split.seed, "limit": limit, "method": method, "returned": held,
            "accuracy": accuracy, "gap": found["gap"], "seconds": seconds}  # fmt: skip


def summed(trials: Sequence[Row], free: float) -> list[Row]:
    """Return one line per method and limit; without a model everybody gets the majority's label."""
    rows = []
    for method, limit in dict.fromkeys((row["method"], row["limit"]) for row in trials):
        own = [row for row in trials if (row["method"], row["limit"]) == (method, limit)]
        told = [row["accuracy"] for row in own if row["returned"]]
        rows.append(
            {
                "method": method,
                "limit": limit,
                "splits": len(own),
                "returned": len(told) / len(own),
                "accuracy": float(np.mean(told)) if told else None,
                "accuracy_all": float(np.mean([*told, *[free] * (len(own) - len(told))])),
                "gap": float(np.mean([row["gap"] for row in own])),
                "largest_gap": float(max(row["gap"] for row in own)),
                "cpu_seconds": float(np.mean([row["seconds"] for row in own])),
            }
        )
    return rows


def goals(rows: Sequence[Row]) -> list[Goal]:
    found = []
    for row in rows:
        if row["method"] == "FairSmooth":
            limit = row["limit"]
            found += [
                at_least(f"return rate at {limit:.2f}", row["returned"], 0.9),
                at_least(f"accuracy at {limit:.2f}", row["accuracy"] or 0.0, LIMITS[limit]),
            ]
    return found


def trained(table: pd.DataFrame, seed: int, limits: Sequence[float], until: float) -> list[Row]:
    """Return what we and mean scores come to; what the time does not allow is left out."""
    if time.time() > until:
        return []
    warnings.filterwarnings("ignore")
    split = Split.of(table, seed)
    rows = [ours(split, limit) for limit in limits if time.time() < until]
    rows += mean_scores(split) if time.time() < until else []
    return [row for row in rows if row["limit"] in limits]


def reduced(table: pd.DataFrame, seed: int, limits: Sequence[float], until: float) -> list[Row]:
    """Return what the reduction comes to, if there is time."""
    if time.time() > until:
        return []
    warnings.filterwarnings("ignore")
    return [row for row in reductions(Split.of(table, seed)) if row["limit"] in limits]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--splits", type=int, default=len(SEEDS))
    parser.add_argument("--reduced", type=int, default=len(SEEDS), help="splits with reductions")
    parser.add_argument("--seconds", type=float, default=7200.0, help="begin nothing after these")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    data = load_adult(encoding="raw", sensitive="sex")
    table = data.X.assign(income=np.asarray(data.y), sex=np.asarray(data.sensitive_features))
    limits = list(LIMITS)[:1] if options.quick else list(LIMITS)
    seeds = SEEDS[: 1 if options.quick else options.splits]
    until = time.time() + options.seconds
    work = [(trained, seed) for seed in seeds]
    # The reduction is slow: its first split comes after our second.
    work[2:2] = [] if options.quick else [(reduced, seed) for seed in seeds[: options.reduced]]
    found = Parallel(n_jobs=options.jobs, backend="multiprocessing")(
        delayed(task)(table, seed, limits, until) for task, seed in work
    )
    trials = sorted((row for rows in found for row in rows), key=lambda row: row["method"])
    rows = summed(trials, free=1.0 - float(np.mean(data.y)))
    report(goals(rows), [*rows, *trials], as_json=options.json)


if __name__ == "__main__":
    main()
