"""``fairsmooth train``: a certified model from a table."""

from pathlib import Path
from typing import Annotated, Any

import typer

from fairsmooth.cli.limits import Confidence, MinRatio, ShiftOption, Wanted
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
    Unknown,
    parity_settings,
    parse_threshold,
    parse_widths,
)

NAME = "train"


def command(
    data: Data,
    label: Label,
    sensitive: Sensitive,
    output: Annotated[Path, typer.Option("-o", "--output", help="Model file to write.")],
    positive: Positive = None,
    drop: Drop = None,
    ids: Ids = None,
    include_sensitive: Annotated[
        bool, typer.Option("--include-sensitive", help="Use the sensitive columns as features.")
    ] = False,
    columns: Columns = "auto",
    hidden: Hidden = "",
    link: Annotated[str, typer.Option("--link", help="logistic or probit.")] = "logistic",
    sigma: Annotated[float, typer.Option("--sigma", help="Standard deviation of the noise.")] = 1.0,
    alpha: Annotated[float, typer.Option("--alpha", help="Weight of the tie.")] = 0.25,
    parity: Annotated[
        str | None,
        typer.Option("--parity", help="demographic_parity, equalized_odds or both (extension)."),
    ] = None,
    parity_weight: Annotated[
        float | None,
        typer.Option("--parity-weight", help="Weight of the parity term; 0.25 if left out."),
    ] = None,
    parity_limits: Annotated[
        str | None,
        typer.Option(
            "--parity-limits",
            help="Instead of a weight: limits on the gaps of decisions, DP and EO, as 0.05,0.08.",
        ),
    ] = None,
    group_weights: Annotated[
        str,
        typer.Option(
            "--group-weights",
            help="Groups weigh by share of the rows (extension), or equal (the paper).",
        ),
    ] = "share",
    threshold: Annotated[
        str,
        typer.Option(
            "--threshold",
            help="Decide positive above it: a number, accuracy, or rate:0.2 for a share of rows.",
        ),
    ] = "0.5",
    max_iter: Annotated[
        int | None, typer.Option("--max-iter", help="Most iterations or epochs.")
    ] = None,
    guarantee_dp: Annotated[
        float | None,
        typer.Option(
            "--guarantee-dp", help="Return only a model guaranteed to keep this parity gap."
        ),
    ] = None,
    guarantee_eo: Annotated[
        float | None,
        typer.Option("--guarantee-eo", help="The same for the equalized odds gap (sum)."),
    ] = None,
    min_ratio: MinRatio = None,
    confidence: Confidence = None,
    shift: ShiftOption = None,
    aim: Annotated[
        float | None,
        typer.Option(
            "--aim",
            help="How likely the safety rows must be to guarantee the choice; 0.9 if left out.",
        ),
    ] = None,
    report: Annotated[
        Path | None, typer.Option("--report", help="HTML page to write, about the held-out rows.")
    ] = None,
    unknown: Unknown = "error",
    test_size: TestSize = 0.3,
    seed: Seed = 0,
    sep: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    strict: Strict = False,
    apart: Annotated[
        bool,
        typer.Option(
            "--apart",
            help="With torchrun: every rank has rows of its own, which do not leave it.",
        ),
    ] = False,
    encoder: Annotated[
        Path | None,
        typer.Option(
            "--encoder", help="With torchrun: what columns become, from a model file or JSON."
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Go on with a training that was ended before its end."),
    ] = False,
    json_output: Json = False,
) -> None:
    """Train, certify and audit a classifier on a table, and write it to one file.

    With --guarantee-dp, --guarantee-eo or --min-ratio the held-out rows are safety rows: a model is
    written only if they guarantee the limits; otherwise the exit code is 3. Started by torchrun,
    every rank reads its share of the rows; with {rank} in the name, a file of its own.

    A folder of Parquet files, or a large one, stays in its files, and the training is kept beside
    the model until that is written: --resume goes on after the last step.
    """
    from fairsmooth.cli.launched import of_ranks
    from fairsmooth.cli.pages import require_report
    from fairsmooth.cli.targets import require_target

    wanted = Wanted.of(guarantee_dp, guarantee_eo, min_ratio, confidence, shift, aim)
    wanted.refuse_beside(parity, parity_weight, parity_limits)
    fairness = parity_settings(parity, parity_weight, parity_limits)
    widths = parse_widths(hidden)
    decided_above = parse_threshold(threshold, guaranteed=wanted.limits is not None)
    require_target(output, inputs=[data])
    require_report(report, inputs=[data], others=[output])
    shared = of_ranks(
        apart, encoder, wanted=wanted.limits, parity=fairness["parity"], columns=columns,
        threshold=decided_above, resume=resume, report=report,
    )  # fmt: skip
    # What is wrong with the options is said before torch is loaded.
    from fairsmooth.cli.reading import roles_of
    from fairsmooth.cli.training import train_and_write
    from fairsmooth.estimator import FairSmoothClassifier

    classifier = FairSmoothClassifier(
        widths, link=link, sigma=sigma, alpha=alpha, **fairness, group_weights=group_weights,
        threshold=decided_above, random_state=seed, max_iter=max_iter,
    )  # fmt: skip
    roles = roles_of(
        label, sensitive, positive, drop, ids, include_sensitive=include_sensitive, unknown=unknown
    )
    reading: dict[str, Any] = {"sep": sep, "decimal": decimal, "encoding": encoding}
    how: dict[str, Any] = {"columns": columns, "test_size": test_size, "seed": seed}
    how["strict"] = strict
    if shared is not None:
        shared(data, output, roles, classifier, reading=reading, json_output=json_output, **how)
        return
    train_and_write(
        data, output, roles, classifier, wanted=wanted, resume=resume, reading=reading,
        json_output=json_output, report=report, **how,
    )  # fmt: skip
