"""Held-out rows that several ranks hold, audited: from the rows, or from counts alone."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairsmooth._types import Labels
from fairsmooth.core.ranks import Ranks
from fairsmooth.core.rows import CodedRows
from fairsmooth.data.groups import Groups
from fairsmooth.estimator import FairSmoothClassifier
from fairsmooth.metrics import Audit, audit
from fairsmooth.tables.auditing import AuditedRows


@dataclass(frozen=True)
class HeldOut:
    """Own rows that training has not seen, encoded, and how many could not be."""

    X: CodedRows
    y: Labels
    groups: Groups
    n_lost: int


def audit_gathered(
    classifier: FairSmoothClassifier, own: HeldOut, sensitive: Sequence[str], ranks: Ranks
) -> Audit | None:
    """Gather the encoded rows on rank 0 and audit them as one process does; None elsewhere."""
    parts = [
        _gathered(array, ranks) for array in (own.X.codes, own.X.numbers, own.y, own.groups.codes)
    ]
    if ranks.rank:
        return None
    codes, numbers, y, groups = parts
    X = replace(own.X, codes=codes, numbers=numbers)
    frame = _frame(own.groups.labels, groups, sensitive)
    return AuditedRows(X, y, frame).audit(classifier)


def audit_counts(
    classifier: FairSmoothClassifier, own: HeldOut, sensitive: Sequence[str], ranks: Ranks
) -> Audit:
    """Audit decisions from how many rows of each group and label were decided how.

    Everything about decisions and labels is a function of these counts, so the audit is
    that of all rows; what needs scores (calibration, measured gaps to a group's own score, the
    cost of the tie) is left out, for scores of rows do not leave their rank.
    """
    n_groups = len(own.groups.labels)
    decided = np.zeros(0, dtype=np.int64)
    if len(own.y):
        decided = classifier.predict(own.X).astype(np.int64)
    cells = (own.groups.codes * 2 + own.y) * 2 + decided
    counts = ranks.sum(np.bincount(cells, minlength=4 * n_groups)).astype(np.int64)
    group, y, decision = np.unravel_index(np.arange(4 * n_groups), (n_groups, 2, 2))
    found = audit(
        y_true=np.repeat(y, counts),
        y_pred=np.repeat(decision, counts),
        sensitive_features=_frame(own.groups.labels, np.repeat(group, counts), sensitive),
    )
    return replace(found, certificate=classifier.certificate_, threshold=classifier.threshold_)


def _frame(labels: Sequence[Hashable], codes: NDArray[Any], names: Sequence[str]) -> pd.DataFrame:
    """Return the groups of rows, one column per sensitive column."""
    parts = [label if isinstance(label, tuple) else (label,) for label in labels]
    table = pd.DataFrame(parts, columns=list(names), dtype=object)
    return table.iloc[codes].reset_index(drop=True)


def _gathered(own: NDArray[Any], ranks: Ranks) -> NDArray[Any]:
    parts = ranks.to_first(np.ascontiguousarray(own).tobytes())
    flat = np.frombuffer(b"".join(parts), dtype=own.dtype)
    width = own.shape[1:]
    return flat.reshape(-1, *width) if 0 not in width else np.empty((_rows(ranks, own), *width))


def _rows(ranks: Ranks, own: NDArray[Any]) -> int:
    return int(ranks.sum([len(own)])[0])
