"""What any rule of the encoded columns can reach, beside what was printed."""

from fairsmooth.experiments.claims.ceilings import printed_reachable, sizes_are
from fairsmooth.experiments.claims.claim import OURS, Claim
from fairsmooth.experiments.declaration import Experiment

# The row of FairSmooth in Tables 1 and 4.
PRINTED = """
case        adult-sex                                        compas-sex                                       adult-race                                       compas-race
method      accuracy  demographic_parity  equalized_odds_sum accuracy  demographic_parity  equalized_odds_sum accuracy  demographic_parity  equalized_odds_sum accuracy  demographic_parity  equalized_odds_sum
fairsmooth  .84       .05                 .08                .67       .11                 .19                .84       .04                 .13                .66       .03                 .01
"""  # noqa: E501
GAPS = {
    "adult-sex": {"demographic_parity": 0.05, "equalized_odds_sum": 0.08},
    "compas-sex": {"demographic_parity": 0.11, "equalized_odds_sum": 0.19},
    "adult-race": {"demographic_parity": 0.04, "equalized_odds_sum": 0.13},
    "compas-race": {"demographic_parity": 0.03, "equalized_odds_sum": 0.01},
}
# The columns that the paper names; with more of them a ceiling says nothing.
BINARY = ("aif360",)
ACCURACY = {"adult-sex": 0.84, "compas-sex": 0.67, "adult-race": 0.84, "compas-race": 0.66}

EXPERIMENTS = (
    Experiment(
        name="ceilings",
        paper="Section 4",
        about="The most accurate rule of the encoded columns, free and at the printed gaps.",
        cases=tuple(GAPS),
        kind="ceiling",
        fixed=GAPS,
        metrics=(
            *("rows", "columns", "cells", "majority", "ceiling", "fair_ceiling"),
            *("told_ceiling", "told_fair_ceiling"),
        ),
        printed=PRINTED,
        claims=(
            Claim(
                "18 and 10 columns, 48,842 and 6,172 rows",
                "Adult has 48,842 rows with 18 binary features, COMPAS 6,172 with 10.",
                sizes_are({"adult": (48_842, 18), "compas": (6_172, 10)}),
                printed=False,
                asked_of=BINARY,
            ),
            Claim(
                "the printed accuracy exists",
                "FairSmooth's printed accuracies can be reached by a function of the columns.",
                printed_reachable(ACCURACY, "ceiling"),
                printed=False,
                whose=OURS,
                asked_of=BINARY,
            ),
            Claim(
                "the printed accuracy exists at the printed gaps",
                "They can be reached together with the printed gaps, by a randomised rule of the "
                "same columns.",
                printed_reachable(ACCURACY, "fair_ceiling"),
                printed=False,
                whose=OURS,
                asked_of=BINARY,
            ),
        ),
        note="Told: rules that see the group beside the columns; the others do not. A ceiling is "
        "computed on the very rows it is measured on, so no method can exceed it there. With the "
        "binned columns nearly every row is a cell of its own and it says nothing. Printed values "
        "are given half a unit of their last digit.",
    ),
)
