"""The limits that a guarantee is asked to keep."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any

from fairsmooth import _validate
from fairsmooth.exceptions import InputError
from fairsmooth.guarantees.quantities import QUANTITIES

# Sensitive column (None: all columns together, as intersections) to quantity to limit.
Table = dict[str | None, dict[str, float]]


@dataclass(frozen=True)
class Limits:
    """What the gaps between groups may be at most, and the impact ratio at least.

    Attributes
    ----------
    demographic_parity, equal_opportunity, predictive_equality : float, optional
        Largest difference of selection, true positive and false positive rates.
    equalized_odds_max, equalized_odds_sum : float, optional
        The larger, or the sum, of the last two (the sum is the paper's).
    impact_ratio : float, optional
        Least selection rate divided by the largest; 0.8 is the four-fifths rule.
    confidence : float
        Used where nothing else says how sure the guarantee must be.

    Examples
    --------
    >>> Limits(demographic_parity=0.05, impact_ratio=0.8).to_dict()
    {'demographic_parity': 0.05, 'impact_ratio': 0.8}
    """

    demographic_parity: float | None = None
    equal_opportunity: float | None = None
    predictive_equality: float | None = None
    equalized_odds_max: float | None = None
    equalized_odds_sum: float | None = None
    impact_ratio: float | None = None
    confidence: float = 0.95

    def __post_init__(self) -> None:
        check_confidence(self.confidence)
        check_limits(self._given)

    @property
    def _given(self) -> dict[str, Any]:
        named = {f.name: getattr(self, f.name) for f in fields(self) if f.name in QUANTITIES}
        return {name: value for name, value in named.items() if value is not None}

    def to_dict(self) -> dict[str, float]:
        """Return the limits that are set, by name."""
        return {name: float(value) for name, value in self._given.items()}


def check_confidence(confidence: float) -> None:
    """Require a confidence that says something."""
    if not (is_number(confidence) and 0.5 <= confidence < 1.0):
        raise InputError(
            f"Expected confidence of at least 0.5 and below 1, got confidence={confidence!r}."
        )


def is_number(value: Any) -> bool:
    """Tell whether a value is a real number: Python's or numpy's, no truth value."""
    return isinstance(value, Real) and not isinstance(value, bool)


def check_limits(limits: Mapping[str, Any]) -> dict[str, float]:
    """Return the limits as floats; unknown names and impossible values are refused."""
    if not limits:
        raise InputError(f"Expected at least one limit, got none. Choose from {list(QUANTITIES)}.")
    for name, value in limits.items():
        _validate.one_of(QUANTITIES, limit=name)
        if not is_number(value):
            raise InputError(f"Expected a number as the limit of {name}, got {value!r}.")
        _validate.in_range(0.0, QUANTITIES[name].largest, **{name: value})
    return {name: float(value) for name, value in limits.items()}


def limit_table(limits: Limits | Mapping[str, Any]) -> Table:
    """Return limits by sensitive column; ``None`` stands for all columns together."""
    if isinstance(limits, Limits):
        return {None: limits.to_dict()}
    if not isinstance(limits, Mapping):
        raise InputError(
            'Expected limits like {"demographic_parity": 0.05} or Limits(...), '
            f"got {type(limits).__name__}."
        )
    nested = [isinstance(value, Limits | Mapping) for value in limits.values()]
    if not any(nested):
        return {None: check_limits(limits)}
    if not all(nested):
        raise InputError(
            "Expected limits either by quantity or by sensitive column, got both in one mapping."
        )
    return {
        str(column): value.to_dict() if isinstance(value, Limits) else check_limits(value)
        for column, value in limits.items()
    }


def chosen_confidence(limits: Any, confidence: float | None) -> float:
    """Return the confidence asked for: the argument, or what the limits say."""
    stated = limits.confidence if isinstance(limits, Limits) else None
    if confidence is None:
        return float(stated) if stated is not None else 0.95
    check_confidence(confidence)
    if stated is not None and stated not in (confidence, 0.95):
        raise InputError(
            f"Expected one confidence, got confidence={confidence} and limits with {stated}."
        )
    return float(confidence)
