"""What an attack found."""

from collections.abc import Hashable
from dataclasses import dataclass

from fairsmooth._types import Floats
from fairsmooth.core.certificate import group_text


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
    """

    group: Hashable
    where: str
    gap: float
    bound: float
    paper_bound: float
    x: Floats
    tolerance: float

    @property
    def ratio(self) -> float:
        """The found gap as a share of the bound; 1 where both are 0."""
        return self.gap / self.bound if self.bound > 0.0 else float(self.gap <= self.tolerance)

    @property
    def violates(self) -> bool:
        """Whether the gap exceeds a bound by more than its numerical error; it never should."""
        return self.gap > min(self.bound, self.paper_bound) + self.tolerance

    def __str__(self) -> str:
        verdict = "VIOLATES its bound" if self.violates else "within its bound"
        return (
            f"{group_text(self.group)} ({self.where}): gap {self.gap:.6f} of {self.bound:.6f} "
            f"({self.ratio:.1%}), {verdict}; the paper's is {self.paper_bound:.6f}"
        )
