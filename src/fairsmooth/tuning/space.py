"""What a search may choose."""

from dataclasses import dataclass
from typing import Any

from fairsmooth.tuning.trials import Limits


@dataclass(frozen=True)
class SearchSpace:
    """Ranges of the parameters of :class:`fairsmooth.FairSmoothClassifier`.

    Pairs are searched on a logarithmic scale, tuples of names or sizes as a choice.

    Attributes
    ----------
    sigma, alpha, weight_decay, parity_weight : (float, float)
        Lowest and highest value.
    parity : tuple
        Choices of the parity extension; None is the paper's objective.
    link : tuple of str
        Choices of the link.
    group_weights : tuple of str
        Choices of how groups weigh in the objective.
    hidden_layer_sizes : tuple of tuples
        Choices of the architecture.
    """

    sigma: tuple[float, float] = (0.1, 2.0)
    alpha: tuple[float, float] = (0.01, 10.0)
    weight_decay: tuple[float, float] = (1e-6, 1e-3)
    parity_weight: tuple[float, float] = (0.02, 4.0)
    parity: tuple[str | None, ...] = (None, "demographic_parity", "equalized_odds", "both")
    link: tuple[str, ...] = ("probit",)
    group_weights: tuple[str, ...] = ("equal", "share")
    hidden_layer_sizes: tuple[tuple[int, ...], ...] = ((),)

    def suggest(self, trial: Any, limits: Limits) -> dict[str, Any]:
        """Let an Optuna trial choose one point.

        Where the user allows a gap, how much of it the parity extension leaves alone is
        searched too: penalising a gap below its limit costs accuracy for nothing.
        """
        chosen = {
            name: trial.suggest_float(name, *getattr(self, name), log=True)
            for name in ("sigma", "alpha", "weight_decay")
        }
        chosen["link"] = self._choice(trial, "link")
        chosen["group_weights"] = self._choice(trial, "group_weights")
        chosen["hidden_layer_sizes"] = self._choice(trial, "hidden_layer_sizes")
        chosen["parity"] = self._choice(trial, "parity")
        if chosen["parity"] is not None:
            chosen["parity_weight"] = trial.suggest_float(
                "parity_weight", *self.parity_weight, log=True
            )
            chosen["parity_tolerance"] = tuple(
                0.0 if limit is None else limit * trial.suggest_float(f"tolerated_{name}", 0.0, 1.0)
                for name, limit in (("dp", limits.max_dp), ("eo", limits.max_eo))
            )
        return chosen

    def _choice(self, trial: Any, name: str) -> Any:
        options = getattr(self, name)
        if len(options) == 1:
            return options[0]
        # Storages keep plain values only, so the position is what is searched.
        return options[trial.suggest_categorical(name, list(range(len(options))))]
