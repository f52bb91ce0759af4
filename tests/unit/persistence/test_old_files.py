"""Files of format 1, one per kind, load, verify and predict what they predicted then."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.unit.persistence.rewriting import rewrite
from torch import nn

from fairsmooth import ModelFileError
from fairsmooth.persistence import file_digest, load, read_certificate, read_model, save
from fairsmooth.verify import verify

FOLDER = Path(__file__).parents[2] / "data" / "models_v1"
EXPECTED = json.loads((FOLDER / "expected.json").read_text())
# What docs/reproducibility.md promises between machines, by the way scores are computed.
TOLERANCE = {
    "hidden-relu": 1e-6, "hidden-tanh-probit": 1e-6, "table-two-hidden": 1e-6,
    "deep-layerwise": 1e-5, "sampled": 1e-5, "module-buffers": 1e-5,
}  # fmt: skip
# Linear scores claim 1e-9: for the logistic link, versions differ in the mixtures they take.
LINEAR = {"logistic": 1e-9, "probit": 1e-12}


def module():
    return nn.Sequential(nn.Linear(10, 4), nn.BatchNorm1d(4), nn.Tanh(), nn.Linear(4, 1))


def loaded(name, path=None):
    given = module() if name == "module-buffers" else None
    return load(path or FOLDER / f"{name}.safetensors", module=given)


def rows(classifier, name):
    X = np.array(EXPECTED[name]["rows"])
    names = getattr(classifier, "feature_names_in_", None)
    return X if names is None else pd.DataFrame(X, columns=names)


@pytest.mark.parametrize("name", EXPECTED)
def test_they_predict_the_same(name):
    classifier, expected = loaded(name), EXPECTED[name]
    X = rows(classifier, name)
    scores = classifier.predict_proba(X)[:, 1]
    tolerance = TOLERANCE.get(name, LINEAR[classifier.rule_.link])
    np.testing.assert_allclose(scores, expected["scores"], rtol=0, atol=tolerance)
    clear = np.abs(scores - classifier.threshold_) > tolerance
    assert (classifier.predict(X) == np.array(expected["decisions"]))[clear].all()
    groups = [list(g) if isinstance(g, tuple) else g for g in classifier.groups_]
    assert groups == expected["groups"]
    epsilon = np.inf if expected["epsilon"] is None else expected["epsilon"]
    assert classifier.certificate_.epsilon == pytest.approx(epsilon, rel=1e-12)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.safetensors")), ids=lambda path: path.stem)
def test_they_verify(path):
    verification = verify(path)
    assert verification.holds, str(verification)
    assert read_certificate(path).n_parameters > 0


@pytest.mark.parametrize("name", EXPECTED)
def test_they_become_format_2_and_stay_the_same_model(name, tmp_path):
    classifier = loaded(name)
    save(classifier, tmp_path / "new")
    assert verify(tmp_path / "new").holds
    again = loaded(name, tmp_path / "new")
    X = rows(classifier, name)
    np.testing.assert_array_equal(again.predict_proba(X), classifier.predict_proba(X))
    assert again.certificate_ == classifier.certificate_
    if name != "module-buffers":  # the new file knows more of a module
        assert file_digest(tmp_path / "new") == file_digest(FOLDER / f"{name}.safetensors")


@pytest.mark.parametrize("name", ["table-race", "table-two-hidden"])
def test_models_of_tables_predict_the_same(name):
    saved = read_model(FOLDER / f"{name}.safetensors")
    expected = pd.read_csv(FOLDER / f"{name}.predictions.csv")
    table = pd.read_csv(FOLDER / "table.csv")
    assert saved.training["label"] == "label"
    scores = saved.classifier.predict_proba(saved.encoder.transform(table))[:, 1]
    np.testing.assert_allclose(
        scores,
        expected["probability"],
        rtol=0,
        atol=TOLERANCE.get(name, LINEAR[saved.classifier.rule_.link]),
    )


def test_a_module_of_another_class_is_refused():
    with pytest.raises(ModelFileError, match="Expected a module with the class that was saved"):
        load(FOLDER / "module-buffers.safetensors", module=nn.Linear(56, 1))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("training", "the description"),
        ("features", "the description"),
        ("parameters", "parameters"),
    ],
)
def test_old_files_that_lack_something_are_refused(name, message, tmp_path):
    path = tmp_path / "model"
    path.write_bytes((FOLDER / "table-race.safetensors").read_bytes())
    rewrite(path, lambda plain, _: plain.pop(name))
    with pytest.raises(ModelFileError, match=message):
        load(path)
    assert not verify(path).holds
