"""Five sentences on top of the reproduction's page, each from the page's own numbers."""

import pandas as pd

from fairsmooth.experiments import FAILS, HOLDS, SAME, UNKNOWN, Claim, Experiment, Verdict
from fairsmooth.experiments.claims.claim import OURS
from fairsmooth.reporting.claims import ClaimAnswers
from fairsmooth.reporting.minute import OPEN, Answer, in_a_minute

PRINTED = (
    "case adult-sex\nmethod accuracy demographic_parity equalized_odds_sum\nfairsmooth .84 .05 .08"
)
TABLE = Experiment("table1", "Table 1", "", ("adult-sex",), printed=PRINTED)
LEFT_OPEN = Answer("What the paper leaves open", f"{OPEN}.")


def answers(name, outcomes, whose="paper"):
    claim = Claim(name, "", lambda rows: Verdict(UNKNOWN, ""), whose=whose)
    sources = ("printed", "aif360", "binned")
    verdicts = {
        source: Verdict(outcome, "") for source, outcome in zip(sources, outcomes, strict=True)
    }
    return ClaimAnswers(claim, verdicts)


def row(method, encoding, *figures, track="tuned"):
    names = ("accuracy", "demographic_parity", "equalized_odds_sum")
    place = {"case": "adult-sex", "encoding": encoding, "track": track, "status": "done"}
    return {**place, "method": method, **dict(zip(names, figures, strict=True))}


def ceilings(ceiling, fair):
    place = {"case": ["adult-sex"], "encoding": "aif360", "status": "done"}
    return pd.DataFrame({**place, "ceiling": ceiling, "fair_ceiling": fair})


def test_every_sentence_follows_from_the_numbers():
    claims = [
        answers("first", (FAILS, HOLDS, HOLDS)),
        answers("second", (HOLDS, FAILS, SAME)),
        answers("flat", (HOLDS, SAME, SAME)),
        answers("third", (HOLDS, HOLDS, UNKNOWN)),
        answers("not the paper's", (HOLDS, HOLDS, HOLDS), whose=OURS),
    ]
    rows = pd.DataFrame(
        [
            row("fairsmooth", "aif360", 0.80, 0.05, 0.081),
            row("fairsmooth", "binned", 0.865, 0.16, 0.06),
            # Not tuned, so in no sentence.
            row("fairsmooth", "binned", 0.5, 0.9, 0.9, track="published"),
            row("unconstrained", "binned", 0.866, 0.17, 0.131),
            row("fairsmooth_parity", "binned", 0.84, 0.031, 0.041),
        ]
    )
    tables = {"table1": rows, "ceilings": ceilings(0.8044, 0.7892)}
    held, failed, impossible, left_open, better = in_a_minute([(TABLE, claims)], tables)
    assert held.text == (
        "Of the paper's 4 claims that numbers can contradict, 1 holds with every source of columns "
        "(“first”, Table 1)."
    )
    assert failed.text == (
        "On Adult by sex with all columns FairSmooth, tuned, has gaps ΔDP .160 and ΔEO .060; "
        "logistic regression without any constraint has .170 and .131. Of the claims 1 holds "
        "nowhere (“second”, Table 1), 1 would need a difference where there is less than .01 "
        "(“flat”, Table 1), and 1 depend on columns or parameters or cannot be told from these "
        "trials."
    )
    assert impossible.text.endswith(
        "Adult by sex (.84 printed; at most .804, and .789 within the printed gaps)."
    )
    assert left_open == LEFT_OPEN
    assert better.text.startswith("2 of 6 figures of FairSmooth, tuned, are better than printed")
    assert "accuracy of Adult by sex, all columns, .865 instead of .84;" in better.text
    assert "), and 2 are worse;" in better.text
    assert "has accuracy .840, ΔDP .031 and ΔEO .041 on Adult by sex with all" in better.text


def test_a_claim_beyond_the_paper_is_not_counted_as_the_papers():
    beyond = Experiment("tradeoff", "", "", ("adult-sex",))
    assert in_a_minute([(beyond, [answers("ours", (HOLDS, HOLDS, HOLDS))])], {}) == [LEFT_OPEN]


def test_without_numbers_nothing_is_said_but_what_is_open():
    assert in_a_minute([], {}) == [LEFT_OPEN]
    assert in_a_minute([], {"ceilings": ceilings(0.9, 0.9)}) == [LEFT_OPEN]


def test_the_extension_is_praised_only_where_its_gaps_are_smaller():
    rows = [row("fairsmooth", "binned", 0.86, 0.16, 0.06)]
    for gaps, said in (((0.15, 0.05), True), ((0.15, 0.07), False)):
        table = pd.DataFrame([*rows, row("fairsmooth_parity", "binned", 0.84, *gaps)])
        better = in_a_minute([(TABLE, [])], {"table1": table})[-1]
        assert ("what makes gaps small" in better.text) == said


def test_long_lists_are_cut():
    claims = [answers(f"claim {number}", (HOLDS, HOLDS, HOLDS)) for number in range(5)]
    held = in_a_minute([(TABLE, claims)], {})[0]
    assert "“claim 2”, Table 1, and 2 more)" in held.text
    assert "claim 3" not in held.text
