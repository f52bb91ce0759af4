"""An audit of rows that were scored part by part: the same as of all rows at once.

Of every row an audit needs a few numbers, and of all rows beside each group's own classifier
three sums per group. So parts may be scored anywhere, in any order, and put together here.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairsmooth._types import Floats, Labels
from fairsmooth.data.groups import Groups
from fairsmooth.exceptions import InputError
from fairsmooth.metrics.auditing.audit import audit_of
from fairsmooth.metrics.auditing.result import Audit
from fairsmooth.metrics.own import Bools, Distances, free_scores
from fairsmooth.metrics.scored import ScoredRows, score_rows


@dataclass(frozen=True, eq=False)
class ScoredPart:
    """Rows scored by a certified classifier.

    Attributes
    ----------
    y : ndarray of int or None
        Labels, 1 for the positive one.
    groups : ndarray of int
        The group of every row, as the classifier numbers them.
    scores, own_scores, free_scores : ndarrays
        Overall, by the own classifier of the row's group, and by that without the tie.
    agreed : ndarray of bool
    distances : tuple of Distances
        Of the overall score from each group's own, over all rows.
    """

    y: Labels | None
    groups: Labels
    scores: Floats
    own_scores: Floats
    agreed: Bools
    distances: tuple[Distances, ...]
    free_scores: Floats | None = None

    @classmethod
    def of(cls, clf: Any, X: Any, y: Any, *, sensitive_features: Any) -> "ScoredPart":
        """Score rows once."""
        scored = score_rows(clf, X, y, sensitive_features=sensitive_features)
        if scored.own_scores is None or scored.agreed is None or scored.distances is None:
            raise InputError("Expected a classifier with a certificate, got one without.")
        free = None
        if clf.free_group_parameters_ is not None:
            free = free_scores(clf, X, scored.groups)
        own = scored.own_scores, scored.agreed, scored.distances
        return cls(scored.y, scored.groups.codes, scored.probabilities, *own, free)


def audit_parts(clf: Any, parts: Sequence[ScoredPart], *, confidence: float = 0.95) -> Audit:
    """Audit the rows of all parts, which one classifier has scored.

    Raises
    ------
    InputError
        If there are no rows, or if some parts have labels and others have none.
    """
    parts = [part for part in parts if len(part.scores)]
    if not parts:
        raise InputError("Expected at least one row to audit, got none in any part.")
    labelled = {part.y is not None for part in parts}
    if len(labelled) != 1:
        raise InputError("Expected labels in all parts or in none, got some parts with labels.")
    groups = Groups(tuple(clf.groups_), np.concatenate([part.groups for part in parts]))
    scores = np.concatenate([part.scores for part in parts])
    scored = ScoredRows(
        None if not labelled.pop() else np.concatenate([part.y for part in parts]),
        groups,
        scores,
        np.asarray(scores > clf.threshold_),
        np.concatenate([part.own_scores for part in parts]),
        np.concatenate([part.agreed for part in parts]),
        tuple(_added(each) for each in zip(*(part.distances for part in parts), strict=True)),
        float(clf.threshold_),
        clf.certificate_,
    )
    known = [part.free_scores for part in parts if part.free_scores is not None]
    free = _Free(clf, len(known) == len(parts))
    return audit_of(free, np.concatenate(known) if known else None, scored, confidence=confidence)


def _added(distances: Sequence[Distances]) -> Distances:
    return Distances(
        sum(each.n_rows for each in distances),
        sum(each.total for each in distances),
        sum(each.squares for each in distances),
        max(each.largest for each in distances),
    )


class _Free:
    """A classifier whose scores without the tie are known: the rows are these scores."""

    def __init__(self, clf: Any, known: bool) -> None:
        self.free_group_parameters_ = clf.free_group_parameters_ if known else None
        self.alpha, self.parity_solver = clf.alpha, clf.parity_solver
        self.calibration_ = getattr(clf, "calibration_", None)

    def predict_proba_free(self, X: Floats, group: Hashable) -> Floats:
        """Return the known scores."""
        del group  # each row's own
        return np.column_stack([1.0 - X, X])
