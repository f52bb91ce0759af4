import dataclasses
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from fairsmooth import FairSmoothClassifier
from fairsmooth.data.files.stored import StoredTable
from fairsmooth.data.roles import Roles
from fairsmooth.exceptions import GroupError, InputError
from fairsmooth.persistence import save
from fairsmooth.tables import Provenance, TableModel
from fairsmooth.tables.fitting import Parts, default_classifier, fit_table
from fairsmooth.tables.stored_auditing import audited_stored

N = 400
ROLES = {"label": "risk", "positive": "good", "sensitive": ["sex"], "ids": ["customer"]}
OLD = Path(__file__).parents[2] / "data" / "models_v1"


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(1)
    age = random.integers(20, 70, N)
    return pd.DataFrame(
        {
            "customer": np.arange(N) + 1000,
            "sex": random.choice(["f", "m"], N),
            "age": age,
            "job": random.choice(["clerk", "nurse", "smith"], N),
            "risk": np.where(age + random.normal(0, 15, N) > 42, "good", "bad"),
        }
    )


@pytest.fixture(scope="module")
def model(table):
    return TableModel.fit(table, **ROLES, random_state=0)


def test_it_knows_where_it_came_from(model, table):
    known = model.provenance
    assert (known.label, known.positive, known.negative) == ("risk", "good", "bad")
    assert (known.sensitive, known.ids) == (("sex",), ("customer",))
    assert known.rows + known.held_out == len(table)
    assert abs(known.held_out - 0.3 * len(table)) <= 2
    assert (known.seed, known.test_size) == (0, 0.3)
    assert re.fullmatch("[0-9a-f]{64}", known.digest)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", known.date)
    assert {"fairsmooth", "torch", "numpy", "python"} <= set(known.versions)
    assert known.selected == "A row is selected where risk = 'good' is predicted"


def test_groups_weigh_by_share_unless_the_user_says_otherwise(model, table):
    assert model.classifier.group_weights == "share"
    chosen = FairSmoothClassifier(group_weights="equal", sigma=0.5)
    other = TableModel.fit(table, **ROLES, classifier=chosen, random_state=0)
    assert other.classifier.group_weights == "equal"
    assert other.certificate.sigma == 0.5
    assert not hasattr(chosen, "rule_")


def test_the_split_keeps_groups_and_labels_apart_or_groups_alone(table):
    options = {"test_size": 0.3, "seed": 0}
    from fairsmooth.data.roles import Roles

    roles = Roles("risk", ("sex",), "good", ids=("customer",))
    for by_label, columns in ((True, ["sex", "risk"]), (False, ["sex"])):
        parts = Parts.of(table, roles, **options, by_label=by_label)
        held_out = parts.test[columns].value_counts()
        whole = table[columns].value_counts()
        assert ((held_out - 0.3 * whole).abs() <= 0.5).all()
    both = [Parts.of(table, roles, **options, by_label=flag).test for flag in (True, False)]
    assert not both[0].equals(both[1])


def test_predict_needs_neither_label_nor_group(model, table):
    bare = table[["age", "job"]]
    written = model.predict(bare)
    assert list(written) == [
        *("probability", "prediction", "lower_f", "upper_f", "lower_m", "upper_m")
    ]
    assert set(written["prediction"]) == {"good", "bad"}
    assert model.predict(table)["customer"].tolist() == table["customer"].tolist()


def test_every_kind_of_table_gives_the_same(model, table, tmp_path):
    table.to_csv(tmp_path / "t.csv", index=False)
    expected = model.predict(table)
    for same in (pa.Table.from_pandas(table), tmp_path / "t.csv", str(tmp_path / "t.csv")):
        found = model.predict(same)
        if isinstance(same, pa.Table):
            found = found.to_pandas()
            found["prediction"] = found["prediction"].astype(expected["prediction"].dtype)
        pd.testing.assert_frame_equal(found, expected)
        other = TableModel.fit(same, **ROLES, random_state=0)
        assert other.provenance.digest == model.provenance.digest
        np.testing.assert_array_equal(
            other.classifier.group_parameters_, model.classifier.group_parameters_
        )


def test_save_and_load(model, table, tmp_path):
    model.save(tmp_path / "m")
    loaded = TableModel.load(tmp_path / "m")
    assert loaded.provenance == model.provenance
    assert loaded.roles == dataclasses.replace(model.roles, unknown="error")
    assert loaded.certificate == model.certificate
    pd.testing.assert_frame_equal(loaded.predict(table), model.predict(table))
    assert loaded.audit(table).summary() == model.audit(table).summary()
    assert loaded.measured is None
    assert model.measured is not None


