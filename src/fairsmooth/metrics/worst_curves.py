"""Curves of the largest and smallest rates and gaps within balls around the sample."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from fairsmooth._types import Floats
from fairsmooth.data.groups import Groups
from fairsmooth.metrics._averages import rate_parts
from fairsmooth.metrics._compared import Compared
from fairsmooth.metrics._curve_tables import (
    Rates,
    Tables,
    moved,
    points,
    with_largest_gaps,
    with_smallest_gaps,
)
from fairsmooth.metrics.curve import CurvePoint
from fairsmooth.metrics.worst_case import largest_mean, smallest_mean

RADII = {
    "chi_square": (0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0),
    "hellinger": (0.0, 0.05, 0.1, 0.2, 0.3, 0.5),
}


def worst_points(one: Compared, *, y: NDArray[np.int64], groups: Groups) -> Iterator[CurvePoint]:
    r"""Yield the largest and smallest rates and gaps within chi-square and Hellinger balls.

    A rate is an average over the rows it is defined on: those of the group for
    selection and error rate, its positive rows for the true positive rate, its
    negative rows for the false positive rate. Each of these conditional
    distributions is reweighted within its own ball of the given radius, and
    groups are reweighted independently. So the largest gap is, over pairs, the
    largest rate of one group minus the smallest of the other, and that of
    equalized odds the sum (or the maximum) of two such; all are attained at once.

    The guarantee beside it follows from :math:`|\max_w a - \max_w b| \le \max_w |a - b|`:
    the same extreme for the group's own classifier, plus or minus the largest
    slack in the ball, which for expected rates of a group is its certified bound.
    """
    for ball, radii in RADII.items():
        ends = {
            name: _ends(column, y, groups, ball=ball, is_slack=name == "slack")
            for name, column in one.columns().items()
        }
        for position, radius in enumerate(radii):
            at = {
                name: tuple({rate: v[position] for rate, v in side.items()} for side in sides)
                for name, sides in ends.items()
            }
            for curve, tables in (
                (f"{ball}_largest", _largest(at)),
                (f"{ball}_smallest", _smallest(at)),
            ):
                template = CurvePoint(curve, radius, one.prefix, None, np.nan)
                yield from points(template, groups.labels, tables)


def _largest(at: dict[str, tuple[Rates, ...]]) -> Tables:
    def table(low: Rates, high: Rates) -> dict[str, Floats]:
        return with_largest_gaps(high, low=low, high=high)

    tables = {field: table(*at[field]) for field in at.keys() & {"value", "reference"}}
    if "own" in at:
        (low, high), slack = at["own"], at["slack"][1]
        tables["low"] = table(moved(low, slack, 1.0), moved(high, slack, -1.0))
        tables["high"] = table(moved(low, slack, -1.0), moved(high, slack, 1.0))
    return tables


def _smallest(at: dict[str, tuple[Rates, ...]]) -> Tables:
    def table(low: Rates, high: Rates) -> dict[str, Floats]:
        return with_smallest_gaps(low, low=low, high=high)

    tables = {field: table(*at[field]) for field in at.keys() & {"value", "reference"}}
    if "own" in at:
        (low, high), slack = at["own"], at["slack"][1]
        tables["low"] = table(moved(low, slack, -1.0), moved(high, slack, 1.0))
        tables["high"] = table(moved(low, slack, 1.0), moved(high, slack, -1.0))
    return tables


def _ends(
    column: Floats, y: NDArray[np.int64], groups: Groups, *, ball: str, is_slack: bool
) -> tuple[Rates, Rates]:
    """Return smallest and largest rates, by name, of shape (radii, K + 1)."""
    radii = RADII[ball]
    low, high = {}, {}
    for rate, (value, rows) in rate_parts(column, y).items():
        averaged = column if is_slack else value
        samples = [averaged[rows & (groups.codes == k)] for k in range(len(groups.labels))]
        samples.append(averaged[rows])
        low[rate] = _extremes(samples, smallest_mean, ball=ball, radii=radii)
        high[rate] = _extremes(samples, largest_mean, ball=ball, radii=radii)
    return low, high


def _extremes(
    samples: list[Floats], extreme: Callable[..., Floats], *, ball: str, radii: Sequence[float]
) -> Floats:
    undefined = np.full(len(radii), np.nan)
    found = [extreme(s, ball=ball, radii=radii) if len(s) else undefined for s in samples]
    return np.stack(found, axis=-1)
