"""What a search must keep, and how much of it a trial may use up."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairsmooth import _validate
from fairsmooth.exceptions import InputError
from fairsmooth.guarantees import Limits
from fairsmooth.guarantees.planning import ExpectedCell, return_probability

GUARANTEE = "guarantee"
SHARE = 0.9
# How likely the rows to come must be to guarantee a trial, as in training to a guarantee.
_CHANCE = 0.9


@dataclass(frozen=True)
class SearchLimits:
    """What the user will accept; None is no limit."""

    max_dp: float | None = None
    max_eo: float | None = None
    max_epsilon: float | None = None

    def __post_init__(self) -> None:
        given = {name: value for name, value in vars(self).items() if value is not None}
        _validate.non_negative(**given)

    @classmethod
    def of(cls, limits: Any) -> "SearchLimits":
        """Return the limits as they are, or from :class:`fairsmooth.Limits` or a mapping."""
        if limits is None:
            return cls()
        if isinstance(limits, cls):
            return limits
        plain = limits.to_dict() if isinstance(limits, Limits) else limits
        names = {"demographic_parity": "max_dp", "equalized_odds_sum": "max_eo",
                 "epsilon": "max_epsilon"}  # fmt: skip
        if not isinstance(plain, Mapping) or not set(plain) <= set(names):
            raise InputError(
                "Expected limits on demographic_parity, equalized_odds_sum and epsilon, which a "
                f"search can keep, got {plain!r}."
            )
        return cls(**{names[name]: value for name, value in plain.items()})

    def to_dict(self) -> dict[str, float]:
        """Return the limits that are set, by what they limit."""
        named = {
            "demographic_parity": self.max_dp,
            "equalized_odds_sum": self.max_eo,
            "epsilon": self.max_epsilon,
        }
        return {name: limit for name, limit in named.items() if limit is not None}

    def violations(self, measured: Any, *, share: float = 1.0) -> dict[str, float]:
        """Return by how much each limit is exceeded, relative to it; 0 or less is kept.

        Of a limit on a gap, ``share`` is what may be used; a certified bound has no noise, and
        may use all of its limit.

        Examples
        --------
        >>> SearchLimits(max_dp=0.05).violations({"demographic_parity": 0.1})
        {'demographic_parity': 1.0}
        """
        return {
            name: (measured[name] - limit * _used(name, share)) / max(limit, 1e-6)
            for name, limit in self.to_dict().items()
        }

    def excess(self, measured: Any, *, share: float = 1.0) -> float:
        """Return the sum of what exceeds the limits; 0 if every limit is kept."""
        return float(sum(max(0.0, v) for v in self.violations(measured, share=share).values()))


@dataclass(frozen=True)
class Aim:
    """What a trial must show for its limits to count as kept; fixed before the first trial.

    Attributes
    ----------
    share : float
        Share of every limit on a gap that the measured gap may use up. The rest is for noise:
        of the rows judged on, of those to come, and of having picked the best of many.
    future_rows : int or None
        If given, the share is not used. The gaps must be such that so many new rows guarantee
        the limits with probability at least 0.9 (:func:`fairsmooth.guarantee_gaps`, 95 %
        confidence): the guarantee's own margin.
    """

    share: float = SHARE
    future_rows: int | None = None

    @classmethod
    def of(cls, aim: float | str, future_rows: int | None) -> "Aim":
        """Read an aim: a share, or ``"guarantee"``."""
        if aim == GUARANTEE:
            if future_rows is None:
                raise InputError(
                    "Expected guarantee_rows with aim='guarantee', the number of rows that are to "
                    "guarantee the limits, got None."
                )
            _validate.positive(guarantee_rows=future_rows)
            return cls(1.0, future_rows)
        if isinstance(aim, bool) or not isinstance(aim, int | float):
            raise InputError(
                f"Expected aim as a share of the limits or 'guarantee', got aim={aim!r}."
            )
        _validate.in_range(0.1, 1.0, aim=aim)
        return cls(float(aim))

    def chance(
        self, limits: SearchLimits, rows: NDArray[np.int64], hits: NDArray[np.int64]
    ) -> float | None:
        """Return about how likely the rows to come guarantee the limits, from counts (K, 2)."""
        if self.future_rows is None:
            return None
        growth = self.future_rows / float(rows.sum())
        cells: dict[int | None, list[ExpectedCell]] = {
            None: _expected(rows.sum(axis=1), hits.sum(axis=1), growth),
            **{y: _expected(rows[:, y], hits[:, y], growth) for y in (0, 1)},
        }
        gaps = {n: limit for n, limit in limits.to_dict().items() if n != "epsilon"}
        return min((return_probability(n, cells, limit) for n, limit in gaps.items()), default=1.0)

    def kept(self, limits: SearchLimits, measured: Any, chance: float | None) -> bool:
        """Tell whether a trial keeps what was aimed at."""
        enough = chance is None or chance >= _CHANCE
        return enough and limits.excess(measured, share=self.share) == 0.0

    def describe(self, limits: SearchLimits) -> dict[str, Any]:
        """Return the aim as plain data."""
        if self.future_rows is not None:
            return {"kind": GUARANTEE, "rows": self.future_rows, "chance": _CHANCE}
        aims = {name: limit * _used(name, self.share) for name, limit in limits.to_dict().items()}
        return {"kind": "share", "share": self.share, "aims": aims}


def _used(name: str, share: float) -> float:
    return 1.0 if name == "epsilon" else share


def _expected(
    rows: NDArray[np.int64], hits: NDArray[np.int64], growth: float
) -> list[ExpectedCell]:
    return [
        ExpectedCell(float(x / max(n, 1)), float(n * growth), float(n))
        for x, n in zip(hits, rows, strict=True)
    ]
