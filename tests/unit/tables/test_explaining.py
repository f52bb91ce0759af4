"""Decisions about rows of a table: columns add up, and stated changes change the decision."""

import json

import numpy as np
import pandas as pd
import pytest

from fairsmooth import FairSmoothClassifier, InputError
from fairsmooth.cli.main import main
from fairsmooth.tables import TableModel
from fairsmooth.tables.explaining import DecisionExplanation

COLUMNS = ["job", "x", "day", "few"]


@pytest.fixture(scope="module", params=["binned", "standardised"])
def fitted(request):
    rng = np.random.default_rng(3)
    n = 600
    table = pd.DataFrame({
        "job": rng.choice(["clerk", "nurse", "cook", None], n),
        "x": rng.normal(size=n), "few": rng.integers(0, 3, n),
        "day": pd.Timestamp("2019-01-01") + pd.to_timedelta(rng.integers(0, 1500, n), "D"),
        "sex": rng.choice(["f", "m"], n),
    })  # fmt: skip
    table.loc[::11, "x"] = None
    push = table["x"].fillna(0) + (table["job"] == "nurse") + 0.5 * (table["few"] - 1)
    table["hired"] = np.where(push + rng.normal(size=n) > 0.3, "yes", "no")
    model = TableModel.fit(
        table, label="hired", sensitive="sex", columns=request.param, random_state=0,
        classifier=FairSmoothClassifier(alpha=0.05, sigma=0.5),
    )  # fmt: skip
    return model, table


def test_columns_add_up_to_the_score(fitted):
    model, table = fitted
    scores = model.predict(table)["probability"]
    found = model.explain(table.iloc[:100])
    for row, explanation in enumerate(found):
        total = explanation.reference_score + sum(explanation.contributions.values())
        assert abs(total - explanation.score) < 1e-9
        assert abs(explanation.score - scores[row]) < 1e-12
        assert set(explanation.contributions) == set(COLUMNS)
        assert explanation.group == table["sex"][row]


def test_two_hundred_rows_are_decided_otherwise_when_changed(fitted):
    model, table = fitted
    rows = table.iloc[:200]
    before = model.predict(rows)["prediction"]
    changed, expected = [], []
    n_changes = 0
    for row, explanation in enumerate(model.explain(rows)):
        for change in explanation.changes:
            other = rows.iloc[[row]].astype(object).copy()
            other[change.column] = [change.value]
            changed.append(other)
            expected.append((before[row], change.score))
            n_changes += 1
    assert n_changes > 100
    after = model.predict(pd.concat(changed, ignore_index=True))
    for place, (decision, score) in enumerate(expected):
        assert after["prediction"][place] != decision
        assert abs(after["probability"][place] - score) < 1e-9


def test_where_none_is_stated_no_value_of_the_column_changes_it(fitted):
    model, table = fitted
    rows = table.iloc[200:215]
    before = model.predict(rows)["prediction"].tolist()
    for row, explanation in enumerate(model.explain(rows)):
        silent = set(COLUMNS) - {change.column for change in explanation.changes}
        for column in silent:
            others = pd.concat([rows.iloc[[row]]] * len(table), ignore_index=True)
            others[column] = table[column].to_numpy()
            assert (model.predict(others)["prediction"] == before[row]).all(), column


def test_reasons_are_the_columns_that_lower_an_adverse_score(fitted):
    model, table = fitted
    for explanation in model.explain(table.iloc[:40]):
        reasons = explanation.reasons
        assert len(reasons) <= 4
        if explanation.decision == "yes":
            assert reasons == ()
            continue
        lowest = min(explanation.contributions, key=explanation.contributions.get)
        assert reasons[0].startswith(f"{lowest} is ")


def test_a_shift_between_weights_and_intercept_changes_no_contribution(fitted):
    """What all levels of a column share belongs to the reference, not to the column."""
    model, table = fitted
    if model.encoder.numeric != "binned":
        pytest.skip("a scaled number has no levels to shift")
    before = model.explain(table.iloc[:5])
    rule = model.classifier.rule_
    first = [name.startswith("job") for name in model.encoder.feature_names]
    parameters = rule.parameters + np.append(np.where(first, 0.7, 0.0), -0.7)
    object.__setattr__(rule, "parameters", parameters)
    after = model.explain(table.iloc[:5])
    object.__setattr__(rule, "parameters", parameters - np.append(np.where(first, 0.7, 0.0), -0.7))
    for one, other in zip(before, after, strict=True):
        for name, part in one.contributions.items():
            assert other.contributions[name] == pytest.approx(part, abs=1e-9)


def test_forecasts_are_no_reasons(fitted):
    model, table = fitted
    known = vars(model.explain(table, rows=[1])[0])
    forecast = DecisionExplanation(**known | {"has_reasons": False})
    with pytest.raises(InputError, match="a forecast is not a reason"):
        _ = forecast.reasons
    assert forecast.to_dict()["reasons"] is None
    assert "a forecast is not a reason" in forecast.to_dict()["reasons_refused"]


def test_a_reference_table_and_mistakes(fitted):
    model, table = fitted
    known = table.dropna()
    (found,) = model.explain(table, rows=[3], reference=known)
    assert found.reference == f"the mean of {len(known)} rows of the reference table"
    total = found.reference_score + sum(found.contributions.values())
    assert abs(total - found.score) < 1e-9
    with pytest.raises(InputError, match="Expected a row between 1 and 600, got 601"):
        model.explain(table, rows=[601])
    with pytest.raises(InputError, match="Expected a reference row that can be scored"):
        model.explain(table, rows=[1], reference=table.iloc[:3].assign(few=np.inf))
    with pytest.raises(InputError, match="got one without an encoder"):
        TableModel(model.classifier).explain(table)


def test_the_command(fitted, tmp_path, capsys):
    model, table = fitted
    model.save(tmp_path / "m.safetensors")
    table.iloc[:30].to_csv(tmp_path / "t.csv", index=False)
    paths = [str(tmp_path / "m.safetensors"), str(tmp_path / "t.csv")]
    assert main(["explain", *paths, "--row", "2", "--row", "5", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["row"] for row in rows] == [2, 5]
    for row in rows:
        total = row["reference_score"] + sum(row["contributions"].values())
        assert abs(total - row["score"]) < 1e-9
    assert main(["explain", *paths]) == 0
    printed = capsys.readouterr()
    assert "Row 20: " in printed.out
    assert "Row 21: " not in printed.out
    assert "the first 20 of 30 rows" in printed.err
    assert "What each column adds" in printed.out
    assert main(["explain", *paths, "--row", "31"]) == 2
    assert "Expected a row between 1 and 30, got 31." in capsys.readouterr().err


def test_rows_are_whole_numbers_from_one(fitted):
    model, table = fitted
    assert [found.row for found in model.explain(table, rows=3)] == [3]
    assert [found.row for found in model.explain(table, rows=np.array([2, 5]))] == [2, 5]
    for wrong in ([1.5], ["1"], [True], [None]):
        with pytest.raises(InputError, match="Expected the number of a row, from 1, got"):
            model.explain(table, rows=wrong)
