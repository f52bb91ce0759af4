"""Rows whose sums are written into a journal, and read from it when a training begins again."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from fairsmooth._types import Floats
from fairsmooth.core.rows import CodedRows
from fairsmooth.core.rows.rows import Index
from fairsmooth.training.grouped import GroupedRows
from fairsmooth.training.journal import Journal, current, question_of
from fairsmooth.training.problem import Problem
from fairsmooth.training.row_sums import Contribution, RowSums

# Measured: a number of an answer takes half as long to keep as a coded row to be gone over, so
# that from here on keeping adds a tenth at most.
_ROWS_OF_NUMBER = 5


@dataclass(frozen=True, eq=False)
class JournalledRows(RowSums):
    """Rows that are not gone over again for what the journal has the answer to."""

    rows: RowSums
    journal: Journal

    @property
    def n_parameters(self) -> int:
        """Number of features, and one for the intercept."""
        return self.rows.n_parameters

    def contribution(self, parameters: Floats) -> Contribution:
        """Recall what the rows contribute, or find and keep it."""
        question = question_of("contribution", parameters)
        n_groups = len(parameters)
        shapes = {"losses": (n_groups,), "gradient": parameters.shape, "weights": (n_groups,)}
        known = self.journal.recall(question, shapes)
        if known is None:
            known = vars(self.rows.contribution(parameters))
            self.journal.keep(question, known)
        return Contribution(**known)

    def of_groups(self, chosen: Index) -> "JournalledRows":
        """Choose them, and go on in the same journal."""
        return JournalledRows(self.rows.of_groups(chosen), self.journal)

    def curvature(self) -> Tensor:
        """Compute it anew: it takes a sample of the rows."""
        return self.rows.curvature()

    def curvatures(self, parameters: Floats) -> Tensor:
        """Compute them anew likewise."""
        return self.rows.curvatures(parameters)

    def squares(self) -> Tensor:
        """Compute them anew likewise."""
        return self.rows.squares()

    def parity(self, problem: Problem, overall: Floats) -> tuple[Tensor, Tensor]:
        """Recall penalty and gradient, or find and keep them."""
        question = question_of(f"parity {problem.parity_bandwidth!r}", overall)
        known = self.journal.recall(question, {"penalty": (1,), "gradient": overall.shape})
        if known is None:
            penalty, gradient = self.rows.parity(problem, overall)
            known = {"penalty": np.array([penalty.item()]), "gradient": gradient.numpy()}
            self.journal.keep(question, known)
        return torch.tensor(known["penalty"][0]), torch.from_numpy(known["gradient"])


def journalled(rows: RowSums, data: GroupedRows) -> RowSums:
    """Return rows that use the journal of this training, if it has one and they are not brief."""
    journal = current()
    return rows if journal is None or _is_brief(data) else JournalledRows(rows, journal)


def _is_brief(data: GroupedRows) -> bool:
    """Tell whether rows are gone over again in about the time that an answer takes to write."""
    n_numbers = data.n_groups * (data.rows.shape[1] + 1)
    return isinstance(data.rows, CodedRows) and len(data) < _ROWS_OF_NUMBER * n_numbers
