"""``fairsmooth demo``: the whole way on embedded data."""

from pathlib import Path
from typing import Annotated

import typer

from fairsmooth import _validate
from fairsmooth._atomic import ensure_folder
from fairsmooth.cli.output import messages
from fairsmooth.cli.pipeline import train_on_table
from fairsmooth.cli.train import Json, print_outcome, run_with_progress
from fairsmooth.data.files import write_chunks
from fairsmooth.data.roles import Roles
from fairsmooth.datasets import load_adult, load_compas
from fairsmooth.estimator import FairSmoothClassifier
from fairsmooth.persistence import save
from fairsmooth.reporting.report import write_report

NAME = "demo"
LABELS = {"adult": "income_over_50k", "compas": "did_not_reoffend"}
# A sampling weight, and the same information as "education".
DROP = {"adult": ("fnlwgt", "education-num"), "compas": ()}


def command(
    dataset: Annotated[str, typer.Option("--dataset", help="adult or compas.")] = "adult",
    sensitive: Annotated[str, typer.Option("--sensitive", help="sex or race.")] = "sex",
    out: Annotated[Path, typer.Option("--out", help="Folder for report, model and data.")] = Path(
        "out/demo"
    ),
    seed: Annotated[int, typer.Option("--seed", help="Seeds the split.")] = 0,
    json_output: Json = False,
) -> None:
    """Train and certify on embedded data; print the certificate and the audit, write a report."""
    folder = ensure_folder(out)
    loaders = {"adult": load_adult, "compas": load_compas}
    _validate.one_of(tuple(loaders), dataset=dataset)
    data = loaders[dataset](encoding="raw", sensitive=sensitive)
    table = data.X.copy()
    table[sensitive] = data.sensitive_features
    table[LABELS[dataset]] = data.y
    classifier = FairSmoothClassifier(random_state=seed)
    outcome = run_with_progress(
        lambda step: train_on_table(
            table,
            Roles(LABELS[dataset], (sensitive,), drop=DROP[dataset], unknown="ignore"),
            classifier=classifier,
            test_size=0.3,
            seed=seed,
            shift=True,
            step=step,
        ),
        classifier,
    )
    model = outcome.model
    save(
        model.classifier,
        folder / "model.safetensors",
        encoder=model.encoder,
        training=model.training,
    )
    write_chunks(folder / "test.csv", iter([outcome.test]))
    write_report(
        folder / "report.html",
        title=f"{dataset.capitalize()}, groups by {sensitive}",
        certificate=model.classifier.certificate_,
        audit=outcome.audit,
    )
    print_outcome(outcome, json_output)
    messages.print(f"Wrote report.html, model.safetensors and test.csv to {folder}.", markup=False)
