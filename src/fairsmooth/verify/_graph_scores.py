r"""The constants of a graph from which scores and intervals are made, judged by what they do.

Waves, mixture and polynomial are approximations with a claimed error. They are not compared
with the exporter's, but evaluated, at many points, against functions computed in
another way; shifts and bounds are compared with exact distances.
"""

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from fairsmooth.verify._model_file import Floats
from fairsmooth.verify.check import Check

Constants = Mapping[str, Any]

SCORE_ERROR = 1e-9
_INVERSE_ERROR = 1e-9
_LEAST = 1e-12
_RANGE = 7.5
_erfc = np.vectorize(math.erfc, otypes=[np.float64])


def fixed_constants(n_groups: int, n_terms: int, n_powers: int) -> dict[str, Any]:
    """Return the constants that have one possible value."""
    return {
        "zero": np.array(0.0), "one": np.array(1.0), "middle": np.array(0.5),
        "range_low": np.array(-_RANGE), "range_high": np.array(_RANGE),
        "last_axis": np.array([2]), "flat": np.array([-1, n_terms]), "first": np.array(0),
        "no_decision": np.array(-1), "side_places": np.array([1, 2]),
        "least": np.array(_LEAST), "most": np.array(1.0 - _LEAST),
        "powers": np.arange(n_powers, dtype=np.float64), "power_rows": np.array([-1, n_powers]),
        "side_rows": np.array([-1, 1, 2]), "column": np.array([-1, 1]),
        "ends": np.array([-1, n_groups, 2]), "turn": np.array([-1.0, 1.0]),
        "turned_from": np.array([1.0, 0.0]),
    }  # fmt: skip


# Constants that are judged by what they do, and so may differ in their last digits.
JUDGED = (
    *("frequencies", "amplitudes", "variances", "half", "lift", "slope", "start"),
    *("coefficients", "shifts", "bounds", "wave_amplitudes", "half_up"),
)


def rounding_of(parameters: Floats, sigma: float, squared_radii: tuple[Fraction, ...]) -> float:
    r"""Bound what rounding a logit of ``d + 1`` products does to the score of any row whatever.

    It moves the logit by at most :math:`u(d + 16)(|w||x| + |b|)`, and the score by that over
    :math:`\sqrt{2\pi}\sigma\sqrt{|x|^2 + 1}`. Without noise, rows of any length have no common
    bound, which matters for groups whose own scores are the overall ones.
    """
    if sigma == 0.0:
        return float(0 in squared_radii)
    size = math.hypot(*parameters[:-1].tolist()) + abs(float(parameters[-1]))
    moved = 2.0**-52 * (len(parameters) + 15) * size / sigma / math.sqrt(2.0 * math.pi)
    # Half of the usual error is left for it.
    return min(moved, 1.0) if moved > 0.5 * SCORE_ERROR else 0.0


def judge_scores(constants: Constants, *, sigma: float, link: str, rounding: float) -> Check:
    """Evaluate the graph's smooth score at many means and deviations."""
    ways: dict[str, Callable[[Floats, float], Floats]] = {"probit": _probit, "logistic": _logistic}
    means = np.concatenate([np.linspace(-45.0, 45.0, 181), [-1e3, 1e3]])
    noise = float(constants["noise"])
    errors = []
    for deviation in (0.0, 0.1, 0.5, 1.0, 2.0, 4.0, 10.0, 30.0):
        # The graph adds sigma² to the link's own variances beforehand.
        spread = np.sqrt(constants["variances"] - noise + deviation**2)
        bounded = np.clip(means[:, None] / spread, -_RANGE, _RANGE)
        sines = np.sin(bounded[:, :, None] * constants["frequencies"])
        scores = sines.reshape(len(means), -1) @ constants["amplitudes"] + constants["half"]
        truth = ways[link](means, deviation)
        error = float(constants["half"][1]) - 0.5
        errors.append(scores - np.column_stack([truth, 1.0 - truth + error, truth + error]))
    worst, n_points = float(np.abs(errors).max()), len(errors) * len(means)  # NaN if any is
    same = noise == np.square(sigma) and float(constants["half"][0]) == 0.5
    margins = constants["half"][1:]
    needed = 0.5 + max(SCORE_ERROR, rounding)
    wide = bool((margins >= needed).all() and margins[0] == margins[1])
    if same and wide and worst <= SCORE_ERROR:
        return Check(
            "scores", True,
            f"the graph's formula is within {worst:.1e} of the smooth score at {n_points} points",
        )  # fmt: skip
    return Check(
        "scores", False,
        f"Expected a smooth score within {SCORE_ERROR}, got {worst:.1e} with other constants.",
    )  # fmt: skip


