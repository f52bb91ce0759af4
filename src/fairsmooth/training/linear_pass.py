r"""One pass over the rows of a linear model: losses, gradients and weights, added up by group.

Everything that training needs of rows is such a sum, so a pass may go over pieces of a table,
over parts that several processes hold, or over groups that never meet, and add what it got.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from fairsmooth._types import Floats
from fairsmooth.core.rows import CodedRows, Rows
from fairsmooth.core.rows.rows import Index, segments
from fairsmooth.training.coded_products import pays, weighted_products
from fairsmooth.training.grouped import GroupedRows
from fairsmooth.training.margins import MarginLoss
from fairsmooth.training.parity import parity_penalty
from fairsmooth.training.pieces import Pieces, pieces_of
from fairsmooth.training.problem import Problem
from fairsmooth.training.row_sums import Contribution, RowSums

# Rows that tell the curvature well enough: it only sets the scale of a solver's steps.
CURVATURE_ROWS = 60_000
_PIECE = 4096


@dataclass(frozen=True, eq=False)
class LinearPass(RowSums):
    """Rows of a linear model with exact smoothing, gone over piece by piece.

    No array as long as the table is made, but for what is kept of every row.
    """

    data: GroupedRows
    sigma: float
    link: str

    @property
    def n_parameters(self) -> int:
        """Number of features, and one for the intercept."""
        return self.data.rows.shape[1] + 1

    @cached_property
    def loss(self) -> MarginLoss:
        """What no iteration changes."""
        return MarginLoss.of(self.data.rows.squared_norms(), sigma=self.sigma, link=self.link)

    @cached_property
    def _pieces(self) -> Pieces:
        """How to go over the rows."""
        return pieces_of(self.data.rows, self.data.groups, self.data.n_groups)

    def contribution(self, parameters: Floats) -> Contribution:
        """Go over all rows once with parameters ``(K, m)``, each row with its group's."""
        data, pieces = self.data, self._pieces
        table = pieces.table(parameters)
        sums, losses = np.zeros_like(table), np.zeros(data.n_groups)
        for piece in pieces:
            start, stop = piece.start, piece.stop
            sign = data.labels[start:stop] * 2.0 - 1.0
            margins = torch.from_numpy(piece.logits(table) * sign)
            loss, slope = (part.numpy() for part in self.loss.loss_and_slope(margins, start, stop))
            if data.weights is not None:
                loss, slope = loss * data.weights[start:stop], slope * data.weights[start:stop]
            of = data.groups[start:stop]
            losses += np.bincount(of, weights=loss, minlength=data.n_groups)
            piece.add_sums(slope * sign, sums)
        return Contribution(losses, pieces.gradient(sums), data.own_totals)

    def of_groups(self, chosen: Index) -> "LinearPass":
        """Copy the rows of some groups."""
        return LinearPass(self.data.of_groups(chosen), self.sigma, self.link)

    def parity(self, problem: Problem, overall: Floats) -> tuple[Tensor, Tensor]:
        """Return the penalty of the overall classifier's gaps and its gradient, (m,)."""
        data = self.data
        scores, slopes = self.overall(overall)
        scores.requires_grad_()
        labels = torch.from_numpy(data.labels).to(scores.dtype)
        sizes = data.sizes.tolist()
        weights = None if data.weights is None else torch.from_numpy(data.weights).split(sizes)
        assert problem.parity is not None
        penalty = parity_penalty(
            scores.split(sizes),
            labels.split(sizes),
            parity=problem.parity,
            threshold=problem.threshold,
            tolerance=problem.parity_tolerance,
            bandwidth=problem.parity_bandwidth,
            weights=weights,
        )
        (by_score,) = torch.autograd.grad(penalty, scores)
        gradient = _sums(data.rows, (by_score * slopes).numpy())
        return penalty.detach(), torch.from_numpy(gradient)

    def overall(self, parameters: Floats) -> tuple[Tensor, Tensor]:
        """Return score and slope of every row under one parameter vector ``(m,)``."""
        logits = torch.from_numpy(self.data.rows.logits(parameters))
        parts = [
            self.loss.score_and_slope(logits[start:stop], start, stop)
            for start, stop in self.data.rows.bounds()
        ]
        scores, slopes = zip(*parts, strict=True)
        return torch.cat(scores), torch.cat(slopes)

    def curvature(self) -> Tensor:
        """Return second derivatives of a group's loss at 0, averaged over groups, (m, m)."""
        return torch.from_numpy(self._curvatures(None)[0])

    def curvatures(self, parameters: Floats) -> Tensor:
        """Return second derivatives of every group's loss at its parameters, (K, m, m)."""
        return torch.from_numpy(self._curvatures(parameters))

    def _curvatures(self, parameters: Floats | None) -> Floats:
        sample = LinearPass(self.data.sample(CURVATURE_ROWS), self.sigma, self.link)
        n_sums = 1 if parameters is None else int(np.count_nonzero(sample.data.sizes))
        if len(sample.data) and pays(sample.data.rows, n_sums):  # a rank may have no rows
            return sample._coded_curvatures(parameters)
        data, width = sample.data, self.n_parameters
        total = np.zeros((1 if parameters is None else data.n_groups, width, width))
        for start in range(0, len(data), _PIECE):
            stop = min(start + _PIECE, len(data))
            rows = data.rows.take(slice(start, stop)).toarray()
            padded = np.column_stack([rows, np.ones(len(rows))])
            of = data.groups[start:stop]
            bend = sample.row_weights(start, stop)
            if parameters is None:
                margins = np.zeros(len(rows))
                bend *= sample.loss.bend(torch.from_numpy(margins), start, stop).numpy()
                total[0] += (padded * (bend / data.n_groups)[:, None]).T @ padded
                continue
            margins = np.einsum("ij,ij->i", padded, parameters[of])
            margins *= data.labels[start:stop] * 2.0 - 1.0
            bend *= sample.loss.bend(torch.from_numpy(margins), start, stop).numpy()
            for group, first, last in segments(of):
                part = padded[first:last]
                total[group] += (part * bend[first:last, None]).T @ part
        return total

    def _coded_curvatures(self, parameters: Floats | None) -> Floats:
        """Return the same of coded rows, by the levels that meet in them."""
        data, n_rows = self.data, len(self.data)
        margins = np.zeros(n_rows)
        if parameters is not None:
            table = self._pieces.table(parameters)
            for piece in self._pieces:
                margins[piece.start : piece.stop] = piece.logits(table)
            margins *= data.labels * 2.0 - 1.0
        bend = self.row_weights(0, n_rows)
        bend *= self.loss.bend(torch.from_numpy(margins), 0, n_rows).numpy()
        assert isinstance(data.rows, CodedRows)
        if parameters is None:
            return weighted_products(data.rows, bend / data.n_groups)[None]
        total = np.zeros((data.n_groups, self.n_parameters, self.n_parameters))
        for group, first, last in segments(data.groups):
            own = data.rows.take(slice(first, last))
            total[group] = weighted_products(own, bend[first:last])
        return total

    def squares(self) -> Tensor:
        """Return the mean square of every feature and of 1, averaged over groups, (m,)."""
        sample = LinearPass(self.data.sample(CURVATURE_ROWS), self.sigma, self.link)
        values = sample.row_weights(0, len(sample.data)) / self.data.n_groups
        return torch.from_numpy(_sums(sample.data.rows.squared(), values))

    def row_weights(self, start: int, stop: int) -> Floats:
        """Return the weight of each row in the mean over its group."""
        data = self.data
        weights = (1.0 / data.totals)[data.groups[start:stop]]
        return weights if data.weights is None else weights * data.weights[start:stop]


def _sums(rows: Rows, values: Floats) -> Floats:
    """Return the sum over rows of a value times ``(x, 1)``, shape (m,)."""
    sums = np.zeros_like(rows.table(np.zeros((1, rows.shape[1] + 1))))
    for start, stop, block in rows.blocks(np.zeros(len(rows), dtype=np.int8)):
        block.add_sums(values[start:stop], sums)
    return np.asarray(rows.gradient(sums)[0])