def test_summary_says_what_matters(model):
    text = model.summary()
    for part in (
        "A row is selected where risk = 'good' is predicted; the other value is 'bad'.",
        "Groups: sex (not a feature).",
        f"of the same table held out ({model.provenance.date}, fairsmooth ",
        "Fairness certificate, 2 groups",
        "held-out rows:",
        "demographic parity: 0.",
    ):
        assert part in text


def test_audit_notices_the_training_table(model, table):
    # How many depends on what was held out, which may be most of them.
    assert model.audited(table).notes[0].endswith("trained from: training used rows of it.")
    assert model.audited(table[:100]).notes == ()


def test_rows_without_label_or_group_are_left_out_and_counted(table):
    gaps = table.copy()
    gaps.loc[[0, 5], "risk"] = None
    gaps.loc[7, "sex"] = None
    model = TableModel.fit(gaps, **ROLES, random_state=0)
    assert model.provenance.rows + model.provenance.held_out == N - 3
    assert sum("left out" in note for note in model.provenance.notes) == 2
    with pytest.warns(UserWarning, match="left out"):
        assert model.audit(gaps).n_rows == N - 3
    with pytest.raises(InputError, match="Expected a label in every row"):
        TableModel.fit(gaps, **ROLES, strict=True)
    with pytest.raises(InputError, match="Expected a label in every row"):
        model.audit(gaps, strict=True)


def test_bands_of_a_number_are_groups(table, tmp_path):
    model = TableModel.fit(
        table, label="risk", positive="good", sensitive=["sex", "age:2"], random_state=0
    )
    assert len(model.classifier.groups_) == 4
    assert model.provenance.sensitive == ("sex", "age")
    (edges,) = model.provenance.bands.values()
    assert 20 < edges[0] < 70
    model.save(tmp_path / "m")
    loaded = TableModel.load(tmp_path / "m")
    assert loaded.audit(table).summary() == model.audit(table).summary()


def test_bands_of_a_number_that_is_not_whole_are_groups(table):
    """What is refused in place of groups, and is told to be cut into bands, can be cut."""
    income = table["age"] + 0.25
    income[3] = np.nan
    model = TableModel.fit(
        table.assign(income=income), label="risk", positive="good", sensitive=["income:2"],
        random_state=0,
    )  # fmt: skip
    ((edge,),) = model.provenance.bands.values()
    assert edge in set(income)
    assert model.classifier.groups_ == (f"income<={edge:g}", f"income>{edge:g}")
    assert any("1 row has no sensitive value in 'income'" in n for n in model.provenance.notes)
    with pytest.raises(InputError, match="numbers that are not whole"):
        TableModel.fit(
            table.assign(income=income), label="risk", positive="good", sensitive="income"
        )


@pytest.mark.parametrize("row", [0, 1, 2, 3, 4])
def test_what_cannot_be_cut_into_bands_is_named_with_its_row(table, row):
    """Among the rows of the table, not among those that happen to be trained on."""
    ages = table["age"].astype(object)
    ages[row] = "old"
    with pytest.raises(InputError, match=f"got 'old' in row {row + 1}[.]"):
        TableModel.fit(
            table.assign(age=ages), label="risk", positive="good", sensitive="age:2", random_state=0
        )


def test_a_column_of_bands_is_no_id(table):
    with pytest.raises(InputError, match="got 'age' as sensitive column and in ids"):
        TableModel.fit(table, label="risk", positive="good", sensitive="age:2", ids=["age"])


def test_larger_gaps_than_a_plain_regression_are_noted():
    random = np.random.default_rng(0)
    n = 6000
    group = random.choice(list("abcdefgh"), n, p=[0.83, 0.06, 0.04, 0.03, 0.015, 0.01, 0.01, 0.005])
    x = random.normal(size=n) - 0.5 * (group != "a")
    passed = (random.random(n) < 1 / (1 + np.exp(-2.2 - x + 1.0 * (group != "a")))).astype(int)
    table = pd.DataFrame({"x": x, "group": group, "passed": passed})
    equal = TableModel.fit(
        table, label="passed", sensitive="group", random_state=0,
        classifier=FairSmoothClassifier(),
    )  # fmt: skip
    notes = [note for note in equal.provenance.notes if "plain logistic regression" in note]
    assert len(notes) == 1
    assert "group_weights='share' may help" in notes[0]
    share = TableModel.fit(table, label="passed", sensitive="group", random_state=0)
    assert not [note for note in share.provenance.notes if "plain logistic regression" in note]


