r"""The overall parameters as a function of the groups', for terms that look at the overall one.

The smallest ball's centre is where all points that hold it are equally far: with differences
``D`` of those from one of them, and :math:`G = D D^\top`, that point plus :math:`x^\top D` with
:math:`x = \frac12 G^{-1} \mathrm{diag}(G)`. It lies between them: a point with a negative share in
it holds nothing, and neither do points inside.
"""

import torch
from torch import Tensor

from fairsmooth.core.parameters import CENTERS

# Share of the radius within which points may hold the ball: the centre comes from an optimiser.
_NEAR_SURFACE = 1e-3
# Share of the radius by which the optimiser's centre may be off.
_AGREED = 1e-4
# Points that nearly depend on each other say nothing new.
_DEPENDENT = 1e-9


def overall_parameters(group_parameters: Tensor, center: str) -> Tensor:
    """Return ``W*`` (m,) of parameters ``(K, m)``, under autograd.

    Examples
    --------
    >>> overall_parameters(torch.tensor([[0.0], [1.0], [4.0]]), "ball")
    tensor([2.])
    """
    if center == "mean" or len(group_parameters) == 2:
        return group_parameters.mean(0)
    points = group_parameters.cpu().double()
    known = points.detach()
    found = torch.from_numpy(CENTERS[center](known.numpy()))
    distances = (known - found).norm(dim=-1)
    radius = float(distances.max())
    if radius == 0.0:
        return group_parameters.mean(0)
    near = torch.nonzero(distances >= (1.0 - _NEAR_SURFACE) * radius).squeeze(1)
    exact = _equally_far(points[_holding(known, near)])[0]
    # The formula has none of the optimiser's noise; where they differ it only gives the slope.
    if float((exact.detach() - found).norm()) > _AGREED * radius:
        exact = found + exact - exact.detach()
    return exact.to(group_parameters)


def _holding(points: Tensor, near: Tensor) -> Tensor:
    """Return which of the points near the surface hold the ball."""
    while len(near) > 2:
        shares = _equally_far(points[near])[1]
        if float(shares.min()) >= 0.0:
            break
        near = near[torch.arange(len(near)) != int(shares.argmin())]
    return near


def _equally_far(points: Tensor) -> tuple[Tensor, Tensor]:
    """Return the centre of points on a sphere, and the share of each in it."""
    sides = points[1:] - points[0]
    gram = sides @ sides.mT
    inverse = torch.linalg.pinv(gram, rtol=_DEPENDENT, hermitian=True)
    shares = 0.5 * (inverse @ gram.diagonal())
    return points[0] + shares @ sides, torch.cat([1.0 - shares.sum(0, keepdim=True), shares])
