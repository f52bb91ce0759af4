r"""Columns on scales that one noise level cannot serve.

Every weight gets noise of the same standard deviation ``sigma``, so a column with values
near ``c`` adds noise near :math:`\sigma c` to the logit. Where that exceeds what
the other columns can say, the score hardly depends on them. This is a property of the
smooth classifier in the units that it is given, not of a solver.
"""

import warnings
from collections.abc import Sequence

import numpy as np

from fairsmooth.core.rows import Rows
from fairsmooth.exceptions import InputError, ScaleWarning

# Far beyond any measurement, and well below where squares overflow in float32.
_LARGEST = 1e15
# One column of five, scaled by c, cost .013 of accuracy at sigma * c = 10, .04 at 30 and
# .08 at 100, and nothing where all columns were scaled (test_scales.py keeps the example).
_LOUD, _UNLIKE = 10.0, 20.0


def check_scales(rows: Rows, names: Sequence[str] | None, *, sigma: float) -> None:
    """Refuse columns that overflow; warn of columns whose noise drowns the others.

    The scale of a column is the root mean square of its entries other than 0, so that an
    indicator has the scale 1 however rare it is.
    """
    largest, scales = rows.scales()
    if largest.max() > _LARGEST:
        column = int(largest.argmax())
        raise InputError(
            f"Expected columns with values up to {_LARGEST:g}, got {largest[column]:g} in "
            f"{_name(column, names)}. Standardise it, for instance with StandardScaler."
        )
    used = np.flatnonzero(np.isfinite(scales)).tolist()
    if not used:
        return
    quiet = min(used, key=lambda j: scales[j])
    smallest = scales[quiet]
    loud = [j for j in used if scales[j] * sigma > _LOUD and scales[j] > _UNLIKE * smallest]
    if loud:
        column = max(loud, key=lambda j: scales[j])
        others = f" and {len(loud) - 1} more" if len(loud) > 1 else ""
        warnings.warn(
            f"{_name(column, names)}{others} has values near {scales[column]:.3g}, "
            f"{_name(quiet, names)} near {smallest:.3g}: weights share one noise level "
            f"(sigma={sigma:g}), so the larger drowns the smaller. "
            "Standardise the columns, for instance with StandardScaler.",
            ScaleWarning,
            stacklevel=2,
        )


def _name(column: int, names: Sequence[str] | None) -> str:
    return f"column {column}" if names is None else f"column {names[column]!r}"
