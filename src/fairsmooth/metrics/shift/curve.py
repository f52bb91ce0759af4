"""One point of a curve of an audit under shift."""

from collections.abc import Hashable
from dataclasses import dataclass, fields
from typing import Any

from fairsmooth.metrics.record import plain


@dataclass(frozen=True)
class CurvePoint:
    r"""A rate or gap under one shift, beside what is certified there.

    Attributes
    ----------
    curve : str
        Which shift: ``partition``, ``group_mix:<group>``, ``tilt:<column>``,
        ``label_shift``, ``chi_square_largest``, ``chi_square_smallest``,
        ``hellinger_largest`` or ``hellinger_smallest``.
    strength : float
        How strong the shift is: a share, a tilt or a radius.
    metric : str
        A rate or gap of the decisions, or, with ``expected_`` before it, of
        scores taken as probabilities of a positive decision.
    group : label or None
        The group; None for all rows or between groups.
    value : float
        The rate or gap of the overall classifier under the shift; the mean over
        draws where the shift is drawn.
    low, high : float or None
        What the certificate guarantees: the value lies between them. Made of
        the rates of the groups' own classifiers under the same shift, and of
        the bounds. None without a certificate.
    reference : float or None
        The same for the reference classifier.
    spread_low, spread_high : float or None
        Least and largest value over draws, where the shift is drawn.
    effective_count : float or None
        Effective number of rows of the group, :math:`(\sum w)^2/\sum w^2`.
    """

    curve: str
    strength: float
    metric: str
    group: Hashable | None
    value: float
    low: float | None = None
    high: float | None = None
    reference: float | None = None
    spread_low: float | None = None
    spread_high: float | None = None
    effective_count: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that JSON can hold; NaN becomes ``None``."""
        return {field.name: plain(getattr(self, field.name)) for field in fields(self)}
