"""A search on a table: trials on the training part, one audit of what was chosen."""

import hashlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from fairsmooth._types import Floats
from fairsmooth.columns import Forecasts
from fairsmooth.data.groups import encode_groups
from fairsmooth.data.roles import Roles
from fairsmooth.estimator import FairSmoothClassifier
from fairsmooth.guarantees import GapGuarantee, Limits
from fairsmooth.tables.columns import check_columns, encode_training
from fairsmooth.tables.fitting import Fitted, Parts
from fairsmooth.tables.guaranteed import safety_test
from fairsmooth.training.parity_gaps import decisions_are_judged
from fairsmooth.tuning import SearchLimits, SearchSpace, Tuned, search
from fairsmooth.tuning.folds import RowNumbers, SearchRows, frame_rows
from fairsmooth.tuning.limits import GUARANTEE


@dataclass(frozen=True)
class Searched:
    """A search and the audit of the model it chose.

    Attributes
    ----------
    tuned : Tuned
    fitted : Fitted
        Its model holds a guarantee if one was aimed at and the test rows gave it.
    tested : GapGuarantee or None
        What the test rows said of the limits, whether or not they hold, if it was aimed at.
    """

    tuned: Tuned
    fitted: Fitted
    tested: GapGuarantee | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """Where the chosen model, trained on all rows, is not what its trial was."""
        tuned, audit = self.tuned, self.fitted.audit.summary()
        found = []
        limit, epsilon = tuned.front.limits.get("epsilon"), audit["epsilon"]
        if limit is not None and epsilon > limit >= tuned.measured["epsilon"]:
            found.append(
                f"Trained on all training rows, the chosen model's certified bound is "
                f"{epsilon:.4f}, above the limit {limit:g} that its trial kept."
            )
        for name in ("demographic_parity", "equalized_odds_sum"):
            low, high = tuned.intervals[name]
            if not low <= audit[name] <= high:
                found.append(
                    f"The {name.replace('_', ' ')} gap on the test rows, {audit[name]:.4f}, is "
                    f"outside the interval from the search, [{low:.4f}, {high:.4f}]."
                )
        return (*found, *self._not_guaranteed())

    def _not_guaranteed(self) -> Iterator[str]:
        if self.tested is None or self.tested.holds:
            return
        bounds = ", ".join(
            f"{name.replace('_', ' ')} bounded by {bound:.4f} (limit {self.tested.limits[name]:g})"
            for name, bound in self.tested.bounds.items()
        )
        yield (
            f"The test rows do not guarantee the limits: {bounds}. The model carries no "
            "guarantee, and these rows are spent: another try needs new ones."
        )

    def summary(self) -> dict[str, Any]:
        """Return what the search decided and what was measured, as plain data."""
        tuned = self.tuned
        return {
            **self.fitted.summary(),
            "parameters": tuned.parameters,
            "columns": tuned.columns,
            "held_out": tuned.measured,
            "intervals": {name: list(ends) for name, ends in tuned.intervals.items()},
            "feasible": tuned.feasible,
            "trials": len(tuned.trials),
            "finished": int(tuned.trials["finished"].sum()),
            "why": list(tuned.alternatives.why),
            "front": tuned.front.to_dict(),
        }


def search_table(
    table: pd.DataFrame,
    roles: Roles,
    *,
    limits: SearchLimits,
    space: SearchSpace,
    n_trials: int,
    n_jobs: int,
    storage: Path,
    test_size: float,
    seed: int,
    callback: Callable[[int], None],
    columns: str | tuple[str, ...] | Forecasts = "auto",
    strict: bool = False,
    **options: Any,
) -> Searched:
    """Search on the training part, then audit the chosen model on the test part, once.

    With several ``columns`` the search chooses among them. They are learned anew on every
    fold, from the rows that are learned from there, once for all trials. ``options`` are
    those of :func:`fairsmooth.tuning.search`. With ``aim="guarantee"`` the limits on gaps are
    tested on the test part, once, and the model carries the guarantee if they hold there.
    """
    began = time.perf_counter()
    choices: tuple[str | Forecasts, ...] = columns if isinstance(columns, tuple) else (columns,)
    for choice in choices:
        check_columns(choice)
    # A guarantee asks for a split by group alone.
    split: dict[str, Any] = {"test_size": test_size, "seed": seed, "strict": strict,
             "by_label": options.get("aim") != GUARANTEE}  # fmt: skip
    parts = Parts.of(table, roles, columns=choices[0], **split)
    if options.get("aim") == GUARANTEE:
        options["guarantee_rows"] = len(parts.test)
    encodings = {_name(choice): partial(_encode, parts, choice, seed) for choice in choices}
    groups = encode_groups(parts.sensitive, n_rows=len(parts.y))
    found = search(
        SearchRows(parts.y, groups, encodings, _digest(parts, choices, split)),
        limits=limits,
        space=replace(space, columns=tuple(encodings)),
        n_trials=n_trials,
        n_jobs=n_jobs,
        storage=storage,
        seed=seed,
        callback=callback,
        **options,
    )
    if found.columns != _name(choices[0]):
        parts = Parts.of(table, roles, columns=found.columns, **split)
    classifier = FairSmoothClassifier(**found.parameters, random_state=seed)
    with decisions_are_judged():
        classifier.fit(parts.X, parts.y, sensitive_features=parts.sensitive)
    done, tuned = parts.fitted(classifier, began), Tuned.of(found, classifier)
    gaps = {name: limit for name, limit in limits.to_dict().items() if name != "epsilon"}
    if options.get("aim") != GUARANTEE or not gaps:
        return Searched(tuned, done)
    assert done.test is not None  # the table was in memory
    tested, _ = safety_test(done.model, done.test, Limits(**gaps))
    if tested.holds:
        done = replace(done, model=replace(done.model, guarantee=tested))
    return Searched(tuned, done, tested)


def _name(columns: str | Forecasts) -> str:
    return columns if isinstance(columns, str) else "forecasts"


def _encode(
    parts: Parts, columns: str | Forecasts, seed: int, learn: RowNumbers, judge: RowNumbers
) -> tuple[Floats, Floats]:
    """Learn columns from some rows; what the others have that is new to them counts as nothing."""
    roles = replace(parts.roles, unknown="ignore")
    encoder, X = encode_training(
        frame_rows(parts.features, learn),
        parts.y[learn],
        frame_rows(parts.sensitive, learn),
        roles,
        columns=columns,
        seed=seed,
    )
    judged, _ = encoder.transform_rows(frame_rows(parts.features, judge))
    return np.asarray(X, dtype=np.float64), np.asarray(judged, dtype=np.float64)


def _digest(parts: Parts, choices: tuple[str | Forecasts, ...], split: dict[str, Any]) -> str:
    """Name the rows and the ways of encoding them, for a file of trials to belong to."""
    known = parts.provenance
    facts = {name: getattr(known, name) for name in ("digest", "label", "positive", "sensitive")}
    names = [str(choice) for choice in choices]
    everything = (sorted(facts.items()), list(parts.features), names, sorted(split.items()))
    return hashlib.sha256(repr(everything).encode()).hexdigest()
