"""What a search may choose."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Any

from fairsmooth.tuning.folds import GIVEN
from fairsmooth.tuning.limits import SearchLimits

# Of a limit on a gap, what a rule may aim at; of no limit, which gaps a sweep goes through.
_SHARES, _GAPS = (0.0, 1.25), (0.005, 0.3)


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
    parity_solver : tuple of str
        Choices of how it is solved. With "decisions" the gaps of decisions on training rows
        are constraints, so that a search is a sweep of what is aimed at.
    link : tuple of str
        Choices of the link.
    group_weights : tuple of str
        Choices of how groups weigh in the objective.
    hidden_layer_sizes : tuple of tuples
        Choices of the architecture.
    columns : tuple of str
        Choices of how rows are encoded, where there are several.
    first_shares : tuple of float
        Shares of the limits on gaps that the first trials after the baseline aim at by
        "decisions", in all columns. On few rows, gaps on new rows exceed those on training
        rows, and small shares are needed.
    """

    sigma: tuple[float, float] = (0.1, 2.0)
    alpha: tuple[float, float] = (0.01, 10.0)
    weight_decay: tuple[float, float] = (1e-6, 1e-3)
    parity_weight: tuple[float, float] = (0.02, 4.0)
    parity: tuple[str | None, ...] = (None, "demographic_parity", "equalized_odds", "both")
    parity_solver: tuple[str, ...] = ("decisions", "surrogate")
    link: tuple[str, ...] = ("probit",)
    group_weights: tuple[str, ...] = ("equal", "share")
    hidden_layer_sizes: tuple[tuple[int, ...], ...] = ((),)
    columns: tuple[str, ...] = (GIVEN,)
    first_shares: tuple[float, ...] = (1.0, 0.7, 0.4, 0.1)

    def suggest(self, trial: Any, limits: SearchLimits) -> dict[str, Any]:
        """Let an Optuna trial choose one point: the columns, and a classifier's parameters.

        Where the user allows a gap, how much of it the parity extension leaves alone is
        searched too: penalising a gap below its limit costs accuracy for nothing.
        """
        chosen = {
            name: trial.suggest_float(name, *getattr(self, name), log=True)
            for name in ("sigma", "alpha", "weight_decay")
        }
        for name in ("columns", "link", "group_weights", "hidden_layer_sizes", "parity"):
            chosen[name] = self._choice(trial, name)
        if chosen["parity"] is None:
            return chosen
        solver = self._choice(trial, "parity_solver")
        aims = (("dp", limits.max_dp), ("eo", limits.max_eo))
        if solver == "surrogate":
            chosen["parity_weight"] = trial.suggest_float(
                "parity_weight", *self.parity_weight, log=True
            )
            chosen["parity_tolerance"] = tuple(
                0.0 if limit is None else limit * trial.suggest_float(f"tolerated_{name}", 0.0, 1.0)
                for name, limit in aims
            )
            return chosen
        return chosen | {
            "parity_solver": solver,
            "parity_tolerance": tuple(
                trial.suggest_float(f"gap_{name}", *_GAPS, log=True)
                if limit is None
                else limit * trial.suggest_float(f"share_{name}", *_SHARES)
                for name, limit in aims
            ),
        }

    def anchors(self, limits: SearchLimits) -> list[dict[str, Any]]:
        """Return points that every search begins with.

        The first is the baseline, without the parity extension, that every alternative is
        compared with. Others aim at shares of the limits by decisions, in all columns.
        """
        names = {n for n, v in (("dp", limits.max_dp), ("eo", limits.max_eo)) if v is not None}
        points = [self._point(limits, {"parity": None})]
        if "decisions" in self.parity_solver and names:
            parity = {"dp": "demographic_parity", "eo": "equalized_odds", "dp eo": "both"}
            wanted = parity[" ".join(sorted(names))]
            points += [
                self._point(limits, {"parity": wanted, "parity_solver": "decisions",
                                     "columns": columns, "share_dp": share, "share_eo": share})
                for columns in self.columns
                for share in self.first_shares
                if wanted in self.parity
            ]  # fmt: skip
        return points

    def _point(self, limits: SearchLimits, wanted: Mapping[str, Any]) -> dict[str, Any]:
        preset = _Preset(self, {"group_weights": "share", **wanted})
        self.suggest(preset, limits)
        return preset.params

    def _choice(self, trial: Any, name: str) -> Any:
        options = getattr(self, name)
        if len(options) == 1:
            return options[0]
        # Storages keep plain values only, so the position is what is searched.
        return options[trial.suggest_categorical(name, list(range(len(options))))]


class _Preset:
    """Stands in for a trial: chooses what is wanted, else the middle of a range."""

    def __init__(self, space: SearchSpace, wanted: Mapping[str, Any]) -> None:
        self._space, self._wanted = space, wanted
        self.params: dict[str, Any] = {}

    def suggest_float(self, name: str, low: float, high: float, *, log: bool = False) -> float:
        middle = sqrt(low * high) if log else 0.5 * (low + high)
        self.params[name] = float(self._wanted.get(name, middle))
        return float(self.params[name])

    def suggest_categorical(self, name: str, positions: list[int]) -> int:
        options = getattr(self._space, name)
        wanted = self._wanted.get(name, options[0])
        self.params[name] = options.index(wanted) if wanted in options else 0
        return int(self.params[name])
