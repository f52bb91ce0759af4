r"""What stands between a certificate and the scores that a model prints.

The certificate speaks of the smooth scores :math:`N(W)(x)`. Where they are sampled, a
printed score is off by chance: of ``n`` independent pairs of draws the mean is within
:math:`\sqrt{\ln(2/\delta)/2n}` of the smooth score with probability
:math:`1-\delta` (Hoeffding), whatever the network. The rest a file cannot show at all.
"""

import math
from collections.abc import Iterator

from fairsmooth.verify._description import Description
from fairsmooth.verify.check import Check, not_checked

_CONFIDENCE = 0.99
# So many pairs of draws that more make no difference.
_ENDLESS = 10**300


def smoothing(description: Description) -> Check:
    """Tell whether printed scores are the smooth ones, and how far from them if not."""
    rule = description.rule
    if description.sigma == 0.0:
        return Check("smoothing", True, "none: sigma is 0, scores are those of the base classifier")
    if rule.way == "exact":
        return Check("smoothing", True, "scores are computed exactly, not sampled")
    radius = _radius((rule.n_draws + 1) // 2)
    needless = ", although the exact way exists" if rule.has_exact_way else ""
    detail = f"scores are sampled with {rule.n_draws} draws{needless}"
    if radius >= 0.5:
        return Check(
            "smoothing",
            False,
            f"Expected enough draws for a score to say something, got: {detail}.",
        )
    if rule.way == "layerwise":
        detail += "; quasi-random points, whose error has no proof; for as many independent draws"
    if description.slope != 1.0 or description.offset != 0.0:
        return not_checked(
            "smoothing",
            f"{detail}: before its map a score is within {_up(radius)} of the smooth one with "
            f"{_CONFIDENCE:.0%} confidence",
        )
    bound = min(1.0, description.bounds["epsilon_tight"][0] + radius)
    return not_checked(
        "smoothing",
        f"{detail}: a score is within {_up(radius)} of the smooth one with {_CONFIDENCE:.0%} "
        f"confidence, so within {_up(bound)} of a group's own smooth score",
    )


def calibration(description: Description) -> Iterator[Check]:
    """Tell which map scores go through, if any, and whose bounds these are then."""
    if (description.slope, description.offset) != (1.0, 0.0):
        yield Check(
            "calibration",
            True,
            f"scores go through Φ(a Φ⁻¹(p) + b), a = {description.slope!r}, "
            f"b = {description.offset!r}; the bounds are those of sigma / a",
        )


def on_trust(description: Description) -> Iterator[Check]:
    """Name everything else that predictions depend on and the weights do not show."""
    rule = description.rule
    column = "" if rule.label is None else f" in column {rule.label!r}"
    yield not_checked(
        "decision",
        f"taken on trust: which value is positive ({rule.positive}{column}), decided above "
        f"{rule.threshold:g}",
    )
    source = (
        ""
        if rule.n_columns is None
        else f" and the rules that make them of {rule.n_columns} columns"
    )
    yield not_checked(
        "columns", f"taken on trust: which column each of {rule.n_features} features is{source}"
    )
    if rule.steps is not None:
        yield not_checked(
            "pipeline",
            f"taken on trust: the steps that make the features (SHA-256 {rule.steps}); "
            "the certificate holds whatever they do",
        )
    if rule.forecasters is not None:
        yield not_checked(
            "forecasts",
            "taken on trust: that they forecast well; the certificate holds whatever they say",
        )
    if rule.is_module:
        yield not_checked(
            "module", "its code is not in the file; loading compares classes, names and shapes"
        )
    if rule.has_guarantee:
        yield not_checked("guarantee", "the bounds on gaps in the file; verify them by themselves")


def _radius(n_pairs: int) -> float:
    # A whole number in a file may be larger than any float64.
    return math.sqrt(math.log(2.0 / (1.0 - _CONFIDENCE)) / (2.0 * min(n_pairs, _ENDLESS)))


def _up(value: float) -> str:
    return f"{math.ceil(value * 1e4) / 1e4:.4f}"
