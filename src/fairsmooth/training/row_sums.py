"""What a full-batch solver asks of rows, wherever they are: sums over them, by group.

The objective is a sum over rows, and groups meet only in their mean. So rows may be one table in
memory, a file that is mapped, the parts that several processes hold, or groups that never
leave their owners: whoever can add up :class:`Contribution` can train.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

from torch import Tensor

from fairsmooth._types import Floats
from fairsmooth.core.rows.rows import Index
from fairsmooth.training.problem import Problem


@dataclass(frozen=True, eq=False)
class Contribution:
    """What some rows add to the objective.

    Attributes
    ----------
    losses : ndarray of shape (K,)
        Weighted sums of the rows' losses.
    gradient : ndarray of shape (K, m)
        Their derivatives by each group's parameters.
    weights : ndarray of shape (K,)
        Sums of the rows' weights: of unweighted rows, their number.
    """

    losses: Floats
    gradient: Floats
    weights: Floats

    def __add__(self, other: "Contribution") -> "Contribution":
        return Contribution(
            self.losses + other.losses,
            self.gradient + other.gradient,
            self.weights + other.weights,
        )


class RowSums(ABC):
    """Rows of a linear model that a full-batch solver can minimise over."""

    @property
    @abstractmethod
    def n_parameters(self) -> int:
        """Number of features, and one for the intercept."""

    @abstractmethod
    def contribution(self, parameters: Floats) -> Contribution:
        """Go over all rows once with parameters ``(K, m)``, each row with its group's."""

    @abstractmethod
    def of_groups(self, chosen: Index) -> "RowSums":
        """Return the rows of some groups alone, in increasing order, copied and numbered anew."""

    @abstractmethod
    def curvature(self) -> Tensor:
        """Return second derivatives of a group's loss at 0, averaged over groups, (m, m)."""

    @abstractmethod
    def curvatures(self, parameters: Floats) -> Tensor:
        """Return second derivatives of every group's loss at its parameters, (K, m, m)."""

    @abstractmethod
    def squares(self) -> Tensor:
        """Return the mean square of every feature and of 1, averaged over groups, (m,)."""

    @abstractmethod
    def parity(self, problem: Problem, overall: Floats) -> tuple[Tensor, Tensor]:
        """Return the parity penalty of parameters ``(m,)`` for all, and its gradient."""


@dataclass(frozen=True, eq=False)
class SummedRows(RowSums):
    """Rows in parts, each of which knows what it is a part of: what they give is added up.

    See :class:`fairsmooth.training.grouped.Part`. The parity term looks at all rows at once, so
    it is left to those who hold them.
    """

    parts: Sequence[RowSums]

    @property
    def n_parameters(self) -> int:
        """Return what all parts have."""
        return self.parts[0].n_parameters

    def contribution(self, parameters: Floats) -> Contribution:
        """Add up what the parts contribute."""
        return reduce(add, (part.contribution(parameters) for part in self.parts))

    def of_groups(self, chosen: Index) -> "SummedRows":
        """Choose them in every part."""
        return SummedRows([part.of_groups(chosen) for part in self.parts])

    def curvature(self) -> Tensor:
        """Add up: every part divides by the rows of all."""
        return reduce(add, (part.curvature() for part in self.parts))

    def curvatures(self, parameters: Floats) -> Tensor:
        """Add up likewise."""
        return reduce(add, (part.curvatures(parameters) for part in self.parts))

    def squares(self) -> Tensor:
        """Add up likewise."""
        return reduce(add, (part.squares() for part in self.parts))

    def parity(self, problem: Problem, overall: Floats) -> tuple[Tensor, Tensor]:
        """Refuse: gaps are not sums over parts."""
        raise NotImplementedError("The parity term needs all rows in one place.")
