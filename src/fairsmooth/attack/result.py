"""What an attack found."""

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from fairsmooth._types import Floats
from fairsmooth.core.labels import group_text
from fairsmooth.core.outward import upper_text


@dataclass(frozen=True, eq=False)
class AttackResult:
    r"""The worst input found for one group.

    Attributes
    ----------
    group : label
        The group whose own classifier is compared with the overall one.
    where : {"unbounded", "box"}
        Where inputs were looked for: everywhere, or inside the box of the data.
    gap : float
        :math:`|N(W^*)(x) - N(W_k)(x)|` at ``x``, by exact smoothing: a lower
        bound on what the certificate bounds from above.
    bound : float
        The certificate's :math:`2\Phi(r_k/2\sigma) - 1`.
    paper_bound : float
        Theorem 2's :math:`(K-1)d/(\sqrt{2\pi}K\sigma)`, the same for all groups.
    x : ndarray of shape (d,)
        The input.
    tolerance : float
        Largest numerical error of ``gap``.
    ceiling : float or None
        No input whatever has a larger gap: proved for linear models over the whole space,
        to the rounding of float64; None where nothing better than ``bound`` is known.
    seconds : float
        Time really spent on this group and place.
    """

    group: Hashable
    where: str
    gap: float
    bound: float
    paper_bound: float
    x: Floats
    tolerance: float
    ceiling: float | None = None
    seconds: float = 0.0

    @property
    def ratio(self) -> float:
        """The found gap as a share of the bound; 1 where both are 0."""
        return self.gap / self.bound if self.bound > 0.0 else float(self.gap <= self.tolerance)

    @property
    def violates(self) -> bool:
        """Whether the gap exceeds a bound by more than its numerical error; it never should."""
        return self.gap > min(self.bound, self.paper_bound) + self.tolerance

    def to_dict(self) -> dict[str, Any]:
        """Return what a JSON document holds; an infinite bound is None."""
        return {
            "group": group_text(self.group),
            "where": self.where,
            "gap": self.gap,
            "bound": self.bound,
            "paper_bound": self.paper_bound if math.isfinite(self.paper_bound) else None,
            "ratio": self.ratio,
            "ceiling": self.ceiling,
            "tolerance": self.tolerance,
            "seconds": self.seconds,
            "input": self.x.tolist(),
        }

    def __str__(self) -> str:
        verdict = "VIOLATES its bound" if self.violates else "within its bound"
        proved = "" if self.ceiling is None else f", proved at most {upper_text(self.ceiling, 6)}"
        bound, paper_bound = (upper_text(b, 6) for b in (self.bound, self.paper_bound))
        return (
            f"{group_text(self.group)} ({self.where}): gap {self.gap:.6f} of {bound} "
            f"({self.ratio:.1%}), {verdict}{proved}; the paper's is {paper_bound}; "
            f"{self.seconds:.2f} s"
        )
