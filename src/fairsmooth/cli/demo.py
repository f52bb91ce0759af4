"""``fairsmooth demo``: the whole way on embedded data."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairsmooth.cli.options import Json, Seed

if TYPE_CHECKING:
    from fairsmooth.tables.fitting import Fitted

NAME = "demo"
FILES = ("model.safetensors", "test.csv", "report.html")


def command(
    dataset: Annotated[
        str, typer.Option("--dataset", help="One of `fairsmooth list datasets`.")
    ] = "adult",
    sensitive: Annotated[
        str | None, typer.Option("--sensitive", help="One of its sensitive columns.")
    ] = None,
    out: Annotated[Path, typer.Option("--out", help="Folder for report, model and data.")] = Path(
        "out/demo"
    ),
    seed: Seed = 0,
    json_output: Json = False,
) -> None:
    """Train and certify on embedded data; print the certificate and the audit, write a report."""
    from fairsmooth.cli.targets import require_folder

    folder = require_folder(out, FILES, inputs=[])
    from fairsmooth.cli.output import say
    from fairsmooth.cli.training import print_fitted, train
    from fairsmooth.data.frames import as_frame
    from fairsmooth.data.roles import Roles
    from fairsmooth.datasets import entry
    from fairsmooth.tables.fitting import default_classifier

    found = entry(dataset)
    chosen = sensitive or found.sensitive[0]
    roles = Roles(found.label_column, (chosen,), drop=found.drop, unknown="ignore")
    fitted = train(
        as_frame(found.table(chosen)),
        roles,
        default_classifier(None, seed),
        test_size=0.3,
        seed=seed,
        shift=True,
    )
    _write(fitted, folder, title=f"{found.title}, groups by {chosen}")
    print_fitted(fitted, json_output)
    say(f"Wrote report.html, model.safetensors and test.csv to {folder}.")


def _write(fitted: "Fitted", folder: Path, *, title: str) -> None:
    from fairsmooth._atomic import ensure_folder, write_bytes
    from fairsmooth.data.files import write_chunks
    from fairsmooth.reporting.report import render_report

    ensure_folder(folder)
    fitted.model.save(folder / "model.safetensors")
    assert fitted.test is not None  # the table was in memory
    write_chunks(folder / "test.csv", [fitted.test])
    page = render_report(
        title,
        fitted.model.certificate,
        fitted.audit,
        provenance=fitted.model.provenance,
        held_out=True,
    )
    write_bytes(folder / "report.html", page.encode())
