"""Pipelines of scikit-learn that end in our classifier: saved, audited, verified, exported."""

import json

import numpy as np
import onnxruntime
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_validate
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)

from fairsmooth import FairSmoothClassifier, InputError, ModelFileError
from fairsmooth.export import write_onnx
from fairsmooth.metrics import audit
from fairsmooth.persistence import layout, load, save
from fairsmooth.persistence.pipelines import (
    _array,
    _plain,
    _value,
    plain_pipeline,
    rebuilt_pipeline,
)
from fairsmooth.tables import TableModel
from fairsmooth.verify import verify


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    n = 300
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 70, n).astype(float),
            "income": rng.normal(size=n),
            "job": rng.choice(["clerk", "nurse", "cook"], n),
            "school": rng.choice(["low", "mid", "high"], n),
            "children": rng.integers(0, 3, n),
            "row": np.arange(n),
        }
    )
    X.loc[::7, "age"] = np.nan
    X.loc[::11, "job"] = None
    groups = rng.choice(["f", "m"], n)
    y = np.where(X["income"] + (groups == "m") * 0.5 + rng.normal(size=n) > 0, "yes", "no")
    return X, y, groups


def columns():
    numbers = Pipeline([("fill", SimpleImputer(add_indicator=True)), ("scale", StandardScaler())])
    ordered = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    return ColumnTransformer(
        [
            ("numbers", numbers, ["age", "income"]),
            ("job", OneHotEncoder(handle_unknown="ignore"), ["job"]),
            ("school", make_pipeline(ordered, MinMaxScaler()), ["school"]),
            ("children", "passthrough", ["children"]),
            ("row", "drop", ["row"]),
        ]
    )


@pytest.fixture(scope="module")
def pipeline(rows):
    X, y, groups = rows
    model = Pipeline([("columns", columns()), ("rule", FairSmoothClassifier(random_state=0))])
    return model.fit(X, y, rule__sensitive_features=groups)


def other_rows(X):
    """Return rows with values that training did not have."""
    odd = X.copy()
    odd.loc[0, "job"], odd.loc[1, "school"], odd.loc[2, "age"] = "pilot", "none", np.nan
    return odd


