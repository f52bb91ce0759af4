"""What the paper says, as a predicate over rows."""

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from fairsmooth.experiments.claims.verdict import Verdict

PAPER, CONSTRUCTION, OURS = "paper", "construction", "ours"

Predicate = Callable[[pd.DataFrame], Verdict]


@dataclass(frozen=True)
class Claim:
    """One sentence of the paper that numbers can contradict.

    Attributes
    ----------
    name : str
        Short name, unique within its experiment.
    says : str
        What the sentence says, in our words.
    predicate : callable
        Takes the rows of one experiment from one source (printed, or measured in
        one encoding) and returns a :class:`Verdict`.
    printed : bool
        Whether the printed numbers can be asked as well.
    whose : {"paper", "construction", "ours"}
        "construction": true of any run, by a theorem or by what is minimised; "ours": a
        question that we put. Neither counts when the paper's claims are counted.
    asked_of : tuple of str
        Sources of columns that the claim is about; empty for all.
    """

    name: str
    says: str
    predicate: Predicate
    printed: bool = True
    whose: str = PAPER
    asked_of: tuple[str, ...] = ()