@pytest.mark.parametrize("name", ["linear-logistic", "intersections", "hidden-relu"])
def test_old_files_are_models_of_tables_or_say_why_not(name):
    model = TableModel.load(OLD / f"{name}.safetensors")
    assert model.certificate.groups
    if model.provenance is None:
        with pytest.raises(InputError, match="Expected the model of a table"):
            model.audit(pd.DataFrame({"x": [1.0]}))
    else:
        assert model.provenance.held_out is None
        assert "held out" not in "\n".join(model.provenance.lines())


def test_a_classifier_without_encoder_predicts_its_own_columns(tmp_path):
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.normal(size=(80, 2)), columns=["u", "v"])
    clf = FairSmoothClassifier(random_state=0)
    clf.fit(X, X["u"] > 0, sensitive_features=np.tile(["a", "b"], 40))
    save(clf, tmp_path / "m")
    model = TableModel.load(tmp_path / "m")
    written = model.predict(X.assign(w="text"))
    assert (written["prediction"] == clf.predict(X)).all()
    for table, message in (
        (X[["u"]], "found no column 'v'"),
        (X.assign(v="x"), "Expected numbers only"),
        (X.assign(v=np.inf), "Expected finite numbers, got another value in row 1"),
    ):
        with pytest.raises(InputError, match=message):
            model.predict(table)
    with pytest.raises(InputError, match="Expected the model of a table"):
        model.audit(X)


def test_one_column_may_be_named_by_itself(model, table):
    words = {**ROLES, "sensitive": "sex", "ids": "customer", "random_state": 0}
    found = TableModel.fit(table, drop="job", **words)
    assert list(found.provenance.ids) == ["customer"]
    assert found.encoder.columns == ["age"]
    assert list(model.predict(table, keep="job"))[:3] == ["customer", "job", "probability"]


@pytest.mark.parametrize(
    ("values", "kind"), [(pd.to_timedelta(np.arange(N), "h"), "timedelta64"), (1j, "complex")]
)
def test_what_is_no_number_of_one_value_is_not_called_infinite(table, values, kind):
    with pytest.raises(InputError, match=rf"true/false in column 'odd', got {kind}.*\. Turn it"):
        TableModel.fit(table.assign(odd=values), **ROLES)


def test_refuses_what_it_cannot_do(model, table):
    for options, message in (
        ({"guarantee": "x"}, "Expected guarantee as Limits"),
        ({"unknown": "maybe"}, "Expected unknown to be one of"),
        ({"columns": "maybe"}, "Expected columns to be one of"),
        ({"test_size": 1.5}, "Expected test_size between"),
        ({"random_state": -1}, "Expected seed between"),
        ({"drop": ["risk"]}, "Expected one role for every column, got 'risk' as label"),
        ({"ids": ["sex"]}, "Expected one role for every column, got 'sex' as sensitive"),
        ({"positive": None}, "Expected positive to be named"),
        ({"sensitive": []}, "Expected at least one sensitive column, got none"),
    ):
        with pytest.raises(InputError, match=message):
            TableModel.fit(table, **{**ROLES, **options})
    with pytest.raises(InputError, match="Expected threshold between"):
        model.predict(table, threshold=2.0)
    with pytest.raises(InputError, match=r"Row 1: .*2 more rows cannot be used"):
        model.predict(table[:3].assign(job="pilot"), strict=True)
    with pytest.raises(InputError, match="Expected rows to hold out"):
        TableModel.fit(table[:40], **ROLES, test_size=0.01)


def test_rows_that_cannot_be_scored_are_left_out_of_an_audit_and_counted(model, table):
    odd = table.assign(job=table["job"].mask(np.arange(len(table)) == 7, "pilot"))
    with pytest.warns(UserWarning, match=r"1 row cannot be scored and is left out \(in row 8, job"):
        found = model.audit(odd)
    assert found.n_rows == len(table) - 1
    assert found.to_dict() == model.audit(table.drop(index=table.index[7])).to_dict()
    with pytest.raises(InputError, match="Row 8: job is 'pilot', not seen in training"):
        model.audit(odd, strict=True)
    with pytest.raises(InputError, match=r"Row 1: .* more rows cannot be used"):
        model.audit(table.assign(job="pilot"))


def test_a_value_missing_only_among_the_rows_held_out_ends_no_training(table):
    roles = Roles("risk", ("sex",), positive="good", ids=("customer",))
    classifier = default_classifier(None, 0)
    held_out = fit_table(table, roles, classifier=classifier).test["customer"]
    gap = table.assign(age=table["age"].mask(table["customer"] == held_out[0]))
    fitted = fit_table(gap, roles, classifier=classifier)
    assert fitted.audit.n_rows == len(held_out) - 1
    (note,) = [n for n in fitted.model.provenance.notes if n.startswith("Of the rows held out")]
    assert note == (
        "Of the rows held out, 1 row cannot be scored and is left out (in row 1, age is missing, "
        "which no row was in training)."
    )