def test_a_pipeline_comes_back_from_its_file(pipeline, rows, tmp_path):
    X, y, groups = rows
    save(pipeline, tmp_path / "m")
    found = load(tmp_path / "m")
    assert [name for name, _ in found.steps] == ["columns", "rule"]
    for table in (X, other_rows(X)):
        assert (found.predict_proba(table) == pipeline.predict_proba(table)).all()
    assert list(found[:-1].get_feature_names_out()) == list(pipeline[:-1].get_feature_names_out())
    assert type(found[0].named_transformers_["job"]) is OneHotEncoder
    before, after = (
        audit(each, X, y, sensitive_features=groups).summary() for each in (pipeline, found)
    )
    assert before == after
    save(found, tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()
    assert clone(found).fit(X, y, rule__sensitive_features=groups).predict(X).shape == (len(X),)


@pytest.mark.parametrize(
    "step",
    [
        ColumnTransformer(
            [
                ("numbers", RobustScaler(), make_column_selector(dtype_include=float)),
                ("levels", OneHotEncoder(drop="first", min_frequency=40), ["school"]),
            ],
            remainder="drop",
        ),
        ColumnTransformer(
            [("most", make_pipeline(SimpleImputer(strategy="most_frequent"), OrdinalEncoder()),
              ["job", "school"])],
            remainder=MaxAbsScaler(), verbose_feature_names_out=False,
        ).set_output(transform="pandas"),
        ColumnTransformer([("kept", FunctionTransformer(), slice(4, 6))]),
    ],
    ids=["robust-infrequent", "pandas-remainder", "identity"],
)  # fmt: skip
def test_other_steps_come_back_too(step, rows, tmp_path):
    X, y, groups = rows
    X = X.assign(age=X["age"].fillna(40.0))
    rule = FairSmoothClassifier(random_state=0)
    model = make_pipeline(step, StandardScaler(), "passthrough", rule)
    model.fit(X, y, fairsmoothclassifier__sensitive_features=groups)
    save(model, tmp_path / "m")
    assert (load(tmp_path / "m").predict_proba(X) == model.predict_proba(X)).all()


def test_verify_checks_the_rule_and_names_the_steps(pipeline, tmp_path):
    save(pipeline, tmp_path / "m")
    found = verify(tmp_path / "m")
    assert found.holds
    (steps,) = [check for check in found.checks if check.name == "pipeline"]
    assert "SHA-256" in steps.detail
    with pytest.raises(InputError, match="got a scikit-learn pipeline, which knows no label"):
        TableModel.load(tmp_path / "m")


def test_another_step_is_another_model(pipeline, rows, tmp_path):
    """The digest covers the steps: a scale changed in the file is found out."""
    save(pipeline, tmp_path / "m")
    read = layout.read(tmp_path / "m")
    plain = json.loads(read.text)
    text = json.dumps(plain["pipeline"])
    plain["pipeline"] = json.loads(text.replace('"children"', '"age"', 1))
    layout.write(tmp_path / "other", layout.canonical(plain), read.tensors)
    of_steps = [
        next(check.detail for check in verify(tmp_path / name).checks if check.name == "pipeline")
        for name in ("m", "other")
    ]
    assert of_steps[0] != of_steps[1]


def test_a_pipeline_is_exported_with_its_features_as_input(pipeline, rows, tmp_path):
    X, *_ = rows
    save(pipeline, tmp_path / "m")
    write_onnx(tmp_path / "m", tmp_path / "m.onnx")
    assert verify(tmp_path / "m.onnx").holds
    features = np.asarray(pipeline[:-1].transform(X), dtype=np.float64)
    graph = onnxruntime.InferenceSession(tmp_path / "m.onnx", providers=["CPUExecutionProvider"])
    scores = graph.run(["probability"], {"features": features})[0]
    assert np.abs(scores - pipeline.predict_proba(X)[:, 1]).max() < 1e-9


def test_groups_are_routed_through_a_pipeline(rows):
    X, y, groups = rows
    with sklearn.config_context(enable_metadata_routing=True):
        rule = FairSmoothClassifier(random_state=0).set_fit_request(sensitive_features=True)
        routed = Pipeline([("columns", columns()), ("rule", rule)])
        routed.fit(X, y, sensitive_features=groups)
        scores = cross_validate(routed, X, y, params={"sensitive_features": groups}, cv=3)
    named = Pipeline([("columns", columns()), ("rule", FairSmoothClassifier(random_state=0))])
    named.fit(X, y, rule__sensitive_features=groups)
    assert (routed.predict_proba(X) == named.predict_proba(X)).all()
    assert (scores["test_score"] > 0.5).all()


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_steps_may_put_out_any_frame(library, rows):
    X, y, groups = rows
    model = Pipeline([("columns", columns()), ("rule", FairSmoothClassifier(random_state=0))])
    model.set_params(columns__job__sparse_output=False).set_output(transform=library)
    model.fit(X, y, rule__sensitive_features=groups)
    assert model[-1].feature_names_in_[0] == "numbers__age"
    assert audit(model, X, y, sensitive_features=groups).n_rows == len(X)


def test_what_a_file_cannot_hold_is_refused(rows, tmp_path):
    X, y, groups = rows
    numbers = X[["income", "children"]]
    for step, shown in ((PCA(1), "PCA"), (FunctionTransformer(np.tanh), "FunctionTransformer")):
        model = make_pipeline(step, FairSmoothClassifier(random_state=0))
        model.fit(numbers, y, fairsmoothclassifier__sensitive_features=groups)
        with pytest.raises(InputError, match=rf"steps that a file without code .* got {shown}"):
            save(model, tmp_path / "m")
    with pytest.raises(InputError, match="a pipeline that ends in one, got LogisticRegression"):
        save(make_pipeline(LogisticRegression()).fit(numbers, y), tmp_path / "m")


@pytest.mark.parametrize(
    ("plain", "told"),
    [
        ({"object": "system", "state": {}}, "Expected a step of a pipeline"),
        ({"object": "StandardScaler", "state": {"transform": 1}}, "got 'transform'"),
        ({"object": "StandardScaler", "state": {"__class__": 1}}, "got '__class__'"),
        ({"object": "FunctionTransformer", "state": {"func": "eval", "inverse_func": None}},
         "without a function"),
        ({"array": [[1]], "dtype": "<f8", "shape": [1], "scalar": False}, "single values"),
        ({"array": [], "dtype": "<M8[s]", "shape": [0], "scalar": False}, "texts or flags"),
    ],
)  # fmt: skip
def test_nothing_but_data_is_read(plain, told):
    with pytest.raises(InputError, match=told):
        _value(plain, 0)


ONE = {"array": [1.0], "dtype": "<f8", "shape": [1], "scalar": False}


@pytest.mark.parametrize(
    "value",
    [
        {**ONE, "dtype": "rubbish"},
        {**ONE, "shape": [3]},
        {**ONE, "shape": ["a"]},
        {**ONE, "array": ["x"]},
        {**ONE, "array": [10**400]},
        {"dict": [[[1], 2]]},
        {"dict": [1]},
    ],
)
def test_damaged_steps_are_refused(value):
    step = ["scale", {"object": "StandardScaler", "state": {"mean_": value}}]
    plain = {"library": sklearn.__version__, "steps": [step], "last": "model"}
    with pytest.raises(InputError, match="Expected the steps of a pipeline, got damaged ones"):
        rebuilt_pipeline(plain, None)


@pytest.mark.parametrize("plain", [[1], {}, {"library": 3, "steps": [], "last": "model"}])
def test_what_is_no_pipeline_is_refused(plain):
    with pytest.raises(InputError, match="got damaged ones"):
        rebuilt_pipeline(plain, None)


def test_a_short_file_cannot_ask_for_all_memory():
    with pytest.raises(InputError, match="arrays of at most 268435456 bytes, got a larger one"):
        _value({**ONE, "array": ["x"], "dtype": "<U200000000"}, 0)


def test_values_that_json_lacks_come_back():
    nested = plain_pipeline(
        make_pipeline(SimpleImputer(fill_value=np.float32(0.5)), FairSmoothClassifier())
    )
    filler = _value(nested["steps"][0][1], 0)
    assert np.isnan(filler.missing_values)
    assert type(filler.fill_value) is np.float32
    texts = _array({"array": ["a", "bc"], "dtype": "<U2", "shape": [2], "scalar": False}, 0)
    assert texts.tolist() == ["a", "bc"]
    mixed = np.array([np.int64(3), np.str_("x"), None, 2.5], dtype=object)
    encoder = OrdinalEncoder().fit([["a"]])
    encoder.categories_ = [mixed]
    again = _value(_plain(encoder), 0).categories_[0]
    assert again.dtype == object
    assert again.tolist() == mixed.tolist()
    deep = None
    for _ in range(50):
        deep = [deep]
    with pytest.raises(InputError, match="nested too deeply"):
        _value(deep, 0)


def test_another_version_of_scikit_learn_is_told(pipeline):
    plain = {**plain_pipeline(pipeline), "library": "0.1.2"}
    with pytest.warns(UserWarning, match=r"saved with scikit-learn 0\.1\.2, this is"):
        rebuilt_pipeline(plain, pipeline[-1])


def test_a_file_has_steps_or_an_encoder(pipeline, tmp_path):
    save(pipeline, tmp_path / "m")
    read = layout.read(tmp_path / "m")
    for change in ({"steps": [["a"]]}, {"last": 3}, {"more": 1}):
        plain = json.loads(read.text)
        plain["pipeline"] |= change
        layout.write(tmp_path / "x", layout.canonical(plain), read.tensors)
        with pytest.raises(ModelFileError):
            load(tmp_path / "x")
        assert not verify(tmp_path / "x").holds
