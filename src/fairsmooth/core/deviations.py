"""How far the mean of values in [0, 1] may be from what was observed."""

import math
from typing import Any


def bernstein_radius(squares: Any, count: Any, delta: float) -> Any:
    r"""Return the one-sided empirical Bernstein radius for sums of squared deviations.

    ``squares`` is a number, an array or a tensor of such sums over ``count`` values each. Counts
    may be an array too; of one value alone, a number, the radius is 1.

    References
    ----------
    Maurer and Pontil (2009), Theorem 4.

    Examples
    --------
    >>> round(bernstein_radius(0.0, 1000, 0.005), 4)
    0.014
    """
    if isinstance(count, int) and count < 2:
        return 0.0 * squares + 1.0
    log_term = math.log(2.0 / delta)
    spread = (2.0 * squares / (count - 1) * log_term / count) ** 0.5
    return spread + 7.0 * log_term / (3.0 * (count - 1))
