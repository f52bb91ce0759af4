"""The paper's tables and figures as declarations, and the runner that carries them out."""

import sys

from fairsmooth._registry import discover
from fairsmooth.experiments._claim import Claim
from fairsmooth.experiments._contenders import CONTENDERS, Contender
from fairsmooth.experiments._estimate import Estimate, estimate, standard_error
from fairsmooth.experiments._plan import Selection
from fairsmooth.experiments._printed import read_printed
from fairsmooth.experiments._profiles import ENCODINGS, PROFILES, Profile, profile
from fairsmooth.experiments._progress import Progress
from fairsmooth.experiments._rows import rows_of
from fairsmooth.experiments._runner import jobs_of, run
from fairsmooth.experiments._select_rows import sign_of
from fairsmooth.experiments._spec import MAIN_METRICS, Experiment
from fairsmooth.experiments._store import Store
from fairsmooth.experiments._verdict import FAILS, HOLDS, UNKNOWN, Verdict

__all__ = [
    "CONTENDERS",
    "ENCODINGS",
    "FAILS",
    "HOLDS",
    "MAIN_METRICS",
    "PROFILES",
    "UNKNOWN",
    "Claim",
    "Contender",
    "Estimate",
    "Experiment",
    "Profile",
    "Progress",
    "Selection",
    "Store",
    "Verdict",
    "estimate",
    "experiments",
    "jobs_of",
    "profile",
    "read_printed",
    "rows_of",
    "run",
    "sign_of",
    "standard_error",
]


def experiments() -> tuple[Experiment, ...]:
    """Return every experiment, found by presence: tables, figures, then what stands beside them.

    Examples
    --------
    >>> [experiment.name for experiment in experiments()][:4]
    ['table1', 'table2', 'table3', 'table4']
    """
    found: tuple[Experiment, ...] = discover(sys.modules[__name__], "EXPERIMENTS")
    order = ("table", "figure")
    return tuple(sorted(found, key=lambda each: (_rank(each.name, order), each.name)))


def _rank(name: str, order: tuple[str, ...]) -> int:
    return next((place for place, start in enumerate(order) if name.startswith(start)), len(order))
