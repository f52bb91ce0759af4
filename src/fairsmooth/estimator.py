"""FairSmoothClassifier: validate, train, certify, predict."""

from typing import Any, Self

import torch
from torch import nn

from fairsmooth._types import Floats
from fairsmooth.classifier import RuleClassifier
from fairsmooth.core.architecture import ModuleNetwork
from fairsmooth.core.build import AnyNetwork, build
from fairsmooth.core.module_checks import require_one_logit_per_row
from fairsmooth.core.rule import FittedRule
from fairsmooth.training.decisions import fitted
from fairsmooth.training.example import Example
from fairsmooth.training.fit import train
from fairsmooth.training.history import Report, TrainingStep
from fairsmooth.training.parity import BANDWIDTH
from fairsmooth.training.parity_gaps import ParityGaps, compare_gaps
from fairsmooth.training.settings import LINKS, SMOOTHINGS, SOLVERS, Settings

# Rows that show what shape a module's output has.
_FIRST = slice(0, 256)

__all__ = ["LINKS", "SMOOTHINGS", "SOLVERS", "FairSmoothClassifier"]


class FairSmoothClassifier(RuleClassifier):
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
        Any module with one logit per row, used instead of the layers. Its buffers and its
        parameters with ``requires_grad=False`` are neither trained nor perturbed nor
        counted: they are part of the function. It runs in evaluation mode.
    activation : {"relu", "tanh", "silu"}
        Of the hidden layers.
    link : {"logistic", "probit"}
        Turns the logit into a score in [0, 1].
    sigma : float
        Standard deviation of the noise. 0 is FairSmooth-D: no smoothing, no certificate.
    alpha : float
        Weight of the tie between groups. 0 is FairSmooth-S.
    parity : {None, "demographic_parity", "equalized_odds", "both"}
        Extension: also penalise the overall classifier's gaps between groups. With
        ``parity_solver="decisions"`` also "equalized_odds_max" (the larger of both gaps
        instead of their sum), "equal_opportunity" (true positive rates) and "impact_ratio".
    parity_weight : float
        Weight of that penalty.
    parity_tolerance : (float, float)
        Demographic parity gap and equalized odds gap (sum) up to which nothing is
        penalised. These are gaps of soft decisions, the surrogate; whatever the weight, those
        of decisions may be larger. ``parity_gaps_`` has both.
    parity_bandwidth : float
        Softness ``h`` of those decisions, :math:`\Phi((\Phi^{-1}(N) - \Phi^{-1}(t))/h)`.
        Training begins with 0.4 and halves it down to this. Less is truer and slower.
    parity_solver : {"surrogate", "decisions"}
        "decisions" makes the tolerances constraints on hard decisions: the gaps on training
        rows never exceed them. The most accurate rule that keeps them is installed by one shift
        of all groups' parameters, which leaves the certificate as it is: docs/fair_rules.md says
        what that means. For "impact_ratio" the first is how far the ratio may fall short of 1.
    calibrate : bool or "auto"
        Whether scores go through one map :math:`\Phi(a\Phi^{-1}(p) + b)` fitted on training
        rows; the certificate becomes that of ``sigma / a``. "auto" does so with "decisions",
        which stay those at ½ before the map, so that ``threshold_`` is :math:`\Phi(b)`.
    group_weights : {"equal", "share"}
        Weight of a group's mean loss in the objective: the same for all (the paper),
        or in proportion to its rows (extension), which favours overall accuracy.
    center : {"mean", "ball"}
        ``W*`` as the mean (the paper) or the centre of the smallest ball (extension).
    solver : {"auto", "lbfgs", "sgd", "adam"}
        "auto" is full-batch L-BFGS for linear models and Adam for networks;
        "sgd" is the paper's update, Eq. (17).
    max_iter : int, optional
        Most iterations of L-BFGS (500 if None), or epochs of the others (if None, 40, and on small
        data as many as make 1,500 steps). Stopping there too early is a ``ConvergenceWarning``.
    batch_size : int
        Rows in a step of a minibatch solver, shared equally by the groups: 128 of each of
        two, as in the paper. An epoch is ``n / batch_size`` steps.
    learning_rate : float, optional
        Of the minibatch solvers. If None, 0.05 for "sgd", as in the paper, and 0.003
        for "adam".
    weight_decay : float
        Weight of :math:`\sum_k \lVert W_k\rVert^2`; makes separable groups converge.
    tol : float
        L-BFGS stops when no entry of a group's gradient, in units of the curvature at the start
        and of the group's weight if that is below 1, exceeds it. Minibatch solvers end with
        ``max_iter`` or early stopping; they warn if the objective fell until the end.
    smoothing : {"auto", "exact", "layerwise", "monte_carlo"}
        How scores are computed; "auto" is exact wherever that is possible.
    n_draws : int
        Draws per prediction where smoothing is sampled.
    early_stopping : bool
        Minibatch solvers: keep the parameters with the least loss on held-out rows.
    validation_fraction : float
        Share of the rows held out for early stopping or the threshold.
    n_iter_no_change : int
        Epochs without improvement before stopping.
    threshold : float, "accuracy" or "rate:0.2"
        Scores above it are decided positive. "accuracy" chooses it on held-out training rows,
        "rate:0.2" decides 20 % of them positive.
    free_reference : bool
        Also train every group without the tie, so that an audit can tell what it cost.
    device : {"auto", "cpu", "cuda", "mps"}
        Where training runs and scores are computed ("mps" trains only). Only the CPU is tested.
    random_state : int, RandomState instance or None
        Seeds everything that is random.
    verbose : int
        1 prints a line per iteration to standard error.
    callback : callable, optional
        Called with a ``TrainingStep`` after every iteration or epoch, for progress bars.
    warm_start : bool
        Begin where the last ``fit`` ended, of the same groups, labels and columns.

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
    parity_gaps_ : ParityGaps or None
        Gaps on the training rows, of the surrogate and of decisions; None without a parity
        term. ``fit`` gives a ``ParityWarning`` where they are ``apart``.
    history_ : tuple of TrainingStep
        One record per iteration or epoch.
    threshold_ : float
        The decision threshold.
    rule_ : FittedRule
        All that scores and certificate depend on, as it was at ``fit``: changing
        ``sigma`` or another argument afterwards has no effect until the next ``fit``.
        The arrays above are read-only.

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

    history_: tuple[TrainingStep, ...]
    parity_gaps_: ParityGaps | None = None

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
        parity_bandwidth: float = BANDWIDTH,
        parity_solver: str = "surrogate",
        calibrate: bool | str = "auto",
        group_weights: str = "equal",
        center: str = "mean",
        solver: str = "auto",
        max_iter: int | None = None,
        batch_size: int = 256,
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
        warm_start: bool = False,
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
        self.parity_bandwidth = parity_bandwidth
        self.parity_solver = parity_solver
        self.calibrate = calibrate
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
        self.warm_start = warm_start

    def set_parameters(
        self,
        architecture: AnyNetwork,
        group_parameters: Floats,
        *,
        free_group_parameters: Floats | None = None,
    ) -> Self:
        """Install trained parameters, average them, certify the average and freeze the whole.

        Options are those of the constructor at this moment; ``groups_`` must be set. The
        threshold is ``threshold_`` if that was set before, else the constructor's.
        """
        chosen = 0.5 if isinstance(self.threshold, str) else float(self.threshold)
        self.rule_ = FittedRule.of(
            architecture,
            group_parameters,
            groups=self.groups_,
            free_group_parameters=free_group_parameters,
            sigma=self.sigma,
            link=self.link,
            smoothing=self.smoothing,
            n_draws=self.n_draws,
            center=self.center,
            threshold=getattr(self, "_chosen_threshold", chosen),
            device=self.device,
        )
        return self

    def _forget(self) -> None:
        for name in ("rule_", "_chosen_threshold", "parity_gaps_"):
            self.__dict__.pop(name, None)

    def _learn(self, example: Example, start: Floats | None) -> None:
        settings = self._settings()
        settings.check()
        architecture = build(
            self.module,
            n_features=example.X.shape[1],
            hidden_layer_sizes=self.hidden_layer_sizes,
            activation=self.activation,
        )
        if settings.decisions:
            fitted.with_last_layer(architecture)
        if isinstance(architecture, ModuleNetwork):
            few = torch.from_numpy(example.X.take(_FIRST).toarray())
            require_one_logit_per_row(architecture, few)
        result = train(architecture, example, settings=settings, start=start)
        self.history_, self.n_iter_ = result.history, len(result.history)
        free = result.free_group_parameters
        self.set_parameters(architecture, result.group_parameters, free_group_parameters=free)
        self.rule_ = fitted.finished(self.rule_, example, settings, result.held_out)
        if settings.has_parity and example.weights is None:
            scores, groups = self._scores(example.X), example.groups
            self.parity_gaps_ = compare_gaps(settings, scores, example.y, groups, self.threshold_)

    def _settings(self) -> Settings:
        names = Settings.__dataclass_fields__.keys() - {"seed", "hold_out"}
        chosen = {name: getattr(self, name) for name in names}
        hold_out = self.early_stopping or isinstance(self.threshold, str)
        return Settings(seed=self._seed(), hold_out=hold_out, **chosen)
