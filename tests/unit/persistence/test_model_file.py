import json

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.numpy import load_file, save_file
from torch import nn

from fairsmooth import FairSmoothClassifier, ModelFileError
from fairsmooth.data.encoding import TableEncoder
from fairsmooth.exceptions import InputError
from fairsmooth.persistence import load, read_model, save
from fairsmooth.persistence.model_file import canonical, digest


@pytest.fixture(scope="module")
def fitted(biased):
    clf = FairSmoothClassifier(sigma=0.5, max_iter=30)
    return clf.fit(biased.X, biased.y, sensitive_features=biased.sensitive_features)


@pytest.fixture
def path(fitted, tmp_path):
    save(fitted, tmp_path / "model.safetensors")
    return tmp_path / "model.safetensors"


def test_round_trip_predicts_the_same_bits(fitted, path, biased):
    loaded = load(path)
    np.testing.assert_array_equal(loaded.predict_proba(biased.X), fitted.predict_proba(biased.X))
    np.testing.assert_array_equal(
        loaded.predict_interval(biased.X), fitted.predict_interval(biased.X)
    )
    assert loaded.certificate_ == fitted.certificate_
    assert loaded.groups_ == fitted.groups_
    assert loaded.threshold_ == fitted.threshold_
    free = fitted.predict_proba_free(biased.X, fitted.groups_[0])
    np.testing.assert_array_equal(loaded.predict_proba_free(biased.X, fitted.groups_[0]), free)


def test_the_same_model_gives_the_same_bytes(fitted, tmp_path):
    contents = set()
    for number in range(8):
        save(fitted, tmp_path / f"m{number}")
        contents.add((tmp_path / f"m{number}").read_bytes())
    assert len(contents) == 1


def test_encoder_and_notes_travel_with_the_model(fitted, tmp_path):
    table = pd.DataFrame({"age": [20, 30, 40, 50], "job": ["a", "b", "a", "b"]})
    encoder = TableEncoder.learn(table)
    save(fitted, tmp_path / "m", encoder=encoder, training={"label": "y", "rows": 4})
    saved = read_model(tmp_path / "m")
    assert saved.encoder == encoder
    assert saved.training == {"label": "y", "rows": 4}


def test_intersectional_groups_and_text_labels_survive(biased, tmp_path):
    frame = pd.DataFrame({"a": biased.sensitive_features, "b": np.arange(len(biased.y)) % 2 == 0})
    y = np.where(biased.y == 1, "yes", "no")
    clf = FairSmoothClassifier(max_iter=5, free_reference=False)
    clf.fit(biased.X, y, sensitive_features=frame)
    save(clf, tmp_path / "m")
    loaded = load(tmp_path / "m")
    assert loaded.groups_ == clf.groups_
    assert (loaded.predict(biased.X) == clf.predict(biased.X)).all()
    assert loaded.free_group_parameters_ is None


def test_a_module_needs_its_code_to_be_loaded(biased, tmp_path):
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(5, 3), nn.BatchNorm1d(3), nn.Tanh(), nn.Linear(3, 1))
    clf = FairSmoothClassifier(module=module, max_iter=1, n_draws=64, random_state=0)
    clf.fit(biased.X, biased.y, sensitive_features=biased.sensitive_features)
    save(clf, tmp_path / "m")
    with pytest.raises(ModelFileError, match=r"call load\(path, module=\.\.\.\)"):
        load(tmp_path / "m")
    loaded = load(tmp_path / "m", module=module)
    np.testing.assert_array_equal(loaded.predict_proba(biased.X), clf.predict_proba(biased.X))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ModelFileError, match=r"found none at .*nothing\.safetensors"):
        load(tmp_path / "nothing.safetensors")


@pytest.mark.parametrize("keep", [0, 4, 200, -1])
def test_a_truncated_file_is_refused(path, keep):
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(ModelFileError, match="damaged or something else"):
        load(path)


def test_something_else_is_refused(tmp_path):
    (tmp_path / "m").write_text("a pickle would be run here")
    with pytest.raises(ModelFileError, match="damaged or something else"):
        load(tmp_path / "m")
    save_file({"x": np.zeros(3)}, tmp_path / "other")
    with pytest.raises(ModelFileError, match="damaged or something else"):
        load(tmp_path / "other")


def test_one_changed_bit_of_a_weight_is_refused(path):
    contents = bytearray(path.read_bytes())
    contents[-3] ^= 1
    path.write_bytes(contents)
    with pytest.raises(ModelFileError, match="its digest does not match"):
        load(path)


def _rewrite(path, change):
    """Alter the plain data and sign it again, as someone who knows the format would."""
    from safetensors import safe_open

    with safe_open(path, framework="numpy") as file:
        plain = json.loads(file.metadata()["fairsmooth"])
    tensors = load_file(path)
    change(plain, tensors)
    text = canonical(plain)
    save_file(tensors, path, metadata={"fairsmooth": text, "digest": digest(text, tensors)})


def _halve_epsilon(plain, tensors):
    plain["certificate"]["epsilon"] /= 2


def _other_format(plain, tensors):
    plain["format"] = 99


def _wrong_shape(plain, tensors):
    tensors["group_parameters"] = tensors["group_parameters"][:, :-1].copy()


def _unknown_parameter(plain, tensors):
    plain["parameters"]["evil"] = 1


def _unknown_link(plain, tensors):
    plain["parameters"]["link"] = "import os"


def _huge_network(plain, tensors):
    plain["architecture"]["hidden_layer_sizes"] = [10**6, 10**6]


def _no_groups(plain, tensors):
    del plain["groups"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_halve_epsilon, "is not the certificate of its weights"),
        (_other_format, "Expected format 1, got 99"),
        (_wrong_shape, "Expected group_parameters of shape"),
        (_unknown_parameter, "unexpected keyword argument 'evil'"),
        (_unknown_link, "Expected a known link"),
        (_huge_network, "Expected at most"),
        (_no_groups, "'groups'"),
    ],
)
def test_an_altered_file_is_refused_even_with_a_fresh_digest(path, change, message):
    _rewrite(path, change)
    with pytest.raises(ModelFileError, match=message):
        load(path)


def test_unknown_tensors_are_refused(path):
    def add(plain, tensors):
        tensors["extra"] = np.zeros(2)

    _rewrite(path, add)
    with pytest.raises(ModelFileError, match="got 'extra'"):
        load(path)


def test_a_failed_write_leaves_the_old_file(fitted, path, monkeypatch):
    before = path.read_bytes()
    monkeypatch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left")))
    with pytest.raises(InputError, match="No space left"):
        save(fitted, path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_a_folder_that_is_not_there_is_named(fitted, tmp_path):
    with pytest.raises(InputError, match=r"Expected to be able to write .*absent"):
        save(fitted, tmp_path / "absent" / "model.safetensors")


def test_labels_that_are_no_plain_values_are_refused(biased, tmp_path):
    groups = pd.Series([pd.Timestamp(2020, 1, 1 + g) for g in biased.groups.codes], dtype=object)
    clf = FairSmoothClassifier(max_iter=2).fit(biased.X, biased.y, sensitive_features=groups)
    with pytest.raises(InputError, match="Expected labels that are text, numbers or booleans"):
        save(clf, tmp_path / "m")
