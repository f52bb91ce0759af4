"""Four answers to a claim, and how answers are put together."""

from collections.abc import Sequence
from dataclasses import dataclass

HOLDS = "holds"
FAILS = "does not hold"
SAME = "no difference"
UNKNOWN = "cannot be told"
OUTCOMES = (HOLDS, SAME, FAILS, UNKNOWN)


@dataclass(frozen=True)
class Verdict:
    """An answer with the numbers behind it.

    Attributes
    ----------
    outcome : {"holds", "no difference", "does not hold", "cannot be told"}
        The answer.
    evidence : str
        The numbers, in a few words.
    """

    outcome: str
    evidence: str


def every(verdicts: Sequence[Verdict]) -> Verdict:
    """Hold if all hold; one that does not hold decides, then one without a difference.

    Examples
    --------
    >>> every([Verdict(HOLDS, "a"), Verdict(FAILS, "b")])
    Verdict(outcome='does not hold', evidence='b')
    """
    for outcome in (FAILS, SAME, UNKNOWN):
        found = [verdict.evidence for verdict in verdicts if verdict.outcome == outcome]
        if found:
            return Verdict(outcome, _listed(found))
    return Verdict(HOLDS, _listed([verdict.evidence for verdict in verdicts]))


def most(verdicts: Sequence[Verdict]) -> Verdict:
    """Hold if more than half hold; if half can no longer hold, what most of those say.

    Examples
    --------
    >>> most([Verdict(HOLDS, ""), Verdict(HOLDS, ""), Verdict(UNKNOWN, "")]).outcome
    'holds'
    """
    counts = {
        outcome: sum(verdict.outcome == outcome for verdict in verdicts) for outcome in OUTCOMES
    }
    words = (f"{number} {outcome}" for outcome, number in counts.items() if number)
    evidence = f"of {len(verdicts)}: {', '.join(words)}"
    if 2 * counts[HOLDS] > len(verdicts):
        return Verdict(HOLDS, evidence)
    if 2 * (counts[FAILS] + counts[SAME]) >= len(verdicts):
        return Verdict(FAILS if counts[FAILS] >= counts[SAME] else SAME, evidence)
    return Verdict(UNKNOWN, evidence)


def _listed(evidence: Sequence[str], limit: int = 3) -> str:
    shown = "; ".join(evidence[:limit])
    return shown if len(evidence) <= limit else f"{shown}; and {len(evidence) - limit} more"
