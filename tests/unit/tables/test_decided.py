"""Decisions of a model, or of whatever system wrote a column."""

import numpy as np
import pandas as pd
import pytest

from fairsmooth.data.frames import as_frame
from fairsmooth.exceptions import InputError
from fairsmooth.tables import TableModel
from fairsmooth.tables.decided import MISSING_GROUP, decided_by_column, decided_by_model


def _table(**columns):
    return as_frame(pd.DataFrame(columns))


def test_a_column_of_zeros_and_ones_holds_decisions():
    rows = decided_by_column(
        _table(chosen=[1, 0, 1], sex=["f", "m", "m"]), column="chosen", sensitive=("sex",)
    )
    assert rows.decisions.tolist() == [1, 0, 1]
    assert rows.scores is None
    assert rows.threshold is None
    assert rows.y is None


def test_a_column_of_label_values_holds_decisions_too():
    table = _table(chosen=["good", "bad", "bad"], sex=["f", "m", "m"], risk=["good", "good", "bad"])
    rows = decided_by_column(
        table, column="chosen", sensitive=("sex",), label="risk", positive="good"
    )
    assert rows.decisions.tolist() == [1, 0, 0]
    assert rows.y.tolist() == [1, 1, 0]


def test_scores_are_decided_above_the_threshold():
    table = _table(p=[0.2, 0.5, 0.7], sex=["f", "m", "m"])
    assert decided_by_column(table, column="p", sensitive=("sex",)).decisions.tolist() == [0, 0, 1]
    low = decided_by_column(table, column="p", sensitive=("sex",), threshold=0.1)
    assert low.decisions.tolist() == [1, 1, 1]
    assert low.threshold == 0.1


def test_scores_beyond_one_need_a_threshold():
    table = _table(points=[580.0, 720.0], sex=["f", "m"])
    with pytest.raises(InputError, match="go from 580 to 720"):
        decided_by_column(table, column="points", sensitive=("sex",))
    rows = decided_by_column(table, column="points", sensitive=("sex",), threshold=600)
    assert rows.decisions.tolist() == [0, 1]


def test_a_missing_group_is_a_named_cell():
    rows = decided_by_column(
        _table(d=[1, 0, 1], sex=["f", None, "m"]), column="d", sensitive=("sex",)
    )
    assert rows.sensitive["sex"].tolist() == ["f", MISSING_GROUP, "m"]
    assert "1 rows have no known group" in rows.notes[0]


def test_missing_labels_are_told_and_refused_where_all_are_needed():
    table = _table(d=[1, 0, 1], sex=["f", "m", "m"], y=[1, None, 0])
    rows = decided_by_column(table, column="d", sensitive=("sex",), label="y", positive=1)
    assert np.isnan(rows.y).tolist() == [False, True, False]
    with pytest.raises(InputError, match="1 missing"):
        rows.labels()


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"d": [1, None], "sex": ["f", "m"]}, "score or decision in every row"),
        ({"d": ["x", "y"], "sex": ["f", "m"]}, "or decisions 0 and 1, in 'd', got 'x' in row 1"),
        ({"d": [1, np.inf], "sex": ["f", "m"]}, "or decisions 0 and 1, in 'd', got 'inf' in row 2"),
    ],
)
def test_columns_without_decisions_are_refused(columns, message):
    with pytest.raises(InputError, match=message):
        decided_by_column(_table(**columns), column="d", sensitive=("sex",))


@pytest.mark.parametrize("threshold", [float("nan"), float("inf")])
def test_a_threshold_that_decides_all_alike_is_refused(threshold):
    table = _table(d=[0.2, 0.7], sex=["f", "m"])
    with pytest.raises(InputError, match="Expected a finite threshold, got threshold="):
        decided_by_column(table, column="d", sensitive=("sex",), threshold=threshold)


def test_a_table_without_rows_is_refused():
    with pytest.raises(InputError, match="Expected at least one row, got none"):
        decided_by_column(_table(d=[], sex=[]), column="d", sensitive=("sex",))


def test_a_table_without_rows_is_no_table_for_a_model(model_and_table):
    model, table = model_and_table
    with pytest.raises(InputError, match="Expected at least one row, got none"):
        decided_by_model(model, table[:0])


def test_an_unknown_column_is_named():
    with pytest.raises(InputError, match="'e'"):
        decided_by_column(_table(d=[1], sex=["f"]), column="e", sensitive=("sex",))


def test_bands_belong_to_a_model():
    with pytest.raises(InputError, match="bands of 'age'"):
        decided_by_column(_table(d=[1], age=[3]), column="d", sensitive=("age:2",))


@pytest.fixture(scope="module")
def model_and_table():
    rng = np.random.default_rng(0)
    n = 600
    sex = rng.choice(["f", "m"], n)
    x = rng.normal(size=n)
    y = (x + rng.normal(size=n) > 0).astype(int)
    table = pd.DataFrame({"id": np.arange(n), "x": x, "sex": sex, "y": y})
    model = TableModel.fit(table.iloc[:300], label="y", sensitive="sex", ids=["id"], random_state=0)
    return model, as_frame(table.iloc[300:])


def test_a_models_decisions_are_those_it_predicts(model_and_table):
    model, table = model_and_table
    rows = decided_by_model(model, table)
    assert rows.decisions.tolist() == model.predict(table)["prediction"].tolist()
    assert rows.y.tolist() == table["y"].tolist()
    assert decided_by_model(model, table.drop(columns="y")).y is None


def test_a_model_without_a_table_is_refused(model_and_table):
    model, table = model_and_table
    bare = TableModel(model.classifier, model.encoder)
    with pytest.raises(InputError, match="Expected the model of a table"):
        decided_by_model(bare, table)


