"""Whether a search can be trusted: what it says of the chosen model beside what the test rows say.

COMPAS by race and by sex, group not a feature, five splits (seeds 0 to 4) into 70 % training and
30 % test rows; ``tune`` sees the training rows. For the chosen trial: the gaps on pooled folds with
their intervals (95 %, although it was picked), and the gaps of the final model on test rows. For
comparison, the same trials judged and chosen on the first fold alone, as one hold-out would be.

With ``--bandwidth`` also the gaps of the parity term's surrogate and of decisions, on Adult.
With ``--adult`` also the time of 50 trials on Adult by sex, in binned columns and forecasts, in two
processes: elapsed seconds, which other work on the machine lengthens, and seconds of processor time
of all processes, halved.
"""

import resource
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from _report import Goal, Row, arguments, at_least, at_most, report
from joblib.externals.loky import get_reusable_executor

from fairsmooth.data.roles import Roles
from fairsmooth.datasets import load_adult, load_compas
from fairsmooth.estimator import FairSmoothClassifier
from fairsmooth.exceptions import ConstantRuleWarning, ParityWarning
from fairsmooth.tables.searching import Searched, search_table
from fairsmooth.tuning import SearchLimits, SearchSpace
from fairsmooth.tuning.judged import FoldCounts, Judged

SEEDS = range(5)
LIMITS = {"race": SearchLimits(0.03, 0.08), "sex": SearchLimits(0.05, 0.10)}
GAPS = ("demographic_parity", "equalized_odds_sum")
TRIALS = 16
SPACE = SearchSpace(first_shares=(1.0, 0.8, 0.6))


def table_of(load: object, sensitive: str) -> pd.DataFrame:
    data = load(encoding="raw", sensitive=sensitive)  # type: ignore[operator]
    group = np.asarray(data.sensitive_features).ravel()
    return data.X.assign(**{sensitive: group, "label": data.y})


def run(table: pd.DataFrame, sensitive: str, **options: object) -> Searched:
    roles = Roles(label="label", sensitive=(sensitive,), positive=1, unknown="ignore")
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantRuleWarning)
        return search_table(
            table, roles, space=SPACE, storage=Path(folder) / "trials.jsonl",
            test_size=0.3, callback=lambda done: None, **options,
        )  # fmt: skip


def compared(sensitive: str, seed: int, n_trials: int) -> Iterator[Row]:
    """Yield, for each gap, what the search said and what the test rows say."""
    table, limits = table_of(load_compas, sensitive), LIMITS[sensitive]
    found = run(table, sensitive, limits=limits, n_trials=n_trials, n_jobs=1, seed=seed)
    tuned, tested = found.tuned, found.fitted.audit.summary()
    one = _one_hold_out(found, limits)
    for name in GAPS:
        low, high = tuned.intervals[name]
        yield {
            "case": f"compas {sensitive}",
            "seed": seed,
            "gap": name,
            "judged": tuned.measured[name],
            "low": low,
            "high": high,
            "tested": tested[name],
            "within": low <= tested[name] <= high,
            "one_hold_out": one.first(1).measured[name],
            "one_hold_out_pooled": one.measured[name],
        }


def _one_hold_out(found: Searched, limits: SearchLimits) -> Judged:
    """Return the trial that the first fold alone would have chosen."""
    trials = [
        Judged(tuple(FoldCounts.from_dict(fold) for fold in trial["counts"]))
        for trial in found.tuned.alternatives.trials
        if trial["outcome"] != "stopped"
    ]
    measured = [trial.first(1).measured for trial in trials]
    order = np.lexsort(([-m["accuracy"] for m in measured], [limits.excess(m) for m in measured]))
    return trials[int(order[0])]


def bandwidths() -> Iterator[Row]:
    """Yield gaps of surrogate and decisions on Adult's training rows, weight 10."""
    train, _ = load_adult(encoding="binned", sensitive="sex").split(random_state=0)
    for bandwidth in (0.4, 0.2, 0.1, 0.05):
        clf = FairSmoothClassifier(
            link="probit", sigma=0.5, alpha=3.0, group_weights="share", parity="both",
            parity_weight=10.0, parity_tolerance=(0.05, 0.08), parity_bandwidth=bandwidth,
            free_reference=False, random_state=0,
        )  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ParityWarning)
            clf.fit(train.X, train.y, sensitive_features=train.sensitive_features)
        yield {"bandwidth": bandwidth, **clf.parity_gaps_.to_dict(), "iterations": clf.n_iter_}


def timed_adult() -> Row:
    """Return the seconds of 50 trials on Adult by sex in two processes."""
    table = table_of(load_adult, "sex")
    began, used = time.perf_counter(), _processor_seconds()
    found = run(
        table, "sex", limits=SearchLimits(0.05, 0.08), n_trials=50, n_jobs=2, seed=0,
        columns=("binned", "forecasts"),
    )  # fmt: skip
    elapsed = time.perf_counter() - began
    tested, trials = found.fitted.audit.summary(), found.tuned.trials
    return {
        "case": "adult sex, 50 trials",
        "elapsed_seconds": elapsed,
        "processor_seconds": _processor_seconds() - used,
        "finished": int(trials["finished"].sum()),
        "folds": int(trials["folds"].sum()),
        **{f"judged_{n}": found.tuned.measured[n] for n in ("accuracy", *GAPS)},
        **{f"tested_{n}": tested[n] for n in ("accuracy", *GAPS)},
    }


def _processor_seconds() -> float:
    """Return seconds of processor time, of this process and of the workers, which are ended."""
    get_reusable_executor().shutdown(wait=True)
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


def goals_of(rows: list[Row], adult: Row | None) -> list[Goal]:
    within = float(np.mean([row["within"] for row in rows]))
    goals = [at_least("share of test gaps within the interval of the search", within, 0.9)]
    if adult is not None:
        seconds = adult["processor_seconds"] / 2.0
        goals.append(at_most("50 trials on Adult, processor seconds of each of 2", seconds, 180.0))
    return goals


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--adult", action="store_true", help="time 50 trials on Adult too")
    parser.add_argument("--bandwidth", action="store_true", help="compare bandwidths too")
    parser.add_argument("--sensitive", choices=tuple(LIMITS), help="this one only")
    options = parser.parse_args()
    wanted = [options.sensitive] if options.sensitive else list(LIMITS)
    cases = [("race", 0, 6)] if options.quick else [(s, k, TRIALS) for s in wanted for k in SEEDS]
    rows = [row for case in cases for row in compared(*case)]
    adult = timed_adult() if options.adult else None
    more = [*([adult] if adult else []), *(bandwidths() if options.bandwidth else [])]
    report(goals_of(rows, adult), rows + more, as_json=options.json)


if __name__ == "__main__":
    main()