def test_a_seed_nobody_chose_is_noted(table):
    model = TableModel.fit(table, **ROLES)
    again = TableModel.fit(table, **ROLES, random_state=model.provenance.seed)
    np.testing.assert_array_equal(
        model.classifier.group_parameters_, again.classifier.group_parameters_
    )


def test_provenance_survives_json(model):
    plain = json.loads(json.dumps(model.provenance.to_dict()))
    assert Provenance.from_dict(plain) == model.provenance


def test_fitted_summary_names_everything(table):
    from fairsmooth.data.roles import Roles

    fitted = fit_table(
        table, Roles("risk", ("sex",), "good"), classifier=default_classifier(None, 0)
    )
    about = fitted.summary()["provenance"]
    assert about["label"] == "risk"
    assert (about["positive"], about["negative"]) == ("good", "bad")
    assert about["sensitive"] == ["sex"]
    assert about["rows"] == fitted.model.provenance.rows
    assert "risk = 'good'" in about["selected"]


def test_the_date_can_be_fixed(monkeypatch):
    from fairsmooth.tables.provenance import today

    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    assert today() == "1970-01-01"


def test_predictions_come_in_the_library_of_the_table(biased):
    table = biased.X.assign(sex=biased.sensitive_features, hired=biased.y)
    model = TableModel.fit(table, label="hired", sensitive="sex", random_state=0)
    expected = model.predict(table)
    polars, arrow = model.predict(pl.from_pandas(table)), model.predict(pa.table(table))
    assert isinstance(polars, pl.DataFrame)
    assert isinstance(arrow, pa.Table)
    for found in (polars.to_pandas(), arrow.to_pandas()):
        assert list(found) == list(expected)
        assert (found["probability"] == expected["probability"]).all()
        assert (found["prediction"].to_numpy() == expected["prediction"].to_numpy()).all()


def test_an_audit_names_rows_of_groups_that_the_model_has_not(model, table, tmp_path):
    other = table.drop(columns="risk").assign(sex=["x" if n in (2, 5) else s for n, s in
                                                   enumerate(table["sex"])])  # fmt: skip
    other.loc[0, "sex"] = None
    message = r"groups of the model, f, m, got 2 of another: x \(the first is row 3\). Leave"
    with pytest.raises(GroupError, match=message):
        model.audit(other)
    other.to_parquet(tmp_path / "other.parquet")
    stored = StoredTable.at(tmp_path / "other.parquet")
    with pytest.raises(GroupError, match=message):
        audited_stored(model, stored)
    many = table.assign(sex=[f"x{n}" for n in range(len(table))])
    with pytest.raises(GroupError, match="got 400 of others: x0, x1, x10, x100, x101, … "):
        model.audit(many)


def test_numbers_are_names_of_columns_too(table, tmp_path):
    numbered = table.set_axis(range(table.shape[1]), axis=1)
    model = TableModel.fit(
        numbered, label=4, positive="good", sensitive=1, ids=[0], drop=np.array([3]), random_state=0
    )
    known = model.provenance
    assert (known.label, known.sensitive, known.ids, known.drop) == ("4", ("1",), ("0",), ("3",))
    named = TableModel.fit(table, **ROLES, drop="job", random_state=0)
    scored = model.predict(numbered, keep=2)
    assert scored["probability"].tolist() == named.predict(table)["probability"].tolist()
    assert scored["2"].tolist() == table["age"].tolist()


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"label": ["risk"]}, r"Expected the name of a column, got \['risk'\]. Give it as text"),
        ({"label": None}, "Expected the name of a column, got None"),
        ({"sensitive": [("sex", "job")]}, "Expected the name of a column, got \\('sex', 'job'\\)"),
        ({"drop": 1.5}, "Expected the name of a column, got 1.5"),
        ({"ids": True}, "Expected the name of a column, got True"),
        ({"sensitive": None}, "Expected at least one sensitive column, got none"),
    ],
)
def test_what_names_no_column_is_refused(table, names, message):
    with pytest.raises(InputError, match=message):
        TableModel.fit(table, **{**ROLES, **names}, random_state=0)


def test_no_ids_may_be_given_as_none(table):
    model = TableModel.fit(table, **{**ROLES, "ids": None}, drop=["customer"], random_state=0)
    assert model.provenance.ids == ()
