"""``fairsmooth tune``: choose sigma, alpha and the rest for what a user will accept."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairsmooth.cli.options import (
    Columns,
    Data,
    Decimal,
    Drop,
    Encoding,
    Hidden,
    Ids,
    Json,
    Label,
    Positive,
    Seed,
    Sensitive,
    Separator,
    Strict,
    TestSize,
    parse_widths,
)

if TYPE_CHECKING:
    import pandas as pd

    from fairsmooth.tables.searching import Searched
    from fairsmooth.tuning import Limits

NAME = "tune"
RECORDS = "trials.jsonl"
FILES = (RECORDS, "model.safetensors", "trials.csv", "pareto.csv", "pareto.png")


def command(
    data: Data,
    label: Label,
    sensitive: Sensitive,
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder to write.")],
    positive: Positive = None,
    drop: Drop = None,
    ids: Ids = None,
    columns: Columns = "auto",
    hidden: Hidden = "",
    max_dp: Annotated[
        float | None, typer.Option("--max-dp", help="Largest demographic parity gap.")
    ] = None,
    max_eo: Annotated[
        float | None, typer.Option("--max-eo", help="Largest equalized odds gap (sum).")
    ] = None,
    max_epsilon: Annotated[
        float | None, typer.Option("--max-epsilon", help="Largest certified bound.")
    ] = None,
    trials: Annotated[int, typer.Option("--trials", min=1, help="Number of trials.")] = 50,
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="Processes.")] = 1,
    test_size: TestSize = 0.3,
    seed: Seed = 0,
    sep: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    strict: Strict = False,
    json_output: Json = False,
) -> None:
    """Search for parameters; write the trials, the Pareto plot and the chosen model.

    Trials are judged on rows held out from the training part. The test part is used
    once, for the audit of the chosen model. Run it again with the same folder to go on:
    a folder belongs to one search, and an interrupted one ends as if it had not been.
    """
    from fairsmooth.cli.output import print_json, print_notes, progress, say
    from fairsmooth.cli.reading import read, roles_of
    from fairsmooth.cli.targets import require_folder

    widths = parse_widths(hidden)
    from fairsmooth.tables.searching import search_table
    from fairsmooth.tuning import Limits, SearchSpace

    limits = Limits(max_dp, max_eo, max_epsilon)
    roles = roles_of(label, sensitive, positive, drop, ids)
    table, notes = read(data, sep=sep, decimal=decimal, encoding=encoding)
    folder = require_folder(output, FILES, inputs=[data])
    with progress("trials", total=trials) as update:
        searched = search_table(
            table,
            roles,
            limits=limits,
            space=SearchSpace(hidden_layer_sizes=(widths,)),
            n_trials=trials,
            n_jobs=jobs,
            storage=folder / RECORDS,
            columns=columns,
            test_size=test_size,
            seed=seed,
            strict=strict,
            callback=lambda finished: update(completed=finished),
        )
    _write(folder, searched, limits)
    assert searched.fitted.model.provenance is not None
    print_notes([*notes, *searched.fitted.model.provenance.notes])
    if json_output:
        print_json(searched.summary())
        return
    _print(searched)
    say(f"Wrote model, trials and plot to {folder}.")


def _write(folder: Path, searched: "Searched", limits: "Limits") -> None:
    from fairsmooth import _atomic
    from fairsmooth.data.files import write_chunks
    from fairsmooth.reporting.figures import pareto

    searched.fitted.model.save(folder / "model.safetensors")
    trials = _flat(searched.tuned.trials)
    write_chunks(folder / "trials.csv", iter([trials]))
    write_chunks(folder / "pareto.csv", iter([trials[trials["pareto"]]]))
    figure = pareto(searched.tuned.trials, max_dp=limits.max_dp, max_eo=limits.max_eo)
    with _atomic.replacing(folder / "pareto.png") as temporary:
        figure.savefig(temporary, format="png", dpi=150)


def _flat(trials: "pd.DataFrame") -> "pd.DataFrame":
    import pandas as pd

    parameters = pd.DataFrame(list(trials["parameters"]))
    return pd.concat([trials.drop(columns="parameters"), parameters], axis=1)


def _print(searched: "Searched") -> None:
    from fairsmooth.cli.output import cell, print_lines, print_summary

    tuned, model = searched.tuned, searched.fitted.model
    assert model.provenance is not None
    verdict = "keeps every limit" if tuned.feasible else "exceeds the limits least; none keeps all"
    print_lines([f"Chosen: the trial that {verdict}, on held-out rows of the training part."])
    print_lines(
        f"  {name} = {value:.4g}" if isinstance(value, float) else f"  {name} = {value}"
        for name, value in tuned.parameters.items()
    )
    measured = ", ".join(f"{name} {cell(name, value)}" for name, value in tuned.measured.items())
    print_lines([f"Held out there: {measured}.", *model.provenance.lines()])
    print_summary(searched.fitted.summary())