@pytest.mark.parametrize(
    ("values", "positive", "decisions", "selected"),
    [
        (["hire", "reject", "hire"], "hire", [1, 0, 1], "hire"),
        (["hire", "reject", "hire"], "reject", [0, 1, 0], "reject"),
        (["reject", "reject", "reject"], "hire", [0, 0, 0], "hire"),
        ([1, 0, 0], 0, [0, 1, 1], "0"),
        ([1, 1, 1], 0, [0, 0, 0], "0"),
        ([2, 1, 1], 1, [0, 1, 1], "1"),
        (["No", "Yes", "No"], None, [0, 1, 0], "Yes"),
        (["No", "Yes", "No"], "No", [1, 0, 1], "No"),
        (["N", "N", "N"], None, [0, 0, 0], "y"),
        ([-1, 1, -1], None, [0, 1, 0], "1"),
        ([True, False, True], None, [1, 0, 1], "True"),
        # Named for labels that are not here yet: it says nothing of other decisions.
        ([1, 1, 1], "hire", [1, 1, 1], "1"),
        (["yes", "yes", "yes"], "hire", [1, 1, 1], "yes"),
    ],
)
def test_without_labels_the_positive_value_is_that_of_decisions(
    values, positive, decisions, selected
):
    rows = decided_by_column(
        _table(d=values, sex=["f", "m", "m"]), column="d", sensitive=("sex",), positive=positive
    )
    assert rows.decisions.tolist() == decisions
    assert rows.scores is None
    assert rows.selected == selected


@pytest.mark.parametrize("label", [None, "y"])
def test_what_means_selected_does_not_depend_on_the_labels_being_there(label):
    table = _table(d=[1, 0, 0, 1], sex=["f", "m", "m", "f"], y=[1, 0, 1, 0])
    rows = decided_by_column(table, column="d", sensitive=("sex",), label=label, positive=0)
    assert rows.decisions.tolist() == [0, 1, 1, 0]
    assert rows.notes[0].startswith("In 'd' the positive value '0' means selected.")


def test_words_that_cannot_be_mistaken_are_decisions_beside_labels_in_other_words():
    table = _table(d=["yes", "no", "no"], sex=["f", "m", "m"], y=["bad", "good", "bad"])
    rows = decided_by_column(table, column="d", sensitive=("sex",), label="y", positive="good")
    assert (rows.decisions.tolist(), rows.selected, rows.notes) == ([1, 0, 0], "yes", ())


def test_a_value_beside_one_half_is_a_score():
    table = _table(d=[0.3, 1, 1], sex=["f", "m", "m"])
    rows = decided_by_column(table, column="d", sensitive=("sex",), positive=1)
    assert (rows.decisions.tolist(), rows.threshold, rows.selected) == ([0, 1, 1], 0.5, None)


def test_two_spellings_of_yes_are_refused():
    with pytest.raises(InputError, match="If the values are decisions, name the positive"):
        decided_by_column(
            _table(d=["yes", "Yes", "no"], sex=["f", "m", "m"]), column="d", sensitive=("sex",)
        )


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1, 2], "got none. Give the score above which .* as the labels, 'bad' and 'good', or"),
        (["in", "out"], "got 'in' in row 1. If .*, write them as the labels, 'bad' and 'good'"),
    ],
)
def test_decisions_in_other_words_than_the_labels_are_refused(values, message):
    table = _table(d=values, sex=["f", "m"], y=["bad", "good"])
    with pytest.raises(InputError, match=message):
        decided_by_column(table, column="d", sensitive=("sex",), label="y", positive="good")


@pytest.mark.parametrize(
    ("column", "label", "sensitive", "twice"),
    [
        ("d", "d", ("sex",), "d"),
        ("d", "y", ("sex", "sex"), "sex"),
        ("d", "y", ("y",), "y"),
        ("d", None, ("d",), "d"),
    ],
)
def test_a_column_plays_one_part(column, label, sensitive, twice):
    table = _table(d=[1, 0, 1, 0], sex=["f", "m", "m", "f"], y=[1, 1, 0, 0])
    with pytest.raises(InputError, match=f"to differ, each named once, got '{twice}' twice"):
        decided_by_column(table, column=column, label=label, sensitive=sensitive)


@pytest.mark.parametrize(
    ("labels", "positive", "truth"),
    [
        ([0, 0, 0], None, 0.0),
        ([1, 1, None], None, 1.0),
        ([0, 0, 0], 0, 1.0),
        ([1, 1, 1], 1, 1.0),
        ([1, 1, 1], 0, 0.0),
        (["good", "good", "good"], "good", 1.0),
        (["No", "No", "No"], None, 0.0),
        (["bad", "bad", "bad"], "good", 0.0),
    ],
)
def test_a_batch_may_have_labels_of_one_value(labels, positive, truth):
    table = _table(d=[0.2, 0.7, 0.9], sex=["f", "m", "m"], y=labels)
    how = {"column": "d", "sensitive": ("sex",), "label": "y", "positive": positive}
    rows = decided_by_column(table, **how)
    assert set(rows.y[~np.isnan(rows.y)]) == {truth}
    assert rows.notes[0].startswith("All labels in 'y' are ")


def test_a_word_by_itself_needs_its_contrary():
    table = _table(d=[0.2, 0.7], sex=["f", "m"], y=["bad", "bad"])
    with pytest.raises(InputError, match="Expected a label with 2 values in 'y', got 1: 'bad'"):
        decided_by_column(table, column="d", sensitive=("sex",), label="y")


def test_a_label_column_may_be_empty_until_the_labels_are_known():
    table = _table(d=[0.2, 0.7], sex=["f", "m"], y=[None, None])
    rows = decided_by_column(table, column="d", sensitive=("sex",), label="y", positive="good")
    assert rows.y is None
