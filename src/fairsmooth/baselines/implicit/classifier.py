"""Implicit Path Alignment: a representation on which all groups want the same head."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from fairsmooth import _validate
from fairsmooth._random import torch_generator
from fairsmooth._types import Floats, Labels
from fairsmooth.baselines._kit.neural import build_mlp, evaluate
from fairsmooth.baselines.implicit.alignment import (
    conjugate_gradient,
    direct,
    head_gradient,
    implicit_gradient,
    with_intercept,
)
from fairsmooth.classifier import GroupClassifier
from fairsmooth.data.groups import Groups, match_groups
from fairsmooth.training.batching import draw_rows

_HEADS = ("group", "mean")
_SOLVERS = ("conjugate_gradient", "direct")


class ImplicitPathAlignmentClassifier(GroupClassifier):
    r"""Learn a representation whose optimal linear heads agree between groups.

    A network :math:`\varphi` is followed by one logistic head :math:`h_k` per
    group. With :math:`L_k` the mean cross-entropy of group :math:`k`,

    .. math::

        \min_\varphi \sum_k L_k(h_k^*, \varphi)
        + \frac{\kappa}{2} \sum_{k < l} \|h_k^* - h_l^*\|^2,
        \qquad h_k^* = \arg\min_h L_k(h, \varphi).

    Its target is sufficiency (predictive parity): equal
    :math:`P(y \mid \hat y)` in all groups; neither demographic parity nor
    equalized odds. Every iteration draws ``batch_size`` rows per group,
    takes ``n_head_steps`` Adam steps on every head with :math:`\varphi`
    frozen, solves :math:`H_k P_k = \partial_h L_k + \kappa \sum_l (h_k - h_l)`
    with :math:`H_k` the head's Hessian, and takes one Adam step on
    :math:`\varphi` along the implicit gradient
    :math:`\sum_k \partial_\varphi [L_k - \langle \partial_h L_k, P_k \rangle]`.
    Heads and optimiser states persist from one iteration to the next.

    As published, a row is scored by the head of its own group, so **the group
    is needed at prediction**: pass ``sensitive_features`` to ``predict`` and
    ``predict_proba``. Without it they use the mean of the heads (extension),
    which needs no group.

    Parameters
    ----------
    alignment_weight : float
        :math:`\kappa`. Large values are unstable.
    hidden_layer_sizes : tuple of int
        Widths of the representation, ReLU after each.
    n_iterations, n_head_steps : int
        Steps of the representation, and of the heads between two of those.
    batch_size : int
        Rows of every group per iteration; smaller groups repeat rows.
    learning_rate, adam_epsilon : float
        Of Adam, for the representation and the heads.
    solver : {"conjugate_gradient", "direct"}
        How :math:`P_k` is found: ``n_solver_steps`` undamped conjugate
        gradient steps, as the authors do, or a direct solve with
        ``damping`` added to the diagonal of the Hessian.
    n_solver_steps : int
        Conjugate gradient steps.
    damping : float
        Used by the direct solver only.
    head : {"group", "mean"}
        "group": a row's own head when its group is given, else the mean head.
        "mean": the mean head always, so that predictions never use the group.
    random_state : int, RandomState or None
        Seed of weights and batches.

    Attributes
    ----------
    network_ : torch.nn.Sequential
        The representation.
    heads_ : ndarray of shape (K, width + 1)
        One head per group of ``groups_``; the intercept comes last.

    Notes
    -----
    Differs from the authors' code: the head's gradient and Hessian are those
    of logistic regression in closed form instead of automatic
    differentiation, the same numbers at a fraction of the cost; groups with
    fewer rows than a batch repeat rows instead of failing; more than two
    groups are an extension, by the sum over pairs above (two groups: the
    published objective). Defaults are those of the authors' classification
    script; inputs should be of order one, as theirs were.

    References
    ----------
    Shui, Chen, Li, Wang and Gagné, "Fair Representation Learning through
    Implicit Path Alignment", ICML 2022.
    """

    def __init__(
        self,
        *,
        alignment_weight: float = 3e-4,
        hidden_layer_sizes: tuple[int, ...] = (200, 200),
        n_iterations: int = 100,
        n_head_steps: int = 15,
        batch_size: int = 500,
        learning_rate: float = 1e-3,
        adam_epsilon: float = 1e-3,
        solver: str = "conjugate_gradient",
        n_solver_steps: int = 5,
        damping: float = 1e-3,
        head: str = "group",
        random_state: Any = None,
    ) -> None:
        self.alignment_weight = alignment_weight
        self.hidden_layer_sizes = hidden_layer_sizes
        self.n_iterations = n_iterations
        self.n_head_steps = n_head_steps
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.adam_epsilon = adam_epsilon
        self.solver = solver
        self.n_solver_steps = n_solver_steps
        self.damping = damping
        self.head = head
        self.random_state = random_state

    def predict_proba(self, X: Any, *, sensitive_features: Any = None) -> Floats:
        """Return the probabilities of both classes, by the rows' own heads or the mean head.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.
        sensitive_features : array-like of shape (n,) or (n, c), optional
            Their groups. Without them, or with ``head="mean"``, the mean of
            the heads scores every row.

        Returns
        -------
        ndarray of shape (n, 2)
        """
        if sensitive_features is None or self.head == "mean":
            return super().predict_proba(X)
        rows = self._checked(X)
        groups = match_groups(sensitive_features, self.groups_, n_rows=len(rows))
        scores = self._head_scores(rows, self.heads_)[np.arange(len(rows)), groups.codes]
        return np.column_stack([1.0 - scores, scores])

    def predict(self, X: Any, *, sensitive_features: Any = None) -> NDArray[Any]:
        """Return the label of every row; see :meth:`predict_proba` for the groups."""
        scores = self.predict_proba(X, sensitive_features=sensitive_features)[:, 1]
        return np.asarray(self.classes_[(scores > 0.5).astype(np.intp)])

    def _fit(self, X: Floats, y: Labels, groups: Groups) -> None:
        self._check_parameters()
        generator = torch_generator(self._seed(), "implicit")
        sizes = (X.shape[1], *self.hidden_layer_sizes)
        network = build_mlp(sizes, generator=generator, activate_output=True)
        heads = build_mlp((sizes[-1], len(groups.labels)), generator=generator)[0]
        assert isinstance(heads, nn.Linear)
        stacked = torch.cat([heads.weight, heads.bias[:, None]], dim=1).detach()
        by_group = [torch.from_numpy(rows.astype(np.int64)) for rows in groups.rows()]
        rows = torch.tensor(X, dtype=torch.float32)
        labels = torch.tensor(y, dtype=torch.float32)
        outer = self._adam(list(network.parameters()))
        inner = self._adam([stacked])
        for _ in range(self.n_iterations):
            batch = torch.stack(
                [draw_rows(own, self.batch_size, generator=generator) for own in by_group]
            )
            features, targets = with_intercept(network(rows[batch])), labels[batch]
            fixed = features.detach()
            self._align_heads(fixed, targets, stacked, inner)
            outer.zero_grad()
            features.backward(self._gradient(fixed, targets, stacked))
            outer.step()
        self.network_ = network.requires_grad_(False).double()
        self.heads_ = stacked.to(torch.float64).numpy()

    def _scores(self, X: Floats) -> Floats:
        return self._head_scores(X, self.heads_.mean(axis=0, keepdims=True))[:, 0]

    def _head_scores(self, X: Floats, heads: Floats) -> Floats:
        weights = torch.from_numpy(heads).T
        return evaluate(
            lambda rows: torch.sigmoid(with_intercept(self.network_(rows)) @ weights),
            X,
            dtype=torch.float64,
        )

    def _align_heads(
        self, features: Tensor, labels: Tensor, heads: Tensor, optimizer: torch.optim.Optimizer
    ) -> None:
        for _ in range(self.n_head_steps):
            heads.grad = head_gradient(features, labels, heads)
            optimizer.step()

    def _gradient(self, features: Tensor, labels: Tensor, heads: Tensor) -> Tensor:
        solve = direct(self.damping)
        if self.solver == "conjugate_gradient":
            solve = conjugate_gradient(self.n_solver_steps)
        return implicit_gradient(
            features, labels, heads, alignment_weight=self.alignment_weight, solve=solve
        )

    def _adam(self, parameters: list[Tensor]) -> torch.optim.Optimizer:
        rate, epsilon = self.learning_rate, self.adam_epsilon
        return torch.optim.Adam(parameters, lr=rate, eps=epsilon, fused=True)

    def _check_parameters(self) -> None:
        _validate.one_of(_HEADS, head=self.head)
        _validate.one_of(_SOLVERS, solver=self.solver)
        _validate.non_negative(alignment_weight=self.alignment_weight, damping=self.damping)
        _validate.positive(
            n_iterations=self.n_iterations,
            batch_size=self.batch_size,
            n_head_steps=self.n_head_steps,
            n_solver_steps=self.n_solver_steps,
            learning_rate=self.learning_rate,
            adam_epsilon=self.adam_epsilon,
        )
