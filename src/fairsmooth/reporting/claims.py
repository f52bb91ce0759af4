"""Each claim put to the printed numbers and to ours."""

from dataclasses import dataclass

import pandas as pd

from fairsmooth.experiments import (
    ENCODINGS,
    UNKNOWN,
    Claim,
    Experiment,
    Verdict,
    read_printed,
)

PRINTED = "printed"


@dataclass(frozen=True)
class ClaimAnswers:
    """A claim and what every source says to it."""

    claim: Claim
    verdicts: dict[str, Verdict]


def answer_claims(experiment: Experiment, rows: pd.DataFrame) -> list[ClaimAnswers]:
    """Ask every claim of the printed numbers, where it can be, and of every source that ran."""
    printed = read_printed(experiment.printed)
    ran = dict(zip(rows["source"], rows["encoding"], strict=True))
    answers = []
    for claim in experiment.claims:
        verdicts = {PRINTED: claim.predicate(printed)} if claim.printed else {}
        for source, encoding in ran.items():
            if not claim.asked_of or encoding in claim.asked_of:
                verdicts[source] = claim.predicate(rows[rows["source"] == source])
        if not verdicts:
            verdicts[ENCODINGS[0]] = Verdict(UNKNOWN, "nothing has run")
        answers.append(ClaimAnswers(claim, verdicts))
    return answers
