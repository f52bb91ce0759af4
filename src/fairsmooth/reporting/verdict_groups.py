"""The claims by what became of them, each with the numbers of every source behind it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from fairsmooth.experiments import FAILS, HOLDS, PAPER, SAME, UNKNOWN, Experiment
from fairsmooth.experiments.claims.claim import CONSTRUCTION, OURS
from fairsmooth.reporting.claims import ClaimAnswers
from fairsmooth.reporting.reproduction_words import (
    PRINTED,
    in_source_order,
    in_words,
    source_name,
)

DEPENDS = "depends"
# In the order of the page: what becomes of a claim when all sources are taken together.
TOGETHER = {
    HOLDS: "Holds everywhere",
    SAME: "No difference",
    FAILS: "Does not hold",
    DEPENDS: "Depends on columns or parameters",
    UNKNOWN: "Cannot be told",
}
_ABOUT = {
    HOLDS: "With every source of columns and, where both were run, as published and tuned.",
    SAME: "A difference that the claim needs is within .01 of none, with every source of columns.",
    FAILS: "With no source does it hold; where not the opposite is seen, there is no difference.",
    DEPENDS: "The answer differs between sources of columns, or between as published and tuned.",
    UNKNOWN: "The intervals of these trials contain several answers, or something has not run.",
}
_OTHERS = {
    CONSTRUCTION: (
        "True by construction",
        "A theorem, or what the objective minimises: asked of every run as a check, and not "
        "counted as the paper's.",
    ),
    OURS: ("Our own questions", "Not claims of the paper, and not counted as such."),
}

Answered = Sequence[tuple[Experiment, Sequence[ClaimAnswers]]]


@dataclass(frozen=True)
class Line:
    """What one source says."""

    source: str
    outcome: str
    evidence: str


@dataclass(frozen=True)
class Told:
    """One claim, where it stands, and what every source says to it."""

    name: str
    says: str
    place: str
    lines: tuple[Line, ...]


@dataclass
class Group:
    """Claims of which the same became.

    Attributes
    ----------
    title, about : str
        Above it.
    outcome : str
        What became of them; empty for those that are not the paper's.
    claims : list of Told
    """

    title: str
    about: str
    outcome: str = ""
    claims: list[Told] = field(default_factory=list)


def grouped(answered: Answered) -> list[Group]:
    """Return the paper's claims by what became of them, then those that are not the paper's."""
    groups = {name: Group(title, _ABOUT[name], name) for name, title in TOGETHER.items()}
    groups |= {whose: Group(title, about) for whose, (title, about) in _OTHERS.items()}
    for experiment, claims in answered:
        for answers in claims:
            whose = whose_claim(experiment, answers)
            key = together(answers) if whose == PAPER else whose
            groups[key].claims.append(_told(experiment, answers))
    return [group for group in groups.values() if group.claims]


def whose_claim(experiment: Experiment, answers: ClaimAnswers) -> str:
    """Tell whose claim it is; beyond the paper there are none of the paper's."""
    return answers.claim.whose if experiment.paper else OURS


def together(answers: ClaimAnswers) -> str:
    """Return what all sources but the printed numbers say of a claim, taken together."""
    said = {verdict.outcome for source, verdict in answers.verdicts.items() if source != PRINTED}
    if len(said) < 2:
        return next(iter(said), UNKNOWN)
    return FAILS if said == {FAILS, SAME} else DEPENDS


def _told(experiment: Experiment, answers: ClaimAnswers) -> Told:
    claim = answers.claim
    place = experiment.paper or "beyond the paper"
    return Told(claim.name, claim.says, place, tuple(_lines(answers)))


def _lines(answers: ClaimAnswers) -> Iterable[Line]:
    sources = in_source_order(answers.verdicts)
    # Whose parameters is said where there is more than one answer to that.
    tracks = any(", " in source for source in sources)
    for source in sources:
        verdict = answers.verdicts[source]
        name = source_name(source, tracks=tracks)
        yield Line(name, verdict.outcome, in_words(verdict.evidence))