def _probit(means: Floats, deviation: float) -> Floats:
    return np.asarray(0.5 * _erfc(-means / math.sqrt(2.0 * (1.0 + deviation**2))))


def _logistic(means: Floats, deviation: float) -> Floats:
    """Average the logistic function over a normal logit by the trapezoid rule."""
    nodes = np.linspace(-9.0, 9.0, 1801)
    density = np.exp(-0.5 * nodes**2)
    with np.errstate(over="ignore"):
        values = 1.0 / (1.0 + np.exp(-(means[:, None] + deviation * nodes)))
    return np.asarray(values @ (density / density.sum()))


def judge_intervals(
    constants: Constants, *, sigma: float, squared_radii: tuple[Fraction, ...], stated: Floats
) -> Check:
    """Compare shifts and bounds with exact distances, and the quantiles with the truth."""
    for name, faults in (
        ("shift", _short_shifts(constants["shifts"].ravel(), sigma, squared_radii)),
        ("bound", np.flatnonzero(~(constants["bounds"].ravel() >= stated)).tolist()),
    ):
        if faults:
            return Check(
                "intervals", False,
                f"Expected a {name} of at least the certified one for group {faults[0]}, got less.",
            )  # fmt: skip
    worst = _quantile_error(constants)
    wave = _wave_error(constants)
    up = float(constants["half_up"][0]) - 0.5
    if worst <= _INVERSE_ERROR and wave + _LEAST <= up:
        return Check(
            "intervals", True,
            f"shifts cover the exact distances; quantiles within {worst:.1e} at 2,000 points",
        )  # fmt: skip
    return Check(
        "intervals", False,
        f"Expected quantiles within {_INVERSE_ERROR} and margins above the error, got {worst:.1e}.",
    )  # fmt: skip


def _short_shifts(shifts: Floats, sigma: float, squared_radii: tuple[Fraction, ...]) -> list[int]:
    """Return the groups whose shift is less than r / sigma and the error of a quantile."""
    short = []
    for group, (shift, squared) in enumerate(zip(shifts.tolist(), squared_radii, strict=True)):
        if not math.isfinite(shift):
            short.append(group)
            continue
        left = Fraction(shift) - Fraction(_INVERSE_ERROR)
        # From two ranges on, whatever the quantile, the interval is all of [0, 1].
        enough = left >= 16 or (left >= 0 and (left * Fraction(sigma)) ** 2 >= squared)
        if not enough:
            short.append(group)
    return short


def _quantile_error(constants: Constants) -> float:
    """Return how far quantiles are off, by one Newton step from each of them."""
    least = np.exp(np.linspace(math.log(_LEAST), math.log(0.5), 2000))
    root = np.sqrt(float(constants["lift"]) - np.log(least))
    place = root * float(constants["slope"]) + float(constants["start"])
    found = (place[:, None] ** constants["powers"]) @ constants["coefficients"].ravel()
    density = np.exp(-0.5 * found**2) / math.sqrt(2.0 * math.pi)
    step = (0.5 * _erfc(found / math.sqrt(2.0)) - least) / density
    return float(np.abs(step).max())


def _wave_error(constants: Constants) -> float:
    x = np.linspace(-_RANGE, _RANGE, 2001)
    sums = np.sin(x[:, None] * constants["frequencies"]) @ constants["wave_amplitudes"].ravel()
    return float(np.abs(0.5 + sums - 0.5 * _erfc(-x / math.sqrt(2.0))).max())
