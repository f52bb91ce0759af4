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
    """Ask every claim of the printed numbers, where it can be, and of every encoding that ran."""
    printed = read_printed(experiment.printed)
    ran = list(dict.fromkeys(rows["encoding"]))
    answers = []
    for claim in experiment.claims:
        verdicts = {PRINTED: claim.predicate(printed)} if claim.printed else {}
        for encoding in [each for each in ran if not claim.asked_of or each in claim.asked_of]:
            verdicts[encoding] = claim.predicate(rows[rows["encoding"] == encoding])
        if not verdicts:
            verdicts[ENCODINGS[0]] = Verdict(UNKNOWN, "nothing has run")
        answers.append(ClaimAnswers(claim, verdicts))
    return answers
