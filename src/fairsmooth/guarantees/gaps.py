"""From decisions to a guarantee about the gaps between groups."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairsmooth import _validate
from fairsmooth._types import Floats
from fairsmooth.core.contrasts import DIVERGENCES
from fairsmooth.data.given_groups import given_groups
from fairsmooth.data.groups import Groups, encode_groups
from fairsmooth.exceptions import GroupError, InputError
from fairsmooth.guarantees.cells import Cells, DecisionCells, ScoreCells
from fairsmooth.guarantees.claims import Claim, Shift, make_claim, withheld
from fairsmooth.guarantees.group_labels import written
from fairsmooth.guarantees.guarantee import CellCount, GapGuarantee, error_of
from fairsmooth.guarantees.limits import Limits, chosen_confidence, is_number, limit_table
from fairsmooth.guarantees.quantities import EVERYBODY, NEGATIVE, POSITIVE, QUANTITIES


def guarantee_gaps(
    y_pred: Any,
    *,
    sensitive_features: Any,
    y_true: Any = None,
    limits: Limits | Mapping[str, Any],
    confidence: float | None = None,
    shift: Shift | None = None,
    attempt: int | None = None,
    scores: bool = False,
    control_features: Any = None,
    **refused: Any,
) -> GapGuarantee:
    r"""Guarantee the gaps between groups of a decision rule, for finite samples and exactly.

    With probability at least ``confidence`` over the safety rows, the result holds only if
    every limit is kept in the population that the rows were drawn from. This asks that the rule,
    threshold and all, was fixed before the rows were looked at; that rows are independent, one
    per person; and that they were picked by nothing but group (with a label: group and label).

    Parameters
    ----------
    y_pred : array-like of shape (n,)
        Decisions, 0 or 1; of a randomised rule, the one recorded draw per row. Scores in
        [0, 1] only with ``scores=True``.
    sensitive_features : array-like of shape (n,) or (n, c)
        The group of every row; several columns make intersectional groups, unless
        ``limits`` names columns.
    y_true : array-like of shape (n,), optional
        True labels, 0 or 1; needed for all but selection rates.
    limits : mapping or Limits
        Limits by quantity: ``demographic_parity``, ``equal_opportunity``,
        ``predictive_equality``, ``equalized_odds_max``, ``equalized_odds_sum`` (at most) and
        ``impact_ratio`` (at least). Or such mappings by sensitive column, for separate limits
        without intersections.
    confidence : float, optional
        0.95 unless ``limits`` says otherwise.
    shift : (str, float), optional
        ``("total_variation" | "hellinger" | "chi_square" | "density_ratio", radius)``: the
        bounds then hold in every population in which each cell's people are that close to the
        sampled ones.
    attempt : int, optional
        Try number in a declared series on the same safety rows; the result shows only
        whether it passed.
    scores : bool
        Whether ``y_pred`` holds scores, the decision being drawn with the score as its probability.
    control_features : array-like, optional
        Strata: one guarantee each, in ``strata``; the whole holds if all of them do.

    Returns
    -------
    GapGuarantee

    Examples
    --------
    >>> decisions, groups = [1, 0, 0, 0] * 500, ["a", "b"] * 1000
    >>> limits = {"demographic_parity": 0.6}
    >>> found = guarantee_gaps(decisions, sensitive_features=groups, limits=limits)
    >>> found.holds, round(found.measured["demographic_parity"], 3)
    (True, 0.5)
    """
    _refuse(refused)
    table = limit_table(limits)
    level = chosen_confidence(limits, confidence)
    moved = checked_shift(shift)
    attempt = _checked_attempt(attempt)
    values = decisions_of(y_pred, scores=scores)
    truth = None if y_true is None else labels_of(y_true, n_rows=len(values))
    error = error_of(level, attempt)
    claims: list[Claim] = []
    counts: list[CellCount] = []
    for part in _parts(values, truth, sensitive_features, control_features, table):
        part.require_labels()
        counts += part.counts(scores=scores)
        cells = part.cells(scores=scores)
        for name, limit in part.limits.items():
            claim = make_claim(name, cells, limit, error=error, shift=moved)
            claims.append(replace(claim, column=part.column, stratum=part.stratum))
    return GapGuarantee(
        confidence=level,
        claims=tuple(map(withheld, claims)) if attempt else tuple(claims),
        counts=None if attempt else tuple(counts),
        shift=moved,
        attempt=attempt,
        scores=bool(scores),
        passed=all(claim.holds for claim in claims),
    )


@dataclass(frozen=True)
class _Part:
    """The rows of one stratum under one grouping."""

    column: str | None
    stratum: object
    limits: Mapping[str, float]
    groups: tuple[Any, ...]
    codes: NDArray[np.intp]
    values: Floats
    truth: NDArray[np.intp] | None

    def require_labels(self) -> None:
        needing = [name for name in self.limits if QUANTITIES[name].labels != (EVERYBODY,)]
        if needing and self.truth is None:
            raise InputError(f"Expected y_true, which {needing} need, got None.")

    @property
    def labels(self) -> tuple[int | None, ...]:
        return (EVERYBODY,) if self.truth is None else (EVERYBODY, POSITIVE, NEGATIVE)

    def samples(self, label: int | None) -> list[Floats]:
        keep = slice(None) if label is None or self.truth is None else self.truth == label
        codes, values = self.codes[keep], self.values[keep]
        order = np.argsort(codes, kind="stable")
        sizes = np.bincount(codes, minlength=len(self.groups))
        return np.split(values[order], np.cumsum(sizes)[:-1])

    def tally(self, label: int | None) -> list[tuple[int, int]]:
        keep = slice(None) if label is None or self.truth is None else self.truth == label
        codes = self.codes[keep]
        rows = np.bincount(codes, minlength=len(self.groups))
        hits = np.bincount(codes, weights=self.values[keep], minlength=len(self.groups))
        return [(round(float(x)), int(n)) for x, n in zip(hits, rows, strict=True)]

    def cells(self, *, scores: bool) -> dict[int | None, Cells]:
        if scores:
            return {label: ScoreCells(tuple(self.samples(label))) for label in self.labels}
        return {label: DecisionCells(tuple(self.tally(label))) for label in self.labels}

    def counts(self, *, scores: bool) -> Iterator[CellCount]:
        for label in self.labels:
            found = self._of_scores(label) if scores else self._of_decisions(label)
            yield from (replace(c, column=self.column, stratum=self.stratum) for c in found)

    def _of_decisions(self, label: int | None) -> Iterator[CellCount]:
        for group, (positive, rows) in zip(self.groups, self.tally(label), strict=True):
            yield CellCount(group, label, rows=rows, positive=positive)

    def _of_scores(self, label: int | None) -> Iterator[CellCount]:
        for group, sample in zip(self.groups, self.samples(label), strict=True):
            mean = float(sample.mean()) if len(sample) else None
            variance = float(sample.var(ddof=1)) if len(sample) > 1 else None
            yield CellCount(
                group, label, rows=len(sample), positive=0, mean=mean, variance=variance
            )


def _parts(
    values: Floats,
    truth: NDArray[np.intp] | None,
    sensitive_features: Any,
    control_features: Any,
    table: Mapping[str | None, Mapping[str, float]],
) -> Iterator[_Part]:
    n_rows = len(values)
    strata = None
    if control_features is not None:
        strata = written(encode_groups(given_groups(control_features), n_rows=n_rows))
    for column, limits in table.items():
        groups = _groups(sensitive_features, column, n_rows=n_rows)
        for stratum, keep in _strata(strata):
            yield _Part(
                column=column,
                stratum=stratum,
                limits=limits,
                # Every group in every stratum: one without rows there must not vanish.
                groups=groups.labels,
                codes=groups.codes[keep],
                values=values[keep],
                truth=None if truth is None else truth[keep],
            )


def _strata(strata: Groups | None) -> Iterator[tuple[object, Any]]:
    if strata is None:
        yield None, slice(None)
        return
    for position, label in enumerate(strata.labels):
        yield label, strata.codes == position


def _groups(sensitive_features: Any, column: str | None, *, n_rows: int) -> Groups:
    if column is not None:
        if not isinstance(sensitive_features, pd.DataFrame):
            raise InputError(
                f"Expected sensitive_features as a DataFrame with a column {column!r}, "
                f"got {type(sensitive_features).__name__}."
            )
        names = [str(name) for name in sensitive_features.columns]
        _validate.known_column(column, names, where="sensitive_features")
        sensitive_features = sensitive_features.iloc[:, names.index(column)]
    groups = written(encode_groups(given_groups(sensitive_features), n_rows=n_rows))
    if len(groups.labels) < 2:
        raise GroupError(
            f"Expected at least 2 groups in sensitive_features, got {len(groups.labels)}. "
            "With one group there is no gap to bound."
        )
    return groups


def decisions_of(y_pred: Any, *, scores: bool = False) -> Floats:
    """Return decisions (0 or 1) or scores as floats; anything else is refused."""
    values = _column(y_pred, name="y_pred")
    if scores:
        if not ((values >= 0.0) & (values <= 1.0)).all():
            raise InputError("Expected scores between 0 and 1 in y_pred, got others.")
        return values
    if not ((values == 0.0) | (values == 1.0)).all():
        raise InputError(
            "Expected decisions 0 or 1 in y_pred, got other values. Pass the decisions themselves, "
            "or scores=True if the decision is drawn with the score as its probability."
        )
    return values


def labels_of(y_true: Any, *, n_rows: int) -> NDArray[np.intp]:
    """Return true labels, each 0 or 1."""
    truth = _column(y_true, name="y_true")
    if len(truth) != n_rows:
        raise InputError(
            f"Expected y_true to have one entry per decision ({n_rows}), got {len(truth)}."
        )
    if not ((truth == 0.0) | (truth == 1.0)).all():
        raise InputError("Expected labels 0 or 1 in y_true, got other values or missing ones.")
    return truth.astype(np.intp)


def _column(values: Any, *, name: str) -> Floats:
    try:
        column = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"Expected numbers 0 or 1 in {name}, got other values.") from None
    if column.ndim == 2 and column.shape[1] == 1:
        column = column[:, 0]
    if column.ndim != 1 or len(column) == 0:
        raise InputError(f"Expected one column of rows in {name}, got shape {column.shape}.")
    return column


def _refuse(refused: Mapping[str, Any]) -> None:
    for name in refused:
        if "weight" in name:
            raise InputError(
                f"Expected unweighted rows, got {name}. The bounds count independent people; "
                "weighted rows are not binomial, and no exact bound is known for them."
            )
        raise TypeError(f"guarantee_gaps() got an unexpected keyword argument {name!r}")


def checked_shift(shift: Shift | None) -> Shift | None:
    """Return a shift whose divergence is known and whose radius it can have."""
    if shift is None:
        return None
    if not (isinstance(shift, tuple | list) and len(shift) == 2):
        raise InputError(f"Expected shift as (divergence, radius), got {shift!r}.")
    name, radius = shift
    _validate.one_of(DIVERGENCES, shift=name)
    if not is_number(radius):
        raise InputError(f"Expected a number as the radius of the shift, got {radius!r}.")
    _validate.in_range(0.0, DIVERGENCES[name].largest, radius=radius)
    return str(name), float(radius)


def _checked_attempt(attempt: int | None) -> int | None:
    if attempt is None:
        return None
    if isinstance(attempt, bool) or not isinstance(attempt, Integral) or attempt < 1:
        raise InputError(f"Expected attempt as a whole number from 1, got attempt={attempt!r}.")
    return int(attempt)
