"""``fairsmooth reproduce``: the paper's tables and figures, beside what was printed."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairsmooth import _validate
from fairsmooth.cli.options import Scheduler
from fairsmooth.cli.output import messages, print_json, progress, results

if TYPE_CHECKING:
    from fairsmooth.experiments import Experiment, Profile, Progress, Selection, Store

NAME = "reproduce"
ALL = "all"


def command(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="table1 … figure5, draws, ceilings, tradeoff; all is the paper's."),
    ] = None,
    profile_name: Annotated[
        str, typer.Option("--profile", help="smoke, laptop or paper.")
    ] = "laptop",
    jobs: Annotated[int, typer.Option("--jobs", help="Processes, one thread each.")] = 2,
    methods: Annotated[
        list[str] | None, typer.Option("--methods", help="Only this method; repeatable.")
    ] = None,
    outside: Annotated[
        list[str] | None,
        typer.Option(
            "--method", help="A method of yours, as path/file.py:Class; runs that file; repeatable."
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", help="Only this dataset, attribute, case or encoding; repeatable."),
    ] = None,
    scheduler: Scheduler = None,
    out: Annotated[Path, typer.Option("--out", help="Folder for records and pages.")] = Path(
        "out/reproduce"
    ),
    json_output: Annotated[
        bool, typer.Option("--json", help="Print one JSON document and nothing else.")
    ] = False,
) -> None:
    """Run experiments of the paper and set the results beside the printed numbers.

    Killed at any point, it goes on where it was when run again with the same folder.
    """
    from fairsmooth.experiments import Selection, Store, load_method, profile
    from fairsmooth.reporting.reproduction import write_reproduction

    chosen, budget = _chosen(names or [ALL]), profile(profile_name)
    selection = Selection(
        tuple(methods or ()),
        tuple(only or ()),
        tuple(load_method(place) for place in outside or ()),
    )
    selection.check()
    store = Store(out)
    _run(chosen, budget, store, selection=selection, jobs=jobs, scheduler=scheduler)
    summary = write_reproduction(
        out,
        chosen,
        budget,
        store=store,
        selection=selection,
        command=_command(names, budget, selection, outside or ()),
    )
    if json_output:
        print_json(summary)
    else:
        _print(summary)
    messages.print(f"Wrote index.html, index.md and rows.parquet to {out}.", markup=False)


def _chosen(names: Sequence[str]) -> "list[Experiment]":
    from fairsmooth.experiments import experiments

    known = {experiment.name: experiment for experiment in experiments()}
    for name in names:
        _validate.one_of((*known, ALL), experiment=name)
    return [each for each in known.values() if each.name in names or (ALL in names and each.paper)]


def _run(
    chosen: "Sequence[Experiment]",
    budget: "Profile",
    store: "Store",
    *,
    selection: "Selection",
    jobs: int,
    scheduler: str | None,
) -> None:
    from fairsmooth.distributed.cluster import on_cluster
    from fairsmooth.experiments import run_experiments

    with on_cluster(scheduler) as workers, progress("planning") as update:

        def show(state: "Progress") -> None:
            update(
                completed=state.done,
                total=state.total,
                description=f"{_time_left(state.seconds_left)} {state.label}",
            )

        how: Any = {"n_jobs": workers or jobs, "on_cluster": workers is not None, "report": show}
        run_experiments(chosen, budget, store, selection=selection, **how)


def _time_left(seconds: float | None) -> str:
    if seconds is None:
        return "starting"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s left,"


def _command(
    names: Sequence[str] | None, budget: "Profile", selection: "Selection", outside: Sequence[str]
) -> str:
    words = ["fairsmooth", "reproduce", *(names or [ALL]), "--profile", budget.name]
    words += [word for name in selection.methods for word in ("--methods", name)]
    words += [word for place in outside for word in ("--method", place)]
    words += [word for name in selection.only for word in ("--only", name)]
    return " ".join(words)


def _print(summary: dict[str, Any]) -> None:
    results.print(
        f"{summary['finished']} of {summary['jobs']} jobs finished, {summary['failed']} failed, "
        f"{summary['cpu_seconds'] / 60:.1f} minutes of one core.",
        markup=False,
    )
    for source, counts in summary["claims"].items():
        words = ", ".join(f"{number} {outcome}" for outcome, number in counts.items())
        results.print(f"Claims, {source}: {words}.", markup=False)
