"""ARL: a learner against an adversary that weights the rows it can tell are hard."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fairsmooth import _validate
from fairsmooth._random import torch_generator
from fairsmooth._types import Floats, Labels
from fairsmooth.baselines._kit.neural import build_mlp, evaluate
from fairsmooth.baselines.arl.step import (
    Adagrad,
    AdversaryStep,
    LearnerStep,
    logistic_losses,
    outputs_to_weights,
)
from fairsmooth.classifier import GroupClassifier
from fairsmooth.data.groups import Groups
from fairsmooth.training.batching import shuffled_batches

_LEARNER_WIDTHS = (64, 32)
_ADVERSARY_WIDTH = 32


class ARLClassifier(GroupClassifier):
    r"""A network trained against an adversary that puts weight on the rows it errs on.

    Adversarially reweighted learning solves

    .. math::
        \min_\theta \max_\phi \frac{1}{m} \sum_i \lambda_\phi(x_i, y_i)\,
        \ell(f_\theta(x_i), y_i), \qquad
        \lambda_i = 1 + \frac{a_i}{\max(\bar a, 10^{-4})}, \quad
        a_i = \varsigma(g_\phi(x_i, y_i)),

    with :math:`\ell` the cross-entropy and :math:`\bar a` the mean over the
    batch. The aim is Rawlsian: a higher utility (AUC) for the worst-off group
    *without* being told the groups. Sensitive features are therefore checked
    and then ignored, any number of groups is alike, and neither demographic
    parity nor equalized odds is optimised; expect no smaller gaps.

    Per batch, from one forward pass: the learner's step on the weighted loss
    with the weights held fixed, and the adversary's step on minus the same
    quantity with the losses held fixed. The first ``pretrain_steps`` batches
    train the learner alone, unweighted.

    Learner: 64 and 32 units with ReLU, one logit. Adversary: 32 units without
    activation, one logit, so that it is log-linear in features and label.
    Both use Adagrad.

    Parameters
    ----------
    n_steps : int
        Updates in all: learner and adversary both count, so that there are
        ``pretrain_steps + (n_steps - pretrain_steps) / 2`` batches.
    pretrain_steps : int
        Batches before the adversary joins.
    batch_size : int
        Rows per batch; all rows if there are fewer.
    learning_rate : float
        The learner's step size.
    adversary_learning_rate : float
        The adversary's; the authors' tuning found 2 for Adult, 0.001 for COMPAS.
    random_state : int, RandomState or None
        Where initial weights and batches come from.

    Attributes
    ----------
    learner_, adversary_ : torch.nn.Module
        The trained networks, on standardised features.
    center_, scale_ : ndarray of shape (d,)
        How features are standardised.

    Notes
    -----
    **Differs from the authors' code.** Categories come one-hot encoded instead
    of through embeddings of 32 numbers; columns with more than two values are
    standardised, as the authors do with numeric ones. Initial weights are
    torch's uniform ones rather than TensorFlow's. Batches are shuffled; the
    original reads rows in file order. Its script's defaults (batches of 32,
    both rates 0.001, 20 steps) stop before the adversary's first update; batch
    size and rates here are those tuned for Adult. Its graph runs both updates at
    every batch, the adversary's with a gradient of 0 while weights are 1; so its
    counter, which both raise, ends the pretraining after ``pretrain_steps / 2``
    batches, and ``n_steps`` are half as many batches. One-hot columns learn more
    slowly than embeddings under Adagrad: with embeddings 990 steps do for Adult
    and 470 for COMPAS, without them 3000 are needed for the published AUC. The
    authors leave the sensitive columns out of the features, and so should ``X``.

    References
    ----------
    Lahoti, Beutel, Chen, Lee, Prost, Thain, Wang, Chi: Fairness without
    Demographics through Adversarially Reweighted Learning, NeurIPS 2020.

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> X, group = random.normal(size=(200, 2)), np.repeat(["a", "b"], 100)
    >>> y = X[:, 0] > 0
    >>> model = ARLClassifier(n_steps=300, random_state=0)
    >>> bool(model.fit(X, y, sensitive_features=group).score(X, y) > 0.8)
    True
    """

    def __init__(
        self,
        *,
        n_steps: int = 3000,
        pretrain_steps: int = 250,
        batch_size: int = 512,
        learning_rate: float = 0.01,
        adversary_learning_rate: float = 2.0,
        random_state: Any = None,
    ) -> None:
        self.n_steps = n_steps
        self.pretrain_steps = pretrain_steps
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.adversary_learning_rate = adversary_learning_rate
        self.random_state = random_state

    def _fit(self, X: Floats, y: Labels, groups: Groups) -> None:
        self._check_parameters()
        self.center_, self.scale_ = _standardisation(X)
        scaled = (X - self.center_) / self.scale_
        seen = np.column_stack([scaled, y]).astype(np.float32)
        seed = self._seed()
        self.learner_ = build_mlp(
            (X.shape[1], *_LEARNER_WIDTHS, 1), generator=torch_generator(seed, "arl", "learner")
        )
        self.adversary_ = build_mlp(
            (X.shape[1] + 1, _ADVERSARY_WIDTH, 1),
            "identity",
            generator=torch_generator(seed, "arl", "adversary"),
        )
        batches = _endless(len(y), self.batch_size, torch_generator(seed, "arl", "batches"))
        self._train(seen, batches)

    def _train(self, seen: NDArray[np.float32], batches: Iterator[Tensor]) -> None:
        learner, adversary = LearnerStep(self.learner_), AdversaryStep(self.adversary_)
        learning = Adagrad(learner.parameters, self.learning_rate)
        opposing = Adagrad(adversary.parameters, self.adversary_learning_rate)
        n_pretrain = min(self.pretrain_steps, self.n_steps)
        for turn in range(n_pretrain + (self.n_steps - n_pretrain) // 2):
            batch = seen.take(next(batches).numpy(), axis=0)
            rows, labels = batch[:, :-1], batch[:, -1]
            answer = learner.answer(rows)
            if turn < n_pretrain:
                learner.write_gradient(answer, labels, 1.0)
            else:
                outputs = adversary.outputs(batch)
                learner.write_gradient(answer, labels, outputs_to_weights(outputs))
                losses = logistic_losses(answer.logits, labels)
                adversary.write_gradient(batch, outputs, losses)
                opposing.step()
            learning.step()

    def _scores(self, X: Floats) -> Floats:
        scaled = (X - self.center_) / self.scale_
        return evaluate(lambda rows: torch.sigmoid(self.learner_(rows).squeeze(1)), scaled)

    def _check_parameters(self) -> None:
        _validate.positive(
            n_steps=self.n_steps,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            adversary_learning_rate=self.adversary_learning_rate,
        )
        _validate.non_negative(pretrain_steps=self.pretrain_steps)


def _standardisation(X: Floats) -> tuple[Floats, Floats]:
    # A column of two values is a category: the authors standardise numbers only.
    numeric = np.array([len(np.unique(column)) > 2 for column in X.T])
    center = np.where(numeric, X.mean(axis=0), 0.0)
    scale = np.where(numeric, X.std(axis=0), 1.0)
    return center, np.where(scale > 0, scale, 1.0)


def _endless(n_rows: int, batch_size: int, generator: torch.Generator) -> Iterator[Tensor]:
    while True:
        yield from shuffled_batches(n_rows, batch_size, generator=generator, drop_last=True)
