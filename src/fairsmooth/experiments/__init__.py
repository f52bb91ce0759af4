"""The paper's tables and figures as declarations, and the runner that carries them out."""

from fairsmooth._registry import discover, named
from fairsmooth.experiments import beyond, paper
from fairsmooth.experiments.claims.claim import Claim
from fairsmooth.experiments.claims.estimate import Estimate, estimate, standard_error
from fairsmooth.experiments.claims.printed import read_printed
from fairsmooth.experiments.claims.select_rows import sign_of
from fairsmooth.experiments.claims.verdict import FAILS, HOLDS, UNKNOWN, Verdict
from fairsmooth.experiments.declaration import MAIN_METRICS, Experiment
from fairsmooth.experiments.run.field import everyone, in_order, label_of
from fairsmooth.experiments.run.outside import load_method
from fairsmooth.experiments.run.profiles import ENCODINGS, PROFILES, Profile, profile
from fairsmooth.experiments.run.progress import Progress
from fairsmooth.experiments.run.rows import rows_of
from fairsmooth.experiments.run.runner import jobs_of, run
from fairsmooth.experiments.run.selection import Selection
from fairsmooth.experiments.run.store import Store

__all__ = [
    "ENCODINGS",
    "FAILS",
    "HOLDS",
    "MAIN_METRICS",
    "PROFILES",
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
    "profile",
    "read_printed",
    "rows_of",
    "run",
    "sign_of",
    "standard_error",
]


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
