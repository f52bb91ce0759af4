"""FairSmoothClassifier: validate, train, certify, predict."""

from collections.abc import Hashable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted
from torch import nn

from fairsmooth import _validate
from fairsmooth._types import Floats, Labels
from fairsmooth.classifier import GroupClassifier
from fairsmooth.core.build import AnyNetwork, build
from fairsmooth.core.certificate import Certificate, certify
from fairsmooth.core.parameters import CENTERS
from fairsmooth.core.smoothing import smooth_probability
from fairsmooth.data.groups import Groups
from fairsmooth.exceptions import InputError
from fairsmooth.training.fit import Settings, train
from fairsmooth.training.history import Record, Report
from fairsmooth.training.parity import PARITIES
from fairsmooth.training.problem import GROUP_WEIGHTS
from fairsmooth.training.threshold import choose_threshold

LINKS = ("logistic", "probit")
SOLVERS = ("auto", "lbfgs", "sgd", "adam")
SMOOTHINGS = ("auto", "exact", "layerwise", "monte_carlo")


class FairSmoothClassifier(GroupClassifier):
    r"""A classifier with an input-agnostic certificate of group fairness.

    Each group ``k`` gets its own classifier :math:`f(x; W_k)`, smoothed by Gaussian
    noise on its parameters, :math:`N(W)(x) = E f(x; W + \sigma Z)`. Training
    minimises

    .. math:: \sum_k L_k(W_k) + \alpha \sum_{k<l} \lVert W_k - W_l\rVert_2^2,

    and prediction uses :math:`W^*`, the average of the :math:`W_k`, for everybody:
    no group is needed. ``certificate_`` bounds, for every input and every
    population, how far the overall score is from the score of a group's own
    classifier. It does not bound the gaps between groups; measure those with
    :func:`fairsmooth.metrics.audit`.

    Parameters
    ----------
    hidden_layer_sizes : tuple of int
        ``()`` is a linear model, ``(64,)`` one hidden layer, and so on.
    module : torch.nn.Module, optional
        Any module with one logit per row, used instead of the layers. Its
        buffers are kept fixed and it runs in evaluation mode.
    activation : {"relu", "tanh", "silu"}
        Of the hidden layers.
    link : {"logistic", "probit"}
        Turns the logit into a score in [0, 1].
    sigma : float
        Standard deviation of the noise. 0 is FairSmooth-D: no smoothing, no certificate.
    alpha : float
        Weight of the tie between groups. 0 is FairSmooth-S.
    parity : {None, "demographic_parity", "equalized_odds", "both"}
        Extension: also penalise the overall classifier's gaps between groups.
    parity_weight : float
        Weight of that penalty.
    parity_tolerance : (float, float)
        Demographic parity gap and equalized odds gap (sum) up to which nothing is
        penalised. With a large weight these act as constraints.
    group_weights : {"equal", "share"}
        Weight of a group's mean loss in the objective: the same for all (the paper),
        or in proportion to its rows (extension), which favours overall accuracy.
    center : {"mean", "ball"}
        ``W*`` as the mean (the paper) or the centre of the smallest ball (extension).
    solver : {"auto", "lbfgs", "sgd", "adam"}
        "auto" is full-batch L-BFGS for linear models and Adam for networks;
        "sgd" is the paper's update, Eq. (17).
    max_iter : int, optional
        Most iterations of L-BFGS (200 if None), or epochs of the others (40 if None).
    batch_size : int
        Rows of every group in a step of a minibatch solver.
    learning_rate : float, optional
        Of the minibatch solvers. If None, 0.05 for "sgd", as in the paper, and 0.003
        for "adam".
    weight_decay : float
        Weight of :math:`\sum_k \lVert W_k\rVert^2`; makes separable groups converge.
    tol : float
        L-BFGS stops when no entry of the gradient exceeds it.
    smoothing : {"auto", "exact", "layerwise", "monte_carlo"}
        How scores are computed; "auto" is exact wherever that is possible.
    n_draws : int
        Draws per prediction where smoothing is sampled.
    early_stopping : bool
        Minibatch solvers: keep the parameters with the least loss on a held-out
        part and stop when it no longer improves.
    validation_fraction : float
        Share of the rows held out for early stopping or the threshold.
    n_iter_no_change : int
        Epochs without improvement before stopping.
    threshold : float or "accuracy"
        Scores above it are decided positive, for every group alike. "accuracy"
        chooses it on a held-out part of the training rows.
    free_reference : bool
        Also train every group without the tie, so that an audit can tell what
        the tie cost.
    device : {"auto", "cpu", "cuda", "mps"}
        Where training runs.
    random_state : int, RandomState instance or None
        Seeds everything that is random.
    verbose : int
        1 prints a line per iteration to standard error.
    callback : callable, optional
        Called with a :class:`~fairsmooth.training.history.Record` after every
        iteration or epoch, for progress bars and the like.

    Attributes
    ----------
    group_parameters_ : ndarray of shape (K, m)
        Each group's own parameters, in the order of ``groups_``.
    parameters_ : ndarray of shape (m,)
        The overall parameters ``W*``.
    certificate_ : Certificate
        Computed from the parameters alone.
    free_group_parameters_ : ndarray of shape (K, m) or None
        The groups' parameters trained with ``alpha = 0``.
    history_ : tuple of Record
        One record per iteration or epoch.
    threshold_ : float
        The decision threshold.

    References
    ----------
    Jin, Zhang, Zhou and Wu, "Input-agnostic Certified Group Fairness via
    Gaussian Parameter Smoothing", ICML 2022; Eq. (1), (15) to (17), Theorem 2.

    Examples
    --------
    >>> from fairsmooth.datasets import make_biased
    >>> data = make_biased(n_samples=400, random_state=0)
    >>> clf = FairSmoothClassifier().fit(
    ...     data.X, data.y, sensitive_features=data.sensitive_features)
    >>> clf.predict_proba(data.X).shape
    (400, 2)
    >>> clf.certificate_.epsilon_tight <= clf.certificate_.epsilon
    True
    """

    group_parameters_: Floats
    parameters_: Floats
    certificate_: Certificate
    free_group_parameters_: Floats | None
    history_: tuple[Record, ...]
    architecture_: AnyNetwork
    threshold_: float

    def __init__(
        self,
        hidden_layer_sizes: Any = (),
        *,
        module: nn.Module | None = None,
        activation: str = "relu",
        link: str = "logistic",
        sigma: float = 1.0,
        alpha: float = 0.25,
        parity: str | None = None,
        parity_weight: float = 0.0,
        parity_tolerance: tuple[float, float] = (0.0, 0.0),
        group_weights: str = "equal",
        center: str = "mean",
        solver: str = "auto",
        max_iter: int | None = None,
        batch_size: int = 128,
        learning_rate: float | None = None,
        weight_decay: float = 1e-5,
        tol: float = 1e-4,
        smoothing: str = "auto",
        n_draws: int = 4096,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        threshold: float | str = 0.5,
        free_reference: bool = True,
        device: str = "auto",
        random_state: Any = None,
        verbose: int = 0,
        callback: Report | None = None,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.module = module
        self.activation = activation
        self.link = link
        self.sigma = sigma
        self.alpha = alpha
        self.parity = parity
        self.parity_weight = parity_weight
        self.parity_tolerance = parity_tolerance
        self.group_weights = group_weights
        self.center = center
        self.solver = solver
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.tol = tol
        self.smoothing = smoothing
        self.n_draws = n_draws
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.threshold = threshold
        self.free_reference = free_reference
        self.device = device
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of every row: the positive one where its score exceeds the threshold."""
        scores = self._scores(self._checked(X))
        return np.asarray(self.classes_[(scores > self.threshold_).astype(np.intp)])

    def predict_proba_group(self, X: Any, group: Hashable) -> Floats:
        """Return the probabilities that the group's own smooth classifier gives, shape (n, 2)."""
        return self._as_probabilities(X, self.group_parameters_[self._position(group)])

    def predict_proba_free(self, X: Any, group: Hashable) -> Floats:
        """Return the probabilities of the group's classifier trained without the tie."""
        position = self._position(group)
        if self.free_group_parameters_ is None:
            raise InputError("Expected a model fitted with free_reference=True, got one without.")
        return self._as_probabilities(X, self.free_group_parameters_[position])

    def predict_interval(self, X: Any) -> Floats:
        """Return the certified interval of every group's own score, shape (n, K, 2).

        The error of computing the overall score is allowed for: near 0 and 1 a tiny
        error of the score moves the interval a long way. Where smoothing is sampled,
        each row's interval holds with 99 % confidence over the draws.
        """
        _, computed = self._smooth(self._checked(X), self.parameters_, return_interval=True)
        low, high = np.clip(computed, 0.0, 1.0).T
        intervals = [
            np.column_stack(
                [
                    self.certificate_.interval(low, group)[:, 0],
                    self.certificate_.interval(high, group)[:, 1],
                ]
            )
            for group in self.groups_
        ]
        return np.stack(intervals, axis=1)

    def set_parameters(
        self,
        architecture: AnyNetwork,
        group_parameters: Floats,
        *,
        free_group_parameters: Floats | None = None,
    ) -> Self:
        """Install trained parameters, average them and certify the average."""
        self.architecture_ = architecture
        self.group_parameters_ = group_parameters
        self.free_group_parameters_ = free_group_parameters
        self.parameters_ = CENTERS[self.center](group_parameters)
        self.certificate_ = certify(
            group_parameters, sigma=self.sigma, groups=self.groups_, center=self.center
        )
        return self

    def _fit(self, X: Floats, y: Labels, groups: Groups) -> None:
        self._validate_parameters()
        seed = self._seed()
        architecture = build(
            self.module,
            n_features=X.shape[1],
            hidden_layer_sizes=self.hidden_layer_sizes,
            activation=self.activation,
        )
        result = train(architecture, X, y, groups, settings=self._settings(seed))
        self.history_ = result.history
        self.n_iter_ = len(result.history)
        self.set_parameters(
            architecture,
            result.group_parameters,
            free_group_parameters=result.free_group_parameters,
        )
        if isinstance(self.threshold, str):
            held_out = result.held_out
            self.threshold_ = choose_threshold(self._scores(X[held_out]), y[held_out])
        else:
            self.threshold_ = float(self.threshold)

    def _scores(self, X: Floats) -> Floats:
        scores: Floats = self._smooth(X, self.parameters_)
        return scores

    def _smooth(self, X: Floats, parameters: Floats, *, return_interval: bool = False) -> Any:
        return smooth_probability(
            self.architecture_,
            parameters,
            X,
            sigma=self.sigma,
            link=self.link,
            method=self.smoothing,
            n_draws=self.n_draws,
            return_interval=return_interval,
        )

    def _as_probabilities(self, X: Any, parameters: Floats) -> Floats:
        scores = self._smooth(self._checked(X), parameters)
        return np.column_stack([1.0 - scores, scores])

    def _position(self, group: Hashable) -> int:
        check_is_fitted(self)
        if group not in self.groups_:
            raise InputError(f"Expected group to be one of {list(self.groups_)}, got {group!r}.")
        return self.groups_.index(group)

    def _validate_parameters(self) -> None:
        _validate.non_negative(
            sigma=self.sigma,
            alpha=self.alpha,
            parity_weight=self.parity_weight,
            weight_decay=self.weight_decay,
        )
        _validate.positive(
            max_iter=1 if self.max_iter is None else self.max_iter,
            batch_size=self.batch_size,
            learning_rate=1.0 if self.learning_rate is None else self.learning_rate,
            n_draws=self.n_draws,
            tol=self.tol,
            n_iter_no_change=self.n_iter_no_change,
        )
        _validate.one_of(LINKS, link=self.link)
        _validate.one_of(SOLVERS, solver=self.solver)
        _validate.one_of(SMOOTHINGS, smoothing=self.smoothing)
        _validate.one_of(GROUP_WEIGHTS, group_weights=self.group_weights)
        _validate.one_of(tuple(CENTERS), center=self.center)
        _validate.in_range(0.0, 0.9, validation_fraction=self.validation_fraction)
        if self.parity is not None:
            _validate.one_of(PARITIES, parity=self.parity)
        if isinstance(self.threshold, str):
            _validate.one_of(("accuracy",), threshold=self.threshold)
        else:
            _validate.in_range(0.0, 1.0, threshold=self.threshold)

    def _settings(self, seed: int) -> Settings:
        names = Settings.__dataclass_fields__.keys() - {"seed", "hold_out"}
        chosen = {name: getattr(self, name) for name in names}
        hold_out = self.early_stopping or isinstance(self.threshold, str)
        return Settings(seed=seed, hold_out=hold_out, **chosen)
