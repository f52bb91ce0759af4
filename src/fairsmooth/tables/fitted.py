"""Model, audit and provenance put together, wherever the rows of the table are."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from fairsmooth._types import Labels
from fairsmooth.data.roles import Roles
from fairsmooth.metrics import Audit
from fairsmooth.tables.auditing import AuditedRows
from fairsmooth.tables.comparison import comparison_notes
from fairsmooth.tables.model import TableModel
from fairsmooth.tables.overlap import id_digests
from fairsmooth.tables.provenance import Provenance, library_versions, plain_value, today
from fairsmooth.training.parity_gaps import ParityGaps


@dataclass(frozen=True)
class Fitted:
    """A model of a table with its audit on rows it has not seen.

    Attributes
    ----------
    model : TableModel
    audit : Audit
        On the held-out rows.
    test : DataFrame or None
        Those rows, as they were read; None if they stayed in their files.
    seconds : float
        Of training and auditing.
    """

    model: TableModel
    audit: Audit
    test: pd.DataFrame | None
    seconds: float

    @property
    def parity_gaps(self) -> ParityGaps | None:
        """What the parity term's surrogate shows beside what decisions do, on training rows."""
        return getattr(self.model.classifier, "parity_gaps_", None)

    def summary(self) -> dict[str, Any]:
        """Return the figures that ``--json`` prints."""
        return {
            **self.audit.summary(),
            "seconds": self.seconds,
            "provenance": self.model.describe(),
            **({} if self.parity_gaps is None else {"parity_gaps": self.parity_gaps.to_dict()}),
            **(
                {}
                if self.model.guarantee is None
                else {"guarantee": self.model.guarantee.to_dict()}
            ),
        }

    @classmethod
    def of(
        cls,
        model: TableModel,
        audited: AuditedRows,
        *,
        test: pd.DataFrame | None,
        began: float,
        shift: bool = False,
        beside: tuple[Any, Labels, str] | None = None,
    ) -> "Fitted":
        """Audit a model on the rows kept for that, and note what was noticed.

        With training rows ``beside`` it, a note tells where a plain logistic regression has
        smaller gaps.
        """
        audit = audited.audit(model.classifier, shift=shift)
        assert audited.y is not None  # rows that were split off have labels
        notes = []
        if beside is not None:
            rows = (audited.X, audited.y, audited.sensitive)
            notes = comparison_notes(model.classifier, audit, beside, rows)
        left_out = (f"Of the rows held out, {note}" for note in audited.notes)
        known = model.provenance
        assert known is not None
        known = replace(known, notes=(*known.notes, *left_out, *notes))
        model = replace(model, provenance=known, measured=audit)
        return cls(model, audit, test, time.perf_counter() - began)


def provenance_of(
    roles: Roles,
    values: tuple[str, str],
    *,
    rows: int,
    held_out: int,
    seed: int,
    test_size: float,
    digest: str | None = None,
    notes: Sequence[str] = (),
    ids: pd.DataFrame = pd.DataFrame(),  # noqa: B008 - never changed
) -> Provenance:
    """Return where a model of a table comes from; ``ids`` are those of the training rows.

    Where nobody has the whole table there is no digest of it, nor of its ids.
    """
    return Provenance(
        label=roles.label,
        negative=plain_value(values[0]),
        positive=plain_value(values[1]),
        sensitive=roles.sensitive,
        ids=tuple(dict.fromkeys(roles.ids)),
        drop=tuple(dict.fromkeys(roles.drop)),
        include_sensitive=roles.include_sensitive,
        bands={banding.name: list(banding.edges) for banding in roles.bandings},
        rows=rows,
        held_out=held_out,
        seed=seed,
        test_size=test_size,
        digest=digest,
        versions=library_versions(),
        date=today(),
        notes=tuple(notes),
        id_digests=id_digests(ids, digest=digest) if roles.ids and digest is not None else {},
    )
