"""The paper's tables and figures as declarations, and the runner that carries them out."""

from typing import TYPE_CHECKING

from fairsmooth._lazy import names_when_asked
from fairsmooth._registry import discover, named
from fairsmooth.experiments import beyond, paper
from fairsmooth.experiments.claims.claim import PAPER, Claim
from fairsmooth.experiments.claims.estimate import (
    MARGIN,
    Estimate,
    estimate,
    margin_of,
    standard_error,
)
from fairsmooth.experiments.claims.printed import read_printed
from fairsmooth.experiments.claims.select_rows import printed_rounding, sign_of
from fairsmooth.experiments.claims.verdict import (
    FAILS,
    HOLDS,
    OUTCOMES,
    SAME,
    UNKNOWN,
    Verdict,
)
from fairsmooth.experiments.declaration import MAIN_METRICS, PUBLISHED, TUNED, Experiment

if TYPE_CHECKING:
    from fairsmooth.experiments.run.field import everyone, in_order, label_of
    from fairsmooth.experiments.run.outside import load_method
    from fairsmooth.experiments.run.profiles import ENCODINGS, PROFILES, Profile, profile
    from fairsmooth.experiments.run.progress import Progress
    from fairsmooth.experiments.run.rows import rows_of
    from fairsmooth.experiments.run.runner import jobs_of, run_experiments
    from fairsmooth.experiments.run.selection import Selection
    from fairsmooth.experiments.run.stale import stale_jobs
    from fairsmooth.experiments.run.store import Store

__all__ = [
    "ENCODINGS",
    "FAILS",
    "HOLDS",
    "MAIN_METRICS",
    "MARGIN",
    "OUTCOMES",
    "PAPER",
    "PROFILES",
    "PUBLISHED",
    "SAME",
    "TUNED",
    "UNKNOWN",
    "Claim",
    "Estimate",
    "Experiment",
    "Profile",
    "Progress",
    "Selection",
    "Store",
    "Verdict",
    "estimate",
    "everyone",
    "experiment",
    "experiments",
    "in_order",
    "jobs_of",
    "label_of",
    "load_method",
    "margin_of",
    "printed_rounding",
    "profile",
    "read_printed",
    "rows_of",
    "run_experiments",
    "sign_of",
    "stale_jobs",
    "standard_error",
]

# Loaded when asked for: what is declared can be listed without what carries it out.
_HOMES = {
    "ENCODINGS": "fairsmooth.experiments.run.profiles",
    "PROFILES": "fairsmooth.experiments.run.profiles",
    "Profile": "fairsmooth.experiments.run.profiles",
    "Progress": "fairsmooth.experiments.run.progress",
    "Selection": "fairsmooth.experiments.run.selection",
    "Store": "fairsmooth.experiments.run.store",
    "everyone": "fairsmooth.experiments.run.field",
    "in_order": "fairsmooth.experiments.run.field",
    "jobs_of": "fairsmooth.experiments.run.runner",
    "label_of": "fairsmooth.experiments.run.field",
    "load_method": "fairsmooth.experiments.run.outside",
    "profile": "fairsmooth.experiments.run.profiles",
    "rows_of": "fairsmooth.experiments.run.rows",
    "run_experiments": "fairsmooth.experiments.run.runner",
    "stale_jobs": "fairsmooth.experiments.run.stale",
}
__getattr__ = names_when_asked(globals(), _HOMES)


def experiments() -> tuple[Experiment, ...]:
    """Return every experiment, found by presence: tables, figures, then what stands beside them.

    Those beyond the paper come last; their ``paper`` is empty.

    Examples
    --------
    >>> [experiment.name for experiment in experiments()][:4]
    ['table1', 'table2', 'table3', 'table4']
    """
    order = ("table", "figure")
    found = sorted(
        discover(paper, "EXPERIMENTS"), key=lambda each: (_rank(each.name, order), each.name)
    )
    return (*found, *discover(beyond, "EXPERIMENTS"))


def _rank(name: str, order: tuple[str, ...]) -> int:
    return next((place for place, start in enumerate(order) if name.startswith(start)), len(order))


def experiment(name: str) -> Experiment:
    """Return an experiment by its name."""
    found: Experiment = named(experiments(), experiment=name)
    return found
