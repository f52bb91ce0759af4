"""``fairsmooth train``: a certified model from a table."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from fairsmooth import _validate
from fairsmooth.cli.output import messages, print_certificate, print_json, print_summary, progress
from fairsmooth.cli.pipeline import Outcome, train_on_table
from fairsmooth.data.encoding import UNKNOWN
from fairsmooth.data.files import read_table
from fairsmooth.data.roles import Roles
from fairsmooth.estimator import FairSmoothClassifier
from fairsmooth.exceptions import InputError
from fairsmooth.persistence import save

NAME = "train"

Data = Annotated[Path, typer.Argument(help="A table, .csv or .parquet.")]
Label = Annotated[str, typer.Option("--label", help="Column to predict; two values.")]
Sensitive = Annotated[
    list[str],
    typer.Option("--sensitive", help="Sensitive column; several make intersectional groups."),
]
Positive = Annotated[str | None, typer.Option("--positive", help="The positive label.")]
Drop = Annotated[list[str] | None, typer.Option("--drop", help="Column not to use; repeatable.")]
TestSize = Annotated[float, typer.Option("--test-size", help="Share of rows held out.")]
Seed = Annotated[int, typer.Option("--seed", help="Seeds the split and the training.")]
Unknown = Annotated[
    str | None,
    typer.Option("--unknown", help="A category not seen in training: error, or ignore (zeros)."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]


def command(
    data: Data,
    label: Label,
    sensitive: Sensitive,
    output: Annotated[Path, typer.Option("-o", "--output", help="Model file to write.")],
    positive: Positive = None,
    drop: Drop = None,
    include_sensitive: Annotated[
        bool, typer.Option("--include-sensitive", help="Use the sensitive columns as features.")
    ] = False,
    hidden: Annotated[
        str, typer.Option("--hidden", help="Widths of hidden layers, such as 64 or 64,32.")
    ] = "",
    link: Annotated[str, typer.Option("--link", help="logistic or probit.")] = "logistic",
    sigma: Annotated[float, typer.Option("--sigma", help="Standard deviation of the noise.")] = 1.0,
    alpha: Annotated[float, typer.Option("--alpha", help="Weight of the tie.")] = 0.25,
    parity: Annotated[
        str | None,
        typer.Option("--parity", help="demographic_parity, equalized_odds or both (extension)."),
    ] = None,
    parity_weight: Annotated[
        float, typer.Option("--parity-weight", help="Weight of the parity term.")
    ] = 0.0,
    group_weights: Annotated[
        str,
        typer.Option("--group-weights", help="Groups weigh equal, or by share (extension)."),
    ] = "equal",
    max_iter: Annotated[
        int | None, typer.Option("--max-iter", help="Most iterations or epochs.")
    ] = None,
    unknown: Unknown = "error",
    test_size: TestSize = 0.3,
    seed: Seed = 0,
    json_output: Json = False,
) -> None:
    """Train, certify and audit a classifier on a table, and write it to one file."""
    classifier = FairSmoothClassifier(
        parse_widths(hidden),
        link=link,
        sigma=sigma,
        alpha=alpha,
        parity=parity,
        parity_weight=parity_weight,
        group_weights=group_weights,
        random_state=seed,
        max_iter=max_iter,
    )
    _validate.one_of(UNKNOWN, unknown=str(unknown))
    roles = Roles(
        label, tuple(sensitive), positive, tuple(drop or ()), include_sensitive, str(unknown)
    )
    outcome = run_with_progress(
        lambda step: train_on_table(
            read_table(data),
            roles,
            classifier=classifier,
            test_size=test_size,
            seed=seed,
            step=step,
        ),
        classifier,
    )
    model = outcome.model
    save(model.classifier, output, encoder=model.encoder, training=model.training)
    print_outcome(outcome, json_output)
    messages.print(f"Wrote {output}.", markup=False)


def parse_widths(text: str) -> tuple[int, ...]:
    """Read widths of hidden layers, such as ``64,32``; nothing is a linear model."""
    try:
        return tuple(int(part) for part in text.split(",") if part.strip())
    except ValueError as error:
        raise InputError(
            f"Expected --hidden to be whole numbers such as 64 or 64,32, got {text!r}."
        ) from error


def run_with_progress(
    work: Callable[[Callable[[str], None]], Outcome], classifier: FairSmoothClassifier
) -> Outcome:
    """Run a training while a bar on standard error tells how far it is."""
    with progress("reading", total=classifier.max_iter) as update:
        classifier.callback = lambda record: update(completed=record.step)
        outcome = work(lambda text: update(description=text))
        classifier.callback = None
    return outcome


def print_outcome(outcome: Outcome, json_output: bool) -> None:
    """Print the certificate and the audit, as words or as JSON."""
    if json_output:
        print_json(outcome.summary())
        return
    notes = outcome.model.training
    messages.print(
        f"Positive label: {notes['positive']!r} in {notes['label']!r}; "
        f"{notes['rows']:,} training rows, {len(outcome.test):,} held out.",
        markup=False,
    )
    print_certificate(outcome.model.classifier.certificate_)
    print_summary(outcome.summary())
