"""The certificate: how far the overall classifier can stray from each group's own."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairsmooth import _lazy, _validate
from fairsmooth._types import Floats
from fairsmooth.core import outward
from fairsmooth.core.certificate_text import in_html, in_words

# Offered here too: rooms that print a certificate print its groups.
from fairsmooth.core.labels import Group as Group
from fairsmooth.core.labels import group_text as group_text
from fairsmooth.core.parameters import CENTERS
from fairsmooth.exceptions import InputError


@dataclass(frozen=True)
class Certificate:
    r"""Bounds on :math:`|N(W^*)(x) - N(W_k)(x)|` that hold for every input ``x``.

    Every number is an upper bound in float64, rounded outward. They depend on
    the parameters alone: no data, no sampling, no assumption on the population.

    Attributes
    ----------
    sigma : float
        Standard deviation of the smoothing noise.
    groups : tuple
        Labels of the groups, in the order of the parameters.
    n_parameters : int
        Length of one parameter vector.
    max_distance : float
        :math:`d = \max_{k,l} \lVert W_k - W_l\rVert_2`.
    distances : dict
        :math:`r_k = \lVert W^* - W_k\rVert_2` by group.
    epsilon : float
        The paper's bound :math:`(K-1)d / (\sqrt{2\pi}K\sigma)`; it can exceed 1.
    epsilon_linear_by_group : dict
        :math:`r_k / (\sqrt{2\pi}\sigma)` by group; never more than ``epsilon``.
    epsilon_by_group : dict
        :math:`2\Phi(r_k/2\sigma) - 1` by group: the total variation between the
        two Gaussians, the least bound that holds for every base classifier
        into [0, 1]; never more than the linear one.
    epsilon_tight : float
        The largest of ``epsilon_by_group``.
    center : str
        How ``W*`` was made: "mean" (the paper) or "ball" (an extension).
    slope : float
        Slope ``a`` of the map :math:`\Phi(a\Phi^{-1}(p) + b)` that scores go through, 1 without
        one. Every bound is that of :math:`\sigma/a` then.

    References
    ----------
    Lemma 2 and Theorem 2, Eq. (12) and (13).
    """

    sigma: float
    groups: tuple[Group, ...]
    n_parameters: int
    max_distance: float
    distances: Mapping[Group, float]
    epsilon: float
    epsilon_tight: float
    epsilon_by_group: Mapping[Group, float]
    epsilon_linear_by_group: Mapping[Group, float]
    center: str = "mean"
    slope: float = 1.0

    def interval(self, p: ArrayLike, group: Group) -> NDArray[np.float64]:
        r"""Bound a group's own score wherever the overall score is ``p``.

        The group's own smooth classifier lies in
        :math:`[\Phi(\Phi^{-1}(p) - r_k/\sigma),\ \Phi(\Phi^{-1}(p) + r_k/\sigma)]`
        (Neyman-Pearson). Neither the input nor :math:`W_k` is needed. ``p`` is taken as
        exact: where it was computed with an error, use
        :meth:`FairSmoothClassifier.predict_interval`, which allows for it.

        Parameters
        ----------
        p : array-like
            Scores of the overall classifier, in [0, 1].
        group : label
            One of ``groups``.

        Returns
        -------
        ndarray of shape ``p.shape + (2,)``
            Lower and upper end, rounded outward.
        """
        if group not in self.distances:
            raise InputError(f"Expected group to be one of {list(self.groups)}, got {group!r}.")
        scores = np.asarray(p, dtype=np.float64)
        if not ((scores >= 0.0) & (scores <= 1.0)).all():
            raise InputError("Expected p between 0 and 1, got a value outside or not a number.")
        distance = self.distances[group]
        if distance == 0.0:
            return np.stack([scores, scores], axis=-1)
        shift = self.shift(group)
        if not math.isfinite(shift):
            return np.stack([np.zeros_like(scores), np.ones_like(scores)], axis=-1)
        low, high = outward.shifted_normal(scores, shift)
        # Both bounds hold, so their intersection does, and the half-width
        # never exceeds the tight bound.
        tight = self.epsilon_by_group[group]
        low = np.maximum(low, np.nextafter(scores - tight, -np.inf))
        high = np.minimum(high, np.nextafter(scores + tight, np.inf))
        return np.stack([np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)], axis=-1)

    def shift(self, group: Group) -> float:
        r"""Return an upper bound on :math:`a r_k/\sigma`, the shift in standard deviations."""
        distance = self.distances[group]
        if distance == 0.0:
            return 0.0
        sigma = outward.quotient_down(self.sigma, self.slope)
        return distance / sigma * (1.0 + 2.0**-50) if sigma > 0 else math.inf

    def to_html(self, path: Any = None) -> str:
        """Return the certificate as one HTML page; also write it, if asked."""
        return str(_lazy.fetched("fairsmooth.reporting.objects", "certificate_page")(self, path))

    def _repr_html_(self) -> str:
        return in_html(self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that JSON can hold; an infinite bound becomes ``None``."""
        return {
            "sigma": self.sigma,
            "groups": [list(g) if isinstance(g, tuple) else g for g in self.groups],
            "n_parameters": self.n_parameters,
            "max_distance": _finite(self.max_distance),
            "distances": [_finite(self.distances[g]) for g in self.groups],
            "epsilon": _finite(self.epsilon),
            "epsilon_tight": self.epsilon_tight,
            "epsilon_by_group": [self.epsilon_by_group[g] for g in self.groups],
            "epsilon_linear_by_group": [
                _finite(self.epsilon_linear_by_group[g]) for g in self.groups
            ],
            "center": self.center,
            **({} if self.slope == 1.0 else {"slope": self.slope}),
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "Certificate":
        """Rebuild a certificate from :meth:`to_dict`, checking its shape."""
        try:
            groups = tuple(tuple(g) if isinstance(g, list) else g for g in plain["groups"])
            by_group = {
                name: dict(zip(groups, map(_number, plain[name]), strict=True))
                for name in ("distances", "epsilon_by_group", "epsilon_linear_by_group")
            }
            return cls(
                sigma=float(plain["sigma"]),
                groups=groups,
                n_parameters=int(plain["n_parameters"]),
                max_distance=_number(plain["max_distance"]),
                epsilon=_number(plain["epsilon"]),
                epsilon_tight=float(plain["epsilon_tight"]),
                center=str(plain["center"]),
                slope=float(plain.get("slope", 1.0)),
                **by_group,
            )
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(
                f"Expected a certificate as written by Certificate.to_dict, "
                f"got one that does not fit: {error}."
            ) from error

    def __str__(self) -> str:
        """Say in plain words what is guaranteed, and what is not."""
        return "\n".join(in_words(self))


def certify(
    group_parameters: ArrayLike,
    *,
    sigma: float,
    groups: Sequence[Group] | None = None,
    center: str = "mean",
    parameters: ArrayLike | None = None,
    slope: float = 1.0,
) -> Certificate:
    r"""Bound how far the overall classifier strays from each group's own.

    For base classifiers into [0, 1], for **every** input and with no assumption
    on the data, the smoothed predictions at :math:`W^*` and :math:`W_k` differ
    by at most

    .. math:: \epsilon = \frac{(K - 1)\, d}{\sqrt{2\pi}\, K\, \sigma},

    and by no more than the sharper bounds described in :class:`Certificate`.

    Parameters
    ----------
    group_parameters : array-like of shape (K, m)
        One flat parameter vector per group, :math:`W_k`.
    sigma : float
        Standard deviation of the smoothing noise. With 0 nothing is smoothed
        and nothing is certified, unless the groups are identical.
    groups : sequence, optional
        Labels of the groups; 0 to K - 1 if left out.
    center : {"mean", "ball"}
        How the overall parameters are made from the groups'.
    parameters : array-like of shape (m,), optional
        The overall parameters, where they are known already: those of a model file.
        Distances are measured from them, whatever they are.
    slope : float
        Slope of the map that scores go through afterwards
        (:class:`~fairsmooth.core.calibration.Calibration`); the bounds are those of
        ``sigma / slope``.

    Returns
    -------
    Certificate

    References
    ----------
    Theorem 2, Eq. (13).

    Examples
    --------
    >>> certify([[0.0, 0.0], [0.3, 0.4]], sigma=0.5).epsilon
    0.1994...
    """
    stacked = _as_matrix(group_parameters)
    _validate.non_negative(sigma=sigma)
    _validate.positive(slope=slope)
    _validate.one_of(CENTERS, center=center)
    labels: tuple[Group, ...] = tuple(groups) if groups is not None else tuple(range(len(stacked)))
    _validate.same_length(group_parameters=stacked, groups=labels)
    if len(set(labels)) != len(labels):
        raise InputError(f"Expected every group once, got groups={list(labels)}.")

    middle = CENTERS[center](stacked) if parameters is None else _as_center(parameters, stacked)
    radii = outward.norms_up(stacked - middle).tolist()
    noise = outward.quotient_down(float(sigma), slope)
    linear = [outward.lipschitz_up(radius, noise) for radius in radii]
    tight = [outward.total_variation_up(radius, noise) for radius in radii]
    distance = outward.largest_distance_up(stacked)
    n_groups = len(stacked)
    paper = outward.lipschitz_up(distance, noise, share=(n_groups - 1) / n_groups)
    return Certificate(
        sigma=float(sigma),
        groups=labels,
        n_parameters=stacked.shape[1],
        max_distance=distance,
        distances=dict(zip(labels, radii, strict=True)),
        # W* is rounded to float64, so r_k may exceed (K-1)d/K by a rounding error.
        epsilon=max(paper, *linear),
        # For the smallest bounds erf and the linear bound round to the same number.
        epsilon_tight=max(min(t, b) for t, b in zip(tight, linear, strict=True)),
        epsilon_by_group={g: min(t, b) for g, t, b in zip(labels, tight, linear, strict=True)},
        epsilon_linear_by_group=dict(zip(labels, linear, strict=True)),
        center=center,
        slope=float(slope),
    )


def _as_matrix(group_parameters: ArrayLike) -> Floats:
    if hasattr(group_parameters, "detach"):  # a tensor, on whatever device
        group_parameters = group_parameters.detach().cpu().double().numpy()
    parameters = np.asarray(group_parameters, dtype=np.float64)
    if parameters.ndim != 2 or parameters.size == 0:
        raise InputError(
            "Expected group_parameters of shape (n_groups, n_parameters), "
            f"got shape {parameters.shape}."
        )
    if not np.isfinite(parameters).all():
        raise InputError("Expected finite group_parameters, got NaN or infinity.")
    return parameters


def _as_center(parameters: ArrayLike, stacked: Floats) -> Floats:
    center = np.asarray(parameters, dtype=np.float64)
    if center.shape != stacked.shape[1:] or not np.isfinite(center).all():
        raise InputError(
            f"Expected {stacked.shape[1]} finite overall parameters, got shape {center.shape}."
        )
    return center


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _number(value: Any) -> float:
    return math.inf if value is None else float(value)
