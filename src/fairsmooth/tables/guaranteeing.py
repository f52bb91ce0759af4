"""A guarantee of the gaps for rows that were decided, with what it is about."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from fairsmooth.core.labels import group_text
from fairsmooth.data.groups import encode_groups
from fairsmooth.exceptions import InputError
from fairsmooth.guarantees import GapGuarantee, Limits, guarantee_gaps
from fairsmooth.guarantees.claims import Shift
from fairsmooth.guarantees.enough_rows import rows_needed
from fairsmooth.guarantees.quantities import QUANTITIES
from fairsmooth.tables.decided import DecidedRows
from fairsmooth.tables.provenance import today

_SHOWN = 5


def guarantee_rows(
    rows: DecidedRows,
    limits: Limits,
    *,
    shift: Shift | None = None,
    attempt: int | None = None,
    facts: Mapping[str, Any] | None = None,
) -> GapGuarantee:
    """Test limits on safety rows, once; labels are used only where a limit needs them."""
    needed = needs_labels(limits)
    labels = rows.labels() if needed else None
    if needed and labels is None:
        raise InputError(
            "Expected a label column for a limit on error rates, got none. "
            "Selection rates and the impact ratio need no labels."
        )
    found = guarantee_gaps(
        rows.decisions,
        sensitive_features=rows.sensitive,
        y_true=labels,
        limits=limits,
        shift=shift,
        attempt=attempt,
    )
    return found.with_provenance(
        table=rows.digest,
        threshold=rows.threshold,
        sensitive=list(map(str, rows.sensitive.columns)),
        date=today(),
        **dict(facts or {}),
    )


def unguaranteed_groups(rows: DecidedRows, groups: Sequence[Hashable]) -> list[str]:
    """Note groups that a model was trained with and none of the rows has."""
    here = encode_groups(rows.sensitive, n_rows=len(rows.decisions)).labels
    present = {group_text(group) for group in here}
    absent = [text for text in map(group_text, groups) if text not in present]
    if not absent:
        return []
    shown = ", ".join(absent[:_SHOWN]) + (", …" if len(absent) > _SHOWN else "")
    return [
        f"{len(absent)} of the model's {len(groups)} groups have no row here ({shown}): nothing is "
        "guaranteed of their rates."
    ]


def needs_labels(limits: Limits) -> bool:
    """Tell whether a limit is on rates among a label."""
    return any(None not in QUANTITIES[name].labels for name in limits.to_dict())


def expected_cells(
    rows: DecidedRows,
) -> dict[int | None, tuple[list[float], list[float]]]:
    """Return, by label, the rates of all groups and the shares of the rows that they have."""
    groups = encode_groups(rows.sensitive, n_rows=len(rows.decisions))
    everybody = np.ones(len(rows.decisions), dtype=bool)
    keep: dict[int | None, Any] = {None: everybody}
    if rows.y is not None and not np.isnan(rows.y).any():
        keep |= {1: rows.y == 1, 0: rows.y == 0}
    found = {}
    for label, mask in keep.items():
        codes = groups.codes[mask]
        n = np.bincount(codes, minlength=len(groups.labels))
        hits = np.bincount(codes, weights=rows.decisions[mask], minlength=len(groups.labels))
        rates = np.where(n > 0, hits / np.maximum(n, 1), 0.5)
        found[label] = (rates.tolist(), (n / len(rows.decisions)).tolist())
    return found


def rows_enough(
    rows: DecidedRows, limits: Limits, *, shift: Shift | None = None, power: float = 0.8
) -> dict[str, int | None]:
    """Return, by limit, how many rows would suffice at the measured rates and shares."""
    cells = expected_cells(rows)
    return {
        name: rows_needed(
            name,
            limit,
            rates={label: cells[label][0] for label in QUANTITIES[name].labels},
            shares={label: cells[label][1] for label in QUANTITIES[name].labels},
            confidence=limits.confidence,
            shift=shift,
            power=power,
        )
        for name, limit in limits.to_dict().items()
        if all(label in cells for label in QUANTITIES[name].labels)
    }
