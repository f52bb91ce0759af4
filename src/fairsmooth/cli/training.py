"""What ``train`` and ``demo`` share: a bar while it runs, then certificate and audit."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import typer

from fairsmooth.cli.limits import Wanted
from fairsmooth.cli.output import (
    print_certificate,
    print_json,
    print_lines,
    print_notes,
    print_summary,
    progress,
    say,
)
from fairsmooth.cli.pages import write_training
from fairsmooth.cli.reading import opened
from fairsmooth.data.files.stored import StoredTable
from fairsmooth.data.roles import Roles
from fairsmooth.estimator import FairSmoothClassifier
from fairsmooth.exceptions import InputError, NoGuarantee
from fairsmooth.tables.checkpoint import Checkpoint
from fairsmooth.tables.fitting import Fitted, fit_table
from fairsmooth.tables.guaranteed import fit_guaranteed
from fairsmooth.tables.stored_fitting import can_stay_stored, fit_stored


def train(
    table: pd.DataFrame | StoredTable,
    roles: Roles,
    classifier: FairSmoothClassifier,
    *,
    wanted: Wanted = Wanted(),  # noqa: B008 - frozen
    checkpoint: Checkpoint | None = None,
    **options: Any,
) -> Fitted:
    """Run a training while a bar on standard error tells how far it is.

    If a guarantee is wanted and cannot be had, the exit code is 3 and there is no model.
    """
    with progress("learning the columns", total=classifier.max_iter) as update:
        classifier.callback = lambda record: update(completed=record.step)

        def step(text: str) -> None:
            total = classifier.max_iter if text == "training" else None
            update(description=text, completed=0, total=total)

        how = {"classifier": classifier, "step": step, **options}
        try:
            if isinstance(table, StoredTable):

                def coded(rows: int) -> None:
                    update(description="coding the rows", completed=rows, total=len(table))

                fitted = fit_stored(table, roles, checkpoint=checkpoint, done=coded, **how)
            elif wanted.limits is None:
                fitted = fit_table(table, roles, checkpoint=checkpoint, **how)
            else:
                how |= {"shift": wanted.shift, "aim": wanted.aim, "tell": say}
                fitted = fit_guaranteed(table, roles, wanted.limits, **how)
        except NoGuarantee as error:
            say(str(error))
            raise typer.Exit(3) from error
        classifier.callback = None
    return fitted


def why_whole(wanted: Wanted, classifier: FairSmoothClassifier, columns: str) -> str | None:
    """Say why a training needs its table in memory, or None where it does not."""
    if wanted.limits is not None:
        return "a training to a guarantee goes over its rows many times"
    if not can_stay_stored(columns, classifier):
        return "forecasts, crossed columns and limits on decisions spell the rows out"
    return None


def kept_beside(
    output: Path, *, resume: bool, wanted: Wanted, table: pd.DataFrame | StoredTable
) -> Checkpoint | None:
    """Return where the training is kept, if it is: of a stored table always, else on request."""
    if resume and wanted.limits is not None:
        raise InputError(
            "Expected --resume for one training, got it with a guarantee, which takes many. "
            "Leave it out: the choice among them is made anew."
        )
    if not (resume or isinstance(table, StoredTable)):
        return None
    found = Checkpoint.beside(output, resume=resume)
    if resume and not found.folder.exists():
        say(f"No checkpoint at {found.folder}: training begins anew.")
    elif found.folder.exists() and not resume:
        say(f"Training begins anew; the checkpoint at {found.folder} needed --resume to go on.")
    elif resume:
        say(f"The checkpoint at {found.folder} has {_steps(found.n_steps)}.")
    return found


def _steps(count: int) -> str:
    """Say what of a training is not done again."""
    if not count:
        return "no step of the training yet, or its steps take less time than keeping them"
    return f"the first {count} step{'s' if count > 1 else ''} of the training"


def train_and_write(
    data: Path,
    output: Path,
    roles: Roles,
    classifier: FairSmoothClassifier,
    *,
    wanted: Wanted,
    resume: bool,
    reading: dict[str, Any],
    json_output: bool,
    report: Path | None,
    columns: str,
    **how: Any,
) -> None:
    """Read a table, or leave it in its files, train on it, write the model and print it."""
    table, notes = opened(data, whole=why_whole(wanted, classifier, columns), **reading)
    kept = kept_beside(output, resume=resume, wanted=wanted, table=table)
    how |= {"columns": columns, "checkpoint": kept}
    fitted = train(table, roles, classifier, wanted=wanted, **how)
    fitted.model.save(output)
    if kept is not None:
        kept.remove()
    print_fitted(fitted, json_output, notes=notes)
    say(f"Wrote {output}.")
    write_training(report, fitted, output, data.name, notes)


def print_fitted(fitted: Fitted, json_output: bool, *, notes: Sequence[str] = ()) -> None:
    """Print where the model came from, its certificate and its audit, as words or as JSON."""
    provenance = fitted.model.provenance
    assert provenance is not None
    print_notes([*notes, *provenance.notes])
    if json_output:
        print_json(fitted.summary())
        return
    print_lines(provenance.lines())
    if fitted.parity_gaps is not None:
        print_lines([f"{fitted.parity_gaps}."])
    print_certificate(fitted.model.certificate)
    if fitted.model.guarantee is not None:
        print_lines(str(fitted.model.guarantee).splitlines())
    print_summary(fitted.summary())
