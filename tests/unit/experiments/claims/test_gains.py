import pandas as pd
import pytest

from fairsmooth.experiments import FAILS, HOLDS, UNKNOWN, read_printed
from fairsmooth.experiments.claims.gains import average_gain, gain_over_best

CASE = "adult-sex"
PRINTED = read_printed(
    "case adult-sex\nmethod accuracy demographic_parity\narl .5 .2\nfairsmooth .8 .05"
)


def measured(ours, theirs, metric="demographic_parity"):
    rows = [
        {"source": "binned", "case": CASE, "method": method, "trial": trial, metric: value}
        for method, values in (("fairsmooth", ours), ("arl", theirs))
        for trial, value in enumerate(values)
    ]
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("metric", "stated", "outcome"),
    [
        ("accuracy", 0.375, HOLDS),
        # .7951 and .5049 round to the same; .43 needs more than rounding.
        ("accuracy", 0.366, HOLDS),
        ("accuracy", 0.43, FAILS),
        ("demographic_parity", 0.75, HOLDS),
        ("demographic_parity", 0.72, HOLDS),
        ("demographic_parity", 0.5, FAILS),
    ],
)
def test_printed_gains_are_relative_to_the_larger_value_and_granted_rounding(
    metric, stated, outcome
):
    found = average_gain(metric, stated, (CASE,), others=("arl",))(PRINTED)
    assert found.outcome == outcome
    shown = {"accuracy": "37.5%", "demographic_parity": "75.0%"}[metric]
    assert found.evidence.startswith(shown)


def test_more_than_stated_contradicts_as_well():
    claim = gain_over_best("demographic_parity", 0.1, CASE, others=("arl",))
    assert claim(PRINTED).outcome == FAILS
    assert "75.0% over arl" in claim(PRINTED).evidence
    assert claim(measured((0.05, 0.051, 0.049), (0.2, 0.2, 0.2))).outcome == FAILS


def test_measured_gains_are_ratios_in_logarithms():
    ours, theirs = (0.05, 0.1, 0.2), (0.1, 0.2, 0.4)
    rows = measured(ours, theirs)
    # Half in every trial: differences vary, the ratio does not.
    assert average_gain("demographic_parity", 0.5, (CASE,), others=("arl",))(rows).outcome == HOLDS
    claim = average_gain("demographic_parity", 0.482, (CASE,), others=("arl",))
    assert claim(rows).outcome == FAILS
    wide = measured((0.02, 0.1, 0.3), theirs)
    assert claim(wide).outcome == UNKNOWN
    worse = average_gain("demographic_parity", -0.5, (CASE,), others=("arl",))
    assert worse(measured(theirs, ours)).outcome == HOLDS


def test_a_gap_of_nothing_is_no_infinite_gain():
    rows = measured((0.0, 0.0, 0.0), (0.1, 0.1, 0.1))
    found = gain_over_best("demographic_parity", 0.99, CASE, others=("arl",))(rows)
    assert found.outcome == HOLDS
    assert "99.0%" in found.evidence


def test_without_rows_nothing_can_be_told():
    assert average_gain("accuracy", 0.1, (CASE,), others=("dlr",))(PRINTED).outcome == UNKNOWN
    assert gain_over_best("accuracy", 0.1, "adult-race")(PRINTED).outcome == UNKNOWN
    alone = measured((0.1,), (0.2,))
    assert (
        gain_over_best("demographic_parity", 0.5, CASE, others=("arl",))(alone).outcome == UNKNOWN
    )
