import pandas as pd

from fairsmooth.experiments import FAILS, HOLDS, UNKNOWN
from fairsmooth.experiments.claims.readings import some_reading_meets

PRINTED = (
    "case adult-sex\nmethod accuracy demographic_parity equalized_odds_sum\nfairsmooth .84 .05 .08"
)


def rows(*figures):
    names = ("accuracy", "demographic_parity", "equalized_odds_sum")
    soft = ("expected_demographic_parity", "expected_equalized_odds_sum")
    found = [dict(zip((*names, *soft), each, strict=True)) for each in figures]
    return pd.DataFrame(found).assign(
        source="binned", case="adult-sex", method="to convergence", value=range(len(figures))
    )


def test_all_three_figures_must_be_met_at_once():
    claim = some_reading_meets(PRINTED)
    far = (0.80, 0.05, 0.08, 0.05, 0.08)
    assert claim(rows(far, (0.84, 0.06, 0.2, 0.2, 0.2))).outcome == FAILS
    assert claim(rows(far, (0.85, 0.06, 0.09, 0.2, 0.2))).outcome == HOLDS
    # Gaps of scores will do as well.
    assert claim(rows((0.84, 0.3, 0.3, 0.05, 0.08))).outcome == HOLDS
    assert "off by 0.025" in claim(rows(far)).evidence


def test_without_rows_nothing_can_be_told():
    assert some_reading_meets(PRINTED)(rows().reindex(columns=["case"])).outcome == UNKNOWN
