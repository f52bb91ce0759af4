r"""One hidden layer, exactly: the smooth score by the logit's characteristic function.

The perturbed logit :math:`L = (c + \sigma g_0) + \sum_j h_j (v_j + \sigma g_j)` is a sum of
independent terms, so its characteristic function is a product, and by Gil-Pelaez

.. math:: E\, g(L) = \tfrac12 + \frac1\pi \int_0^\infty \mathrm{Im}\,\varphi(t)\,\kappa(t)\,dt

with :math:`t\kappa(t) = \pi t/\sinh \pi t` (logistic), :math:`e^{-t^2/2}` (probit), 1 (step).
The midpoint rule with step :math:`2\pi/Q` replaces the step function by a square wave of
half period ``Q``: its error is at most the probability that the logit leaves
:math:`(-Q, Q)`, which Chernoff's bound controls, row by row. The derivation, and a proof of
every part of the claimed error, is in ``docs/smoothing.md``.
"""

import math

import torch
from torch import Tensor

from fairsmooth.core.architecture import Network
from fairsmooth.core.smoothing.enormous import DRAWN_IN_ERROR, draw_in, limit_scale
from fairsmooth.core.smoothing.plan import Accuracy, HiddenUnits, Plan, plan_rows
from fairsmooth.core.smoothing.relu import ReluUnits
from fairsmooth.core.smoothing.relu_series import ReluSeries
from fairsmooth.core.smoothing.rules import WIDE
from fairsmooth.core.smoothing.series_rows import allowed_error, integrate_series, series_of_rows
from fairsmooth.core.smoothing.shared import integrate_shared
from fairsmooth.core.smoothing.smooth_units import SmoothUnits
from fairsmooth.core.smoothing.tiles import TILE, integrate_tiles
from fairsmooth.core.smoothing.unsmoothed import LEAST, MOST, beyond

_ROUNDING = 2.0**-52
# Scale, per unit, from which on SiLU is taken for ReLU.
_STRAIGHT = 1e11


def smooth_hidden(
    network: Network,
    parameters: Tensor,
    X: Tensor,
    *,
    sigma: float,
    link: str,
    accuracy: Accuracy = Accuracy(),  # noqa: B008 - frozen
) -> tuple[Tensor, Tensor]:
    r"""Return the exact smooth score of a network with one hidden layer, and its error.

    Parameters
    ----------
    network : Network
        With one hidden layer.
    parameters : float64 Tensor of shape (..., m)
    X : float64 Tensor of shape (..., n, d)
        Leading dimensions broadcast against those of ``parameters``.
    sigma : float
        Greater than 0.
    link : {"logistic", "probit", "step"}
    accuracy : Accuracy
        The default keeps the error below 5e-7 unless a row needs too much work.

    Returns
    -------
    probability : Tensor of shape (..., n)
        Differentiable in ``parameters`` and ``X``.
    error : Tensor of shape (..., n)
        Bound on the error of ``probability``. Proven: discretisation (Chernoff), the nodes
        left out, the quadrature inside tanh and SiLU units, rounding. Measured: the error of
        the complex error function (2e-10), and the rule of growing intervals that ReLU layers
        need when scales are far apart. Where the work for one row would be too much, the
        error says how much is not known.
    """
    if not LEAST <= sigma <= MOST:
        return beyond(network, parameters, X, sigma=sigma, link=link)
    batch = torch.broadcast_shapes(parameters.shape[:-1], X.shape[:-2])
    if batch and network.activation != "relu":
        return _each_group(network, parameters, X, batch, sigma, link, accuracy)
    units, bias, shape = _units(network, parameters, X, sigma)
    if isinstance(units, SmoothUnits):
        score, error = _by_width(units, bias, link, accuracy)
    else:
        score, error = _by_scale(units, bias, link, accuracy)
    error = error.reshape(shape) + _input_rounding(network, parameters, sigma).unsqueeze(-1)
    return score.reshape(shape), error.clamp_max(1.0)


