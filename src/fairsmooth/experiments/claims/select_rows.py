"""Numbers of one measure, by trial and method, out of flat rows."""

import pandas as pd

from fairsmooth.experiments.claims.estimate import Estimate, estimate
from fairsmooth.experiments.claims.printed import PRINTED
from fairsmooth.experiments.declaration import LARGER_IS_BETTER
from fairsmooth.experiments.settings import ROUNDING

# Half a unit of the last digit, where more than two are printed.
_FINER = {"mean_distance": 0.00005, "max_distance": 0.00005, "epsilon": 0.00005}


def is_exact(rows: pd.DataFrame) -> bool:
    """Tell whether the rows are printed numbers, which carry no interval."""
    return bool((rows["source"] == PRINTED).all())


def rounding_of(rows: pd.DataFrame, metric: str, numbers: int = 1) -> float | None:
    """Return how far rounding may have moved a sum of so many numbers; None if none was printed."""
    return numbers * printed_rounding(metric) if is_exact(rows) else None


def printed_rounding(metric: str) -> float:
    """Return half a unit of the last digit that the paper prints of a measure."""
    return _FINER.get(metric, ROUNDING)


def sign_of(metric: str) -> float:
    """Return 1 if larger is better and -1 if smaller is."""
    return 1.0 if metric in LARGER_IS_BETTER else -1.0


def by_trial(
    rows: pd.DataFrame, metric: str, case: str, *, axis: str = "", value: float | None = None
) -> pd.DataFrame:
    """Return one row per trial and one column per method; empty if nothing was measured."""
    chosen = _of_case(rows, metric, case, axis)
    if value is not None:
        chosen = chosen[chosen["value"] == value]
    return chosen.pivot(index="trial", columns="method", values=metric)


def curve(rows: pd.DataFrame, metric: str, case: str, *, axis: str, method: str) -> pd.DataFrame:
    """Return one row per trial and one column per point of the axis."""
    chosen = _of_case(rows, metric, case, axis)
    chosen = chosen[chosen["method"] == method]
    return chosen.pivot(index="trial", columns="value", values=metric)


def points(rows: pd.DataFrame, axis: str) -> list[float]:
    """Return the points of an axis that were measured, in order."""
    if "axis" not in rows:
        return []
    return sorted(rows.loc[rows["axis"] == axis, "value"].dropna().unique())


def mean_of(rows: pd.DataFrame, metric: str, case: str, method: str) -> Estimate:
    """Return the mean of one method over the trials."""
    table = by_trial(rows, metric, case)
    return estimate(table.get(method, []), rounding=rounding_of(rows, metric))


def _of_case(rows: pd.DataFrame, metric: str, case: str, axis: str) -> pd.DataFrame:
    chosen = rows[rows["case"] == case]
    if "axis" in rows:
        chosen = chosen[chosen["axis"].fillna("") == axis]
    if metric not in chosen:
        chosen = chosen.iloc[:0].assign(**{metric: pd.Series(dtype=float)})
    return chosen[chosen[metric].notna()]
