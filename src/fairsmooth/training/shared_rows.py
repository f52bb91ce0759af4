"""Rows that several ranks hold together: each goes over its own, and the sums are added up."""

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from fairsmooth._types import Floats
from fairsmooth.core.architecture import Network
from fairsmooth.core.build import AnyNetwork
from fairsmooth.core.ranks import Ranks
from fairsmooth.core.rows.rows import Index
from fairsmooth.exceptions import InputError
from fairsmooth.training.grouped import GroupedRows, Part
from fairsmooth.training.problem import Problem
from fairsmooth.training.row_sums import Contribution, RowSums
from fairsmooth.training.settings import Settings


@dataclass(frozen=True, eq=False)
class SharedRows(RowSums):
    """Own rows, which know what they are a part of, and those of the other ranks.

    Every rank gets the same sums, so every rank takes the same steps. What leaves a rank are
    losses, gradients, second derivatives and numbers of rows, by group, in float64.
    """

    own: RowSums
    ranks: Ranks

    @property
    def n_parameters(self) -> int:
        """Return what every rank has."""
        return self.own.n_parameters

    def contribution(self, parameters: Floats) -> Contribution:
        """Add up what the ranks contribute, in one message."""
        own = self.own.contribution(parameters)
        together = self.ranks.sum(np.column_stack([own.losses, own.weights, own.gradient]))
        return Contribution(together[:, 0], together[:, 2:].copy(), together[:, 1])

    def of_groups(self, chosen: Index) -> "SharedRows":
        """Choose them on every rank: all have the same steps behind them."""
        return SharedRows(self.own.of_groups(chosen), self.ranks)

    def curvature(self) -> Tensor:
        """Add up: every rank divides by the rows of all."""
        return self._sum(self.own.curvature())

    def curvatures(self, parameters: Floats) -> Tensor:
        """Add up likewise."""
        return self._sum(self.own.curvatures(parameters))

    def squares(self) -> Tensor:
        """Add up likewise."""
        return self._sum(self.own.squares())

    def parity(self, problem: Problem, overall: Floats) -> tuple[Tensor, Tensor]:
        """Refuse: gaps are not sums over ranks."""
        raise NotImplementedError("The parity term needs all rows in one place.")

    def _sum(self, own: Tensor) -> Tensor:
        return torch.from_numpy(self.ranks.sum(own.numpy()))


def placed(rows: GroupedRows, ranks: Ranks) -> GroupedRows:
    """Tell unweighted rows what they are a part of."""
    before, sizes = ranks.placed(rows.sizes)
    return replace(rows, part=Part(before.astype(np.int64), sizes.astype(np.int64), sizes))


def shared_settings(architecture: AnyNetwork, settings: Settings) -> Settings:
    """Return the settings of a training by several ranks; refuse what is no sum over rows."""
    linear = isinstance(architecture, Network) and not architecture.hidden_layer_sizes
    full_batch = settings.solver == "lbfgs"
    refused = {
        "parity": settings.parity is not None,
        "calibrate=True": settings.calibrated,
        f"threshold={settings.threshold!r}": isinstance(settings.threshold, str),
        "early_stopping=True": settings.early_stopping,
        "solver='lbfgs' of a network": full_batch and not linear,
        f"solver='lbfgs' on {settings.device!r}": full_batch
        and settings.device not in ("auto", "cpu"),
    }
    for what, given in refused.items():
        if given:
            raise InputError(
                f"Expected a training that several ranks can share, got {what}. "
                "Train in one process, or leave it out."
            )
    return replace(settings, device="cpu") if full_batch else settings
