"""Three answers to a claim, and how answers are put together."""

from collections.abc import Sequence
from dataclasses import dataclass

HOLDS = "holds"
FAILS = "does not hold"
UNKNOWN = "cannot be told"


@dataclass(frozen=True)
class Verdict:
    """An answer with the numbers behind it.

    Attributes
    ----------
    outcome : {"holds", "does not hold", "cannot be told"}
        The answer.
    evidence : str
        The numbers, in a few words.
    """

    outcome: str
    evidence: str


def every(verdicts: Sequence[Verdict]) -> Verdict:
    """Hold if all hold; one that does not hold decides, and is the evidence.

    Examples
    --------
    >>> every([Verdict(HOLDS, "a"), Verdict(FAILS, "b")])
    Verdict(outcome='does not hold', evidence='b')
    """
    for outcome in (FAILS, UNKNOWN):
        found = [verdict.evidence for verdict in verdicts if verdict.outcome == outcome]
        if found:
            return Verdict(outcome, _listed(found))
    return Verdict(HOLDS, _listed([verdict.evidence for verdict in verdicts]))


def most(verdicts: Sequence[Verdict]) -> Verdict:
    """Hold if more than half hold, fail if at least half fail.

    Examples
    --------
    >>> most([Verdict(HOLDS, ""), Verdict(HOLDS, ""), Verdict(UNKNOWN, "")]).outcome
    'holds'
    """
    counts = [
        sum(verdict.outcome == outcome for verdict in verdicts)
        for outcome in (HOLDS, FAILS, UNKNOWN)
    ]
    evidence = "{} of {} hold, {} do not, {} cannot be told".format(
        counts[0], len(verdicts), *counts[1:]
    )
    if 2 * counts[0] > len(verdicts):
        return Verdict(HOLDS, evidence)
    return Verdict(FAILS if 2 * counts[1] >= len(verdicts) else UNKNOWN, evidence)


def _listed(evidence: Sequence[str], limit: int = 3) -> str:
    shown = "; ".join(evidence[:limit])
    return shown if len(evidence) <= limit else f"{shown}; and {len(evidence) - limit} more"
