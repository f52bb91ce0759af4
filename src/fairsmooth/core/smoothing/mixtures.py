r"""The logistic distribution as a mixture of normals, with as few of them as a score needs.

A standard logistic variable is :math:`2VZ` with ``V`` following Kolmogorov's distribution
(Andrews and Mallows, 1974), so :math:`E\,g(\mu + sZ) = E_V\,\Phi(\mu/\sqrt{s^2 + 4V^2})`. A Gauss
rule for the law of :math:`\log(s^2 + 4V^2)` needs the fewer normals the larger ``s``: noise of its
own smooths what the rule must follow. A rule made for one ``s`` serves every larger one, since
its error there is its error here averaged over more noise.
"""

import math
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np
from scipy.linalg import eigh_tridiagonal

from fairsmooth._types import Floats

# What is claimed for a score of a linear model: the mixtures, proven within 2.5e-10, and rounding.
LINEAR_ERROR = 1e-9
# Normals that serve every scale at once within 1e-10.
N_NODES = 16


@dataclass(frozen=True)
class Rule:
    """How many normals serve all scales from ``scale`` on, and the error proven for them.

    ``tools/certify_mixtures.py`` finds the scales and proves the errors, for all means at once.
    A table of few rules is the faster one: rows must be sorted by the rule that serves them.
    """

    scale: float
    n_nodes: int
    error: float

    @property
    def normals(self) -> tuple[Floats, Floats]:
        """Variances ``4V²`` and weights of the normals."""
        return _gauss_rule(self.n_nodes, self.scale)


FINE = (
    Rule(0.0, 14, 2.5e-10),
    Rule(0.934, 10, 2.5e-10),
    Rule(1.94, 7, 2.5e-10),
    Rule(3.29, 5, 2.5e-10),
    Rule(4.58, 4, 2.5e-10),
    Rule(7.22, 3, 2.5e-10),
    Rule(16.2, 2, 2.5e-10),
)
COARSE = (
    Rule(0.0, 7, 1e-6),
    Rule(1.04, 5, 1e-6),
    Rule(1.66, 4, 1e-6),
    Rule(2.7, 3, 1e-6),
    Rule(5.14, 2, 1e-6),
    Rule(24.0, 1, 1e-6),
)


def ranges(rules: tuple[Rule, ...], least: float, most: float) -> list[tuple[Rule, float, float]]:
    """Return the rules that scales from ``least`` to ``most`` need, each with its range.

    Examples
    --------
    >>> [(rule.n_nodes, low, high) for rule, low, high in ranges(FINE, 4.7, 9.0)]
    [(4, 4.58, 7.22), (3, 7.22, 16.2)]
    """
    edges = [*(rule.scale for rule in rules), math.inf]
    return [
        (rule, low, high)
        for rule, (low, high) in zip(rules, pairwise(edges), strict=True)
        if low <= most and least < high
    ]


def rule_from(rules: tuple[Rule, ...], scale: float) -> Rule:
    """Return the smallest rule that serves every scale from ``scale`` on, rounded or not.

    Examples
    --------
    >>> rule_from(COARSE, 2.0).n_nodes
    4
    """
    return max((rule for rule in rules if rule.scale <= 0.999999 * scale), key=lambda r: r.scale)


def logistic_mixture(n_nodes: int) -> tuple[Floats, Floats]:
    """Return widths ``2V`` and weights of normals that serve every scale from 0 on."""
    variances, weights = _gauss_rule(n_nodes, 0.0)
    return np.sqrt(variances), weights


@cache
def _gauss_rule(n_nodes: int, scale: float) -> tuple[Floats, Floats]:
    r"""Return :math:`4V^2` and weights of Gauss quadrature for the law of :math:`\log(s^2 + 4V^2)`.

    By the Lanczos recurrence on a fine trapezoid in ``log V``, which is exact to rounding for
    this smooth and rapidly falling density.
    """
    values = np.exp(np.linspace(math.log(0.1), math.log(8.0), 1200))
    masses = _kolmogorov_density(values) * values
    masses /= masses.sum()
    logs = np.log(scale**2 + 4.0 * values**2)
    basis = [np.sqrt(masses)]
    diagonal: list[float] = []
    off_diagonal: list[float] = []
    for _ in range(n_nodes):
        image = logs * basis[-1]
        diagonal.append(float(basis[-1] @ image))
        # Subtracting every earlier vector keeps them orthogonal to rounding.
        for vector in basis:
            image = image - (vector @ image) * vector
        for vector in basis:
            image = image - (vector @ image) * vector
        off_diagonal.append(float(np.linalg.norm(image)))
        basis.append(image / off_diagonal[-1])
    nodes, vectors = eigh_tridiagonal(np.array(diagonal), np.array(off_diagonal[:-1]))
    return np.exp(nodes) - scale**2, vectors[0] ** 2


def _kolmogorov_density(values: Floats) -> Floats:
    """Density of Kolmogorov's distribution by its two series, each where it converges fast."""
    v = values[:, None]
    k = np.arange(1, 30)[None, :]
    right = (8.0 * v * (-1.0) ** (k - 1) * k**2 * np.exp(-2.0 * (k * v) ** 2)).sum(1)
    c = (math.pi * (2 * k - 1)) ** 2 / (8.0 * v**2)
    left = (math.sqrt(2.0 * math.pi) / v**2 * (2.0 * c - 1.0) * np.exp(-c)).sum(1)
    return np.where(values > 1.0, right, left)
