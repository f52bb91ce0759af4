"""What ``train`` and ``demo`` share: a bar while it runs, then certificate and audit."""

from collections.abc import Sequence
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
from fairsmooth.data.roles import Roles
from fairsmooth.estimator import FairSmoothClassifier
from fairsmooth.exceptions import NoGuarantee
from fairsmooth.tables.fitting import Fitted, fit_table
from fairsmooth.tables.guaranteed import fit_guaranteed


def train(
    table: pd.DataFrame,
    roles: Roles,
    classifier: FairSmoothClassifier,
    *,
    wanted: Wanted = Wanted(),  # noqa: B008 - frozen
    **options: Any,
) -> Fitted:
    """Run a training while a bar on standard error tells how far it is.

    If a guarantee is wanted and cannot be had, the exit code is 3 and there is no model.
    """
    with progress("learning the columns", total=classifier.max_iter) as update:
        classifier.callback = lambda record: update(completed=record.step)
        how = {"classifier": classifier, "step": lambda text: update(description=text), **options}
        try:
            if wanted.limits is None:
                fitted = fit_table(table, roles, **how)
            else:
                how |= {"shift": wanted.shift, "aim": wanted.aim, "tell": say}
                fitted = fit_guaranteed(table, roles, wanted.limits, **how)
        except NoGuarantee as error:
            say(str(error))
            raise typer.Exit(3) from error
        classifier.callback = None
    return fitted


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