def _each_group(
    network: Network,
    parameters: Tensor,
    X: Tensor,
    batch: torch.Size,
    sigma: float,
    link: str,
    accuracy: Accuracy,
) -> tuple[Tensor, Tensor]:
    """Smooth groups one after the other: rows share nodes only if they share weights."""
    weights = parameters.expand(*batch, parameters.shape[-1]).reshape(-1, parameters.shape[-1])
    rows = X.expand(*batch, *X.shape[-2:]).reshape(-1, *X.shape[-2:])
    options = {"sigma": sigma, "link": link, "accuracy": accuracy}
    pairs = [smooth_hidden(network, w, x, **options) for w, x in zip(weights, rows, strict=True)]  # type: ignore[arg-type]
    scores, errors = (torch.stack(column) for column in zip(*pairs, strict=True))
    return scores.reshape(*batch, -1), errors.reshape(*batch, -1)


def _units(
    network: Network, parameters: Tensor, X: Tensor, sigma: float
) -> tuple[ReluUnits | SmoothUnits, Tensor, torch.Size]:
    """Lay the problem out with units first and all rows of all groups last."""
    (weight, bias), (out_weight, out_bias) = network.layers(parameters)
    offset, scale = bias.unsqueeze(-1), sigma * (X.square().sum(-1) + 1.0).sqrt()
    limit = limit_scale(out_bias, sigma, weight.shape[-2])
    if bool((scale.detach() > limit).any()):  # or infinite, if squares overflow
        X, ones = draw_in(X, sigma, limit)
        offset = offset * ones.unsqueeze(-2)
        scale = sigma * (X.square().sum(-1) + ones.square()).sqrt()
    mean = weight @ X.mT + offset
    batch, (n_units, n_rows) = mean.shape[:-2], mean.shape[-2:]
    shape = torch.Size((*batch, n_rows))
    out = out_weight.squeeze(-2).unsqueeze(-1)
    if batch:
        mean = mean.movedim(-2, 0).reshape(n_units, -1)
        out = out.expand(*batch, n_units, n_rows).movedim(-2, 0).reshape(n_units, -1)
    flat_scale = scale.expand(shape).reshape(-1)
    flat_bias = out_bias.expand(shape).reshape(-1)
    if network.activation == "relu":
        return ReluUnits(mean, flat_scale, out, sigma), flat_bias, shape
    return SmoothUnits(mean, flat_scale, out, sigma, network.activation), flat_bias, shape


def _by_width(
    units: SmoothUnits, bias: Tensor, link: str, accuracy: Accuracy
) -> tuple[Tensor, Tensor]:
    """Smooth rows with wide and with narrow pre-activations apart: their nodes differ.

    A SiLU unit is a ReLU unit but for pre-activations in (-50, 50), up to e^-50. The chance of
    those is at most 40 over the scale, and so is what taking ReLU instead changes.
    """
    scale = units.scale.detach()
    far = (scale > _STRAIGHT * units.mean.shape[0]) & (units.activation == "silu")
    score, error = torch.zeros_like(bias), torch.zeros_like(bias)
    for chosen in (far, (scale >= WIDE) & ~far, scale < WIDE):
        rows = torch.nonzero(chosen).squeeze(1)
        if len(rows) == 0:
            continue
        # Rows that are planned together need fewer points if they are alike in scale.
        rows = rows[torch.argsort(scale[rows])]
        part: HiddenUnits = units.take(rows)
        if bool(far[rows[0]]):
            part = ReluUnits(part.mean, part.scale, part.weight, part.sigma)
        some, some_error = _smooth_rows(part, bias[rows], link, accuracy)
        score, error = score.index_copy(0, rows, some), error.index_copy(0, rows, some_error)
    return score, error + torch.where(far, units.mean.shape[0] * 40.0 / scale, 0.0)


