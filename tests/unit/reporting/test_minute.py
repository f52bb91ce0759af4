"""Five sentences on top of the reproduction's page, each from the page's own numbers."""

import pandas as pd

from fairsmooth.experiments import FAILS, HOLDS, SAME, UNKNOWN, Claim, Experiment, Verdict
from fairsmooth.experiments.claims.claim import OURS
from fairsmooth.reporting.claims import ClaimAnswers
from fairsmooth.reporting.minute import OPEN, in_a_minute

PRINTED = (
    "case adult-sex\nmethod accuracy demographic_parity equalized_odds_sum\nfairsmooth .84 .05 .08"
)
TABLE = Experiment("table1", "Table 1", "", ("adult-sex",), printed=PRINTED)


def answers(name, outcomes, whose="paper"):
    claim = Claim(name, "", lambda rows: Verdict(UNKNOWN, ""), whose=whose)
    sources = ("printed", "aif360", "binned")
    verdicts = {
        source: Verdict(outcome, "") for source, outcome in zip(sources, outcomes, strict=True)
    }
    return ClaimAnswers(claim, verdicts)


def test_every_sentence_follows_from_the_numbers():
    claims = [
        answers("first", (FAILS, HOLDS, HOLDS)),
        answers("second", (HOLDS, FAILS, SAME)),
        answers("third", (HOLDS, HOLDS, UNKNOWN)),
        answers("not the paper's", (HOLDS, HOLDS, HOLDS), whose=OURS),
    ]
    rows = pd.DataFrame(
        {
            "case": "adult-sex",
            "source": ["aif360", "binned"],
            "method": "fairsmooth",
            "accuracy": [0.80, 0.865],
            "demographic_parity": [0.05, 0.16],
            "equalized_odds_sum": [0.081, 0.06],
        }
    )
    ceilings = pd.DataFrame(
        {
            "case": ["adult-sex"],
            "encoding": "aif360",
            "status": "done",
            "ceiling": [0.8044],
            "fair_ceiling": [0.7892],
        }
    )
    tables = {"table1": rows, "ceilings": ceilings}
    held, failed, impossible, left_open, better = in_a_minute([(TABLE, claims)], tables)
    assert held == "Of 3 claims of the paper, 1 hold with every source of columns: first (Table 1)."
    assert failed.startswith("1 do not hold, or show no difference, with any: second (Table 1).")
    assert "The other 1 depend on the columns" in failed
    assert (
        "Adult, sex at most 0.804, and 0.789 within the printed gaps (0.84 printed)" in impossible
    )
    assert left_open == OPEN
    assert better.startswith("Ours is better than printed in 2 of FairSmooth's figures")
    assert "Adult, sex, binned, accuracy 0.865 (0.84)" in better
    assert "It is worse in 2: Adult, sex, aif360, accuracy 0.800 (0.84)" in better


def test_without_numbers_nothing_is_said_but_what_is_open():
    assert in_a_minute([], {}) == [OPEN]
    possible = pd.DataFrame(
        {"case": ["adult-sex"], "encoding": "aif360", "status": "done", "ceiling": [0.9],
         "fair_ceiling": [0.9]}
    )  # fmt: skip
    assert in_a_minute([], {"ceilings": possible}) == [OPEN]
