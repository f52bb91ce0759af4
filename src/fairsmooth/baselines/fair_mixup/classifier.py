"""Fair Mixup: predictions change little along the paths from one group to another."""

from itertools import combinations
from typing import Any

import torch
from torch import Tensor

from fairsmooth import _validate
from fairsmooth._random import torch_generator
from fairsmooth._types import Floats, Labels
from fairsmooth.baselines._kit.neural import build_mlp, evaluate
from fairsmooth.baselines.fair_mixup.batches import Batches, Cells, Table
from fairsmooth.baselines.fair_mixup.step import MixupStep
from fairsmooth.classifier import GroupClassifier
from fairsmooth.data.groups import Groups
from fairsmooth.data.splits import Rows, hold_out
from fairsmooth.training.batching import rows_by_cell

_NOTIONS = ("demographic_parity", "equalized_odds")
_PAIRS = ("all", "random")
_SELECTIONS = ("gap", "last")
_RISKS = ("balanced", "population")


class FairMixupClassifier(GroupClassifier):
    r"""Penalise how fast the mean prediction changes on the way from group to group.

    For groups 0 and 1 and paired rows :math:`x_i^0, x_i^1`, with
    :math:`x_i^t = t x_i^0 + (1 - t) x_i^1` and :math:`p` the network's
    probability, the objective is

    .. math::

        \mathrm{BCE} + \lambda R, \qquad
        R = \Big| \frac1m \sum_i \langle \nabla_x p(x_i^t),\, x_i^1 - x_i^0 \rangle \Big|,

    :math:`R` being the slope of the mean prediction at one point of the path,
    whose integral over :math:`t` bounds the gap of mean predictions. For
    demographic parity the pairs are drawn from the groups; for equalized odds
    from the groups within each label, and the two slopes are added.

    Every iteration draws ``batch_size`` rows of each group (of each label and
    group), pairs them in the order drawn, draws one t uniform on [0, 1] (one
    per label), and takes one Adam step on the cross-entropy of the unmixed
    rows plus the penalty. The network is d-200-200-1 with ReLU.

    Parameters
    ----------
    notion : {"demographic_parity", "equalized_odds"}
        Which gap is penalised.
    penalty_weight : float
        :math:`\lambda`; the authors advise 0.1 to 0.7 for demographic parity
        and 0.5 to 5 for equalized odds.
    hidden_layer_sizes : tuple of int
        Widths of the hidden layers.
    batch_size : int
        Rows per group (per label and group); smaller cells repeat rows.
    n_epochs, n_iterations : int
        Epochs, and steps in each.
    learning_rate : float
        Of Adam.
    pairs : {"all", "random"}
        For more than two groups (extension): the mean penalty over all pairs
        of groups, or one random pair per iteration.
    risk : {"balanced", "population"}
        "balanced": the cross-entropy counts every drawn row alike, as the
        authors do, so groups, and for equalized odds labels too, weigh the
        same. "population" (extension) weights the cells by their share of the
        training rows, which leaves the threshold of ½ where it belongs.
    selection : {"gap", "last"}
        "gap": keep the epoch, after the first, with the smallest gap of mean
        probabilities on rows held out for it, as the authors do. "last": train
        on all rows and keep the last epoch.
    validation_fraction : float
        Share of the rows held out by ``selection="gap"``.
    random_state : int, RandomState or None
        Seed of weights, batches, pairings and the rows held out.

    Attributes
    ----------
    network_ : torch.nn.Sequential
        One logit per row.
    validation_gaps_ : tuple of float
        Gap on the held-out rows after every epoch; empty for "last".

    Notes
    -----
    Differs from the authors' code: the path slope and its gradient are written
    out and found in one backward pass instead of two, the same numbers; cells
    with fewer rows than a batch repeat rows instead of failing; their validation
    part, a fifth of all rows beside three fifths to train on, is here a
    quarter of the rows given to ``fit``; their binning of all numeric columns
    by the edges of age is left to the data. More than two groups are an
    extension. The sensitive column may be part of X; theirs was not.

    References
    ----------
    Chuang and Mroueh, "Fair Mixup: Fairness via Interpolation", ICLR 2021.
    """

    def __init__(
        self,
        *,
        notion: str = "demographic_parity",
        penalty_weight: float = 0.5,
        hidden_layer_sizes: tuple[int, ...] = (200, 200),
        batch_size: int = 500,
        n_epochs: int = 10,
        n_iterations: int = 100,
        learning_rate: float = 1e-3,
        pairs: str = "all",
        risk: str = "balanced",
        selection: str = "gap",
        validation_fraction: float = 0.25,
        random_state: Any = None,
    ) -> None:
        self.notion = notion
        self.penalty_weight = penalty_weight
        self.hidden_layer_sizes = hidden_layer_sizes
        self.batch_size = batch_size
        self.n_epochs = n_epochs
        self.n_iterations = n_iterations
        self.learning_rate = learning_rate
        self.pairs = pairs
        self.risk = risk
        self.selection = selection
        self.validation_fraction = validation_fraction
        self.random_state = random_state

    def _fit(self, X: Floats, y: Labels, groups: Groups) -> None:
        self._check_parameters()
        generator = torch_generator(self._seed(), "fair_mixup")
        fraction = self.validation_fraction if self.selection == "gap" else 0.0
        training, held = hold_out(
            y * len(groups.labels) + groups.codes,
            fraction,
            permute=lambda n: torch.randperm(n, generator=generator).numpy(),
            whole=int,
        )
        self.network_ = build_mlp((X.shape[1], *self.hidden_layer_sizes, 1), generator=generator)
        step = MixupStep(self.network_)
        cells, held_cells = (self._cells(y, groups, part) for part in (training, held))
        shares = self._shares(cells)
        table = Table.of(X, shares.numel() * self.batch_size)
        batches = Batches(table, y, cells, self.batch_size, shares)
        optimizer = torch.optim.Adam([step.parameters], lr=self.learning_rate, fused=True)
        gaps: list[float] = []
        kept = step.parameters.clone()
        for _ in range(self.n_epochs):
            for _ in range(self.n_iterations):
                self._differentiate(step, batches, len(groups.labels), generator)
                optimizer.step()
            gaps.append(table.gap(self.network_, held_cells))
            if self.selection == "last" or _is_best(gaps):
                kept.copy_(step.parameters)
        step.parameters.copy_(kept)
        self.network_.requires_grad_(False).double()
        self.validation_gaps_ = tuple(gaps) if self.selection == "gap" else ()

    def _scores(self, X: Floats) -> Floats:
        return evaluate(
            lambda rows: torch.sigmoid(self.network_(rows)[:, 0]), X, dtype=torch.float64
        )

    def _cells(self, y: Labels, groups: Groups, kept: Rows) -> Cells:
        """Return the rows to pair: blocks[block][group], one block, or one per label."""
        rows, part = torch.from_numpy(kept), Groups(groups.labels, groups.codes[kept])
        by_label = [[rows[own] for own in block] for block in rows_by_cell(y[kept], part)]
        if self.notion == "equalized_odds":
            return by_label
        return [[torch.cat(own) for own in zip(*by_label, strict=True)]]

    def _differentiate(
        self, step: MixupStep, batches: Batches, n_groups: int, generator: torch.Generator
    ) -> None:
        drawn = batches.draw(generator)
        pairs = list(combinations(range(n_groups), 2))
        if self.pairs == "random":
            pairs = [pairs[int(torch.randint(len(pairs), (1,), generator=generator))]]
        positions = torch.rand((len(drawn), len(pairs)), generator=generator).view(-1)
        weight = self.penalty_weight / len(pairs)
        step.differentiate(batches.compose(drawn, pairs), positions, weight)

    def _shares(self, cells: Cells) -> Tensor:
        sizes = torch.tensor([[float(len(own)) for own in block] for block in cells])
        return sizes if self.risk == "population" else torch.ones_like(sizes)

    def _check_parameters(self) -> None:
        _validate.one_of(_NOTIONS, notion=self.notion)
        _validate.one_of(_PAIRS, pairs=self.pairs)
        _validate.one_of(_RISKS, risk=self.risk)
        _validate.one_of(_SELECTIONS, selection=self.selection)
        _validate.non_negative(penalty_weight=self.penalty_weight)
        _validate.in_range(0.0, 0.9, validation_fraction=self.validation_fraction)
        _validate.positive(
            batch_size=self.batch_size,
            n_epochs=self.n_epochs,
            n_iterations=self.n_iterations,
            learning_rate=self.learning_rate,
        )


def _is_best(gaps: list[float]) -> bool:
    # The first epoch counts only while it is the only one: a network that
    # still predicts a constant has no gap.
    return len(gaps) < 3 or gaps[-1] < min(gaps[1:-1])
