"""Who runs, with which candidates: one grid of equal size for every method.

The first candidate of each grid is the published default (or what comes nearest to it);
a profile uses the first few. Parameters are chosen among them on rows held out
from the training part, by the same rule for all.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fairsmooth.baselines import methods
from fairsmooth.classifier import GroupClassifier
from fairsmooth.exceptions import InputError

N_CANDIDATES = 6

Parameters = Mapping[str, Any]


@dataclass(frozen=True)
class Contender:
    """One method as it takes part in the experiments.

    Attributes
    ----------
    name, label : str
        In rows, and on the page.
    method : str
        Name of the method in :func:`fairsmooth.baselines.methods`.
    grid : tuple of mappings
        Candidates, equally many for every contender.
    fixed : mapping
        Parameters that are not chosen.
    quick : mapping
        Parameters of the smoke profile, which shows that everything runs.
    """

    name: str
    label: str
    method: str
    grid: tuple[Parameters, ...]
    fixed: Parameters = field(default_factory=dict)
    quick: Parameters = field(default_factory=dict)

    def build(self, parameters: Parameters, *, seed: int, quick: bool) -> GroupClassifier:
        """Return an unfitted estimator; ``parameters`` win over everything but the seed."""
        (method,) = (method for method in methods() if method.name == self.method)
        chosen = {**self.fixed, **(self.quick if quick else {}), **parameters}
        return method.estimator(**chosen, random_state=seed)

    @property
    def needs_group_at_prediction(self) -> bool:
        """Whether the method, as published, is told the group when it predicts."""
        (method,) = (method for method in methods() if method.name == self.method)
        return method.needs_group_at_prediction


def _vary(name: str, *values: Any) -> tuple[Parameters, ...]:
    return tuple({name: value} for value in values)


# The rows are encoded to 0 and 1, models are linear, smoothing is exact. The tying cost
# is not asked for here, so the second training that it needs is left out.
_OURS: Parameters = {"free_reference": False}
_DP: Parameters = {"notion": "demographic_parity"}
_EO: Parameters = {"notion": "equalized_odds"}

CONTENDERS = (
    Contender(
        "apxfair",
        "ApxFair",
        "apxfair",
        grid=(
            {**_DP, "epsilon": 0.05},
            {**_EO, "epsilon": 0.05},
            {**_DP, "epsilon": 0.02},
            {**_EO, "epsilon": 0.02},
            {**_DP, "epsilon": 0.1},
            {**_EO, "epsilon": 0.1},
        ),
        quick={"n_rounds": 20, "offset": 0.0},
    ),
    Contender(
        "arl",
        "ARL",
        "arl",
        grid=_vary("adversary_learning_rate", 2.0, 0.1, 0.001, 1.0, 0.01, 0.5),
        quick={"n_steps": 80, "pretrain_steps": 40, "batch_size": 64},
    ),
    Contender(
        "fair_mixup",
        "Fair Mixup",
        "fair_mixup",
        grid=(
            {**_DP, "penalty_weight": 0.5},
            {**_EO, "penalty_weight": 0.5},
            {**_DP, "penalty_weight": 0.1},
            {**_EO, "penalty_weight": 2.0},
            {**_DP, "penalty_weight": 0.3},
            {**_EO, "penalty_weight": 5.0},
        ),
        quick={"n_epochs": 2, "n_iterations": 5, "batch_size": 50, "hidden_layer_sizes": (16,)},
    ),
    Contender(
        "fairbatch",
        "FairBatch",
        "fairbatch",
        grid=(
            {**_EO, "alpha": 0.005},
            {**_DP, "alpha": 0.005},
            {**_EO, "alpha": 0.001},
            {**_DP, "alpha": 0.001},
            {**_EO, "alpha": 0.02},
            {**_DP, "alpha": 0.02},
        ),
        quick={"n_epochs": 5, "learning_rate": 5e-3},
    ),
    Contender(
        "frs",
        "FRS",
        "frs",
        grid=(
            {**_EO, "tau": 0.9},
            {**_DP, "tau": 0.9},
            {**_EO, "tau": 0.95},
            {**_DP, "tau": 0.95},
            {**_EO, "tau": 0.8},
            {**_DP, "tau": 0.8},
        ),
        quick={"n_epochs": 8, "warm_start": 4, "learning_rate": 5e-3},
    ),
    Contender(
        "implicit",
        "Implicit",
        "implicit",
        grid=_vary("alignment_weight", 3e-4, 2e-3, 1e-4, 1e-3, 5e-3, 1e-2),
        quick={"n_iterations": 5, "batch_size": 50, "hidden_layer_sizes": (16,)},
    ),
    Contender(
        "group_fair",
        "Group-Fair",
        "group_fair",
        grid=(
            {"tau": 0.8},
            {"tau": 0.9},
            {"tau": 0.8, "density": "logistic"},
            {"tau": 0.9, "density": "logistic"},
            {"tau": 0.7},
            {"tau": 0.95, "density": "logistic"},
        ),
        quick={"stride": 40},
    ),
    Contender(
        "fcrl",
        "FCRL",
        "fcrl",
        grid=_vary("information_weight", 1.0, 0.1, 3.0, 0.3, 0.03, 10.0),
        quick={"n_epochs": 2},
    ),
    Contender(
        "dlr",
        "DLR",
        "dlr",
        grid=(
            {"tau": 0.9},
            {"tau": 0.8},
            {"tau": 0.9, "constraints": "smooth"},
            {"tau": 0.8, "constraints": "smooth"},
            {"tau": 0.7},
            {"tau": 0.95, "constraints": "smooth"},
        ),
        quick={"n_tries": 1},
    ),
    Contender(
        "unconstrained",
        "Unconstrained",
        "unconstrained",
        grid=_vary("C", 1.0, 0.1, 0.01, 10.0, 0.001, 100.0),
    ),
    Contender(
        "fairsmooth_s",
        "FairSmooth-S",
        "fairsmooth_s",
        grid=_vary("sigma", 1.0, 0.25, 0.5, 1.5, 2.0, 1.25),
        fixed=_OURS,
        quick={"max_iter": 20},
    ),
    Contender(
        "fairsmooth_d",
        "FairSmooth-D",
        "fairsmooth_d",
        grid=_vary("alpha", 0.25, 1.0, 0.5, 1.5, 0.75, 1.25),
        fixed=_OURS,
        quick={"max_iter": 20},
    ),
    Contender(
        "fairsmooth",
        "FairSmooth",
        "fairsmooth",
        grid=(
            {"sigma": 1.0, "alpha": 0.25},
            {"sigma": 0.25, "alpha": 0.25},
            {"sigma": 1.0, "alpha": 1.0},
            {"sigma": 0.5, "alpha": 1.5},
            {"sigma": 2.0, "alpha": 0.25},
            {"sigma": 0.25, "alpha": 1.0},
        ),
        fixed=_OURS,
        quick={"max_iter": 20},
    ),
    Contender(
        "fairsmooth_parity",
        "FairSmooth + parity term (extension)",
        "fairsmooth",
        grid=tuple({"parity_weight": weight} for weight in (1.0, 0.3, 3.0, 0.1, 10.0, 0.03)),
        fixed={**_OURS, "sigma": 1.0, "alpha": 0.25, "parity": "both", "link": "probit"},
        quick={"max_iter": 20},
    ),
)

# The nine that the paper compares with, in its order, and its three variants.
BASELINES = tuple(contender.name for contender in CONTENDERS[:9])
VARIANTS = ("fairsmooth_s", "fairsmooth_d", "fairsmooth")
OURS = (*VARIANTS, "fairsmooth_parity")
ALL = tuple(contender.name for contender in CONTENDERS)


def contender(name: str) -> Contender:
    """Return a contender by name."""
    found = {each.name: each for each in CONTENDERS}
    if name not in found:
        raise InputError(f"Expected a method among {', '.join(found)}, got {name!r}.")
    return found[name]
