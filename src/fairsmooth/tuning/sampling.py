"""Which points to try: anchors, then a sampler that learns from the rounds before."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from fairsmooth._random import seed_from
from fairsmooth.exceptions import InputError
from fairsmooth.tuning.judged import OBJECTIVES
from fairsmooth.tuning.limits import Aim, SearchLimits
from fairsmooth.tuning.records import TrialRecord
from fairsmooth.tuning.space import SearchSpace

# Trials of a round know the rounds before and nothing of each other, so that neither
# processes nor interruptions change the sequence. Eight keep eight processes busy.
ROUND = 8
# Drawn at random before the sampler has something to learn from: two rounds.
_STARTUP_TRIALS = 2 * ROUND


@dataclass(frozen=True)
class Plan:
    """What decides the sequence of trials, besides the rows."""

    limits: SearchLimits
    aim: Aim
    space: SearchSpace
    n_folds: int
    seed: int

    def to_dict(self) -> dict[str, Any]:
        """Return everything that decides the trials, as plain data."""
        return {**asdict(self), "round": ROUND}

    @property
    def trial_seed(self) -> int:
        """Seed of every training: the same for all, so that trials differ in nothing else."""
        return seed_from(self.seed, "trial") % 2**31

    def parameters(self, params: Any) -> tuple[str, dict[str, Any]]:
        """Return the columns and the classifier's parameters at a point of the search."""
        import optuna

        chosen = self.space.suggest(optuna.trial.FixedTrial(dict(params)), self.limits)
        return chosen.pop("columns"), chosen

    def choose(self, numbers: Iterable[int], known: Sequence[TrialRecord]) -> list[dict[str, Any]]:
        """Return the points of the given trials, which know what earlier rounds found."""
        anchors = self.space.anchors(self.limits)
        frozen = [self._frozen(record) for record in known if record.folds]
        chosen = []
        for number in numbers:
            if number < len(anchors):
                chosen.append(anchors[number])
                continue
            # A study of its own: the sampler looks at trials that were asked for, too.
            trial = self._study(frozen, number).ask()
            self.space.suggest(trial, self.limits)
            chosen.append(dict(trial.params))
        return chosen

    def _study(self, frozen: Sequence[Any], number: int) -> Any:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        study = optuna.create_study(
            directions=["maximize" if more else "minimize" for more in OBJECTIVES.values()],
            sampler=optuna.samplers.TPESampler(
                seed=seed_from(self.seed, "sampler", number) % 2**32,
                n_startup_trials=_STARTUP_TRIALS,
            ),
        )
        study.add_trials(frozen)
        return study

    def _frozen(self, record: TrialRecord) -> Any:
        import optuna

        fixed = optuna.trial.FixedTrial(dict(record.params))
        self.space.suggest(fixed, self.limits)
        measured = record.judged.measured
        return optuna.trial.create_trial(
            params=dict(record.params),
            distributions=fixed.distributions,
            values=[measured[name] for name in OBJECTIVES],
            constraints=self.limits.violations(measured, share=self.aim.share) or None,
        )


def require_optuna() -> None:
    """Say how to install it where it is missing."""
    try:
        import optuna  # noqa: F401
    except ImportError as error:
        raise InputError(
            "Expected Optuna to be installed for tuning, found none. "
            "Install it with: pip install 'fairsmooth[tune]'."
        ) from error