def _by_scale(
    units: ReluUnits, bias: Tensor, link: str, accuracy: Accuracy
) -> tuple[Tensor, Tensor]:
    """Smooth ReLU rows by series where many are of similar scale, and the others one by one."""
    parts = series_of_rows(units, accuracy)
    if not parts:
        return _smooth_rows(units, bias, link, accuracy)
    score, error = torch.zeros_like(bias), torch.ones_like(bias)
    for rows, series in parts:
        some, some_error = _smooth_rows(series, bias[rows], link, accuracy)
        score, error = score.index_copy(0, rows, some), error.index_copy(0, rows, some_error)
    still = torch.nonzero(~(error <= allowed_error(accuracy))).squeeze(1)
    some, some_error = _smooth_rows(units.take(still), bias[still], link, accuracy)
    return score.index_copy(0, still, some), error.index_copy(0, still, some_error)


def _smooth_rows(
    units: HiddenUnits, bias: Tensor, link: str, accuracy: Accuracy
) -> tuple[Tensor, Tensor]:
    with torch.no_grad():
        plan = _plan_in_tiles(units, bias, link, accuracy)
    if isinstance(units, SmoothUnits):
        total, left_out, nodes = integrate_shared(units, bias, plan, link, accuracy)
    elif isinstance(units, ReluSeries):
        total, left_out, nodes = integrate_series(units, bias, plan, link)
    else:
        total, left_out, nodes = integrate_tiles(units, bias, plan, link, accuracy)
    # What overflows is not known.
    score = torch.where(plan.saturated, plan.limit, 0.5 + total / math.pi).nan_to_num(0.5)
    with torch.no_grad():
        error = plan.tail + left_out + _evaluation_error(units, nodes, plan.step)
        error = error.nan_to_num(1.0)
        bounded = score.minimum(plan.high).maximum(plan.low)
        meant = (bounded - score).abs() <= error
        known = torch.maximum(plan.high - bounded, bounded - plan.low)
    # A bound corrects the score by no more than its error, and must not take its slope, too.
    slope = torch.where(meant, score - score.detach(), 0.0)
    return bounded + slope, error.minimum(known + 1e-12)


def _plan_in_tiles(units: HiddenUnits, bias: Tensor, link: str, accuracy: Accuracy) -> Plan:
    if isinstance(units, ReluSeries):
        return plan_rows(units, bias, link, accuracy)
    n_units, n_rows = units.mean.shape
    size = max(1, TILE * torch.get_num_threads() // n_units)
    if n_rows <= size:
        return plan_rows(units, bias, link, accuracy)
    return Plan.join(
        [
            plan_rows(units.narrow(start, len(part)), part, link, accuracy)
            for start, part in zip(range(0, n_rows, size), bias.split(size), strict=True)
        ]
    )


def _evaluation_error(units: HiddenUnits, nodes: Tensor, step: Tensor) -> Tensor:
    r"""Bound what errors of the characteristic function add to the score, shape (R,).

    Errors of factors of size at most 1 add up; the rule multiplies them by
    :math:`\frac1\pi\sum_k 1/(k+\frac12) \le (2 + \log 2n)/\pi`. Rounding a phase errs by its size
    times that of the last digit.
    """
    n_units = units.mean.shape[0]
    largest = units.weight.abs()
    if units.activation != "tanh":
        largest = largest * torch.add(units.mean.abs(), units.scale, alpha=7.0)
    phase = nodes * (6.3 + step * largest.sum(0))
    each = n_units * (units.unit_error + 20.0 * _ROUNDING) + 4.0 * _ROUNDING * phase
    return DRAWN_IN_ERROR + each * (2.0 + torch.log1p(2.0 * nodes)) / math.pi


def _input_rounding(network: Network, parameters: Tensor, sigma: float) -> Tensor:
    r"""Bound the effect of rounding the pre-activations and the logit's mean.

    Rounding moves the hidden layer's weights by at most the last digit per input, and by
    Lemma 2 the score by at most that over :math:`\sqrt{2\pi}\sigma`.
    """
    digits = _ROUNDING * (network.n_features + 2)
    return parameters.detach().norm(dim=-1) * (digits / (math.sqrt(2.0 * math.pi) * sigma))
