"""What an attack needs to know of a model."""

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from fairsmooth._types import Floats
from fairsmooth.core import outward
from fairsmooth.core.architecture import Network
from fairsmooth.core.calibration import Calibration
from fairsmooth.core.certificate import certify
from fairsmooth.core.smoothing.exact import is_exact, smooth_with_error
from fairsmooth.exceptions import InputError

_EDGE = 2.0**-53


@dataclass(frozen=True, eq=False)
class Target:
    """A model under attack: its architecture, its parameters and how it is smoothed.

    Parameters
    ----------
    network : Network
        Linear or with one hidden layer, so that smoothing is exact.
    group_parameters : ndarray of shape (K, m)
        ``W_k``.
    parameters : ndarray of shape (m,)
        ``W*``.
    sigma : float
        Standard deviation of the smoothing noise.
    link : {"logistic", "probit", "step"}
        Turns logits into scores.
    groups : tuple
        Labels of the groups.
    calibration : Calibration, optional
        The map that every score goes through; gaps and bounds are those after it.

    Examples
    --------
    >>> target = Target(Network(1), np.array([[1.0, 0.0], [2.0, 0.0]]),
    ...                 np.array([1.5, 0.0]), sigma=0.5, link="probit", groups=("a", "b"))
    >>> float(target.gaps(torch.tensor([[2.0]]).double(), 0)[0])
    0.068...
    """

    network: Network
    group_parameters: Floats
    parameters: Floats
    sigma: float
    link: str
    groups: tuple[Hashable, ...]
    calibration: Calibration | None = None

    def __post_init__(self) -> None:
        if not is_exact(self.network):
            raise InputError(
                "Expected a linear model or a network with one hidden layer, whose smoothing is "
                f"exact, got {self.network!r}. Measure gaps of others with the audit."
            )
        shape = (len(self.groups), self.network.n_parameters)
        if self.group_parameters.shape != shape or self.parameters.shape != shape[1:]:
            raise InputError(
                f"Expected group_parameters of shape {shape} and parameters of shape {shape[1:]}, "
                f"got {self.group_parameters.shape} and {self.parameters.shape}."
            )

    def gaps(self, X: Tensor, position: int) -> Tensor:
        """Return the gap between the overall and one group's own score for every row."""
        return self.gaps_with_error(X, position)[0]

    def gaps_with_error(self, X: Tensor, position: int) -> tuple[Tensor, Tensor]:
        r"""Return the gaps of :meth:`gaps` and bounds on their numerical error.

        Beside the error that smoothing claims, the rounding of the first layer's sums: a
        sum of ``n`` products is the exact sum for weights off by at most ``n`` units each, and
        by Lemma 2 weights off by ``r`` move a score by at most :math:`r/(\sqrt{2\pi}\sigma)`.
        """
        pair = np.stack([self.parameters, self.group_parameters[position]])
        if np.array_equal(*pair):  # equal parameters have equal scores, whatever rounds
            nothing = 0.0 * X.sum(-1)
            return nothing, nothing.detach()
        scores, errors = smooth_with_error(
            self.network, torch.as_tensor(pair), X, sigma=self.sigma, link=self.link
        )
        rounding = torch.tensor([[self._rounding(weights)] for weights in pair])
        scores, errors = self._calibrated(scores, errors + rounding)
        return (scores[0] - scores[1]).abs(), errors.sum(0)

    def _calibrated(self, scores: Tensor, errors: Tensor) -> tuple[Tensor, Tensor]:
        """Return scores after the map, and how far their errors reach through it."""
        if self.calibration is None:
            return scores, errors
        inside = scores.detach().numpy()
        low, high = (np.clip(inside + sign * errors.numpy(), 0.0, 1.0) for sign in (-1.0, 1.0))
        lowest, highest = self.calibration.outward(low, high)
        # Away from 0 and 1, where the quantile has no slope to climb along.
        quantile = torch.special.ndtri(scores.clamp(_EDGE, 1.0 - _EDGE))
        mapped = torch.special.ndtr(self.calibration.slope * quantile + self.calibration.offset)
        middle = mapped.detach().numpy()
        reach = np.maximum(highest - middle, middle - lowest)
        return mapped, torch.as_tensor(np.maximum(reach, 0.0))

    def _rounding(self, weights: Floats) -> float:
        if self.sigma == 0.0:  # the bound is 1 then, or the weights are equal and so are their sums
            return 0.0
        units = (self.network.n_features + 2) * 2.0**-53
        return min(1.0, outward.lipschitz_up(units * outward.norm_up(weights), self.sigma))

    def bound(self, position: int) -> float:
        """Return the certificate's bound for one group, rounded outward."""
        return outward.total_variation_up(self._radius(position), self._noise)

    def paper_bound(self) -> float:
        """Return the bound of Theorem 2, rounded outward."""
        return self._paper_bound

    @cached_property
    def _paper_bound(self) -> float:
        epsilon = certify(self.group_parameters, sigma=self.sigma, slope=self._slope).epsilon
        radii = [self._radius(position) for position in range(len(self.groups))]
        return max(epsilon, *(outward.lipschitz_up(radius, self._noise) for radius in radii))

    @property
    def _slope(self) -> float:
        return 1.0 if self.calibration is None else self.calibration.slope

    @property
    def _noise(self) -> float:
        return outward.quotient_down(self.sigma, self._slope)

    def _radius(self, position: int) -> float:
        return outward.norm_up(self.group_parameters[position] - self.parameters)
