"""What training is told, checked once, with what was left open filled in."""

import math
from dataclasses import dataclass, replace

from fairsmooth import _validate
from fairsmooth.core.architecture import Network
from fairsmooth.core.build import AnyNetwork
from fairsmooth.core.parameters import CENTERS
from fairsmooth.exceptions import InputError
from fairsmooth.training.decisions.limits import NAMES
from fairsmooth.training.history import Report
from fairsmooth.training.parity import PARITIES
from fairsmooth.training.problem import GROUP_WEIGHTS
from fairsmooth.training.threshold import wanted_rate

LINKS = ("logistic", "probit")
SOLVERS = ("auto", "lbfgs", "sgd", "adam")
SMOOTHINGS = ("auto", "exact", "layerwise", "monte_carlo")
PARITY_SOLVERS = ("surrogate", "decisions")

_LEARNING_RATES = {"sgd": 0.05, "adam": 0.003}
_MOST_ITERATIONS = 500
# Minibatch solvers, unless told otherwise: so many epochs, and on small data
# as many as make so many steps, because it is steps that move the parameters.
_LEAST_EPOCHS, _LEAST_STEPS = 40, 1500


@dataclass(frozen=True)
class Settings:
    """What :func:`~fairsmooth.training.fit.train` is told; the names are the estimator's."""

    seed: int
    sigma: float
    alpha: float
    link: str
    parity: str | None
    parity_weight: float
    parity_tolerance: tuple[float, float]
    parity_bandwidth: float
    parity_solver: str
    calibrate: bool | str
    group_weights: str
    center: str
    solver: str
    max_iter: int | None
    batch_size: int
    learning_rate: float | None
    weight_decay: float
    tol: float
    smoothing: str
    n_draws: int
    early_stopping: bool
    validation_fraction: float
    n_iter_no_change: int
    threshold: float | str
    free_reference: bool
    device: str
    verbose: int
    callback: Report | None
    hold_out: bool

    @property
    def has_parity(self) -> bool:
        """Whether the parity term takes part."""
        return self.parity is not None and self.parity_weight > 0.0

    def check(self) -> None:
        """Refuse values that cannot be used, naming what was expected."""
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
            parity_bandwidth=self.parity_bandwidth,
            n_iter_no_change=self.n_iter_no_change,
        )
        _validate.one_of(LINKS, link=self.link)
        _validate.one_of(SOLVERS, solver=self.solver)
        _validate.one_of(SMOOTHINGS, smoothing=self.smoothing)
        _validate.one_of(GROUP_WEIGHTS, group_weights=self.group_weights)
        _validate.one_of(tuple(CENTERS), center=self.center)
        _validate.in_range(0.0, 0.9, validation_fraction=self.validation_fraction)
        _validate.one_of(PARITY_SOLVERS, parity_solver=self.parity_solver)
        if self.calibrate not in (True, False, "auto"):
            raise InputError(f"Expected calibrate True, False or 'auto', got {self.calibrate!r}.")
        self._check_parity()
        if isinstance(self.threshold, str):
            if self.threshold != "accuracy":
                wanted_rate(self.threshold)
        else:
            _validate.in_range(0.0, 1.0, threshold=self.threshold)
        self._check_tolerances()

    @property
    def decisions(self) -> bool:
        """Whether limits on the gaps are constraints on decisions."""
        return self.parity_solver == "decisions"

    @property
    def calibrated(self) -> bool:
        """Whether scores go through a fitted map; by default where a rule was installed."""
        return self.decisions if self.calibrate == "auto" else bool(self.calibrate)

    def _check_parity(self) -> None:
        known = tuple(NAMES) if self.decisions else PARITIES
        if self.parity is not None or self.decisions:
            _validate.one_of(known, parity=str(self.parity))
        if self.decisions and self.parity_weight > 0.0:
            raise InputError(
                "Expected parity_weight=0 with parity_solver='decisions', which needs no weight: "
                f"its limits are constraints, got parity_weight={self.parity_weight}."
            )
        if self.decisions and self.threshold != 0.5:
            raise InputError(
                "Expected threshold=0.5 with parity_solver='decisions', which moves the intercept "
                f"instead, got threshold={self.threshold!r}."
            )

    def _check_tolerances(self) -> None:
        try:
            first, second = map(float, self.parity_tolerance)
        except (TypeError, ValueError) as error:
            raise InputError(
                "Expected parity_tolerance as two numbers, for demographic parity and for "
                f"equalized odds, got {self.parity_tolerance!r}."
            ) from error
        if not (first >= 0.0 and second >= 0.0):  # so that NaN is refused
            raise InputError(
                f"Expected both parity_tolerance >= 0, got parity_tolerance=({first}, {second})."
            )

    def resolved(self, architecture: AnyNetwork, *, n_rows: int) -> "Settings":
        """Fill in what was left to be chosen by architecture, solver and data."""
        linear = isinstance(architecture, Network) and not architecture.hidden_layer_sizes
        solver = self.solver if self.solver != "auto" else ("lbfgs" if linear else "adam")
        steps = math.ceil(n_rows / self.batch_size)
        epochs = max(_LEAST_EPOCHS, math.ceil(_LEAST_STEPS / steps))
        return replace(
            self,
            solver=solver,
            max_iter=self.max_iter or (_MOST_ITERATIONS if solver == "lbfgs" else epochs),
            learning_rate=self.learning_rate or _LEARNING_RATES.get(solver, 0.0),
            # L-BFGS does not stop early: it would leave rows out for nothing.
            hold_out=self.hold_out and (solver != "lbfgs" or isinstance(self.threshold, str)),
        )

    def untied(self) -> "Settings":
        """Return the settings of the reference: no tie, no extension.

        It starts where the tied training ended, so a minibatch solver needs a
        quarter of the epochs.
        """
        epochs = int(self.max_iter or 1)
        return replace(
            self,
            alpha=0.0,
            parity=None,
            parity_weight=0.0,
            max_iter=epochs if self.solver == "lbfgs" else -(-epochs // 4),
        )
