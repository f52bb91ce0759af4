"""The graph against the library: scores, decisions, intervals, and rows without a score."""

import json

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning
from tests.messy_tables import COLUMNS, messy

from fairsmooth import FairSmoothClassifier, InputError
from fairsmooth.datasets import make_biased
from fairsmooth.export import describe_inputs, graph_inputs, write_onnx
from fairsmooth.persistence import save
from fairsmooth.tables import TableModel

# What docs/serving.md states.
SCORE_BOUND, WIDER_BY = 1e-9, 5e-8
KINDS = (
    "whole", "whole-gaps", "real-gaps", "large-reals", "one-gap", "constant-and-gaps", "flags-gaps",
    "flag-words", "zero-one", "words-n/a", "words-spaces", "words-newlines", "numbers-late-letter",
    "codes-leading-zero", "codes-large", "dates", "dates-gaps", "dates-dots", "dates-wrong",
    "moments-text", "many-categories", "unicode", "quotes", "half-numbers", "exponents",
)  # fmt: skip


def session(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def compare(model, table, folder):
    """Score a table with the library, with the raw graph and with the graph of features."""
    model.save(folder / "m.safetensors")
    write_onnx(folder / "m.safetensors", folder / "raw.onnx")
    write_onnx(folder / "m.safetensors", folder / "encoded.onnx", encoded=True)
    raw = session(folder / "raw.onnx").run(None, graph_inputs(model.encoder, table))
    features, reasons = model.encoder.transform_rows(table)
    usable = np.array([reason is None for reason in reasons])
    rows = features.to_numpy()[usable]
    encoded = session(folder / "encoded.onnx").run(None, {"features": rows})
    # The graph of features does without the nodes that keep a square from overflowing.
    huge = np.abs(rows).max(axis=1) > 1e150
    assert np.isnan(encoded[0][huge]).all()
    scores, intervals = model.classifier.predict_with_interval(features[usable])
    for outputs, kept in (([part[usable] for part in raw], huge | True), (encoded, ~huge)):
        probability, decision, ends = (part[kept] for part in outputs)
        assert np.abs(probability - scores[kept]).max() < SCORE_BOUND
        clear = np.abs(scores[kept] - model.classifier.threshold_) > SCORE_BOUND
        assert (decision == (scores[kept] > model.classifier.threshold_))[clear].all()
        wider = (ends - intervals[kept]) * [-1.0, 1.0]
        assert wider.min() >= 0.0
        assert wider.max() < WIDER_BY
    assert np.isnan(raw[0][~usable]).all()
    assert np.isnan(raw[2][~usable]).all()
    assert (raw[1][~usable] == -1).all()
    return usable


@pytest.mark.numbers
@pytest.mark.parametrize("kind", KINDS)
def test_messy_tables_score_as_the_library_does(kind, tmp_path):
    table = pd.DataFrame(messy(COLUMNS[kind]))
    columns = ("binned", "standardised")[KINDS.index(kind) % 2]
    link = "probit" if columns == "binned" else "logistic"
    model = TableModel.fit(
        table, label="risk", positive="good", sensitive="sex", columns=columns, random_state=0,
        classifier=FairSmoothClassifier(link=link, alpha=0.01), test_size=0.5,
    )  # fmt: skip
    frame = model_table(table)
    compare(model, frame, tmp_path)


def model_table(table):
    """Add rows that training did not have: gaps, new texts, infinite and huge numbers."""
    odd = table.iloc[:4].astype(object).copy()
    odd.iloc[0, :2] = [None, None]
    odd.iloc[1, 0] = "never seen"
    odd.iloc[2, 1] = 1e300
    odd.iloc[3, 1] = float("inf")
    return pd.concat([table.astype(object), odd], ignore_index=True)


@pytest.mark.parametrize("unknown", ["error", "ignore"])
def test_rows_that_cannot_be_scored_are_the_same(unknown, tmp_path):
    rng = np.random.default_rng(0)
    days = pd.Timestamp("1968-02-27") + pd.to_timedelta(rng.integers(0, 30_000, 300), "h")
    table = pd.DataFrame({
        "job": rng.choice(["a", "b", "True", "7"], 300), "x": rng.normal(size=300),
        "day": days, "sex": rng.choice(["f", "m"], 300), "hired": rng.integers(0, 2, 300),
    })  # fmt: skip
    model = TableModel.fit(
        table, label="hired", sensitive="sex", random_state=0, unknown=unknown,
        classifier=FairSmoothClassifier(sigma=0.5),
    )  # fmt: skip
    new = pd.DataFrame({
        "job": ["a", "tRUE", "+7", "7.0", None, "new", "b", "b", " b"],
        "x": [0.1, 0.2, 0.3, 0.1, 0.2, 0.2, None, np.inf, 0.0],
        "day": ["1600-02-29", "2024-12-31", "1969-12-31", "2024-02-31", *["2000-03-01"] * 5],
    })  # fmt: skip
    usable = compare(model, new, tmp_path)
    assert usable.sum() == (7 if unknown == "ignore" else 5) - 1


def test_a_text_in_another_spelling_has_no_score_rather_than_a_wrong_one(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({
        "code": rng.choice(["1.5", "2", "x"], 200), "sex": rng.choice(["f", "m"], 200),
        "hired": rng.integers(0, 2, 200),
    })  # fmt: skip
    model = TableModel.fit(table, label="hired", sensitive="sex", random_state=0, unknown="ignore")
    model.save(tmp_path / "m.safetensors")
    write_onnx(tmp_path / "m.safetensors", tmp_path / "m.onnx")
    graph = session(tmp_path / "m.onnx")
    texts = ["2", "+2", "2.0", " x ", "  x", "x\t", "1.50", "3.5", "31.12.2024", "2024-12-31"]
    texts += ["y", "NA"]
    scores = graph.run(["probability"], {"code": np.array(texts, dtype=object)[:, None]})[0]
    assert np.isnan(scores).tolist() == [
        False, False, True, False, True, True, True, False, True, False, False, False,
    ]  # fmt: skip
    known = np.array([text in ("2", "+2", " x ") for text in texts])
    own = model.predict(pd.DataFrame({"code": ["2", "2", "x"]}))["probability"]
    assert np.abs(scores[known] - own).max() < SCORE_BOUND
    # What training did not have is nothing at all.
    nothing = model.classifier.predict_proba(pd.DataFrame(0.0, [0], model.encoder.feature_names))
    others = scores[~known & ~np.isnan(scores)]
    assert np.abs(others - nothing[0, 1]).max() < SCORE_BOUND


@pytest.mark.parametrize("sigma", [0.0, 0.01, 1.0, 30.0])
@pytest.mark.parametrize("link", ["logistic", "probit"])
def test_intervals_stay_outside_at_every_noise(sigma, link, tmp_path):
    rng = np.random.default_rng(1)
    data = make_biased(n_samples=400, random_state=0)
    clf = FairSmoothClassifier(sigma=sigma, link=link, alpha=0.05, max_iter=30)
    clf.fit(data.X.to_numpy(), data.y, sensitive_features=data.sensitive_features)
    save(clf, tmp_path / "m.safetensors")
    write_onnx(tmp_path / "m.safetensors", tmp_path / "m.onnx")
    rows = rng.normal(size=(3000, data.X.shape[1])) * np.exp(rng.uniform(-6, 6, (3000, 1)))
    scores, intervals = clf.predict_with_interval(rows)
    probability, _, ends = session(tmp_path / "m.onnx").run(None, {"features": rows})
    assert np.abs(probability - scores).max() < SCORE_BOUND
    assert ((ends - intervals) * [-1.0, 1.0]).min() >= 0.0
    for position, group in enumerate(clf.groups_):
        own = clf.predict_proba_group(rows, group)[:, 1]
        assert (ends[:, position, 0] <= own).all()
        assert (own <= ends[:, position, 1]).all()


def test_the_file_says_what_it_is(tmp_path):
    data = make_biased(n_samples=300, random_state=0)
    table = data.X.assign(probability=data.X.iloc[:, 0], sex=data.sensitive_features, hired=data.y)
    model = TableModel.fit(table, label="hired", sensitive="sex", random_state=0)
    model.save(tmp_path / "m.safetensors")
    write_onnx(tmp_path / "m.safetensors", tmp_path / "m.onnx")
    metadata = {p.key: p.value for p in onnx.load(tmp_path / "m.onnx").metadata_props}
    assert json.loads(metadata["certificate"]) == model.certificate.to_dict()
    assert json.loads(metadata["groups"]) == [str(group) for group in model.certificate.groups]
    assert json.loads(metadata["inputs"]) == describe_inputs(tmp_path / "m.safetensors")
    assert "input:probability" in json.loads(metadata["inputs"])
    graph = session(tmp_path / "m.onnx")
    scores = graph.run(["probability"], graph_inputs(model.encoder, table))[0]
    assert np.abs(scores - model.predict(table)["probability"]).max() < SCORE_BOUND
    first = (tmp_path / "m.onnx").read_bytes()
    write_onnx(tmp_path / "m.safetensors", tmp_path / "m.onnx")
    assert (tmp_path / "m.onnx").read_bytes() == first


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"hidden_layer_sizes": (4,)}, r"Expected a linear model, got hidden layers \[4\]"),
        ({"smoothing": "monte_carlo"}, "Expected exact scores, got smoothing='monte_carlo'"),
    ],
)
def test_what_a_graph_cannot_hold_is_refused(settings, message, tmp_path):
    data = make_biased(n_samples=300, random_state=0)
    clf = FairSmoothClassifier(max_iter=3, random_state=0, **settings)
    with pytest.warns(ConvergenceWarning):
        clf.fit(data.X, data.y, sensitive_features=data.sensitive_features)
    save(clf, tmp_path / "m.safetensors")
    with pytest.raises(InputError, match=message):
        write_onnx(tmp_path / "m.safetensors", tmp_path / "m.onnx")
    assert not (tmp_path / "m.onnx").exists()
