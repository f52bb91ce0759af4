"""The certificate: how far the overall classifier can stray from each group's own."""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairsmooth import _validate
from fairsmooth._types import Floats
from fairsmooth.core import outward
from fairsmooth.core.parameters import CENTERS
from fairsmooth.exceptions import InputError

Group = Hashable


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
        r"""Return an upper bound on :math:`r_k/\sigma`, the shift in standard deviations."""
        distance = self.distances[group]
        if distance == 0.0:
            return 0.0
        return distance / self.sigma * (1.0 + 2.0**-50) if self.sigma > 0 else math.inf

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
                **by_group,
            )
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(
                f"Expected a certificate as written by Certificate.to_dict, "
                f"got one that does not fit: {error}."
            ) from error

    def __str__(self) -> str:
        """Say in plain words what is guaranteed, and what is not."""
        return "\n".join(_in_words(self))


def certify(
    group_parameters: ArrayLike,
    *,
    sigma: float,
    groups: Sequence[Group] | None = None,
    center: str = "mean",
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
    parameters = _as_matrix(group_parameters)
    _validate.non_negative(sigma=sigma)
    _validate.one_of(CENTERS, center=center)
    labels: tuple[Group, ...] = (
        tuple(groups) if groups is not None else tuple(range(len(parameters)))
    )
    _validate.same_length(group_parameters=parameters, groups=labels)
    if len(set(labels)) != len(labels):
        raise InputError(f"Expected every group once, got groups={list(labels)}.")

    middle = CENTERS[center](parameters)
    radii = [outward.norm_up(row - middle) for row in parameters]
    linear = [outward.lipschitz_up(radius, sigma) for radius in radii]
    tight = [outward.total_variation_up(radius, sigma) for radius in radii]
    distance = _max_distance_up(parameters)
    n_groups = len(parameters)
    paper = outward.lipschitz_up(distance, sigma, share=(n_groups - 1) / n_groups)
    return Certificate(
        sigma=float(sigma),
        groups=labels,
        n_parameters=parameters.shape[1],
        max_distance=distance,
        distances=dict(zip(labels, radii, strict=True)),
        # W* is rounded to float64, so r_k may exceed (K-1)d/K by a rounding error.
        epsilon=max(paper, *linear),
        # For the smallest bounds erf and the linear bound round to the same number.
        epsilon_tight=max(min(t, b) for t, b in zip(tight, linear, strict=True)),
        epsilon_by_group={g: min(t, b) for g, t, b in zip(labels, tight, linear, strict=True)},
        epsilon_linear_by_group=dict(zip(labels, linear, strict=True)),
        center=center,
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


def _max_distance_up(parameters: Floats) -> float:
    pairs = ((i, j) for i in range(len(parameters)) for j in range(i))
    return max((outward.norm_up(parameters[i] - parameters[j]) for i, j in pairs), default=0.0)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _number(value: Any) -> float:
    return math.inf if value is None else float(value)


def group_text(group: Group) -> str:
    """Return a group's label as text; the parts of an intersectional label joined by a bar.

    Examples
    --------
    >>> group_text(("Female", "White"))
    'Female|White'
    """
    return "|".join(map(str, group)) if isinstance(group, tuple) else str(group)


def _ceiling(value: float) -> str:
    """Print four decimals, rounded up, so that the printed number is a bound too."""
    return f"{math.ceil(value * 1e4) / 1e4:.4f}" if math.isfinite(value) else "no bound"


def _in_words(certificate: Certificate) -> list[str]:
    c = certificate
    lines = [
        f"Fairness certificate, {len(c.groups)} groups, sigma = {c.sigma:g}, "
        f"{c.n_parameters} parameters.",
    ]
    if c.sigma == 0 and c.epsilon > 0:
        lines.append("Nothing is certified: with sigma = 0 the classifiers are not smoothed.")
        return lines
    lines.append(
        "For every input, and whatever the population becomes, the overall score differs from "
        "the score of a group's own classifier by at most:"
    )
    lines += [
        f"  {group_text(group)}: {_ceiling(c.epsilon_by_group[group])}  "
        f"(distance of the parameters {c.distances[group]:.4g})"
        for group in c.groups
    ]
    lines += [
        f"The paper's bound for all groups is {_ceiling(c.epsilon)} "
        f"(largest distance between two groups {c.max_distance:.4g}).",
        "So a group's selection rate, true and false positive rate and error rate, for decisions "
        "drawn with the score as probability, stay within these numbers of its own classifier's.",
        "It does not say that the groups are treated alike: it bounds neither the difference of "
        "selection rates nor that of error rates between groups. Those are measured by the audit.",
        "It does not say that a group's own classifier is the best for that group: the groups "
        "were trained with a tie between them. The audit reports what the tie cost.",
    ]
    return lines
