r"""The normals that stand for the link in the loss of a linear model, row by row.

The perturbed logit of a row has the variance :math:`\sigma^2(\lVert x\rVert^2 + 1)`. The probit
link adds one normal to it, the logistic a mixture, of fewer normals the more noise a row has
(:mod:`fairsmooth.core.smoothing.mixtures`).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fairsmooth._types import Floats
from fairsmooth.core.smoothing.mixtures import FINE, Rule

# Enough normals for the loss: the mixture of 8 is itself a link within 9e-8 of
# the logistic, and the loss and its gradient agree to rounding.
TRAINING_NODES = 8
# Rows with much noise of their own have fewer, for a smaller error.
_RULES = (Rule(0.0, TRAINING_NODES, 9e-8), *(r for r in FINE if r.n_nodes < TRAINING_NODES))
# The least variance of a row that has the next rule.
_EDGES = np.square([rule.scale for rule in _RULES[1:]])
_FEW = 256
_PIECE = 2**16


class RowNormals(NamedTuple):
    """Normals of those rows of a piece that have equally many: of all rows if ``rows`` is None.

    Inverse standard deviations have the shape (nodes, rows), or (nodes, 1) if all rows have the
    same; shares (nodes,).
    """

    rows: Tensor | None
    inverse: Tensor
    shares: Tensor


@dataclass(frozen=True, eq=False)
class Spreads:
    """The noise of every row's logit, and which normals go with it.

    A row's normals depend on its own noise alone, so that its loss does not depend on other
    rows, nor on which rank holds it.

    Attributes
    ----------
    variances : ndarray of shape (n,) or (v,)
        Of every row; if there are few different ones, each of these once, ...
    places : ndarray of uint8, shape (n,), or None
        ... which one each row has; None if all have the same or each has its own.
    few : bool
        Whether there are few.
    normals : tuple of (ndarray, ndarray)
        Variances and shares of the normals, by rule.
    rules : ndarray of uint8, shape (n,), or None
        The rule of every row; None if all have the first.
    """

    variances: Floats
    places: NDArray[np.uint8] | None
    few: bool
    normals: tuple[tuple[Floats, Floats], ...]
    rules: NDArray[np.uint8] | None

    @classmethod
    def of(cls, squared_norms: Floats, *, sigma: float, link: str) -> "Spreads":
        """Compute once what no iteration changes."""
        variances = sigma * sigma * (squared_norms + 1.0)
        found = _few_values(variances)
        values, places = (variances, None) if found is None else found
        if link == "probit":
            return cls(values, places, found is not None, ((np.ones(1), np.ones(1)),), None)
        used, rules = np.unique(np.searchsorted(_EDGES, values, side="right"), return_inverse=True)
        normals = tuple(_RULES[rule].normals for rule in used)
        of_rows = rules.astype(np.uint8) if places is None else rules.astype(np.uint8)[places]
        return cls(values, places, found is not None, normals, of_rows if len(used) > 1 else None)

    def piece(self, start: int, stop: int) -> list[RowNormals]:
        """Return the normals of the rows ``start`` to ``stop``, by rule."""
        everything = slice(start, stop)
        if self.rules is None:
            return [self._normals(0, None, everything)]
        rules = self.rules[everything]
        used = np.flatnonzero(np.bincount(rules)).tolist()
        if len(used) == 1:
            return [self._normals(used[0], None, everything)]
        rows = [np.flatnonzero(rules == rule) for rule in used]
        return [
            self._normals(rule, torch.from_numpy(some), start + some)
            for rule, some in zip(used, rows, strict=True)
        ]

    def noise(self, start: int, stop: int) -> Tensor:
        """Return the variances of the rows ``start`` to ``stop``: one each, or one for all."""
        if not self.few:
            return torch.from_numpy(self.variances[start:stop])
        if self.places is None:
            return torch.from_numpy(self.variances)
        return torch.from_numpy(self.variances[self.places[start:stop]])

    @cached_property
    def least_noise(self) -> float:
        """The least variance of any row."""
        return float(self.variances.min(initial=np.inf))

    def _normals(
        self, rule: int, rows: Tensor | None, which: slice | NDArray[np.intp]
    ) -> RowNormals:
        widths, shares = (torch.from_numpy(part) for part in self.normals[rule])
        if not self.few:
            own = torch.from_numpy(self.variances[which])
            inverse = (own + widths.unsqueeze(-1)).rsqrt_()
        elif self.places is None:
            inverse = self._inverse[rule]
        else:
            places = torch.from_numpy(self.places[which]).int()
            inverse = self._inverse[rule].index_select(1, places)
        return RowNormals(rows, inverse, shares)

    @cached_property
    def _inverse(self) -> list[Tensor]:
        """Inverse standard deviations for the few different variances, (nodes, v) by rule."""
        found = (1.0 / np.sqrt(self.variances + widths[:, None]) for widths, _ in self.normals)
        return [torch.from_numpy(inverse) for inverse in found]


def logistic_normals(variances: Tensor) -> tuple[Tensor, Tensor]:
    """Return standard deviations, inverted, and shares of every row's normals, ``(..., 8)``.

    The same normals as :class:`Spreads` has, in the type and on the device of the rows'
    variances ``(...)``. Rules of fewer normals are filled up with shares of 0.
    """
    tables = np.zeros((2, len(_RULES), TRAINING_NODES))
    for place, rule in enumerate(_RULES):
        tables[:, place, : rule.n_nodes] = rule.normals
    widths, shares = (torch.from_numpy(table).to(variances) for table in tables)
    edges = torch.from_numpy(_EDGES).to(variances)
    rules = torch.bucketize(variances, edges, right=True)
    return (variances.unsqueeze(-1) + widths[rules]).rsqrt(), shares[rules]


def _few_values(values: Floats) -> tuple[Floats, NDArray[np.uint8] | None] | None:
    """Return the different values and the place of each, or None where they are many."""
    unique = values[:0]
    pieces = [slice(start, start + _PIECE) for start in range(0, len(values), _PIECE)]
    for piece in pieces:  # a sort of all values at once would take three times their memory
        unique = np.union1d(unique, values[piece])
        if len(unique) > _FEW:
            return None
    if len(unique) == 1:
        return unique, None
    places = np.empty(len(values), dtype=np.uint8)
    for piece in pieces:
        places[piece] = np.searchsorted(unique, values[piece])
    return unique, places
