"""From trials to a choice: the table, the front, the record, and the trial that is chosen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from fairsmooth.estimator import FairSmoothClassifier
from fairsmooth.tuning.alternatives import Alternatives, explain_choice
from fairsmooth.tuning.front import FrontPoint, ParetoFront
from fairsmooth.tuning.judged import CONFIDENCE, OBJECTIVES, Interval, pareto_front
from fairsmooth.tuning.limits import SearchLimits
from fairsmooth.tuning.records import TrialRecord
from fairsmooth.tuning.running import BASELINE
from fairsmooth.tuning.sampling import Plan


@dataclass(frozen=True)
class Found:
    """The outcome of a search, before the chosen model is trained on all rows.

    Attributes
    ----------
    trials : DataFrame
        One row per trial: parameters, objectives and intervals on pooled folds, ``finished``,
        ``stopped``, ``seed``, ``feasible``, ``pareto``, ``chosen``.
    parameters : dict
        Of the chosen trial.
    measured : dict
        The chosen trial's objectives, on rows that its models had not seen.
    feasible : bool
        Whether the chosen trial keeps what was aimed at. If none does, the one that
        exceeds it least is chosen.
    columns : str
        The encoding of the chosen trial.
    intervals : dict
        Of the chosen trial's accuracy and gaps, at 95 % confidence although it was picked: the
        error is divided among all finished trials.
    front : ParetoFront
    alternatives : Alternatives
        What was tried, what it cost, why the chosen one.
    """

    trials: pd.DataFrame
    parameters: dict[str, Any]
    measured: dict[str, float]
    feasible: bool
    columns: str
    intervals: dict[str, Interval]
    front: ParetoFront
    alternatives: Alternatives


@dataclass(frozen=True)
class Tuned(Found):
    """The outcome of :func:`fairsmooth.tune`: a :class:`Found` with the chosen model.

    Attributes
    ----------
    classifier : FairSmoothClassifier
        Fitted with the chosen parameters on all the training rows.
    """

    classifier: FairSmoothClassifier

    @classmethod
    def of(cls, found: Found, classifier: FairSmoothClassifier) -> "Tuned":
        """Add the trained model."""
        return cls(**vars(found), classifier=classifier)


def conclude(
    records: Sequence[TrialRecord],
    plan: Plan,
    *,
    n_rows: int,
    digest: str,
    peers: tuple[FrontPoint, ...] = (),
) -> Found:
    """Choose among the finished trials, and put together what the others show."""
    table = _table(records, plan)
    finished = table[table["finished"]]
    position, feasible = choose(finished, plan)
    chosen = int(finished["trial"].iloc[position])
    table["chosen"] = table["trial"] == chosen
    table["pareto"] = False
    names = [n for n in OBJECTIVES if n != "epsilon" or plan.limits.max_epsilon is not None]
    table.loc[finished.index, "pareto"] = pareto_front(finished, names)
    record = next(record for record in records if record.number == chosen)
    columns, parameters = plan.parameters(record.params)
    confidence = 1.0 - (1.0 - CONFIDENCE) / len(finished)
    front = ParetoFront(
        _points(table, records),
        plan.limits.to_dict(),
        plan.aim.describe(plan.limits),
        n_rows,
        plan.n_folds,
        CONFIDENCE,
        peers,
    )
    return Found(
        trials=table,
        parameters=parameters,
        measured=record.judged.measured,
        feasible=feasible,
        columns=columns,
        intervals=record.judged.intervals(confidence),
        front=front,
        alternatives=_alternatives(table, records, plan, chosen, feasible, digest, n_rows),
    )


def choose(finished: pd.DataFrame, plan: Plan) -> tuple[int, bool]:
    """Return the position of the best trial and whether it keeps what was aimed at.

    The most accurate one that does, and among equals one of the Pareto front; if none does,
    the one whose relative excesses have the least sum, or the likeliest to be guaranteed.
    """
    kept = finished["feasible"].to_numpy()
    if kept.any():
        order = np.lexsort((~pareto_front(finished), -finished["accuracy"].to_numpy(), ~kept))
        return int(order[0]), True
    excess = np.array(
        [plan.limits.excess(row, share=plan.aim.share) for _, row in finished.iterrows()]
    )
    unlikely = -finished["chance"].to_numpy(dtype=float, na_value=0.0)
    return int(np.lexsort((-finished["accuracy"].to_numpy(), excess, unlikely))[0]), False


def _table(records: Sequence[TrialRecord], plan: Plan) -> pd.DataFrame:
    return pd.DataFrame([_row(record, plan) for record in records])


def _row(record: TrialRecord, plan: Plan) -> dict[str, Any]:
    columns, parameters = plan.parameters(record.params)
    measured: Mapping[str, float] = dict.fromkeys(OBJECTIVES, float("nan"))
    intervals: dict[str, float] = {}
    chance = None
    if record.folds:
        judged = record.judged
        measured = judged.measured
        for name, (low, high) in judged.intervals().items():
            intervals |= {f"{name}_low": low, f"{name}_high": high}
        chance = plan.aim.chance(plan.limits, judged.rows, judged.hits)
    return {
        "trial": record.number,
        "parameters": parameters,
        **measured,
        "seconds": record.seconds,
        "columns": columns,
        **intervals,
        "chance": chance,
        "folds": len(record.folds),
        "finished": record.finished,
        "stopped": record.stopped,
        "converged": record.converged,
        "seed": record.seed,
        "feasible": record.finished and plan.aim.kept(plan.limits, measured, chance),
    }


def _points(table: pd.DataFrame, records: Sequence[TrialRecord]) -> tuple[FrontPoint, ...]:
    judged = {record.number: record.judged for record in records}
    finished = table[table["finished"]].sort_values("accuracy", ascending=False, kind="stable")
    return tuple(
        FrontPoint(
            f"trial {row['trial']}",
            {"columns": row["columns"], **row["parameters"]},
            judged[row["trial"]].measured,
            judged[row["trial"]].intervals(),
            on_front=bool(row["pareto"]),
            keeps_aim=bool(row["feasible"]),
            chosen=bool(row["chosen"]),
            baseline=row["trial"] == BASELINE,
        )
        for _, row in finished.iterrows()
    )


def _alternatives(
    table: pd.DataFrame,
    records: Sequence[TrialRecord],
    plan: Plan,
    chosen: int,
    feasible: bool,
    digest: str,
    n_rows: int,
) -> Alternatives:
    by_number = {record.number: record for record in records}
    first = by_number[min(by_number)]
    reference = first.judged.measured["accuracy"] if first.finished else None
    trials = tuple(_entry(row, by_number[row["trial"]], reference) for _, row in table.iterrows())
    setting = {
        "limits": plan.limits.to_dict(),
        "aim": plan.aim.describe(plan.limits),
        "rows": n_rows,
        "rows_digest": digest,
        "folds": plan.n_folds,
        "seed": plan.seed,
        "space": plan.to_dict()["space"],
    }
    limited = plan.limits != SearchLimits()
    why = explain_choice(trials, chosen=chosen, feasible=feasible, limited=limited)
    return Alternatives(setting, trials, why)


def _entry(row: Any, record: TrialRecord, reference: float | None) -> dict[str, Any]:
    judged = record.judged if record.folds else None
    measured = {n: judged.measured[n] if judged else None for n in OBJECTIVES}
    accuracy = measured["accuracy"]
    outcome = "chosen" if row["chosen"] else "finished" if record.finished else "stopped"
    cost = None if reference is None or accuracy is None else reference - accuracy
    return {
        "trial": record.number,
        "outcome": outcome,
        "stopped": record.stopped,
        **measured,
        "intervals": {n: list(i) for n, i in judged.intervals().items()} if judged else {},
        "cost": cost if record.finished else None,
        "keeps_aim": bool(row["feasible"]),
        "on_front": bool(row["pareto"]),
        "folds": len(record.folds),
        "converged": record.converged,
        "seed": record.seed,
        "seconds": record.seconds,
        "parameters": {"columns": row["columns"], **_plain(row["parameters"])},
        "counts": [fold.to_dict() for fold in record.folds],
    }


def _plain(parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {n: list(v) if isinstance(v, tuple) else v for n, v in parameters.items()}
