"""FRS: FairBatch on the rows of small loss, chosen so that no cell is crowded out."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from fairsmooth import _validate
from fairsmooth._types import Floats, Labels
from fairsmooth.baselines._kit.linear_adam import LinearAdam
from fairsmooth.baselines.fairbatch import mixing
from fairsmooth.baselines.fairbatch.classifier import FairBatchClassifier
from fairsmooth.data.groups import Groups

Integers = NDArray[np.integer[Any]]


class FRSClassifier(FairBatchClassifier):
    r"""FairBatch on a selection of rows that is small in loss and fair in composition.

    For training labels of which some are wrong. Each epoch FRS looks for

    .. math::
        \min_{S} \sum_{i \in S} \ell_i \quad \text{subject to} \quad
        |S| \le \tau n, \qquad |S_{yz}| \le \lambda_{yz} |S_y| \text{ for every cell},

    and trains on it with FairBatch's batches. The first ``warm_start`` epochs
    are plain shuffled batches of all rows. Every later epoch takes these steps:

    1. losses of all rows;
    2. one FairBatch step of :math:`\lambda` on the cells of the *previous*
       selection (for equalized odds a cell's mean divides by its size plus 1);
    3. greedy selection: rows in order of increasing loss, each one adding
       :math:`1 - \lambda_{yz} [\text{same } y] + [\text{same } y, z]` to the
       counter of every cell, until a counter, or the number of rows, reaches
       :math:`\lfloor \tau n \rfloor`;
    4. :math:`\lfloor |S| / b \rfloor` batches from the selection, sized by
       FairBatch's rule, one step of Adam each.

    A blocking row ends the selection rather than being passed over, so that
    :math:`|S|` may stay below :math:`\tau n`, and the constraint holds only up
    to the counters: :math:`|S| + |S_{yz}| - \lambda_{yz} |S_y| < \tau n + 2`.
    Model and initial weights are those of
    :class:`~fairsmooth.baselines.fairbatch.FairBatchClassifier`.

    Parameters
    ----------
    notion : {"equalized_odds", "equal_opportunity", "demographic_parity"}
        What to equalise between groups.
    tau : float
        Where the selection stops: when a counter of step 3, or the number of rows,
        reaches this share of all rows. Not the share of rows selected: that is at
        most this, and less where a cell's counter is full first. The authors set it
        to one minus the share of wrong labels; on clean labels ``tau < 1`` merely
        leaves out the rows of largest loss.
    alpha : float
        Step of :math:`\lambda` per epoch.
    warm_start : int
        Epochs before the first selection.
    n_epochs : int
        Epochs in all. The authors take 400; for flips aimed at one group, 450
        for equalized odds and 500 for demographic parity.
    batch_size : int
        Rows per batch, up to the rounding of the cells.
    learning_rate : float
        Step size of Adam.
    random_state : int, RandomState or None
        Where initial weights and batches come from.

    Attributes
    ----------
    weights_ : ndarray of shape (d + 1,)
        One weight per column, then the bias, of the logit.
    ratios_ : ndarray of shape (2, K)
        Last share of each group within label 0 and label 1.
    selected_ : ndarray of int
        Rows of the last selection, by increasing loss.

    Notes
    -----
    **Differs from the authors' code.** The selection is cut at the first
    crossing of a cumulative sum, which picks the same rows as their loop. Rows
    of equal loss are taken in their order in the data. A cell that the
    selection leaves empty gives no rows to a batch; a selection smaller than a
    batch still makes one.

    **Extension.** More than two groups, compared in sequence as in FairBatch.

    References
    ----------
    Roh, Lee, Whang, Suh: Sample Selection for Fair and Robust Training,
    NeurIPS 2021.

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> X, group = random.normal(size=(200, 2)), np.repeat(["a", "b"], 100)
    >>> y = X[:, 0] > 0
    >>> model = FRSClassifier(n_epochs=6, warm_start=3, learning_rate=0.05, random_state=0)
    >>> bool(model.fit(X, y, sensitive_features=group).score(X, y) > 0.8)
    True
    """

    def __init__(
        self,
        *,
        notion: str = "equalized_odds",
        tau: float = 0.9,
        alpha: float = 0.001,
        warm_start: int = 100,
        n_epochs: int = 400,
        batch_size: int = 100,
        learning_rate: float = 5e-4,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            notion=notion,
            alpha=alpha,
            n_epochs=n_epochs,
            batch_size=batch_size,
            learning_rate=learning_rate,
            random_state=random_state,
        )
        self.tau = tau
        self.warm_start = warm_start

    def _fit(self, X: Floats, y: Labels, groups: Groups) -> None:
        self._check_parameters()
        model, generator = self._model_and_batches(X, y, "frs")
        n_warm, n_epochs = self._n_epochs()
        selected: Integers = np.arange(len(y))
        self._warm_up(model, selected, generator, n_warm)
        cell_of_row = y * len(groups.labels) + groups.codes
        cells = _cells(cell_of_row, selected, len(groups.labels))
        ratios = mixing.natural_ratios(mixing.cell_counts(cells))
        for _ in range(n_epochs - n_warm):
            ratios = self._step_ratios(model, ratios, cells)
            selected = select_rows(
                model.by_loss(), cell_of_row, ratios, n_wanted=int(self.tau * len(y))
            )
            cells = _cells(cell_of_row, selected, len(groups.labels))
            sizes = mixing.batch_sizes(
                ratios,
                mixing.cell_counts(cells),
                notion=self.notion,
                batch_size=self.batch_size,
            )
            n_batches = max(len(selected) // self.batch_size, 1)
            mixing.run_epoch(model, cells, sizes, n_batches=n_batches, generator=generator)
        self.weights_ = model.weights
        self.ratios_ = ratios
        self.selected_ = selected

    def _n_epochs(self) -> tuple[int, int]:
        """Return the epochs before the first selection, and in all."""
        in_all = int(self.n_epochs or 0)
        return min(self.warm_start, in_all), in_all

    def _warm_up(
        self, model: LinearAdam, rows: Integers, generator: torch.Generator, n_epochs: int
    ) -> None:
        size = min(self.batch_size, len(rows))
        sizes = np.array([[size]])
        for _ in range(n_epochs):
            mixing.run_epoch(
                model, [[rows]], sizes, n_batches=len(rows) // size, generator=generator
            )

    def _step_ratios(
        self, model: LinearAdam, ratios: Floats, cells: list[list[Integers]]
    ) -> Floats:
        extra = 1 if self.notion == "equalized_odds" else 0
        losses = mixing.cell_losses(model, self.notion, cells, extra=extra)
        return mixing.step_ratios(ratios, losses, notion=self.notion, alpha=self.alpha)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        _validate.positive(tau=self.tau)
        _validate.in_range(0, 1, tau=self.tau)
        _validate.non_negative(warm_start=self.warm_start)


def select_rows(
    by_loss: Integers, cell_of_row: Integers, ratios: Floats, *, n_wanted: int
) -> Integers:
    r"""Select the rows of smallest loss until a cell's counter is full.

    Going through the rows by increasing loss, a row of cell :math:`(y, z)` adds
    2 - λ to its own counter, 1 - λ' to those of the other groups of its label,
    and 1 to all others. It is taken if every counter, and the number of rows
    taken, was still below ``n_wanted``.

    Parameters
    ----------
    by_loss : ndarray of int
        All rows by increasing loss.
    cell_of_row : ndarray of int
        Cell of every row, ``label * K + group``.
    ratios : ndarray of shape (2, K)
        Shares of the groups within each label, λ.
    n_wanted : int
        Limit of every counter and of the number of rows.

    Returns
    -------
    ndarray of int
        The rows, by increasing loss.

    Examples
    --------
    >>> by_loss, cells = np.array([1, 2, 0, 3]), np.array([0, 1, 2, 3])
    >>> select_rows(by_loss, cells, np.full((2, 2), 0.5), n_wanted=3)
    array([1, 2, 0])
    """
    n_groups = ratios.shape[1]
    same_label = np.kron(np.eye(2), np.ones((n_groups, n_groups)))
    # 1 + [same cell] first: the sums then round as those of the plain loop do.
    added = 1.0 + np.eye(2 * n_groups) - same_label * ratios.ravel()
    order = by_loss[:n_wanted]
    fullest = added.T.take(cell_of_row[order], axis=1).cumsum(axis=1).max(axis=0)
    n_taken = 1 + int(np.searchsorted(fullest, n_wanted, side="left"))
    return np.asarray(order[:n_taken])


def _cells(cell_of_row: Integers, selected: Integers, n_groups: int) -> list[list[Integers]]:
    cells = cell_of_row[selected]
    # Few cells are numbers in 16 bits, which are sorted by counting.
    keys = cells.astype(np.uint16) if 2 * n_groups <= 2**16 else cells
    ordered = selected[np.argsort(keys, kind="stable")]
    parts = np.split(ordered, np.cumsum(np.bincount(cells, minlength=2 * n_groups))[:-1])
    return [parts[:n_groups], parts[n_groups:]]
