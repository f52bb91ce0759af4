"""``fairsmooth tune``: choose sigma, alpha and the rest for what a user will accept."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairsmooth.cli.options import (
    Data,
    Decimal,
    Drop,
    Encoding,
    Hidden,
    Ids,
    Json,
    Label,
    Positive,
    Scheduler,
    Seed,
    Sensitive,
    Separator,
    Strict,
    TestSize,
    parse_widths,
)
from fairsmooth.exceptions import InputError

if TYPE_CHECKING:
    import pandas as pd

    from fairsmooth.tables.searching import Searched

NAME = "tune"
RECORDS = "trials.jsonl"
FILES = (
    RECORDS, "model.safetensors", "trials.csv", "pareto.csv", "pareto.png", "front.json",
    "alternatives.json", "alternatives.md", "report.html",
)  # fmt: skip


def command(
    data: Data,
    label: Label,
    sensitive: Sensitive,
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder to write.")],
    positive: Positive = None,
    drop: Drop = None,
    ids: Ids = None,
    columns: Annotated[
        str,
        typer.Option(
            "--columns",
            help="What becomes of columns, or several to choose from, such as binned,forecasts.",
        ),
    ] = "auto",
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
    folds: Annotated[
        int, typer.Option("--folds", min=2, max=20, help="Folds that trials are judged on.")
    ] = 4,
    aim: Annotated[
        str,
        typer.Option(
            "--aim",
            help="Share of each limit on a gap that a trial may use up, or guarantee: so that the "
            "test rows would guarantee the limits, nine times in ten.",
        ),
    ] = "0.9",
    with_peers: Annotated[
        bool, typer.Option("--with-peers", help="Show fairlearn's reductions beside the front.")
    ] = False,
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="Processes.")] = 1,
    scheduler: Scheduler = None,
    test_size: TestSize = 0.3,
    seed: Seed = 0,
    sep: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    strict: Strict = False,
    json_output: Json = False,
) -> None:
    """Search for parameters; write the chosen model, the front and a record of what was tried.

    Every trial is judged on the training part, on rows that its models have not seen, by
    pooled folds; those that are clearly beaten are stopped early. The test part is used
    once, for the audit of the chosen model. Run it again with the same folder to go on:
    a folder belongs to one search, and an interrupted one ends as if it had not been.
    """
    from fairsmooth.cli.output import print_json, print_notes, say
    from fairsmooth.cli.reading import read, roles_of
    from fairsmooth.cli.targets import require_folder

    widths, share = parse_widths(hidden), parse_aim(aim)
    from fairsmooth.tuning import SearchLimits, SearchSpace

    roles = roles_of(label, sensitive, positive, drop, ids)
    table, notes = read(data, sep=sep, decimal=decimal, encoding=encoding)
    folder = require_folder(output, FILES, inputs=[data])
    searched = _search(
        table,
        roles,
        n_trials=trials,
        with_peers=with_peers,
        limits=SearchLimits(max_dp, max_eo, max_epsilon),
        space=SearchSpace(hidden_layer_sizes=(widths,)),
        n_jobs=jobs,
        scheduler=scheduler,
        storage=folder / RECORDS,
        columns=tuple(name.strip() for name in columns.split(",")),
        test_size=test_size,
        seed=seed,
        strict=strict,
        n_folds=folds,
        aim=share,
    )
    _write(folder, searched)
    _write_report(folder, searched, data.name)
    assert searched.fitted.model.provenance is not None
    print_notes([*notes, *searched.fitted.model.provenance.notes, *searched.notes])
    if json_output:
        print_json(searched.summary())
        return
    _print(searched)
    say(f"Wrote model, report, trials, front and the record of alternatives to {folder}.")


def _search(
    table: "pd.DataFrame",
    roles: Any,
    *,
    n_trials: int,
    n_jobs: int,
    scheduler: str | None,
    with_peers: bool,
    **options: Any,
) -> "Searched":
    """Search while a bar tells how many trials, then how many peers, are done."""
    from fairsmooth.cli.output import progress
    from fairsmooth.distributed.cluster import on_cluster
    from fairsmooth.tables.searching import search_table

    with on_cluster(scheduler) as workers, progress("trials", total=n_trials) as update:

        def peers_done(done: int, of: int) -> None:
            update(description="peers", completed=done, total=of)

        return search_table(
            table,
            roles,
            n_trials=n_trials,
            n_jobs=workers or n_jobs,
            callback=lambda finished: update(completed=finished),
            with_peers=peers_done if with_peers else False,
            **options,
        )


def parse_aim(text: str) -> float | str:
    """Read a share of the limits, or ``guarantee``."""
    if text == "guarantee":
        return text
    try:
        return float(text)
    except ValueError as error:
        raise InputError(
            f"Expected --aim to be a share such as 0.9, or guarantee, got {text[:40]!r}."
        ) from error


def _write(folder: Path, searched: "Searched") -> None:
    from fairsmooth import _atomic
    from fairsmooth.data.files import write_chunks

    tuned = searched.tuned
    searched.fitted.model.save(folder / "model.safetensors")
    trials = _flat(tuned.trials)
    write_chunks(folder / "trials.csv", iter([trials]))
    write_chunks(folder / "pareto.csv", iter([trials[trials["pareto"]]]))
    with _atomic.replacing(folder / "pareto.png") as temporary:
        tuned.front.figure().savefig(temporary, format="png", dpi=150)
    texts = {
        "front.json": _as_json(tuned.front.to_dict()),
        "alternatives.json": _as_json(tuned.alternatives.to_dict()),
        "alternatives.md": tuned.alternatives.to_markdown(),
    }
    for name, text in texts.items():
        with _atomic.replacing(folder / name) as temporary:
            temporary.write_text(text, encoding="utf-8")


def _write_report(folder: Path, searched: "Searched", data: str) -> None:
    from fairsmooth import _atomic
    from fairsmooth.cli.pages import ModelPage

    path, rows = folder / "model.safetensors", f"the rows held out of {data}"
    about = ModelPage.of_fitted(searched.fitted, path, table_words=rows)
    tuned = searched.tuned
    notes = [*tuned.alternatives.why, *searched.notes]
    page = about.render(f"Search on {data}", front=tuned.front, notes=notes)
    _atomic.write_bytes(folder / "report.html", page.encode())


def _as_json(document: dict[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def _flat(trials: "pd.DataFrame") -> "pd.DataFrame":
    import pandas as pd

    parameters = pd.DataFrame(list(trials["parameters"]))
    return pd.concat([trials.drop(columns="parameters"), parameters], axis=1)


def _print(searched: "Searched") -> None:
    from fairsmooth.cli.output import print_lines, print_summary

    tuned, model = searched.tuned, searched.fitted.model
    assert model.provenance is not None
    _print_front(searched)
    print_lines(tuned.alternatives.why)
    print_lines(
        f"  {name} = {value:.4g}" if isinstance(value, float) else f"  {name} = {value}"
        for name, value in {"columns": tuned.columns, **tuned.parameters}.items()
    )
    ends = ", ".join(
        f"{name.replace('_', ' ')} {low:.4f} to {high:.4f}"
        for name, (low, high) in tuned.intervals.items()
    )
    print_lines([
        f"With 95 % confidence, although it was picked of {int(tuned.trials['finished'].sum())}: "
        f"{ends}.",
        *model.provenance.lines(),
    ])  # fmt: skip
    if model.guarantee is not None:
        print_lines(str(model.guarantee).splitlines())
    print_summary(searched.fitted.summary())


def _print_front(searched: "Searched") -> None:
    from rich.table import Table

    from fairsmooth.cli.output import cell, results

    front = searched.tuned.front
    table = Table(title="Front, on rows that its models had not seen", title_justify="left")
    for name in ("", "accuracy", "ΔDP", "ΔEO sum", "ε", "keeps the aim"):
        table.add_column(name, justify="left" if not name else "right")
    shown = [p for p in front.trials if p.on_front or p.chosen or p.baseline]
    for point in (*shown, *front.peers):
        figures = [
            f"{point.measured[name]:.4f} [{low:.3f}, {high:.3f}]"
            for name, (low, high) in point.intervals.items()
        ]
        mark = ", chosen" if point.chosen else ", baseline" if point.baseline else ""
        table.add_row(
            f"{point.name}{mark}", *figures, cell("epsilon", point.measured.get("epsilon")),
            "yes" if point.keeps_aim else "" if point in front.peers else "no",
        )  # fmt: skip
    results.print(table)
