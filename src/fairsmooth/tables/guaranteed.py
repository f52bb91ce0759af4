"""Training to a guarantee: never return a model whose gaps cannot be guaranteed.

One split by group alone into training and safety rows; a candidate chosen on the training
rows; one test on the safety rows. The probability of returning a model whose true gaps exceed
the limits is at most one minus the confidence, whatever the training did.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pandas as pd

from fairsmooth import _validate
from fairsmooth.data.roles import Roles
from fairsmooth.estimator import FairSmoothClassifier
from fairsmooth.exceptions import InputError, NoGuarantee
from fairsmooth.guarantees import GapGuarantee, Limits
from fairsmooth.guarantees.claims import Shift
from fairsmooth.persistence import model_digest
from fairsmooth.tables.aiming import FOLDS, HALVINGS, Aim, Candidate, choose_candidate
from fairsmooth.tables.decided import DecidedRows, decided_by_model
from fairsmooth.tables.fitting import Fitted, Parts, Step
from fairsmooth.tables.guaranteeing import guarantee_rows, rows_enough
from fairsmooth.tables.model import TableModel
from fairsmooth.training.parity_gaps import decisions_are_judged

Tell = Callable[[str], None]
# A rare category may be in the safety rows only; that must not end a training.
UNKNOWN_VALUES = "ignore"


def fit_guaranteed(
    table: pd.DataFrame,
    roles: Roles,
    limits: Limits,
    *,
    classifier: FairSmoothClassifier,
    test_size: float = 0.3,
    seed: int = 0,
    aim: float = 0.9,
    shift: Shift | None = None,
    halvings: int = HALVINGS,
    step: Step = lambda text: None,
    tell: Tell = lambda text: None,
    **reading: Any,
) -> Fitted:
    """Train to a guarantee, or raise :class:`NoGuarantee` and return no model.

    Parameters
    ----------
    limits : Limits
        What must be guaranteed, and how surely.
    aim : float
        How likely the safety rows must be to guarantee a candidate for it to be preferred for
        its accuracy.
    halvings : int
        How often the search halves the range of weights; fewer are faster and coarser.
    tell : callable
        Told, before the safety rows are opened, how likely they are to guarantee the choice.
    reading
        ``columns`` and ``strict``, as in :meth:`Parts.of`.
    """
    began = time.perf_counter()
    if not isinstance(limits, Limits):
        raise InputError(
            f"Expected guarantee as Limits(demographic_parity=0.05) or the like, got {limits!r}."
        )
    _validate.in_range(0.5, 0.999, aim=aim)
    step("learning the columns")
    parts = Parts.of(table, roles, test_size=test_size, seed=seed, by_label=False, **reading)
    step("choosing on the training rows")
    wanted = Aim(limits, aim, len(parts.test) / len(parts.y), shift, halvings)
    chosen, tried = choose_candidate(
        classifier, parts.X, parts.y, parts.sensitive, aim=wanted, seed=seed
    )
    tell(_forecast(chosen, len(tried), len(parts.test)))
    step("training")
    fitted = chosen.classifier.set_params(callback=classifier.callback)
    with decisions_are_judged():
        fitted.fit(parts.X, parts.y, sensitive_features=parts.sensitive)
    fitted.callback = None
    step("testing on the safety rows, once")
    model = TableModel(fitted, parts.encoder, parts.roles, parts.provenance)
    found, rows = safety_test(model, parts.test, limits, shift=shift)
    if not found.holds:
        raise NoGuarantee(_why_not(found, rows, limits, shift), found)
    # What to set for smaller gaps is for the limits to say, not for a note.
    done = parts.fitted(fitted, began, compare=False)
    return replace(done, model=replace(done.model, guarantee=found))


def safety_test(
    model: TableModel, safety: pd.DataFrame, limits: Limits, *, shift: Shift | None = None
) -> tuple[GapGuarantee, DecidedRows]:
    """Return what rows that took no part say of the limits, and how they were decided.

    They must have been split off by group alone, and no choice may follow: the guarantee allows
    for none.
    """
    rows = decided_by_model(model, safety, unknown=UNKNOWN_VALUES)
    return guarantee_rows(rows, limits, shift=shift, facts=_facts(model)), rows


def _facts(model: TableModel) -> dict[str, object]:
    known = model.provenance
    assert known is not None
    digest = model_digest(model.classifier, encoder=model.encoder, training=known.to_dict())
    return {
        "model": digest,
        "column": None,
        "label": known.label,
        "positive": known.positive,
        "unknown": UNKNOWN_VALUES,
    }


def _forecast(chosen: Candidate, n_tried: int, n_safety: int) -> str:
    gaps = ", ".join(f"{name.replace('_', ' ')} {gap:.4f}" for name, gap in chosen.gaps.items())
    return (
        f"Chosen of {n_tried} on training rows ({FOLDS}-fold): accuracy {chosen.accuracy:.4f}, "
        f"{gaps}. The {n_safety:,} safety rows guarantee it with probability about "
        f"{chosen.chance:.2f}."
    )


def _why_not(found: GapGuarantee, rows: DecidedRows, limits: Limits, shift: Shift | None) -> str:
    reached = ", ".join(
        f"{name.replace('_', ' ')} bounded by {found.bounds[name]:.4f} (measured "
        f"{found.measured[name] if found.measured[name] is not None else float('nan'):.4f}, "
        f"limit {limit:g})"
        for name, limit in limits.to_dict().items()
    )
    needed = rows_enough(rows, limits, shift=shift)
    most = None if None in needed.values() else max(n for n in needed.values() if n is not None)
    advice = (
        "No number of safety rows would be enough at these rates"
        if most is None
        else f"About {most:,} safety rows would be enough at these rates, four times in five"
    )
    return (
        f"No model can be guaranteed: {reached} on {len(rows.decisions):,} safety rows. {advice}. "
        "These safety rows are now spent: another try needs new ones."
    )
