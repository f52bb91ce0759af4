"""Claims by what became of them."""

import pytest

from fairsmooth.experiments import FAILS, HOLDS, SAME, UNKNOWN, Claim, Experiment, Verdict
from fairsmooth.reporting.claims import ClaimAnswers
from fairsmooth.reporting.verdict_groups import DEPENDS, grouped, together

TABLE = Experiment("table1", "Table 1", "", ("adult-sex",))


def answers(outcomes, whose="paper", evidence="adult-sex, epsilon: 0.1 against 0.2 of arl"):
    claim = Claim("name", "It says.", lambda rows: Verdict(UNKNOWN, ""), whose=whose)
    return ClaimAnswers(claim, {key: Verdict(what, evidence) for key, what in outcomes.items()})


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ((HOLDS, HOLDS), HOLDS),
        ((SAME, SAME), SAME),
        ((FAILS, SAME), FAILS),
        ((HOLDS, FAILS), DEPENDS),
        ((HOLDS, SAME), DEPENDS),
        ((HOLDS, UNKNOWN), DEPENDS),
        ((UNKNOWN, UNKNOWN), UNKNOWN),
    ],
)
def test_sources_are_taken_together_without_the_printed_numbers(said, expected):
    sources = dict(zip(("aif360", "binned"), said, strict=True))
    assert together(answers({"printed": FAILS, **sources})) == expected


def test_a_claim_that_only_the_printed_numbers_were_asked_cannot_be_told():
    assert together(answers({"printed": HOLDS})) == UNKNOWN


def test_groups_are_in_words_and_those_of_others_stand_apart():
    claims = [
        answers({"binned": HOLDS, "binned, published": HOLDS, "printed": FAILS}),
        answers({"aif360": HOLDS}, whose="construction"),
        answers({"aif360": FAILS}, whose="ours"),
    ]
    beyond = Experiment("tradeoff", "", "", ("adult-sex",))
    groups = grouped([(TABLE, claims), (beyond, [answers({"raw": HOLDS})])])
    assert [group.title for group in groups] == [
        "Holds everywhere", "True by construction", "Our own questions",
    ]  # fmt: skip
    assert [group.outcome for group in groups] == [HOLDS, "", ""]
    assert [told.place for told in groups[2].claims] == ["Table 1", "beyond the paper"]
    (told,) = groups[0].claims
    assert [(line.source, line.outcome) for line in told.lines] == [
        ("the printed numbers themselves", FAILS),
        ("all columns, as published", HOLDS),
        ("all columns, tuned", HOLDS),
    ]
    assert told.lines[0].evidence == "Adult by sex, certificate: 0.1 against 0.2 of ARL"
    assert groups[1].claims[0].lines[0].source == "binary columns"
