"""``fairsmooth tune``: choose sigma, alpha and the rest for what a user will accept."""

from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from fairsmooth import _atomic
from fairsmooth.cli.output import messages, print_json, print_summary, progress, results
from fairsmooth.cli.pipeline import Tuning, tune_on_table
from fairsmooth.cli.train import (
    Data,
    Drop,
    Json,
    Label,
    Positive,
    Seed,
    Sensitive,
    TestSize,
    parse_widths,
)
from fairsmooth.data.files import read_table, write_chunks
from fairsmooth.data.roles import Roles
from fairsmooth.persistence import save
from fairsmooth.reporting.figures import pareto
from fairsmooth.tuning import Limits, SearchSpace

NAME = "tune"


def command(
    data: Data,
    label: Label,
    sensitive: Sensitive,
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder to write.")],
    positive: Positive = None,
    drop: Drop = None,
    hidden: Annotated[str, typer.Option("--hidden", help="Widths of hidden layers.")] = "",
    max_dp: Annotated[
        float | None, typer.Option("--max-dp", help="Largest demographic parity gap.")
    ] = None,
    max_eo: Annotated[
        float | None, typer.Option("--max-eo", help="Largest equalized odds gap (sum).")
    ] = None,
    max_epsilon: Annotated[
        float | None, typer.Option("--max-epsilon", help="Largest certified bound.")
    ] = None,
    trials: Annotated[int, typer.Option("--trials", help="Number of trials.")] = 50,
    jobs: Annotated[int, typer.Option("--jobs", help="Processes.")] = 1,
    test_size: TestSize = 0.3,
    seed: Seed = 0,
    json_output: Json = False,
) -> None:
    """Search for parameters; write the trials, the Pareto plot and the chosen model.

    Trials are judged on rows held out from the training part. The test part is used
    once, for the audit of the chosen model. Run it again with the same folder to go on.
    """
    folder = _atomic.ensure_folder(output)
    roles = Roles(label, tuple(sensitive), positive, tuple(drop or ()))
    limits = Limits(max_dp, max_eo, max_epsilon)
    with progress("trials", total=trials) as update:
        tuning = tune_on_table(
            read_table(data),
            roles,
            limits=limits,
            space=SearchSpace(hidden_layer_sizes=(parse_widths(hidden),)),
            n_trials=trials,
            n_jobs=jobs,
            storage=folder / "trials.journal",
            test_size=test_size,
            seed=seed,
            callback=lambda finished: update(completed=finished),
        )
    _write(folder, tuning, limits)
    if json_output:
        print_json({**tuning.outcome.summary(), **tuning.plain()})
        return
    _print(tuning)
    messages.print(f"Wrote model, trials and plot to {folder}.", markup=False)


def _write(folder: Path, tuning: Tuning, limits: Limits) -> None:
    model = tuning.outcome.model
    save(
        model.classifier,
        folder / "model.safetensors",
        encoder=model.encoder,
        training=model.training,
    )
    trials = _flat(tuning.tuned.trials)
    write_chunks(folder / "trials.csv", iter([trials]))
    write_chunks(folder / "pareto.csv", iter([trials[trials["pareto"]]]))
    with _atomic.replacing(folder / "pareto.png") as temporary:
        pareto(tuning.tuned.trials, max_dp=limits.max_dp, max_eo=limits.max_eo).savefig(
            temporary, format="png", dpi=150
        )


def _flat(trials: pd.DataFrame) -> pd.DataFrame:
    parameters = pd.DataFrame(list(trials["parameters"]))
    return pd.concat([trials.drop(columns="parameters"), parameters], axis=1)


def _print(tuning: Tuning) -> None:
    tuned = tuning.tuned
    verdict = "keeps every limit" if tuned.feasible else "exceeds the limits least; none keeps all"
    results.print(f"[bold]Chosen: the trial that {verdict}, on held-out rows of the training part.")
    for name, value in tuned.parameters.items():
        shown = f"{value:.4g}" if isinstance(value, float) else value
        results.print(f"  {name} = {shown}", markup=False)
    measured = ", ".join(f"{name} {value:.4f}" for name, value in tuned.measured.items())
    results.print(f"Held out there: {measured}.", markup=False)
    print_summary(tuning.outcome.summary())
