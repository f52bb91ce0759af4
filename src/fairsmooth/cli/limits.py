"""Options that set limits on gaps, and the rows that they are tested on."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairsmooth.exceptions import InputError

if TYPE_CHECKING:
    from fairsmooth.guarantees import Limits
    from fairsmooth.guarantees.claims import Shift
    from fairsmooth.tables import TableModel
    from fairsmooth.tables.decided import DecidedRows

MaxDp = Annotated[
    float | None,
    typer.Option("--max-dp", help="Largest difference of selection rates between two groups."),
]
MaxEo = Annotated[
    float | None,
    typer.Option(
        "--max-eo", help="Largest sum of the differences of true and of false positive rates."
    ),
]
MinRatio = Annotated[
    float | None,
    typer.Option("--min-ratio", help="Least ratio of two groups' selection rates, such as 0.8."),
]
# No default where it is declared: one that is given, and has no effect, is refused.
Confidence = Annotated[
    float | None,
    typer.Option("--confidence", help="How sure the guarantee must be; 0.95 if left out."),
]
_CONFIDENCE, _AIM = 0.95, 0.9
ShiftOption = Annotated[
    str | None,
    typer.Option(
        "--shift",
        help="Hold after a shift, such as total_variation:0.01; also hellinger, chi_square, "
        "density_ratio.",
    ),
]
Scores = Annotated[
    str | None,
    typer.Option("--scores", help="Column with the scores or decisions of any system."),
]
ScoresLabel = Annotated[str | None, typer.Option("--label", help="With --scores: label column.")]
ScoresSensitive = Annotated[
    list[str] | None,
    typer.Option("--sensitive", help="With --scores: sensitive column; repeatable."),
]
Threshold = Annotated[
    float | None, typer.Option("--threshold", help="A score above it is a positive decision.")
]


def limits_of(
    max_dp: float | None,
    max_eo: float | None,
    min_ratio: float | None,
    confidence: float | None,
    *,
    flags: str = "--max-dp, --max-eo or --min-ratio",
) -> "Limits":
    """Return the limits that the options name; at least one is needed."""
    from fairsmooth.guarantees import Limits

    if max_dp is None and max_eo is None and min_ratio is None:
        raise InputError(f"Expected a limit, got none. Give {flags}.")
    return Limits(
        demographic_parity=max_dp,
        equalized_odds_sum=max_eo,
        impact_ratio=min_ratio,
        confidence=_CONFIDENCE if confidence is None else confidence,
    )


@dataclass(frozen=True)
class Wanted:
    """What training is asked to guarantee; ``limits`` is None for nothing."""

    limits: "Limits | None" = None
    shift: "Shift | None" = None
    aim: float = _AIM

    @classmethod
    def of(
        cls,
        gap: float | None,
        odds: float | None,
        ratio: float | None,
        confidence: float | None,
        shift: str | None,
        aim: float | None,
    ) -> "Wanted":
        """Return what the options of ``train`` ask for."""
        if (gap, odds, ratio) == (None, None, None):
            given = {"--shift": shift, "--confidence": confidence, "--aim": aim}
            for name, value in given.items():
                if value is not None:
                    raise InputError(
                        f"Expected {name} with a limit to guarantee, got it alone. Give "
                        "--guarantee-dp, --guarantee-eo or --min-ratio."
                    )
            return cls()
        limits = limits_of(gap, odds, ratio, confidence)
        return cls(limits, parse_shift(shift), _AIM if aim is None else aim)

    def refuse_beside(self, *parity: object) -> None:
        """Refuse a parity term, weight or limits that the search would choose itself."""
        if self.limits is not None and any(given is not None for given in parity):
            raise InputError(
                "Expected the search to choose the parity term, got --parity beside a guarantee. "
                "Leave out --parity, --parity-weight and --parity-limits."
            )


def parse_shift(text: str | None) -> "Shift | None":
    """Read a shift such as ``total_variation:0.01``."""
    if text is None:
        return None
    from fairsmooth.guarantees.gaps import checked_shift

    name, _, radius = text.partition(":")
    try:
        size = float(radius)
    except ValueError:
        raise InputError(
            f"Expected --shift as a divergence and a radius, such as total_variation:0.01, "
            f"got {text!r}."
        ) from None
    return checked_shift((name, size))


def decided_rows(
    model: "TableModel | None",
    table: Any,
    *,
    scores: str | None,
    label: str | None,
    positive: str | None,
    sensitive: list[str] | None,
    threshold: float | None,
    unknown: str | None = None,
) -> "DecidedRows":
    """Return the decisions of a model, or those that a column of the table holds."""
    from fairsmooth.tables.decided import decided_by_column, decided_by_model

    if model is not None:
        return decided_by_model(model, table, unknown=unknown)
    assert scores is not None
    if not sensitive:
        raise InputError("Expected --sensitive with --scores, got none.")
    return decided_by_column(
        table,
        column=scores,
        sensitive=tuple(sensitive),
        label=label,
        positive=positive,
        threshold=threshold,
    )


def refuse_options_of_a_model(
    label: str | None, positive: str | None, sensitive: list[str] | None, threshold: float | None
) -> None:
    """Refuse what a model already says: its label, groups and threshold."""
    if label or positive or sensitive or threshold is not None:
        raise InputError(
            "Expected label, groups and threshold from the model, got options for them too. "
            "Leave out --label, --positive, --sensitive and --threshold."
        )


def model_and_data(
    first: Path, second: Path | None, scores: str | None
) -> tuple[Path | None, Path]:
    """Tell MODEL DATA from DATA --scores COL."""
    if scores is not None:
        if second is not None:
            raise InputError(
                "Expected either a model or --scores, got both. With --scores give the table only."
            )
        return None, first
    if second is None:
        raise InputError(
            f"Expected a model and a table, got {first} only. "
            "Give both, or the table and --scores COLUMN."
        )
    return first, second
