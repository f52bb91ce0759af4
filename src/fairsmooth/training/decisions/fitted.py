"""A fitted rule made fair, and a fitted rule calibrated: each returns a new one."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairsmooth._types import Floats, Labels
from fairsmooth.core.architecture import Network
from fairsmooth.core.build import AnyNetwork
from fairsmooth.core.calibration import Calibration
from fairsmooth.core.certificate import certify
from fairsmooth.core.parameters import CENTERS
from fairsmooth.core.rule import FittedRule, read_only
from fairsmooth.data.groups import Groups
from fairsmooth.exceptions import InputError
from fairsmooth.training.decisions.calibration import fit_calibration
from fairsmooth.training.decisions.limits import limits_of
from fairsmooth.training.decisions.solve import install_fair_rule
from fairsmooth.training.example import Example
from fairsmooth.training.settings import Settings
from fairsmooth.training.threshold import choose_threshold, threshold_at_rate, wanted_rate


def finished(
    rule: FittedRule, example: Example, settings: Settings, held_out: NDArray[np.intp]
) -> FittedRule:
    """Install fair decisions, a calibration and a threshold, as far as the settings ask."""
    X, y, weights = example.X, example.y, example.weights
    if settings.decisions:
        _refuse_weights(weights, "parity_solver='decisions'")
        rule = with_fair_decisions(rule, X.toarray(), y, example.groups, settings)
    if settings.calibrated:
        _refuse_weights(weights, "calibrate")
        rule = with_calibration(rule, X, y, settings)
    if isinstance(settings.threshold, str):
        scores = rule.scores(X.take(held_out), rule.parameters)
        if settings.threshold == "accuracy":
            chosen = choose_threshold(scores, y[held_out], example.weights_of(held_out))
        else:
            _refuse_weights(weights, f"threshold={settings.threshold!r}")
            chosen = threshold_at_rate(scores, wanted_rate(settings.threshold))
        rule = replace(rule, threshold=chosen)
    return rule


def with_last_layer(architecture: AnyNetwork) -> Network:
    """Return the architecture if its last layer is known, which is the one to be shifted."""
    if not isinstance(architecture, Network):
        raise InputError(
            "Expected a linear model or hidden_layer_sizes with parity_solver='decisions', got a "
            "module, whose last layer is not known. Use parity_solver='surrogate'."
        )
    return architecture


def with_fair_decisions(
    rule: FittedRule, X: Floats, y: Labels, groups: Groups, settings: Settings
) -> FittedRule:
    """Shift all groups' parameters alike, so that overall decisions keep the limits.

    The certificate is computed again from the shifted parameters: it is the same but for
    rounding, and rounded outward. Free parameters are not shifted, so that an audit
    shows what the groups' own classifiers gave up.
    """
    network = with_last_layer(rule.architecture)
    width = (network.n_features, *network.hidden_layer_sizes)[-1]
    linear = replace(rule, architecture=Network(width), smoothing="auto")
    shifted = install_fair_rule(
        network,
        rule.group_parameters,
        X,
        y,
        groups,
        limits=limits_of(str(settings.parity), settings.parity_tolerance),
        sigma=rule.sigma,
        center=rule.center,
        score=lambda parameters, rows: rule.smooth_scores(rows, parameters),
        linear_score=lambda parameters, rows: linear.smooth_scores(rows, parameters),
        seed=settings.seed,
    )
    free = rule.free_group_parameters
    if settings.alpha == 0.0 and settings.free_reference:
        free = rule.group_parameters  # not tied, but shifted now
    moved = replace(
        rule,
        group_parameters=read_only(shifted),
        parameters=read_only(CENTERS[rule.center](shifted)),
        free_group_parameters=free,
        threshold=0.5,
    )
    return _certified(moved, calibration=None)


def with_calibration(rule: FittedRule, X: Any, y: Labels, settings: Settings) -> FittedRule:
    r"""Put a fitted map behind the scores.

    An installed rule decides at ½ before the map, that is at :math:`\Phi(b)` after it: the map
    is rising, so its decisions stay. Otherwise the threshold is one of calibrated scores.
    The certificate becomes that of :math:`\sigma/a`.
    """
    calibration = fit_calibration(rule.smooth_scores(X, rule.parameters), y)
    threshold = calibration.half if settings.decisions else rule.threshold
    return replace(_certified(rule, calibration=calibration), threshold=threshold)


def _refuse_weights(weights: Floats | None, option: str) -> None:
    if weights is not None:
        raise InputError(
            f"Expected no sample_weight with {option}, which counts rows, got some. "
            "Repeat rows instead, or leave the weights out."
        )


def _certified(rule: FittedRule, *, calibration: Calibration | None) -> FittedRule:
    certificate = certify(
        rule.group_parameters,
        sigma=rule.sigma,
        groups=rule.certificate.groups,
        center=rule.center,
        slope=1.0 if calibration is None else calibration.slope,
    )
    return replace(rule, certificate=certificate, calibration=calibration)
