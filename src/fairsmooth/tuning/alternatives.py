"""The record of a search for less discriminatory alternatives: tried, cost, chosen, why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_GAPS = ("demographic_parity", "equalized_odds_sum")
_WHAT = (
    "Search for less discriminatory alternatives. Every trial is a model that could be used; its "
    "accuracy and gaps come from rows that it was not trained on, each judged once. The cost of a "
    "trial is the accuracy it gives up against the baseline, trial 0, which has no parity term."
)


@dataclass(frozen=True)
class Alternatives:
    """What was tried, what each trial cost, and why the chosen one was chosen.

    Attributes
    ----------
    setting : dict
        Limits, aim, rows, folds, seed and search space: all fixed before the first trial.
    trials : tuple of dict
        One per trial, those that were stopped early included, with the reason.
    why : tuple of str
        Sentences about the choice.
    """

    setting: Mapping[str, Any]
    trials: tuple[Mapping[str, Any], ...]
    why: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that JSON can hold."""
        return {
            "what": _WHAT,
            "setting": dict(self.setting),
            "why": list(self.why),
            "trials": [dict(trial) for trial in self.trials],
        }

    def to_markdown(self) -> str:
        """Return the record as a page."""
        setting = [f"- {name.replace('_', ' ')}: {_text(v)}" for name, v in self.setting.items()]
        rows = [_line(trial) for trial in self.trials]
        head = ("trial", "accuracy", "cost", "ΔDP", "ΔEO sum", "ε", "folds", "outcome", "settings")
        table = [_cells(head), _cells("---" for _ in head), *rows]
        parts = (
            "# Search for less discriminatory alternatives", _WHAT,
            "## Fixed before the first trial", "\n".join(setting),
            "## What was chosen, and why", "\n\n".join(self.why),
            "## What was tried", "\n".join(table),
        )  # fmt: skip
        return "\n\n".join(parts) + "\n"


def explain_choice(
    trials: Sequence[Mapping[str, Any]], *, chosen: int, feasible: bool, limited: bool
) -> tuple[str, ...]:
    """Say why a trial was chosen, what it gives up, and what smaller gaps would have cost."""
    by_number = {trial["trial"]: trial for trial in trials}
    best, baseline = by_number[chosen], by_number.get(0)
    finished = [t for t in trials if t["outcome"] != "stopped"]
    kept = sum(t["keeps_aim"] for t in finished)
    if not limited:
        first = f"No limit was set, so trial {chosen} was chosen for its accuracy alone"
    elif feasible:
        first = (
            f"Trial {chosen} was chosen: of the {kept} finished trials that keep what was aimed "
            "at, it is the most accurate"
        )
    else:
        first = f"No finished trial keeps what was aimed at; trial {chosen} exceeds it least"
    sentences = [f"{first} ({_figures(best)})."]
    if baseline is not None and chosen != 0 and baseline["accuracy"] is not None:
        sentences.append(
            f"The baseline without a parity term has {_figures(baseline)}; the chosen trial costs "
            f"{best['cost']:.4f} of accuracy against it."
        )
    sentences.append(_smaller(best, finished))
    stopped = len(trials) - len(finished)
    if stopped:
        sentences.append(f"{stopped} of {len(trials)} trials were stopped before their last fold, "
                         "each for the reason in the table.")  # fmt: skip
    return tuple(sentences)


def _smaller(best: Mapping[str, Any], finished: Sequence[Mapping[str, Any]]) -> str:
    smaller = [t for t in finished if all(t[gap] < best[gap] for gap in _GAPS)]
    if not smaller:
        return "No finished trial has both gaps smaller than the chosen one."
    nearest = max(smaller, key=lambda trial: trial["accuracy"])
    given_up = best["accuracy"] - nearest["accuracy"]
    low, high = best["intervals"]["accuracy"]
    within = low <= nearest["accuracy"] <= high
    remark = (
        ", which is within the interval of the chosen one: consider it"
        if within
        else ", which is below the interval of the chosen one"
    )
    return (
        f"{len(smaller)} finished trials have both gaps smaller than the chosen one. The most "
        f"accurate of them, trial {nearest['trial']} ({_figures(nearest)}), is less accurate by "
        f"{given_up:.4f}{remark}."
        if given_up > 0.0
        else f"Trial {nearest['trial']} ({_figures(nearest)}) has both gaps smaller and is no less "
        "accurate; it was passed over because it exceeds another limit."
    )


def _figures(trial: Mapping[str, Any]) -> str:
    parts = [f"accuracy {trial['accuracy']:.4f}"]
    for name, short in (("demographic_parity", "ΔDP"), ("equalized_odds_sum", "ΔEO")):
        low, high = trial["intervals"][name]
        parts.append(f"{short} {trial[name]:.4f} [{low:.3f}, {high:.3f}]")
    return ", ".join(parts)


def _line(trial: Mapping[str, Any]) -> str:
    numbers = [
        "–" if trial[name] is None else f"{trial[name]:.4f}"
        for name in ("accuracy", "cost", *_GAPS, "epsilon")
    ]
    outcome = trial["outcome"] + (f": {trial['stopped']}" if trial["stopped"] else "")
    settings = ", ".join(f"{name} {_text(v)}" for name, v in trial["parameters"].items())
    return _cells([str(trial["trial"]), *numbers, str(trial["folds"]), outcome, settings])


def _cells(texts: Any) -> str:
    return "| " + " | ".join(str(text).replace("|", "\\|") for text in texts) + " |"


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, str) or value is None:
        return "none" if value is None else value
    if isinstance(value, Mapping):
        return "; ".join(f"{name.replace('_', ' ')} {_text(each)}" for name, each in value.items())
    if isinstance(value, list | tuple):
        return "(" + ", ".join(_text(each) for each in value) + ")"
    return str(value)
