"""How an experiment of the paper is declared."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fairsmooth.experiments.claims.claim import Claim

# The nine that the paper compares with, in its order, and its three variants.
BASELINES = (
    "apxfair", "arl", "fair_mixup", "fairbatch", "frs", "implicit", "group_fair", "fcrl", "dlr",
)  # fmt: skip
VARIANTS = ("fairsmooth_s", "fairsmooth_d", "fairsmooth")
# Every method there is: resolved when a run is planned, so that new ones take part.
ALL = ("all",)
# Datasets of the paper; others take part in an experiment when they are asked for by name.
DATASETS = ("adult", "compas")

# How the parameters of a method come about: the authors' own, or chosen in each trial with one
# budget for all. The paper says "default parameter settings".
PUBLISHED, TUNED = "published", "tuned"

# Larger is better for these; for every other measure, smaller is.
LARGER_IS_BETTER = ("accuracy",)
MAIN_METRICS = ("accuracy", "demographic_parity", "equalized_odds_sum")
KINDS = ("fit", "draws", "ceiling", "tradeoff", "readings")


@dataclass(frozen=True)
class Experiment:
    """One table or figure: what is run, what was printed, what was claimed.

    Attributes
    ----------
    name : str
        As the command line knows it, such as ``table1``.
    paper : str
        Where it stands in the paper; empty if it goes beyond it.
    about : str
        One sentence.
    cases : tuple of str
        Dataset and sensitive attribute, such as ``adult-sex``.
    methods : tuple of str
        Methods that run, by name; ``ALL`` is every one.
    kind : {"fit", "draws", "ceiling", "tradeoff", "readings"}
        "fit": train and measure. "draws": cost and error of sampling. "ceiling":
        the most accurate rule of the encoded columns. "tradeoff": accuracy within limits.
        "readings": FairSmooth trained in every way that the paper leaves open.
    tracks : tuple of {"published", "tuned"}
        Whether methods run with their authors' parameters, with chosen ones, or twice.
    sweep : mapping of str to tuple of float
        Axes that are varied one at a time: ``partition`` (share of the test rows),
        ``group_ratio`` (share of a group in training), or a parameter.
    focus : tuple of str
        Methods that run at every point of a sweep in every profile.
    fixed : mapping
        Parameters of the methods instead of chosen ones.
    metrics : tuple of str
        What is shown.
    printed : str
        The printed numbers as a text table, see :func:`read_printed`.
    claims : tuple of Claim
        What the paper says about it.
    note : str
        What the paper leaves open, and what is done here.
    """

    name: str
    paper: str
    about: str
    cases: tuple[str, ...]
    methods: tuple[str, ...] = ()
    kind: str = "fit"
    tracks: tuple[str, ...] = (TUNED,)
    sweep: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    focus: tuple[str, ...] = ()
    fixed: Mapping[str, Any] = field(default_factory=dict)
    metrics: tuple[str, ...] = MAIN_METRICS
    printed: str = ""
    claims: tuple[Claim, ...] = ()
    note: str = ""
