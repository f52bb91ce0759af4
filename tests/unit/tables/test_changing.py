"""The nearest change of a column that turns a decision, against trying every value."""

import numpy as np
import pandas as pd
import pytest

from fairsmooth.data.columns import Binned, DatePart
from fairsmooth.tables import TableModel
from fairsmooth.tables.alternatives import alternatives, nearest_day

TRIED = {
    "age": np.arange(0, 100),
    "points": np.round(np.arange(-60, 61) / 10, 1),
    "day": pd.date_range("2019-01-01", "2025-12-31"),
}


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(5)
    n = 500
    table = pd.DataFrame({
        "age": rng.integers(18, 70, n), "points": np.round(rng.normal(0, 1.5, n), 1),
        "day": pd.Timestamp("2021-03-01") + pd.to_timedelta(rng.integers(0, 700, n), "D"),
        "sex": rng.choice(["f", "m"], n),
    })  # fmt: skip
    push = table["points"] + (table["age"] - 40) / 15 + np.cos(table["day"].dt.month)
    table["hired"] = (push + rng.normal(size=n) > 0).astype(int)
    return TableModel.fit(table, label="hired", sensitive="sex", random_state=0), table


@pytest.mark.parametrize("column", [*TRIED])
def test_no_value_nearer_than_the_one_stated_turns_the_decision(fitted, column):
    model, table = fitted
    stated = 0
    for explanation in model.explain(table, rows=list(range(1, 41))):
        row = table.iloc[[explanation.row - 1]]
        others = pd.concat([row] * len(TRIED[column]), ignore_index=True)
        others[column] = TRIED[column]
        turned = TRIED[column][
            (model.predict(others)["prediction"] != explanation.decision).to_numpy()
        ]
        changes = [change for change in explanation.changes if change.column == column]
        assert bool(changes) == bool(len(turned))
        if changes:
            current = row[column].iloc[0]
            nearest = min(abs(value - current) for value in turned)
            assert abs(changes[0].value - current) <= nearest * (1 + 1e-12)
            assert changes[0].value in turned
            stated += 1
    assert stated > 10


@pytest.mark.parametrize(
    ("edges", "values"),
    [
        ((20.0, 30.0), [20.0, 21.0, 30.0, 31.0]),
        ((0.0,), [0.0, 1.0]),
        ((1.25, 2.5), [1.25, 1.26, 2.5, 2.51]),
        # The next of so many decimals lies beyond the interval, or cannot be told apart.
        ((0.1, 0.1000000001), [0.1, np.nextafter(0.1, 1), 0.1000000001, 0.100001]),
        ((1e300,), [1e300, np.nextafter(1e300, np.inf)]),
        ((), [0.0]),
    ],
)
def test_both_ends_of_an_interval_are_tried(edges, values):
    assert alternatives([Binned("x", edges)]) == values


def test_a_day_after_the_last_cut_is_of_the_next_year():
    years = DatePart("day", "year", (2023.0,))
    assert {day.year for day in alternatives([years])} == {2023, 2024}
    near = nearest_day([years], [pd.Timestamp("2024-01-01")], pd.Timestamp("2022-05-05 13:00"))
    assert near == (0, pd.Timestamp("2024-01-01"))
    near = nearest_day([years], [pd.Timestamp("2023-01-01")], pd.Timestamp("2031-05-05"))
    assert near == (0, pd.Timestamp("2023-12-31"))


def test_days_at_the_end_of_the_calendar_are_found():
    sundays = DatePart("day", "weekday", (5.0,))
    last = pd.Timestamp("9999-12-30")
    assert nearest_day([sundays], [pd.Timestamp("2000-01-01")], last)[1] == last
    years = DatePart("day", "year", (9999.0,))
    assert [day.year for day in alternatives([years])] == [9999]
    assert nearest_day([years], [last], pd.Timestamp("0001-01-01"))[1].year == 1
