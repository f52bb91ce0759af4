import pandas as pd
import pytest

from fairsmooth.exceptions import InputError
from fairsmooth.experiments import FAILS, HOLDS, SAME, UNKNOWN, read_printed
from fairsmooth.experiments.claims.certificates import bounds_hold, no_certificate
from fairsmooth.experiments.claims.comparisons import (
    best_along,
    best_in_all,
    best_in_most,
    better_in_all,
    better_in_most,
    beyond,
    reaches,
    within,
)

CASE = "adult-sex"
NOISE = (-0.002, 0.0, 0.002)


def measured(values, metric="accuracy", case=CASE):
    rows = [
        {
            "source": "binned",
            "case": case,
            "method": method,
            "trial": trial,
            "status": "done",
            metric: value + noise * (1 + place),
        }
        for place, (method, value) in enumerate(values.items())
        for trial, noise in enumerate(NOISE)
    ]
    return pd.DataFrame(rows)


def test_best_needs_every_comparison():
    others = ("arl", "dlr")
    clear = measured({"fairsmooth": 0.85, "arl": 0.80, "dlr": 0.70})
    close = measured({"fairsmooth": 0.801, "arl": 0.80, "dlr": 0.70})
    worse = measured({"fairsmooth": 0.75, "arl": 0.80, "dlr": 0.70})
    claim = best_in_all((CASE,), ("accuracy",), others=others)
    found = [claim(rows).outcome for rows in (clear, close, worse)]
    # Not told apart, but within a hundredth: not worse.
    assert found == [HOLDS, HOLDS, FAILS]
    assert "0.750 against 0.800 of arl" in claim(worse).evidence
    assert claim(clear[clear["method"] != "dlr"]).outcome == UNKNOWN


def test_smaller_gaps_are_better():
    rows = measured({"fairsmooth": 0.05, "arl": 0.20}, metric="demographic_parity")
    assert better_in_all("arl", (CASE,), ("demographic_parity",))(rows).outcome == HOLDS
    turned = better_in_most("fairsmooth", (CASE,), ("demographic_parity",), method="arl")
    assert turned(rows).outcome == FAILS


def test_equal_methods_are_not_worse_but_neither_is_better():
    rows = measured({"fairsmooth": 0.8})
    rows = pd.concat([rows, rows.assign(method="arl")])
    assert best_in_all((CASE,), ("accuracy",), others=("arl",))(rows).outcome == HOLDS
    assert better_in_all("arl", (CASE,), ("accuracy",))(rows).outcome == SAME


def test_printed_ties_count_as_best_but_not_as_beyond():
    printed = read_printed("case adult-sex\nmethod accuracy\narl .84\nfairsmooth .84")
    assert best_in_most((CASE,), ("accuracy",), others=("arl",))(printed).outcome == HOLDS
    # .84 may have been .8449 before rounding, but not .85.
    assert beyond("accuracy", 0.84, (CASE,))(printed).outcome == HOLDS
    assert beyond("accuracy", 0.85, (CASE,))(printed).outcome == FAILS
    assert beyond("accuracy", 0.83, (CASE,))(printed).outcome == HOLDS


def test_what_is_printed_a_digit_worse_is_worse():
    printed = read_printed("case adult-sex\nmethod equalized_odds_sum\narl .12\nfairsmooth .13")
    assert best_in_all((CASE,), ("equalized_odds_sum",), others=("arl",))(printed).outcome == FAILS


def test_nine_rivals_share_one_error():
    noise = {"fairsmooth": (0.0, 0.0, 0.0), "arl": (0.025, 0.03, 0.035)}
    rows = pd.concat(
        [
            pd.DataFrame(
                {"source": "binned", "case": CASE, "method": name, "trial": range(3),
                 "status": "done", "accuracy": [0.8 + each for each in values]}
            )
            for name, values in noise.items()
        ]
    )  # fmt: skip
    assert better_in_all("fairsmooth", (CASE,), ("accuracy",), method="arl")(rows).outcome == HOLDS
    assert best_in_all((CASE,), ("accuracy",), others=("arl",))(rows).outcome == FAILS
    others = [f"rival{number}" for number in range(8)]
    equal = rows[rows["method"] == "fairsmooth"]
    many = pd.concat([rows, *(equal.assign(method=name) for name in others)])
    claim = best_in_all((CASE,), ("accuracy",), others=("arl", *others))
    assert claim(many).outcome == UNKNOWN


def test_distances_are_compared_as_ratios():
    rows = measured({"fairsmooth": 0.005, "fairsmooth_s": 0.5}, metric="max_distance")
    claim = better_in_all("fairsmooth_s", (CASE,), ("max_distance",))
    assert claim(rows).outcome == HOLDS
    assert claim(rows.assign(max_distance=rows["max_distance"].abs() * 0.0)).outcome == UNKNOWN


def test_best_along_an_axis_counts_points():
    rows = pd.concat(
        [
            measured({"fairsmooth": ours, "arl": 0.80}).assign(axis="partition", value=value)
            for value, ours in ((0.05, 0.85), (0.1, 0.85), (0.4, 0.70))
        ]
    )
    found = best_along("partition", CASE, ("accuracy",), others=("arl",))(rows)
    assert found.outcome == HOLDS
    assert found.evidence == "of 3: 2 holds, 1 does not hold"
    limit = beyond("accuracy", 0.75, (CASE,), axis="partition")
    assert limit(rows).outcome == FAILS


def test_reaching_printed_numbers_and_staying_near_a_control():
    rows = measured({"fairsmooth": 0.80, "unconstrained": 0.815})
    assert within("accuracy", 0.05, "unconstrained", (CASE,))(rows).outcome == HOLDS
    assert within("accuracy", 0.001, "unconstrained", (CASE,))(rows).outcome == FAILS
    assert within("accuracy", 0.05, "arl", (CASE,))(rows).outcome == UNKNOWN
    assert reaches("accuracy", {CASE: 0.7})(rows).outcome == HOLDS
    assert reaches("accuracy", {CASE: 0.9})(rows).outcome == FAILS


def test_certificates():
    rows = measured({"fairsmooth": 0.85, "fairsmooth_d": 0.85}).assign(
        epsilon=lambda table: [0.01 if name == "fairsmooth" else None for name in table["method"]],
        epsilon_tight=0.01,
        measured_gap=0.008,
    )
    assert no_certificate("fairsmooth_d", (CASE,))(rows).outcome == HOLDS
    assert no_certificate("fairsmooth_d", ("compas-sex",))(rows).outcome == UNKNOWN
    assert no_certificate("fairsmooth_d", (CASE,))(rows.assign(epsilon=0.1)).outcome == FAILS
    assert bounds_hold((CASE,))(rows).outcome == HOLDS
    assert bounds_hold((CASE,))(rows.assign(measured_gap=0.02)).outcome == FAILS
    assert bounds_hold(("compas-sex",))(rows).outcome == UNKNOWN


def test_printed_table_with_a_missing_number_is_refused():
    with pytest.raises(InputError, match="Expected 2 printed numbers for 'arl', got 1"):
        read_printed("case adult-sex\nmethod accuracy demographic_parity\narl .84")


def test_a_dash_is_not_printed_and_no_table_is_no_rows():
    rows = read_printed("case adult-sex\nmethod accuracy\narl -")
    assert rows["accuracy"].isna().all()
    assert read_printed("").empty
