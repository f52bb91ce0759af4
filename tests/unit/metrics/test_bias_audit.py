"""The table of Local Law 144, against the definitions of the city's rules worked by hand."""

import numpy as np
import pandas as pd
import pytest

from fairsmooth.exceptions import InputError
from fairsmooth.metrics.bias_audit import bias_audit

# The worked example of the city's rules has these rates by sex: 48 % and 42 %.
SEX = pd.Series(["male"] * 1390 + ["female"] * 1181, name="sex")
SELECTED = np.r_[np.ones(667), np.zeros(723), np.ones(496), np.zeros(685)]


def test_selection_rates_and_impact_ratios_of_one_attribute():
    female, male = bias_audit(SEX, selected=SELECTED).rows
    assert (male.applicants, male.chosen) == (1390, 667)
    assert male.rate == pytest.approx(667 / 1390)
    assert male.impact_ratio == 1.0
    assert female.impact_ratio == pytest.approx((496 / 1181) / (667 / 1390))


def test_scores_are_compared_with_the_median_of_everybody():
    scores = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 100.0])
    audit = bias_audit(["a", "a", "a", "b", "b", None], scores=scores)
    assert audit.median == 3.5  # the person of unknown category counts here
    assert [(row.category, row.chosen, row.rate) for row in audit.rows] == [
        ("a", 0, 0.0),
        ("b", 2, 1.0),
    ]
    assert audit.rate == "scoring rate"
    assert any("scoring rates" in note for note in audit.notes())


def test_every_attribute_alone_then_all_together():
    table = pd.DataFrame({"sex": list("ffmm") * 25, "race": list("xyxy") * 25})
    audit = bias_audit(table, selected=[1, 0, 1, 1] * 25)
    assert [(row.attribute, row.category) for row in audit.rows] == [
        ("sex", "f"),
        ("sex", "m"),
        ("race", "x"),
        ("race", "y"),
        ("sex × race", "f|x"),
        ("sex × race", "f|y"),
        ("sex × race", "m|x"),
        ("sex × race", "m|y"),
    ]
    assert [row.impact_ratio for row in audit.rows[4:]] == [1.0, 0.0, 1.0, 1.0]


def test_unknown_categories_are_counted_and_in_no_row():
    table = pd.DataFrame({"sex": ["f", "m", None, "m"], "race": ["x", None, "y", "x"]})
    audit = bias_audit(table, selected=[1, 1, 0, 0])
    assert audit.unknown == {"sex": 1, "race": 1, "sex × race": 2}
    assert sum(row.applicants for row in audit.rows if row.attribute == "sex × race") == 2
    assert sum("unknown" in note for note in audit.notes()) == 3


def test_a_category_under_two_percent_keeps_its_counts_and_sets_no_standard():
    race = ["x"] * 60 + ["y"] * 40 + ["z"]  # 1 of 101 is less than 2 %
    chosen = [1] * 30 + [0] * 30 + [1] * 10 + [0] * 30 + [1]
    x, y, z = bias_audit(race, selected=chosen).rows
    assert (z.applicants, z.rate, z.impact_ratio) == (1, 1.0, None)
    assert x.impact_ratio == 1.0  # not judged by the rate of one person
    assert y.impact_ratio == pytest.approx(0.25 / 0.5)


def test_two_percent_exactly_is_kept():
    race = ["x"] * 49 + ["y"]
    assert bias_audit(race, selected=[1] * 50).rows[1].impact_ratio == 1.0


def test_nobody_selected_is_no_disparity():
    assert [row.impact_ratio for row in bias_audit(["a", "b"], selected=[0, 0]).rows] == [1.0, 1.0]


def test_labels_that_contain_the_separator_stay_apart():
    table = pd.DataFrame({"s": ["a|b", "a"], "t": ["c", "b|c"]})
    together = [r for r in bias_audit(table, selected=[1, 0]).rows if "×" in r.attribute]
    assert len({row.category for row in together}) == 2


def test_the_frame_has_a_row_per_category():
    frame = bias_audit(SEX, selected=SELECTED).to_frame()
    assert list(frame.columns) == [
        "attribute",
        "category",
        "applicants",
        "selected",
        "selection rate",
        "impact ratio",
    ]
    assert len(frame) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "either selected or scores"),
        ({"selected": [1], "scores": [1]}, "either selected or scores"),
        ({"selected": [0, 0.3]}, "0 or 1"),
        ({"scores": [0.1, float("nan")]}, "one finite value"),
        ({"scores": []}, "nobody"),
        ({"scores": [0.1]}, "one entry per row"),
    ],
)
def test_what_cannot_be_tabulated_is_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        bias_audit(["a", "b"], **arguments)
