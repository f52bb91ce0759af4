r"""From the mean and the square of a row to probability, decision and every group's interval.

For a linear model the perturbed logit is Gaussian with mean ``w·x + b`` and variance
:math:`\sigma^2(\lVert x\rVert^2 + 1)`; :mod:`fairsmooth.core.smoothing.linear` has the formulas. A
row whose mean is not a finite number has no score: all its outputs are NaN, its decision -1.

Upper ends of intervals are computed for ``p`` and for ``1 - p`` alike, the latter being one
minus a lower end. Every step errs to the same side, by more than its error.
"""

import math

import numpy as np

from fairsmooth._types import Floats
from fairsmooth.core.rule import FittedRule
from fairsmooth.core.smoothing.linear_error import needs_more, rounded_logits
from fairsmooth.core.smoothing.mixtures import LINEAR_ERROR, N_NODES, logistic_mixture
from fairsmooth.export import normal
from fairsmooth.export.graph import Graph

# What the library claims for a smooth score of a linear model, how far its mixtures and this one
# may be apart (2.5e-10 and 1e-10), and what the waves add: no interval is inside the library's.
SCORE_ERROR = LINEAR_ERROR + 3.5e-10 + 1e-11
# No interval is wider than all of [0, 1]: from here on, sigma being 0, that is what it is.
_FAR = 100.0


def add_scores(graph: Graph, rule: FittedRule, mean: str, square: str) -> None:
    """Add everything behind ``mean`` and ``square``, both of shape (rows, 1)."""
    graph.constant("zero", 0.0)
    graph.constant("one", 1.0)
    graph.constant("range_low", -normal.RANGE)
    graph.constant("range_high", normal.RANGE)
    graph.constant("frequencies", normal.waves()[0])
    graph.constant("last_axis", [2], np.int64)
    # 0 for a row that has a score, NaN for one that has none: minima would lose a NaN.
    graph.node("size", "Add", [mean, square])
    graph.node("void", "Mul", ["size", "zero"])
    _add_probability(graph, rule, mean, square)
    _add_decision(graph, rule)
    _add_intervals(graph, rule)


def score_error(rule: FittedRule) -> float:
    """Return by how much intervals are wider for the error of a score, of any row."""
    *weights, bias = rule.parameters.tolist()
    if rule.sigma == 0.0:
        # What rounding does to a long row's logit is not known beforehand. It matters for groups
        # whose own scores are the overall ones; for others nothing is certified anyway.
        return 1.0 if 0.0 in rule.certificate.distances.values() else SCORE_ERROR
    n_features, sigma = len(weights), rule.sigma
    more = rounded_logits(math.hypot(*weights), bias, n_features=n_features, sigma=sigma)
    return SCORE_ERROR + (min(more, 1.0) if needs_more(more) else 0.0)


def _mixture(link: str) -> tuple[Floats, Floats]:
    """Return the link's own variances and their shares: a probit is one normal."""
    if link == "probit":
        return np.ones(1), np.ones(1)
    widths, shares = logistic_mixture(N_NODES)
    return widths**2, shares


def _add_probability(graph: Graph, rule: FittedRule, mean: str, square: str) -> None:
    variances, shares = _mixture(rule.link)
    amplitudes = np.outer(shares, normal.waves()[1]).ravel()
    noise = rule.sigma**2
    graph.constant("noise", noise)
    graph.constant("variances", variances + noise)
    graph.constant("flat", [-1, len(amplitudes)], np.int64)
    # The score, then one minus the score and the score, both moved up by its error.
    graph.constant("amplitudes", np.outer(amplitudes, [1.0, -1.0, 1.0]))
    error = score_error(rule)
    graph.constant("half", [0.5, 0.5 + error, 0.5 + error])
    graph.node("noisy", "Mul", [square, "noise"])
    graph.node("variance", "Add", ["noisy", "variances"])
    graph.node("deviation", "Sqrt", ["variance"])
    graph.node("standard", "Div", [mean, "deviation"])
    graph.node("bounded", "Clip", ["standard", "range_low", "range_high"])
    graph.node("bounded_column", "Unsqueeze", ["bounded", "last_axis"])
    graph.node("phases", "Mul", ["bounded_column", "frequencies"])
    graph.node("sines", "Sin", ["phases"])
    graph.node("sines_flat", "Reshape", ["sines", "flat"])
    graph.node("sums", "Gemm", ["sines_flat", "amplitudes", "half"])
    graph.node("scores", "Add", ["sums", "void"])
    graph.constant("first", 0, np.int64)
    graph.node("score", "Gather", ["scores", "first"], axis=1)
    graph.node("probability", "Clip", ["score", "zero", "one"])
    graph.output("probability", float, ("rows",))


