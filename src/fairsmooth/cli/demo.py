"""``fairsmooth demo``: the whole way on embedded data."""

from pathlib import Path
from typing import Annotated

import typer

from fairsmooth.cli.options import Json, Seed

NAME = "demo"
FILES = ("model.safetensors", "test.csv", "report.html")
LABELS = {"adult": "income_over_50k", "compas": "did_not_reoffend"}
# A sampling weight, and the same information as "education".
DROP = {"adult": ["fnlwgt", "education-num"], "compas": []}


def command(
    dataset: Annotated[str, typer.Option("--dataset", help="adult or compas.")] = "adult",
    sensitive: Annotated[str, typer.Option("--sensitive", help="sex or race.")] = "sex",
    out: Annotated[Path, typer.Option("--out", help="Folder for report, model and data.")] = Path(
        "out/demo"
    ),
    seed: Seed = 0,
    json_output: Json = False,
) -> None:
    """Train and certify on embedded data; print the certificate and the audit, write a report."""
    from fairsmooth import _validate
    from fairsmooth._atomic import ensure_folder
    from fairsmooth.cli.output import say
    from fairsmooth.cli.targets import require_folder

    _validate.one_of(tuple(LABELS), dataset=dataset)
    folder = require_folder(out, FILES, inputs=[])
    from fairsmooth.cli.reading import roles_of
    from fairsmooth.cli.training import print_fitted, train
    from fairsmooth.data.files import write_chunks
    from fairsmooth.datasets import load_adult, load_compas
    from fairsmooth.estimator import FairSmoothClassifier
    from fairsmooth.reporting.report import write_report
    from fairsmooth.tables.fitting import GROUP_WEIGHTS

    loaders = {"adult": load_adult, "compas": load_compas}
    data = loaders[dataset](encoding="raw", sensitive=sensitive)
    label = LABELS[dataset]
    table = data.X.copy()
    table[sensitive] = data.sensitive_features
    table[label] = data.y
    fitted = train(
        table,
        roles_of(label, [sensitive], None, DROP[dataset], None, unknown="ignore"),
        FairSmoothClassifier(random_state=seed, group_weights=GROUP_WEIGHTS),
        test_size=0.3,
        seed=seed,
        shift=True,
    )
    ensure_folder(folder)
    fitted.model.save(folder / FILES[0])
    write_chunks(folder / FILES[1], iter([fitted.test]))
    write_report(
        folder / FILES[2],
        title=f"{dataset.capitalize()}, groups by {sensitive}",
        certificate=fitted.model.certificate,
        audit=fitted.audit,
        provenance=fitted.model.provenance,
        held_out=True,
    )
    print_fitted(fitted, json_output)
    say(f"Wrote report.html, model.safetensors and test.csv to {folder}.")
