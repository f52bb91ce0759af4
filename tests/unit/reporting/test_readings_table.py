"""How near each reading comes to the printed rows, nearest first."""

import pandas as pd
import pytest

from fairsmooth.experiments import experiment, read_printed
from fairsmooth.reporting.readings_table import nearest_reading, readings_of, readings_table

READINGS = experiment("readings")
NAMES = ("accuracy", "demographic_parity", "equalized_odds_sum")


def rows(*, off, columns, schedule, value=0.0):
    """One row per case, every figure off the printed one; those of scores further."""
    worse = {"adult-sex": 0.01}
    printed = read_printed(READINGS.printed).to_dict("records")
    return [
        {
            "case": each["case"], "encoding": columns, "method": schedule, "status": "done",
            "value": value,
            **{name: each[name] + off + worse.get(each["case"], 0.0) for name in NAMES},
            **{f"expected_{name}": each[name] + 3 * off for name in NAMES[1:]},
        }
        for each in printed
    ]  # fmt: skip


def table():
    return pd.DataFrame(
        [
            *rows(off=0.06, columns="aif360", schedule="to convergence"),
            *rows(off=0.03, columns="aif360-blind", schedule="printed schedule", value=1.0),
            *rows(off=0.05, columns="aif360-blind", schedule="printed schedule", value=2.0),
            *rows(off=0.01, columns="binned", schedule="logistic regression"),
        ]
    )


def test_the_nearest_comes_first_and_at_its_nearest_pair():
    found = readings_of(READINGS, table())
    assert [each.deviation for each in found] == sorted(each.deviation for each in found)
    assert found[0].schedule == "logistic regression"
    second = next(each for each in found if each.schedule == "printed schedule")
    assert (second.columns, second.kind) == ("binary columns without sex and race", "decisions")
    assert second.deviation == pytest.approx(0.03 + 0.01 / 4)
    assert second.with_one_pair == pytest.approx(0.03 + 0.01 / 4)


def test_the_sentence_names_the_nearest_reading_of_fairsmooth_not_the_control():
    text = nearest_reading(READINGS, table())
    assert text == (
        "of 4 readings that were run the nearest, with binary columns without sex and race, "
        "printed schedule and gaps of decisions, misses the printed figures by 0.033 on average, "
        "and by 0.040 on Adult by sex"
    )
    lines = readings_table(READINGS, table()).rows
    assert lines[0][0].text == "printed"
    assert len(lines) == 1 + 6


def test_a_reading_that_has_not_run_in_all_cases_is_left_out():
    part = table()
    part = part[part["case"] != "compas-race"]
    assert readings_of(READINGS, part) == []
    assert nearest_reading(READINGS, part) is None