def _add_decision(graph: Graph, rule: FittedRule) -> None:
    graph.constant("threshold", rule.threshold)
    graph.constant("no_decision", -1, np.int64)
    graph.node("is_positive", "Greater", ["probability", "threshold"])
    graph.node("positive", "Cast", ["is_positive"], to=graph.onnx.TensorProto.INT64)
    graph.node("is_void", "IsNaN", ["score"])
    graph.node("decision", "Where", ["is_void", "no_decision", "positive"])
    graph.output("decision", int, ("rows",))


def _add_intervals(graph: Graph, rule: FittedRule) -> None:
    certificate = rule.certificate
    groups = certificate.groups
    shifts = np.array([min(certificate.shift(group), _FAR) for group in groups])
    bounds = np.array([certificate.epsilon_by_group[group] for group in groups])
    _add_quantiles(graph)
    # A few units more than what rounding could take away.
    outward = normal.INVERSE_ERROR + 1e-14 * (1.0 + shifts)
    graph.constant("shifts", (shifts + outward)[:, None])
    graph.constant("bounds", (bounds * (1.0 + 1e-15) + 1e-15)[:, None])
    graph.constant("column", [-1, 1], np.int64)
    graph.constant("ends", [-1, len(groups), 2], np.int64)
    graph.constant("wave_amplitudes", normal.waves()[1][:, None])
    # Sides were kept from 0 and 1 by the least probability, which an upper end must give back.
    graph.constant("half_up", [0.5 + normal.WAVES_ERROR + normal.LEAST])
    graph.node("shifted", "Add", ["quantile", "shifts"])
    graph.node("shifted_bounded", "Clip", ["shifted", "range_low", "range_high"])
    graph.node("shifted_column", "Reshape", ["shifted_bounded", "column"])
    graph.node("shifted_phases", "Mul", ["shifted_column", "frequencies"])
    graph.node("shifted_sines", "Sin", ["shifted_phases"])
    graph.node("shifted_sums", "Gemm", ["shifted_sines", "wave_amplitudes", "half_up"])
    graph.node("by_shift", "Reshape", ["shifted_sums", "ends"])
    graph.node("by_bound", "Add", ["sides_row", "bounds"])
    graph.node("upper", "Min", ["by_shift", "by_bound"])
    graph.node("upper_bounded", "Clip", ["upper", "zero", "one"])
    # The first of the two is one minus the lower end.
    graph.constant("turn", [-1.0, 1.0])
    graph.constant("turned_from", [1.0, 0.0])
    graph.node("turned", "Mul", ["upper_bounded", "turn"])
    graph.node("both_ends", "Add", ["turned", "turned_from"])
    graph.node("void_block", "Unsqueeze", ["void", "last_axis"])
    graph.node("intervals", "Add", ["both_ends", "void_block"])
    graph.output("intervals", float, ("rows", len(groups), 2))


def _add_quantiles(graph: Graph) -> None:
    """Add the quantiles of both sides, of shape (rows, 1, 2), for sides that are not extreme."""
    slope, start = normal.linear_map()
    coefficients = normal.inverse_polynomial()
    graph.constant("side_places", [1, 2], np.int64)
    graph.constant("least", normal.LEAST)
    graph.constant("most", 1.0 - normal.LEAST)
    graph.constant("middle", 0.5)
    graph.constant("lift", normal.LIFT - np.log(2.0))
    graph.constant("slope", slope)
    graph.constant("start", start)
    graph.constant("powers", np.arange(len(coefficients)))
    graph.constant("coefficients", coefficients[:, None])
    graph.constant("power_rows", [-1, len(coefficients)], np.int64)
    graph.constant("side_rows", [-1, 1, 2], np.int64)
    graph.node("sides_up", "Gather", ["scores", "side_places"], axis=1)
    graph.node("sides", "Clip", ["sides_up", "least", "most"])
    graph.node("others", "Sub", ["one", "sides"])
    graph.node("nearer", "Min", ["sides", "others"])
    graph.node("logarithm", "Log", ["nearer"])
    graph.node("lifted", "Sub", ["lift", "logarithm"])
    graph.node("root", "Sqrt", ["lifted"])
    graph.node("sloped", "Mul", ["root", "slope"])
    graph.node("place", "Add", ["sloped", "start"])
    graph.node("place_column", "Unsqueeze", ["place", "last_axis"])
    graph.node("powers_of_place", "Pow", ["place_column", "powers"])
    graph.node("powers_flat", "Reshape", ["powers_of_place", "power_rows"])
    graph.node("distances_flat", "Gemm", ["powers_flat", "coefficients"])
    graph.node("distances", "Reshape", ["distances_flat", "side_rows"])
    graph.node("sides_row", "Reshape", ["sides_up", "side_rows"])
    graph.node("from_middle", "Sub", ["sides_row", "middle"])
    graph.node("direction", "Sign", ["from_middle"])
    graph.node("quantile", "Mul", ["distances", "direction"])
