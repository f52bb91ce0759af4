import pandas as pd
import pytest

from fairsmooth.experiments import FAILS, HOLDS, SAME, UNKNOWN
from fairsmooth.experiments.claims.curves import (
    best_inside,
    joined,
    moves,
    on_grid,
    steadier,
    worse_at,
)
from fairsmooth.experiments.claims.draws import error_below, slower_than_exact

CASE = "adult-sex"


def curve(values, method="fairsmooth", metric="accuracy", axis="sigma"):
    rows = [
        {
            "source": "binned",
            "case": CASE,
            "method": method,
            "trial": trial,
            "axis": axis,
            "value": point,
            metric: value + 0.001 * trial,
        }
        for point, value in values.items()
        for trial in range(3)
    ]
    return pd.DataFrame(rows)


HILL = {0.25: 0.80, 1.0: 0.85, 2.0: 0.79}
SLOPE = {0.25: 0.85, 1.0: 0.82, 2.0: 0.79}


def test_a_hill_is_best_inside_and_a_slope_is_not():
    claim = best_inside("sigma", CASE, ("accuracy",))
    assert claim(curve(HILL)).outcome == HOLDS
    assert claim(curve(SLOPE)).outcome == FAILS
    assert claim(curve({0.25: 0.8, 2.0: 0.9})).outcome == UNKNOWN


def test_for_gaps_a_valley_is_best_inside():
    valley = curve({0.25: 0.2, 1.0: 0.1, 2.0: 0.3}, metric="demographic_parity")
    assert best_inside("sigma", CASE, ("demographic_parity",))(valley).outcome == HOLDS
    assert (
        "0.101 at 1, 0.201 and 0.301 at the ends"
        in best_inside("sigma", CASE, ("demographic_parity",))(valley).evidence
    )


def test_a_flat_curve_neither_rises_nor_falls_nor_has_a_best_point():
    flat = curve({0.25: 0.8, 1.0: 0.8, 2.0: 0.8})
    for claim in (
        best_inside("sigma", CASE, ("accuracy",)),
        moves("accuracy", "sigma", CASE, "falls"),
        moves("accuracy", "sigma", CASE, "rises"),
        worse_at("first", "accuracy", "sigma", CASE),
        worse_at("last", "accuracy", "sigma", CASE),
    ):
        assert claim(flat).outcome == SAME
    assert moves("epsilon", "sigma", CASE, "falls")(curve(SLOPE, metric="epsilon")).outcome == HOLDS


def test_directions():
    slope = curve(SLOPE)
    assert moves("accuracy", "sigma", CASE, "falls")(slope).outcome == HOLDS
    assert moves("accuracy", "sigma", CASE, "rises")(slope).outcome == FAILS
    assert moves("accuracy", "alpha", CASE, "rises")(slope).outcome == UNKNOWN
    assert worse_at("last", "accuracy", "sigma", CASE)(slope).outcome == HOLDS
    assert worse_at("first", "accuracy", "sigma", CASE)(slope).outcome == FAILS
    assert worse_at("first", "accuracy", "alpha", CASE)(slope).outcome == UNKNOWN
    both = joined(
        moves("accuracy", "sigma", CASE, "falls"), moves("accuracy", "sigma", CASE, "rises")
    )
    assert both(slope).outcome == FAILS


@pytest.mark.parametrize(("ours", "outcome"), [(0.81, HOLDS), (0.99, FAILS), (0.895, SAME)])
def test_steadier_compares_ranges_over_all_points(ours, outcome):
    theirs = curve({0.1: 0.80, 0.9: 0.90}, method="arl", axis="group_ratio")
    rows = pd.concat([curve({0.1: 0.80, 0.9: ours}, axis="group_ratio"), theirs])
    claim = steadier("group_ratio", CASE, ("accuracy",), others=("arl",))
    assert claim(rows).outcome == outcome
    alone = steadier("group_ratio", CASE, ("accuracy",), others=("dlr",))
    assert alone(rows).outcome == UNKNOWN
    # A range over two of three points is no range over three.
    longer = pd.concat([curve({0.1: 0.80, 0.5: 0.8, 0.9: ours}, axis="group_ratio"), theirs])
    assert claim(longer).outcome == UNKNOWN


def test_a_claim_is_asked_of_its_own_grid():
    rows = curve({0.01: 0.7, 0.25: 0.85, 1.5: 0.8}, axis="alpha")
    falls = moves("accuracy", "alpha", CASE, "falls")
    assert falls(rows).outcome == FAILS
    assert on_grid(falls, "alpha", (0.25, 1.5))(rows).outcome == HOLDS
    assert on_grid(falls, "sigma", ())(rows).outcome == FAILS


def test_claims_on_sampling():
    rows = pd.DataFrame({"value": [500, 1000], "largest_error": [0.05, 0.004], "slowdown": [9, 20]})
    assert error_below(0.01, 1000)(rows).outcome == HOLDS
    assert error_below(0.01, 500)(rows).outcome == FAILS
    assert error_below(0.01, 7)(rows).outcome == UNKNOWN
    assert slower_than_exact(1000)(rows).outcome == FAILS
    assert slower_than_exact(1000)(rows.assign(slowdown=0.5)).outcome == HOLDS
    assert slower_than_exact(1000)(rows.drop(columns="slowdown")).outcome == UNKNOWN
